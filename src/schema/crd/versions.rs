//! The versions of a definition, with their schemas, columns and subresources, and the stored versions.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::k8s::At as _;
use crate::schema::crd::names::{label_faults, one_of};
use crate::schema::crd::{defaults, expressions, extensions, is_true, structure, text};
use crate::schema::error::FieldError;
use crate::schema::outcome::Outcome;
use crate::schema::path::Path;
use crate::schema::version::KubeVersion;

/// Judges `spec.versions`.
pub(super) fn check(spec: &Map<String, Value>, is_update: bool, kube: KubeVersion, outcome: &mut Outcome) {
    let none = Vec::new();
    let versions = spec.get("versions").and_then(Value::as_array).unwrap_or(&none);
    let hoisted = Hoisted::of(versions);
    for (i, version) in versions.iter().enumerate() {
        let name = crate::k8s::text(version, "/name");
        if let Some(words) = label_faults(name) {
            let at = format!("spec.versions[{i}].name");
            outcome.errors.push(FieldError::invalid(at, &Value::from(name), &words));
            if i == 0 {
                outcome.errors.push(FieldError::invalid("spec.version", &Value::from(name), &words));
            }
        }
        if version.at("/schema/openAPIV3Schema").is_none() && !is_update {
            outcome
                .errors
                .push(FieldError::required(format!("spec.versions[{i}].schema.openAPIV3Schema"), ""));
        }
        parts(version, i, hoisted, kube, outcome);
    }
    flags(versions, hoisted, &mut outcome.errors);
}

/// Which parts are the same in all versions: the server's internal form keeps those once, above the versions.
#[derive(Clone, Copy)]
struct Hoisted {
    schema: bool,
    subresources: bool,
    columns: bool,
    selectable: bool,
}

impl Hoisted {
    fn of(versions: &[Value]) -> Self {
        let same = |part: &str| {
            versions.iter().all(|version| version.get(part) == versions.first().and_then(|v| v.get(part)))
        };
        Self {
            schema: same("schema"),
            subresources: same("subresources"),
            columns: same("additionalPrinterColumns"),
            selectable: same("selectableFields"),
        }
    }
}

/// Where a part's errors are: above the versions once, or in each of them.
fn place(hoisted: bool, i: usize, above: &str, below: &str) -> Option<String> {
    match (hoisted, i) {
        (true, 0) => Some(format!("spec.{above}")),
        (true, _) => None,
        (false, i) => Some(format!("spec.versions[{i}].{below}")),
    }
}

fn parts(version: &Value, i: usize, hoisted: Hoisted, kube: KubeVersion, outcome: &mut Outcome) {
    let schema = version.at("/schema/openAPIV3Schema");
    if let (Some(at), Some(schema)) = (place(hoisted.schema, i, "validation", "schema"), schema) {
        check_schema(schema, &format!("{at}.openAPIV3Schema"), kube, outcome);
    }
    if let (Some(at), Some(part)) =
        (place(hoisted.subresources, i, "subresources", "subresources"), version.get("subresources"))
    {
        outcome.errors.extend(scale(part, &at));
    }
    let columns = version.get("additionalPrinterColumns").and_then(Value::as_array);
    if let Some(at) = place(hoisted.columns, i, "additionalPrinterColumns", "additionalPrinterColumns") {
        for (column, n) in columns.into_iter().flatten().zip(0..) {
            outcome.errors.extend(printer_column(column, &format!("{at}[{n}]")));
        }
    }
    let selectable = version.get("selectableFields").and_then(Value::as_array);
    if let Some(at) = place(hoisted.selectable, i, "selectableFields", "selectableFields") {
        for (field, n) in selectable.into_iter().flatten().zip(0..) {
            outcome.errors.extend(selectable_field(field, schema, &format!("{at}[{n}].jsonPath")));
        }
    }
}

fn check_schema(schema: &Value, at: &str, kube: KubeVersion, outcome: &mut Outcome) {
    let at = Path::ROOT.field(at);
    let before = outcome.errors.len();
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        outcome
            .errors
            .push(FieldError::forbidden(format!("{at}.nullable"), "nullable cannot be true at the root"));
    }
    outcome.errors.extend(structure::check(schema, &at));
    if outcome.errors.len() == before {
        outcome.errors.extend(defaults::check(schema, &at, kube));
    }
    let sound = outcome.errors.len() == before;
    outcome.errors.extend(extensions::check(schema, &at));
    if sound && outcome.errors.len() == before && kube.has_rules() {
        expressions::check(schema, &at, kube, outcome);
    }
}

