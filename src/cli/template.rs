//! `seatrial template`: what `helm template` prints.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::args::{Global, Template};
use super::charts::{self, Loaded};
use super::exit::{Error, Exit};
use super::machine::{self, Machine};
use super::{output_dir, postrender, registry, settings, state, terminal};
use crate::chart::{Helm, Values};
use crate::go::quote;
use crate::limits::Limits;
use crate::render::print::{chosen, document, hooks, release_manifest};
use crate::render::{self, Options, PrintOptions, Render};

/// Renders and prints; failures are told in Helm's words.
pub(crate) fn run(arguments: &Template, global: &Global) -> Result<Exit, Error> {
    let helm = charts::helm_version(&arguments.helm)?;
    let (lines, checked) = arguments.flags.check(helm);
    say(&lines);
    if let Err(error) = checked {
        return Ok(refuse(&render::Error::before(error)));
    }
    if let Err(error) = registry::client(arguments, helm) {
        return Ok(refuse(&render::Error::before(error)));
    }
    let base = base(arguments, global, helm)?;
    let (release, reference) = match names(arguments, &base) {
        Ok(names) => names,
        Err(error) => return Ok(refuse(&render::Error::before(error))),
    };
    if is_path(reference) && !Path::new(reference).exists() {
        return Ok(refuse(&render::Error::before(format!("path {} not found", quote(reference)))));
    }
    let reference = match source(arguments, reference, helm)? {
        Ok(reference) => reference,
        Err(error) => return Ok(refuse(&error)),
    };
    let loaded = match Loaded::open(&reference, global) {
        Err(error) if is_path(&reference) && error.hint.is_empty() => {
            return Ok(refuse(&render::Error::before(error.message)));
        }
        opened => opened?,
    };
    let loaded = loaded.lazily(!arguments.flags.on("include-crds"));
    let values = charts::values(&arguments.values, (&[], &[]), helm, &base.limits);
    let rendered = values
        .map_err(|error| render::Error::before(error.message))
        .and_then(|values| attempt(arguments, &loaded, &values, &options(arguments, release.clone(), base)));
    let render = match rendered {
        Ok(render) => render,
        Err(error) => return Ok(refuse(&error)),
    };
    say(&render.warnings);
    let exit = match show(arguments, helm, &release, &settings::limits(&global.limits), &render) {
        Ok(pieces) => {
            let pieces: Vec<_> = pieces.iter().map(|piece| piece.as_bytes()).collect();
            terminal::print_pieces(&pieces).map(|()| Exit::Safe)
        }
        Err(error) => Ok(refuse(&error)),
    };
    // The process ends here; to give this back piece by piece would only take time.
    std::mem::forget((render, loaded));
    exit
}

fn say(lines: &[String]) {
    for line in lines {
        terminal::stderr(&format!("{line}\n"));
    }
}

fn attempt(
    arguments: &Template,
    loaded: &Loaded,
    values: &Arc<Values>,
    options: &Options,
) -> Result<Render, render::Error> {
    say(&loaded.links(options.helm));
    let chart = loaded.read(options.helm)?;
    if let Some(fault) = arguments.flags.label_fault(options.helm) {
        return Err(render::Error::before(fault));
    }
    render::render_once(Arc::unwrap_or_clone(chart), values, options)
}

/// Whether a reference can only be a path.
fn is_path(reference: &str) -> bool {
    reference.starts_with(['.', '/'])
}

/// Release name and chart; refused in Helm's words (`pkg/action/install.go` `NameAndChart`).
fn names<'a>(arguments: &'a Template, base: &Options) -> Result<(String, &'a str), String> {
    let exclude = |flag: &str| Err(format!("cannot set --{flag} and also specify a name"));
    let template = arguments.name_template.as_deref().filter(|template| !template.is_empty());
    match (arguments.names.as_slice(), template) {
        ([_, _], _) if arguments.flags.on("generate-name") => exclude("generate-name"),
        ([_, _], Some(_)) => exclude("name-template"),
        ([release, chart], None) => Ok((release.clone(), chart)),
        ([chart], Some(template)) => Ok((render::name(template, base)?, chart)),
        ([chart], None) => Ok(("release-name".to_owned(), chart)),
        (names, _) => {
            let rest = names.get(2..).unwrap_or_default().join(", ");
            Err(format!("expected at most two arguments, unexpected arguments: {rest}"))
        }
    }
}

