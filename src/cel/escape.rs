//! How property names are written in CEL.
//!
//! As `k8s.io/apiserver` 1.34 `pkg/cel/escaping.go`.

/// Words of the CEL lexer that can't be identifiers.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Words that even a field selection can't spell, since the lexer takes them for something else.
const NEVER_FIELDS: &[&str] = &["false", "in", "null", "true"];

/// Whether a property name is a reserved word that newer servers also accept as written (1.32 and later).
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) && !NEVER_FIELDS.contains(&name)
}

/// The identifier for a property name; `None` when CEL can't reach it.
#[must_use]
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '_' if rest.next_if_eq(&'_').is_some() => out.push_str("__underscores__"),
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            c if c.is_ascii_alphanumeric() || c == '_' => out.push(c),
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn spells_names_as_kubernetes_does() {
        let cases = [
            ("a", Some("a")),
            ("namespace", Some("__namespace__")),
            ("my-key", Some("my__dash__key")),
            ("a.b/c", Some("a__dot__b__slash__c")),
            ("__x", Some("__underscores__x")),
            ("___", Some("__underscores___")),
            ("int", Some("int")),
            ("9a", None),
            ("ä", None),
            ("", None),
        ];
        for (name, spelled) in cases {
            assert_eq!(escape(name).as_deref(), spelled, "{name}");
        }
    }
}
