//! What templates see as `.`: values, release, chart, files, capabilities and subcharts.

use std::rc::Rc;

use serde_json::Value as Json;

use super::capabilities::{KubeVersion, default_api_versions};
use super::{Options, files};
use crate::chart::{Chart, Dependency, Helm, Metadata, Values};
use crate::template::funcs::Fault;
use crate::template::object::{Field, Method, Struct};
use crate::template::types::{DICT, LIST, MapType, STRING_MAP, STRINGS, SliceType, Type};
use crate::template::value::{List, Map, Value};

static HELM3_VALUES: MapType = MapType { name: "chartutil.Values", elem: Type::Interface, methods: VALUES };
static HELM4_VALUES: MapType = MapType { name: "common.Values", elem: Type::Interface, methods: VALUES };

/// Methods of Helm's `Values` that templates can call (Helm v4.3.1 `pkg/chart/common/values.go`).
static VALUES: &[Method] = &[
    Method { name: "AsMap", func: crate::func!("AsMap", as_map) },
    Method { name: "PathValue", func: crate::func!("PathValue", path_value) },
    Method { name: "Table", func: crate::func!("Table", table) },
    Method { name: "YAML", func: crate::func!("YAML", yaml_text) },
];
static HELM3_VERSIONS: SliceType =
    SliceType { name: "chartutil.VersionSet", elem: Type::String, methods: VERSION_SET };
static HELM4_VERSIONS: SliceType =
    SliceType { name: "common.VersionSet", elem: Type::String, methods: VERSION_SET };
static MAINTAINERS: SliceType =
    SliceType { name: "[]*chart.Maintainer", elem: Type::Object("*chart.Maintainer"), methods: &[] };
static DEPENDENCIES: SliceType =
    SliceType { name: "[]*chart.Dependency", elem: Type::Object("*chart.Dependency"), methods: &[] };

static VERSION_SET: &[Method] = &[Method { name: "Has", func: crate::func!("Has", has) }];
static KUBE_VERSION: &[Method] = &[
    Method { name: "GitVersion", func: crate::func!("GitVersion", git_version) },
    Method { name: "String", func: crate::func!("String", kube_version_text) },
];

/// The same map without its type's name.
fn as_map(values: &Value) -> Map {
    match values {
        Value::Map(map) if !map.is_empty() => map.with_type(&DICT),
        _ => Map::dict(),
    }
}

fn yaml_text(values: &Value) -> Result<String, Fault> {
    Ok(crate::yaml::from_json(&values.to_json()?))
}

fn descend(values: &Value, path: &str) -> Result<Map, String> {
    let mut table = values.as_map().cloned().unwrap_or_else(Map::dict);
    for part in path.split('.') {
        match table.get(part) {
            Some(Value::Map(inner)) => table = inner,
            _ => return Err(part.to_owned()),
        }
    }
    Ok(table)
}

fn table(values: &Value, path: &str) -> Result<Value, Fault> {
    let ty = values.as_map().map_or(&HELM4_VALUES, Map::ty);
    match descend(values, path) {
        Ok(table) => Ok(Value::Map(table.with_type(ty))),
        Err(part) => Err(Fault::new(format!("{} is not a table", crate::go::quote(&part)))),
    }
}

/// The value at a dotted path that is no map.
fn path_value(values: &Value, path: &str) -> Result<Value, Fault> {
    if path.is_empty() {
        return Err(Fault::new("YAML path cannot be empty"));
    }
    let (table, key) = match path.rsplit_once('.') {
        Some((parents, key)) => (descend(values, parents).ok(), key),
        None => (values.as_map().cloned(), path),
    };
    match table.and_then(|table| table.get(key)) {
        Some(value) if value.as_map().is_none() => Ok(value),
        _ => Err(Fault::new(format!("{} is not a value", crate::go::quote(key)))),
    }
}

fn has(versions: &Value, wanted: &[u8]) -> bool {
    let Some(versions) = versions.as_list() else { return false };
    versions.iter().any(|version| version.as_str().is_some_and(|version| **version == *wanted))
}

fn field_of(value: &Value, name: &str) -> Value {
    match value {
        Value::Object(object) => {
            object.fields().iter().find(|field| field.name == name).map(|field| field.value.clone())
        }
        _ => None,
    }
    .unwrap_or_default()
}

