//! Runs one family of questions for a number of cases or seconds, in rounds whose seeds are printed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use super::dice::Dice;
use super::known;
use super::oracle::Oracle;
use super::question::{Answer, Question};
use super::trim::trim;

/// The same cases in every run of the tests, unless told otherwise: who looks for more gives a seed and time.
const SEED: u64 = 20_261_130;

/// Cases of one round; the round's seed repeats it.
const ROUND: u32 = 25;

/// Cases where neither cases nor time are given.
const USUAL: u64 = 300;

/// How often Go is asked again about an answer that is not ours, in case that it is one of several.
const AGAIN: usize = 8;

/// How long an input is made shorter, by each of two means.
const SHRINKING: Duration = Duration::from_secs(10);

/// Choices of the largest input.
const CHOICES: usize = 400;

/// Begins what both sides said.
const ANSWERS: &str = "\n  answers:";

type Make = fn(&mut Dice) -> Question;

/// Asks both sides and fails with what differs, shrunk.
pub(crate) fn run(family: &str, make: Make) {
    let Some(mut oracle) = Oracle::start() else { return };
    let seed = number("SEATRIAL_FUZZ_SEED").unwrap_or(SEED);
    eprintln!("{family}: SEATRIAL_FUZZ_SEED={seed}");
    let (cases, time) = budget();
    let most = number("SEATRIAL_FUZZ_DIFFERENCES").unwrap_or(1);
    let begin = Instant::now();
    let (mut done, mut found, mut round) = (0, BTreeMap::new(), seed);
    while done < cases && begin.elapsed() < time && (found.len() as u64) < most {
        if let Some(told) = play(make, round, &mut oracle) {
            found.entry(kind(&told)).or_insert(told);
        }
        done += u64::from(ROUND);
        round = round.wrapping_add(1);
    }
    eprintln!("{family}: {done} cases in {} s, {} differ", begin.elapsed().as_secs(), found.len());
    let found: Vec<_> = found.into_values().collect();
    assert!(found.is_empty(), "{family}:\n{}", found.join("\n"));
}

/// What differences of one kind have in common: the longer words of what both sides say.
fn kind(told: &str) -> String {
    let answers = told.split_once(ANSWERS).map_or(told, |(_, answers)| answers);
    let words = answers.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 4);
    words.take(24).collect::<Vec<_>>().join(" ")
}

fn budget() -> (u64, Duration) {
    let (cases, seconds) = (number("SEATRIAL_FUZZ_CASES"), number("SEATRIAL_FUZZ_SECONDS"));
    match (cases, seconds) {
        (None, None) => (USUAL, Duration::MAX),
        _ => (cases.unwrap_or(u64::MAX), seconds.map_or(Duration::MAX, Duration::from_secs)),
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// One round: the first difference, shrunk and told.
fn play(make: Make, seed: u64, oracle: &mut Oracle) -> Option<String> {
    let config = Config {
        cases: ROUND,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 100,
        max_shrink_time: 10_000,
        verbose: 0,
        ..Config::default()
    };
    let choices = vec(proptest::num::u16::ANY, 10..CHOICES);
    let asked = RefCell::new(&mut *oracle);
    let outcome = TestRunner::new(config).run(&choices, |choices| {
        let question = make(&mut Dice::new(choices));
        match difference(&question, &mut asked.borrow_mut()) {
            None => Ok(()),
            Some(_) => Err(TestCaseError::fail("differs")),
        }
    });
    let Err(TestError::Fail(_, choices)) = outcome else { return None };
    let begin = Instant::now();
    let mut differs =
        |question: &Question| begin.elapsed() < SHRINKING && difference(question, oracle).is_some();
    let least = trim(make(&mut Dice::new(choices)), &mut differs);
    // What Go answers by chance may have looked like one answer before.
    let told = difference(&least, oracle)?;
    Some(format!("SEATRIAL_FUZZ_SEED={seed} SEATRIAL_FUZZ_CASES={ROUND}\n{least}{told}"))
}

/// What differs; nothing where Go panics, or where ours is one of several answers that Go gives by chance.
fn difference(question: &Question, oracle: &mut Oracle) -> Option<String> {
    let ours = question.ours();
    let theirs = question.theirs(oracle)?;
    if theirs.values().any(|text| known::is_fetched(text)) {
        return None;
    }
    if ours == theirs {
        return None;
    }
    if known::is_left(&theirs, &ours) {
        return None;
    }
    for _ in 0..AGAIN {
        if question.theirs(oracle)? != theirs {
            return None;
        }
    }
    Some(told(&theirs, &ours))
}

fn told(theirs: &Answer, ours: &Answer) -> String {
    let mut out = ANSWERS.to_owned();
    let parts: std::collections::BTreeSet<_> = theirs.keys().chain(ours.keys()).collect();
    for part in parts.into_iter().filter(|part| theirs.get(*part) != ours.get(*part)) {
        let nothing = String::from("(nothing)");
        let (wanted, got) = (theirs.get(part).unwrap_or(&nothing), ours.get(part).unwrap_or(&nothing));
        let (wanted, got) = window(wanted, got);
        let _ = write!(out, "\n  {part}\n    Go:   {wanted:?}\n    ours: {got:?}");
    }
    out
}

/// Both texts from shortly before the first difference on, where they are long.
fn window<'a>(wanted: &'a str, got: &'a str) -> (&'a str, &'a str) {
    let same = wanted.bytes().zip(got.bytes()).take_while(|(one, other)| one == other).count();
    let mut from = same.saturating_sub(60);
    while !wanted.is_char_boundary(from) || !got.is_char_boundary(from) {
        from -= 1;
    }
    let cut = |text: &'a str| {
        let rest = &text[from..];
        rest.char_indices().nth(400).map_or(rest, |(end, _)| &rest[..end])
    };
    (cut(wanted), cut(got))
}
