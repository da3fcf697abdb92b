//! Refusals: the Status bodies of the API server, with its codes, reasons and texts.
//!
//! Source: Kubernetes apimachinery 0.34.3, `pkg/api/errors/errors.go`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::discovery::Target;
use crate::cluster::Response;

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
        Self::new(415, "UnsupportedMediaType", message, json!({}))
    }

    /// 500.
    pub(super) fn internal(why: &str) -> Self {
        let message = format!("Internal error occurred: {why}");
        Self::new(500, "InternalError", message, json!({ "causes": [{ "message": why }] }))
    }

    /// 422 with its causes.
    pub(super) fn invalid(target: &Target, name: &str, causes: &[Cause]) -> Self {
        let errors: Vec<String> = causes.iter().map(Cause::text).collect();
        let errors = match errors.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{} \"{name}\" is invalid: {errors}", target.qualified_kind());
        let mut details = target.details(name);
        details["kind"] = json!(target.kind);
        if !causes.is_empty() {
            details["causes"] = causes.iter().map(Cause::json).collect();
        }
        Self::new(422, "Invalid", message, details)
    }
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Self {
        Self { status: refusal.status, body: Arc::new(refusal.body), warnings: refusal.warnings }
    }
}

/// One cause of a 422.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    /// `FieldValueInvalid` and the like.
    pub(super) reason: String,
    /// Text without the field.
    pub(super) message: String,
    /// Field path.
    pub(super) field: String,
}

impl Cause {
    /// A value that is not valid; `value` is Go's `%q`/`%v` rendering of it, as validation quotes it.
    pub(super) fn invalid(field: &str, value: &str, detail: &str) -> Self {
        Self {
            reason: "FieldValueInvalid".to_owned(),
            message: format!("Invalid value: {value}: {detail}"),
            field: field.to_owned(),
        }
    }

    /// A value that must not be there.
    pub(super) fn forbidden(field: &str, detail: &str) -> Self {
        Self {
            reason: "FieldValueForbidden".to_owned(),
            message: format!("Forbidden: {detail}"),
            field: field.to_owned(),
        }
    }

    /// A value that must be there.
    pub(super) fn required(field: &str, detail: &str) -> Self {
        let message =
            if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") };
        Self { reason: "FieldValueRequired".to_owned(), message, field: field.to_owned() }
    }

    /// A value over its limit in bytes.
    pub(super) fn too_long(field: &str, limit: usize) -> Self {
        Self {
            reason: "FieldValueTooLong".to_owned(),
            message: format!("Too long: may not be more than {limit} bytes"),
            field: field.to_owned(),
        }
    }

    fn text(&self) -> String {
        format!("{}: {}", self.field, self.message)
    }

    fn json(&self) -> Value {
        json!({ "reason": self.reason, "message": self.message, "field": self.field })
    }
}
