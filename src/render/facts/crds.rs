//! Where each CRD lives and who answers for it.

use std::sync::Arc;

use serde_json::Value;

use super::Applied;
use crate::finding::ObjectName;
use crate::k8s;
use crate::render::Render;

/// Where a CRD stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// A template of the release.
    Template {
        /// Path of the template.
        source: String,
    },
    /// A file below a chart's `crds/`.
    Directory {
        /// Path of the file.
        source: String,
        /// Whether the chart is a subchart.
        subchart: bool,
    },
    /// A hook of its own.
    Hook {
        /// Path of the template.
        source: String,
    },
    /// A document in a ConfigMap that a hook mounts.
    HookApplied {
        /// The hook.
        hook: ObjectName,
        /// The ConfigMap.
        config_map: ObjectName,
        /// The key in its `data`.
        key: String,
    },
}

/// Who deletes or keeps a CRD when the release changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The release: it is updated, pruned and uninstalled with it.
    Release,
    /// A hook: created and deleted by its policies.
    Hook,
    /// Nobody: Helm creates it once and never touches it again.
    Nobody,
}

/// One CRD.
#[derive(Clone, Debug)]
pub struct Crd {
    /// `metadata.name`, e.g. `trainjobs.trainer.kubeflow.org`.
    pub name: String,
    /// `spec.group`.
    pub group: String,
    /// `spec.names.kind`.
    pub kind: String,
    /// Where it stands.
    pub home: Home,
    /// Whether it carries `helm.sh/resource-policy: keep`.
    pub keep: bool,
    /// The object.
    pub object: Arc<Value>,
}

impl Crd {
    /// Who answers for it.
    #[must_use]
    pub fn owner(&self) -> Owner {
        match self.home {
            Home::Template { .. } => Owner::Release,
            Home::Hook { .. } | Home::HookApplied { .. } => Owner::Hook,
            Home::Directory { .. } => Owner::Nobody,
        }
    }
}

pub(super) fn read(render: &Render, applied: &[Applied]) -> Vec<Crd> {
    let mut found = Vec::new();
    for manifest in &render.manifests {
        let home = || Home::Template { source: manifest.source.clone() };
        found.extend(manifest.objects().iter().filter_map(|object| crd(object, home())));
    }
    for file in &render.crds {
        let subchart = file.source.contains("/charts/");
        let home = || Home::Directory { source: file.source.clone(), subchart };
        let objects = file.objects.iter().flat_map(k8s::members);
        found.extend(objects.filter_map(|object| crd(&object, home())));
    }
    for hook in &render.hooks {
        let home = || Home::Hook { source: hook.manifest.source.clone() };
        found.extend(hook.manifest.objects().iter().filter_map(|object| crd(object, home())));
    }
    for entry in applied {
        let (hook, config_map) = (entry.hook.clone(), entry.config_map.clone());
        found.extend(crd(&entry.object, Home::HookApplied { hook, config_map, key: entry.key.clone() }));
    }
    found
}

fn crd(object: &Arc<Value>, home: Home) -> Option<Crd> {
    (k8s::text(object, "/kind") == "CustomResourceDefinition").then(|| Crd {
        name: k8s::text(object, "/metadata/name").to_owned(),
        group: k8s::text(object, "/spec/group").to_owned(),
        kind: k8s::text(object, "/spec/names/kind").to_owned(),
        home,
        keep: k8s::annotation(object, "helm.sh/resource-policy") == Some("keep"),
        object: Arc::clone(object),
    })
}
