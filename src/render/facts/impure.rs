//! Functions in a chart's templates whose answers nobody but the clock, chance or a name service knows; `lookup` is answered
//! by the cluster that is rehearsed in.

use std::collections::BTreeSet;

use crate::chart::Chart;

/// Functions that answer otherwise in every run.
pub const IMPURE: &[&str] = &[
    "ago",
    "bcrypt",
    "encryptAES",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "getHostByName",
    "htpasswd",
    "now",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randInt",
    "randNumeric",
    "shuffle",
    "uuidv4",
];

/// Those of them that the templates of a chart and its subcharts call.
#[must_use]
pub fn impure(chart: &Chart) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    for file in &chart.templates {
        let text = String::from_utf8_lossy(&file.data);
        for action in text.split("{{").skip(1) {
            found.extend(called(action.split("}}").next().unwrap_or(action)));
        }
    }
    for subchart in &chart.dependencies {
        found.extend(impure(subchart));
    }
    found
}

/// Whether an action of a template calls one of them.
#[must_use]
pub fn is_impure(action: &str) -> bool {
    !called(action).is_empty()
}

/// What only a name service knows: no rehearsal has one. Of the clock and of chance any answer is as good as another, as
/// long as each render gets its own.
pub const UNANSWERED: &[&str] = &["getHostByName"];

fn called(action: &str) -> Vec<&'static str> {
    if action.trim_start_matches('-').trim_start().starts_with("/*") {
        return Vec::new();
    }
    let code = without_texts(action);
    let words = code.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')));
    words.filter_map(|word| IMPURE.iter().find(|name| **name == word).copied()).collect()
}

/// An action without its quoted texts.
fn without_texts(action: &str) -> String {
    let mut code = String::new();
    let mut quote = None;
    let mut escaped = false;
    for c in action.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '`') => quote = Some(c),
            None => code.push(c),
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_count_and_fields_texts_and_comments_do_not() {
        assert_eq!(called("- if not (randAscii 5) "), ["randAscii"]);
        assert_eq!(called(" randAlphaNum 8 | lower "), ["randAlphaNum"]);
        assert_eq!(called("- (now|unixEpoch)"), ["now"]);
        for harmless in
            [" .Values.now ", " $now ", " fail \"not \\\"now\\\"\" ", "- /* lookup */", " nowhere "]
        {
            assert!(called(harmless).is_empty(), "{harmless}");
        }
    }
}
