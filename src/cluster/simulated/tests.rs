//! The simulated server as its clients see it: lifecycles that span several requests.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::cluster::{PatchType, Propagation, Resource};
use crate::k8s::At as _;

fn crds() -> Resource {
    Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

fn tabs() -> Resource {
    Resource::new("lab.example.com", "v1", "tabs")
}

fn crd() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "tabs.lab.example.com" },
        "spec": {
            "group": "lab.example.com", "scope": "Namespaced", "names": { "kind": "Tab", "plural": "tabs" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} }, "schema": {
                "openAPIV3Schema": { "type": "object", "properties": {
                    "spec": { "type": "object", "properties": { "n": { "type": "integer" } } },
                    "status": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } } } } }],
        },
    })
}

fn tab(name: &str) -> Value {
    json!({ "apiVersion": "lab.example.com/v1", "kind": "Tab", "metadata": { "name": name }, "spec": { "n": 1 } })
}

fn config_map(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "k": "v" } })
}

fn maps() -> Resource {
    Resource::new("", "v1", "configmaps")
}

fn send(cluster: &mut Simulated, request: &Request) -> Response {
    cluster.send(request).unwrap()
}

fn with_tab() -> Simulated {
    let mut cluster = Simulated::new("v1.34.3");
    assert_eq!(send(&mut cluster, &Request::create(&crds(), "", Arc::new(crd()))).status, 201);
    assert_eq!(send(&mut cluster, &Request::create(&tabs(), "default", Arc::new(tab("a")))).status, 201);
    cluster
}

#[test]
fn deleting_a_definition_deletes_its_objects() {
    let mut cluster = with_tab();
    assert!(cluster.resource("lab.example.com", "Tab").is_some());
    send(&mut cluster, &Request::delete(&crds(), "", "tabs.lab.example.com", Some(Propagation::Background)));
    assert_eq!(cluster.list("lab.example.com", "Tab", "").count(), 0);
    assert!(cluster.resource("lab.example.com", "Tab").is_none());
    assert_eq!(send(&mut cluster, &Request::get(&tabs(), "default", "a")).status, 404);
}

#[test]
fn finalizers_hold_a_definition_until_its_objects_are_gone() {
    let mut cluster = with_tab();
    let held = json!({ "metadata": { "finalizers": ["lab.example.com/f"] } });
    send(&mut cluster, &Request::patch(&tabs(), "default", "a", PatchType::Merge, Arc::new(held)));
    send(&mut cluster, &Request::delete(&crds(), "", "tabs.lab.example.com", None));
    let name = "tabs.lab.example.com";
    let kept = cluster.get("apiextensions.k8s.io", "CustomResourceDefinition", "", name).cloned().unwrap();
    assert!(kept.at("/metadata/deletionTimestamp").is_some());
    let refused = send(&mut cluster, &Request::create(&tabs(), "default", Arc::new(tab("b"))));
    assert_eq!(refused.status, 403, "{}", refused.message());
    let released = json!({ "metadata": { "finalizers": null } });
    send(&mut cluster, &Request::patch(&tabs(), "default", "a", PatchType::Merge, Arc::new(released)));
    assert!(cluster.get("apiextensions.k8s.io", "CustomResourceDefinition", "", name).is_none());
}

#[test]
fn forks_do_not_see_each_other() {
    let mut cluster = with_tab();
    let mut fork = cluster.clone();
    send(&mut fork, &Request::delete(&tabs(), "default", "a", None));
    assert!(fork.get("lab.example.com", "Tab", "default", "a").is_none());
    assert_eq!(send(&mut cluster, &Request::get(&tabs(), "default", "a")).status, 200);
}

#[test]
fn foreground_deletion_waits_for_dependents() {
    let mut cluster = Simulated::new("v1.34.3");
    let owner = send(&mut cluster, &Request::create(&maps(), "default", Arc::new(config_map("owner"))));
    let mut dependent = config_map("dependent");
    dependent["metadata"]["ownerReferences"] = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
        "uid": owner.body["metadata"]["uid"], "blockOwnerDeletion": true }]);
    send(&mut cluster, &Request::create(&maps(), "default", Arc::new(dependent)));
    cluster.take_exchanges();
    send(&mut cluster, &Request::delete(&maps(), "default", "owner", Some(Propagation::Foreground)));
    assert_eq!(cluster.list("", "ConfigMap", "default").count(), 0);
    let deleted: Vec<String> =
        cluster.take_exchanges().into_iter().map(|e| format!("{} {}", e.by, e.request)).collect();
    assert_eq!(
        deleted,
        [
            "client DELETE /api/v1/namespaces/default/configmaps/owner",
            "garbage-collector DELETE /api/v1/namespaces/default/configmaps/dependent",
            "garbage-collector PATCH /api/v1/namespaces/default/configmaps/owner",
        ]
    );
}

