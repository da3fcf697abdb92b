//! What Masterminds semver answered (`golden/version`) is what we answer.

use std::cmp::Ordering;
use std::path::Path;

use super::{Constraint, Error, Version};

fn table(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/version").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines().skip(1).map(|line| line.split('\t').map(unescape).collect()).collect()
}

fn unescape(field: &str) -> String {
    let mut out = String::new();
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next() {
                Some('0') => '\0',
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap(),
            },
            c => c,
        });
    }
    out
}

fn describe(version: Result<Version, Error>) -> String {
    match version {
        Ok(v) => format!("{v} {} {} {} [{}] [{}]", v.major, v.minor, v.patch, v.prerelease, v.metadata),
        Err(e) => format!("error: {e}"),
    }
}

#[test]
fn versions_read_as_upstream() {
    for row in table("parse.tsv") {
        assert_eq!(describe(Version::parse(&row[0])), row[1], "strict {:?}", row[0]);
        assert_eq!(describe(Version::parse_lenient(&row[0])), row[2], "lenient {:?}", row[0]);
    }
}

#[test]
fn versions_compare_as_upstream() {
    let rows = table("compare.tsv");
    let versions: Vec<_> = rows.iter().map(|row| Version::parse_lenient(&row[0]).unwrap()).collect();
    for (a, row) in versions.iter().zip(&rows) {
        let signs: String = versions.iter().map(|b| sign(a.cmp(b))).collect();
        assert_eq!(signs, row[1], "{a}");
    }
}

fn sign(order: Ordering) -> char {
    match order {
        Ordering::Less => '<',
        Ordering::Equal => '=',
        Ordering::Greater => '>',
    }
}

#[test]
fn constraints_read_as_upstream() {
    for row in table("constraints.tsv") {
        let read = Constraint::parse(&row[0]).map_or_else(|e| format!("error: {e}"), |c| c.to_string());
        assert_eq!(read, row[1], "{:?}", row[0]);
    }
}

#[test]
fn constraints_check_as_upstream() {
    let versions: Vec<_> =
        table("compare.tsv").iter().map(|row| Version::parse_lenient(&row[0]).unwrap()).collect();
    for row in table("check.tsv") {
        let constraint = Constraint::parse(&row[0]).unwrap();
        let signs: String = versions.iter().map(|v| if constraint.check(v) { '+' } else { '-' }).collect();
        assert_eq!(signs, row[1], "{:?}", row[0]);
        assert!(
            versions.iter().all(|v| constraint.check(v) == constraint.validate(v).is_ok()),
            "{:?}",
            row[0]
        );
    }
}

#[test]
fn reasons_are_upstreams_words() {
    for row in table("reasons.tsv") {
        let version = Version::parse_lenient(&row[1]).unwrap();
        let reasons = Constraint::parse(&row[0]).unwrap().validate(&version).err();
        let text = reasons.map_or_else(|| "<nil>".to_owned(), |r| r.join("; "));
        assert_eq!(text, row[2], "{:?} {version}", row[0]);
    }
}
