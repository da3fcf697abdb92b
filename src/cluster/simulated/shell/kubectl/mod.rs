//! kubectl: the subcommands that scripts use, as requests of the script's user.
//!
//! Behaviour copied from kubectl 1.34 (`k8s.io/kubectl` 0.34.3, `pkg/cmd`): which requests a subcommand makes, its
//! field managers, exit status and the texts that scripts look at.

use std::sync::Arc;

use serde_json::Value;

use super::execution::Shell;
use super::streams::Streams;
use super::{Flow, Stop};
use crate::cluster::{ApiResource, Request, Response};
use crate::k8s::text;

mod apply;
mod arguments;
mod change;
mod create;
mod delete;
mod get;
mod jsonpath;
mod manifests;
mod output;
mod resources;
mod wait;

use arguments::Arguments;

/// A subcommand.
type Subcommand = fn(&mut Kubectl<'_, '_>) -> Flow;

const SUBCOMMANDS: &[(&str, Subcommand)] = &[
    ("annotate", change::annotate),
    ("api-resources", get::api_resources),
    ("apply", apply::main),
    ("cluster-info", nothing),
    ("config", nothing),
    ("create", create::main),
    ("delete", delete::main),
    ("get", get::main),
    ("label", change::label),
    ("patch", change::patch),
    ("replace", create::replace),
    ("rollout", wait::rollout),
    ("scale", change::scale),
    ("version", version),
    ("wait", wait::main),
];

/// One call of kubectl.
pub(super) struct Kubectl<'a, 'h> {
    shell: &'a mut Shell<'h>,
    streams: &'a Streams,
    arguments: Arguments,
    resources: Arc<Vec<ApiResource>>,
}

/// One object as kubectl names it on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    resource: ApiResource,
    namespace: String,
    name: String,
}

/// Seconds that one call takes: scripts that begin together go on side by side, call by call.
const CALL: f64 = 0.3;

/// `kubectl …`
pub(super) fn main(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let mut arguments = arguments::parse(arguments);
    if arguments.operands.is_empty() {
        return Ok(0);
    }
    let name = arguments.operands.remove(0);
    let Some((_, subcommand)) = SUBCOMMANDS.iter().find(|(known, _)| *known == name) else {
        return Err(Stop::Unknown(format!("kubectl {name}")));
    };
    shell.called()?;
    shell.host.sleep(CALL)?;
    let resources = shell.host.discover();
    subcommand(&mut Kubectl { shell, streams, arguments, resources })
}

fn nothing(_: &mut Kubectl<'_, '_>) -> Flow {
    Ok(0)
}

fn version(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    kubectl.say("Client Version: v1.34.3\nKustomize Version: v5.7.1\nServer Version: v1.34.3");
    Ok(0)
}

impl Kubectl<'_, '_> {
    /// Writes a line to standard output.
    fn say(&mut self, line: &str) {
        self.shell.write(self.streams, 1, &format!("{line}\n"));
    }

    /// Writes an error; the status of a failed call.
    fn fail(&mut self, line: &str) -> i32 {
        self.shell.write(self.streams, 2, &format!("{line}\n"));
        1
    }

    /// Writes a refusal of the server; the status of a failed call.
    fn refused(&mut self, response: &Response) -> i32 {
        let reason = text(&response.body, "/reason");
        let from = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        let line = format!("Error from server{from}: {}", response.message());
        self.fail(&line)
    }

    /// Sends a request as the script's user; warnings go to standard error.
    fn send(&mut self, request: Request) -> Flow<Response> {
        self.shell.step()?;
        let mut request = request.user(&self.shell.program.user);
        request.dry_run |= self.arguments.value("dry-run") == Some("server");
        let response = self.shell.host.send(request)?;
        for warning in &response.warnings {
            let line = format!("Warning: {warning}\n");
            self.shell.write(self.streams, 2, &line);
        }
        Ok(response)
    }

    /// The namespace for objects that don't say theirs.
    fn namespace(&self) -> String {
        self.arguments.value("namespace").unwrap_or(&self.shell.program.namespace).to_owned()
    }

    /// Whether nothing shall be sent that changes something.
    fn client_dry_run(&self) -> bool {
        matches!(self.arguments.value("dry-run"), Some("client" | "true" | "unchanged"))
    }

    /// Reports what was done to an object, in the form that `-o` asks for.
    fn report(&mut self, named: &Named, object: &Value, done: &str) -> Flow<()> {
        match self.arguments.value("output").map(str::to_owned) {
            None => {
                let dry = match self.arguments.value("dry-run") {
                    Some("server") => " (server dry run)",
                    Some(_) if self.client_dry_run() => " (dry run)",
                    _ => "",
                };
                let line = format!("{} {done}{dry}", named.label());
                self.say(&line);
            }
            Some(form) if form == "name" => {
                let line = named.label();
                self.say(&line);
            }
            Some(form) => output::print(self, &form, object)?,
        }
        Ok(())
    }
}

impl Named {
    /// `kind.group/name`, as kubectl prints it.
    fn label(&self) -> String {
        format!("{}/{}", self.qualified_kind(), self.name)
    }

    /// `kind.group`, in lower case.
    fn qualified_kind(&self) -> String {
        let kind = self.resource.kind.to_lowercase();
        let group = &self.resource.resource.group;
        if group.is_empty() { kind } else { format!("{kind}.{group}") }
    }

    fn get(&self) -> Request {
        Request::get(&self.resource.resource, &self.namespace, &self.name)
    }
}
