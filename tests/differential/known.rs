//! What is not compared, and why: the only place for it.

use seatrial::render::facts::IMPURE;

use super::question::Answer;

/// A part of an answer as it is compared.
pub(crate) fn normal((part, text): (String, String)) -> (String, String) {
    let text = without_addresses(&text);
    match part.as_str() {
        // Go marks bytes that are no UTF-8 by an escape; it reads back as the character we write.
        "json" => (part, text.replace("\\ufffd", "\u{fffd}")),
        _ if part.ends_with("err") => (part, sorted(&text)),
        _ => (part, text),
    }
}

/// Properties that a schema doesn't allow come in the order of Go's maps.
fn unordered(line: &str) -> String {
    let told = line.split_once("additional properties ").and_then(|(head, rest)| {
        let (names, tail) = rest.split_once(" not allowed")?;
        let mut names: Vec<_> = names.split(", ").collect();
        names.sort_unstable();
        Some(format!("{head}additional properties {} not allowed{tail}", names.join(", ")))
    });
    told.unwrap_or_else(|| line.to_owned())
}

/// Warnings come in the order of Go's maps, which is random; an error goes over the lines behind them.
fn sorted(text: &str) -> String {
    let (warnings, error) = text.find("Error: ").map_or((text, ""), |at| text.split_at(at));
    let mut lines: Vec<_> = warnings.lines().collect();
    lines.sort_unstable();
    let error: Vec<_> = error.split('\n').map(unordered).collect();
    lines.join("\n") + "\n" + &error.join("\n")
}

/// Addresses of Go's differ from run to run.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0xc0");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "0x" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
}

/// Functions that are given by chance what they can't read, or take seconds: they have golden answers of their own.
const GOLDEN_ONLY: [&str; 3] = ["buildCustomCert", "decryptAES", "derivePassword"];

/// Whether a function is left out: what answers by chance or by the clock, too.
pub(crate) fn is_left_to_chance(name: &str) -> bool {
    IMPURE.contains(&name) || GOLDEN_ONLY.contains(&name)
}

/// Whether Helm wanted to fetch something, a schema's dialect say; we fetch nothing.
pub(crate) fn is_fetched(text: &str) -> bool {
    text.contains("proxyconnect tcp")
}

/// Differences that are left, each named in COMPATIBILITY.md.
pub(crate) fn is_left(theirs: &Answer, ours: &Answer) -> bool {
    // Go slices up to the capacity of a list, which depends on how it grew.
    let refused = |answer: &Answer| answer.values().any(|text| text.contains("slice index out of bounds"));
    refused(ours) && !refused(theirs)
}
