//! Hooks that take away what the release has just brought.

use std::collections::BTreeMap;

use super::met::{Met, condition, ends, listed, operations};
use super::{Context, Findings};
use crate::cluster::Exchange;
use crate::finding::{Evidence, ObjectName, Severity};
use crate::upgrade::diff::FieldChange;
use crate::upgrade::inventory::{Item, Place};
use crate::upgrade::trace::{Action, Step};

declare_check! {
    /// A hook deletes or disables an object that the new chart brings.
    ///
    /// ## What breaks
    /// Helm has written the object and calls the upgrade a success; then the hook's program deletes it, scales it down to nothing, or
    /// stops its API from being served. The release says that it is there, and nobody brings it back before the next upgrade, which
    /// does the same again.
    ///
    /// ## What to do
    /// Read the hook's program. A hook that clears away what an old version left behind has to come before the upgrade
    /// (`pre-upgrade`) and to spare what the new one brings; until it does, switch it off in the values, or run the upgrade with
    /// `--no-hooks` and do by hand what it is for.
    ///
    /// ## Not reported
    /// What a hook deletes and the upgrade brings back after it; what neither chart brings (`bystander_changed`, and losses); other
    /// changes that hooks make in objects of their own release, such as a certificate that is written into a webhook.
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/hooks.go`: what a hook's Job does is not part of the release
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<(&ObjectName, String), Vec<Met<'_>>> = BTreeMap::new();
    for (met, step) in ends(context).into_iter().filter(|(met, _)| met.is_forward() && met.outcome.succeeds())
    {
        for (item, what) in deleted(context, step).chain(disabled(context, step)) {
            found.entry((&item.name, what)).or_default().push(met);
        }
    }
    for ((object, what), met) in found {
        let message = format!("{} {} of the new chart: {what} ({})", object.kind, object.name, listed(&met));
        let evidence = Evidence::State { object: object.clone(), detail: what };
        let said = findings.say(Severity::Breaks, message, evidence).about(object).during(operations(&met));
        if let Some(condition) = condition(&met) {
            said.when(condition);
        }
    }
}

/// Objects of the release that a program has deleted and that are not there when the step is over.
fn deleted<'c>(context: &'c Context<'_>, step: &'c Step) -> impl Iterator<Item = (&'c Item, String)> {
    let own = context.after.iter().filter(|item| matches!(item.place, Place::Templates | Place::Crds));
    let there = |item: &Item| {
        let event = step.events.iter().find(|event| is_it(context, item, &event.object));
        event.is_some_and(|event| !matches!(event.action, Action::Deleted | Action::Terminating))
    };
    let by_hook = |item: &Item| step.exchanges.iter().any(|one| deletes(one, &item.name));
    own.filter(move |item| by_hook(item) && !there(item))
        .map(|item| (item, "a hook's program deletes it".to_owned()))
}

fn is_it(context: &Context<'_>, item: &Item, object: &ObjectName) -> bool {
    let place = if item.name.namespace.is_empty() { context.scene.namespace } else { &item.name.namespace };
    item.name.kind == object.kind
        && item.name.name == object.name
        && (object.namespace.is_empty() || object.namespace == place)
}

/// Whether a program's request deletes an object: the path ends with its resource and its name.
fn deletes(exchange: &Exchange, object: &ObjectName) -> bool {
    let path =
        exchange.request.strip_prefix("DELETE ").filter(|_| exchange.by == "hook" && exchange.status < 300);
    let named = path.and_then(|path| path.strip_suffix(object.name.as_str())?.strip_suffix('/'));
    let resource = named.and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    // `networkpolicies` is the plural of `networkpolicy`.
    let kind = object.kind.to_lowercase();
    let stem = kind.strip_suffix('y').unwrap_or(&kind);
    resource.starts_with(stem)
}

/// Objects of the release that a hook's program leaves without effect.
fn disabled<'c>(context: &'c Context<'_>, step: &'c Step) -> impl Iterator<Item = (&'c Item, String)> {
    let written = step.rewritten.iter().filter(|one| one.writer.hook);
    let own = written.filter_map(|one| {
        Some((context.after.iter().find(|item| is_it(context, item, &one.object))?, &one.fields))
    });
    own.filter_map(|(item, fields)| Some((item, fields.iter().find_map(disables)?)))
}

fn disables(field: &FieldChange) -> Option<String> {
    let is = |value: &serde_json::Value| field.after.as_ref() == Some(value);
    let path = field.path.as_str();
    let what = match () {
        () if path == "spec.replicas" && is(&0.into()) => "scales it down to nothing".to_owned(),
        () if path.ends_with("].served") && is(&false.into()) => format!("stops serving it ({path})"),
        () if path.starts_with("spec.conversion") => {
            format!("changes how its versions are converted ({path})")
        }
        () => return None,
    };
    Some(format!("a hook's program {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(request: &str, by: &str) -> Exchange {
        Exchange { at: 0.0, by: by.into(), request: request.into(), status: 200, message: String::new() }
    }

    #[test]
    fn a_deletion_is_told_by_resource_and_name() {
        let object = |kind: &str, name: &str| ObjectName {
            kind: kind.into(),
            namespace: String::new(),
            name: name.into(),
        };
        let request = "DELETE /apis/networking.k8s.io/v1/namespaces/n/networkpolicies/web";
        assert!(deletes(&exchange(request, "hook"), &object("NetworkPolicy", "web")));
        assert!(!deletes(&exchange(request, "hook"), &object("Service", "web")));
        assert!(!deletes(&exchange(request, "hook"), &object("NetworkPolicy", "eb")));
        assert!(!deletes(&exchange(request, "helm3"), &object("NetworkPolicy", "web")), "Helm's own");
    }

    #[test]
    fn what_takes_the_effect_away() {
        let change = |path: &str, after: serde_json::Value| FieldChange {
            path: path.into(),
            before: None,
            after: Some(after),
        };
        assert!(disables(&change("spec.replicas", 0.into())).is_some());
        assert!(disables(&change("spec.replicas", 2.into())).is_none());
        assert!(disables(&change("spec.versions[v1].served", false.into())).is_some());
        assert!(disables(&change("webhooks[a].clientConfig.caBundle", "x".into())).is_none());
    }
}
