//! Markdown for a pull request: verdict, table, collapsible details, cut below the hosts' limit.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::counsel::{AFTERWARDS, counsels};
use super::ends::{Back, when, whenever};
use super::escape::{code_block, code_span, markdown, markdown_html, markdown_with_code};
use super::matrix::Matrix;
use super::model::by_kind;
use super::steps::Step;
use super::text::describe;
use super::{Report, Style};
use crate::finding::{Finding, Severity};
use crate::upgrade::outcome::Verdict;

/// Longest comment that pull request hosts take, in characters (GitHub: 65,536), less room for the note.
const LIMIT: usize = 65_000;

pub(super) fn write(report: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut parts = vec![head(report), table(report), counsel(report), not_checked(report)];
    parts.extend(report.causes().map(finding));
    parts.push(losses(report));
    out.write_all(within_limit(&parts).as_bytes())
}

fn within_limit(parts: &[String]) -> String {
    let mut text = String::new();
    let mut length = 0;
    for (n, part) in parts.iter().enumerate() {
        length += part.chars().count();
        if length > LIMIT {
            let _ = writeln!(
                text,
                "\n**Cut here: {} more sections are in the full report** (`-o html=report.html`).",
                parts.len() - n
            );
            break;
        }
        text.push_str(part);
    }
    text
}

fn head(report: &Report) -> String {
    let word = match report.verdict.level {
        "loses" => "🔴 loses objects",
        "findings" => "🟡 findings",
        "not-checked" => "⚪ could not check",
        _ => "🟢 safe",
    };
    format!(
        "## seatrial: {word}\n\n**{} {} → {}**, release {} in {}, Kubernetes {}, {}\n\n{}{}\n\n",
        markdown(&report.after.name),
        markdown(&report.before.version),
        markdown(&report.after.version),
        code_span(&report.release),
        code_span(&report.namespace),
        markdown(&report.kubernetes),
        markdown_with_code(&report.start),
        answered(report),
        markdown_with_code(&report.verdict.summary)
    )
}

fn answered(report: &Report) -> String {
    match report.verdict.answer.as_str() {
        "" => String::new(),
        answer => format!("**{}**\n\n", markdown_with_code(answer)),
    }
}

fn table(report: &Report) -> String {
    let matrix = Matrix::of(&report.rehearsals);
    if matrix.rows.is_empty() {
        return String::new();
    }
    let heads: Vec<&str> = matrix.columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = format!("| actor | way | {} |\n", heads.join(" | "));
    let _ = writeln!(text, "| --- | --- |{}", " --- |".repeat(heads.len()));
    for row in &matrix.rows {
        let arrow = if row.recommended { "→ " } else { "" };
        let cells: Vec<String> = row
            .cells
            .iter()
            .map(|cell| {
                format!("{}{}{}", mark(cell.verdict), cell.text, if cell.conditional { " \\*" } else { "" })
            })
            .collect();
        let _ = writeln!(
            text,
            "| {} | {arrow}{} | {} |",
            markdown(&row.actor),
            markdown(&row.way),
            cells.join(" | ")
        );
    }
    let legend = matrix.legend(true);
    let legend = legend.iter().map(|(word, means)| format!("**{}**: {means}", markdown(word)));
    let _ = writeln!(text, "\n<sub>{}</sub>\n", legend.collect::<Vec<_>>().join(" · "));
    text
}

fn mark(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => "",
        Some(Verdict::Keeps) => "🟢 ",
        Some(Verdict::Refused | Verdict::Breaks) => "🟡 ",
        Some(Verdict::Loses) => "🔴 ",
    }
}

fn losses(report: &Report) -> String {
    let losing = report.losing_outcomes();
    if losing.is_empty() {
        return String::new();
    }
    let operations = losing.iter().filter(|losing| losing.is_worst()).count();
    let mut text = format!("<details><summary>What is lost ({operations} operations)</summary>\n\n");
    for losing in losing {
        let outcome = losing.outcome;
        let condition = match whenever(outcome).as_str() {
            "" => String::new(),
            condition => format!(", {}", markdown(condition)),
        };
        let what = markdown(&by_kind(&outcome.lost));
        let _ = writeln!(text, "- **{}**: {what}{condition}", markdown(&losing.label()));
        if let Some(step) = outcome.steps.last().filter(|_| losing.is_worst()) {
            let _ = writeln!(text, "  {} exits with {}", code_span(&step.command), step.exit_code);
        }
    }
    text.push_str("\n</details>\n\n");
    text
}

fn counsel(report: &Report) -> String {
    let counsels = counsels(report);
    let mut text = if counsels.is_empty() { String::new() } else { "### What to do\n\n".to_owned() };
    for counsel in &counsels {
        let _ =
            writeln!(text, "**{}**: {}\n", markdown(&counsel.label), markdown_with_code(&counsel.summary));
        if !counsel.steps.is_empty() {
            let note = Some(format!("# {AFTERWARDS}")).filter(|_| !counsel.afterwards.is_empty());
            let [steps, afterwards] =
                [&counsel.steps, &counsel.afterwards].map(|steps| steps.iter().map(Step::shell));
            let lines: Vec<String> = steps.chain(note).chain(afterwards).collect();
            let _ = writeln!(text, "{}", code_block("sh", &lines.join("\n")));
            let _ = writeln!(text, "{}\n", markdown(&counsel.rehearsed));
        }
        for end in &counsel.ends {
            let _ = writeln!(text, "- {}", markdown_with_code(end));
        }
        if let Some(back) = &counsel.back {
            text.push_str(&way_back(back));
        }
        text.push('\n');
    }
    text
}

fn way_back(back: &Back) -> String {
    let parts = [
        Some(code_span(&back.command)).filter(|_| !back.command.is_empty()),
        Some(markdown_with_code(&back.note)).filter(|note| !note.is_empty()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("- **to go back**: {}\n", parts.join(": "))
}

fn finding(finding: &Finding) -> String {
    let mark = match finding.severity {
        Severity::Loses => "🔴 loses",
        Severity::Breaks => "🟡 breaks",
        Severity::Risks => "🔵 risks",
        Severity::Notes => "⚪ notes",
    };
    let mut text = format!(
        "<details><summary>{mark}: {}</summary>\n\n{}\n\n",
        markdown_html(&finding.message),
        code_span(finding.check)
    );
    if let Some(condition) = &finding.condition {
        let _ = writeln!(text, "Holds {}.\n", markdown(&when(condition)));
    }
    for object in &finding.objects {
        let _ = writeln!(text, "- {}", code_span(&object.to_string()));
    }
    for evidence in &finding.evidence {
        let _ = writeln!(text, "- because {}", code_span(&describe(evidence)));
    }
    text.push('\n');
    for advice in &finding.advice {
        match is_command(advice) {
            true => text.push_str(&code_block("sh", advice)),
            false => {
                let _ = writeln!(text, "→ {}\n", markdown_with_code(advice));
            }
        }
    }
    text.push_str("\n</details>\n\n");
    text
}

/// Whether advice is nothing but commands for a shell.
fn is_command(advice: &str) -> bool {
    let prose = [" (", "; ", " where ", " while ", " and "];
    advice.lines().all(|line| {
        ["kubectl ", "helm "].iter().any(|program| line.starts_with(program))
            && !prose.iter().any(|words| line.contains(words))
    })
}

fn not_checked(report: &Report) -> String {
    if report.not_checked.is_empty() {
        return String::new();
    }
    let mut text = String::from("**Could not check**\n\n");
    for line in &report.not_checked {
        let _ = writeln!(text, "- {}", markdown_with_code(line));
    }
    text
}
