//! Decoding of built-in kinds: unknown fields go, types are checked, empty values become what Go makes of them.

use serde_json::{Map, Value, json};

use super::types::{Empty, Scalar, Struct, Type};

/// Brings a built-in object into the form the server decodes it to; returns the paths of unknown fields.
///
/// # Errors
/// The decoder's words for a value of the wrong type, to follow `… cannot be handled as a …: `.
pub fn decode(of: &Type, object: &mut Value) -> Result<Vec<String>, String> {
    let mut walk = Walk { unknown: Vec::new() };
    walk.value(of, object, None)?;
    Ok(walk.unknown)
}

/// The way to a value; its text is made only for what has to be said.
#[derive(Clone, Copy)]
struct Place<'p> {
    above: Option<&'p Place<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    /// A field and the Go struct it belongs to.
    Field(&'p str, &'p str),
    /// A key of a map.
    Key(&'p str),
    /// A position in a list.
    Item(usize),
}

impl Place<'_> {
    /// The JSON path, as unknown fields are named.
    fn path(&self) -> String {
        let above = self.above.map(Place::path).unwrap_or_default();
        match self.step {
            Step::Item(at) => format!("{above}[{at}]"),
            Step::Field(name, _) | Step::Key(name) if above.is_empty() => name.to_owned(),
            Step::Field(name, _) | Step::Key(name) => format!("{above}.{name}"),
        }
    }

    /// The Go struct field, as errors name it: the innermost struct and all fields on the way.
    fn go(&self) -> String {
        let mut fields = Vec::new();
        let mut of = "";
        let mut place = Some(self);
        while let Some(here) = place {
            if let Step::Field(name, owner) = here.step {
                fields.push(name);
                of = if of.is_empty() { owner } else { of };
            }
            place = here.above;
        }
        fields.push(of);
        fields.reverse();
        fields.join(".")
    }
}

struct Walk {
    unknown: Vec<String>,
}

impl Walk {
    fn value(&mut self, of: &Type, value: &mut Value, at: Option<&Place<'_>>) -> Result<(), String> {
        let go = || at.map(Place::go).unwrap_or_default();
        match (of.resolve(), value) {
            (Type::Struct(of), Value::Object(object)) => self.structure(of, object, at),
            (Type::Map(of), Value::Object(object)) => {
                for (name, child) in object.iter_mut() {
                    if child.is_null() && matches!(of.value, Type::Scalar(Scalar::String)) {
                        *child = json!("");
                    }
                    self.value(&of.value, child, Some(&Place { above: at, step: Step::Key(name) }))?;
                }
                Ok(())
            }
            (Type::List(of), Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(&of.item, item, Some(&Place { above: at, step: Step::Item(index) }))?;
                }
                Ok(())
            }
            (Type::Scalar(scalar), value) => check_scalar(*scalar, value, &go),
            (Type::Struct(of), other) if !other.is_null() => Err(mismatch(other, &go(), &of.name)),
            (Type::Map(_), other) if !other.is_null() => Err(mismatch(other, &go(), "map[string]string")),
            (Type::List(of), other) if !other.is_null() => {
                Err(mismatch(other, &go(), &format!("[]{}", go_type(&of.item))))
            }
            _ => Ok(()),
        }
    }

    fn structure(
        &mut self,
        of: &Struct,
        object: &mut Map<String, Value>,
        at: Option<&Place<'_>>,
    ) -> Result<(), String> {
        let mut gone = Vec::new();
        for (name, child) in object.iter_mut() {
            let here = Place { above: at, step: Step::Field(name, &of.name) };
            let Some(field) = of.fields.get(name) else {
                self.unknown.push(here.path());
                gone.push(name.clone());
                continue;
            };
            self.value(&field.of, child, Some(&here))?;
            if child.is_null() || (field.empty == Empty::LeftOut && is_empty(child)) {
                gone.push(name.clone());
            }
        }
        for name in gone {
            object.remove(&name);
        }
        for (name, field) in of.fields.iter().filter(|(_, f)| f.empty == Empty::Shown) {
            if !object.contains_key(name) && name != "metadata" && name != "apiVersion" && name != "kind" {
                let mut zero = zero(&field.of);
                self.value(&field.of, &mut zero, at)?;
                object.insert(name.clone(), zero);
            }
        }
        Ok(())
    }
}

