//! What the server serves: built-ins of its version and established CustomResourceDefinitions.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::schemas::{Kept, Schemas};
use crate::cluster::{ApiResource, Resource};
use crate::k8s::At as _;
use crate::k8s::catalogue::{BUILTINS, Builtin};
use crate::k8s::text;
use crate::k8s::types::{Type, builtin as builtin_type, custom_resource};
use crate::schema::{KubeVersion, Structural};

/// One version of a custom resource.
#[derive(Clone, Debug)]
pub(super) struct CustomVersion {
    pub(super) name: String,
    pub(super) served: bool,
    pub(super) storage: bool,
    pub(super) status: bool,
    pub(super) scale: bool,
    /// Position in `spec.versions`.
    index: usize,
    schema: Option<Arc<Kept>>,
    structural: OnceLock<Option<Arc<Structural>>>,
}

/// A CustomResourceDefinition as the server serves it.
#[derive(Debug)]
pub(super) struct Custom {
    pub(super) crd: Arc<Value>,
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) list_kind: String,
    pub(super) plural: String,
    pub(super) namespaced: bool,
    pub(super) terminating: bool,
    pub(super) versions: Vec<CustomVersion>,
}

impl Custom {
    fn read(crd: &Arc<Value>, schemas: &Schemas) -> Self {
        let kind = text(crd, "/spec/names/kind").to_owned();
        let list_kind = text(crd, "/spec/names/listKind");
        let versions = crd.at("/spec/versions").and_then(Value::as_array);
        Self {
            group: text(crd, "/spec/group").to_owned(),
            list_kind: if list_kind.is_empty() { format!("{kind}List") } else { list_kind.to_owned() },
            plural: text(crd, "/spec/names/plural").to_owned(),
            namespaced: text(crd, "/spec/scope") == "Namespaced",
            terminating: crd.at("/metadata/deletionTimestamp").is_some(),
            versions: versions
                .into_iter()
                .flatten()
                .enumerate()
                .map(|(i, v)| CustomVersion::read(i, v, schemas))
                .collect(),
            kind,
            crd: crd.clone(),
        }
    }

    /// The version objects are stored in.
    pub(super) fn storage_version(&self) -> &str {
        self.versions.iter().find(|v| v.storage).map_or("", |v| &v.name)
    }
}

impl CustomVersion {
    fn read(index: usize, version: &Value, schemas: &Schemas) -> Self {
        let flag = |name: &str| version.get(name).and_then(Value::as_bool).unwrap_or(false);
        let has = |name: &str| {
            version.at("/subresources").is_some_and(|s| s.get(name).is_some_and(|v| !v.is_null()))
        };
        Self {
            name: text(version, "/name").to_owned(),
            served: flag("served"),
            storage: flag("storage"),
            status: has("status"),
            scale: has("scale"),
            index,
            schema: version.at("/schema/openAPIV3Schema").map(|schema| schemas.of(schema)),
            structural: OnceLock::new(),
        }
    }
}

/// The shape of custom resources without a schema.
static FREE: OnceLock<Type> = OnceLock::new();

/// Whether a CRD has reached the condition.
pub(super) fn condition(object: &Value, kind: &str) -> bool {
    let conditions = object.at("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|c| text(c, "/type") == kind && text(c, "/status") == "True")
}

/// The resource a request is for, resolved against what is served.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) namespaced: bool,
    /// The definition, for custom resources.
    pub(super) custom: Option<Arc<Custom>>,
    pub(super) builtin: Option<&'static Builtin>,
    /// Shape of the built-in kind.
    shape: Type,
    minor: u32,
}

impl Target {
    /// The minor version of the server.
    pub(super) fn minor(&self) -> u16 {
        u16::try_from(self.minor).unwrap_or(u16::MAX)
    }

    /// `plural.group`, or the plural alone in core.
    pub(super) fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// `group/version`, or the version alone in core.
    pub(super) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The `details` of a Status about one object.
    pub(super) fn details(&self, name: &str) -> Value {
        let mut details = json!({ "kind": self.plural });
        if !name.is_empty() {
            details["name"] = json!(name);
        }
        if !self.group.is_empty() {
            details["group"] = json!(self.group);
        }
        details
    }

