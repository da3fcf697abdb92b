//! `--reuse-values` across the upgrade.

use std::sync::Arc;

use super::{Context, Findings};
use crate::chart::Chart;
use crate::finding::{Evidence, Location, Severity};
use crate::render;

declare_check! {
    /// `--reuse-values` hides the new chart's defaults and breaks its templates.
    ///
    /// ## What breaks
    /// With `--reuse-values` Helm renders the new chart with the *old* chart's default values: keys that the new templates read
    /// are missing. The upgrade fails while rendering, or renders something else than intended.
    ///
    /// ## What to do
    /// Use `--reset-then-reuse-values` (Helm 3.14 and newer), or give the values file.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// data: {a: "{{ .Values.new.key }}"}
    /// # Source: demo/values.yaml
    /// new: {key: a}
    /// ```
    /// ```text finding
    /// risks: --reuse-values fails: template: demo/templates/config.yaml:5:21: executing "demo/templates/config.yaml" at <.Values.new.key>: nil pointer evaluating interface {}.key
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// # Source: demo/values.yaml
    /// a: 1
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// # Source: demo/values.yaml
    /// a: 1
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/upgrade.go` `reuseValues`
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    // Helm puts the old chart's coalesced values in place of the new chart's defaults.
    let chart = Chart { values: (*context.scene.before.values).clone(), ..context.scene.chart_after.clone() };
    let options = context.upgrade_options(crate::chart::Helm::V3);
    let config = Arc::clone(&context.scene.before.config);
    let Err(error) = render::render(&chart, &config, &options) else { return };
    let message = format!("--reuse-values fails: {}", error.message.trim());
    findings
        // Nobody asked for the flag, and the failure changes nothing.
        .say(Severity::Risks, message, Evidence::Render(Location { file: place(&error.message), line: 0 }))
        .when("the upgrade is run with --reuse-values")
        .during(&["upgrade"])
        .advise("helm upgrade --reset-then-reuse-values");
}

// The template that an error names, e.g. `demo/templates/a.yaml:5:21`.
fn place(message: &str) -> String {
    let found = message.split([' ', '(', ')']).find(|word| word.contains("/templates/"));
    found.unwrap_or("templates/").trim_end_matches(':').to_owned()
}