fn flags(versions: &[Value], hoisted: Hoisted, errors: &mut Vec<FieldError>) {
    let mut seen = HashSet::new();
    let unique = versions.iter().all(|version| seen.insert(crate::k8s::text(version, "/name")));
    let shown = || internal_form(versions, hoisted);
    let mut say = |words: &str| {
        errors.push(FieldError {
            body: format!("Invalid value: {}: {words}", shown()),
            ..FieldError::invalid("spec.versions", &Value::Null, "")
        });
    };
    if !unique {
        say("must contain unique version names");
    }
    if versions.iter().filter(|version| version["storage"] == true).count() != 1 {
        say("must have exactly one version marked as storage version");
    }
}

/// The list of versions as the server quotes it: Go's internal struct, hoisted parts null.
fn internal_form(versions: &[Value], hoisted: Hoisted) -> String {
    let one = |version: &Value| {
        let part = |name: &str, hoisted: bool| {
            if hoisted { Value::Null } else { version.get(name).cloned().unwrap_or_default() }
        };
        format!(
            "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":{},\
             \"Subresources\":{},\"AdditionalPrinterColumns\":{},\"SelectableFields\":{}}}",
            version["name"],
            version["served"] == true,
            version["storage"] == true,
            version["deprecated"] == true,
            version["deprecationWarning"],
            part("schema", hoisted.schema),
            part("subresources", hoisted.subresources),
            part("additionalPrinterColumns", hoisted.columns),
            part("selectableFields", hoisted.selectable),
        )
    };
    format!("[{}]", versions.iter().map(one).collect::<Vec<_>>().join(","))
}

/// `status.storedVersions` must hold the storage version, and nothing that the definition no longer has.
pub(super) fn stored(crd: &Value, spec: &Map<String, Value>) -> Vec<FieldError> {
    let at = "status.storedVersions";
    let stored = super::stored_versions(crd);
    if stored.is_empty() {
        return vec![FieldError::invalid(at, &Value::Null, "must have at least one stored version")];
    }
    let versions = spec.get("versions").and_then(Value::as_array);
    let names: Vec<&str> = versions.into_iter().flatten().map(|v| crate::k8s::text(v, "/name")).collect();
    let mut errors = Vec::new();
    for version in versions.into_iter().flatten().filter(|version| version["storage"] == true) {
        let name = crate::k8s::text(version, "/name");
        if !stored.iter().any(|known| known == name) {
            errors.push(FieldError::invalid(
                at,
                &json!(stored),
                &format!("must have the storage version {name}"),
            ));
        }
    }
    for (i, name) in stored.iter().enumerate().filter(|(_, name)| !names.contains(&name.as_str())) {
        let words = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
             until a storage migration ensures no data remains persisted in {name} and removes {name} from \
             status.storedVersions"
        );
        errors.push(FieldError::invalid(format!("{at}[{i}]"), &Value::from(name.as_str()), &words));
    }
    errors
}

/// `spec.conversion`.
pub(super) fn conversion(spec: &Map<String, Value>) -> Vec<FieldError> {
    let Some(Value::Object(conversion)) = spec.get("conversion") else { return Vec::new() };
    let mut errors: Vec<FieldError> =
        one_of("spec.conversion.strategy", text(conversion, "strategy"), &["None", "Webhook"])
            .into_iter()
            .collect();
    let strategy = text(conversion, "strategy");
    if strategy != "Webhook" {
        if strategy == "None" && conversion.contains_key("webhook") {
            let words = "should not be set when strategy is not set to Webhook";
            errors.push(FieldError::forbidden("spec.conversion.webhookClientConfig", words));
        }
        return errors;
    }
    if is_true(spec, "preserveUnknownFields") {
        let words = "must be None if spec.preserveUnknownFields is true";
        errors.push(FieldError::invalid("spec.conversion.strategy", &Value::from(strategy), words));
    }
    let webhook = conversion.get("webhook");
    match webhook.and_then(|webhook| webhook.get("clientConfig")) {
        None => {
            let words = "required when strategy is set to Webhook";
            errors.push(FieldError::required("spec.conversion.webhookClientConfig", words));
        }
        Some(config) if config.get("url").is_some() == config.get("service").is_some() => {
            let words = "exactly one of url or service is required";
            errors.push(FieldError::required("spec.conversion.webhookClientConfig", words));
        }
        Some(_) => {}
    }
    let review =
        webhook.and_then(|webhook| webhook.get("conversionReviewVersions")).and_then(Value::as_array);
    errors.extend(review_versions(review.map_or(&[], Vec::as_slice)));
    errors
}

