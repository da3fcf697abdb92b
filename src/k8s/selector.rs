//! Label selectors: the text form of query parameters and the `LabelSelector` of objects.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
}

/// Requirements that all must hold; the empty selector matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    requirements: Vec<(String, Operator)>,
}

impl Selector {
    /// Reads the text form, e.g. `a=b,c!=d,e in (f,g),!h`.
    ///
    /// # Errors
    /// A requirement that can't be read, in the API server's words.
    pub fn parse(selector: &str) -> Result<Self, String> {
        let mut requirements = Vec::new();
        for part in split_requirements(selector) {
            let part = part.trim();
            if !part.is_empty() {
                requirements
                    .push(requirement(part).ok_or_else(|| format!("unable to parse requirement: {part}"))?);
            }
        }
        Ok(Self { requirements })
    }

    /// Reads a `LabelSelector` (`matchLabels`, `matchExpressions`); absent ones match everything.
    #[must_use]
    pub fn of(selector: Option<&Value>) -> Self {
        let mut requirements = Vec::new();
        let labels = selector.and_then(|s| s.get("matchLabels")?.as_object());
        for (key, value) in labels.into_iter().flatten() {
            requirements.push((key.clone(), Operator::In(vec![value.as_str().unwrap_or("").to_owned()])));
        }
        let expressions = selector.and_then(|s| s.get("matchExpressions")?.as_array());
        for expression in expressions.into_iter().flatten() {
            let values = || {
                let values = expression.get("values").and_then(Value::as_array);
                values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
            };
            let operator = match super::text(expression, "/operator") {
                "In" => Operator::In(values()),
                "NotIn" => Operator::NotIn(values()),
                "Exists" => Operator::Exists,
                _ => Operator::Absent,
            };
            requirements.push((super::text(expression, "/key").to_owned(), operator));
        }
        Self { requirements }
    }

    /// Whether an object's `metadata.labels` fulfil every requirement.
    #[must_use]
    pub fn matches(&self, labels: Option<&Value>) -> bool {
        self.requirements.iter().all(|(key, operator)| {
            let value = labels.and_then(|l| l.get(key)?.as_str());
            match operator {
                Operator::In(values) => value.is_some_and(|v| values.iter().any(|w| w == v)),
                Operator::NotIn(values) => !value.is_some_and(|v| values.iter().any(|w| w == v)),
                Operator::Exists => value.is_some(),
                Operator::Absent => value.is_none(),
            }
        })
    }
}

/// Splits at commas outside of parentheses.
fn split_requirements(selector: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, c) in selector.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(selector.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(selector.get(start..).unwrap_or_default());
    parts
}

fn requirement(part: &str) -> Option<(String, Operator)> {
    if let Some(key) = part.strip_prefix('!') {
        return Some((key.trim().to_owned(), Operator::Absent));
    }
    for (sign, negated) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = part.split_once(sign) {
            let values = vec![value.trim().to_owned()];
            let operator = if negated { Operator::NotIn(values) } else { Operator::In(values) };
            return Some((key.trim().to_owned(), operator));
        }
    }
    let Some((key, rest)) = part.split_once(char::is_whitespace) else {
        return Some((part.to_owned(), Operator::Exists));
    };
    let rest = rest.trim();
    let (word, list) = rest.split_once('(')?;
    let values = list.strip_suffix(')')?.split(',').map(|v| v.trim().to_owned()).collect();
    match word.trim() {
        "in" => Some((key.to_owned(), Operator::In(values))),
        "notin" => Some((key.to_owned(), Operator::NotIn(values))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_form() {
        let labels = json!({ "a": "b", "c": "d" });
        for (selector, expected) in [
            ("", true),
            ("a=b", true),
            ("a==b,c=d", true),
            ("a!=b", false),
            ("x!=b", true),
            ("a in (x, b)", true),
            ("a notin (x,b)", false),
            ("a", true),
            ("!a", false),
            ("!x,c", true),
        ] {
            assert_eq!(Selector::parse(selector).unwrap().matches(Some(&labels)), expected, "{selector}");
        }
        assert!(Selector::parse("a like (b)").is_err());
    }

    #[test]
    fn object_form() {
        let selector = json!({ "matchLabels": { "a": "b" },
            "matchExpressions": [{ "key": "c", "operator": "NotIn", "values": ["d"] }] });
        assert!(Selector::of(Some(&selector)).matches(Some(&json!({ "a": "b" }))));
        assert!(!Selector::of(Some(&selector)).matches(Some(&json!({ "a": "b", "c": "d" }))));
        assert!(Selector::of(None).matches(None));
    }
}
