//! The record of a release as Helm encodes it: JSON, compressed, base64.
//!
//! Source: Helm, `pkg/release/v1/release.go`, `pkg/storage/driver/util.go`.

use std::fmt::{Display, Formatter};
use std::io::{BufWriter, Read as _, Write};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::chart::{Chart, File, Metadata};
use crate::k8s;
use crate::k8s::At as _;
use crate::limits::Limits;
use crate::render::{DeletePolicy, Hook, HookEvent, Manifest, Render};
use crate::upgrade::release::{ApplyMethod, Release, Status};

/// Bytes a stored record may expand to.
const RECORD_LIMIT: u64 = 256 << 20;

/// Words of `helm.sh/hook` and their events.
pub(crate) const EVENTS: &[(HookEvent, &str)] = &[
    (HookEvent::PreInstall, "pre-install"),
    (HookEvent::PostInstall, "post-install"),
    (HookEvent::PreDelete, "pre-delete"),
    (HookEvent::PostDelete, "post-delete"),
    (HookEvent::PreUpgrade, "pre-upgrade"),
    (HookEvent::PostUpgrade, "post-upgrade"),
    (HookEvent::PreRollback, "pre-rollback"),
    (HookEvent::PostRollback, "post-rollback"),
    (HookEvent::Test, "test"),
];

const POLICIES: &[(DeletePolicy, &str)] = &[
    (DeletePolicy::BeforeHookCreation, "before-hook-creation"),
    (DeletePolicy::HookSucceeded, "hook-succeeded"),
    (DeletePolicy::HookFailed, "hook-failed"),
];

/// A stored record that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(pub String);

/// Standard base64.
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes of standard base64; `None` for anything else.
#[must_use]
pub fn unbase64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.trim()).ok()
}

/// How hard to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As quickly as can be; the result may be half as large again.
    Least,
    /// A third of Helm's work; the result is larger by about one hundredth.
    Some,
    /// As Helm does.
    Full,
}

impl Effort {
    fn level(self) -> Compression {
        match self {
            Self::Least => Compression::fast(),
            Self::Some => Compression::default(),
            Self::Full => Compression::best(),
        }
    }
}

/// One of the two parts that a record is measured in. What they have in common lies further apart than compression
/// looks back, so that together they take as much as the whole does, but for a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The chart: large, and the same in every revision that is made of it.
    Chart,
    /// Everything else: values, manifest, hooks.
    Rest,
}

/// Bytes that a part of a record takes compressed; more than Helm needs with less effort.
#[must_use]
pub fn compressed(release: &Release, part: Part, effort: Effort) -> usize {
    let counted = match part {
        Part::Chart => compress(&chart_record(&release.render.chart), effort, Counter(0)),
        Part::Rest => compress(&record(release, None), effort, Counter(0)),
    };
    counted.0
}

/// Length of [`encode`]'s text for so many compressed bytes.
#[must_use]
pub fn encoded(compressed: usize) -> usize {
    compressed.div_ceil(3) * 4
}

/// The text Helm keeps under `data.release`, before Kubernetes' own base64.
#[must_use]
pub fn encode(release: &Release) -> String {
    let whole = record(release, Some(chart_record(&release.render.chart)));
    base64(&compress(&whole, Effort::Full, Vec::new()))
}

/// Where only the number of bytes counts.
#[derive(Default)]
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn compress<W: Write + Default>(record: &impl Serialize, effort: Effort, into: W) -> W {
    let mut encoder = BufWriter::with_capacity(CHUNK, GzEncoder::new(into, effort.level()));
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(&mut encoder, record);
    let whole = encoder.into_inner().map(GzEncoder::finish);
    whole.ok().and_then(Result::ok).unwrap_or_default()
}

/// Bytes that are compressed at a time.
const CHUNK: usize = 64 << 10;

/// A record as JSON has it; the chart may be left out.
#[derive(Serialize)]
struct Record<'r> {
    name: &'r str,
    info: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    chart: Option<ChartRecord<'r>>,
    config: &'r Map<String, Value>,
    manifest: Manifests<'r>,
    hooks: Vec<Value>,
    version: u64,
    namespace: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    apply_method: Option<&'static str>,
}

/// A chart in a record.
#[derive(Serialize)]
struct ChartRecord<'r> {
    metadata: Value,
    lock: Option<()>,
    templates: Vec<FileRecord<'r>>,
    values: &'r Map<String, Value>,
    schema: Option<Encoded<'r>>,
    files: Vec<FileRecord<'r>>,
}

#[derive(Serialize)]
struct FileRecord<'r> {
    name: &'r str,
    data: Encoded<'r>,
}

/// Bytes as base64.
struct Encoded<'r>(&'r [u8]);

impl Serialize for Encoded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64(self.0))
    }
}

/// The documents of a manifest, one after the other.
struct Manifests<'r>(&'r [Manifest]);

impl Display for Manifests<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|one| writeln!(f, "---\n# Source: {}\n{}", one.source, one.text))
    }
}

