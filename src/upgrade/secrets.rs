//! Values of Secrets, and texts without them: what a rehearsal says is read by more people than its cluster is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::chart::{Chart, Values};
use crate::k8s::At as _;
use crate::k8s::{self, text};
use crate::render::{Options, Render};
use crate::upgrade::actors::Renderer;
use crate::upgrade::outcome::{Outcome, Rehearsal};
use crate::upgrade::trace::Step;

/// What stands where a value stood.
const HIDDEN: &str = "(redacted)";

/// Shortest value that is looked for everywhere, in characters: shorter ones are words of any text.
const SHORTEST: usize = 4;

/// From this length on a value is also found inside longer words.
const LONG: usize = 8;

/// Shortest line of a value of several lines that counts as a value of its own.
const LINE: usize = 12;

/// Words of every report, whatever a Secret holds.
const COMMON: &[&str] =
    &["true", "false", "null", "none", "default", "Secret", "data", "stringData", "Opaque"];

/// The values of all Secrets that were met so far; copies share them.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    values: BTreeSet<String>,
    /// Names, kinds, keys and images: they are said aloud, so that a value that is part of one can't be hidden.
    words: BTreeSet<String>,
}

impl Secrets {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the values of an object that is a Secret, or a list with Secrets.
    pub fn add(&self, object: &Value) {
        for item in object.get("items").and_then(Value::as_array).into_iter().flatten() {
            self.add(item);
        }
        // Release records are huge, and nobody quotes them.
        if text(object, "/kind") != "Secret" || text(object, "/type").starts_with("helm.sh/") {
            return;
        }
        for contents in CONTENTS.iter().filter_map(|field| object.get(field)) {
            let known = &mut *self.lock();
            collect(contents, &mut known.values);
            known.words.extend(contents.as_object().into_iter().flatten().map(|(key, _)| key.clone()));
        }
        let applied = k8s::annotation(object, LAST_APPLIED).and_then(|text| serde_json::from_str(text).ok());
        if let Some(applied @ Value::Object(_)) = applied {
            self.add(&applied);
        }
    }

    /// Remembers what a patch of a Secret sets.
    pub fn add_patch(&self, patch: &Value) {
        let mut values = BTreeSet::new();
        for operation in patch.as_array().into_iter().flatten().filter(|operation| sets_contents(operation)) {
            collect(operation.get("value").unwrap_or(&Value::Null), &mut values);
        }
        for field in CONTENTS {
            collect(patch.get(field).unwrap_or(&Value::Null), &mut values);
        }
        self.lock().values.extend(values);
    }

    /// Remembers the Secrets of a render, and the names that it makes known.
    pub fn add_render(&self, render: &Render) {
        let metadata = &render.chart.metadata;
        self.lock().words.extend([metadata.name.clone(), metadata.version.clone()]);
        let hooks = render.hooks.iter().map(|hook| &hook.manifest);
        for manifest in render.manifests.iter().chain(hooks) {
            self.add_object(&manifest.object);
        }
        for file in render.crds.iter().filter(|file| memchr::memmem::find(&file.data, b"Secret").is_some()) {
            file.objects.iter().for_each(|object| self.add(object));
        }
    }

    fn add_object(&self, object: &Value) {
        self.add(object);
        let name = k8s::object_name(object);
        let known = &mut self.lock().words;
        if name.kind != "CustomResourceDefinition" {
            images(object, known);
        }
        known.extend([name.kind, name.namespace, name.name]);
    }

    /// What hides these values in texts.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        let known = self.lock();
        let mut all: BTreeSet<String> = known.values.iter().flat_map(|value| forms(value)).collect();
        let short = |form: &str| form.chars().count() < SHORTEST;
        let said = |form: &str| known.words.iter().any(|word| word.contains(form));
        all.retain(|form| !COMMON.contains(&form.as_str()) && !known.words.contains(form));
        all.retain(|form| !short(form) || !said(form));
        let rare = |form: &&String| !short(form) && !said(form);
        Redactor { rare: Finder::new(all.iter().filter(rare)), all: Finder::new(all.iter()) }
    }

    /// Hides the values in everything that a rehearsal says.
    pub fn redact(&self, rehearsal: &mut Rehearsal) {
        for name in &rehearsal.population {
            self.lock().words.extend([name.kind.clone(), name.namespace.clone(), name.name.clone()]);
        }
        let redactor = self.redactor();
        redactor.lines(&mut rehearsal.obstacle);
        rehearsal.origins.iter_mut().for_each(|origin| redactor.lines(&mut origin.error));
        for way in &mut rehearsal.ways {
            way.prepare.iter_mut().chain(&mut way.afterwards).for_each(|line| redactor.text(line));
            let outcomes = way.operations.iter_mut().flat_map(|operation| &mut operation.outcomes);
            outcomes.for_each(|outcome| redactor.outcome(outcome));
        }
    }
}