fn git_version(version: &Value) -> Value {
    field_of(version, "Version")
}

fn kube_version_text(version: &Value) -> String {
    match version {
        Value::Object(object) => object.addressed_text().unwrap_or_default(),
        _ => String::new(),
    }
}

/// One template to render and the chart's context it sees.
#[derive(Clone)]
pub(super) struct Renderable {
    /// Full name, e.g. `parent/charts/child/templates/a.yaml`.
    pub(super) name: String,
    /// `.Template.BasePath`.
    pub(super) base_path: String,
    /// Its text.
    pub(super) text: std::sync::Arc<[u8]>,
    /// The chart's context; all templates of a chart share it.
    pub(super) context: Map,
}

/// Builds the contexts of a chart and its subcharts and lists their templates.
///
/// As Helm v4.3.1 `pkg/engine/engine.go` `recAllTpls`.
pub(super) fn renderables(
    chart: &Chart,
    values: &Values,
    kube: &KubeVersion,
    options: &Options,
) -> Vec<Renderable> {
    let mut builder = Builder {
        helm: options.helm,
        release: release(options),
        capabilities: capabilities(kube, options),
        found: Vec::new(),
    };
    let values = Map::from_json_exact(values).with_type(values_type(options.helm));
    builder.chart(chart, None, &values);
    builder.found
}

/// The type of `.Values` and of the context itself.
pub(super) fn values_type(helm: Helm) -> &'static MapType {
    if helm.names_common_types() { &HELM4_VALUES } else { &HELM3_VALUES }
}

struct Builder {
    helm: Helm,
    release: Value,
    capabilities: Value,
    found: Vec<Renderable>,
}

impl Builder {
    fn chart(&mut self, chart: &Chart, parent: Option<&str>, values: &Map) -> Map {
        let subcharts = Map::dict();
        let context = Map::dict();
        context.set("Chart", metadata(&chart.metadata, parent.is_none(), self.helm));
        context.set("Files", files::value(&chart.files, self.helm));
        context.set("Release", self.release.clone());
        context.set("Capabilities", self.capabilities.clone());
        context.set("Values", values.clone());
        context.set("Subcharts", subcharts.clone());
        let path = chart.full_path(parent);
        for subchart in &chart.dependencies {
            let own = self.values_of(values, subchart.name());
            let child = self.chart(subchart, Some(&path), &own);
            subcharts.set(subchart.name(), child);
        }
        self.list(chart, &path, &context);
        context
    }

    /// The map below a subchart's name, whose dots Helm takes for a path; else no values.
    fn values_of(&self, values: &Map, name: &str) -> Map {
        let ty = values_type(self.helm);
        let mut table = values.clone();
        for part in name.split('.') {
            match table.get(part) {
                Some(Value::Map(inner)) => table = inner,
                _ => return Map::new(ty, Default::default()),
            }
        }
        table.with_type(ty)
    }

    fn list(&mut self, chart: &Chart, path: &str, context: &Map) {
        for template in &chart.templates {
            let base = template.path.rsplit('/').next().unwrap_or_default();
            if chart.is_library() && !base.starts_with('_') {
                continue;
            }
            self.found.push(Renderable {
                name: format!("{path}/{}", template.path),
                base_path: format!("{path}/templates"),
                text: std::sync::Arc::clone(template.data.shared()),
                context: context.clone(),
            });
        }
    }
}

fn release(options: &Options) -> Value {
    let release = Map::dict();
    release.set("Name", options.release.as_str());
    release.set("Namespace", options.namespace.as_str());
    release.set("IsUpgrade", options.is_upgrade);
    release.set("IsInstall", !options.is_upgrade);
    release.set("Revision", i64::try_from(options.revision).unwrap_or(i64::MAX));
    release.set("Service", "Helm");
    Value::Map(release)
}

