//! Field errors and the Status that carries them, worded as `k8s.io/apimachinery` words them.

use std::fmt;

use serde_json::{Value, json};

use crate::go::quote;

/// What is wrong with a field; [`Cause::reason`] is its name in `details.causes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A value that does not pass.
    Invalid,
    /// A value of the wrong JSON type or format.
    TypeInvalid,
    /// A required field is missing.
    Required,
    /// A value outside an enum.
    NotSupported,
    /// A string that is too long.
    TooLong,
    /// A list or map with too many entries.
    TooMany,
    /// An entry that occurs twice.
    Duplicate,
    /// A name of something that is not there.
    NotFound,
    /// A value that must not be there.
    Forbidden,
    /// Something the server itself could not do.
    Internal,
}

impl Cause {
    /// The machine-readable reason, e.g. `FieldValueRequired`.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Invalid => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Required => "FieldValueRequired",
            Self::NotSupported => "FieldValueNotSupported",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Duplicate => "FieldValueDuplicate",
            Self::NotFound => "FieldValueNotFound",
            Self::Forbidden => "FieldValueForbidden",
            Self::Internal => "InternalError",
        }
    }

    /// The words that open the message, e.g. `Required value`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::Required => "Required value",
            Self::NotSupported => "Unsupported value",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Duplicate => "Duplicate value",
            Self::NotFound => "Not found",
            Self::Forbidden => "Forbidden",
            Self::Internal => "Internal error",
        }
    }

    /// Whether an error of this kind keeps CEL rules from being run.
    ///
    /// As apiextensions-apiserver 1.34 `registry/customresource/strategy.go`, `hasBlockingErr`.
    #[must_use]
    pub fn blocks_rules(self) -> bool {
        matches!(
            self,
            Self::NotSupported | Self::Required | Self::TooLong | Self::TooMany | Self::TypeInvalid
        )
    }
}

/// One error about one field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldError {
    /// What is wrong.
    pub cause: Cause,
    /// Path of the field; `<nil>` for the object itself.
    pub field: String,
    /// The message without the field, e.g. `Required value`.
    pub body: String,
}

impl FieldError {
    /// An error that shows the offending value.
    #[must_use]
    pub fn new(cause: Cause, field: impl Into<String>, value: &Value, detail: &str) -> Self {
        let body = format!("{}: {}", cause.words(), shown(value));
        Self { cause, field: field.into(), body: with_detail(body, detail) }
    }

    /// An error that shows a value in words of its own, as the server does with values of its internal types.
    #[must_use]
    pub fn showing(cause: Cause, field: impl Into<String>, shown: &str, detail: &str) -> Self {
        let body = format!("{}: {shown}", cause.words());
        Self { cause, field: field.into(), body: with_detail(body, detail) }
    }

    /// An error that shows no value: required, forbidden, too long, internal.
    #[must_use]
    pub fn bare(cause: Cause, field: impl Into<String>, detail: &str) -> Self {
        Self { cause, field: field.into(), body: with_detail(cause.words().to_owned(), detail) }
    }

    /// `Invalid value`.
    #[must_use]
    pub fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::new(Cause::Invalid, field, value, detail)
    }

    /// `Required value`.
    #[must_use]
    pub fn required(field: impl Into<String>, detail: &str) -> Self {
        Self::bare(Cause::Required, field, detail)
    }

    /// `Forbidden`.
    #[must_use]
    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::bare(Cause::Forbidden, field, detail)
    }

    /// `Duplicate value`.
    #[must_use]
    pub fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::new(Cause::Duplicate, field, value, "")
    }

    /// `Unsupported value`, with the values that are supported.
    #[must_use]
    pub fn not_supported(field: impl Into<String>, value: &Value, supported: &[String]) -> Self {
        let quoted: Vec<String> = supported.iter().map(quote).collect();
        Self::new(Cause::NotSupported, field, value, &format!("supported values: {}", quoted.join(", ")))
    }

    /// `Too long`; the server says bytes even where it counts characters.
    #[must_use]
    pub fn too_long(field: impl Into<String>, limit: i64) -> Self {
        Self::bare(Cause::TooLong, field, &format!("may not be more than {limit} bytes"))
    }

    /// `Too many`.
    #[must_use]
    pub fn too_many(field: impl Into<String>, actual: usize, limit: i64) -> Self {
        let plural = if limit == 1 { "item" } else { "items" };
        Self::new(Cause::TooMany, field, &json!(actual), &format!("must have at most {limit} {plural}"))
    }

    /// The entry in a Status' `details.causes`.
    #[must_use]
    pub fn to_cause(&self) -> Value {
        json!({"reason": self.cause.reason(), "message": self.body, "field": self.field})
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body)
    }
}

fn with_detail(mut body: String, detail: &str) -> String {
    if !detail.is_empty() {
        body.push_str(": ");
        body.push_str(detail);
    }
    body
}

/// A value as a field error shows it: strings quoted, numbers as Go prints them, everything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.to_string(),
            (None, Some(float)) => go_float(float),
            (None, None) => number.to_string(),
        },
        other => go_json(other),
    }
}

/// JSON as Go writes it: `<`, `>` and `&` escaped.
pub(crate) fn go_json(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// A float as Go's `%v` prints it: shortest form, exponent below 1e-4 and from 1e6 on.
///
/// Go: `strconv.FormatFloat(f, 'g', -1, 64)`, which takes six digits as the border for the shortest form.
#[must_use]
pub(crate) fn go_float(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if float != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    format!("{float}")
}

/// The 422 Status of an object that does not pass.
///
/// As `k8s.io/apimachinery` 1.34 `pkg/api/errors/errors.go`, `NewInvalid`: equal messages are said once, causes are not.
#[must_use]
pub fn invalid_status(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Value {
    let qualified = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
    let mut texts: Vec<String> = Vec::new();
    for error in errors {
        let text = error.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let said = if texts.len() == 1 { texts.concat() } else { format!("[{}]", texts.join(", ")) };
    let mut details = json!({"name": name, "group": group, "kind": kind});
    if let Some(map) = details.as_object_mut() {
        map.retain(|_, value| value.as_str() != Some(""));
        map.insert("causes".to_owned(), errors.iter().map(FieldError::to_cause).collect());
    }
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": format!("{qualified} \"{name}\" is invalid: {said}"),
        "reason": "Invalid", "details": details, "code": 422,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_floats_like_go() {
        let cases = [
            (10.0, "10"),
            (1.5, "1.5"),
            (1e21, "1e+21"),
            (0.00001, "1e-05"),
            (1e6, "1e+06"),
            (123456.0, "123456"),
        ];
        for (float, text) in cases {
            assert_eq!(go_float(float), text);
        }
    }

    #[test]
    fn says_one_error_plainly_and_several_in_brackets() {
        let one = FieldError::required("spec.a", "");
        let status = invalid_status("g.io", "Kind", "x", std::slice::from_ref(&one));
        assert_eq!(status["message"], "Kind.g.io \"x\" is invalid: spec.a: Required value");
        let two = FieldError::too_many("spec.l", 3, 2);
        let status = invalid_status("", "Kind", "x", &[one, two]);
        let said =
            "Kind \"x\" is invalid: [spec.a: Required value, spec.l: Too many: 3: must have at most 2 items]";
        assert_eq!(status["message"], said);
    }
}
