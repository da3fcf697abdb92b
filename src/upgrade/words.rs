//! Command lines in the reader's words: arguments quoted for a shell, values that look like secrets hidden.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::finding::ObjectName;

/// The values flags of one command line, quoted, each with a space before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValuesWords(String);

impl ValuesWords {
    /// Adds `-f FILE`.
    pub fn file(&mut self, path: &str) {
        self.flag("-f", path);
    }

    /// Adds a flag whose argument is in the language of `--set`: `key=value,key={a,b}`.
    pub fn set(&mut self, flag: &str, argument: &str) {
        let shown: Vec<String> = assignments(argument).into_iter().map(shown).collect();
        self.flag(flag, &shown.join(","));
    }

    /// Adds a flag whose argument is one assignment, its value whatever follows the first `=`.
    pub fn literal(&mut self, flag: &str, argument: &str) {
        self.flag(flag, &shown(argument));
    }

    /// Adds `--set-json`: `key=JSON`, or an object.
    pub fn json(&mut self, argument: &str) {
        let (key, text) = match argument.split_once('=') {
            Some((key, text)) if !argument.trim_start().starts_with('{') => (Some(key), text),
            _ => (None, argument),
        };
        let value = match serde_json::from_str::<Value>(text) {
            Ok(mut value) => {
                let hidden = key.is_some_and(is_secret);
                if hide(&mut value, hidden) { value.to_string() } else { text.to_owned() }
            }
            // Several assignments in one argument: where one ends is for Helm to say.
            Err(_) if is_secret(argument) => HIDDEN.to_owned(),
            Err(_) => text.to_owned(),
        };
        let argument = key.map_or_else(|| value.clone(), |key| format!("{key}={value}"));
        self.flag("--set-json", &argument);
    }

    /// Adds a flag as it is.
    pub fn flag(&mut self, flag: &str, argument: &str) {
        self.0.push_str(&format!(" {flag} {}", quoted(argument)));
    }
}

impl std::fmt::Display for ValuesWords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What stands in place of a secret.
const HIDDEN: &str = "(redacted)";

/// A word as a POSIX shell reads it back.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// `kubectl VERB KIND NAME… -n NAMESPACE TAIL`: one line for each kind and namespace among the objects.
#[must_use]
pub fn on_objects(verb: &str, names: &[ObjectName], tail: &str) -> Vec<String> {
    let places: BTreeSet<(&str, &str)> =
        names.iter().map(|name| (name.kind.as_str(), name.namespace.as_str())).collect();
    let line = |(kind, namespace): (&str, &str)| {
        let here = names.iter().filter(|name| name.kind == kind && name.namespace == namespace);
        let members: String = here.map(|name| format!(" {}", quoted(&name.name))).collect();
        let place = if namespace.is_empty() { String::new() } else { format!(" -n {}", quoted(namespace)) };
        format!("kubectl {verb} {}{members}{place}{tail}", quoted(&kind.to_lowercase()))
    };
    places.into_iter().map(line).collect()
}

/// Lets those of the YAML documents of `helm template` pass that are of one of these kinds and have one of these names;
/// an empty list stands for all. `helm template -s` loses files below `crds/` that begin with `---`.
#[must_use]
pub fn documents<S: AsRef<str>>(kinds: &[S], names: &[S]) -> String {
    let one_of = |key: &str, words: &[S]| {
        let words: Vec<String> = words.iter().map(|word| word.as_ref().replace('.', "[.]")).collect();
        let words =
            if let [word] = words.as_slice() { word.clone() } else { format!("({})", words.join("|")) };
        format!(r#"/(^|\n){key}: "?{words}"?(\n|$)/"#)
    };
    let kinds = (!kinds.is_empty()).then(|| one_of("kind", kinds));
    let names = (!names.is_empty()).then(|| one_of("  name", names));
    let pattern = [kinds, names].into_iter().flatten().collect::<Vec<_>>().join(" && ");
    format!(r#"awk -v RS='\n---\n' '{pattern} {{ print "---\n" $0 }}'"#)
}

/// The assignments of a `--set` argument; commas in lists and behind a backslash belong to values.
fn assignments(argument: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut escaped) = (Vec::new(), 0, 0_usize, false);
    for (at, c) in argument.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&argument[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&argument[start..]);
    parts
}

fn shown(assignment: &str) -> String {
    match assignment.split_once('=') {
        Some((key, value)) if is_secret(key) && !says_nothing(value) => format!("{key}={HIDDEN}"),
        _ => assignment.to_owned(),
    }
}

/// Values that a secret can't be.
fn says_nothing(value: &str) -> bool {
    matches!(value, "" | "true" | "false" | "null")
}

/// Words in keys of secrets.
const SECRETS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "apikey",
    "accesskey",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "connectionstring",
];

