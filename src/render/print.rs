//! What `helm template` prints.

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
    let mut out = release_manifest(render, options.include_crds).trim().to_owned();
    out.push('\n');
    if !options.no_hooks {
        let hooks = render.hooks.iter().filter(|hook| !(options.skip_tests && is_test(hook)));
        for hook in hooks {
            push_document(&mut out, &hook.manifest.source, &hook.manifest.text);
        }
    }
    if options.show_only.is_empty() { Ok(out) } else { show_only(&out, helm, &options.show_only) }
}

/// The manifest as Helm stores it in the release: with `crds`, the files below `crds/` first, as they are.
#[must_use]
pub fn release_manifest(render: &Render, crds: bool) -> String {
    let mut out = String::with_capacity(render.manifests.iter().map(|m| m.text.len() + 100).sum());
    for file in render.crds.iter().filter(|_| crds) {
        push_document(&mut out, &file.source, &String::from_utf8_lossy(&file.data));
    }
    for manifest in &render.manifests {
        push_document(&mut out, &manifest.source, &manifest.text);
    }
    out
}

fn push_document(out: &mut String, source: &str, text: &str) {
    let _ = write!(out, "---\n# Source: {source}\n{text}\n");
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
