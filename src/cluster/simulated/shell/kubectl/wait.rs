//! `kubectl wait` and `kubectl rollout`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::delete::terminating;
use super::{Flow, Kubectl, Named, Stop, jsonpath};
use crate::cluster::{PatchType, Request};
use crate::k8s::At as _;
use crate::k8s::text;

/// Seconds between two looks: often at first, seldom later.
pub(super) fn interval(turns: u32) -> f64 {
    if turns < 10 { 1.0 } else { 5.0 }
}

/// `kubectl wait`
pub(super) fn main(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    let condition = kubectl.arguments.value("for").unwrap_or("").to_owned();
    let seconds = kubectl.arguments.duration("timeout").unwrap_or(30.0);
    // A negative timeout means a week.
    let seconds = if seconds < 0.0 { 604_800.0 } else { seconds };
    let deadline = kubectl.shell.host.now() + seconds;
    let operands = kubectl.arguments.operands.clone();
    let targets = match kubectl.wait_targets(&operands, &condition, deadline)? {
        Ok(targets) => targets,
        Err(status) => return Ok(status),
    };
    let mut status = 0;
    for named in targets {
        status = kubectl.wait_for(&named, &condition, deadline)?.max(status);
    }
    Ok(status)
}

/// `kubectl rollout status` and `restart`
pub(super) fn rollout(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    let operands = kubectl.arguments.operands.clone();
    let Some((verb, names)) = operands.split_first() else {
        return Ok(kubectl.fail("error: subcommand expected"));
    };
    let targets = match kubectl.targets_of(names)? {
        Ok(targets) => targets,
        Err(status) => return Ok(status),
    };
    let mut status = 0;
    for (named, _) in targets {
        status = match verb.as_str() {
            "status" => kubectl.rollout_status(&named)?,
            "restart" => kubectl.rollout_restart(&named)?,
            verb => return Err(Stop::Unknown(format!("kubectl rollout {verb}"))),
        }
        .max(status);
    }
    Ok(status)
}

impl Kubectl<'_, '_> {
    fn wait_targets(
        &mut self,
        operands: &[String],
        condition: &str,
        deadline: f64,
    ) -> Flow<Result<Vec<Named>, i32>> {
        let collection = self.arguments.value("selector").is_some() || self.arguments.on("all");
        match operands {
            [kinds] if collection => loop {
                let found = match self.collection(kinds)? {
                    Ok(found) => found,
                    Err(status) => return Ok(Err(status)),
                };
                if !found.is_empty() || condition == "delete" {
                    return Ok(Ok(found.into_iter().map(|(named, _)| named).collect()));
                }
                if condition != "create" || self.shell.host.now() >= deadline {
                    return Ok(Err(self.fail("error: no matching resources found")));
                }
                self.shell.host.sleep(1.0)?;
            },
            operands => Ok(self.operands(operands)),
        }
    }

    fn wait_for(&mut self, named: &Named, condition: &str, deadline: f64) -> Flow {
        let mut turns = 0;
        loop {
            let response = self.send(named.get())?;
            let object = response.ok().then_some(response.body.as_ref());
            match met(condition, object)
                .ok_or_else(|| Stop::Unknown(format!("kubectl wait --for={condition}")))?
            {
                true => {
                    self.report(named, object.unwrap_or(&Value::Null), "condition met")?;
                    return Ok(0);
                }
                false if object.is_none() && condition != "create" => return Ok(self.refused(&response)),
                false if self.shell.host.now() >= deadline => {
                    let line = format!("error: timed out waiting for the condition on {}", named.label());
                    return Ok(self.fail(&line));
                }
                false => self.shell.host.sleep(interval(turns))?,
            }
            turns += 1;
        }
    }

    fn rollout_status(&mut self, named: &Named) -> Flow {
        let deadline =
            self.arguments.duration("timeout").filter(|t| *t > 0.0).map(|t| self.shell.host.now() + t);
        let mut turns = 0;
        loop {
            let response = self.send(named.get())?;
            if !response.ok() {
                return Ok(self.refused(&response));
            }
            if rolled_out(&response.body) {
                let line = format!(
                    "{} \"{}\" successfully rolled out",
                    named.resource.kind.to_lowercase(),
                    named.name
                );
                self.say(&line);
                return Ok(0);
            }
            if deadline.is_some_and(|d| self.shell.host.now() >= d) {
                return Ok(self.fail("error: timed out waiting for the condition"));
            }
            self.shell.host.sleep(interval(turns))?;
            turns += 1;
        }
    }

    fn rollout_restart(&mut self, named: &Named) -> Flow {
        let stamp = format!("{:.0}", self.shell.host.now());
        let patch = json!({"spec": {"template": {"metadata": {"annotations": {
            "kubectl.kubernetes.io/restartedAt": stamp,
        }}}}});
        let resource = &named.resource.resource;
        let request =
            Request::patch(resource, &named.namespace, &named.name, PatchType::Merge, Arc::new(patch));
        let response = self.send(request.by("kubectl-rollout"))?;
        if !response.ok() {
            return Ok(self.refused(&response));
        }
        self.report(named, &response.body, "restarted")?;
        Ok(0)
    }
}

/// Whether a condition of `kubectl wait` holds; `None` when it can't be read.
fn met(condition: &str, object: Option<&Value>) -> Option<bool> {
    if condition == "delete" {
        return Some(object.is_none());
    }
    if condition == "create" {
        return Some(object.is_some());
    }
    let Some(object) = object else { return Some(false) };
    let (kind, rest) = condition.split_once('=')?;
    match kind {
        "condition" => {
            let (name, wanted) = rest.split_once('=').unwrap_or((rest, "true"));
            let conditions = object.at("/status/conditions").and_then(Value::as_array);
            let holds = |c: &&Value| text(c, "/type").eq_ignore_ascii_case(name);
            let found = conditions.into_iter().flatten().find(holds);
            Some(
                found.is_some_and(|c| text(c, "/status").eq_ignore_ascii_case(wanted))
                    && !terminating(object),
            )
        }
        "jsonpath" => {
            let (path, wanted) = match rest.rsplit_once("}=") {
                Some((path, wanted)) => (path, Some(wanted)),
                None => rest.split_once('=').map_or((rest, None), |(path, wanted)| (path, Some(wanted))),
            };
            let values = jsonpath::select(path.trim_matches('\''), object).ok()?;
            let shown = |v: &&Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
            Some(values.iter().any(|v| wanted.is_none_or(|w| shown(v) == w.trim_matches(['\'', '"']))))
        }
        _ => None,
    }
}

/// Whether a workload has its wanted state, by the fields that `rollout status` looks at.
fn rolled_out(object: &Value) -> bool {
    let number = |pointer: &str| object.at(pointer).and_then(Value::as_i64);
    let generation = number("/metadata/generation").unwrap_or(0);
    if number("/status/observedGeneration").unwrap_or(0) < generation {
        return false;
    }
    if text(object, "/kind") == "DaemonSet" {
        let wanted = number("/status/desiredNumberScheduled").unwrap_or(0);
        return ["/status/updatedNumberScheduled", "/status/numberAvailable"]
            .iter()
            .all(|p| number(p).unwrap_or(0) >= wanted);
    }
    let wanted = number("/spec/replicas").unwrap_or(1);
    let updated = number("/status/updatedReplicas").unwrap_or(0);
    let ready = number("/status/readyReplicas").unwrap_or(0);
    updated >= wanted && ready >= wanted && number("/status/replicas").unwrap_or(0) <= wanted
}
