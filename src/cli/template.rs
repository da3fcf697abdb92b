//! `seatrial template`: what `helm template` prints.

use std::fs;
use std::path::Path;

use super::args::{Global, Template};
use super::charts::{self, Loaded};
use super::exit::{Error, Exit};
use super::machine::Machine;
use super::settings;
use super::terminal;
use crate::chart::{Helm, go_text};
use crate::limits::Limits;
use crate::render::{self, Options, PrintOptions, Render};

/// Renders and prints; failures are told in Helm's words.
pub(crate) fn run(arguments: &Template, global: &Global) -> Result<Exit, Error> {
    let helm = charts::helm_version(&arguments.helm)?;
    let limits = settings::limits(&global.limits);
    let base = base(helm, limits)?;
    let (release, reference) = match names(arguments, &base) {
        Ok(names) => names,
        Err(error) => return Ok(refuse(&render::Error::before(error))),
    };
    if is_path(reference) && !Path::new(reference).exists() {
        return Ok(refuse(&render::Error::before(format!("path {} not found", go_text::quote(reference)))));
    }
    let loaded = match Loaded::open(reference, global) {
        Err(error) if is_path(reference) && error.hint.is_empty() => {
            return Ok(refuse(&render::Error::before(error.message)));
        }
        opened => opened?,
    };
    let rendered = charts::values(&arguments.values, (&[], &[]), helm, &base.limits)
        .map_err(|error| render::Error::before(error.message))
        .and_then(|values| {
            let chart = loaded.read(helm)?;
            render::render(&chart, &values, &options(arguments, release, base))
        });
    match rendered {
        Ok(render) => show(arguments, helm, &render),
        Err(error) => Ok(refuse(&error)),
    }
}

/// Whether a reference can only be a path.
fn is_path(reference: &str) -> bool {
    reference.starts_with(['.', '/'])
}

/// Release name and chart; refused in Helm's words (`pkg/action/install.go` `NameAndChart`).
fn names<'a>(arguments: &'a Template, base: &Options) -> Result<(String, &'a str), String> {
    let exclude = |flag: &str| Err(format!("cannot set --{flag} and also specify a name"));
    match (arguments.names.as_slice(), &arguments.name_template) {
        ([_, _], _) if arguments.generate_name => exclude("generate-name"),
        ([_, _], Some(_)) => exclude("name-template"),
        ([release, chart], None) => Ok((release.clone(), chart)),
        ([chart], Some(template)) => Ok((render::name(template, base)?, chart)),
        ([chart], None) => Ok(("release-name".to_owned(), chart)),
        _ => Err("a release name and a chart are wanted".to_owned()),
    }
}

/// What every render of this command has: the clock, zone and chance of the machine, as with Helm.
fn base(helm: Helm, limits: Limits) -> Result<Options, Error> {
    Ok(Options { helm, limits, answers: Machine::new(false)?, ..Options::default() })
}

fn options(arguments: &Template, release: String, base: Options) -> Options {
    Options {
        release,
        namespace: arguments.namespace.clone().unwrap_or_else(|| "default".to_owned()),
        is_upgrade: arguments.is_upgrade,
        kube_version: arguments.kube_version.clone(),
        api_versions: arguments.api_versions.clone(),
        check_schema: !arguments.skip_schema_validation,
        ..base
    }
}

fn show(arguments: &Template, helm: Helm, render: &Render) -> Result<Exit, Error> {
    for line in &render.warnings {
        terminal::stderr(&format!("{line}\n"));
    }
    if let Some(directory) = &arguments.output_dir {
        return write_files(arguments, directory, render);
    }
    let print = PrintOptions {
        include_crds: arguments.include_crds,
        no_hooks: arguments.no_hooks,
        skip_tests: arguments.skip_tests,
        show_only: arguments.show_only.clone(),
    };
    if print.show_only.is_empty() {
        let pieces = render::pieces(render, &print);
        let pieces: Vec<_> = pieces.iter().map(|piece| piece.as_bytes()).collect();
        return terminal::print_pieces(&pieces).map(|()| Exit::Safe);
    }
    match render::template_output(render, helm, &print) {
        Ok(text) => terminal::print(text.as_bytes()).map(|()| Exit::Safe),
        Err(error) => Ok(refuse(&render::Error::before(error.message))),
    }
}

fn refuse(error: &render::Error) -> Exit {
    terminal::stderr(&error.stderr());
    Exit::NotChecked
}

// One file per template, documents appended in order (Helm v4.3.1 `pkg/action/install.go` `writeToFile`).
fn write_files(arguments: &Template, directory: &Path, render: &Render) -> Result<Exit, Error> {
    let mut files: Vec<(&str, String)> = Vec::new();
    let crds = render.crds.iter().filter(|_| arguments.include_crds);
    let crds = crds.map(|file| (file.source.as_str(), String::from_utf8_lossy(&file.data).into_owned()));
    let manifests =
        render.manifests.iter().map(|manifest| (manifest.source.as_str(), manifest.text.to_string()));
    let hooks = render.hooks.iter().filter(|hook| {
        !(arguments.no_hooks || arguments.skip_tests && hook.events.contains(&render::HookEvent::Test))
    });
    let hooks = hooks.map(|hook| (hook.manifest.source.as_str(), hook.manifest.text.to_string()));
    for (source, text) in crds.chain(manifests).chain(hooks) {
        let block = format!("---\n# Source: {source}\n{text}\n");
        match files.iter_mut().find(|(known, _)| *known == source) {
            Some((_, content)) => content.push_str(&block),
            None => files.push((source, block)),
        }
    }
    for (source, content) in files {
        write_file(directory, source, &content)?;
    }
    terminal::print(b"\n")?;
    Ok(Exit::Safe)
}

fn write_file(directory: &Path, source: &str, content: &str) -> Result<(), Error> {
    // A chart names its own templates; none of them may leave the directory.
    if source.split(['/', '\\']).any(|part| part == "..") || source.starts_with('/') {
        return Err(Error::new(format!(
            "template `{source}` would be written outside {}",
            directory.display()
        )));
    }
    let path = directory.join(source);
    let failed = |error: std::io::Error| Error::new(format!("can't write {}: {error}", path.display()));
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(&path, content).map_err(failed)?;
    terminal::print(format!("wrote {}\n", path.display()).as_bytes())
}
