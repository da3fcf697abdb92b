//! The order go-yaml writes a map's keys in: numbers inside keys count as numbers.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4 and v3.0.5, `sorter.go`.

use std::sync::LazyLock;

use regex::Regex;

/// Which go-yaml.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V2,
    V3,
}

/// Sorts entries by key.
///
/// The order of yaml.v2 is no order at all for keys such as `a9`, `a10`, `a1b` (each comes before the next); Go then leaves it
/// to chance, here the outcome is at least always the same.
pub(super) fn sort<V: Copy>(entries: &mut Vec<(&str, V)>, version: Version) {
    let sorted = entries.windows(2).all(|pair| matches!(pair, [a, b] if less(a.0, b.0, version)));
    if sorted {
        return;
    }
    entries.sort_unstable_by_key(|&(key, _)| key);
    let mut runs: Vec<Vec<(&str, V)>> = entries.iter().map(|&entry| vec![entry]).collect();
    while runs.len() > 1 {
        runs = runs.chunks(2).map(|pair| merge(pair, version)).collect();
    }
    *entries = runs.pop().unwrap_or_default();
}

fn merge<'k, V: Copy>(pair: &[Vec<(&'k str, V)>], version: Version) -> Vec<(&'k str, V)> {
    let [left, right] = pair else { return pair.concat() };
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if less(b.0, a.0, version) { right.next() } else { left.next() };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

static LETTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{L}$").ok());
static DIGIT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{Nd}$").ok());

fn in_class(class: &Option<Regex>, c: char) -> bool {
    class.as_ref().is_some_and(|class| class.is_match(c.encode_utf8(&mut [0; 4])))
}

fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { in_class(&LETTER, c) }
}

fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { in_class(&DIGIT, c) }
}

/// Whether key `a` comes before key `b`.
fn less(a: &str, b: &str, version: Version) -> bool {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let same = (0..=same).rev().find(|&at| a.is_char_boundary(at) && b.is_char_boundary(at)).unwrap_or(0);
    let (prefix, rest_a) = a.split_at(same);
    let (_, rest_b) = b.split_at(same);
    let (Some(first_a), Some(first_b)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.is_empty() && !rest_b.is_empty();
    };
    let (letter_a, letter_b) = (is_letter(first_a), is_letter(first_b));
    if letter_a && letter_b {
        return first_a < first_b;
    }
    if letter_a || letter_b {
        let after_digit = version == Version::V3 && prefix.chars().next_back().is_some_and(is_digit);
        return if after_digit { letter_a } else { letter_b };
    }
    let zero = first_a == '0' || first_b == '0';
    let nonzero_before = zero && prefix.chars().rev().take_while(|&c| is_digit(c)).any(|c| c != '0');
    let (value_a, length_a) = number(rest_a, i64::from(nonzero_before));
    let (value_b, length_b) = number(rest_b, i64::from(nonzero_before));
    (value_a, length_a, first_a) < (value_b, length_b, first_b)
}

/// The number a text begins with, after a digit that stands for those before, and its length in digits.
fn number(text: &str, before: i64) -> (i64, usize) {
    text.chars().take_while(|&c| is_digit(c)).fold((before, 0), |(value, length), c| {
        let digit = i64::from(u32::from(c)) - i64::from(u32::from('0'));
        (value.wrapping_mul(10).wrapping_add(digit), length + 1)
    })
}
