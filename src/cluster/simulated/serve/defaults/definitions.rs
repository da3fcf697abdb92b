//! Defaults of CustomResourceDefinitions and webhook configurations.

use serde_json::{Value, json};

use super::{each, part, set};
use crate::k8s::At as _;
use crate::k8s::text;

pub(super) fn definition(object: &mut Value, old: Option<&Value>) {
    let kind = text(object, "/spec/names/kind").to_owned();
    if let Some(names) = object.pointer_mut("/spec/names") {
        set(Some(names), "singular", json!(kind.to_lowercase()));
        set(Some(names), "listKind", json!(format!("{kind}List")));
    }
    set(object.get_mut("spec"), "conversion", json!({ "strategy": "None" }));
    set(object.pointer_mut("/spec/conversion/webhook/clientConfig/service"), "port", json!(443));
    let storage = stored_version(object);
    let Some(status) = part(object, "status") else { return };
    if old.is_none() {
        status.insert("acceptedNames".to_owned(), json!({ "kind": "", "plural": "" }));
        status.insert("conditions".to_owned(), json!([]));
        status.insert("storedVersions".to_owned(), json!([storage]));
        return;
    }
    // The version that new objects are stored in joins those that old ones may still be stored in.
    let stored = status.entry("storedVersions").or_insert_with(|| json!([]));
    if let Some(stored) = stored.as_array_mut().filter(|s| !s.iter().any(|v| *v == storage)) {
        stored.push(json!(storage));
    }
}

fn stored_version(object: &Value) -> String {
    let versions = object.at("/spec/versions").and_then(Value::as_array);
    let storage = versions.into_iter().flatten().find(|v| v.get("storage") == Some(&json!(true)));
    storage.map_or("", |v| text(v, "/name")).to_owned()
}

pub(super) fn webhooks(object: &mut Value, kind: &str) {
    let mutating = kind == "MutatingWebhookConfiguration";
    for hook in each(object, "/webhooks") {
        for (field, value) in [
            ("failurePolicy", json!("Fail")),
            ("matchPolicy", json!("Equivalent")),
            ("namespaceSelector", json!({})),
            ("objectSelector", json!({})),
            ("timeoutSeconds", json!(10)),
        ] {
            set(Some(hook), field, value);
        }
        if mutating {
            set(Some(hook), "reinvocationPolicy", json!("Never"));
        }
        set(hook.pointer_mut("/clientConfig/service"), "port", json!(443));
        for rule in each(hook, "/rules") {
            set(Some(rule), "scope", json!("*"));
        }
    }
}