    /// The custom resource's version that is asked for.
    pub(super) fn custom_version(&self) -> Option<&CustomVersion> {
        self.custom.as_ref()?.versions.iter().find(|v| v.name == self.version)
    }

    /// The shape of the objects.
    pub(super) fn shape(&self) -> &Type {
        match self.custom_version() {
            None => &self.shape,
            Some(CustomVersion { schema: Some(schema), .. }) => schema.shape(),
            Some(_) => FREE.get_or_init(|| custom_resource(None)),
        }
    }

    /// The schema of a custom resource; `None` for built-ins.
    pub(super) fn structural(&self) -> Option<&Arc<Structural>> {
        self.structural_of(&self.version)
    }

    /// The schema of one version of a custom resource.
    pub(super) fn structural_of(&self, version: &str) -> Option<&Arc<Structural>> {
        let custom = self.custom.as_ref()?;
        let version = custom.versions.iter().find(|v| v.name == version)?;
        let compile = || match &version.schema {
            Some(schema) => schema.structural(self.minor),
            None => {
                Some(Structural::open(KubeVersion::new(1, u16::try_from(self.minor).unwrap_or(u16::MAX))))
            }
        };
        version.structural.get_or_init(compile).as_ref()
    }

    /// A stored custom resource as its own version shows it, remembered for versions with a schema.
    pub(super) fn shown(&self, object: &Arc<Value>, read: impl FnOnce() -> Arc<Value>) -> Arc<Value> {
        match self.custom_version().and_then(|version| version.schema.as_ref()) {
            Some(schema) => schema.shown(self.minor, object, read),
            None => read(),
        }
    }

    /// The `scale` subresource of a custom resource.
    pub(super) fn scale(&self) -> Option<&Value> {
        let (custom, version) = self.custom.as_ref().zip(self.custom_version())?;
        custom.crd.get("spec")?.get("versions")?.get(version.index)?.at("/subresources/scale")
    }

    /// Whether status is written through a subresource of its own.
    pub(super) fn has_status(&self) -> bool {
        match (self.builtin, self.custom_version()) {
            (Some(builtin), _) => builtin.has("status"),
            (None, Some(version)) => version.status,
            (None, None) => false,
        }
    }

    /// Whether the subresource exists (`true` for the object itself).
    pub(super) fn serves(&self, subresource: &str) -> bool {
        match (subresource, self.builtin, self.custom_version()) {
            ("", _, _) => true,
            (_, Some(builtin), _) => builtin.has(subresource),
            ("status", None, Some(version)) => version.status,
            ("scale", None, Some(version)) => version.scale,
            _ => false,
        }
    }
}

/// Established definitions by group and plural, and the discovery that follows from them.
#[derive(Clone, Debug, Default)]
pub(super) struct Discovery {
    customs: BTreeMap<(String, String), Arc<Custom>>,
    resources: Option<Arc<Vec<ApiResource>>>,
}

impl Discovery {
    /// Takes in a definition that was written or removed.
    pub(super) fn learn(&mut self, old: Option<&Arc<Value>>, new: Option<&Arc<Value>>, schemas: &Schemas) {
        if let Some(gone) = old {
            let key = (text(gone, "/spec/group").to_owned(), text(gone, "/spec/names/plural").to_owned());
            self.customs.remove(&key);
        }
        if let Some(crd) = new.filter(|crd| condition(crd, "Established")) {
            let custom = Custom::read(crd, schemas);
            self.customs.insert((custom.group.clone(), custom.plural.clone()), Arc::new(custom));
        }
        self.resources = None;
    }

