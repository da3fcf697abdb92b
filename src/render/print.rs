//! What `helm template` prints.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::manifests::split;
use super::{Helm, Hook, HookEvent, Render};
use crate::chart::Error;
use crate::chart::ignore::path_match;

/// Which parts of a render are printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// `--include-crds`.
    pub include_crds: bool,
    /// `--no-hooks`.
    pub no_hooks: bool,
    /// `--skip-tests`.
    pub skip_tests: bool,
    /// `--show-only`, in order.
    pub show_only: Vec<String>,
}

/// The standard output of `helm template`.
///
/// As Helm v4.3.1 `pkg/cmd/template.go`, Helm v3.22.0 `cmd/helm/template.go`.
///
/// # Errors
/// When a `--show-only` names no template of the chart.
pub fn template_output(render: &Render, helm: Helm, options: &PrintOptions) -> Result<String, Error> {
    chosen(pieces(render, options).concat(), helm, options)
}

/// Of what is to be printed, what `--show-only` lets through.
///
/// # Errors
/// When a pattern names no template of the text.
pub fn chosen(out: String, helm: Helm, options: &PrintOptions) -> Result<String, Error> {
    if options.show_only.is_empty() { Ok(out) } else { show_only(&out, helm, &options.show_only) }
}

/// The manifest as Helm stores it in the release: with `crds`, the files below `crds/` first, as they are.
#[must_use]
pub fn release_manifest(render: &Render, crds: bool) -> String {
    manifest(render, crds).concat()
}

/// What [`template_output`] prints without `--show-only`, in pieces: texts are large, and nobody has to join them.
#[must_use]
pub fn pieces<'r>(render: &'r Render, options: &PrintOptions) -> Vec<Cow<'r, str>> {
    let mut out = manifest(render, options.include_crds);
    // It begins with a separator, and no document's head is blank: only the end of the last text is to be trimmed.
    while let Some(last) = out.pop() {
        let length = last.trim_end().len();
        if length > 0 {
            out.push(cut(last, length));
            break;
        }
    }
    out.push("\n".into());
    for hook in hooks(render, options) {
        push_document(&mut out, &hook.manifest.source, (&*hook.manifest.text).into());
    }
    out
}

/// The hooks that are printed, in order.
pub fn hooks<'r>(render: &'r Render, options: &PrintOptions) -> impl Iterator<Item = &'r Hook> {
    let (none, no_tests) = (options.no_hooks, options.skip_tests);
    render.hooks.iter().filter(move |hook| !(none || no_tests && is_test(hook)))
}

/// A document as it is printed.
#[must_use]
pub fn document(source: &str, text: &str) -> String {
    format!("---\n# Source: {source}\n{text}\n")
}

fn cut(text: Cow<'_, str>, length: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(..length).unwrap_or(text)),
        Cow::Owned(mut text) => {
            text.truncate(length);
            Cow::Owned(text)
        }
    }
}

fn manifest(render: &Render, crds: bool) -> Vec<Cow<'_, str>> {
    let mut out = Vec::new();
    for file in render.crds.iter().filter(|_| crds) {
        push_document(&mut out, &file.source, String::from_utf8_lossy(&file.data));
    }
    for manifest in &render.manifests {
        push_document(&mut out, &manifest.source, (&*manifest.text).into());
    }
    out
}

fn push_document<'r>(out: &mut Vec<Cow<'r, str>>, source: &'r str, text: Cow<'r, str>) {
    out.extend(["---\n# Source: ".into(), source.into(), "\n".into(), text, "\n".into()]);
}

fn is_test(hook: &Hook) -> bool {
    hook.events.contains(&HookEvent::Test)
}

fn show_only(printed: &str, helm: Helm, patterns: &[String]) -> Result<String, Error> {
    let documents: Vec<_> =
        split(printed, helm).into_iter().filter_map(|text| Some((path_of(text)?, text))).collect();
    let mut out = String::new();
    for pattern in patterns {
        let matches = |path: &str| path_match(pattern, path) == Some(true);
        let found: Vec<_> = documents.iter().filter(|(path, _)| matches(path)).collect();
        if found.is_empty() {
            return Err(Error::new(format!("could not find template {pattern} in chart")));
        }
        for (_, text) in found {
            let _ = write!(out, "---\n{text}\n");
        }
    }
    Ok(out)
}

/// The template's path without the chart's name, from the first `# Source:` comment that has one.
fn path_of(document: &str) -> Option<&str> {
    document.match_indices("# Source: ").find_map(|(at, marker)| {
        let line = document.get(at + marker.len()..)?.lines().next()?;
        let (chart, path) = line.split_once('/')?;
        (!chart.is_empty() && !path.is_empty()).then_some(path)
    })
}
