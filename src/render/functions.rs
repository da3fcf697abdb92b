//! The functions that Helm adds to Go's and Sprig's: templates in templates, YAML, JSON, TOML, cluster look-ups.

use crate::chart::Helm;
use crate::template::error::Stage;
use crate::template::funcs::json::marshal;
use crate::template::funcs::{Engine, Fault, Func, Registry, sprig};
use crate::template::types::{DICT, LIST};
use crate::template::value::{GoStr, List, Map, Value};
use crate::yaml;

use super::durations;
use super::error::WARNING;
use super::{pretty, toml_read, toml_text};

/// How often a name may be included inside itself (Helm's `recursionMaxNums`).
const INCLUDE_DEPTH: u64 = 1_000;

static COMMON: &[Func] = &[
    crate::func!(engine "include", include),
    crate::func!(engine "tpl", tpl),
    crate::func!("required", required),
    crate::func!("fail", fail),
    crate::func!(engine "lookup", lookup),
    crate::func!(engine "getHostByName", get_host_by_name),
    crate::func!("toYaml", to_yaml),
    crate::func!(engine "fromYaml", from_yaml),
    crate::func!(engine "fromYamlArray", from_yaml_array),
    crate::func!("toJson", to_json),
    crate::func!("fromJson", from_json),
    crate::func!("fromJsonArray", from_json_array),
    crate::func!("toToml", to_toml),
];

static FROM_TOML: &[Func] =
    &[crate::func!("fromToml", from_toml), crate::func!("toYamlPretty", pretty::to_yaml_pretty)];

static MUST: &[Func] = &[crate::func!("mustToYaml", must_to_yaml), crate::func!("mustToJson", must_to_json)];

static MUST_TO_TOML: &[Func] = &[crate::func!("mustToToml", must_to_toml)];