    /// The target of a request, if it is served.
    pub(super) fn target(&self, resource: &Resource, minor: u32) -> Option<Target> {
        let Resource { group, version, plural } = resource;
        if let Some(builtin) = crate::k8s::catalogue::by_plural(group, plural) {
            return builtin
                .served(minor)
                .any(|v| v == version)
                .then(|| builtin_target(builtin, version, minor));
        }
        let custom = self.customs.get(&(group.clone(), plural.clone()))?;
        let served = custom.versions.iter().any(|v| v.served && v.name == *version);
        served.then(|| custom_target(custom, version, minor))
    }

    /// The preferred target for a group and kind.
    pub(super) fn by_kind(&self, group: &str, kind: &str, minor: u32) -> Option<Target> {
        if let Some(builtin) = crate::k8s::catalogue::by_kind(group, kind) {
            return builtin.served(minor).next().map(|version| builtin_target(builtin, version, minor));
        }
        let custom = self.customs.values().find(|c| c.group == group && c.kind == kind)?;
        let mut versions: Vec<&str> =
            custom.versions.iter().filter(|v| v.served).map(|v| v.name.as_str()).collect();
        versions.sort_by(|a, b| by_stability(a, b));
        versions.first().map(|version| custom_target(custom, version, minor))
    }

    /// Everything served, preferred versions first within a group.
    pub(super) fn resources(&mut self, minor: u32) -> Arc<Vec<ApiResource>> {
        if let Some(known) = &self.resources {
            return known.clone();
        }
        let mut all = Vec::new();
        for builtin in BUILTINS {
            all.extend(builtin.served(minor).map(|v| builtin_target(builtin, v, minor).api_resource()));
        }
        for custom in self.customs.values() {
            let mut versions: Vec<&str> =
                custom.versions.iter().filter(|v| v.served).map(|v| v.name.as_str()).collect();
            versions.sort_by(|a, b| by_stability(a, b));
            all.extend(versions.iter().map(|v| custom_target(custom, v, minor).api_resource()));
        }
        let all = Arc::new(all);
        self.resources = Some(all.clone());
        all
    }
}

impl Target {
    /// The target as discovery shows it.
    pub(super) fn api_resource(&self) -> ApiResource {
        let resource = Resource::new(&self.group, &self.version, &self.plural);
        ApiResource { resource, kind: self.kind.clone(), namespaced: self.namespaced }
    }
}

fn builtin_target(builtin: &'static Builtin, version: &str, minor: u32) -> Target {
    let api_version =
        if builtin.group.is_empty() { version.to_owned() } else { format!("{}/{version}", builtin.group) };
    Target {
        group: builtin.group.to_owned(),
        version: version.to_owned(),
        kind: builtin.kind.to_owned(),
        plural: builtin.plural.to_owned(),
        namespaced: builtin.namespaced,
        custom: None,
        builtin: Some(builtin),
        shape: builtin_type(&api_version, builtin.kind).unwrap_or(Type::Any),
        minor,
    }
}

fn custom_target(custom: &Arc<Custom>, version: &str, minor: u32) -> Target {
    Target {
        group: custom.group.clone(),
        version: version.to_owned(),
        kind: custom.kind.clone(),
        plural: custom.plural.clone(),
        namespaced: custom.namespaced,
        custom: Some(custom.clone()),
        builtin: None,
        shape: Type::Any,
        minor,
    }
}

/// Order of versions in discovery: stable before beta before alpha, higher numbers first, other names last.
pub(super) fn by_stability(a: &str, b: &str) -> std::cmp::Ordering {
    stability(b).cmp(&stability(a)).then_with(|| a.cmp(b))
}

/// Major, stage (alpha 0, beta 1, stable 2) and number of a version; `None` for other names.
fn stability(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, stage) = rest.split_at_checked(digits)?;
    let major = major.parse().ok()?;
    if stage.is_empty() {
        return Some((2, major, 0));
    }
    let (rank, minor) = match (stage.strip_prefix("beta"), stage.strip_prefix("alpha")) {
        (Some(minor), _) => (1, minor),
        (_, Some(minor)) => (0, minor),
        _ => return None,
    };
    Some((rank, major, minor.parse().ok()?))
}
