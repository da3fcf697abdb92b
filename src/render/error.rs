//! Why a chart does not render, as each Helm says it.

use std::fmt;

use super::Helm;
use crate::template;

/// The line that Helm adds when it got as far as rendering.
const DEBUG_HINT: &str = "\n\nUse --debug flag to render out invalid YAML";

/// A failed render.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Helm's text, without the leading `Error: `.
    pub message: String,
    /// Whether Helm had begun to render, and so points to `--debug`.
    pub rendering: bool,
    /// What was printed before, complete lines.
    pub warnings: Vec<String>,
}

impl Error {
    /// A failure before rendering began.
    #[must_use]
    pub fn before(message: impl Into<String>) -> Self {
        Self { message: message.into(), rendering: false, warnings: Vec::new() }
    }

    /// A failure while rendering.
    #[must_use]
    pub fn rendering(message: impl Into<String>) -> Self {
        Self { rendering: true, ..Self::before(message) }
    }

    /// The exit code of Helm.
    pub const EXIT_CODE: u8 = 1;

    /// Everything `helm template` writes to standard error.
    #[must_use]
    pub fn stderr(&self) -> String {
        let mut out = String::new();
        for line in &self.warnings {
            out.push_str(line);
            out.push('\n');
        }
        let hint = if self.rendering { DEBUG_HINT } else { "" };
        out.push_str(&format!("Error: {}{hint}\n", self.message));
        out
    }
}

impl From<crate::chart::Error> for Error {
    fn from(error: crate::chart::Error) -> Self {
        Self { warnings: error.notices, ..Self::before(error.message) }
    }
}

/// Before and after the text of `required` and `fail`.
pub(super) const WARNING: (&str, &str) = ("HELM_ERR_START", "HELM_ERR_END");

/// A template that can't be parsed: the place and the last part of Go's message.
///
/// As Helm v4.3.1 `pkg/engine/engine.go` `cleanupParseError`.
pub(super) fn parse_error(file: &str, error: &template::error::Error) -> Error {
    let text = error.to_string();
    let parts: Vec<_> = text.split(": ").collect();
    Error::rendering(match parts.as_slice() {
        [_, place, .., last] => format!("parse error at ({place}): {last}"),
        [_, last] => format!("parse error at ({last}): {last}"),
        _ => format!("parse error in ({file}): {text}"),
    })
}

/// A template that fails while it runs.
///
/// As Helm v4.3.1 `pkg/engine/engine.go` `reformatExecErrorMsg`, Helm v3.22.0 `cleanupExecError`.
pub(super) fn exec_error(file: &str, error: &template::error::Error, helm: Helm) -> Error {
    let text = error.to_string();
    let text = if helm.compares_without_types() { without_types(text) } else { text };
    if error.place.is_none() && error.name.is_empty() {
        return Error::rendering(text);
    }
    let mut parts = text.splitn(3, ": ");
    let (Some(_), Some(place), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Error::rendering(format!("execution error in ({file}): {text}"));
    };
    if let Some(warning) = marked(rest) {
        return Error::rendering(format!("execution error at ({place}): {warning}"));
    }
    let traced = if helm.traces_errors() { trace(error) } else { None };
    Error::rendering(traced.unwrap_or(text))
}

/// What can't be compared, as Go tells it up to 1.23: it stands at the end of a chain of errors.
fn without_types(text: String) -> String {
    const BAD: &str = ": incompatible types for comparison";
    let called = ["eq", "ne", "lt", "le", "gt", "ge"].map(|name| format!("error calling {name}{BAD}: "));
    let at = called.iter().filter_map(|called| Some(text.rfind(called)? + called.len() - 2)).max();
    at.and_then(|at| text.get(..at).map(str::to_owned)).unwrap_or(text)
}

/// The text between the marks of `required` and `fail`, as long as it gets.
fn marked(text: &str) -> Option<&str> {
    let start = text.find(WARNING.0)? + WARNING.0.len();
    let end = text.rfind(WARNING.1)?;
    text.get(start..end)
}

/// Helm 4's lines, one group per template; `None` when some error of the chain is not a template's.
fn trace(error: &template::error::Error) -> Option<String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut current = Some(error);
    while let Some(error) = current {
        let step = Step::parse(&error.to_string())?;
        if steps.last() != Some(&step) {
            steps.push(step);
        }
        if let Some(leaf) = leaf(error) {
            steps.push(Step::parse(&leaf)?);
        }
        current = error.cause.as_deref();
    }
    Some(steps.iter().map(ToString::to_string).collect::<String>().trim().to_owned())
}

/// The text of the error that a called function itself returned, when it is not simply that of a template.
fn leaf(error: &template::error::Error) -> Option<String> {
    let (_, words) = error.message.strip_prefix("error calling ")?.split_once(": ")?;
    match &error.cause {
        Some(_) if words.is_empty() => None,
        Some(cause) => Some(format!("{words}{cause}")),
        None => Some(words.to_owned()),
    }
}

/// One error of the chain, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    place: String,
    executing: String,
    message: String,
}

impl Step {
    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("template: ")?;
        if rest.starts_with("no template ") {
            return Some(Self { message: text.to_owned(), ..Self::default() });
        }
        Self::executing(rest).or_else(|| Self::simple(rest))
    }

    /// `<place>: executing "<name>" at <<node>>: <message>`.
    fn executing(rest: &str) -> Option<Self> {
        let (place, after) = rest.split_once(": executing ")?;
        let (name, after) = after.strip_prefix('"')?.split_once('"')?;
        let (node, message) = after.strip_prefix(" at <")?.split_once(">: ")?;
        Some(Self {
            place: place.to_owned(),
            executing: format!("executing \"{name}\" at <{node}>:"),
            message: before_next(message).to_owned(),
        })
    }

    /// `<name>: <message>`.
    fn simple(rest: &str) -> Option<Self> {
        let (name, message) = rest.rsplit_once(": ")?;
        let message = before_next(message).to_owned();
        Some(Self { place: name.to_owned(), executing: String::new(), message })
    }
}

/// Cuts off the text of the error that caused this one.
fn before_next(message: &str) -> &str {
    message.find(" template:").and_then(|at| message.get(..at)).unwrap_or(message)
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}\n  ", self.place)?;
        }
        if !self.executing.is_empty() {
            write!(f, "{}\n    ", self.executing)?;
        }
        if !self.message.is_empty() {
            writeln!(f, "{}", self.message)?;
        }
        Ok(())
    }
}