fn zero(of: &Type) -> Value {
    match of.resolve() {
        Type::Scalar(Scalar::Bool) => json!(false),
        Type::Scalar(Scalar::Int32 | Scalar::Int64 | Scalar::Number) => json!(0),
        Type::Scalar(_) => json!(""),
        _ => json!({}),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

fn check_scalar(scalar: Scalar, value: &mut Value, place: &dyn Fn() -> String) -> Result<(), String> {
    let fits = match scalar {
        Scalar::String | Scalar::Time => value.is_string(),
        Scalar::Bytes => return check_bytes(value, place),
        Scalar::Bool => value.is_boolean(),
        Scalar::Int32 => value.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
        Scalar::Int64 => value.is_i64(),
        Scalar::Number => value.is_number(),
        Scalar::Quantity => return quantity(value),
        Scalar::Untyped => return Ok(()),
    };
    if fits || value.is_null() { Ok(()) } else { Err(mismatch(value, &place(), scalar_name(scalar))) }
}

/// Brings a quantity into its canonical form.
fn quantity(value: &mut Value) -> Result<(), String> {
    let text = match &*value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Ok(()),
    };
    *value = json!(super::quantity::canonical(&text)?);
    Ok(())
}

fn check_bytes(value: &Value, place: &dyn Fn() -> String) -> Result<(), String> {
    use base64::Engine as _;
    match value {
        Value::Null => Ok(()),
        Value::String(text) => {
            let clean: String = text.chars().filter(|c| *c != '\n' && *c != '\r').collect();
            base64::engine::general_purpose::STANDARD.decode(&clean).map(drop).map_err(|error| {
                let at = match error {
                    base64::DecodeError::InvalidByte(at, _) => at,
                    _ => clean.len(),
                };
                format!("illegal base64 data at input byte {at}")
            })
        }
        other => Err(mismatch(other, &place(), "[]uint8")),
    }
}

fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::Int32 => "int32",
        Scalar::Int64 => "int64",
        Scalar::Number => "float64",
        Scalar::String | Scalar::Bytes | Scalar::Time | Scalar::Quantity | Scalar::Untyped => "string",
    }
}

fn go_type(of: &Type) -> String {
    match of.resolve() {
        Type::Scalar(scalar) => scalar_name(*scalar).to_owned(),
        Type::Struct(of) => of.name.clone(),
        _ => "interface {}".to_owned(),
    }
}

fn mismatch(value: &Value, place: &str, wanted: &str) -> String {
    let found = match value {
        Value::String(_) => "string".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_f64() || wanted == "int32" => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
        Value::Null => "null".to_owned(),
    };
    format!("json: cannot unmarshal {found} into Go struct field {place} of type {wanted}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::types::builtin;

    #[test]
    fn unknown_and_empty_fields_go() {
        let of = builtin("apps/v1", "Deployment").unwrap();
        let mut object = json!({ "spec": { "nope": 1, "paused": false, "template": { "spec": {
            "containers": [{ "name": "a", "args": [], "imagee": "b" }], "automountServiceAccountToken": false } } } });
        let unknown = decode(&of, &mut object).unwrap();
        assert_eq!(unknown, ["spec.nope", "spec.template.spec.containers[0].imagee"]);
        assert_eq!(object["spec"].get("paused"), None);
        let pod = &object["spec"]["template"]["spec"];
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["containers"][0], json!({ "name": "a", "resources": {} }));
        assert_eq!(object["status"], json!({}));
    }

    #[test]
    fn wrong_types_name_the_go_field() {
        let of = builtin("apps/v1", "Deployment").unwrap();
        let error = decode(&of, &mut json!({ "spec": { "replicas": "3" } })).unwrap_err();
        let expected =
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32";
        assert_eq!(error, expected);
        let of = builtin("v1", "ConfigMap").unwrap();
        let error = decode(&of, &mut json!({ "data": { "k": 1 } })).unwrap_err();
        assert_eq!(error, "json: cannot unmarshal number into Go struct field ConfigMap.data of type string");
    }
}
