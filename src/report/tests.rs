use super::model::*;
use super::*;
use crate::finding::{Evidence, Finding, ObjectName, Severity};
use crate::upgrade::outcome::{Operation, Outcome, Rehearsal, Verdict, Way};
use crate::upgrade::sample;
use crate::upgrade::trace::Step;

fn object(kind: &str, name: &str) -> ObjectName {
    ObjectName { kind: kind.into(), namespace: "ns".into(), name: name.into() }
}

fn outcome(condition: &str, verdict: Verdict, lost: Vec<ObjectName>) -> Outcome {
    let step = Step {
        command: "helm upgrade <x> \u{1b}[31m".into(),
        lost_objects: lost.clone(),
        notes: vec!["note".into()],
        ..sample::step("upgrade")
    };
    Outcome { condition: condition.into(), also: Vec::new(), verdict, lost, steps: vec![step] }
}

fn report() -> Report {
    let upgrade = Operation {
        name: "upgrade".into(),
        flags: Vec::new(),
        outcomes: vec![
            outcome("the hook fails", Verdict::Loses, vec![object("Widget", "a"), object("Widget", "b")]),
            outcome("", Verdict::Keeps, Vec::new()),
        ],
    };
    let way = sample::way(vec![upgrade]);
    let finding = Finding {
        check: "secret_emptied",
        severity: Severity::Risks,
        message: "<script>alert(1)</script> | x".into(),
        objects: vec![object("Secret", "s")],
        evidence: vec![Evidence::Change {
            path: "data.key".into(),
            before: Some("c2VjcmV0".into()),
            after: Some("".into()),
        }],
        advice: vec!["run `x`".into()],
        operations: Vec::new(),
        condition: None,
    };
    let chart =
        |version: &str| ChartInfo { name: "demo".into(), version: version.into(), ..ChartInfo::default() };
    Report {
        schema_version: SCHEMA_VERSION,
        generator: "seatrial".into(),
        verdict: Judgement {
            level: "loses",
            summary: "two widgets are lost".into(),
            answer: "Not as a plain upgrade.".into(),
            ways: Vec::new(),
            gate: Severity::Breaks,
            exit_code: 3,
        },
        before: chart("1"),
        after: chart("2"),
        release: "demo".into(),
        namespace: "ns".into(),
        kubernetes: "v1.34.0".into(),
        engine: "sim".into(),
        start: "built-in population".into(),
        rehearsals: vec![sample::rehearsal(vec![way])],
        findings: vec![finding],
        ownership: Vec::new(),
        not_checked: vec!["webhook x".into()],
    }
}

/// As programs and `--full` get it.
const FULL: Style = Style { colored: false, width: 0, full: true };