fn review_versions(versions: &[Value]) -> Option<FieldError> {
    let at = "spec.conversion.conversionReviewVersions";
    if versions.is_empty() {
        return Some(FieldError::required(at, ""));
    }
    let known = versions.iter().any(|version| version == "v1" || version == "v1beta1");
    (!known).then(|| FieldError::invalid(at, &json!(versions), "must include at least one of v1, v1beta1"))
}

fn scale(subresources: &Value, at: &str) -> Vec<FieldError> {
    let Some(Value::Object(scale)) = subresources.get("scale") else { return Vec::new() };
    let mut errors = Vec::new();
    for (key, prefix) in [("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")] {
        let (at, path) = (format!("{at}.scale.{key}"), text(scale, key));
        if path.is_empty() {
            errors.push(FieldError::required(at, ""));
        } else if let Some(error) = simple_json_path(path, &at) {
            errors.push(error);
        } else if !path.starts_with(&format!("{prefix}.")) {
            let words = format!("should be a json path under {prefix}");
            errors.push(FieldError::invalid(at, &Value::from(path), &words));
        }
    }
    let (at, path) = (format!("{at}.scale.labelSelectorPath"), text(scale, "labelSelectorPath"));
    if let Some(error) = (!path.is_empty()).then(|| simple_json_path(path, &at)).flatten() {
        errors.push(error);
    } else if !path.is_empty() && !path.starts_with(".spec.") && !path.starts_with(".status.") {
        let words = "should be a json path under either .spec or .status";
        errors.push(FieldError::invalid(at, &Value::from(path), words));
    }
    errors
}

fn simple_json_path(path: &str, at: &str) -> Option<FieldError> {
    let words = "must be a simple json path starting with .";
    (!path.starts_with('.')).then(|| FieldError::invalid(at, &Value::from(path), words))
}

fn printer_column(column: &Value, at: &str) -> Vec<FieldError> {
    const TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
    const FORMATS: &[&str] = &["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    let get = |key: &str| crate::k8s::text(column, &format!("/{key}"));
    let mut errors = Vec::new();
    if get("name").is_empty() {
        errors.push(FieldError::required(format!("{at}.name"), ""));
    }
    let words = format!("must be one of {}", TYPES.join(","));
    match get("type") {
        "" => errors.push(FieldError::required(format!("{at}.type"), &words)),
        other if !TYPES.contains(&other) => {
            errors.push(FieldError::invalid(format!("{at}.type"), &Value::from(other), &words));
        }
        _ => {}
    }
    let format = get("format");
    if !format.is_empty() && !FORMATS.contains(&format) {
        let words = format!("must be one of {}", FORMATS.join(","));
        errors.push(FieldError::invalid(format!("{at}.format"), &Value::from(format), &words));
    }
    match get("jsonPath") {
        "" => errors.push(FieldError::required(format!("{at}.JSONPath"), "")),
        path => errors.extend(simple_json_path(path, &format!("{at}.JSONPath"))),
    }
    errors
}

fn selectable_field(field: &Value, schema: Option<&Value>, at: &str) -> Option<FieldError> {
    let path = crate::k8s::text(field, "/jsonPath");
    if path.is_empty() {
        return Some(FieldError::required(at, ""));
    }
    let invalid = |words: &str| Some(FieldError::invalid(at, &Value::from(path), words));
    let found = match extensions::find(schema?, path) {
        Ok(found) => found,
        Err(why) => return invalid(&format!("is an invalid path: {why}")),
    };
    if path.starts_with(".metadata") {
        return invalid("must not point to fields in metadata");
    }
    let kind = crate::k8s::text(found, "/type");
    if matches!(kind, "string" | "boolean" | "integer") {
        return None;
    }
    invalid(
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
    )
}
