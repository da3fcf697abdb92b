//! Lists whose elements client-side patches can't tell apart.

use serde_json::Value;

use super::context::rendered;
use super::{Context, Findings};
use crate::finding::{Evidence, Severity};
use crate::k8s;
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// A list that changes has one key twice, so a client-side patch mixes its elements up.
    ///
    /// ## What breaks
    /// The server finds the ports of a Service by `port`, those of a container by `containerPort`, variables by `name`. Where the same
    /// one stands there twice, as for TCP and UDP on one port, a patch meant for one element lands on another: a port never
    /// arrives, or both go. Helm 3 patches so, and Helm 4 what Helm 3 has installed; both call it a success unless nothing is left.
    /// Server-side apply tells the elements apart.
    ///
    /// ## What to do
    /// Look at the list after the upgrade, and after a rollback, and set it right by hand (`kubectl edit`). Where the whole object
    /// may be replaced, `helm upgrade --force` (Helm 4: `--force-replace`) writes it as the chart has it.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/dns.yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: dns}
    /// spec: {ports: [{name: udp, port: 53, protocol: UDP}]}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/dns.yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: dns}
    /// spec: {ports: [{name: udp, port: 53, protocol: UDP}, {name: tcp, port: 53, protocol: TCP}]}
    /// ```
    /// ```text finding
    /// breaks: Service dns: spec.ports has port 53 more than once and changes
    /// ```
    ///
    /// ## Not reported
    /// Lists that stay as they are:
    ///
    /// ```yaml before
    /// # Source: demo/templates/dns.yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: dns, labels: {version: a}}
    /// spec: {ports: [{name: udp, port: 53, protocol: UDP}, {name: tcp, port: 53, protocol: TCP}]}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/dns.yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: dns, labels: {version: b}}
    /// spec: {ports: [{name: udp, port: 53, protocol: UDP}, {name: tcp, port: 53, protocol: TCP}]}
    /// ```
    ///
    /// ## References
    /// - Kubernetes issues 39188 and 105610; apimachinery `pkg/util/strategicpatch`
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    if !context.writes_client_side() {
        return;
    }
    for item in context.after.iter().filter(|item| item.place == Place::Templates) {
        let Some(old) = context.item_before(item).filter(|old| old.place == Place::Templates) else {
            continue;
        };
        for (path, key) in lists(&item.object) {
            let pointer = pointer(&path);
            let (before, after) = (old.object.pointer(&pointer), item.object.pointer(&pointer));
            if before == after {
                continue;
            }
            if let Some(value) = repeated(before, key).or_else(|| repeated(after, key)) {
                say((item, &path), (key, &value), (before, after), findings);
            }
        }
    }
}

fn say(
    (item, path): (&Item, &str),
    (key, value): (&str, &str),
    (before, after): (Option<&Value>, Option<&Value>),
    findings: &mut Findings,
) {
    let message =
        format!("{} {}: {path} has {key} {value} more than once and changes", item.name.kind, item.name.name);
    let change = Evidence::Change { path: path.to_owned(), before: before.cloned(), after: after.cloned() };
    findings
        .say(Severity::Breaks, message, rendered(item))
        .because(change)
        .about(&item.name)
        .during(&["upgrade", "rollback"]);
}

/// Paths of an object's lists that are merged by a key, with the key.
fn lists(object: &Value) -> Vec<(String, &'static str)> {
    if k8s::text(object, "/kind") == "Service" {
        return vec![("spec.ports".to_owned(), "port")];
    }
    let places = ["spec.template.spec", "spec.jobTemplate.spec.template.spec", "spec"];
    let Some(pod) =
        places.iter().find(|place| object.pointer(&pointer(&format!("{place}.containers"))).is_some())
    else {
        return Vec::new();
    };
    let counts = ["containers", "initContainers"].map(|list| {
        let found = object.pointer(&pointer(&format!("{pod}.{list}"))).and_then(Value::as_array);
        (list, found.map_or(0, Vec::len))
    });
    let containers =
        counts.iter().flat_map(|(list, count)| (0..*count).map(move |at| format!("{pod}.{list}.{at}")));
    let keyed = [("ports", "containerPort"), ("env", "name"), ("volumeMounts", "mountPath")];
    containers.flat_map(|one| keyed.map(|(list, key)| (format!("{one}.{list}"), key))).collect()
}

fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

/// A value that a key has more than once in a list.
fn repeated(list: Option<&Value>, key: &str) -> Option<String> {
    let values: Vec<&Value> =
        list.and_then(Value::as_array).into_iter().flatten().filter_map(|one| one.get(key)).collect();
    let twice =
        values.iter().enumerate().find(|(at, value)| values.iter().take(*at).any(|other| other == *value));
    twice.map(|(_, value)| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}
