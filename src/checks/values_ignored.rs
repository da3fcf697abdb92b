//! Values that the new chart does not know, or neither chart.

use serde_json::{Map, Value};

use super::{Context, Findings};
use crate::chart::Chart;
use crate::finding::{Evidence, Location, Severity};

declare_check! {
    /// A value that the user sets is known to the old chart and unknown to the new one.
    ///
    /// ## What breaks
    /// The new chart never reads it: the setting silently stops working. A value that neither chart mentions never worked:
    /// most likely it is misspelt.
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
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// # Source: demo/values.yaml
    /// widgets: {enabled: true}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// # Source: demo/values.yaml
    /// widgets: {enabled: true}
    /// ```
    /// ```yaml values
    /// widget: {enabled: false}
    /// ```
    /// ```text finding
    /// notes: value `widget` is mentioned by neither chart and has no effect; there is `widgets`
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
    for one in unknown {
        let place = Evidence::Render(Location { file: "values.yaml".to_owned(), line: 0 });
        match one {
            Unknown::ToNew(path) if !mentioned(context.scene.chart_after, &path) => {
                let message = format!("value `{path}` is unknown to the new chart and has no effect");
                findings.say(Severity::Risks, message, place).during(&["upgrade"]);
            }
            Unknown::ToBoth(path, like) if !anywhere(context, &path) => {
                let like = like.map_or_else(String::new, |like| format!("; there is `{like}`"));
                let message = format!("value `{path}` is mentioned by neither chart and has no effect{like}");
                findings.say(Severity::Notes, message, place);
            }
            _ => {}
        }
    }
}

/// The path of a value that a chart's defaults lack.
enum Unknown {
    ToNew(String),
    /// With the most similar path that the new chart has.
    ToBoth(String, Option<String>),
}

// Keys that the new chart's defaults lack, below maps that both have.
fn walk(
    values: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    at: &str,
    unknown: &mut Vec<Unknown>,
) {
    let below = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    for (key, value) in values {
        match (before.get(key), after.get(key), value) {
            (Some(_), None, _) => unknown.push(Unknown::ToNew(below(key))),
            (None, None, _) => {
                unknown.push(Unknown::ToBoth(below(key), similar(key, after).map(|like| below(&like))));
            }
            (Some(Value::Object(old)), Some(Value::Object(new)), Value::Object(value))
                if !old.is_empty() && !new.is_empty() =>
            {
                walk(value, old, new, &below(key), unknown);
            }
            _ => {}
        }
    }
}

/// How alike two keys have to be to be taken for each other.
const ALIKE: f32 = 0.8;

fn similar(key: &str, among: &Map<String, Value>) -> Option<String> {
    let ratio = |other: &String| similar::TextDiff::from_chars(key, other.as_str()).ratio();
    let rated = among.keys().map(|other| (ratio(other), other)).filter(|(ratio, _)| *ratio >= ALIKE);
    rated.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, other)| other.clone())
}

/// Whether any chart or subchart may read a value that no defaults have.
fn anywhere(context: &Context<'_>, path: &str) -> bool {
    let first = path.split('.').next().unwrap_or(path);
    [context.scene.chart_before, context.scene.chart_after].into_iter().any(|chart| {
        let known = chart.metadata.dependencies.iter().any(|one| one.name == first || one.alias == first);
        let inside = chart.dependencies.iter().any(|one| one.metadata.name == first);
        first == "global" || known || inside || mentioned(chart, path)
    })
}

// A default may be absent and the value still be read.
fn mentioned(chart: &Chart, path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    let quoted = format!("\"{last}\"");
    chart.templates.iter().any(|file| {
        let text = String::from_utf8_lossy(&file.data);
        contains_word(&text, last) || text.contains(&quoted)
    })
}

fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(&format!(".{word}")).any(|(at, found)| {
        let next = text[at + found.len()..].chars().next();
        !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}