fn capabilities(kube: &KubeVersion, options: &Options) -> Value {
    let helm3 = !options.helm.names_common_types();
    let versions = default_api_versions(options.helm).into_iter().map(Value::str);
    let extra = options.api_versions.iter().map(|version| Value::str(version.as_str()));
    let set = if helm3 { &HELM3_VERSIONS } else { &HELM4_VERSIONS };
    let versions = List::new(set, versions.chain(extra).collect());
    let version = || Field::new("Version", kube.version.as_str());
    let major = || Field::new("Major", kube.major.as_str());
    let minor = || Field::new("Minor", kube.minor.as_str());
    let kube_version = Struct {
        name: if helm3 { "chartutil.KubeVersion" } else { "common.KubeVersion" },
        fields: vec![version(), major(), minor()],
        methods: KUBE_VERSION,
        text: None,
        addressed: Some(kube.normalized.clone()),
        printed: if options.helm.has_normalized_kube_version() {
            vec![version(), Field::new("normalizedVersion", kube.normalized.as_str()), major(), minor()]
        } else {
            Vec::new()
        },
    };
    let name = if helm3 { "*chartutil.Capabilities" } else { "*common.Capabilities" };
    let fields = vec![
        Field::new("KubeVersion", Rc::new(kube_version)),
        Field::new("APIVersions", versions),
        Field::new("HelmVersion", Rc::new(build_info(options.helm))),
    ];
    Value::from(Rc::new(Struct::new(name, fields)))
}

fn build_info(helm: Helm) -> Struct {
    let mut fields = vec![
        Field::new("Version", helm.full()).tagged("version", true),
        Field::new("GitCommit", "").tagged("git_commit", true),
        Field::new("GitTreeState", "").tagged("git_tree_state", true),
        Field::new("GoVersion", "").tagged("go_version", true),
    ];
    if helm.tells_client_version() {
        let kube = KubeVersion::default_of(helm);
        let version = format!("v{}.{}", kube.major, kube.minor);
        fields.push(Field::new("KubeClientVersion", version).tagged("kube_client_version", false));
    }
    Struct::new("version.BuildInfo", fields)
}

/// `.Chart`: a struct in Helm 3, a map keyed by the struct's field names in Helm 4.
fn metadata(metadata: &Metadata, is_root: bool, helm: Helm) -> Value {
    let entries = entries(metadata, helm);
    if helm.maps_metadata() {
        let map: Map = entries.into_iter().collect();
        map.set("IsRoot", is_root);
        return Value::Map(map);
    }
    let fields = entries.into_iter().map(tagged).collect();
    let inner = Struct::new("chart.Metadata", fields);
    let fields = vec![Field::embedded("Metadata", Rc::new(inner)), Field::new("IsRoot", is_root)];
    Value::from(Rc::new(Struct::new("struct { chart.Metadata; IsRoot bool }", fields)))
}

/// The names of fields in JSON; of two, empty values are written too.
fn tagged((name, value): (&'static str, Value)) -> Field {
    let (tag, always) = match name {
        "Name" => ("name", false),
        "Email" => ("email", false),
        "URL" => ("url", false),
        "Home" => ("home", false),
        "Sources" => ("sources", false),
        "Version" => ("version", false),
        "Description" => ("description", false),
        "Keywords" => ("keywords", false),
        "Maintainers" => ("maintainers", false),
        "Icon" => ("icon", false),
        "APIVersion" => ("apiVersion", false),
        "Condition" => ("condition", false),
        "Tags" => ("tags", false),
        "AppVersion" => ("appVersion", false),
        "Deprecated" => ("deprecated", false),
        "Annotations" => ("annotations", false),
        "KubeVersion" => ("kubeVersion", false),
        "Dependencies" => ("dependencies", false),
        "Type" => ("type", false),
        "Repository" => ("repository", true),
        "Enabled" => ("enabled", false),
        "ImportValues" => ("import-values", false),
        "Alias" => ("alias", false),
        other => (other, true),
    };
    Field::new(name, value).tagged(tag, !always)
}

/// The fields of Helm's `Metadata` struct, in its order.
fn entries(metadata: &Metadata, helm: Helm) -> Vec<(&'static str, Value)> {
    let text = |key: &str| Value::str(metadata.rest.get(key).and_then(Json::as_str).unwrap_or_default());
    let list = |key: &str| strings(metadata.rest.get(key), helm);
    let flag = metadata.rest.get("deprecated").and_then(Json::as_bool).unwrap_or_default();
    vec![
        ("Name", Value::str(metadata.name.as_str())),
        ("Home", text("home")),
        ("Sources", list("sources")),
        ("Version", Value::str(metadata.version.as_str())),
        ("Description", text("description")),
        ("Keywords", list("keywords")),
        ("Maintainers", maintainers(metadata.rest.get("maintainers"), helm)),
        ("Icon", text("icon")),
        ("APIVersion", Value::str(metadata.api_version.as_str())),
        ("Condition", text("condition")),
        ("Tags", text("tags")),
        ("AppVersion", Value::str(metadata.app_version.as_str())),
        ("Deprecated", Value::Bool(flag)),
        ("Annotations", annotations(metadata.rest.get("annotations"))),
        ("KubeVersion", Value::str(metadata.kube_version.as_str())),
        ("Dependencies", dependencies(&metadata.dependencies, helm)),
        ("Type", Value::str(metadata.kind.as_str())),
    ]
}

fn strings(items: Option<&Json>, helm: Helm) -> Value {
    let texts = items.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).map(Value::str);
    match (helm.maps_metadata(), items) {
        (true, _) => Value::list(texts.collect()),
        (false, None) => Value::List(List::nil(&STRINGS)),
        (false, Some(_)) => Value::List(List::new(&STRINGS, texts.collect())),
    }
}