fn written(name: &str) -> String {
    let mut report = report();
    report.redact();
    let mut out = Vec::new();
    (format(name).unwrap().write)(&report, FULL, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_format_tells_the_verdict_the_loss_and_the_condition() {
    for format in FORMATS {
        let text = written(format.name);
        for wanted in ["demo", "the hook fails", "webhook x"] {
            assert!(text.contains(wanted), "{}: no {wanted:?} in\n{text}", format.name);
        }
        assert!(!text.contains('\u{1b}'), "{}", format.name);
    }
}

#[test]
fn foreign_markup_is_escaped_where_it_would_act() {
    assert!(!written("html").contains("<script>"));
    assert!(!written("markdown").contains("<script>"));
}

#[test]
fn secret_values_are_redacted_everywhere() {
    for format in FORMATS {
        assert!(!written(format.name).contains("c2VjcmV0"), "{}", format.name);
    }
}

#[test]
fn table_shows_the_worst_and_marks_that_it_has_a_condition() {
    assert!(written("text").contains("loses 2*"), "{}", written("text"));
    assert!(written("markdown").contains("🔴 loses 2 \\*"));
}

#[test]
fn the_table_says_what_its_words_mean_and_no_more() {
    let text = written("text");
    assert!(text.contains("loses N: N such objects are deleted"), "{text}");
    assert!(!text.contains("refused:") && !text.contains("undone:"), "{text}");
}

#[test]
fn the_way_to_take_is_marked_and_told_step_by_step() {
    let mut report = report();
    let mut way = report.rehearsals[0].ways[0].clone();
    way.name = "careful".into();
    way.prepare = vec!["kubectl annotate x y=z".into()];
    way.afterwards = vec!["kubectl delete part blue -n ns".into()];
    let mut fails = outcome("", Verdict::Breaks, Vec::new());
    fails.steps[0].exit_code = 1;
    fails.steps[0].stderr =
        "level=WARN msg=x\nError: cannot patch \"blue\"\n && cannot patch \"red\"\n".into();
    fails.steps[0].events = vec![crate::upgrade::trace::Event {
        action: crate::upgrade::trace::Action::Updated,
        object: object("Runtime", "r"),
        uid_before: None,
        uid_after: None,
        changed: vec!["labels"],
    }];
    way.operations[0].outcomes = vec![outcome("", Verdict::Keeps, Vec::new())];
    let rollback = Operation { name: "rollback".into(), flags: Vec::new(), outcomes: vec![fails] };
    way.operations.push(rollback);
    report.rehearsals[0].ways.push(way);
    report.ownership = vec![Ownership {
        object: object("Runtime", "r"),
        before: "release, demo/r.yaml".into(),
        after: "applied by hook h".into(),
        keep: false,
    }];
    for (name, mark) in
        [("text", "→ careful"), ("markdown", "| → careful |"), ("html", "→ helm3 3.22, careful")]
    {
        let mut out = Vec::new();
        (format(name).unwrap().write)(&report, FULL, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let commands = ["kubectl annotate x y=z", "kubectl delete part blue -n ns", "steps 1 to 2, under"];
        for wanted in [mark, "step 3 after an upgrade in its natural course"].iter().chain(&commands) {
            assert!(text.contains(wanted), "{name}: no {wanted:?} in\n{text}");
        }
        let plain = name == "text";
        let told = "rollback, `helm upgrade <x> \\u{1b}[31m`: breaks (ends with an error: cannot patch \"blue\"), loses nothing, Runtime ×1 stay as they are";
        assert!(!plain || text.contains(told), "{text}");
        assert!(!plain || text.contains("  Runtime r: release → applied by hook h"), "{text}");
    }
}

#[test]
fn equal_losses_and_equal_notes_are_told_once() {
    let mut report = report();
    let mut way = report.rehearsals[0].ways[0].clone();
    way.name = "other".into();
    report.rehearsals[0].ways.push(way);
    report.findings = ["a", "b"]
        .map(|name| Finding {
            check: "unexplained",
            severity: Severity::Notes,
            message: format!("Widget {name} changes: spec"),
            objects: vec![object("Widget", name)],
            evidence: Vec::new(),
            advice: Vec::new(),
            operations: Vec::new(),
            condition: None,
        })
        .into();
    let mut out = Vec::new();
    (format("text").unwrap().write)(&report, FULL, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("Widget ×2").count(), 1, "{text}");
    assert!(text.contains("helm3, other: upgrade (when the hook fails)"), "{text}");
    assert!(text.contains("notes Widget a, Widget b changes: spec [unexplained]"), "{text}");
}

#[test]
fn code_between_backticks_is_code_on_the_page_and_in_pull_requests() {
    let mut report = report();
    report.verdict.answer = "Not as a plain `helm upgrade <x>`.".into();
    report.not_checked = vec!["what `helm test` does".into()];
    report.findings[0].message = "run `a_b` first".into();
    for (name, wanted) in [
        (
            "html",
            [
                "plain <code>helm upgrade &lt;x&gt;</code>.",
                "what <code>helm test</code> does",
                "run <code>a_b</code> first",
            ],
        ),
        ("markdown", ["plain `helm upgrade <x>`.", "what `helm test` does", "run <code>a_b</code> first"]),
    ] {
        let mut out = Vec::new();
        (format(name).unwrap().write)(&report, FULL, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        wanted.iter().for_each(|wanted| assert!(text.contains(wanted), "{name}: no {wanted:?} in\n{text}"));
        assert!(name != "html" || !text.contains('`'), "{text}");
    }
}

#[test]
fn a_line_that_nobody_knows_is_left_out_of_json() {
    let mut report = report();
    let place = |line| Evidence::Render(crate::finding::Location { file: "a.yaml".into(), line });
    report.findings[0].evidence = vec![place(0), place(7)];
    let mut out = Vec::new();
    (format("json").unwrap().write)(&report, FULL, &mut out).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let evidence = &report["findings"][0]["evidence"];
    assert_eq!(evidence[0], serde_json::json!({"type": "render", "file": "a.yaml"}));
    assert_eq!(evidence[1]["line"], 7);
}

fn brief(report: &Report) -> String {
    let mut out = Vec::new();
    (format("text").unwrap().write)(report, Style::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn text_in_brief_tells_from_the_gate_on_everything_and_below_it_a_line() {
    let mut report = report();
    report.redact();
    let below = brief(&report);
    let told = "risks <script>alert(1)</script> | x (Secret/ns/s) [secret_emptied]";
    assert!(below.contains(told) && !below.contains("because data.key"), "{below}");
    assert!(!below.contains("→ run `x`") && below.contains("--full"), "{below}");
    report.verdict.gate = Severity::Risks;
    let full = brief(&report);
    assert!(full.contains("because data.key") && full.contains("→ run `x`"), "{full}");
    assert!(!full.contains("Below the gate"), "{full}");
}

#[test]
fn text_in_brief_says_once_what_differs_in_names_only() {
    let mut report = report();
    let finding = |name: &str| Finding {
        check: "pvc_shrunk",
        severity: Severity::Breaks,
        message: format!("Widget {name} shrinks"),
        objects: vec![object("Widget", name)],
        evidence: vec![Evidence::State { object: object("Widget", name), detail: "too large".into() }],
        advice: vec![format!("kubectl annotate widget {name} a=b"), "ask first".into()],
        operations: Vec::new(),
        condition: None,
    };
    report.findings = ["first", "second"].map(finding).into();
    let text = brief(&report);
    assert!(text.contains("breaks Widget first, second shrinks [pvc_shrunk]"), "{text}");
    assert!(text.contains("annotate widget first") && !text.contains("annotate widget second"), "{text}");
    assert_eq!(text.matches("too large").count(), 1, "{text}");
    report.findings[1].advice[1] = "ask twice".into();
    let text = brief(&report);
    assert!(text.contains("ask first") && text.contains("ask twice"), "{text}");
}

#[test]
fn text_in_brief_shows_actors_that_fare_alike_together_and_says_what_differs() {
    let mut report = report();
    let mut other = report.rehearsals[0].clone();
    other.actor = "helm9".into();
    other.ways.iter_mut().for_each(|way| way.made_by = "helm9".into());
    report.rehearsals.push(other);
    assert!(brief(&report).contains("helm3 3.22, helm9 3.22"), "{}", brief(&report));
    report.rehearsals[1].ways[0].operations[0].outcomes.remove(0);
    let text = brief(&report);
    assert!(!text.contains("helm3 3.22, helm9") && text.contains("helm9 3.22"), "{text}");
}

#[test]
fn what_cannot_go_on_is_told_as_broken_although_the_command_succeeds() {
    let mut report = report();
    let mut stuck = outcome("", Verdict::Breaks, Vec::new());
    stuck.steps[0].notes = vec!["Widget ns/a: Widget parts reconciliation failed: no such field".into()];
    assert_eq!(stuck.stuck(), [object("Widget", "a")]);
    report.rehearsals[0].ways[0].operations[0].outcomes = vec![stuck];
    let mut out = Vec::new();
    (format("text").unwrap().write)(&report, FULL, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("breaks, loses nothing, but Widget ×1 can't go on without help"), "{text}");
}

#[test]
fn long_markdown_is_cut_below_the_limit_and_says_so() {
    let mut report = report();
    let finding = report.findings[0].clone();
    report.findings = vec![finding; 500];
    let mut out = Vec::new();
    (format("markdown").unwrap().write)(&report, FULL, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.chars().count() < 65_536 && text.contains("Cut here"), "{}", text.len());
}

mod judged {
    use std::collections::BTreeSet;

    use super::*;
    use crate::report::judgement::{Evidence as Case, judge};

    fn way(operations: &[(&str, &[ObjectName])]) -> Way {
        let operation = |(name, lost): &(&str, &[ObjectName])| Operation {
            name: (*name).into(),
            flags: Vec::new(),
            outcomes: vec![outcome("", Verdict::of(0, true, lost), lost.to_vec())],
        };
        sample::way(operations.iter().map(operation).collect())
    }

    fn exit_code(operations: &[(&str, &[ObjectName])], findings: &[Finding], delivered: &[ObjectName]) -> u8 {
        let mut rehearsal = report().rehearsals.remove(0);
        rehearsal.ways = vec![way(operations)];
        let delivered: BTreeSet<ObjectName> = delivered.iter().cloned().collect();
        let rehearsals = [rehearsal];
        judge(&Case {
            rehearsals: &rehearsals,
            findings,
            gate: Severity::Breaks,
            ways: &[],
            open: false,
            delivered: &delivered,
        })
        .exit_code
    }

    #[test]
    fn losses_on_the_road_end_with_three() {
        let lost = [object("Widget", "a")];
        assert_eq!(exit_code(&[("upgrade", &[]), ("rollback", &lost)], &[], &lost), 3);
        assert_eq!(exit_code(&[("upgrade", &lost)], &[], &[]), 3);
        assert_eq!(exit_code(&[("upgrade", &[])], &[], &[]), 0);
    }

    #[test]
    fn uninstalling_what_the_chart_delivers_is_no_loss_but_users_objects_are() {
        let own = [object("Widget", "a")];
        assert_eq!(exit_code(&[("uninstall", &own)], &[], &own), 0);
        assert_eq!(exit_code(&[("uninstall", &own)], &[], &[]), 3);
        let definition = [object("CustomResourceDefinition", "widgets.example.test")];
        assert_eq!(exit_code(&[("uninstall", &definition)], &[], &definition), 3);
        assert_eq!(exit_code(&[("uninstall", &own), ("crds off", &[])], &[], &[]), 0);
        assert_eq!(exit_code(&[("uninstall", &own), ("crds off", &own)], &[], &[]), 3);
    }

    #[test]
    fn what_leaving_lost_before_is_not_the_upgrades_doing() {
        let own = [object("Widget", "a")];
        let mut rehearsal = report().rehearsals.remove(0);
        rehearsal.ways = vec![way(&[("upgrade", &[]), ("uninstall", &own)])];
        rehearsal.ways[0].loses_already = own.to_vec();
        let judged = |rehearsal: &Rehearsal| {
            judge(&Case {
                rehearsals: std::slice::from_ref(rehearsal),
                findings: &[],
                gate: Severity::Breaks,
                ways: &[],
                open: false,
                delivered: &BTreeSet::new(),
            })
        };
        let judgement = judged(&rehearsal);
        assert_eq!(judgement.exit_code, 0);
        assert!(judgement.summary.contains("not the upgrade's doing"), "{}", judgement.summary);
        rehearsal.ways[0].loses_already = vec![object("Widget", "b")];
        assert_eq!(judged(&rehearsal).exit_code, 3);
    }

    #[test]
    fn findings_count_from_the_gate_on() {
        let mut finding = report().findings.remove(0);
        assert_eq!(exit_code(&[("upgrade", &[])], &[finding.clone()], &[]), 0);
        finding.severity = Severity::Loses;
        assert_eq!(exit_code(&[("upgrade", &[])], &[finding], &[]), 2);
    }
}