/// The functions of one Helm on top of Sprig's.
#[must_use]
pub fn registry(helm: Helm) -> Registry {
    let mut registry = sprig::add_to(Registry::go()).with(sprig::semver(helm.semver()));
    if helm.has_old_sprig() {
        registry = sprig::before_3_3(registry);
    }
    let registry = registry.without(&["env", "expandenv"]).with(COMMON);
    let families: [(bool, &'static [Func]); 4] = [
        (helm.has_from_toml(), FROM_TOML),
        (helm.has_must_to_yaml(), MUST),
        (helm.has_must_to_toml(), MUST_TO_TOML),
        (helm.has_durations(), durations::FUNCS),
    ];
    families.into_iter().filter(|(has, _)| *has).fold(registry, |all, (_, family)| all.with(family))
}

fn include(engine: &mut dyn Engine, name: &GoStr, data: &Value) -> Result<GoStr, Fault> {
    let depth = engine.counter(name);
    if *depth > INCLUDE_DEPTH {
        return Err(Fault::new(format!(
            "rendering template has a nested reference name: {name}: unable to execute template"
        )));
    }
    *depth += 1;
    let result = engine.execute(name, data);
    let depth = engine.counter(name);
    *depth = depth.saturating_sub(1);
    result.map_err(Fault::from)
}

fn tpl(engine: &mut dyn Engine, text: &GoStr, data: &Value) -> Result<GoStr, Fault> {
    match engine.execute_text(text, data) {
        Ok(out) => Ok(without_no_value(out)),
        Err(error) if error.stage == Stage::Limit => Err(Fault::from(error)),
        Err(error) => {
            let quoted = crate::go::quote(text);
            let words = match error.stage {
                Stage::Parse => format!("cannot parse template {quoted}: "),
                _ => format!("error during tpl function execution for {quoted}: "),
            };
            Err(Fault::from(error).context(&words))
        }
    }
}

/// Takes Go's `<no value>` out, as Helm does with everything it renders.
pub(super) fn without_no_value(text: GoStr) -> GoStr {
    match strip_no_value(&text) {
        Some(clean) => GoStr::from(clean),
        None => text,
    }
}

/// The text without `<no value>`; `None` where there is none.
pub(super) fn strip_no_value(text: &[u8]) -> Option<Vec<u8>> {
    const MARK: &[u8] = b"<no value>";
    let marks = memchr::memmem::Finder::new(MARK);
    let mut at = marks.find(text)?;
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    loop {
        let (before, after) = rest.split_at_checked(at)?;
        out.extend_from_slice(before);
        rest = after.strip_prefix(MARK)?;
        match marks.find(rest) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.extend_from_slice(rest);
    Some(out)
}

fn marked(message: &str) -> Fault {
    Fault::new(format!("{}{message}{}", WARNING.0, WARNING.1))
}

fn required(message: &str, value: &Value) -> Result<Value, Fault> {
    let empty = value.as_str().is_some_and(|text| text.is_empty());
    if matches!(value, Value::Nil) || empty { Err(marked(message)) } else { Ok(value.clone()) }
}

fn fail(message: &str) -> Result<String, Fault> {
    Err(marked(message))
}

fn lookup(
    engine: &mut dyn Engine,
    api_version: &str,
    kind: &str,
    namespace: &str,
    name: &str,
) -> Result<Map, Fault> {
    match engine.host().lookup(api_version, kind, namespace, name).map_err(Fault::new)? {
        Value::Map(map) => Ok(map),
        _ => Ok(Map::dict()),
    }
}

fn get_host_by_name(engine: &mut dyn Engine, name: &str) -> String {
    engine.host().resolve(name)
}

/// YAML without its last line break; empty for what has no YAML.
fn to_yaml(value: &Value) -> String {
    must_to_yaml(value).unwrap_or_default()
}

fn must_to_yaml(value: &Value) -> Result<String, Fault> {
    let json = value.to_json().map_err(|fault| fault.context("error marshaling into JSON: "))?;
    let mut text = yaml::from_json(&json);
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

/// A map whose only entry tells what went wrong.
fn error_map(message: &str) -> Map {
    let map = Map::dict();
    map.set("Error", message);
    map
}

/// Reads the first document of a text.
fn from_yaml(engine: &mut dyn Engine, text: &str) -> Map {
    match yaml::to_json(text.as_bytes(), engine.limits()) {
        Err(error) => error_map(&error.message),
        Ok(json) => match &json {
            serde_json::Value::Null => Map::dict(),
            serde_json::Value::Object(_) => as_map(&json),
            other => error_map(&refused(other, "map[string]interface {}")),
        },
    }
}

fn from_yaml_array(engine: &mut dyn Engine, text: &str) -> Vec<Value> {
    match yaml::to_json(text.as_bytes(), engine.limits()) {
        Err(error) => vec![Value::str(error.message)],
        Ok(serde_json::Value::Null) => Vec::new(),
        Ok(serde_json::Value::Array(items)) => items.iter().map(Value::from_json).collect(),
        Ok(other) => vec![Value::str(refused(&other, "[]interface {}"))],
    }
}

/// What decoding into another type answers.
fn refused(value: &serde_json::Value, wanted: &str) -> String {
    let found = crate::chart::go_json::kind(value);
    let message = format!("cannot unmarshal {found} into Go value of type {wanted}");
    crate::chart::go_json::unmarshal(&message).message
}

fn as_map(json: &serde_json::Value) -> Map {
    match Value::from_json(json) {
        Value::Map(map) => map,
        _ => Map::dict(),
    }
}

fn to_json(value: &Value) -> GoStr {
    must_to_json(value).unwrap_or_else(|_| GoStr::from(""))
}

fn must_to_json(value: &Value) -> Result<GoStr, Fault> {
    marshal(value)
}

fn from_json(text: &str) -> Map {
    match yaml::json::decode(text.as_bytes()) {
        Err(error) => error_map(&error.message),
        Ok(json) => match &json {
            serde_json::Value::Null => Map::nil(&DICT),
            serde_json::Value::Object(_) => as_map(&json),
            other => error_map(&refused_json(other, "map[string]interface {}")),
        },
    }
}

fn from_json_array(text: &str) -> List {
    List::from(match yaml::json::decode(text.as_bytes()) {
        Err(error) => vec![Value::str(error.message)],
        Ok(serde_json::Value::Null) => return List::nil(&LIST),
        Ok(serde_json::Value::Array(items)) => items.iter().map(Value::from_json).collect(),
        Ok(other) => vec![Value::str(refused_json(&other, "[]interface {}"))],
    })
}

fn refused_json(value: &serde_json::Value, wanted: &str) -> String {
    let found = crate::chart::go_json::kind(value);
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}

/// TOML, or the error's text.
fn to_toml(value: &Value) -> Result<String, Fault> {
    match must_to_toml(value) {
        Err(fault) if !matches!(value, Value::Nil) => Ok(fault.message),
        written => written,
    }
}

fn must_to_toml(value: &Value) -> Result<String, Fault> {
    toml_text::encode(value)
}

fn from_toml(text: &[u8]) -> Result<Map, Fault> {
    Ok(toml_read::decode(text)?.unwrap_or_else(|message| error_map(&message)))
}