impl Serialize for Manifests<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn record<'r>(release: &'r Release, chart: Option<ChartRecord<'r>>) -> Record<'r> {
    let render = &release.render;
    Record {
        name: &release.name,
        info: info_json(release),
        chart,
        config: &render.config,
        manifest: Manifests(&render.manifests),
        hooks: render.hooks.iter().map(hook_json).collect(),
        version: release.revision,
        namespace: &release.namespace,
        apply_method: (release.apply_method != ApplyMethod::Unset).then(|| release.apply_method.as_str()),
    }
}

fn info_json(release: &Release) -> Value {
    let mut info = json!({
        "first_deployed": time(release.first_deployed),
        "last_deployed": time(release.last_deployed),
        "deleted": "",
        "description": release.description,
        "status": release.status.as_str(),
    });
    if let Some(notes) = &release.render.notes {
        info["notes"] = Value::from(notes.as_str());
    }
    if release.rollback_revision > 0 {
        info["rollback_revision"] = Value::from(release.rollback_revision);
    }
    info
}

/// Rehearsal time as a timestamp; rehearsals begin at a fixed moment, so that records are reproducible.
fn time(seconds: f64) -> String {
    // Whole seconds of a rehearsal are far below the limits of an i64.
    #[expect(clippy::cast_possible_truncation, reason = "a rehearsal's seconds are small")]
    let whole = seconds.clamp(0.0, 1e9) as i64;
    jiff::Timestamp::from_second(1_767_225_600 + whole)
        .map_or_else(|_| String::new(), |time| time.to_string())
}

fn hook_json(hook: &Hook) -> Value {
    let object = &hook.manifest.object;
    json!({
        "name": k8s::text(object, "/metadata/name"),
        "kind": k8s::text(object, "/kind"),
        "path": hook.manifest.source,
        "manifest": &*hook.manifest.text,
        "events": words(EVENTS, &hook.events),
        "last_run": {"started_at": "", "completed_at": "", "phase": ""},
        "weight": hook.weight,
        "delete_policies": words(POLICIES, &hook.delete_policies),
    })
}

fn words<T: PartialEq>(table: &[(T, &'static str)], values: &[T]) -> Vec<&'static str> {
    values
        .iter()
        .filter_map(|value| table.iter().find(|(known, _)| known == value).map(|(_, word)| *word))
        .collect()
}

fn chart_record(chart: &Chart) -> ChartRecord<'_> {
    ChartRecord {
        metadata: metadata_json(&chart.metadata),
        lock: None,
        templates: file_records(&chart.templates),
        values: &chart.values,
        schema: chart.schema.as_deref().map(Encoded),
        files: file_records(&chart.files),
    }
}

fn file_records(files: &[File]) -> Vec<FileRecord<'_>> {
    files.iter().map(|file| FileRecord { name: &file.path, data: Encoded(&file.data) }).collect()
}

fn metadata_json(metadata: &Metadata) -> Value {
    let mut map = metadata.rest.clone();
    for (key, value) in [
        ("name", &metadata.name),
        ("version", &metadata.version),
        ("appVersion", &metadata.app_version),
        ("apiVersion", &metadata.api_version),
        ("type", &metadata.kind),
        ("kubeVersion", &metadata.kube_version),
    ] {
        if !value.is_empty() {
            map.insert(key.to_owned(), Value::from(value.as_str()));
        }
    }
    if !metadata.dependencies.is_empty() {
        let dependencies = metadata.dependencies.iter().map(|dependency| {
            json!({
                "name": dependency.name,
                "version": dependency.version,
                "repository": dependency.repository,
                "condition": dependency.condition,
                "alias": dependency.alias,
            })
        });
        map.insert("dependencies".to_owned(), dependencies.collect());
    }
    Value::Object(map)
}

/// Reads a record: base64 of JSON, compressed or (very old ones) not.
///
/// # Errors
/// What is wrong with it.
pub fn decode(text: &str) -> Result<Release, RecordError> {
    let bytes = unbase64(text).ok_or_else(|| RecordError("the release record is not base64".to_owned()))?;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b, 0x08]) { decompress(&bytes)? } else { bytes };
    let record: Value = serde_json::from_slice(&bytes)
        .map_err(|error| RecordError(format!("the release record is not JSON: {error}")))?;
    from_json(&record)
}

fn decompress(bytes: &[u8]) -> Result<Vec<u8>, RecordError> {
    let mut out = Vec::new();
    let mut reader = GzDecoder::new(bytes).take(RECORD_LIMIT + 1);
    reader
        .read_to_end(&mut out)
        .map_err(|error| RecordError(format!("the release record can't be decompressed: {error}")))?;
    if out.len() as u64 > RECORD_LIMIT {
        return Err(RecordError(format!("the release record is larger than {RECORD_LIMIT} bytes")));
    }
    Ok(out)
}

