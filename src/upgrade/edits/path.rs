//! Where a field is in an object: by keys of maps, and by what tells the items of a list apart.

use std::fmt;

use serde_json::Value;

/// One step down.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// A member of a map.
    Key(String),
    /// The item of a list in which these members have these values; a missing one counts as its default.
    Item(Vec<(String, Value)>, Vec<Option<Value>>),
}

impl Part {
    /// The item of a list that is meant.
    pub(super) fn among<'v>(&self, items: &'v [Value]) -> Option<&'v Value> {
        let Self::Item(of, defaults) = self else { return None };
        items.iter().find(|item| is_item(item, of, defaults))
    }
}

/// A way down from the object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Path(Vec<Part>);

impl Path {
    /// One step further.
    pub(super) fn then(&self, part: Part) -> Self {
        Self(self.0.iter().cloned().chain([part]).collect())
    }

    /// A member further.
    pub(super) fn member(&self, key: &str) -> Self {
        self.then(Part::Key(key.to_owned()))
    }

    /// Whether it leads to a member of which something is true.
    pub(super) fn ends_with(&self, is: impl Fn(&str) -> bool) -> bool {
        matches!(self.0.last(), Some(Part::Key(key)) if is(key))
    }

    /// What an object has there.
    pub(super) fn follow<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(object, |value, part| match part {
            Part::Key(key) => value.get(key),
            item @ Part::Item(..) => item.among(value.as_array()?),
        })
    }

    /// Whether a `fieldsV1` names the field, or something above it as one value.
    pub(super) fn is_owned(&self, fields: &Value) -> bool {
        let mut fields = fields;
        for part in &self.0 {
            let below = match part {
                Part::Key(key) => fields.get(format!("f:{key}")),
                Part::Item(of, _) => item_fields(fields, of),
            };
            match below {
                None => return false,
                Some(Value::Object(map)) if map.is_empty() => return true,
                Some(below) => fields = below,
            }
        }
        true
    }
}

fn is_item(item: &Value, of: &[(String, Value)], defaults: &[Option<Value>]) -> bool {
    of.iter().zip(defaults).all(|((key, value), default)| item.get(key).or(default.as_ref()) == Some(value))
}

/// The fields of an item, whose key is written `k:{"name":"manager"}`.
fn item_fields<'f>(fields: &'f Value, of: &[(String, Value)]) -> Option<&'f Value> {
    let named = |text: &str| {
        let key: Value = serde_json::from_str(text.strip_prefix("k:")?).ok()?;
        of.iter().all(|(name, value)| key.get(name) == Some(value)).then_some(())
    };
    fields.as_object()?.iter().find(|(text, _)| named(text).is_some()).map(|(_, below)| below)
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            match part {
                Part::Key(key) if key.contains(['.', '/', '[']) => write!(f, "[\"{key}\"]")?,
                Part::Key(key) if at == 0 => f.write_str(key)?,
                Part::Key(key) => write!(f, ".{key}")?,
                Part::Item(of, _) => {
                    let values =
                        of.iter().map(|(_, value)| value.as_str().map_or(value.to_string(), str::to_owned));
                    write!(f, "[{}]", values.collect::<Vec<_>>().join(","))?;
                }
            }
        }
        Ok(())
    }
}
