//! Upgrades without values, of a release that was installed with some.

use std::sync::Arc;

use super::{Context, Findings};
use crate::chart::Values;
use crate::finding::{Evidence, Location, ObjectName, Severity};
use crate::render::{self, Render};
use crate::upgrade::diff::diff;

declare_check! {
    /// No values are given for the upgrade, so Helm takes those of the installed release.
    ///
    /// ## What breaks
    /// A bare `helm upgrade` is not an upgrade to the new chart's defaults: when neither `-f` nor `--set` is given, Helm uses the values
    /// of the last revision again and says nothing about it. What those switch off stays off. As soon as a single value is given, it is
    /// the other way round: everything else falls back to the defaults of the chart.
    ///
    /// ## What to do
    /// Say what is meant: `--reset-values` for the chart's defaults, `--reset-then-reuse-values` for the old values on the new defaults,
    /// or the complete values file.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// {{- if .Values.enabled }}
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// {{- end }}
    /// # Source: demo/values.yaml
    /// enabled: true
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// {{- if .Values.enabled }}
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// {{- end }}
    /// # Source: demo/values.yaml
    /// enabled: true
    /// ```
    /// ```yaml values before
    /// enabled: false
    /// ```
    /// ```text finding
    /// risks: no values are given: those of the last revision are used again, which changes 1 object against the chart's defaults
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// {{- if .Values.enabled }}
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// {{- end }}
    /// # Source: demo/values.yaml
    /// enabled: true
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// {{- if .Values.enabled }}
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// {{- end }}
    /// # Source: demo/values.yaml
    /// enabled: true
    /// ```
    /// ```yaml values
    /// enabled: false
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/upgrade.go` `reuseValues`
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let scene = context.scene;
    if !scene.values.is_empty() || scene.before.config.is_empty() || scene.after.config.is_empty() {
        return;
    }
    let Some(defaults) = with_defaults(context) else { return };
    let objects: Vec<ObjectName> =
        diff(&defaults, scene.after).into_iter().map(|change| change.object).collect();
    let Some(first) = objects.first() else { return };
    let counted =
        if objects.len() == 1 { "1 object".to_owned() } else { format!("{} objects", objects.len()) };
    let message = format!(
        "no values are given: those of the last revision are used again, which changes {counted} against the chart's defaults"
    );
    let detail = "differs between the values of the last revision and the chart's defaults".to_owned();
    findings
        .say(Severity::Risks, message, Evidence::State { object: first.clone(), detail })
        .because(Evidence::Render(Location { file: "values.yaml".to_owned(), line: 0 }))
        .about_all(&objects)
        .during(&["upgrade"])
        .advise(
            "say what is meant: --reset-values, --reset-then-reuse-values, or -f with the complete values",
        );
}

/// The new chart as `--reset-values` would render it.
fn with_defaults(context: &Context<'_>) -> Option<Arc<Render>> {
    let options = context.upgrade_options(crate::chart::Helm::V4);
    render::render(context.scene.chart_after, &Values::new(), &options).ok().map(Arc::new)
}