/// Where a Secret has its contents.
const CONTENTS: [&str; 2] = ["data", "stringData"];

/// Where kubectl keeps the object that was applied last, contents included.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn collect(value: &Value, values: &mut BTreeSet<String>) {
    match value {
        Value::Null => {}
        Value::String(text) if values.contains(text) => {}
        Value::String(text) => _ = values.insert(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, values)),
        Value::Object(map) => map.values().for_each(|item| collect(item, values)),
        plain => _ = values.insert(plain.to_string()),
    }
}

fn images(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| images(item, words)),
        Value::Object(map) => {
            words.extend(map.get("image").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|item| images(item, words));
        }
        _ => {}
    }
}

/// Every form in which a value may be quoted: as it is, decoded and encoded, each also by line.
fn forms(value: &str) -> BTreeSet<String> {
    let mut plain = vec![value.to_owned(), value.trim().to_owned(), STANDARD.encode(value)];
    let decoded = STANDARD.decode(value.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    plain.extend(decoded.iter().flat_map(|text| [text.clone(), text.trim().to_owned()]));
    let mut forms: BTreeSet<String> = plain.iter().flat_map(|text| [text.clone(), escaped(text)]).collect();
    for text in plain.iter().filter(|text| text.contains('\n')) {
        forms.extend(text.lines().flat_map(parts));
    }
    forms.retain(|form| form.chars().count() > 1);
    forms
}

/// As JSON and Go write a text between quotes.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or(text).to_owned()
}

/// A line of a longer value, and what it sets.
fn parts(line: &str) -> Vec<String> {
    let line = line.trim();
    let set = line.split_once([':', '=']).map(|(_, set)| set.trim().trim_matches(['"', '\'']));
    let set = set.filter(|set| set.len() >= LONG);
    let whole = Some(line).filter(|line| line.len() >= LINE);
    whole.into_iter().chain(set).map(str::to_owned).collect()
}

/// Hides values in texts.
#[derive(Debug)]
pub struct Redactor {
    /// Values that no ordinary text holds.
    rare: Option<Finder>,
    /// All values, for texts on Secrets.
    all: Option<Finder>,
}

impl Redactor {
    /// Hides values in any text.
    pub fn text(&self, text: &mut String) {
        hide(self.rare.as_ref(), text);
    }

    /// Hides values, however short, in a text on a Secret.
    pub fn on_secret(&self, text: &mut String) {
        hide(self.all.as_ref(), text);
    }

    /// Hides values in a text of several lines, of which some may be on Secrets.
    pub fn lines(&self, text: &mut String) {
        self.text(text);
        if self.all.is_none() || !text.to_lowercase().contains("secret") {
            return;
        }
        let lines = text.split_inclusive('\n').map(|line| {
            let mut line = line.to_owned();
            if line.to_lowercase().contains("secret") {
                self.on_secret(&mut line);
            }
            line
        });
        *text = lines.collect();
    }

    /// Hides values in every text of a value.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.value(item)),
            _ => {}
        }
    }

    fn outcome(&self, outcome: &mut Outcome) {
        self.lines(&mut outcome.condition);
        outcome.also.iter_mut().for_each(|condition| self.lines(condition));
        outcome.steps.iter_mut().for_each(|step| self.step(step));
    }

    /// Hides values in what a step says and was told.
    pub fn step(&self, step: &mut Step) {
        if self.all.is_none() {
            return;
        }
        for exchange in step.exchanges.iter_mut().filter(|exchange| !exchange.message.is_empty()) {
            let told = exchange.message.clone();
            if exchange.request.contains("/secrets") {
                self.on_secret(&mut exchange.message);
            }
            self.lines(&mut exchange.message);
            if told != exchange.message {
                step.stderr = step.stderr.replace(&told, &exchange.message);
            }
        }
        for text in [&mut step.command, &mut step.stdout, &mut step.stderr] {
            self.lines(text);
        }
        step.notes.iter_mut().for_each(|note| self.lines(note));
    }
}

