//! "May I upgrade?" in one or two sentences: whether the plain command goes, and what the way to take comes to.

use std::collections::BTreeSet;

use super::ends::{Known, NO_WAY_BACK, back};
use super::matrix::column;
use super::model::{by_kind, grouped, who};
use crate::upgrade::outcome::{Operation, Outcome, ROAD, Rehearsal, Verdict, Way};

/// The answer; empty where nothing could be rehearsed. Where only ways that somebody named are `judged`, it says nothing
/// of others.
pub(super) fn answer(rehearsals: &[Rehearsal], known: &Known<'_>, judged: bool) -> String {
    let cases: Vec<Case<'_>> = rehearsals.iter().flat_map(cases).collect();
    let upgrades = grouped(cases.iter().map(|case| (plain(case), case.who.clone())));
    let name = |case: &Case<'_>| case.best.map(|way| way.name.clone());
    let ways = grouped(cases.iter().map(|case| ((taken(case, known), name(case)), case)));
    let alone = ways.len() == 1;
    let ways = ways.into_iter().map(|((effects, name), cases)| {
        let for_whom: Vec<String> = cases.iter().map(|case| case.who.clone()).collect();
        advised(name.unwrap_or_default().as_str(), effects, &for_whom, alone, judged)
    });
    let is_plain = cases.iter().all(|case| case.best.is_some_and(|way| way.name == PLAIN));
    let plain = if judged { String::new() } else { first(&upgrades, is_plain) };
    let sentences = [plain].into_iter().chain(ways).filter(|sentence| !sentence.is_empty());
    sentences.collect::<Vec<_>>().join(" ")
}

/// One actor with a release of one maker.
struct Case<'r> {
    who: String,
    plain: &'r Way,
    best: Option<&'r Way>,
}

fn cases(rehearsal: &Rehearsal) -> Vec<Case<'_>> {
    let case = |maker: &str| {
        let plain = rehearsal.ways.iter().find(|way| way.made_by == maker)?;
        Some(Case { who: who(rehearsal, plain), plain, best: rehearsal.best(maker) })
    };
    rehearsal.makers().into_iter().filter_map(case).collect()
}

/// How the plain upgrade ends, e.g. `loses 8`.
fn plain(case: &Case<'_>) -> String {
    let Some(upgrade) = case.plain.operations.first() else { return String::new() };
    let worst = upgrade.outcomes.iter().max_by_key(|outcome| (outcome.verdict, outcome.lost.len()));
    let Some(worst) = worst else { return String::new() };
    let word = match worst.verdict {
        Verdict::Keeps => return later(case.plain),
        Verdict::Refused => "refused".to_owned(),
        Verdict::Breaks if worst.succeeds() => {
            format!("breaks: {} can't go on after it", by_kind(&worst.stuck()))
        }
        Verdict::Breaks => "breaks halfway".to_owned(),
        Verdict::Loses => format!("loses {}", worst.lost.len()),
    };
    let always = upgrade.outcomes.iter().all(|outcome| outcome.verdict == worst.verdict);
    if always { word } else { format!("at worst: {word}") }
}

const KEEPS: &str = "keeps everything";

/// What a way comes to that leaves nothing to be said.
const UNHARMED: &str = "keeps everything on upgrade and rollback";

/// The same where an operation does not end well: the table's cell says how.
const UNLOST: &str = "loses nothing on upgrade and rollback";

/// The way without anything but the command.
const PLAIN: &str = "plain";

