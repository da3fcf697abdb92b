//! Controllers together: what a cluster does on its own after a few requests, second by second.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::Simulated;
use super::super::conditions::{Certificates, HookOutcome, LeaderTiming};
use super::install;
use crate::cluster::{Cluster, PatchType, Propagation, Request, Resource, Response};
use crate::k8s::At as _;
use crate::k8s::{Gvk, label, text};

mod statefulsets;

const NS: &str = "kubeflow-system";
const TRAINER: &str = "trainer.kubeflow.org";

fn cluster() -> Simulated {
    let mut cluster = Simulated::new("v1.34.3");
    install(&mut cluster);
    for name in [NS, "team-a"] {
        create(&mut cluster, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    }
    cluster
}

fn resource(cluster: &Simulated, object: &Value) -> Resource {
    let gvk = Gvk::of(object);
    let served = cluster.resource(&gvk.group, &gvk.kind).expect("a served kind");
    Resource { version: gvk.version, ..served.resource }
}

fn try_create(cluster: &mut Simulated, object: Value) -> Response {
    let resource = resource(cluster, &object);
    let namespace = text(&object, "/metadata/namespace").to_owned();
    cluster.send(&Request::create(&resource, &namespace, Arc::new(object))).expect("an answer")
}

fn create(cluster: &mut Simulated, object: Value) {
    let response = try_create(cluster, object);
    assert!(response.ok(), "{}", response.message());
}

/// ConfigMaps of the users' namespace, without what every namespace has.
fn snapshots(cluster: &Simulated) -> Vec<String> {
    let mut found = names(cluster, "", "ConfigMap", "team-a");
    found.retain(|name| name != "kube-root-ca.crt");
    found
}

fn patch(
    cluster: &mut Simulated,
    group: &str,
    kind: &str,
    namespace: &str,
    name: &str,
    patch: Value,
) -> Response {
    let resource = cluster.resource(group, kind).expect("a served kind").resource;
    let request = Request::patch(&resource, namespace, name, PatchType::Merge, Arc::new(patch));
    cluster.send(&request).expect("an answer")
}

fn delete(cluster: &mut Simulated, group: &str, kind: &str, namespace: &str, name: &str) {
    let resource = cluster.resource(group, kind).expect("a served kind").resource;
    let request = Request::delete(&resource, namespace, name, Some(Propagation::Background));
    let response = cluster.send(&request).expect("an answer");
    assert!(response.ok(), "{}", response.message());
}

fn wait(cluster: &mut Simulated, seconds: f64) {
    cluster.wait(seconds).expect("time passes");
}

fn names(cluster: &Simulated, group: &str, kind: &str, namespace: &str) -> Vec<String> {
    cluster.list(group, kind, namespace).map(|o| text(o, "/metadata/name").to_owned()).collect()
}

fn ready_pods(cluster: &Simulated, namespace: &str) -> usize {
    cluster.list("", "Pod", namespace).filter(|p| super::pods::ready(p)).count()
}

fn deployment(name: &str, image: &str) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": NS},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {
                "containers": [{"name": "main", "image": image, "ports": [{"name": "webhook", "containerPort": 9443}]}],
                "volumes": [{"name": "webhook-cert", "secret": {"secretName": format!("{name}-cert")}}],
            },
        }},
    })
}

fn image_patch(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{
        "name": "main", "image": image, "ports": [{"name": "webhook", "containerPort": 9443}],
    }]}}}})
}

