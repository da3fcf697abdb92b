//! Request bodies: do they belong to the request, can they be decoded, what do strict readers say.

use serde_json::Value;

use super::super::discovery::Target;
use super::super::status::Refusal;
use crate::cluster::Request;
use crate::k8s::text;

/// A decoded body and the warnings on the way.
pub(super) struct Decoded {
    pub(super) object: Value,
    pub(super) warnings: Vec<String>,
}

/// Decodes an object of a POST or PUT, or what a patch made.
pub(super) fn decode(target: &Target, request: &Request, object: Value) -> Result<Decoded, Refusal> {
    check_identity(target, request, &object)?;
    judged(target, request, coerce(target, object))
}

/// Decodes the status of a built-in object alone.
pub(super) fn decode_status(target: &Target, request: &Request, body: &Value) -> Result<Decoded, Refusal> {
    let mut part = Value::Object(serde_json::Map::new());
    if let Some(status) = body.get("status") {
        part["status"] = status.clone();
    }
    let unknown = crate::k8s::decode::decode(target.shape(), &mut part);
    judged(target, request, unknown.map(|unknown| (part, unknown)))
}

/// What a client hears of unknown fields, by the validation that it asked for.
fn judged(
    target: &Target,
    request: &Request,
    decoded: Result<(Value, Vec<String>), String>,
) -> Result<Decoded, Refusal> {
    let (object, unknown) = decoded.map_err(|why| cannot_be_handled(target, &why))?;
    let said: Vec<String> = unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect();
    match request.field_validation {
        "Strict" if !said.is_empty() => {
            Err(cannot_be_handled(target, &format!("strict decoding error: {}", said.join(", "))))
        }
        "Ignore" => Ok(Decoded { object, warnings: Vec::new() }),
        _ => Ok(Decoded { object, warnings: said }),
    }
}

/// Brings an object into the form its type has; returns the paths of unknown fields.
pub(super) fn coerce(target: &Target, mut object: Value) -> Result<(Value, Vec<String>), String> {
    let unknown = match (&target.builtin, target.structural()) {
        (Some(_), _) => crate::k8s::decode::decode(target.shape(), &mut object)?,
        (None, Some(schema)) => {
            let unknown = schema.coerce(&mut object)?;
            schema.default(&mut object);
            if let Some(metadata) = object.get_mut("metadata") {
                crate::k8s::decode::decode(&crate::k8s::types::object_meta(), metadata)?;
            }
            unknown
        }
        (None, None) => Vec::new(),
    };
    Ok((object, unknown))
}

fn cannot_be_handled(target: &Target, why: &str) -> Refusal {
    let Target { kind, version, .. } = target;
    Refusal::bad_request(format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {why}"))
}

fn check_identity(target: &Target, request: &Request, object: &Value) -> Result<(), Refusal> {
    if !object.is_object() {
        return Err(Refusal::bad_request("the body of the request is not an object"));
    }
    let (version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    if !version.is_empty() && version != target.api_version() {
        return Err(Refusal::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({})",
            target.api_version()
        )));
    }
    if !kind.is_empty() && kind != target.kind {
        let message = format!(
            "{kind} in version \"{}\" cannot be handled as a {}: converting ({}) to ({}): unknown conversion",
            target.version, target.kind, kind, target.kind
        );
        return Err(Refusal::bad_request(message));
    }
    check_place(target, request, object)
}

/// Whether name and namespace in the body are those of the path.
pub(super) fn check_place(target: &Target, request: &Request, object: &Value) -> Result<(), Refusal> {
    let (name, namespace) = (text(object, "/metadata/name"), text(object, "/metadata/namespace"));
    if !request.name.is_empty() && name.is_empty() {
        let message = format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            request.name
        );
        return Err(Refusal::bad_request(message));
    }
    if !request.name.is_empty() && name != request.name {
        let message =
            format!("the name of the object ({name}) does not match the name on the URL ({})", request.name);
        return Err(Refusal::bad_request(message));
    }
    if target.namespaced && !namespace.is_empty() && namespace != request.namespace {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Refusal::bad_request(message));
    }
    Ok(())
}
