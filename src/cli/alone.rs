//! The command line of `template` alone: to describe all commands takes longer than to render a small chart.

use std::ffi::OsString;

use clap::{ArgMatches, Args as _};

use super::args::{Global, Template};

/// What the arguments say, where they call `template` and make sense; all others have to be read in full, which also tells
/// what is wrong.
pub(super) fn matches(arguments: &[OsString]) -> Option<ArgMatches> {
    if arguments.get(1)? != "template" {
        return None;
    }
    let template = clap::Command::new("template").args_override_self(true).disable_version_flag(true);
    let whole = clap::Command::new("seatrial").subcommand(Template::augment_args(template));
    Global::augment_args(whole).try_get_matches_from(arguments).ok()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::super::args::Cli;
    use super::*;

    fn read(matches: &ArgMatches) -> String {
        format!("{:?}", Cli::from_arg_matches(matches).unwrap())
    }

    #[test]
    fn says_what_the_whole_command_line_says() {
        let lines = [
            "template chart",
            "template r chart -n a -n b --set a=1 --set-string b=2,c --set x=y -f v.yaml,w.yaml --include-crds",
            "template --offline r chart --color never --version 1.2.3 --helm 3.22 -s templates/a.yaml --is-upgrade",
            "template r chart --limit-yaml-depth 7 --charts-cache a:b --kube-version=1.30 -a x/v1,y --seed 4 --no-hooks",
            "template r chart --set a=-1 --set-json={} --skip-tests=false --",
        ];
        for line in lines {
            let arguments: Vec<_> = format!("seatrial {line}").split(' ').map(OsString::from).collect();
            let whole = Cli::command().try_get_matches_from(&arguments).unwrap();
            let alone = matches(&arguments).unwrap();
            assert_eq!(read(&alone), read(&whole), "{line}");
            assert_eq!(alone.subcommand_name(), whole.subcommand_name());
        }
        for line in [
            "seatrial template",
            "seatrial template r c --nope",
            "seatrial template -h",
            "seatrial diff a b",
            "seatrial",
        ] {
            let arguments: Vec<_> = line.split(' ').map(OsString::from).collect();
            assert!(matches(&arguments).is_none(), "{line}");
        }
    }
}
