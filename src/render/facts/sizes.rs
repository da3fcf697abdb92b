//! How large objects are, against the limits that an upgrade can run into.

use serde_json::Value;

use crate::finding::ObjectName;
use crate::k8s;
use crate::render::Render;
use crate::yaml;

/// Largest sum of an object's annotations, which `kubectl apply`'s last-applied annotation must fit into.
pub const LAST_APPLIED_BYTES: usize = 256 << 10;

/// Largest `data` of a Secret, which a Helm release must fit into.
pub const SECRET_BYTES: usize = 1 << 20;

/// Largest request that etcd takes by default.
pub const ETCD_REQUEST_BYTES: usize = 3 << 19;

/// One object's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The object.
    pub object: ObjectName,
    /// Path of its template or file.
    pub source: String,
    /// Bytes of its JSON, which is also what a last-applied annotation would hold.
    pub json_bytes: usize,
}

impl Size {
    /// Whether client-side `kubectl apply` is refused for it.
    #[must_use]
    pub fn exceeds_last_applied(&self) -> bool {
        self.json_bytes > LAST_APPLIED_BYTES
    }

    /// Whether etcd refuses it.
    #[must_use]
    pub fn exceeds_etcd(&self) -> bool {
        self.json_bytes > ETCD_REQUEST_BYTES
    }
}

/// The sizes of all objects: manifests, hooks, files below `crds/`.
#[must_use]
pub fn sizes(render: &Render) -> Vec<Size> {
    let manifests = render.manifests.iter().map(|manifest| (&manifest.source, &*manifest.object));
    let hooks = render.hooks.iter().map(|hook| (&hook.manifest.source, &*hook.manifest.object));
    let crds = render.crds.iter().flat_map(|file| file.objects.iter().map(|object| (&file.source, object)));
    let objects = manifests.chain(hooks).chain(crds);
    let objects =
        objects.flat_map(|(source, document)| k8s::members(document).into_iter().map(move |o| (source, o)));
    objects.filter(|(_, object)| object.is_object()).map(|(source, object)| size(source, &object)).collect()
}

fn size(source: &str, object: &Value) -> Size {
    Size {
        object: k8s::object_name(object),
        source: source.to_owned(),
        json_bytes: yaml::json::encode_raw(object).len() + 1,
    }
}