fn annotations(map: Option<&Json>) -> Value {
    match map.and_then(Json::as_object) {
        None => Value::Map(Map::nil(&STRING_MAP)),
        Some(map) => Value::string_map(
            map.iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default())),
        ),
    }
}

/// A list of records: pointers to structs in Helm 3, maps in Helm 4.
fn records(
    rows: Vec<Vec<(&'static str, Value)>>,
    slice: &'static SliceType,
    name: &'static str,
    helm: Helm,
) -> Value {
    if helm.maps_metadata() {
        return Value::list(rows.into_iter().map(|row| Value::Map(row.into_iter().collect())).collect());
    }
    if rows.is_empty() {
        return Value::List(List::nil(slice));
    }
    let object = |row: Vec<(&'static str, Value)>| {
        let fields = row.into_iter().map(tagged).collect();
        Value::from(Rc::new(Struct::new(name, fields)))
    };
    Value::List(List::new(slice, rows.into_iter().map(object).collect()))
}

fn maintainers(items: Option<&Json>, helm: Helm) -> Value {
    let row = |person: &Json| {
        let text = |key: &str| Value::str(person.get(key).and_then(Json::as_str).unwrap_or_default());
        vec![("Name", text("name")), ("Email", text("email")), ("URL", text("url"))]
    };
    let rows = items.and_then(Json::as_array).into_iter().flatten().map(row).collect();
    records(rows, &MAINTAINERS, "*chart.Maintainer", helm)
}

/// What a dependency hands up; Helm makes a `map[string]string` of it when it does so.
fn import(value: &Json) -> Value {
    match value.as_object() {
        Some(pair) if pair.len() == 2 && pair.contains_key("child") && pair.contains_key("parent") => {
            annotations(Some(value))
        }
        _ => Value::from_json(value),
    }
}

fn dependencies(entries: &[Dependency], helm: Helm) -> Value {
    let row = |entry: &Dependency| {
        let tags = (!entry.tags.is_empty()).then(|| Json::from(entry.tags.clone()));
        let imports = entry.import_values.iter().map(import).collect::<Vec<_>>();
        let imports = if imports.is_empty() && !helm.maps_metadata() {
            Value::List(List::nil(&LIST))
        } else {
            Value::list(imports)
        };
        vec![
            ("Name", Value::str(entry.name.as_str())),
            ("Version", Value::str(entry.version.as_str())),
            ("Repository", Value::str(entry.repository.as_str())),
            ("Condition", Value::str(entry.condition.as_str())),
            ("Tags", strings(tags.as_ref(), helm)),
            ("Enabled", Value::Bool(entry.enabled.unwrap_or_default())),
            ("ImportValues", imports),
            ("Alias", Value::str(entry.alias.as_str())),
        ]
    };
    records(entries.iter().map(row).collect(), &DEPENDENCIES, "*chart.Dependency", helm)
}
