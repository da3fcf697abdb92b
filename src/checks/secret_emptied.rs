//! Secrets whose live contents the upgrade removes.

use serde_json::Value;

use super::context::rendered;
use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::k8s::At as _;
use crate::k8s::text;
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// The upgrade empties keys of a Secret that something else fills.
    ///
    /// ## What breaks
    /// The chart declares keys without values, or declared them before; a controller (often a certificate rotator) fills them.
    /// Client-side upgrades set them back to empty, every time where the chart still declares them, once where it drops them:
    /// webhooks answer with unknown certificates until the controller has filled them again and pods have seen it, and calls
    /// with failurePolicy Fail are refused meanwhile. Server-side upgrades (Helm 4) stop with a conflict instead.
    ///
    /// ## What to do
    /// Expect refused writes for a minute or two, and do not roll back because of them. With Helm 4 on a server-side release,
    /// `--force-conflicts` is needed.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/secret.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: cert
    /// data: {tls.crt: "", tls.key: ""}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/secret.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: cert
    /// data: {tls.crt: "", tls.key: ""}
    /// ```
    /// ```text finding
    /// risks: Secret cert: every upgrade empties tls.crt, tls.key
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/secret.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: cert
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/secret.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: cert
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/kube/client.go` `createPatch`
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    // Server-side apply takes nothing from another manager: it stops with a conflict, which the rehearsal meets.
    if !context.writes_client_side() {
        return;
    }
    for item in
        context.before.iter().filter(|item| item.name.kind == "Secret" && item.place == Place::Templates)
    {
        let empty = empty_keys(&item.object);
        if empty.is_empty() {
            continue;
        }
        let new = context.after.iter().find(|new| new.name == item.name && new.place == Place::Templates);
        let Some(new) = new else { continue };
        let declared = empty_keys(&new.object);
        let (keys, what) = if declared.is_empty() {
            (empty, "this upgrade removes")
        } else {
            (declared, "every upgrade empties")
        };
        let message = format!("Secret {}: {what} {}", item.name.name, keys.join(", "));
        let advice = format!(
            "write nothing that its webhooks guard until `kubectl get secret {} -n {} -o yaml` shows {} filled again; do not roll back because of refused writes meanwhile",
            item.name.name,
            context.scene.namespace,
            keys.join(", ")
        );
        let filled = filled(context, item, &keys);
        let said = findings
            .say(Severity::Risks, message, rendered(new))
            .about(&item.name)
            .advise(advice)
            .during(&["upgrade", "rollback"]);
        let said = filled.into_iter().fold(said, super::findings::Said::because);
        webhooks(context, item).iter().fold(said, |said, hook| said.about(hook));
        findings.claim(&item.name, "data");
    }
}

fn empty_keys(secret: &Value) -> Vec<String> {
    let maps = ["data", "stringData"].into_iter().filter_map(|key| secret.get(key)?.as_object());
    let empty = maps.flatten().filter(|(_, value)| value.is_null() || value.as_str() == Some(""));
    empty.map(|(key, _)| key.clone()).collect()
}

fn filled(context: &Context<'_>, item: &Item, keys: &[String]) -> Option<Evidence> {
    let live = context.live(item)?;
    let filled: Vec<&str> = keys
        .iter()
        .filter(|key| {
            live.get("data")
                .and_then(|data| data.get(key.as_str()))
                .and_then(Value::as_str)
                .is_some_and(|v| !v.is_empty())
        })
        .map(String::as_str)
        .collect();
    (!filled.is_empty()).then(|| Evidence::State {
        object: item.name.clone(),
        detail: format!("{} hold values now", filled.join(", ")),
    })
}

// Webhook configurations whose service runs pods that mount the Secret.
fn webhooks(context: &Context<'_>, secret: &Item) -> Vec<ObjectName> {
    let mounts = context
        .after
        .iter()
        .any(|item| item.name.kind == "Deployment" && mounts(&item.object, &secret.name.name));
    let configurations =
        context.after.iter().filter(|item| item.name.kind.ends_with("WebhookConfiguration") && mounts);
    let same_release = configurations.filter(|item| {
        let hooks = item.object.get("webhooks").and_then(Value::as_array).into_iter().flatten();
        hooks.into_iter().any(|hook| {
            secret
                .name
                .name
                .split('-')
                .next()
                .is_some_and(|word| text(hook, "/clientConfig/service/name").contains(word))
        })
    });
    same_release.map(|item| item.name.clone()).collect()
}

fn mounts(deployment: &Value, secret: &str) -> bool {
    let volumes = deployment.at("/spec/template/spec/volumes").and_then(Value::as_array);
    volumes.into_iter().flatten().any(|volume| text(volume, "/secret/secretName") == secret)
}