#[test]
fn a_deployment_rolls_over_without_a_gap() {
    let mut cluster = cluster();
    create(&mut cluster, deployment("web", "web:1"));
    assert_eq!(ready_pods(&cluster, NS), 0);
    wait(&mut cluster, 3.5);
    assert_eq!(ready_pods(&cluster, NS), 1);
    let before = names(&cluster, "", "Pod", NS);
    patch(&mut cluster, "apps", "Deployment", NS, "web", image_patch("web:2"));
    wait(&mut cluster, 1.0);
    assert_eq!(names(&cluster, "", "Pod", NS).len(), 2, "the old pod serves until the new one is Ready");
    wait(&mut cluster, 5.0);
    let after = names(&cluster, "", "Pod", NS);
    assert_eq!(after.len(), 1);
    assert_ne!(before, after);
    let deployment = cluster.get("apps", "Deployment", NS, "web").expect("the Deployment").clone();
    assert_eq!(deployment.at("/status/readyReplicas"), Some(&json!(1)));
    assert_eq!(deployment.at("/status/observedGeneration"), deployment.at("/metadata/generation"));
}

#[test]
fn an_image_that_cannot_be_pulled_keeps_the_old_pod() {
    let mut cluster = cluster();
    create(&mut cluster, deployment("web", "web:1"));
    wait(&mut cluster, 5.0);
    cluster.conditions.images.insert("web:2".to_owned());
    patch(&mut cluster, "apps", "Deployment", NS, "web", image_patch("web:2"));
    wait(&mut cluster, 60.0);
    assert_eq!((names(&cluster, "", "Pod", NS).len(), ready_pods(&cluster, NS)), (2, 1));
}

#[test]
fn a_service_leads_only_to_pods_that_have_its_named_port() {
    let mut cluster = cluster();
    create(&mut cluster, service("web"));
    create(&mut cluster, deployment("web", "web:1"));
    wait(&mut cluster, 5.0);
    let endpoints = |cluster: &Simulated| {
        let slice = cluster.list("discovery.k8s.io", "EndpointSlice", NS).next().cloned().expect("a slice");
        slice.get("endpoints").and_then(Value::as_array).map_or(0, Vec::len)
    };
    assert_eq!(endpoints(&cluster), 1);
    let renamed = json!({"spec": {"ports": [{"port": 443, "targetPort": "other"}]}});
    patch(&mut cluster, "", "Service", NS, "web", renamed);
    assert_eq!(endpoints(&cluster), 0);
}

fn job(name: &str, script: &str, limit: i64) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": NS, "annotations": {"helm.sh/hook": "post-upgrade"}},
        "spec": {"backoffLimit": limit, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
            "restartPolicy": "Never", "serviceAccountName": "installer",
            "containers": [{
                "name": "main", "image": "alpine:3.21", "command": ["/bin/sh", "-c", script],
                "env": [{"name": "WHO", "value": "me"}],
                "volumeMounts": [{"name": "files", "mountPath": "/files"}],
            }],
            "volumes": [{"name": "files", "configMap": {"name": "files"}}],
        }}},
    })
}

/// A cluster with a ServiceAccount that may do these things with ConfigMaps, and a file to apply.
fn with_installer(verbs: &[&str]) -> Simulated {
    let mut cluster = cluster();
    let file = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"made"},"data":{"a":"b"}}"#;
    let group = "rbac.authorization.k8s.io";
    for object in [
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "installer", "namespace": NS}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "files", "namespace": NS},
            "data": {"made.yaml": file}}),
        json!({"apiVersion": format!("{group}/v1"), "kind": "ClusterRole", "metadata": {"name": "installer"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]}),
        json!({"apiVersion": format!("{group}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": "installer"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "installer"},
            "subjects": [{"kind": "ServiceAccount", "name": "installer", "namespace": NS}]}),
    ] {
        create(&mut cluster, object);
    }
    cluster
}

fn condition(cluster: &Simulated, name: &str, kind: &str) -> bool {
    cluster.get("batch", "Job", NS, name).is_some_and(|job| super::status::holds(job, kind))
}

const APPLY: &str = "set -e\napk add kubectl\nkubectl apply --server-side -f /files/made.yaml\n\
                     kubectl label --overwrite -f /files/made.yaml by=$WHO";

