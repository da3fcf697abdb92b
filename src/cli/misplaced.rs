//! Flags that the chosen engine has no use for: an error, where they would change nothing and nobody would notice.

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::args::Engine;
use super::exit::Error;

/// Flags and the engines that they are for.
const FLAGS: &[(&str, &[Engine])] = &[
    ("kind_image", &[Engine::Kind]),
    ("preload", &[Engine::Kind]),
    ("keep", &[Engine::Kind]),
    ("kubeconfig", &[Engine::Cluster]),
    ("context", &[Engine::Cluster]),
    ("settle", &[Engine::Cluster, Engine::Kind]),
];

/// Fails for the first flag on the command line that the engine has no use for. What the environment says is for many
/// commands, and may say too much.
pub(super) fn check(matches: &ArgMatches) -> Result<(), Error> {
    let Some((_, command)) = matches.subcommand() else { return Ok(()) };
    let Ok(Some(engine)) = command.try_get_one::<Engine>("engine") else { return Ok(()) };
    let typed = |id: &str| command.value_source(id) == Some(ValueSource::CommandLine);
    match FLAGS.iter().find(|(id, engines)| typed(id) && !engines.contains(engine)) {
        Some((id, engines)) => Err(refused(id, *engine, engines)),
        None => Ok(()),
    }
}

fn refused(id: &str, engine: Engine, engines: &[Engine]) -> Error {
    let flag = id.replace('_', "-");
    let wanted: Vec<String> = engines.iter().map(|engine| format!("`--engine {}`", engine.name())).collect();
    let wanted = wanted.join(" or ");
    Error::new(format!("`--{flag}`: `--engine {}` has no use for it, it is for {wanted}", engine.name()))
        .hint(format!("Leave the flag out, or give {wanted}."))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::args::Cli;

    fn refusal(flags: &[&str]) -> Option<String> {
        let words = [&["seatrial", "verify", "a", "b"], flags].concat();
        check(&Cli::command().try_get_matches_from(words).unwrap()).err().map(|error| error.message)
    }

    #[test]
    fn flags_of_another_engine_are_refused_and_name_theirs() {
        for flags in [&["--kind-image", "x"][..], &["--preload", "x"], &["--keep"]] {
            for engine in ["sim", "cluster"] {
                let said = refusal(&[flags, &["--engine", engine]].concat()).unwrap();
                assert!(said.contains(flags[0]) && said.ends_with("for `--engine kind`"), "{said}");
            }
        }
        for flags in [["--kubeconfig", "x"], ["--context", "x"]] {
            assert!(refusal(&flags).unwrap().ends_with("for `--engine cluster`"));
            assert!(refusal(&[&flags[..], &["--engine", "kind"]].concat()).is_some());
        }
        let settle = refusal(&["--settle", "3"]).unwrap();
        assert!(settle.ends_with("for `--engine cluster` or `--engine kind`"), "{settle}");
    }

    #[test]
    fn flags_of_the_engine_itself_and_defaults_pass() {
        assert_eq!(refusal(&[]), None);
        assert_eq!(refusal(&["--engine", "kind", "--keep", "--kind-image", "x", "--settle", "1"]), None);
        assert_eq!(refusal(&["--engine", "cluster", "--context", "x", "--settle", "1"]), None);
        let words = ["seatrial", "demo"];
        assert!(check(&Cli::command().try_get_matches_from(words).unwrap()).is_ok());
    }

    #[test]
    fn every_flag_of_the_list_is_one_of_the_program() {
        let program = Cli::command();
        let verify = program.find_subcommand("verify").unwrap();
        for (id, _) in FLAGS {
            assert!(verify.get_arguments().any(|argument| argument.get_id() == id), "{id}");
        }
    }
}
