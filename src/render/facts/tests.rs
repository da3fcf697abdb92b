use super::*;
use crate::chart::{Chart, File, Helm, Values};
use crate::limits::Limits;
use crate::render::{DeletePolicy, HookEvent, Options, render};

fn rendered(files: &[(&str, &str)]) -> Render {
    let mut all = vec![("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")];
    all.extend_from_slice(files);
    let file = |(path, text): (&str, &str)| File { path: path.to_owned(), data: text.as_bytes().into() };
    let files = all.into_iter().map(file).collect();
    let chart = Chart::from_files(files, Helm::V4, &Limits::default()).unwrap();
    render(&chart, &Values::new(), &Options::default()).unwrap()
}

fn crd(name: &str, annotations: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {name}, annotations: {annotations}}}\nspec: {{group: g.io, names: {{kind: T}}}}\n"
    )
}

#[test]
fn crds_are_found_wherever_they_live() {
    let kept = crd("kept.g.io", "{helm.sh/resource-policy: keep}");
    let render = rendered(&[
        ("templates/a.yaml", &kept),
        ("crds/b.yaml", &crd("plain.g.io", "{}")),
        ("templates/h.yaml", &crd("hooked.g.io", "{helm.sh/hook: pre-install}")),
    ]);
    let seen: Vec<_> =
        read(&render).crds.into_iter().map(|crd| (crd.name.clone(), crd.owner(), crd.keep)).collect();
    assert_eq!(
        seen,
        [
            ("kept.g.io".to_owned(), Owner::Release, true),
            ("plain.g.io".to_owned(), Owner::Nobody, false),
            ("hooked.g.io".to_owned(), Owner::Hook, false),
        ]
    );
}

const INSTALLER: &str = "
apiVersion: batch/v1
kind: Job
metadata:
  name: installer
  namespace: n
  annotations: {helm.sh/hook: 'post-install,post-upgrade', helm.sh/hook-weight: '3'}
spec:
  template:
    spec:
      serviceAccountName: sa
      containers: [{name: a, image: 'alpine:3', command: [sh, -c, apply]}]
      volumes: [{name: m, configMap: {name: runtimes}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r}
rules: [{apiGroups: [g.io], resources: [ts], verbs: [delete]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {kind: ClusterRole, name: r}
subjects: [{kind: ServiceAccount, name: sa, namespace: n}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: runtimes}
data:
  runtimes.yaml: |
    apiVersion: g.io/v1
    kind: ClusterTrainingRuntime
    metadata: {name: torch, labels: {trainer.kubeflow.org/framework: torch}}
    spec:
      mlPolicy: {numNodes: 1}
      template: {spec: {containers: [{image: 'pytorch:2'}]}}
";

#[test]
fn hooks_tell_what_they_run_and_may_do() {
    let facts = read(&rendered(&[("templates/all.yaml", INSTALLER)]));
    let hook = &facts.hooks[0];
    assert_eq!(hook.events, [HookEvent::PostInstall, HookEvent::PostUpgrade]);
    assert_eq!((hook.weight, hook.service_account.as_str(), hook.may_be_root), (3, "sa", true));
    assert_eq!(hook.delete_policies, [DeletePolicy::BeforeHookCreation]);
    assert_eq!(hook.images, ["alpine:3"]);
    assert_eq!(hook.commands, ["sh -c apply"]);
    assert_eq!(hook.grants[0].role.name, "r");
    assert!(hook.grants[0].namespace.is_none() && hook.grants[0].rules.is_some());
}

#[test]
fn runtimes_inside_a_hooks_config_map_are_found() {
    let facts = read(&rendered(&[("templates/all.yaml", INSTALLER)]));
    let runtime = &facts.runtimes[0];
    assert_eq!(runtime.object_name.name, "torch");
    assert_eq!(runtime.framework.as_deref(), Some("torch"));
    assert_eq!(runtime.images, ["pytorch:2"]);
    assert_eq!(runtime.ml_policy.as_ref().unwrap()["numNodes"], 1);
    assert_eq!(runtime.applied_by.as_ref().unwrap().2, "runtimes.yaml");
}

#[test]
fn sizes_count_every_object() {
    let render = rendered(&[("templates/all.yaml", INSTALLER), ("crds/b.yaml", &crd("plain.g.io", "{}"))]);
    let sizes = sizes(&render);
    assert_eq!(sizes.len(), 5);
    assert!(sizes.iter().all(|size| size.json_bytes > 50 && !size.exceeds_last_applied()));
}
