//! Differences between two renders, as text and as JSON.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Ansi};

use super::Style;
use super::escape::line;
use crate::upgrade::diff::{Change, ChangeKind, FieldChange};
use crate::upgrade::secrets::{Secrets, hide_at};

/// One way to write differences.
pub struct ChangesFormat {
    /// Name on the command line.
    pub name: &'static str,
    /// Writes all differences.
    pub write: fn(&[Change], Style, &mut dyn Write) -> io::Result<()>,
}

/// Every way to write differences.
pub static CHANGES_FORMATS: &[ChangesFormat] =
    &[ChangesFormat { name: "text", write: text }, ChangesFormat { name: "json", write: json }];

/// Makes values of Secrets unreadable, also where other objects repeat them.
pub fn redact(changes: &mut [Change], secrets: &Secrets) {
    let redactor = secrets.redactor();
    for change in changes {
        let is_secret = change.object.kind == "Secret";
        for field in &mut change.fields {
            for value in [&mut field.before, &mut field.after].into_iter().flatten() {
                if is_secret {
                    hide_at(&field.path, value);
                }
                redactor.value(value);
            }
        }
    }
}

fn json(changes: &[Change], _: Style, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &serde_json::json!({ "schema_version": 1, "changes": changes }))
        .map_err(io::Error::other)?;
    out.write_all(b"\n")
}

fn text(changes: &[Change], style: Style, out: &mut dyn Write) -> io::Result<()> {
    changes.iter().try_for_each(|change| one(change, style, out))?;
    let count =
        |wanted: fn(&ChangeKind) -> bool| changes.iter().filter(|change| wanted(&change.kind)).count();
    writeln!(
        out,
        "{} added, {} removed, {} moved, {} changed",
        count(|kind| *kind == ChangeKind::Added),
        count(|kind| *kind == ChangeKind::Removed),
        count(|kind| matches!(kind, ChangeKind::Moved { .. })),
        count(|kind| *kind == ChangeKind::Changed)
    )
}

fn one(change: &Change, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let (sign, color, note) = match &change.kind {
        ChangeKind::Added => ("+", AnsiColor::Green, String::new()),
        ChangeKind::Removed => ("-", AnsiColor::Red, String::new()),
        ChangeKind::Changed => ("~", AnsiColor::Yellow, String::new()),
        ChangeKind::Moved { from, to } => (">", AnsiColor::Cyan, format!("  moves from {from} to {to}")),
    };
    let pen = if style.colored { Ansi::new().bold().fg_color(Some(color.into())) } else { Ansi::new() };
    writeln!(out, "{pen}{sign} {}{pen:#}{note}", line(&change.object.to_string()))?;
    for (label, source) in [("before", &change.source_before), ("after", &change.source_after)] {
        if let Some(source) = source {
            writeln!(out, "    {label}: {}", line(source))?;
        }
    }
    change.fields.iter().try_for_each(|field| one_field(field, out))
}

fn one_field(field: &FieldChange, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "    {}: {} → {}",
        line(&field.path),
        line(&short(field.before.as_ref())),
        line(&short(field.after.as_ref()))
    )
}

/// Longest value that is shown in one line, in characters.
const VALUE: usize = 120;

/// A value on one line, cut where it is long; `absent` for none.
pub(super) fn short(value: Option<&serde_json::Value>) -> String {
    let Some(value) = value else { return "absent".to_owned() };
    let text = value.to_string();
    if text.chars().count() <= VALUE {
        return text;
    }
    format!("{}…", text.chars().take(VALUE).collect::<String>())
}
