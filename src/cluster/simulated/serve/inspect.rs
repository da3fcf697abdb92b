//! What the server would say to an object that it is said to hold already.

use serde_json::Value;

use super::super::Simulated;
use super::{body, defaults, metadata, rules};
use crate::k8s::{Gvk, text};
use crate::schema::{FieldError, KubeVersion, crd};

impl Simulated {
    /// What this server would refuse of a built-in object or a definition if it was created today. Objects that were
    /// stored long ago may have faults that were none then. Nothing is said about names, which are looked at where
    /// objects are read, nor about kinds and versions that the server does not serve.
    #[must_use]
    pub fn faults(&self, object: &Value) -> Vec<FieldError> {
        let Gvk { group, version, kind } = Gvk::of(object);
        let builtin = crate::k8s::catalogue::by_kind(&group, &kind);
        if builtin.is_some_and(|builtin| builtin.served(self.minor).all(|served| served != version)) {
            return Vec::new();
        }
        let Some(target) = self.discovery.by_kind(&group, &kind, self.minor) else { return Vec::new() };
        let mut errors = metadata::validate(&target, object, None);
        errors.retain(|error| !matches!(error.field.as_str(), "metadata.name" | "metadata.generateName"));
        if builtin.is_none() {
            return errors;
        }
        if kind == "CustomResourceDefinition" {
            errors.extend(self.faults_of_schemas(object));
            return errors;
        }
        let Ok((mut object, _)) = body::coerce(&target, object.clone()) else { return errors };
        defaults::defaults(&target, &mut object, None);
        errors.extend(rules::validate(&target, &object, None));
        errors
    }

    /// A built-in object with what the server fills in; those that a server hands out have it all. What it says of its
    /// status stays, as in an update.
    #[must_use]
    pub fn completed(&self, object: &Value) -> Value {
        let Gvk { group, version, kind } = Gvk::of(object);
        let target = self.discovery.by_kind(&group, &kind, self.minor);
        let Some(target) = target.filter(|target| target.version == version) else { return object.clone() };
        // What can't be read as its kind stays as it is; elsewhere it is told.
        let Ok((mut full, _)) = body::coerce(&target, object.clone()) else { return object.clone() };
        defaults::defaults(&target, &mut full, Some(object));
        full
    }

    /// What is wrong with the schemas of a definition. Rules in CEL are left out: what they may cost has changed from
    /// release to release, and nothing is read otherwise for it.
    fn faults_of_schemas(&self, definition: &Value) -> Vec<FieldError> {
        let mut definition = definition.clone();
        crd::prepare(&mut definition, None);
        let kube = KubeVersion::new(1, u16::try_from(self.minor).unwrap_or(u16::MAX));
        let mut errors = crd::validate(&definition, None, kube).errors;
        let of_schema =
            |field: &str| field.starts_with("spec.versions") || field.starts_with("spec.validation");
        errors.retain(|error| of_schema(&error.field) && !error.field.contains("x-kubernetes-validations"));
        if text(&definition, "/apiVersion") == "apiextensions.k8s.io/v1" { errors } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_somebody_wrote_down_is_filled_in_and_keeps_its_status() {
        let world = Simulated::new("v1.34.3");
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"k": "v"}});
        let full = world.completed(&secret);
        assert_eq!((&full["type"], &full["data"]["k"]), (&json!("Opaque"), &json!("dg==")));
        let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"},
            "spec": {"accessModes": ["ReadWriteOnce"]}, "status": {"phase": "Bound"}});
        let full = world.completed(&claim);
        assert_eq!(
            (&full["spec"]["volumeMode"], &full["status"]["phase"]),
            (&json!("Filesystem"), &json!("Bound"))
        );
        let old = json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}});
        assert_eq!(world.completed(&old), old, "another version has other defaults");
        let odd = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"},
            "spec": {"volumeClaimTemplates": ["x"]}});
        assert_eq!(world.completed(&odd), odd);
    }

    fn told(object: &Value) -> Vec<String> {
        let faults = Simulated::new("v1.34.3").faults(object);
        faults.iter().map(|error| format!("{}: {}", error.field, error.body)).collect()
    }

    /// Each answer is kube-apiserver 1.34.3's to a create.
    #[test]
    fn what_no_server_would_take_is_named_in_its_words() {
        let object = |version: &str, kind: &str, metadata: Value| json!({"apiVersion": version, "kind": kind, "metadata": metadata});
        let named = || json!({"name": "a", "namespace": "n"});
        let claim = told(&object("v1", "PersistentVolumeClaim", named()));
        assert_eq!(
            claim,
            [
                "spec.accessModes: Required value: at least 1 access mode is required",
                "spec.resources[storage]: Required value"
            ]
        );
        let deployment = told(&object("apps/v1", "Deployment", named()));
        assert_eq!(
            deployment,
            [
                "spec.selector: Required value",
                "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
                "spec.template.spec.containers: Required value"
            ]
        );
        let finalizer = json!({"name": "a", "namespace": "n", "finalizers": ["nodomain"]});
        assert_eq!(
            told(&object("v1", "ConfigMap", finalizer.clone())),
            [
                "metadata.finalizers[0]: Invalid value: \"nodomain\": name is neither a standard finalizer name nor is it fully qualified"
            ]
        );
        assert!(told(&object("coordination.k8s.io/v1", "Lease", finalizer)).is_empty());
        let owner = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": true});
        let owned = json!({"name": "a", "namespace": "n", "ownerReferences": [owner("a"), owner("b")]});
        assert!(
            told(&object("v1", "ConfigMap", owned))[0].ends_with(
                "Only one reference can have Controller set to true. Found \"true\" in references for Pod/a and Pod/b"
            )
        );
    }

    #[test]
    fn definitions_are_judged_by_their_schemas() {
        let definition = |schema: Value| {
            json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": "widgets.example.test", "finalizers": ["nodomain"]},
                "spec": {"group": "example.test", "names": {"kind": "Widget", "plural": "widgets"}, "scope": "Namespaced",
                    "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]},
            })
        };
        assert!(told(&definition(json!({"type": "object"}))).is_empty());
        let wrong = told(&definition(json!({"type": "foo"})));
        assert!(wrong.iter().any(|line| line.contains("Unsupported value: \"foo\"")), "{wrong:?}");
    }

    #[test]
    fn what_every_server_holds_has_no_fault() {
        for name in ["default", "kube-system"] {
            assert!(told(&crate::cluster::simulated::namespace_object(name)).is_empty());
        }
        let service = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1."},
            "spec": {"version": "v1", "groupPriorityMinimum": 18_000, "versionPriority": 1}});
        assert!(told(&service).is_empty());
    }
}