/// Where the chart is, after the flags that speak of that; what they ask for and nobody does here is refused.
fn source(arguments: &Template, reference: &str, helm: Helm) -> Result<Result<String, render::Error>, Error> {
    let flags = &arguments.flags;
    let local = Path::new(reference);
    if let Some(url) = flags.last("repo").filter(|url| !url.is_empty()) {
        if helm.has_new_flags() || !local.exists() {
            return Err(Error::new("`--repo`: chart repositories are not asked")
                .hint("Name the chart's path, its archive or its registry (oci://HOST/PATH:TAG)."));
        }
        say(&[format!(
            "install.go:759: WARN local chart found in current working directory. repository url ignored chart={reference} repository={url}"
        )]);
    }
    if flags.on("verify") {
        if local.is_dir() {
            return Ok(Err(render::Error::before("unpacked charts cannot be verified")));
        }
        return Err(Error::new("`--verify`: provenance is not checked here"));
    }
    if flags.asks_cluster(helm) {
        return Err(Error::new(
            "`--validate` and `--dry-run=server` ask a cluster, which `template` never does",
        )
        .hint("`seatrial verify --engine cluster` runs against a real API server."));
    }
    if local.exists() {
        return Ok(Ok(reference.to_owned()));
    }
    if let Some(flag) = flags.fetching() {
        return Err(Error::new(format!("`--{flag}` has no effect on how charts are fetched here")).hint(
            "Credentials are those of docker's configuration; or fetch the chart first and name its file.",
        ));
    }
    Ok(Ok(versioned(reference, flags.last("version"))))
}

/// A chart in a registry with `--version` as its tag, where it has none.
fn versioned(reference: &str, version: Option<&str>) -> String {
    let name = reference.rsplit('/').next().unwrap_or(reference);
    match version {
        Some(version) if reference.starts_with("oci://") && !name.contains([':', '@']) => {
            format!("{reference}:{}", version.replace('+', "_"))
        }
        _ => reference.to_owned(),
    }
}

/// What every render of this command has: the clock, zone and chance of the machine, as with Helm.
fn base(arguments: &Template, global: &Global, helm: Helm) -> Result<Options, Error> {
    let name_service = arguments.flags.on("enable-dns") && !global.offline;
    let limits = settings::limits(&global.limits);
    let settings = machine::Settings {
        name_service,
        has_cluster: arguments.flags.last("dry-run") == Some("server"),
        seed: arguments.seed,
        state: state::answers(&arguments.state, &limits)?,
    };
    Ok(Options { helm, limits, answers: Machine::new(settings)?, ..Options::default() })
}

fn options(arguments: &Template, release: String, base: Options) -> Options {
    Options {
        release,
        namespace: charts::namespace(arguments.namespace.as_deref()),
        is_upgrade: arguments.flags.on("is-upgrade"),
        kube_version: arguments.kube_version.clone(),
        api_versions: arguments.api_versions.clone(),
        check_schema: !arguments.flags.on("skip-schema-validation"),
        ..base
    }
}

/// What is printed, after files were written and a post-renderer did its work.
fn show<'r>(
    arguments: &Template,
    helm: Helm,
    release: &str,
    limits: &Limits,
    render: &'r Render,
) -> Result<Vec<Cow<'r, str>>, render::Error> {
    let flags = &arguments.flags;
    let print = PrintOptions {
        include_crds: flags.on("include-crds"),
        no_hooks: flags.on("no-hooks"),
        skip_tests: flags.on("skip-tests"),
        show_only: arguments.show_only.clone(),
    };
    let program = postrender::find(flags.last("post-renderer").unwrap_or_default(), helm);
    let program = program.map_err(render::Error::before)?;
    let directory = arguments.output_dir.as_deref().filter(|directory| !directory.as_os_str().is_empty());
    if directory.is_none() && program.is_none() && print.show_only.is_empty() {
        return Ok(render::pieces(render, &print));
    }
    if let Some(directory) = directory {
        output_dir::write(directory, flags.on("release-name").then_some(release), render, &print)?;
    }
    let mut manifest =
        if directory.is_some() { String::new() } else { release_manifest(render, print.include_crds) };
    if let Some(program) = program {
        let words: Vec<&str> = flags.all("post-renderer-args").collect();
        manifest = postrender::run(&program, &words, manifest, limits.output_bytes)
            .map_err(render::Error::rendering)?;
    }
    let mut out = format!("{}\n", manifest.trim());
    for hook in hooks(render, &print).filter(|_| directory.is_none()) {
        out.push_str(&document(&hook.manifest.source, &hook.manifest.text));
    }
    Ok(vec![chosen(out, helm, &print)?.into()])
}

fn refuse(error: &render::Error) -> Exit {
    terminal::stderr(&error.stderr());
    Exit::NotChecked
}