fn hide(finder: Option<&Finder>, text: &mut String) {
    if let Some(hidden) = finder.and_then(|finder| finder.hidden(text)) {
        *text = hidden;
    }
}

/// Finds many texts at once.
#[derive(Debug)]
struct Finder {
    /// Texts by their first two bytes, the longest first.
    texts: BTreeMap<[u8; 2], Vec<String>>,
    /// Which first bytes there are.
    starts: Vec<bool>,
}

impl Finder {
    fn new<'t>(texts: impl Iterator<Item = &'t String>) -> Option<Self> {
        let mut finder = Self { texts: BTreeMap::new(), starts: vec![false; 256] };
        for text in texts {
            let [first, second, ..] = *text.as_bytes() else { continue };
            finder.starts[usize::from(first)] = true;
            finder.texts.entry([first, second]).or_default().push(text.clone());
        }
        for texts in finder.texts.values_mut() {
            texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        }
        (!finder.texts.is_empty()).then_some(finder)
    }

    /// The text without what was found; `None` when nothing was.
    fn hidden(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let (mut copied, mut at) = (0, 0);
        while at < text.len() {
            let Some(end) = self.end_at(text, at) else {
                at += 1;
                continue;
            };
            out.push_str(&text[copied..at]);
            out.push_str(HIDDEN);
            (copied, at) = (end, end);
        }
        out.push_str(&text[copied..]);
        (copied > 0).then_some(out)
    }

    /// Where the longest of the texts ends that begins here.
    fn end_at(&self, text: &str, at: usize) -> Option<usize> {
        let [first, second, ..] = *text.as_bytes().get(at..)? else { return None };
        if !self.starts[usize::from(first)] || !text.is_char_boundary(at) {
            return None;
        }
        let fits = |known: &&String| {
            let end = at + known.len();
            text[at..].starts_with(known.as_str()) && (is_long(known) || is_word(text, at, end))
        };
        self.texts.get(&[first, second])?.iter().find(fits).map(|known| at + known.len())
    }
}

fn is_long(text: &str) -> bool {
    text.chars().count() >= LONG
}

/// Whether neither end of a part continues a word.
fn is_word(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back().is_some_and(char::is_alphanumeric);
    let after = text[end..].chars().next().is_some_and(char::is_alphanumeric);
    !before && !after
}

/// A patch or object with the contents of a Secret hidden, as a command line shows it.
#[must_use]
pub fn without_contents(object: &Value) -> Value {
    let mut shown = object.clone();
    let operations = shown.as_array_mut().into_iter().flatten();
    for operation in operations.filter(|operation| sets_contents(operation)) {
        operation.get_mut("value").into_iter().for_each(hide_leaves);
    }
    for field in CONTENTS {
        shown.get_mut(field).into_iter().for_each(hide_leaves);
    }
    shown
}

/// Whether an operation of a JSON patch is about contents.
fn sets_contents(operation: &Value) -> bool {
    let path = text(operation, "/path").trim_start_matches('/');
    path.is_empty() || CONTENTS.iter().any(|field| path.starts_with(field))
}

/// Hides every value; an empty one is no secret, and that it is empty is often the point.
pub fn hide_leaves(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(hide_leaves),
        Value::Array(items) => items.iter_mut().for_each(hide_leaves),
        Value::String(text) if text.is_empty() => {}
        Value::Null => {}
        other => *other = Value::from(HIDDEN),
    }
}

/// Hides what a path in a Secret leads to, where that holds contents.
pub fn hide_at(path: &str, value: &mut Value) {
    let path = path.trim_start_matches(['.', '/']);
    if CONTENTS.iter().any(|field| path.starts_with(field)) || path.contains(LAST_APPLIED) {
        return hide_leaves(value);
    }
    for field in CONTENTS {
        value.get_mut(field).into_iter().for_each(hide_leaves);
    }
    let applied = ["/metadata/annotations", "/annotations", ""]
        .into_iter()
        .find(|at| value.at(at).is_some_and(|annotations| annotations.get(LAST_APPLIED).is_some()));
    if let Some(annotations) = applied.and_then(|at| value.pointer_mut(at)) {
        annotations.get_mut(LAST_APPLIED).into_iter().for_each(hide_leaves);
    }
}

