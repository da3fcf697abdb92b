//! Claims, volumes, and classes of storage.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/core/validation/validation.go`, `pkg/apis/storage/validation/validation.go`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::asked;
use super::place::{Errors, Place};
use crate::k8s::names;
use crate::k8s::quantity::billionths;
use crate::k8s::{At as _, items, text};
use crate::schema::FieldError;

const MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const REQUEST: &str = "/spec/resources/requests/storage";

fn access_modes(spec: &Place<'_>, errors: &mut Errors) {
    let modes = spec.field("accessModes");
    let texts = modes.texts();
    for mode in texts.iter().filter(|mode| !MODES.contains(mode)) {
        modes.unsupported(&json!(mode), MODES, errors);
    }
    let alone = texts.contains(&"ReadWriteOncePod");
    if alone && texts.iter().any(|mode| *mode != "ReadWriteOncePod" && MODES.contains(mode)) {
        modes.forbidden("may not use ReadWriteOncePod with other access modes", errors);
    }
}

/// A claim.
///
/// Source: `ValidatePersistentVolumeClaimSpec`, `ValidatePersistentVolumeClaimUpdate`.
pub(super) fn claim(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    claim_spec(&Place::top(object.get("spec"), "spec"), old.and_then(|old| old.get("spec")), errors);
    if let Some(old) = old {
        claim_update(object, old, errors);
    }
}

/// What a claim asks for; in a StatefulSet it is a template.
pub(super) fn claim_spec(spec: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    if spec.field("accessModes").is_empty() {
        spec.field("accessModes").required("at least 1 access mode is required", errors);
    }
    spec.field("selector").selector_after(old.and_then(|old| old.get("selector")), errors);
    access_modes(spec, errors);
    requested(spec, errors);
    spec.field("storageClassName").named_if_any(names::subdomain_faults, errors);
    spec.field("volumeMode").one_of(&["Block", "Filesystem"], errors);
    for field in ["dataSource", "dataSourceRef"] {
        data_source(&spec.field(field), errors);
    }
    sources_agree(spec, errors);
    spec.field("volumeAttributesClassName").named_if_any(names::subdomain_faults, errors);
}

fn requested(spec: &Place<'_>, errors: &mut Errors) {
    let size = spec.value.at("/resources/requests/storage");
    let field = format!("{}.resources[storage]", spec.name());
    let place = Place::top(size, &field);
    match place.quantity() {
        _ if !place.is_set() => place.required("", errors),
        Some(size) if size <= 0 => {
            place.invalid_as(&place.spelled(), "must be greater than zero", errors);
        }
        _ => {}
    }
}

/// Source: `validateDataSource`, `validateDataSourceRef`.
fn data_source(source: &Place<'_>, errors: &mut Errors) {
    if !source.is_set() {
        return;
    }
    let (kind, group) = (source.field("kind"), source.field("apiGroup"));
    source.field("name").needed(errors);
    kind.needed(errors);
    if group.is_empty() && kind.text() != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        source.invalid_as(kind.text(), detail, errors);
    }
    group.named_if_any(names::subdomain_faults, errors);
    source.field("namespace").named_if_any(names::label_faults, errors);
}

/// The older of the two fields says what the newer one says; the server shows the name of the field for its value.
fn sources_agree(spec: &Place<'_>, errors: &mut Errors) {
    let (old, new) = (spec.field("dataSource"), spec.field("dataSourceRef"));
    if !old.is_set() || !new.is_set() {
        return;
    }
    let differ = |field: &str| old.field(field).value != new.field(field).value;
    let fault = match new.field("namespace").is_empty() {
        false => "may not be specified when dataSourceRef.namespace is specified",
        true if ["apiGroup", "kind", "name"].iter().any(|field| differ(field)) => "must match dataSourceRef",
        true => return,
    };
    spec.invalid_shown("{}", fault, errors);
}

