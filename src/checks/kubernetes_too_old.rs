//! Clusters that the chart does not support.

use super::{Context, Findings};
use crate::finding::{Evidence, Location, Severity};
use crate::upgrade::inventory::Item;
use crate::version::{Constraint, Version};

declare_check! {
    /// The cluster is older than the chart, or one of its CRD rules, needs.
    ///
    /// ## What breaks
    /// Helm refuses a chart whose `kubeVersion` the cluster does not meet. A CRD rule that reads a field under a reserved name
    /// without escaping it compiles only on Kubernetes 1.32 and newer; older servers refuse the whole CRD.
    ///
    /// ## What to do
    /// Upgrade the cluster first, or stay on the chart version that supports it.
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
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             x-kubernetes-validations: [{rule: 'self.items.all(t, !has(t.metadata.namespace))'}]
    ///             properties:
    ///               items: {type: array, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}
    /// ```
    /// ```text finding
    /// notes: CRD widgets.example.test has a rule that Kubernetes before 1.32 refuses
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {type: integer}
    /// ```
    ///
    /// ## References
    /// - kubernetes v1.32 `apiserver/pkg/cel/…`: `namespace` is no longer escaped
    /// - https://github.com/kubeflow/trainer/issues/3154
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    constraint(context, findings);
    let old = older_than(context.scene.kubernetes, 32);
    for item in context.crds_after() {
        let Some(rule) = unescaped_namespace(item) else { continue };
        let severity = if old { Severity::Breaks } else { Severity::Notes };
        let message = format!("CRD {} has a rule that Kubernetes before 1.32 refuses", item.name.name);
        findings
            .say(severity, message, Evidence::State { object: item.name.clone(), detail: rule })
            .about(&item.name)
            .when("the API server is older than 1.32");
    }
}

fn constraint(context: &Context<'_>, findings: &mut Findings) {
    let wanted = &context.scene.chart_after.metadata.kube_version;
    let Ok(cluster) = Version::parse_lenient(context.scene.kubernetes) else { return };
    let refused = Constraint::parse(wanted).is_ok_and(|constraint| !constraint.check(&cluster));
    if !wanted.is_empty() && refused {
        let message =
            format!("the chart wants Kubernetes {wanted}, the cluster is {}", context.scene.kubernetes);
        findings.say(
            Severity::Breaks,
            message,
            Evidence::Render(Location { file: "Chart.yaml".to_owned(), line: 0 }),
        );
    }
}

fn older_than(version: &str, minor: u64) -> bool {
    Version::parse_lenient(version).is_ok_and(|version| version.major == 1 && version.minor < minor)
}

// CEL selects `.namespace` of an object; before 1.32 the declared field was named `__namespace__`.
fn unescaped_namespace(item: &Item) -> Option<String> {
    let mut found = None;
    visit(&item.object, 0, &mut |rule| {
        if found.is_none() && rule.contains(".namespace") {
            found = Some(rule.to_owned());
        }
    });
    found
}

fn visit(value: &serde_json::Value, depth: usize, see: &mut impl FnMut(&str)) {
    if depth > 200 {
        return;
    }
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| visit(item, depth + 1, see)),
        serde_json::Value::Object(map) => {
            for (key, member) in map {
                match member.as_array() {
                    Some(rules) if key == "x-kubernetes-validations" => {
                        rules.iter().filter_map(|rule| rule.get("rule")?.as_str()).for_each(&mut *see);
                    }
                    _ => visit(member, depth + 1, see),
                }
            }
        }
        _ => {}
    }
}