/// How a plain upgrade that keeps everything goes on: operations after it that can lose something.
fn later(plain: &Way) -> String {
    let losing = plain.operations.iter().filter(|operation| operation.verdict() == Verdict::Loses);
    let names: BTreeSet<String> = losing.map(|operation| column(plain, operation)).collect();
    match names.is_empty() {
        true => KEEPS.to_owned(),
        false => format!(
            "{KEEPS}, but not all that may follow: {} can lose objects",
            names.into_iter().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The sentence on the plain upgrade, which may be the way that is to be taken.
fn first(upgrades: &[(String, Vec<String>)], taken: bool) -> String {
    match upgrades {
        [] => String::new(),
        [(how, _)] if how.is_empty() => String::new(),
        [(how, _)] if how.starts_with(KEEPS) => format!("A plain `helm upgrade` {how}."),
        [(how, _)] if taken => {
            format!(
                "A plain `helm upgrade` loses nothing, but {}.",
                how.replacen("at worst: ", "at worst ", 1)
            )
        }
        [(how, _)] => format!("Not as a plain `helm upgrade` ({how})."),
        several => {
            let parts = several.iter().map(|(how, whom)| format!("with {} {how}", whom.join(" and ")));
            format!("As a plain `helm upgrade`: {}.", parts.collect::<Vec<_>>().join("; "))
        }
    }
}

/// What the way to take comes to; nothing where there is none.
fn taken(case: &Case<'_>, known: &Known<'_>) -> Option<String> {
    let way = case.best?;
    let upgrades = || way.operations.first().into_iter();
    let pairs = upgrades().flat_map(|upgrade| upgrade.outcomes.iter().map(move |outcome| (upgrade, outcome)));
    let troubles: BTreeSet<String> = pairs.flat_map(|(o, outcome)| known.troubles(o, outcome)).collect();
    let on_the_road = way.operations.iter().filter(|operation| ROAD.contains(&operation.name.as_str()));
    let unharmed = on_the_road.into_iter().all(|operation| operation.verdict() == Verdict::Keeps);
    let mut parts = vec![if unharmed { UNHARMED } else { UNLOST }.to_owned()];
    if !troubles.is_empty() {
        parts[0].push_str(&format!(", but {}", troubles.into_iter().collect::<Vec<_>>().join(" and ")));
    }
    parts.extend(upgrades().find_map(fails).map(|how| format!("the upgrade can {how}")));
    parts.extend(backwards(way));
    parts.extend(leaving(way));
    Some(parts.join("; "))
}

/// How an operation's command can fail, in the words of the table.
fn fails(operation: &Operation) -> Option<&'static str> {
    let failing = operation.outcomes.iter().filter(|outcome| !outcome.succeeds());
    failing.map(|outcome| outcome.verdict).max().map(|worst| match worst {
        Verdict::Keeps | Verdict::Refused => "be refused",
        Verdict::Breaks | Verdict::Loses => "break",
    })
}

/// What is to be known of going back; nothing where the plain rollback does and leaves nothing behind.
fn backwards(way: &Way) -> Option<String> {
    let plain = way.operation("rollback")?;
    let back = back(way)?;
    let stuck = || plain.outcomes.iter().map(Outcome::stuck).find(|stuck| !stuck.is_empty());
    match back.command.as_str() {
        "" => Some(NO_WAY_BACK.to_owned()),
        _ if plain.outcomes.iter().all(Outcome::gets_back) => {
            stuck().map(|stuck| format!("after a rollback {} can't go on without help", by_kind(&stuck)))
        }
        _ => Some(format!("a plain rollback can {}, see \"to go back\"", fails(plain).unwrap_or("break"))),
    }
}

/// What uninstalling loses.
fn leaving(way: &Way) -> Option<String> {
    let uninstall = way.operation("uninstall")?;
    let lost = uninstall.outcomes.iter().map(|outcome| outcome.lost.len()).max().filter(|lost| *lost > 0)?;
    let always = uninstall.outcomes.iter().all(|outcome| outcome.verdict == Verdict::Loses);
    Some(format!("uninstall {} {lost}", if always { "loses" } else { "can lose" }))
}

/// Said where every way loses objects, or gets nowhere.
pub(super) fn nobody(judged: bool) -> String {
    let which = if judged { "judged" } else { "rehearsed" };
    format!("no {which} way leads there and back (each loses objects or is stopped)")
}

/// The sentence on the way to take; it names who should take it where others should take another.
fn advised(name: &str, effects: Option<String>, for_whom: &[String], alone: bool, judged: bool) -> String {
    let whom = if alone { String::new() } else { format!("With {}: ", for_whom.join(" and ")) };
    let Some(effects) = effects else {
        let no = format!("{}, do not upgrade before one does.", nobody(judged));
        return if alone { format!("N{}", &no[1..]) } else { format!("{whom}{no}") };
    };
    if name == PLAIN && effects == UNHARMED && !judged {
        return String::new();
    }
    let take = match (judged, alone) {
        (false, true) => "Take the way marked →",
        (false, false) => "take the way marked →",
        (true, true) => "Of what was judged",
        (true, false) => "of what was judged",
    };
    format!("{whom}{take}: {name} {effects}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Evidence, Finding, ObjectName, Severity};
    use crate::upgrade::diff::FieldChange;
    use crate::upgrade::rewrites::{Rewrite, Writer};
    use crate::upgrade::sample;
    use crate::upgrade::trace::Step;

    fn object(name: &str) -> ObjectName {
        ObjectName { kind: "Widget".into(), namespace: "ns".into(), name: name.into() }
    }

    /// An operation whose command ends with each of these exit codes and losses.
    fn operation(name: &str, flags: &[&str], ends: &[(i32, usize)]) -> Operation {
        let step = |exit_code: i32, lost: usize| Step {
            command: format!("helm {name} r {}", flags.join(" ")).trim_end().to_owned(),
            exit_code,
            stderr: "Error: no".into(),
            lost_objects: (0..lost).map(|n| object(&n.to_string())).collect(),
            ..sample::step(name)
        };
        let outcomes = ends.iter().map(|(code, lost)| Outcome::of(String::new(), vec![step(*code, *lost)]));
        Operation {
            name: name.into(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            outcomes: outcomes.collect(),
        }
    }

    fn way(name: &str, operations: Vec<Operation>) -> Way {
        Way { name: name.into(), ..sample::way(operations) }
    }

    fn said(ways: Vec<Way>, findings: &[Finding]) -> String {
        let rehearsal = sample::rehearsal(ways);
        answer(&[rehearsal], &Known::new([].iter(), findings), false)
    }

    #[test]
    fn of_ways_that_are_judged_alone_nothing_is_said_of_the_plain_one() {
        let careful = || way("careful", vec![operation("upgrade", &[], &[(0, 0)])]);
        let judged = |ways| answer(&[sample::rehearsal(ways)], &Known::new([].iter(), &[]), true);
        let wanted = "Of what was judged: careful keeps everything on upgrade and rollback.";
        assert_eq!(judged(vec![careful()]), wanted);
        let losing = way("careless", vec![operation("upgrade", &[], &[(0, 1)])]);
        assert!(judged(vec![losing]).starts_with("No judged way leads there and back"));
    }

    #[test]
    fn what_goes_plainly_is_said_plainly() {
        let plain = || {
            way("plain", vec![operation("upgrade", &[], &[(0, 0)]), operation("rollback", &[], &[(0, 0)])])
        };
        assert_eq!(said(vec![plain()], &[]), "A plain `helm upgrade` keeps everything.");
        let mut later = plain();
        later.operations[1] = operation("rollback", &[], &[(0, 2)]);
        assert_eq!(
            said(vec![later], &[]),
            "A plain `helm upgrade` keeps everything, but not all that may follow: rollback can lose objects. No rehearsed way leads there and back (each loses objects or is stopped), do not upgrade before one does."
        );
    }

    #[test]
    fn a_plain_upgrade_that_may_break_is_taken_all_the_same() {
        let mut plain = way("plain", vec![operation("upgrade", &[], &[(0, 0), (1, 0)])]);
        plain.operations[0].outcomes[1].verdict = Verdict::Breaks;
        assert!(
            said(vec![plain], &[])
                .starts_with("A plain `helm upgrade` loses nothing, but at worst breaks halfway. Take"),
        );
    }

    #[test]
    fn what_is_refused_is_followed_by_the_way_to_take_and_its_price() {
        let plain = way("plain", vec![operation("upgrade", &[], &[(1, 0)])]);
        let careful = way(
            "careful",
            vec![
                operation("upgrade", &[], &[(0, 0)]),
                operation("rollback", &[], &[(1, 0)]),
                operation("rollback", &["--force"], &[(0, 0)]),
                operation("uninstall", &[], &[(0, 8), (0, 0)]),
            ],
        );
        assert_eq!(
            said(vec![plain, careful], &[]),
            "Not as a plain `helm upgrade` (refused). Take the way marked →: careful loses nothing on upgrade and rollback; a plain rollback can be refused, see \"to go back\"; uninstall can lose 8."
        );
    }

    #[test]
    fn what_loses_fields_is_not_all_kept() {
        let mut upgrade = operation("upgrade", &[], &[(0, 0)]);
        let field = FieldChange { path: "spec.a".into(), before: Some(1.into()), after: None };
        upgrade.outcomes[0].steps[0].rewritten = vec![Rewrite {
            object: object("a"),
            writer: Writer::default(),
            owners: Vec::new(),
            fields: vec![field],
        }];
        let told = Finding {
            check: "object_rewritten",
            severity: Severity::Breaks,
            message: String::new(),
            objects: vec![object("a")],
            evidence: vec![Evidence::State { object: object("a"), detail: String::new() }],
            advice: Vec::new(),
            operations: Vec::new(),
            condition: None,
        };
        let way = way("plain", vec![upgrade]);
        let lines = super::super::ends::ends(
            &way,
            &way.operations[0],
            &Known::new([].iter(), std::slice::from_ref(&told)),
        );
        assert_eq!(lines, ["upgrade: keeps all, but Widget ×1 loses fields, see object_rewritten"]);
        assert!(said(vec![way], &[told]).contains("Widget ×1 loses fields"));
    }

    #[test]
    fn the_way_back_is_the_command_that_succeeds() {
        let of = |rollbacks: Vec<Operation>| back(&way("w", rollbacks)).unwrap();
        let plain = |code: i32| operation("rollback", &[], &[(code, 0)]);
        let overriding = |code: i32| operation("rollback", &["--force"], &[(code, 0)]);
        assert_eq!(of(vec![plain(0)]).command, "helm rollback r");
        assert_eq!(of(vec![plain(1), overriding(0)]).command, "helm rollback r --force");
        let none = of(vec![plain(1), overriding(1)]);
        assert_eq!((none.command.as_str(), none.note.as_str()), ("", NO_WAY_BACK));
        assert!(back(&way("w", Vec::new())).is_none());
    }
}
