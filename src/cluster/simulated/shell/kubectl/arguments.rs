//! kubectl's command line.

/// Flags that take a value, as `--flag value` or `--flag=value`.
const VALUED: &[&str] = &[
    "as",
    "chunk-size",
    "cluster",
    "container",
    "context",
    "field-manager",
    "field-selector",
    "filename",
    "for",
    "from-env-file",
    "from-file",
    "from-literal",
    "grace-period",
    "image",
    "kubeconfig",
    "kustomize",
    "namespace",
    "output",
    "patch",
    "patch-file",
    "replicas",
    "request-timeout",
    "resource-version",
    "selector",
    "server",
    "sort-by",
    "subresource",
    "template",
    "timeout",
    "token",
    "type",
    "v",
];

/// Short flags with their long names.
const SHORT: &[(char, &str)] = &[
    ('A', "all-namespaces"),
    ('R', "recursive"),
    ('c', "container"),
    ('f', "filename"),
    ('k', "kustomize"),
    ('l', "selector"),
    ('n', "namespace"),
    ('o', "output"),
    ('p', "patch"),
    ('s', "server"),
    ('v', "v"),
    ('w', "watch"),
];

/// Flags and operands of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    flags: Vec<(String, String)>,
    /// What is no flag.
    pub(super) operands: Vec<String>,
}

impl Arguments {
    /// The last value of a flag.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.flags.iter().rev().find(|(flag, _)| flag == name).map(|(_, value)| value.as_str())
    }

    /// Every value of a flag.
    pub(super) fn values(&self, name: &str) -> Vec<String> {
        self.flags.iter().filter(|(flag, _)| flag == name).map(|(_, value)| value.clone()).collect()
    }

    /// Whether a switch is on.
    pub(super) fn on(&self, name: &str) -> bool {
        self.value(name).is_some_and(|v| v != "false")
    }

    /// A switch with its default.
    pub(super) fn switch(&self, name: &str, default: bool) -> bool {
        self.value(name).map_or(default, |v| v != "false")
    }

    /// A duration in seconds, such as `30s`, `5m`, `1h30m`; a bare number counts seconds.
    pub(super) fn duration(&self, name: &str) -> Option<f64> {
        duration(self.value(name)?)
    }
}

/// Reads a duration as Go writes it.
pub(super) fn duration(text: &str) -> Option<f64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Some(seconds);
    }
    let (mut total, mut digits, mut rest) = (0.0, String::new(), text.trim_start_matches('-'));
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_digit() || c == '.' {
            digits.push(c);
            rest = &rest[1..];
            continue;
        }
        let unit = ["ms", "s", "m", "h"].into_iter().find(|unit| rest.starts_with(unit))?;
        let factor = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            _ => 3600.0,
        };
        total += digits.parse::<f64>().ok()? * factor;
        digits.clear();
        rest = &rest[unit.len()..];
    }
    Some(if text.starts_with('-') { -total } else { total })
}

/// Splits a command line.
pub(super) fn parse(words: &[String]) -> Arguments {
    let mut arguments = Arguments::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            arguments.operands.extend(rest.by_ref().cloned());
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None if VALUED.contains(&long) => (long, rest.next().cloned().unwrap_or_default()),
                None => (long, implied(long).to_owned()),
            };
            arguments.flags.push((name.to_owned(), value));
        } else if word.len() > 1 && word.starts_with('-') && !word.starts_with("-=") {
            short(&word[1..], &mut rest, &mut arguments);
        } else {
            arguments.operands.push(word.clone());
        }
    }
    arguments
}

/// The value of a flag that stands alone.
fn implied(name: &str) -> &'static str {
    match name {
        "cascade" => "background",
        "dry-run" => "unchanged",
        _ => "true",
    }
}

fn short<'w>(letters: &str, rest: &mut impl Iterator<Item = &'w String>, arguments: &mut Arguments) {
    for (at, letter) in letters.char_indices() {
        let name = SHORT.iter().find(|(c, _)| *c == letter).map_or("", |(_, name)| *name);
        if !VALUED.contains(&name) {
            arguments.flags.push((name.to_owned(), "true".to_owned()));
            continue;
        }
        let attached = letters.get(at + letter.len_utf8()..).unwrap_or("");
        let value = match attached.strip_prefix('=').unwrap_or(attached) {
            "" => rest.next().cloned().unwrap_or_default(),
            value => value.to_owned(),
        };
        arguments.flags.push((name.to_owned(), value));
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_in_all_spellings() {
        let words =
            ["delete", "pod", "-nkube-system", "--ignore-not-found", "-l", "a=b", "--wait=false", "x"];
        let arguments = parse(&words.map(str::to_owned));
        assert_eq!(arguments.operands, ["delete", "pod", "x"]);
        assert_eq!(arguments.value("namespace"), Some("kube-system"));
        assert_eq!(arguments.value("selector"), Some("a=b"));
        assert!(arguments.on("ignore-not-found") && !arguments.switch("wait", true));
    }

    #[test]
    fn durations() {
        assert_eq!(duration("1m30s"), Some(90.0));
        assert_eq!(duration("250ms"), Some(0.25));
        assert_eq!(duration("-1s"), Some(-1.0));
        assert_eq!(duration("x"), None);
    }
}
