//! How kubectl words what went wrong: one error in full, several as one line each.
//!
//! Source: k8s.io/kubectl v0.34.3, `pkg/cmd/util/helpers.go` (`checkErr`, `StandardErrorMessage`, `AddSourceToErr`,
//! `MultilineError`), `pkg/cmd/apply/apply.go` (`applyOneObject`).

use serde_json::Value;

use crate::cluster::ApiResource;
use crate::k8s::At as _;
use crate::k8s::{Gvk, text};
use crate::schema::go_json;
use crate::upgrade::link::{Address, Fault};

/// What kubectl appends to a conflict of server-side apply.
const REVIEW: &str = "\nPlease review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts";

/// What is on standard error for these errors.
pub(super) fn told(faults: &[Fault]) -> String {
    match faults {
        [] => String::new(),
        [one] => alone(one),
        several => several.iter().map(|fault| format!("{}\n", line(fault))).collect(),
    }
}

/// One error among others.
fn line(fault: &Fault) -> String {
    match fault.reason.as_str() {
        "" => fault.text.clone(),
        reason => format!("Error from server ({reason}): {}", fault.text),
    }
}

/// The only error of a command.
fn alone(fault: &Fault) -> String {
    match fault.reason.as_str() {
        "" => format!("error: {}\n", fault.text),
        "Invalid" => invalid(fault),
        _ => format!("{}\n", line(fault)),
    }
}

/// A refused object with the causes that the server names.
fn invalid(fault: &Fault) -> String {
    let kind = text(&fault.details, "/kind");
    let name = text(&fault.details, "/name");
    let head = format!("The {kind} \"{name}\" is invalid");
    let causes = fault.details.at("/causes").and_then(Value::as_array).into_iter().flatten();
    let mut lines: Vec<String> = Vec::new();
    for cause in causes {
        let line = format!("{}: {}", text(cause, "/field"), text(cause, "/message"));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    match lines.as_slice() {
        [] => format!("{head}\n"),
        [one] => format!("{head}: {one}\n"),
        several => {
            let lines: String = several.iter().map(|line| format!("* {line}\n")).collect();
            format!("{head}: \n{lines}")
        }
    }
}

/// An error with what was being done to what.
pub(super) fn when(verb: &str, fault: Fault) -> Fault {
    Fault { text: format!("error when {verb} \"STDIN\": {}", fault.text), ..fault }
}

/// An error of a client-side apply whose patch was refused.
pub(super) fn when_patching(patch: &Value, address: &Address, gvk: &Gvk, fault: Fault) -> Fault {
    let verb = format!("applying patch:\n{}\nto:\n{}\nfor:", go_json(patch), described(address, gvk));
    when(&verb, when("patching", fault))
}

/// An object as kubectl describes it.
pub(super) fn described(address: &Address, gvk: &Gvk) -> String {
    let resource = &address.resource;
    let group = match resource.group.as_str() {
        "" => format!("/{}", resource.version),
        group => format!("{group}/{}", resource.version),
    };
    let (version, kind) =
        (if gvk.group.is_empty() { format!("/{}", gvk.version) } else { gvk.api_version() }, &gvk.kind);
    format!(
        "Resource: \"{group}, Resource={}\", GroupVersionKind: \"{version}, Kind={kind}\"\nName: \"{}\", Namespace: \"{}\"",
        resource.plural, address.name, address.namespace
    )
}

/// A conflict of server-side apply, with the ways out; every other error as it is.
pub(super) fn reviewed(fault: Fault) -> Fault {
    if !fault.conflict() {
        return fault;
    }
    Fault { reason: String::new(), text: format!("{}{REVIEW}", fault.text), ..fault }
}

/// The warning about a live object that client-side apply knows nothing of.
pub(super) fn unknown_origin(api: &ApiResource, name: &str, annotation: &str) -> String {
    let resource = &api.resource;
    let dot = if resource.group.is_empty() { "" } else { "." };
    format!(
        "Warning: resource {}{dot}{}/{name} is missing the {annotation} annotation which is required by kubectl apply. \
         kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or \
         kubectl apply. The missing annotation will be patched automatically.\n",
        resource.plural, resource.group
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fault(reason: &str, text: &str) -> Fault {
        let details = json!({
            "kind": "Widget", "name": "a",
            "causes": [{"field": "spec.x", "message": "Required value"}, {"field": "spec.y", "message": "Required value"}],
        });
        Fault { status: 422, reason: reason.to_owned(), text: text.to_owned(), details }
    }

    #[test]
    fn one_error_is_told_in_full_and_several_as_lines() {
        let invalid = fault(
            "Invalid",
            "Widget.example.org \"a\" is invalid: [spec.x: Required value, spec.y: Required value]",
        );
        let one = told(std::slice::from_ref(&invalid));
        assert_eq!(
            one,
            "The Widget \"a\" is invalid: \n* spec.x: Required value\n* spec.y: Required value\n"
        );
        let forbidden = when("creating", fault("Forbidden", "no"));
        assert_eq!(
            told(std::slice::from_ref(&forbidden)),
            "Error from server (Forbidden): error when creating \"STDIN\": no\n"
        );
        let both = told(&[invalid, forbidden, Fault::of_client("no matches")]);
        let lines: Vec<&str> = both.lines().collect();
        assert!(lines[0].starts_with("Error from server (Invalid): Widget.example.org \"a\" is invalid: ["));
        assert_eq!(lines[2], "no matches");
    }

    #[test]
    fn a_conflict_names_the_ways_out() {
        let conflict = Fault { status: 409, ..fault("Conflict", "Apply failed with 1 conflict") };
        let text = told(&[reviewed(conflict)]);
        assert!(
            text.starts_with("error: Apply failed with 1 conflict\nPlease review the fields above"),
            "{text}"
        );
    }
}