fn claim_update(object: &Value, old: &Value, errors: &mut Errors) {
    let bound = text(old, "/status/phase") == "Bound";
    let open = |claim: &Value| {
        let mut spec = claim.get("spec").cloned().unwrap_or_default();
        if let Some(spec) = spec.as_object_mut() {
            let given = old.at("/spec/storageClassName").is_none();
            let free = [("volumeAttributesClassName", bound), ("storageClassName", given)];
            for (field, _) in free.into_iter().filter(|(_, free)| *free) {
                spec.remove(field);
            }
            if text(old, "/spec/volumeName").is_empty() {
                spec.remove("volumeName");
            }
        }
        if bound
            && let Some(requests) = spec.pointer_mut("/resources/requests").and_then(Value::as_object_mut)
        {
            requests.remove("storage");
        }
        spec
    };
    if open(object) != open(old) {
        let detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        errors.push(FieldError::forbidden("spec", detail));
    }
    shrunk(object, old, errors);
    kept_mode(object, old, errors);
    kept_attributes(object, old, errors);
}

/// Room that no volume has taken yet may be given back, so that a failed expansion is not for ever.
fn shrunk(object: &Value, old: &Value, errors: &mut Errors) {
    let size = |at: &str, claim: &Value| billionths(text(claim, at)).unwrap_or(0);
    let (wanted, had) = (size(REQUEST, object), size(REQUEST, old));
    if wanted < had && wanted <= size("/status/capacity/storage", old) {
        let detail = "field can not be less than status.capacity";
        errors.push(FieldError::forbidden("spec.resources.requests.storage", detail));
    }
}

fn kept_mode(object: &Value, old: &Value, errors: &mut Errors) {
    let mode = |object: &'_ Value| object.at("/spec/volumeMode").cloned();
    if mode(object) != mode(old) {
        let shown = mode(object).unwrap_or_default();
        errors.push(FieldError::invalid("volumeMode", &shown, asked::IMMUTABLE));
    }
}

/// A class of attributes that a volume has can be changed for another one, not for none.
fn kept_attributes(object: &Value, old: &Value, errors: &mut Errors) {
    const FIELD: &str = "spec.volumeAttributesClassName";
    let class = |claim: &Value| claim.at("/spec/volumeAttributesClassName").cloned();
    let current = old.at("/status/currentVolumeAttributesClassName").is_some();
    let nothing = match class(object) {
        None => "nil",
        Some(Value::String(name)) if name.is_empty() => "empty string",
        Some(_) => return,
    };
    if current && class(object) != class(old) {
        let detail = format!(
            "update to {nothing} is forbidden when status.currentVolumeAttributesClassName is not nil"
        );
        errors.push(FieldError::forbidden(FIELD, &detail));
    }
}