#[test]
fn a_hook_job_runs_its_script_with_the_rights_of_its_account() {
    let mut cluster = with_installer(&["get", "create", "patch"]);
    create(&mut cluster, job("install", APPLY, 6));
    wait(&mut cluster, 1.0);
    assert!(cluster.get("", "ConfigMap", NS, "made").is_none(), "pods take time to start");
    wait(&mut cluster, 10.0);
    let made = cluster.get("", "ConfigMap", NS, "made").expect("what the script applied");
    assert_eq!(label(made, "by"), Some("me"));
    assert!(
        condition(&cluster, "install", "Complete") && condition(&cluster, "install", "SuccessCriteriaMet")
    );
    let notes = cluster.take_notes().join("\n");
    assert!(notes.contains("fetches from outside the cluster: add kubectl"), "{notes}");
}

#[test]
fn a_hook_pod_runs_its_script_as_well() {
    let mut cluster = with_installer(&["*"]);
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod"});
    pod["spec"] = job("install", APPLY, 0).at("/spec/template/spec").cloned().expect("a pod");
    pod["metadata"] =
        json!({"name": "once", "namespace": NS, "annotations": {"helm.sh/hook": "pre-upgrade"}});
    create(&mut cluster, pod);
    wait(&mut cluster, 10.0);
    assert!(cluster.get("", "ConfigMap", NS, "made").is_some());
    let once = cluster.get("", "Pod", NS, "once").expect("the pod");
    assert_eq!(text(once, "/status/phase"), "Succeeded");
}

#[test]
fn a_hook_job_without_rights_fails_after_its_retries() {
    let mut cluster = with_installer(&["get"]);
    create(&mut cluster, job("install", APPLY, 1));
    wait(&mut cluster, 60.0);
    assert!(cluster.get("", "ConfigMap", NS, "made").is_none());
    assert!(condition(&cluster, "install", "Failed") && !condition(&cluster, "install", "Complete"));
    assert_eq!(names(&cluster, "", "Pod", NS).len(), 2, "the first pod and one retry");
    let notes = cluster.take_notes().join("\n");
    assert!(notes.contains("Forbidden"), "{notes}");
}

#[test]
fn conditions_decide_what_becomes_of_a_hook() {
    for (outcome, pods) in
        [(HookOutcome::Fails, 2), (HookOutcome::Hangs, 1), (HookOutcome::NeverScheduled, 1)]
    {
        let mut cluster = with_installer(&["*"]);
        cluster.conditions.hooks.named.insert("install".to_owned(), outcome);
        create(&mut cluster, job("install", APPLY, 6));
        wait(&mut cluster, 25.0);
        assert!(cluster.get("", "ConfigMap", NS, "made").is_none(), "{outcome:?}");
        assert!(!condition(&cluster, "install", "Complete"), "{outcome:?}");
        assert_eq!(names(&cluster, "", "Pod", NS).len(), pods, "{outcome:?}");
    }
}

#[test]
fn a_script_that_waits_goes_on_where_it_was() {
    let mut cluster = with_installer(&["*"]);
    let script = "until kubectl get configmap go; do sleep 2; done; kubectl create configmap done";
    create(&mut cluster, job("install", script, 0));
    wait(&mut cluster, 9.0);
    assert!(cluster.get("", "ConfigMap", NS, "done").is_none());
    let mut fork = cluster.clone();
    let go = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "go", "namespace": NS}});
    create(&mut cluster, go);
    wait(&mut cluster, 3.0);
    wait(&mut fork, 3.0);
    assert!(cluster.get("", "ConfigMap", NS, "done").is_some());
    assert!(fork.get("", "ConfigMap", NS, "done").is_none(), "a fork goes its own way");
}

#[test]
fn a_program_that_is_not_known_is_bounded_by_its_rights() {
    let mut cluster = with_installer(&["delete", "get"]);
    create(&mut cluster, job("install", "python3 /migrate.py", 0));
    wait(&mut cluster, 10.0);
    assert!(condition(&cluster, "install", "Complete"));
    let notes = cluster.take_notes().join("\n");
    assert!(notes.contains("could not be executed (program `python3`)"), "{notes}");
    assert!(notes.contains("configmaps (delete)"), "{notes}");
}

