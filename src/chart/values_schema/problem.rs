//! What does not fit, in the words and the shape of the library that Helm has.

use std::fmt::Write as _;

/// What went wrong at one place, with its reasons.
pub(super) struct Problem {
    pub(super) place: String,
    pub(super) kind: Kind,
    pub(super) causes: Vec<Problem>,
}

#[derive(PartialEq, Eq)]
pub(super) enum Kind {
    /// Several problems of one schema.
    Group,
    /// Problems of a schema that was referred to.
    Reference,
    /// A problem in words.
    Words(String),
}

impl Problem {
    /// The causes of a group, or the problem itself.
    pub(super) fn unfold(self) -> Vec<Self> {
        if self.kind == Kind::Group { self.causes } else { vec![self] }
    }

    fn write(&self, indent: usize, out: &mut String) {
        let hidden = self.kind == Kind::Reference && self.causes.len() == 1;
        if !hidden {
            let words = match &self.kind {
                Kind::Words(words) => words.as_str(),
                Kind::Group | Kind::Reference => "validation failed",
            };
            let space = "  ".repeat(indent.saturating_sub(1));
            let _ = write!(out, "\n{space}- at {}: {words}", quote(&self.place));
        }
        for cause in &self.causes {
            cause.write(if hidden { indent } else { indent + 1 }, out);
        }
    }
}

/// A problem as lines of text.
pub(super) fn written(problem: Problem) -> String {
    let mut out = String::new();
    for top in problem.unfold() {
        top.write(1, &mut out);
    }
    out.trim_start_matches('\n').to_owned()
}

/// The problems of one schema at one place.
pub(super) struct Found<'p> {
    pub(super) place: &'p str,
    pub(super) problems: Vec<Problem>,
}

impl Found<'_> {
    pub(super) fn say(&mut self, words: impl Into<String>) {
        self.because(words, Vec::new());
    }

    pub(super) fn because(&mut self, words: impl Into<String>, causes: Vec<Problem>) {
        self.problems.push(Problem { place: self.place.to_owned(), kind: Kind::Words(words.into()), causes });
    }
}

/// A string in single quotes.
pub(super) fn quote(text: &str) -> String {
    let quoted = crate::go::quote(text).replace("\\\"", "\"").replace('\'', "\\'");
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    format!("'{inner}'")
}

pub(super) fn quoted<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| quote(name.as_ref())).collect::<Vec<_>>().join(", ")
}
