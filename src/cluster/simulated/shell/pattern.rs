//! Shell patterns (`*`, `?`, `[…]`), as `case`, `${x%…}` and file names use them.

/// A character of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    /// An active character: `*`, `?`, `[`, `]`, `!`, `-`.
    Active(char),
    /// A character that stands for itself.
    Literal(char),
}

/// A pattern of unquoted text.
pub(super) fn active(text: &str) -> impl Iterator<Item = Atom> + '_ {
    text.chars().map(Atom::Active)
}

/// Whether a pattern matches a whole text.
pub(super) fn matches(pattern: &[Atom], text: &[char]) -> bool {
    // The classic two-pointer walk: on a mismatch the last `*` takes one character more.
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        if pattern.get(p) == Some(&Atom::Active('*')) {
            star = Some((p, t));
            p += 1;
        } else if let Some(next) = single(pattern, p, text[t]) {
            p = next;
            t += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern.get(p..).unwrap_or(&[]).iter().all(|a| *a == Atom::Active('*'))
}

/// Matches one character; the position behind the matching part of the pattern.
fn single(pattern: &[Atom], p: usize, c: char) -> Option<usize> {
    match pattern.get(p)? {
        Atom::Active('?') => Some(p + 1),
        Atom::Active('[') => match bracket(pattern, p + 1, c) {
            Some((hit, next)) => hit.then_some(next),
            None => (c == '[').then_some(p + 1),
        },
        Atom::Active(a) | Atom::Literal(a) => (*a == c).then_some(p + 1),
    }
}

/// Matches a bracket expression; `None` when it is not closed.
fn bracket(pattern: &[Atom], start: usize, c: char) -> Option<(bool, usize)> {
    let mut p = start;
    let negated = matches!(pattern.get(p), Some(Atom::Active('!' | '^')));
    p += usize::from(negated);
    let (first, mut hit) = (p, false);
    loop {
        let low = match pattern.get(p)? {
            Atom::Active(']') if p > first => return Some((hit != negated, p + 1)),
            Atom::Active('[') if pattern.get(p + 1) == Some(&Atom::Active(':')) => {
                let (class, next) = class(pattern, p + 2)?;
                hit |= in_class(&class, c);
                p = next;
                continue;
            }
            Atom::Active(a) | Atom::Literal(a) => *a,
        };
        let range = pattern.get(p + 1) == Some(&Atom::Active('-'));
        match pattern.get(p + 2).filter(|a| range && **a != Atom::Active(']')) {
            Some(Atom::Active(high) | Atom::Literal(high)) => {
                hit |= (low..=*high).contains(&c);
                p += 3;
            }
            None => {
                hit |= low == c;
                p += 1;
            }
        }
    }
}

fn class(pattern: &[Atom], start: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut p = start;
    loop {
        match pattern.get(p)? {
            Atom::Active(':') => return Some((name, p + 2)),
            Atom::Active(a) | Atom::Literal(a) => name.push(*a),
        }
        p += 1;
    }
}

/// Whether a character is in a POSIX character class, by the class's name.
pub(super) fn in_class(name: &str, c: char) -> bool {
    match name {
        "alnum" => c.is_alphanumeric(),
        "alpha" => c.is_alphabetic(),
        "digit" => c.is_ascii_digit(),
        "lower" => c.is_lowercase(),
        "upper" => c.is_uppercase(),
        "space" => c.is_whitespace(),
        "blank" => c == ' ' || c == '\t',
        "punct" => c.is_ascii_punctuation(),
        "xdigit" => c.is_ascii_hexdigit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        let table = [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbcd", false),
            ("?b", "ab", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[[:digit:]]*", "9z", true),
            ("*.trainer.*", "torch.trainer.kubeflow.org", true),
            ("[", "[", true),
        ];
        for (pattern, text, expected) in table {
            let atoms: Vec<Atom> = active(pattern).collect();
            let chars: Vec<char> = text.chars().collect();
            assert_eq!(matches(&atoms, &chars), expected, "{pattern} {text}");
        }
    }
}