// ---- Trainer ----

fn definition(group: &str, kind: &str, plural: &str, scope: &str, version: &str) -> Value {
    // Replicated Jobs merge by name, as in the real definition.
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut named = open.clone();
    named["properties"] = json!({"name": {"type": "string"}});
    named["required"] = json!(["name"]);
    let mut schema = open.clone();
    schema["properties"]["spec"] = open;
    schema["properties"]["spec"]["properties"]["replicatedJobs"] = json!({
        "type": "array", "items": named, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": scope,
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase()},
            "versions": [{
                "name": version, "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

fn webhook(kind: &str, name: &str, plural: &str, operations: &[&str]) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": format!("{name}.{plural}")},
        "webhooks": [{
            "name": format!("{name}.{plural}.test"), "failurePolicy": "Fail", "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {
                "name": if plural == "jobsets" { "jobset" } else { "trainer" }, "namespace": NS, "path": "/x",
            }},
            "rules": [{
                "apiGroups": ["*"], "apiVersions": ["*"], "operations": operations, "resources": [plural],
            }],
        }],
    })
}

fn service(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": NS},
        "spec": {"selector": {"app": name}, "ports": [{"port": 443, "targetPort": "webhook"}]},
    })
}

fn runtime(name: &str, policy: &str, image: &str) -> Value {
    json!({
        "apiVersion": format!("{TRAINER}/v1alpha1"), "kind": "ClusterTrainingRuntime", "metadata": {"name": name},
        "spec": {"mlPolicy": {"numNodes": 1, policy: {}}, "template": {"spec": {"replicatedJobs": [{
            "name": "node", "replicas": 1, "groupName": "default",
            "template": {
                "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                "spec": {"backoffLimit": 0, "template": {"spec": {"containers": [{"name": "node", "image": image}]}}},
            },
        }]}}},
    })
}

fn trainjob(name: &str, runtime: &str, command: &[&str], suspend: bool) -> Value {
    json!({
        "apiVersion": format!("{TRAINER}/v1alpha1"), "kind": "TrainJob",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {
            "runtimeRef": {"apiGroup": TRAINER, "kind": "ClusterTrainingRuntime", "name": runtime},
            "suspend": suspend, "trainer": {"numNodes": 1, "command": command},
        },
    })
}

const MANAGER: &str = "ghcr.io/kubeflow/trainer/trainer-controller-manager";

/// A cluster with Trainer 2.2 and JobSet, three runtimes and four TrainJobs.
fn with_trainer() -> Simulated {
    let mut cluster = with_installer(&["*"]);
    for object in [
        definition(TRAINER, "TrainJob", "trainjobs", "Namespaced", "v1alpha1"),
        definition(TRAINER, "TrainingRuntime", "trainingruntimes", "Namespaced", "v1alpha1"),
        definition(TRAINER, "ClusterTrainingRuntime", "clustertrainingruntimes", "Cluster", "v1alpha1"),
        definition("jobset.x-k8s.io", "JobSet", "jobsets", "Namespaced", "v1alpha2"),
        service("trainer"),
        service("jobset"),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "trainer-cert", "namespace": NS}}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "jobset-cert", "namespace": NS}}),
        deployment("trainer", &format!("{MANAGER}:v2.2.1")),
        deployment("jobset", "registry.k8s.io/jobset/jobset:v0.11.0"),
        webhook("MutatingWebhookConfiguration", "default", "jobsets", &["CREATE"]),
        webhook("ValidatingWebhookConfiguration", "validate", "jobsets", &["CREATE", "UPDATE"]),
        webhook("ValidatingWebhookConfiguration", "validate", "trainjobs", &["CREATE", "UPDATE"]),
        webhook(
            "ValidatingWebhookConfiguration",
            "validate",
            "clustertrainingruntimes",
            &["CREATE", "UPDATE"],
        ),
    ] {
        create(&mut cluster, object);
    }
    let early = try_create(&mut cluster, runtime("early", "torch", "torch:1"));
    assert!(
        early.message().contains("no endpoints available for service \"trainer\""),
        "{}",
        early.message()
    );
    wait(&mut cluster, 10.0);
    for object in [
        runtime("torch", "torch", "torch:1"),
        runtime("jax", "jax", "jax:1"),
        runtime("xgboost", "xgboost", "xgboost:1"),
        trainjob("running", "torch", &["train"], false),
        trainjob("waiting", "torch", &["train"], true),
        trainjob("done", "jax", &["true"], false),
        trainjob("failed", "jax", &["false"], false),
    ] {
        create(&mut cluster, object);
    }
    wait(&mut cluster, 300.0);
    cluster
}

