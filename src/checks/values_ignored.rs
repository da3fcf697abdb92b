//! Values that the new chart does not know.

use serde_json::{Map, Value};

use super::{Context, Findings};
use crate::finding::{Evidence, Location, Severity};

declare_check! {
    /// A value that the user sets is known to the old chart and unknown to the new one.
    ///
    /// ## What breaks
    /// The new chart never reads it: the setting silently stops working.
    ///
    /// ## What to do
    /// Look for the key's new name in the new chart's values.yaml and its notes on upgrading.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// # Source: demo/values.yaml
    /// color: red
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// # Source: demo/values.yaml
    /// colour: red
    /// ```
    /// ```yaml values
    /// color: blue
    /// ```
    /// ```text finding
    /// risks: value `color` is unknown to the new chart and has no effect
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// # Source: demo/values.yaml
    /// color: red
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// # Source: demo/values.yaml
    /// color: green
    /// ```
    /// ```yaml values
    /// color: blue
    /// ```
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut unknown = Vec::new();
    let (before, after) = (&context.scene.before.chart.values, &context.scene.after.chart.values);
    walk(context.scene.values, before, after, "", &mut unknown);
    for path in unknown {
        if mentioned(context, &path) {
            continue;
        }
        let message = format!("value `{path}` is unknown to the new chart and has no effect");
        let place = Evidence::Render(Location { file: "values.yaml".to_owned(), line: 0 });
        findings.say(Severity::Risks, message, place).during(&["upgrade"]);
    }
}

// Keys that the old chart's defaults have and the new chart's lack, below maps that both have.
fn walk(
    values: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    at: &str,
    unknown: &mut Vec<String>,
) {
    for (key, value) in values {
        let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        match (before.get(key), after.get(key), value) {
            (Some(_), None, _) => unknown.push(path),
            (Some(Value::Object(old)), Some(Value::Object(new)), Value::Object(value)) if !old.is_empty() => {
                walk(value, old, new, &path, unknown);
            }
            _ => {}
        }
    }
}

// A default may be absent and the value still be read.
fn mentioned(context: &Context<'_>, path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    let templates = &context.scene.chart_after.templates;
    templates.iter().any(|file| contains_word(&String::from_utf8_lossy(&file.data), last))
}

fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(&format!(".{word}")).any(|(at, found)| {
        let next = text[at + found.len()..].chars().next();
        !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}