/// Ends of keys that only tell where a secret lies, or whether there is one.
const ABOUT_SECRETS: &[&str] = &["name", "namespace", "ref", "enabled", "create", "path", "file", "type"];

/// Whether a path of keys leads to what should not be shown around.
fn is_secret(path: &str) -> bool {
    let plain: String = path.to_lowercase().chars().filter(|c| !matches!(c, '-' | '_')).collect();
    let segments = || plain.split(['.', '[', ']', '"']).filter(|part| !part.is_empty());
    let last = segments().rfind(|part| !part.chars().all(|c| c.is_ascii_digit())).unwrap_or_default();
    let about = ABOUT_SECRETS.iter().any(|end| last.ends_with(end)) || last.starts_with("existing");
    !about && (last == "key" || segments().any(|part| SECRETS.iter().any(|word| part.contains(word))))
}

/// Hides what lies under keys of secrets; answers whether anything was hidden.
fn hide(value: &mut Value, hidden: bool) -> bool {
    match value {
        Value::Object(map) => {
            map.iter_mut().fold(false, |any, (key, value)| hide(value, hidden || is_secret(key)) || any)
        }
        Value::Array(items) => {
            // Every item is looked into.
            let found = items.iter_mut().filter_map(|item| hide(item, hidden).then_some(()));
            found.count() > 0
        }
        Value::String(text) if hidden && !text.is_empty() => {
            HIDDEN.clone_into(text);
            true
        }
        Value::Number(_) if hidden => {
            *value = Value::String(HIDDEN.to_owned());
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(argument: &str) -> String {
        let mut words = ValuesWords::default();
        words.set("--set", argument);
        words.to_string()
    }

    fn json(argument: &str) -> String {
        let mut words = ValuesWords::default();
        words.json(argument);
        words.to_string()
    }

    #[test]
    fn words_come_back_from_a_shell_as_they_were() {
        for (word, wanted) in [
            ("a.b=c", "a.b=c"),
            ("my values.yaml", "'my values.yaml'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("a[0]={x,y}", "'a[0]={x,y}'"),
            ("$(rm)", "'$(rm)'"),
        ] {
            assert_eq!(quoted(word), wanted);
        }
    }

    #[test]
    fn values_of_secrets_are_hidden_and_nothing_else() {
        assert_eq!(set("a=1,db.password=pa\\,ss,b=2"), " --set 'a=1,db.password=(redacted),b=2'");
        assert_eq!(set("auth.apiKeys[0]=x"), " --set 'auth.apiKeys[0]=(redacted)'");
        assert_eq!(set("auth.client-secret=x,y=1"), " --set 'auth.client-secret=(redacted),y=1'");
        assert_eq!(set("tls.key=x"), " --set 'tls.key=(redacted)'");
        for open in [
            "secret.create=true",
            "auth.existingSecret=mine",
            "imagePullSecrets[0].name=regcred",
            "secrets.enabled=yes",
            "token=",
            "keys.keyboard=qwertz",
        ] {
            assert!(!set(open).contains("redacted"), "{open}");
        }
    }

    #[test]
    fn json_is_looked_into() {
        assert_eq!(json(r#"a={"b": 1}"#), r#" --set-json 'a={"b": 1}'"#);
        assert_eq!(
            json(r#"a={"password":"x","b":[1]}"#),
            r#" --set-json 'a={"b":[1],"password":"(redacted)"}'"#
        );
        assert_eq!(json(r#"{"auth":{"token":["x"]}}"#), r#" --set-json '{"auth":{"token":["(redacted)"]}}'"#);
        assert_eq!(json(r#"password="x",b=2"#), " --set-json 'password=(redacted)'");
    }
}
