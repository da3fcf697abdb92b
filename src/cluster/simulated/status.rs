//! Refusals: the Status bodies of the API server, with its codes, reasons and texts.
//!
//! Source: Kubernetes apimachinery 0.34.3, `pkg/api/errors/errors.go`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::discovery::Target;
use crate::cluster::{Request, Response};
use crate::schema::{FieldError, invalid_status};

/// A refusal on its way out.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) warnings: Vec<String>,
}

impl Refusal {
    /// A Status with a code, a reason and a message; `details` is left out when null.
    pub(super) fn new(status: u16, reason: &str, message: impl Into<String>, details: Value) -> Self {
        let mut body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message.into(), "code": status,
        });
        if !reason.is_empty() {
            body["reason"] = json!(reason);
        }
        if !details.is_null() {
            body["details"] = details;
        }
        Self { status, body, warnings: Vec::new() }
    }

    /// 404 for one object.
    pub(super) fn not_found(target: &Target, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", target.qualified());
        Self::new(404, "NotFound", message, target.details(name))
    }

    /// 404 for a path that serves nothing.
    pub(super) fn no_such_path() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource", json!({}))
    }

    /// 409 for a name that is taken.
    pub(super) fn already_exists(target: &Target, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", target.qualified());
        Self::new(409, "AlreadyExists", message, target.details(name))
    }

    /// 409 for a name whose object is being deleted.
    pub(super) fn being_deleted(target: &Target, name: &str) -> Self {
        let message = format!("object is being deleted: {} \"{name}\" already exists", target.qualified());
        Self::new(409, "AlreadyExists", message, target.details(name))
    }

    /// 409 for an outdated resourceVersion or a missed precondition.
    pub(super) fn conflict(target: &Target, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", target.qualified());
        Self::new(409, "Conflict", message, target.details(name))
    }

    /// 409 named by kind, as missed preconditions of a deletion are.
    pub(super) fn kind_conflict(target: &Target, name: &str, why: &str) -> Self {
        let group = if target.group.is_empty() { String::new() } else { format!(".{}", target.group) };
        let message = format!("Operation cannot be fulfilled on {}{group} \"{name}\": {why}", target.kind);
        let mut details = target.details(name);
        details["kind"] = json!(target.kind);
        Self::new(409, "Conflict", message, details)
    }

    /// 403.
    pub(super) fn forbidden(target: &Target, name: &str, why: &str) -> Self {
        let what =
            if name.is_empty() { target.qualified() } else { format!("{} \"{name}\"", target.qualified()) };
        Self::new(403, "Forbidden", format!("{what} is forbidden: {why}"), target.details(name))
    }

    /// 400.
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message, Value::Null)
    }

    /// 405.
    pub(super) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message, json!({}))
    }

    /// 415 with the content types that would do.
    pub(super) fn unsupported_media_type(accepted: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Self::new(415, "UnsupportedMediaType", message, Value::Null)
    }

    /// 500.
    pub(super) fn internal(why: &str) -> Self {
        let message = format!("Internal error occurred: {why}");
        Self::new(500, "InternalError", message, json!({ "causes": [{ "message": why }] }))
    }

    /// 422 with its causes, named by kind.
    pub(super) fn invalid(target: &Target, name: &str, errors: &[FieldError]) -> Self {
        Self::of(422, invalid_status(&target.group, &target.kind, name, errors))
    }

    /// 422 with its causes, named by resource as generic storage does.
    pub(super) fn invalid_resource(target: &Target, name: &str, errors: &[FieldError]) -> Self {
        Self::of(422, invalid_status(&target.group, &target.plural, name, errors))
    }

    /// 422 of an object that calls itself something else.
    pub(super) fn invalid_as(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        Self::of(422, invalid_status(group, kind, name, errors))
    }

    /// 422 about the parameters of a request.
    pub(super) fn invalid_options(kind: &str, errors: &[FieldError]) -> Self {
        Self::of(422, invalid_status("meta.k8s.io", kind, "", errors))
    }

    /// 422 about a patch, which has no kind.
    pub(super) fn invalid_patch(errors: &[FieldError]) -> Self {
        Self::of(422, invalid_status("", "", "", errors))
    }

    /// A Status with nothing but a code and a message.
    pub(super) fn plain(status: u16, message: &str) -> Self {
        Self::new(status, "", message, Value::Null)
    }

    /// 409 for a PUT with another UID.
    pub(super) fn wrong_uid(target: &Target, request: &Request, wanted: &str, found: &str) -> Self {
        let group = if target.group.is_empty() { String::new() } else { format!("{}/", target.group) };
        let namespace = if target.namespaced { format!("{}/", request.namespace) } else { String::new() };
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{group}{}/{namespace}{}, ResourceVersion: 0, \
             AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}",
            target.plural, request.name
        );
        Self::conflict(target, &request.name, &why)
    }

    fn of(status: u16, body: Value) -> Self {
        Self { status, body, warnings: Vec::new() }
    }
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Self {
        Self { status: refusal.status, body: Arc::new(refusal.body), warnings: refusal.warnings }
    }
}
