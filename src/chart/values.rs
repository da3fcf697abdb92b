//! Merging values: a chart's defaults under the user's, globals down into subcharts, nulls by each Helm's rules.

use serde_json::{Map, Value};

use super::go_text::print;
use super::helm::Helm;
use super::notice::Notices;
use super::{Chart, Error, Values};
use crate::go::quote;
use crate::limits::Limits;
use crate::yaml;

/// The key whose map is handed down to every subchart.
pub const GLOBAL: &str = "global";

/// Decodes a values file, or a chart's values.yaml.
///
/// # Errors
/// In Helm's words: Helm 4 reads several documents and says so in its messages.
pub fn decode(text: &[u8], helm: Helm, limits: &Limits) -> Result<Values, Error> {
    if !helm.reads_document_streams() {
        return yaml::to_values(text, limits).map_err(|error| Error::new(error.message));
    }
    let mut values = Values::new();
    let (documents, end) = stream(text);
    for document in documents {
        let next = yaml::to_values(&document, limits)
            .map_err(|error| Error::new(format!("cannot unmarshal yaml document: {error}")))?;
        overlay(&mut values, next);
    }
    end.map(|()| values)
}

/// Splits a stream as the reader of `k8s.io/apimachinery` `pkg/util/yaml` does: the documents, and why there are no more.
fn stream(text: &[u8]) -> (Vec<Vec<u8>>, Result<(), Error>) {
    let (mut documents, mut current) = (Vec::new(), Vec::new());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(rest) = line.strip_prefix(b"---") {
            let rest = String::from_utf8_lossy(rest).trim().to_owned();
            if !rest.is_empty() && !rest.starts_with('#') {
                let message = format!("error reading yaml document: invalid Yaml document separator: {rest}");
                return (documents, Err(Error::new(message)));
            }
            if !current.is_empty() {
                documents.push(std::mem::take(&mut current));
                continue;
            }
        }
        current.extend_from_slice(line);
        current.push(b'\n');
    }
    if !current.is_empty() {
        documents.push(current);
    }
    (documents, Ok(()))
}

/// Lays one values file over another: maps are merged, everything else is replaced.
pub fn overlay(base: &mut Values, over: Values) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => overlay(old, new),
            (_, value) => drop(base.insert(key, value)),
        }
    }
}

/// The user's values over a chart's defaults and those of its subcharts, as templates see them.
///
/// As Helm v4.3.1 `pkg/chart/common/util/coalesce.go` `CoalesceValues`, with the null rules of `notices`' Helm.
///
/// # Errors
/// When a subchart's values are no map.
pub fn coalesce(chart: &Chart, values: &Values, notices: &mut Notices) -> Result<Values, Error> {
    Coalesce { merge: false, notices }.whole(chart, values)
}

/// Like [`coalesce`], but every null stays (`MergeValues`).
///
/// # Errors
/// When a subchart's values are no map.
pub fn merge(chart: &Chart, values: &Values, notices: &mut Notices) -> Result<Values, Error> {
    Coalesce { merge: true, notices }.whole(chart, values)
}

/// Lays `over` over `under`, keeping nulls (`MergeTables`).
pub fn merge_tables(over: &mut Values, under: Values, notices: &mut Notices) {
    Coalesce { merge: true, notices }.tables(over, under, "", true);
}

/// Lays `over` over `under`, a null removing the key (`CoalesceTables`); what `--reuse-values` does.
pub fn coalesce_tables(over: &mut Values, under: Values, notices: &mut Notices) {
    Coalesce { merge: false, notices }.tables(over, under, "", false);
}

/// The map at a dotted path, or the name that was not found.
///
/// # Errors
/// The part of the path that is no map.
pub fn table<'v>(values: &'v Values, path: &str) -> Result<&'v Values, String> {
    let mut table = values;
    for part in path.split('.') {
        table = table.get(part).and_then(Value::as_object).ok_or_else(|| part.to_owned())?;
    }
    Ok(table)
}

/// The value at a dotted path that is no map.
#[must_use]
pub fn leaf<'v>(values: &'v Values, path: &str) -> Option<&'v Value> {
    let (table, key) = match path.rsplit_once('.') {
        Some((parents, key)) => (self::table(values, parents).ok()?, key),
        None => (values, path),
    };
    table.get(key).filter(|value| !value.is_object())
}