fn from_json(record: &Value) -> Result<Release, RecordError> {
    let object = |pointer: &str| record.at(pointer).and_then(Value::as_object).cloned().unwrap_or_default();
    let chart = Arc::new(chart_from(record.get("chart").unwrap_or(&Value::Null)));
    let manifests = manifests_from(k8s::text(record, "/manifest"))?;
    let hooks = record.get("hooks").and_then(Value::as_array).into_iter().flatten();
    let hooks = hooks.map(hook_from).collect::<Result<Vec<_>, _>>()?;
    let render = Render {
        values: Arc::new(chart.values.clone()),
        config: Arc::new(object("/config")),
        chart,
        crds: Vec::new(),
        manifests,
        hooks,
        notes: Some(k8s::text(record, "/info/notes")).filter(|notes| !notes.is_empty()).map(str::to_owned),
        warnings: Vec::new(),
    };
    Ok(Release {
        name: k8s::text(record, "/name").to_owned(),
        namespace: k8s::text(record, "/namespace").to_owned(),
        revision: record.get("version").and_then(Value::as_u64).unwrap_or(1),
        status: Status::parse(k8s::text(record, "/info/status")),
        description: k8s::text(record, "/info/description").to_owned(),
        render: Arc::new(render),
        rollback_revision: record.at("/info/rollback_revision").and_then(Value::as_u64).unwrap_or(0),
        apply_method: ApplyMethod::parse(k8s::text(record, "/apply_method")),
        first_deployed: 0.0,
        last_deployed: 0.0,
    })
}

fn chart_from(chart: &Value) -> Chart {
    let files = |pointer: &str| -> Vec<File> {
        let list = chart.at(pointer).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|file| {
            let data = unbase64(k8s::text(file, "/data"))?;
            Some(File { path: k8s::text(file, "/name").to_owned(), data: data.into() })
        })
        .collect()
    };
    Chart {
        metadata: metadata_from(chart.get("metadata").unwrap_or(&Value::Null)),
        values_text: Arc::from(&b""[..]),
        values: chart.get("values").and_then(Value::as_object).cloned().unwrap_or_default(),
        schema: unbase64(k8s::text(chart, "/schema")).filter(|schema| !schema.is_empty()).map(Into::into),
        templates: files("/templates"),
        files: files("/files"),
        ..Chart::default()
    }
}

fn metadata_from(metadata: &Value) -> Metadata {
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let mut rest: Map<String, Value> = metadata.as_object().cloned().unwrap_or_default();
    for known in ["name", "version", "appVersion", "apiVersion", "type", "kubeVersion", "dependencies"] {
        rest.remove(known);
    }
    Metadata {
        name: text("name"),
        version: text("version"),
        app_version: text("appVersion"),
        api_version: text("apiVersion"),
        kind: text("type"),
        kube_version: text("kubeVersion"),
        dependencies: Vec::new(),
        rest,
    }
}

/// The documents of a stored manifest with the templates they came from.
///
/// # Errors
/// A document that is no YAML.
pub fn manifests_from(text: &str) -> Result<Vec<Manifest>, RecordError> {
    text.strip_suffix('\n')
        .unwrap_or(text)
        .split("\n---")
        .map(|part| part.strip_prefix("---").unwrap_or(part))
        .filter_map(|part| document_from(part).transpose())
        .collect()
}

fn document_from(part: &str) -> Result<Option<Manifest>, RecordError> {
    let part = part.trim_start_matches(['\n', '\r']);
    let (source, text) = match part.strip_prefix("# Source: ") {
        Some(rest) => rest.split_once('\n').unwrap_or((rest, "")),
        None => ("", part),
    };
    if text.trim().is_empty() {
        return Ok(None);
    }
    // The line break before the next separator belongs to the document: a block scalar at its end has it.
    let object = parse(&format!("{text}\n"))?;
    Ok(Some(Manifest {
        source: source.trim().to_owned(),
        text: text.into(),
        object: Arc::new(object).into(),
    }))
}

fn hook_from(hook: &Value) -> Result<Hook, RecordError> {
    let text = k8s::text(hook, "/manifest");
    let list =
        |key: &str| hook.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let event = |word: &str| EVENTS.iter().find(|(_, known)| *known == word).map(|(event, _)| *event);
    let policy = |word: &str| POLICIES.iter().find(|(_, known)| *known == word).map(|(policy, _)| *policy);
    Ok(Hook {
        manifest: Manifest {
            source: k8s::text(hook, "/path").to_owned(),
            text: text.into(),
            object: Arc::new(parse(text)?).into(),
        },
        events: list("events").filter_map(event).collect(),
        weight: hook.get("weight").and_then(Value::as_i64).unwrap_or(0),
        delete_policies: list("delete_policies").filter_map(policy).collect(),
    })
}

fn parse(text: &str) -> Result<Value, RecordError> {
    crate::yaml::to_json(text.as_bytes(), &Limits::default()).map_err(|error| RecordError(error.message))
}
