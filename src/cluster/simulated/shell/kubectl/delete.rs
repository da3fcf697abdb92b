//! `kubectl delete`.

use serde_json::Value;

use super::{Flow, Kubectl, Named};
use crate::cluster::{Propagation, Request};
use crate::k8s::text;

/// `kubectl delete`
pub(super) fn main(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    let (targets, lenient) = match kubectl.targets()? {
        Ok(found) => found,
        Err(status) => return Ok(status),
    };
    if targets.is_empty() {
        kubectl.say("No resources found");
        return Ok(0);
    }
    let lenient = kubectl.arguments.switch("ignore-not-found", lenient);
    let mut status = 0;
    let mut gone = Vec::new();
    for named in targets {
        status = kubectl.delete(named, lenient, &mut gone)?.max(status);
    }
    if kubectl.arguments.switch("wait", true) && !kubectl.client_dry_run() {
        let late = kubectl.await_deletion(&gone)?;
        status = status.max(late);
    }
    Ok(status)
}

impl Kubectl<'_, '_> {
    /// What shall be deleted, and whether a missing object is fine by default.
    fn targets(&mut self) -> Flow<Result<(Vec<Named>, bool), i32>> {
        if self.arguments.value("filename").is_some() {
            let manifests = match self.manifests()? {
                Ok(manifests) => manifests,
                Err(status) => return Ok(Err(status)),
            };
            let named =
                manifests.iter().map(|m| self.named(&m.object, &m.source)).collect::<Result<Vec<_>, _>>();
            return Ok(named.map(|n| (n, false)));
        }
        let operands = self.arguments.operands.clone();
        let collection = self.arguments.value("selector").is_some()
            || self.arguments.value("field-selector").is_some()
            || self.arguments.on("all");
        match operands.as_slice() {
            [kinds] if collection => {
                let found = self.collection(kinds)?;
                Ok(found.map(|objects| (objects.into_iter().map(|(named, _)| named).collect(), true)))
            }
            [single] if !single.contains('/') => {
                Ok(Err(self.fail("error: resource(s) were provided, but no name was specified")))
            }
            operands => Ok(self.operands(operands).map(|named| (named, false))),
        }
    }

    fn delete(&mut self, named: Named, lenient: bool, gone: &mut Vec<(Named, String)>) -> Flow {
        if self.client_dry_run() {
            self.report_deleted(&named);
            return Ok(0);
        }
        let propagation = match self.arguments.value("cascade") {
            Some("orphan" | "false") => Propagation::Orphan,
            Some("foreground") => Propagation::Foreground,
            _ => Propagation::Background,
        };
        let request =
            Request::delete(&named.resource.resource, &named.namespace, &named.name, Some(propagation));
        let response = self.send(request)?;
        if response.status == 404 && lenient {
            return Ok(0);
        }
        if !response.ok() {
            return Ok(self.refused(&response));
        }
        self.report_deleted(&named);
        let uid = [text(&response.body, "/details/uid"), text(&response.body, "/metadata/uid")];
        let uid = uid.into_iter().find(|uid| !uid.is_empty()).unwrap_or("").to_owned();
        gone.push((named, uid));
        Ok(0)
    }

    fn report_deleted(&mut self, named: &Named) {
        let by_name = self.arguments.value("output") == Some("name");
        let line = match by_name {
            true => named.label(),
            false => format!("{} \"{}\" deleted", named.qualified_kind(), named.name),
        };
        self.say(&line);
    }

    /// Waits until the deleted objects are gone or have come back as others.
    fn await_deletion(&mut self, gone: &[(Named, String)]) -> Flow {
        let deadline =
            self.arguments.duration("timeout").filter(|t| *t > 0.0).map(|t| self.shell.host.now() + t);
        for (named, uid) in gone {
            let mut turns = 0;
            loop {
                let response = self.send(named.get())?;
                let same = response.ok() && text(&response.body, "/metadata/uid") == uid;
                if !same && (response.status == 404 || response.ok() && !uid.is_empty()) {
                    break;
                }
                if !response.ok() && response.status != 429 {
                    return Ok(self.refused(&response));
                }
                if deadline.is_some_and(|d| self.shell.host.now() >= d) {
                    let line = format!("error: timed out waiting for the condition on {}", named.label());
                    return Ok(self.fail(&line));
                }
                self.shell.host.sleep(super::wait::interval(turns))?;
                turns += 1;
            }
        }
        Ok(0)
    }

    /// Deletes an object and waits until it is gone, as `replace --force` does.
    pub(super) fn delete_and_wait(&mut self, named: &Named) -> Flow {
        let mut gone = Vec::new();
        let status = self.delete(named.clone(), true, &mut gone)?;
        let late = self.await_deletion(&gone)?;
        Ok(status.max(late))
    }
}

/// Whether an object is on its way out.
pub(super) fn terminating(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}