struct Coalesce<'n> {
    /// Whether nulls are kept at the outermost level.
    merge: bool,
    notices: &'n mut Notices,
}

impl Coalesce<'_> {
    fn whole(&mut self, chart: &Chart, values: &Values) -> Result<Values, Error> {
        let mut merged = values.clone();
        self.chart(chart, &mut merged, "")?;
        hand_down_shared(chart, &mut merged);
        Ok(merged)
    }

    fn chart(&mut self, chart: &Chart, values: &mut Values, prefix: &str) -> Result<(), Error> {
        self.defaults(chart, values, prefix);
        let prefix = join(prefix, &chart.metadata.name);
        for subchart in &chart.dependencies {
            self.subchart(subchart, values, &prefix)?;
        }
        Ok(())
    }

    fn subchart(&mut self, subchart: &Chart, values: &mut Values, prefix: &str) -> Result<(), Error> {
        let name = &subchart.metadata.name;
        let mut own = match values.remove(name) {
            None => Values::new(),
            Some(Value::Object(own)) => own,
            Some(other) => {
                // Go prints the value with `%t`, which only suits booleans.
                let printed = match &other {
                    Value::Bool(flag) => flag.to_string(),
                    other => bad_verb(other),
                };
                values.insert(name.clone(), other);
                return Err(Error::new(format!("type mismatch on {name}: {printed}")));
            }
        };
        self.globals(&mut own, values, prefix);
        let result = self.chart(subchart, &mut own, prefix);
        share(&own, values);
        values.insert(name.clone(), Value::Object(own));
        result
    }

    /// Hands the parent's globals down.
    fn globals(&mut self, child: &mut Values, parent: &Values, prefix: &str) {
        let log = |notices: &mut Notices, place, side| {
            notices.log(place, &format!("warning: skipping globals because {side} {GLOBAL} is not a table."));
        };
        let mut own = match child.get(GLOBAL) {
            None => Values::new(),
            Some(Value::Object(own)) => own.clone(),
            Some(_) => return log(self.notices, "coalesce.go:138", "destination"),
        };
        match parent.get(GLOBAL) {
            None => {}
            Some(Value::Object(given)) => {
                for (key, value) in given {
                    self.global(&mut own, key, value, prefix);
                }
            }
            Some(_) => return log(self.notices, "coalesce.go:145", "source"),
        }
        child.insert(GLOBAL.to_owned(), Value::Object(own));
    }

    fn global(&mut self, own: &mut Values, key: &str, value: &Value, prefix: &str) {
        match (value, own.get(key)) {
            (Value::Object(given), Some(Value::Object(existing))) => {
                let (mut given, existing) = (given.clone(), existing.clone());
                self.tables(&mut given, existing, &join(prefix, key), true);
                own.insert(key.to_owned(), Value::Object(given));
            }
            (Value::Object(_), Some(_)) => {
                let text = format!("Conflict: cannot merge map onto non-map for {}. Skipping.", quote(key));
                self.notices.log("coalesce.go:161", &text);
            }
            (value, Some(Value::Object(_))) if !value.is_object() => {
                self.notices.log("coalesce.go:175", &format!("key {key} is table. Skipping"));
            }
            (value, _) => drop(own.insert(key.to_owned(), value.clone())),
        }
    }

    /// Lays values over one chart's own defaults.
    fn defaults(&mut self, chart: &Chart, values: &mut Values, prefix: &str) {
        let prefix = join(prefix, &chart.metadata.name);
        let clean = self.notices.helm().drops_default_nulls();
        let keeps = self.notices.helm().keeps_nulls_for_subcharts();
        for (key, default) in &chart.values {
            match values.get_mut(key) {
                Some(Value::Null) if !self.merge => drop(values.remove(key)),
                Some(Value::Object(own)) => match default {
                    Value::Object(default) => {
                        let merge = self.merge
                            || keeps && chart.dependencies.iter().any(|sub| sub.metadata.name == *key);
                        let mut under = default.clone();
                        if clean && !merge {
                            remove_nulls(&mut under);
                        }
                        self.tables(own, under, &join(&prefix, key), merge);
                    }
                    Value::Null => {}
                    _ => {
                        let text = format!("warning: skipped value for {prefix}.{key}: Not a table.");
                        self.notices.log("coalesce.go:237", &text);
                    }
                },
                Some(_) => {}
                None => add_default(values, key, default, clean && !self.merge),
            }
        }
    }

    /// Lays `over` over `under`; with `merge` nulls are kept.
    fn tables(&mut self, over: &mut Values, under: Values, prefix: &str, merge: bool) {
        let helm = self.notices.helm();
        let mut under = under;
        if !merge && helm.drops_all_nested_nulls() {
            under.retain(|key, _| !over.get(key).is_some_and(Value::is_null));
            over.retain(|_, value| !value.is_null());
        }
        for (key, value) in under {
            match over.get_mut(&key) {
                None => drop(over.insert(key, value)),
                Some(Value::Null) if !merge => {
                    if !value.is_null() || helm.takes_nulls_for_any_default() {
                        over.remove(&key);
                    }
                }
                Some(Value::Null) if !value.is_object() || !helm.takes_nulls_for_any_default() => {}
                Some(Value::Object(own)) => match value {
                    Value::Object(value) => self.tables(own, value, &join(prefix, &key), merge),
                    Value::Null => {}
                    other => self.log_ignored(&join(prefix, &key), &other),
                },
                Some(_) => {
                    if value.is_object() {
                        self.log_kept(&join(prefix, &key), &value);
                    }
                }
            }
        }
    }

    fn log_kept(&mut self, key: &str, value: &Value) {
        let text = format!("warning: cannot overwrite table with non table for {key} ({})", print(value));
        self.notices.log("coalesce.go:316", &text);
    }

    fn log_ignored(&mut self, key: &str, value: &Value) {
        let text =
            format!("warning: destination for {key} is a table. Ignoring non-table value ({})", print(value));
        self.notices.log("coalesce.go:319", &text);
    }
}