fn state(cluster: &Simulated, name: &str) -> String {
    let job = cluster.get(TRAINER, "TrainJob", "team-a", name).expect("a TrainJob");
    let conditions = job.at("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let kinds: Vec<&str> =
        conditions.iter().filter(|c| text(c, "/status") == "True").map(|c| text(c, "/type")).collect();
    kinds.join(",")
}

#[test]
fn trainjobs_become_jobsets_jobs_and_pods() {
    let cluster = with_trainer();
    assert_eq!(
        names(&cluster, "jobset.x-k8s.io", "JobSet", "team-a"),
        ["done", "failed", "running", "waiting"]
    );
    assert_eq!(
        names(&cluster, "batch", "Job", "team-a"),
        ["done-node-0", "failed-node-0", "running-node-0", "waiting-node-0"]
    );
    let states: Vec<String> =
        ["running", "waiting", "done", "failed"].iter().map(|n| state(&cluster, n)).collect();
    assert_eq!(states, ["", "Suspended", "Complete", "Failed"]);
    let torch = cluster.get(TRAINER, "ClusterTrainingRuntime", "", "torch").expect("the runtime");
    assert_eq!(torch.at("/metadata/finalizers"), Some(&json!(["trainer.kubeflow.org/resource-in-use"])));
    let unused = cluster.get(TRAINER, "ClusterTrainingRuntime", "", "xgboost").expect("the runtime");
    assert!(unused.at("/metadata/finalizers").is_none());
}

fn installer_script() -> String {
    let items = ["torch", "jax", "xgboost"].map(|name| runtime(name, name, &format!("{name}:2")));
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    format!(
        "set -e\napk add --no-cache kubectl\ncat > /tmp/runtimes.yaml <<'EOF'\n{list}\nEOF\n\
         kubectl apply --server-side --force-conflicts -f /tmp/runtimes.yaml\n\
         kubectl label --overwrite -f /tmp/runtimes.yaml managed-by=installer\n\
         desired=\"$(kubectl apply -f /tmp/runtimes.yaml --dry-run=client -o name)\"\n\
         for res in $(kubectl get clustertrainingruntime -l managed-by=installer -o name); do\n\
         echo \"$desired\" | grep -qx \"$res\" || kubectl delete \"$res\" --ignore-not-found\ndone"
    )
}

/// What an upgrade to 2.3 does: the new manager, the runtimes out of the release, the hook.
fn upgrade(cluster: &mut Simulated) {
    let rights = json!({"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]});
    patch(cluster, "rbac.authorization.k8s.io", "ClusterRole", "", "installer", rights);
    patch(cluster, "apps", "Deployment", NS, "trainer", image_patch(&format!("{MANAGER}:v2.3.0")));
    for name in ["torch", "jax", "xgboost"] {
        delete(cluster, TRAINER, "ClusterTrainingRuntime", "", name);
    }
    create(cluster, job("install", &installer_script(), 6));
}

fn runtimes(cluster: &Simulated) -> Vec<String> {
    names(cluster, TRAINER, "ClusterTrainingRuntime", "")
}

#[test]
fn runtimes_in_use_vanish_when_the_new_manager_leads_after_the_hook() {
    let mut cluster = with_trainer();
    let uid = |c: &Simulated, name: &str| {
        c.get(TRAINER, "ClusterTrainingRuntime", "", name).map(|o| text(o, "/metadata/uid").to_owned())
    };
    let before = (uid(&cluster, "torch"), uid(&cluster, "xgboost"));
    upgrade(&mut cluster);
    assert_eq!(runtimes(&cluster), ["jax", "torch"], "those in use are Terminating, the other is gone");
    wait(&mut cluster, 9.0);
    assert!(condition(&cluster, "install", "Complete"), "{:?}", cluster.take_notes());
    assert_eq!(runtimes(&cluster), ["jax", "torch", "xgboost"]);
    assert_eq!(uid(&cluster, "torch"), before.0, "the hook applied onto the Terminating object");
    assert_ne!(uid(&cluster, "xgboost"), before.1, "created again");
    wait(&mut cluster, 20.0);
    assert_eq!(runtimes(&cluster), ["xgboost"]);
    assert!(snapshots(&cluster).is_empty(), "no snapshot of a vanished runtime");
    let label = json!({"metadata": {"labels": {"x": "y"}}});
    let refused = patch(&mut cluster, TRAINER, "TrainJob", "team-a", "running", label);
    assert!(
        refused.message().contains("must be created before the TrainJob is created"),
        "{}",
        refused.message()
    );
    let pods = names(&cluster, "", "Pod", "team-a");
    assert!(pods.iter().any(|name| name.starts_with("running-node-0-0-")), "training goes on");
}

#[test]
fn runtimes_are_replaced_when_the_new_manager_leads_before_the_hook() {
    let mut cluster = with_trainer();
    cluster.conditions.leader = LeaderTiming::BeforeHook;
    upgrade(&mut cluster);
    wait(&mut cluster, 60.0);
    assert!(condition(&cluster, "install", "Complete"));
    assert_eq!(runtimes(&cluster), ["jax", "torch", "xgboost"]);
    assert_eq!(
        snapshots(&cluster),
        ["failed-runtime-snapshot", "running-runtime-snapshot", "waiting-runtime-snapshot"],
        "unfinished TrainJobs keep what the hook made"
    );
    let resume = json!({"spec": {"suspend": false}});
    assert!(patch(&mut cluster, TRAINER, "TrainJob", "team-a", "waiting", resume).ok());
    wait(&mut cluster, 10.0);
    let set = cluster.get("jobset.x-k8s.io", "JobSet", "team-a", "waiting").expect("the JobSet");
    assert_eq!(set.at("/spec/suspend"), Some(&json!(true)), "another image: the JobSet can't be changed");
    let notes = cluster.take_notes().join("\n");
    assert!(notes.contains("field is immutable"), "{notes}");
    delete(&mut cluster, "jobset.x-k8s.io", "JobSet", "team-a", "waiting");
    wait(&mut cluster, 10.0);
    let notes = cluster.take_notes().join("\n");
    assert!(
        notes.contains("TrainJob team-a/waiting: TrainJob resources reconciliation succeeded"),
        "{notes}"
    );
}

#[test]
fn kept_runtimes_leave_the_right_snapshots() {
    let mut cluster = with_trainer();
    patch(&mut cluster, "apps", "Deployment", NS, "trainer", image_patch(&format!("{MANAGER}:v2.3.0")));
    wait(&mut cluster, 60.0);
    assert_eq!(runtimes(&cluster), ["jax", "torch", "xgboost"]);
    assert_eq!(snapshots(&cluster).len(), 3);
    let torch = cluster.get(TRAINER, "ClusterTrainingRuntime", "", "torch").expect("the runtime");
    assert!(torch.at("/metadata/finalizers").is_none(), "2.3 strips the finalizer");
    assert!(
        patch(&mut cluster, TRAINER, "TrainJob", "team-a", "waiting", json!({"spec": {"suspend": false}}))
            .ok()
    );
    wait(&mut cluster, 10.0);
    let set = cluster.get("jobset.x-k8s.io", "JobSet", "team-a", "waiting").expect("the JobSet");
    assert_eq!(set.at("/spec/suspend"), Some(&json!(false)));
    assert!(names(&cluster, "", "Pod", "team-a").iter().any(|name| name.starts_with("waiting-node-0-0-")));
    delete(&mut cluster, "jobset.x-k8s.io", "JobSet", "team-a", "failed");
    wait(&mut cluster, 2.0);
    assert!(
        names(&cluster, "jobset.x-k8s.io", "JobSet", "team-a").contains(&"failed".to_owned()),
        "run again"
    );
}

#[test]
fn one_unreadable_trainjob_stops_the_new_manager() {
    let mut cluster = with_trainer();
    let processes = json!({"spec": {"trainer": {"numProcPerNode": "auto"}}});
    assert!(patch(&mut cluster, TRAINER, "TrainJob", "team-a", "running", processes).ok());
    // A Deployment that is replaced, so that no old pod goes on serving.
    delete(&mut cluster, "apps", "Deployment", NS, "trainer");
    create(&mut cluster, deployment("trainer", &format!("{MANAGER}:v2.3.0")));
    wait(&mut cluster, 60.0);
    let label = json!({"metadata": {"labels": {"x": "y"}}});
    let refused = patch(&mut cluster, TRAINER, "TrainJob", "team-a", "waiting", label.clone());
    assert!(refused.message().contains("no endpoints available"), "{}", refused.message());
    delete(&mut cluster, TRAINER, "TrainJob", "team-a", "running");
    wait(&mut cluster, 10.0);
    assert!(patch(&mut cluster, TRAINER, "TrainJob", "team-a", "waiting", label).ok());
}

#[test]
fn webhook_calls_meet_rotating_certificates_only_when_told_so() {
    for (certificates, accepted) in [(Certificates::Settled, true), (Certificates::Rotating, false)] {
        let mut cluster = with_trainer();
        cluster.conditions.certificates = certificates;
        let emptied = json!({"data": {"tls.crt": "", "tls.key": "", "ca.crt": "", "ca.key": ""}});
        patch(&mut cluster, "", "Secret", NS, "trainer-cert", emptied);
        let label = json!({"metadata": {"labels": {"x": "y"}}});
        let response = patch(&mut cluster, TRAINER, "TrainJob", "team-a", "running", label.clone());
        assert_eq!(response.ok(), accepted, "{}", response.message());
        assert_eq!(response.message().contains("x509"), !accepted);
        wait(&mut cluster, 70.0);
        assert!(patch(&mut cluster, TRAINER, "TrainJob", "team-a", "running", label).ok());
    }
}

#[test]
fn every_namespace_has_its_service_account_and_root_certificate() {
    let mut cluster = cluster();
    cluster.wait(1.0).expect("time passes");
    for namespace in ["default", NS, "team-a"] {
        assert!(cluster.get("", "ServiceAccount", namespace, "default").is_some(), "{namespace}");
        assert!(cluster.get("", "ConfigMap", namespace, "kube-root-ca.crt").is_some(), "{namespace}");
    }
    let uid = |cluster: &Simulated| {
        let account = cluster.get("", "ServiceAccount", "team-a", "default").expect("an account");
        text(account, "/metadata/uid").to_owned()
    };
    let before = uid(&cluster);
    delete(&mut cluster, "", "ServiceAccount", "team-a", "default");
    cluster.wait(1.0).expect("time passes");
    assert_ne!(uid(&cluster), before);
    delete(&mut cluster, "", "Namespace", "", "team-a");
    cluster.wait(4.9).expect("time passes");
    let seen = cluster.get("", "ServiceAccount", "team-a", "default");
    assert!(seen.is_some_and(|account| account.at("/metadata/deletionTimestamp").is_none()));
    cluster.wait(0.2).expect("time passes");
    assert!(cluster.get("", "ServiceAccount", "team-a", "default").is_none());
    assert!(cluster.get("", "Namespace", "", "team-a").is_none());
}
