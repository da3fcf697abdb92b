//! `.Files`: the chart's own files as templates read them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::glob::Glob;
use crate::chart::{Contents, File, Helm};
use crate::template::funcs::Fault;
use crate::template::object::Method;
use crate::template::types::{MapType, Type};
use crate::template::value::{Entries, GoStr, Later, Map, Value};
use crate::yaml;

/// Helm's `files` (Helm v4.3.1 `pkg/engine/files.go`): contents by path, with methods.
static FILES: MapType = MapType { name: "engine.files", elem: Type::Bytes, methods: METHODS };

static METHODS: &[Method] = &[
    Method { name: "AsConfig", func: crate::func!("AsConfig", as_config) },
    Method { name: "AsSecrets", func: crate::func!("AsSecrets", as_secrets) },
    Method { name: "Get", func: crate::func!("Get", get) },
    Method { name: "GetBytes", func: crate::func!("GetBytes", get_bytes) },
    Method { name: "Glob", func: crate::func!("Glob", glob) },
    Method { name: "Lines", func: crate::func!("Lines", lines) },
];

/// The same with an older `Lines`.
static OLD_FILES: MapType = MapType { name: "engine.files", elem: Type::Bytes, methods: OLD_METHODS };

static OLD_METHODS: &[Method] = &[
    Method { name: "AsConfig", func: crate::func!("AsConfig", as_config) },
    Method { name: "AsSecrets", func: crate::func!("AsSecrets", as_secrets) },
    Method { name: "Get", func: crate::func!("Get", get) },
    Method { name: "GetBytes", func: crate::func!("GetBytes", get_bytes) },
    Method { name: "Glob", func: crate::func!("Glob", glob) },
    Method { name: "Lines", func: crate::func!("Lines", old_lines) },
];

/// The files of a chart as a template value.
pub(super) fn value(files: &[File], helm: Helm) -> Value {
    let ty = if helm.stops_at_empty_lines() { &OLD_FILES } else { &FILES };
    let bytes = |data: &Contents| Value::Bytes(GoStr::from(std::sync::Arc::clone(data.shared())));
    let path = |file: &File| GoStr::from(file.path.as_str());
    let (packed, here): (Vec<&File>, Vec<&File>) = files.iter().partition(|file| file.data.is_packed());
    let later = packed.into_iter().map(|file| {
        let data = file.data.clone();
        (path(file), Box::new(move || bytes(&data)) as Later)
    });
    let here = here.into_iter().map(|file| (path(file), bytes(&file.data)));
    Value::Map(Map::with_later(ty, here.collect(), later.collect()))
}

fn contents(files: &Value, path: &str) -> GoStr {
    match files.as_map().and_then(|map| map.get(path)) {
        Some(Value::Bytes(data)) => data,
        _ => GoStr::from(""),
    }
}

fn get(files: &Value, path: &str) -> GoStr {
    contents(files, path)
}

fn get_bytes(files: &Value, path: &str) -> Value {
    Value::Bytes(contents(files, path))
}

fn glob(files: &Value, pattern: &str) -> Value {
    let glob = Glob::parse(pattern);
    let ty = files.as_map().map_or(&FILES, Map::ty);
    let found = files.as_map().map(|map| map.matching(|path| glob.matches(&path.lossy())));
    Value::Map(Map::new(ty, found.unwrap_or_default().into_iter().collect::<Entries>()))
}

/// Base names with their contents, as the `data` of a ConfigMap.
fn as_config(files: &Value) -> String {
    flat(files, |data| data.lossy().into_owned())
}

/// Base names with their contents in Base64, as the `data` of a Secret.
fn as_secrets(files: &Value) -> String {
    flat(files, |data| BASE64_STANDARD.encode(data))
}

fn flat(files: &Value, text: fn(&GoStr) -> String) -> String {
    let mut data = serde_json::Map::new();
    for (path, contents) in files.as_map().map(Map::snapshot).unwrap_or_default() {
        let path = path.lossy();
        let base = path.rsplit('/').next().unwrap_or(&path).to_owned();
        if let Value::Bytes(contents) = contents {
            data.insert(base, serde_json::Value::String(text(&contents)));
        }
    }
    let mut out = yaml::from_json(&serde_json::Value::Object(data));
    if out.ends_with('\n') {
        out.pop();
    }
    out
}

/// Helm looked at the last byte of every file that is there.
fn old_lines(files: &Value, path: &str) -> Result<Vec<String>, Fault> {
    let found = files.as_map().and_then(|map| map.get(path));
    if matches!(&found, Some(Value::Bytes(data)) if data.is_empty()) {
        return Err(Fault::new("runtime error: index out of range [-1]"));
    }
    Ok(lines(files, path))
}

fn lines(files: &Value, path: &str) -> Vec<String> {
    let data = contents(files, path);
    if data.is_empty() {
        return Vec::new();
    }
    let text = data.lossy();
    text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Value {
        let bytes = |text: &str| Value::Bytes(GoStr::from(text));
        let later = |path: &str, text: &'static str| {
            (GoStr::from(path), Box::new(move || Value::Bytes(GoStr::from(text))) as Later)
        };
        let later = vec![later("crds/a", "a"), later("crds/b", "b"), later("crds/c", "c")];
        Value::Map(Map::with_later(&FILES, [(GoStr::from("x"), bytes("x"))].into(), later))
    }

    #[test]
    fn files_that_are_packed_are_there_when_they_are_asked_for() {
        let all = files();
        assert_eq!(get(&all, "crds/b"), GoStr::from("b"));
        assert_eq!(get(&all, "crds/d"), GoStr::from(""));
        let found = glob(&all, "crds/[ab]");
        assert_eq!(as_config(&found), "a: a\nb: b");
        let keys = |files: &Value| {
            files
                .as_map()
                .unwrap()
                .snapshot()
                .into_iter()
                .map(|(key, _)| key.lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(keys(&all), ["crds/a", "crds/b", "crds/c", "x"]);
        assert_eq!(files().as_map().unwrap().len(), 4);
        assert!(files().as_map().unwrap().contains("crds/a"));
    }
}