/// What a volume can consist of, in the order of the checks, and the fields that it then needs.
const SOURCES: &[(&str, &[&str])] = &[
    ("hostPath", &[]),
    ("gcePersistentDisk", &["pdName"]),
    ("awsElasticBlockStore", &["volumeID"]),
    ("glusterfs", &["endpoints", "path"]),
    ("flocker", &[]),
    ("nfs", &["server", "path"]),
    ("rbd", &["monitors", "image"]),
    ("quobyte", &[]),
    ("cephfs", &["monitors"]),
    ("iscsi", &["targetPortal", "iqn"]),
    ("cinder", &["volumeID"]),
    ("fc", &[]),
    ("flexVolume", &["driver"]),
    ("azureFile", &["secretName", "shareName"]),
    ("vsphereVolume", &["volumePath"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("local", &[]),
    ("storageos", &["volumeName"]),
    ("csi", &[]),
];

/// A volume.
///
/// Source: `ValidatePersistentVolumeSpec`, `ValidatePersistentVolumeUpdate`.
pub(super) fn volume(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    spec.field("accessModes").needed(errors);
    access_modes(&spec, errors);
    capacity(&spec.field("capacity"), errors);
    let policy = spec.field("persistentVolumeReclaimPolicy");
    if !policy.is_empty() {
        policy.supported(&["Delete", "Recycle", "Retain"], errors);
    }
    node_affinity(&spec.field("nodeAffinity"), errors);
    sources(&spec, errors);
    if is_root(spec.value) && policy.text() == "Recycle" {
        policy.forbidden("may not be 'recycle' for a hostPath mount of '/'", errors);
    }
    spec.field("storageClassName").named_if_any(names::subdomain_faults, errors);
    spec.field("volumeMode").one_of(&["Block", "Filesystem"], errors);
    attributes_class(&spec, errors);
    if let Some(old) = old {
        volume_update(object, old, errors);
    }
}

fn is_root(spec: &Value) -> bool {
    let path = text(spec, "/hostPath/path");
    path.starts_with('/') && path.split('/').all(|part| matches!(part, "" | "."))
}

fn capacity(capacity: &Place<'_>, errors: &mut Errors) {
    capacity.needed(errors);
    let only = capacity.entries().count() == 1 && capacity.field("storage").is_set();
    if !only {
        capacity.unsupported(capacity.value, &["storage"], errors);
    }
    for (_, amount) in capacity.entries() {
        let Some(size) = amount.quantity() else { continue };
        let whole = size / 1_000_000_000 - i128::from(size % 1_000_000_000 < 0);
        if whole < 0 {
            amount.invalid_shown(&whole.to_string(), "must be a valid resource quantity", errors);
        }
        if size <= 0 {
            amount.invalid_as(&amount.spelled(), "must be greater than zero", errors);
        }
    }
}

fn sources(spec: &Place<'_>, errors: &mut Errors) {
    let mut found = 0;
    for (field, needed) in SOURCES {
        let source = spec.field(field);
        if !source.is_set() {
            continue;
        }
        if found > 0 && *field != "flexVolume" {
            let named = if *field == "cephfs" { "cephFS" } else { field };
            spec.field(named).forbidden("may not specify more than 1 volume type", errors);
            continue;
        }
        found += 1;
        let field_name = source.name();
        let named = if *field == "gcePersistentDisk" { "spec.persistentDisk" } else { &field_name };
        let named = Place::top(Some(source.value), named);
        for field in *needed {
            named.field(field).needed(errors);
        }
        source_details(field, spec, &named, errors);
    }
    if found == 0 {
        spec.required("must specify a volume type", errors);
    }
}

fn source_details(kind: &str, spec: &Place<'_>, source: &Place<'_>, errors: &mut Errors) {
    let path = source.field("path");
    match kind {
        "hostPath" | "local" => {
            if path.needed(errors) {
                path.no_way_up(errors);
                host_path_type(&source.field("type"), errors);
            }
            if kind == "local" && !spec.field("nodeAffinity").is_set() {
                spec.field("nodeAffinity").required("Local volume requires node affinity", errors);
            }
        }
        "nfs" if !path.text().starts_with('/') => path.invalid_text("must be an absolute path", errors),
        "csi" => driver(source, errors),
        "fc" if source.field("targetWWNs").is_empty() && source.field("wwids").is_empty() => {
            let detail = "must specify either targetWWNs or wwids, but not both";
            source.field("targetWWNs").required(detail, errors);
        }
        "flocker" if source.field("datasetName").is_empty() && source.field("datasetUUID").is_empty() => {
            source.required("one of datasetName and datasetUUID is required", errors);
        }
        "quobyte" => {
            if source.field("registry").is_empty() {
                let detail = "must be a host:port pair or multiple pairs separated by commas";
                source.field("registry").required(detail, errors);
            }
            source.field("volume").needed(errors);
        }
        _ => {}
    }
}

fn host_path_type(kind: &Place<'_>, errors: &mut Errors) {
    const TYPES: &[&str] = &[
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ];
    kind.one_of(TYPES, errors);
}

/// Source: `validateCSIPersistentVolumeSource`, `ValidateCSIDriverName`.
fn driver(source: &Place<'_>, errors: &mut Errors) {
    let name = source.field("driver");
    name.needed(errors);
    if name.text().len() > 63 {
        errors.push(FieldError::too_long(name.name(), 63));
    }
    let faults = names::subdomain_faults(&name.text().to_lowercase());
    faults.iter().for_each(|fault| name.invalid_text(fault, errors));
    source.field("volumeHandle").needed(errors);
    for field in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        let secret = source.field(field);
        if secret.is_set() {
            secret.field("name").needed_named(names::subdomain_faults, errors);
            secret.field("namespace").needed_named(names::label_faults, errors);
        }
    }
}

fn attributes_class(spec: &Place<'_>, errors: &mut Errors) {
    let class = spec.field("volumeAttributesClassName");
    if !class.is_set() {
        return;
    }
    if class.is_empty() {
        class.required("an empty string is disallowed", errors);
    }
    class.named_if_any(names::subdomain_faults, errors);
    if !spec.field("csi").is_set() {
        spec.field("csi").required("has to be specified when using volumeAttributesClassName", errors);
    }
}

/// Source: `validateVolumeNodeAffinity`, `ValidateNodeSelector`.
fn node_affinity(affinity: &Place<'_>, errors: &mut Errors) {
    let required = affinity.field("required");
    if !affinity.is_set() {
        return;
    }
    if !required.is_set() {
        return required.required("must specify required node constraints", errors);
    }
    let terms = required.field("nodeSelectorTerms");
    if terms.is_empty() {
        terms.required("must have at least one node selector term", errors);
    }
    for term in terms.items() {
        term.field("matchExpressions").items().for_each(|one| node_expression(&one, errors));
        term.field("matchFields").items().for_each(|one| node_field(&one, errors));
    }
}

/// Source: `ValidateNodeSelectorRequirement`.
fn node_expression(one: &Place<'_>, errors: &mut Errors) {
    let (operator, values) = (one.field("operator"), one.field("values"));
    match (operator.text(), values.items().count()) {
        ("In" | "NotIn", 0) => {
            values.required("must be specified when `operator` is 'In' or 'NotIn'", errors);
        }
        ("Exists" | "DoesNotExist", 1..) => {
            values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'", errors);
        }
        ("Gt" | "Lt", 0 | 2..) => {
            values.required("must be specified single value when `operator` is 'Lt' or 'Gt'", errors);
        }
        ("In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt", _) => {}
        _ => operator.invalid_text("not a valid selector operator", errors),
    }
    one.field("key").named(names::qualified_name_faults, errors);
    values.items().for_each(|value| value.named(names::label_value_faults, errors));
}

/// Source: `ValidateNodeFieldSelectorRequirement`.
fn node_field(one: &Place<'_>, errors: &mut Errors) {
    let (key, operator, values) = (one.field("key"), one.field("operator"), one.field("values"));
    match (operator.text(), values.items().count()) {
        ("In" | "NotIn", 1) => {}
        ("In" | "NotIn", _) => {
            let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            values.required(detail, errors);
        }
        _ => operator.invalid_text("not a valid selector operator", errors),
    }
    if key.text() == "metadata.name" {
        values.items().for_each(|value| value.named(names::subdomain_faults, errors));
    } else {
        key.invalid_text("not a valid field selector key", errors);
    }
}

fn volume_update(object: &Value, old: &Value, errors: &mut Errors) {
    volume_source(object, old, errors);
    kept_mode(object, old, errors);
    let class = |volume: &Value| volume.at("/spec/volumeAttributesClassName").is_some();
    if class(old) && !class(object) {
        let field = "spec.volumeAttributesClassName";
        errors.push(FieldError::forbidden(field, "update from non-nil value to nil is forbidden"));
    }
}

/// What a volume consists of stays; one secret of a driver may be added.
fn volume_source(object: &Value, old: &Value, errors: &mut Errors) {
    const ADDED: &str = "controllerExpandSecretRef";
    let source = |volume: &Value| -> Vec<Option<Value>> {
        let mut spec = volume.get("spec").cloned().unwrap_or_default();
        if old.at(&format!("/spec/csi/{ADDED}")).is_none()
            && let Some(csi) = spec.get_mut("csi").and_then(Value::as_object_mut)
        {
            csi.remove(ADDED);
        }
        SOURCES.iter().map(|(field, _)| spec.get(field).cloned()).collect()
    };
    if source(object) != source(old) {
        let field = "spec.persistentvolumesource";
        errors.push(FieldError::forbidden(field, "spec.persistentvolumesource is immutable after creation"));
    }
}

/// A class.
///
/// Source: `ValidateStorageClass`, `ValidateStorageClassUpdate`.
pub(super) fn class(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let top = |field: &'static str| Place::top(object.get(field), field);
    let provisioner = top("provisioner");
    if provisioner.needed(errors) {
        let lower = provisioner.text().to_lowercase();
        let faults = names::qualified_name_faults(&lower);
        faults.iter().for_each(|fault| provisioner.invalid_as(&lower, fault, errors));
    }
    parameters(&top("parameters"), errors);
    if !top("reclaimPolicy").is_empty() {
        top("reclaimPolicy").supported(&["Delete", "Retain"], errors);
    }
    top("volumeBindingMode").one_of(&["Immediate", "WaitForFirstConsumer"], errors);
    topologies(&top("allowedTopologies"), errors);
    if let Some(old) = old {
        class_update(object, old, errors);
    }
}

fn parameters(parameters: &Place<'_>, errors: &mut Errors) {
    let mut bytes = 0;
    if parameters.entries().count() > 512 {
        return errors.push(FieldError::too_long(parameters.name(), 512));
    }
    for (key, value) in parameters.entries() {
        bytes += key.len() + value.text().len();
        if key.is_empty() {
            parameters.invalid_as("", "field can not be empty.", errors);
        }
    }
    if bytes > 256 * 1024 {
        errors.push(FieldError::too_long(parameters.name(), 256 * 1024));
    }
}

/// Source: `validateAllowedTopologies`, `ValidateTopologySelectorTerm`.
fn topologies(topologies: &Place<'_>, errors: &mut Errors) {
    // The server takes terms without keys for equal to those that it has not yet looked at.
    let mut seen = BTreeSet::from([Vec::new()]);
    for term in topologies.items() {
        let expressions = term.field("matchLabelExpressions");
        let mut keys = BTreeSet::new();
        for one in expressions.items() {
            topology(&one, errors);
            if !keys.insert(one.field("key").text().to_owned()) {
                one.field("key").duplicate(errors);
            }
        }
        if !seen.insert(spelled_term(term.value)) {
            errors.push(FieldError::duplicate(expressions.name(), &json!("")));
        }
    }
}

/// A term with its keys and values in one order, so that equal ones look the same.
fn spelled_term(term: &Value) -> Vec<(String, BTreeSet<String>)> {
    let values = |one: &Value| items(one, "/values").filter_map(Value::as_str).map(str::to_owned).collect();
    let mut all: Vec<_> = items(term, "/matchLabelExpressions")
        .map(|one| (text(one, "/key").to_owned(), values(one)))
        .collect();
    all.sort();
    all
}

fn topology(one: &Place<'_>, errors: &mut Errors) {
    let values = one.field("values");
    values.needed(errors);
    let mut seen = BTreeSet::new();
    for value in values.items() {
        if !seen.insert(value.text().to_owned()) {
            value.duplicate(errors);
        }
    }
    one.field("key").named(names::qualified_name_faults, errors);
}

fn class_update(object: &Value, old: &Value, errors: &mut Errors) {
    for field in ["parameters", "provisioner", "reclaimPolicy"] {
        if object.get(field) != old.get(field) {
            errors.push(FieldError::forbidden(field, &format!("updates to {field} are forbidden.")));
        }
    }
    let mode = Place::top(object.get("volumeBindingMode"), "volumeBindingMode");
    mode.unchanged(&Place::top(old.get("volumeBindingMode"), "volumeBindingMode"), errors);
}
