//! Makes the text of a differing question as short as the difference allows.

use super::question::Question;

/// How many shorter questions are tried.
const TRIES: usize = 400;

pub(crate) fn trim(question: Question, differs: &mut dyn FnMut(&Question) -> bool) -> Question {
    let mut left = TRIES;
    let mut differs = |question: &Question| {
        left = left.saturating_sub(1);
        left > 0 && differs(question)
    };
    let mut question = question;
    while let Some(less) = question.without().into_iter().find(&mut differs) {
        question = less;
    }
    for at in 0..question.texts().len() {
        question = shorten(question, at, true, &mut differs);
        if !question.is_fixed(at) {
            question = shorten(question, at, false, &mut differs);
        }
    }
    question
}

/// Takes away runs of lines or characters, long ones first.
fn shorten(
    mut question: Question,
    at: usize,
    by_lines: bool,
    differs: &mut dyn FnMut(&Question) -> bool,
) -> Question {
    let mut size = units(&question.texts()[at], by_lines).len().div_ceil(2);
    while size > 0 {
        let mut from = 0;
        loop {
            let text = question.texts()[at].clone();
            let parts = units(&text, by_lines);
            if from >= parts.len() {
                break;
            }
            let rest = [&parts[..from], &parts[(from + size).min(parts.len())..]].concat().concat();
            let shorter = question.with(at, &rest);
            if differs(&shorter) { question = shorter } else { from += size }
        }
        size /= 2;
    }
    question
}

fn units(text: &str, by_lines: bool) -> Vec<&str> {
    if by_lines { text.split_inclusive('\n').collect() } else { text.split_inclusive(|_| true).collect() }
}