/// Copies what a subchart added to its parent's globals back up.
///
/// Go copies globals one level deep, so maps below that are one object for the parent and all its subcharts.
fn share(child: &Values, parent: &mut Values) {
    let (Some(Value::Object(from)), Some(Value::Object(to))) = (child.get(GLOBAL), parent.get_mut(GLOBAL))
    else {
        return;
    };
    for (key, value) in to {
        let (Value::Object(to), Some(Value::Object(from))) = (value, from.get(key)) else { continue };
        for (key, value) in to.iter_mut().filter(|(_, value)| value.is_object()) {
            if let Some(shared @ Value::Object(_)) = from.get(key) {
                value.clone_from(shared);
            }
        }
    }
}

/// Gives every subchart the final state of the global maps it shares with its parent.
fn hand_down_shared(chart: &Chart, values: &mut Values) {
    for subchart in &chart.dependencies {
        let name = &subchart.metadata.name;
        let Some(Value::Object(mut own)) = values.remove(name) else { continue };
        share(values, &mut own);
        hand_down_shared(subchart, &mut own);
        values.insert(name.clone(), Value::Object(own));
    }
}

fn add_default(values: &mut Values, key: &str, default: &Value, clean: bool) {
    if clean && default.is_null() {
        return;
    }
    let mut default = default.clone();
    if let (true, Value::Object(map)) = (clean, &mut default) {
        remove_nulls(map);
    }
    values.insert(key.to_owned(), default);
}

fn remove_nulls(values: &mut Map<String, Value>) {
    values.retain(|_, value| !value.is_null());
    for value in values.values_mut() {
        if let Value::Object(map) = value {
            remove_nulls(map);
        }
    }
}

fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

/// How Go's `%t` prints what is no boolean.
fn bad_verb(value: &Value) -> String {
    match value {
        Value::Null => "%!t(<nil>)".to_owned(),
        Value::String(text) => format!("%!t(string={text})"),
        Value::Number(number) if number.is_f64() => format!("%!t(float64={})", print(value)),
        Value::Number(_) => format!("%!t(int64={})", print(value)),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(bad_item).collect::<Vec<_>>().join(" "))
        }
        other => print(other),
    }
}

fn bad_item(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        other => bad_verb(other),
    }
}

#[cfg(test)]
mod tests;