#[test]
fn a_webhook_without_endpoints_fails_by_its_policy() {
    let mut cluster = Simulated::new("v1.34.3");
    let hooks = Resource::new("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations");
    let hook = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": "h" },
        "webhooks": [{ "name": "v.lab.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": { "service": { "name": "svc", "namespace": "default", "path": "/check" } },
            "rules": [{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"] }] }],
    });
    assert_eq!(send(&mut cluster, &Request::create(&hooks, "", Arc::new(hook))).status, 201);
    let service = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "svc" },
        "spec": { "ports": [{ "port": 443 }] } });
    send(&mut cluster, &Request::create(&Resource::new("", "v1", "services"), "default", Arc::new(service)));
    let refused = send(&mut cluster, &Request::create(&maps(), "default", Arc::new(config_map("c"))));
    assert_eq!(refused.status, 500);
    assert_eq!(
        refused.message(),
        "Internal error occurred: failed calling webhook \"v.lab.example.com\": failed to call webhook: Post \
         \"https://svc.default.svc:443/check?timeout=10s\": no endpoints available for service \"svc\""
    );
    let ignore = json!([{ "op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore" }]);
    send(&mut cluster, &Request::patch(&hooks, "", "h", PatchType::Json, Arc::new(ignore)));
    assert_eq!(
        send(&mut cluster, &Request::create(&maps(), "default", Arc::new(config_map("c")))).status,
        201
    );
}

#[test]
fn roles_decide_what_a_service_account_may_do() {
    let mut cluster = Simulated::new("v1.34.3");
    let user = "system:serviceaccount:default:hook";
    let request = Request::create(&maps(), "default", Arc::new(config_map("c"))).user(user);
    let refused = send(&mut cluster, &request);
    assert_eq!(refused.status, 403);
    assert_eq!(
        refused.message(),
        "configmaps is forbidden: User \"system:serviceaccount:default:hook\" cannot create resource \"configmaps\" in \
         API group \"\" in the namespace \"default\""
    );
    let meta = json!({ "name": "r", "namespace": "default" });
    cluster.load([
        json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta,
            "rules": [{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"] }] }),
        json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": meta,
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r" },
            "subjects": [{ "kind": "ServiceAccount", "name": "hook", "namespace": "default" }] }),
    ]);
    assert_eq!(send(&mut cluster, &request).status, 201);
}

/// Counts how often it was asked and wakes up once.
#[derive(Clone, Default)]
struct Alarm {
    rang: bool,
}

impl Controller for Alarm {
    fn name(&self) -> &'static str {
        "alarm"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if api.now() < 5.0 {
            return Some(5.0);
        }
        if !self.rang {
            self.rang = true;
            api.send(&Request::create(&maps(), "default", Arc::new(config_map("rang"))));
        }
        None
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[test]
fn controllers_wake_up_when_they_are_due() {
    let mut cluster = Simulated::new("v1.34.3");
    cluster.add_controller(Box::new(Alarm::default()));
    send(&mut cluster, &Request::create(&maps(), "default", Arc::new(config_map("c"))));
    cluster.wait(4.0).unwrap();
    assert!(cluster.get("", "ConfigMap", "default", "rang").is_none());
    cluster.wait(4.0).unwrap();
    let rang = cluster.take_exchanges().into_iter().find(|e| e.by == "alarm").unwrap();
    assert!((rang.at - 5.0).abs() < 1e-9);
    assert!((cluster.now() - 8.0).abs() < 1e-9);
}

/// Is always due.
#[derive(Clone)]
struct Restless;

impl Controller for Restless {
    fn name(&self) -> &'static str {
        "restless"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        Some(api.now())
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[test]
fn time_goes_on_beside_controllers_that_never_rest() {
    let mut cluster = Simulated::new("v1.34.3");
    cluster.add_controller(Box::new(Restless));
    cluster.wait(4.0).unwrap();
    assert!((cluster.now() - 4.0).abs() < 1e-9);
    assert!(cluster.take_notes().iter().any(|note| note.contains("did not come to rest")));
}

#[test]
fn a_thousand_reads_and_writes_beside_a_large_definition_are_quick() {
    let mut large = crd();
    let fields: serde_json::Map<String, Value> = (0..3000)
        .map(|i| (format!("field{i}"), json!({ "type": "string", "description": "x".repeat(80) })))
        .collect();
    large["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["big"] =
        json!({ "type": "object", "properties": fields });
    let mut cluster = Simulated::new("v1.34.3");
    send(&mut cluster, &Request::create(&crds(), "", Arc::new(large.clone())));
    let start = std::time::Instant::now();
    for i in 0..1000 {
        assert!(send(&mut cluster, &Request::get(&crds(), "", "tabs.lab.example.com")).ok());
        let name = format!("m{}", i % 50);
        send(&mut cluster, &Request::apply(&maps(), "default", "t", true, Arc::new(config_map(&name))));
    }
    send(&mut cluster, &Request::apply(&crds(), "", "t", true, Arc::new(large)));
    println!("2,001 requests took {:?}", start.elapsed());
    assert!(start.elapsed().as_secs() < 5);
}