/// A renderer that remembers the Secrets of what it renders.
pub struct Attentive<'r> {
    inner: &'r dyn Renderer,
    secrets: &'r Secrets,
    seen: Mutex<Vec<Arc<Render>>>,
}

impl<'r> Attentive<'r> {
    /// Remembers in `secrets` what `inner` renders.
    #[must_use]
    pub fn new(inner: &'r dyn Renderer, secrets: &'r Secrets) -> Self {
        Self { inner, secrets, seen: Mutex::default() }
    }
}

impl Renderer for Attentive<'_> {
    fn render(
        &self,
        chart: &Arc<Chart>,
        config: &Arc<Values>,
        options: &Options,
    ) -> Result<Arc<Render>, String> {
        let render = self.inner.render(chart, config, options)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.iter().any(|known| Arc::ptr_eq(known, &render)) {
            seen.push(Arc::clone(&render));
            drop(seen);
            self.secrets.add_render(&render);
        }
        Ok(render)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets(fields: &Value) -> Secrets {
        let mut object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"}});
        k8s::patch::merge(&mut object, fields);
        let secrets = Secrets::default();
        secrets.add(&object);
        secrets
    }

    fn hidden(secrets: &Secrets, text: &str) -> String {
        let mut text = text.to_owned();
        secrets.redactor().lines(&mut text);
        text
    }

    #[test]
    fn values_are_hidden_decoded_and_encoded() {
        let known = secrets(&json!({"data": {"a": "aHVudGVyMg=="}, "stringData": {"b": "top\"secret"}}));
        for text in
            ["Invalid value: \"hunter2\"", "got aHVudGVyMg==", "map[b:top\"secret]", r#""top\"secret""#]
        {
            assert!(hidden(&known, text).contains(HIDDEN), "{text}");
        }
        let encoded = STANDARD.encode("top\"secret");
        assert_eq!(hidden(&known, &encoded), HIDDEN);
    }

    #[test]
    fn values_of_a_wrong_type_are_values_too() {
        let known = secrets(&json!({"stringData": {"pin": 4711, "nested": {"deep": ["hunter22"]}}}));
        assert_eq!(hidden(&known, "got &value{4711}, hunter22"), "got &value{(redacted)}, (redacted)");
    }

    #[test]
    fn lines_of_long_values_are_hidden_alone() {
        let known = secrets(&json!({"stringData": {"conf": "host: db\npassword: correct-horse\n"}}));
        assert_eq!(hidden(&known, "bad word correct-horse"), "bad word (redacted)");
    }

    #[test]
    fn what_is_said_aloud_stays() {
        let known = secrets(
            &json!({"data": {"tls.key": "a2V5"}, "stringData": {"user": "web", "name": "web-server", "on": "true", "n": "12"}}),
        );
        known.lock().words.insert("web-server".into());
        let text = "conflict: .data.tls.key; Deployment/a/web-server was not true after 12 s";
        assert_eq!(hidden(&known, text), text);
        assert_eq!(
            hidden(&known, "Secret.data: expected string, got 12"),
            "Secret.data: expected string, got (redacted)"
        );
    }

    #[test]
    fn the_last_applied_object_is_a_secret_too() {
        let applied = json!({"kind": "Secret", "stringData": {"x": "correct-horse"}}).to_string();
        let known = secrets(&json!({"metadata": {"annotations": {LAST_APPLIED: applied}}}));
        assert_eq!(hidden(&known, "<correct-horse>"), "<(redacted)>");
    }

    #[test]
    fn command_lines_show_no_contents() {
        let patch = json!({"data": {"a": "eA=="}, "metadata": {"labels": {"l": "1"}}});
        let shown = without_contents(&patch).to_string();
        assert!(!shown.contains("eA==") && shown.contains("\"l\":\"1\""), "{shown}");
        let json_patch = json!([{"op": "add", "path": "/data/a", "value": "eA=="}]);
        assert!(!without_contents(&json_patch).to_string().contains("eA=="));
    }
}
