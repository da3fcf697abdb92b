//! `helm upgrade`.
//!
//! Source: Helm, `pkg/action/upgrade.go`.

use std::sync::Arc;

use super::apply::{Method, Written, delete_all, update_all};
use super::objects::Target;
use super::{Session, hooks, install, ownership, reuse_values, revision, rollback, server_side, valid_name};
use crate::chart::{Chart, Values};
use crate::cluster::Propagation;
use crate::render::HookEvent;
use crate::upgrade::release::{ApplyMethod, Release, Status};

/// Runs the command, or install when `--install` says so and there is no release.
///
/// # Errors
/// The text behind `Error: `.
pub(super) fn command(
    session: &mut Session<'_, '_>,
    chart: &Arc<Chart>,
    values: &Arc<Values>,
) -> Result<String, String> {
    let name = &session.subject.release;
    if session.flags.install {
        let last = session.history()?.pop();
        if last.as_ref().is_none_or(|release| release.status == Status::Uninstalled) {
            session.flags.replace = last.is_some();
            let printed = install::run(session, chart, values)?;
            return Ok(format!("Release \"{name}\" does not exist. Installing it now.\n{printed}"));
        }
    }
    let release = run(session, chart, values).map_err(|error| format!("UPGRADE FAILED: {error}"))?;
    Ok(format!("Release \"{name}\" has been upgraded. Happy Helming!\n{}", session.summary(&release)))
}

/// What an upgrade is about to do.
struct Plan {
    old: Release,
    new: Release,
    current: Vec<Target>,
    targets: Vec<Target>,
    server_side: bool,
}

fn run(session: &mut Session<'_, '_>, chart: &Arc<Chart>, values: &Arc<Values>) -> Result<Release, String> {
    session.wait_when_atomic();
    let mut plan = prepare(session, chart, values)?;
    session.storage.create(&mut session.link, &plan.new, session.flags.history_max)?;
    let mut created = Vec::new();
    match perform(session, &plan, &mut created) {
        Ok(()) => {
            plan.old.status = Status::Superseded;
            session.record(&plan.old);
            plan.new.status = Status::Deployed;
            let description = &session.flags.description;
            plan.new.description =
                if description.is_empty() { "Upgrade complete".to_owned() } else { description.clone() };
            session.storage.update(&mut session.link, &plan.new)?;
            Ok(plan.new)
        }
        Err(error) => Err(fail(session, &mut plan.new, &created, error)),
    }
}

/// Everything up to the first write.
fn prepare(session: &mut Session<'_, '_>, chart: &Arc<Chart>, values: &Arc<Values>) -> Result<Plan, String> {
    let name = session.subject.release.clone();
    if !valid_name(&name) {
        return Err(format!("release name is invalid: {name}"));
    }
    let (last, old) = revisions(session, &name)?;
    let (chart, values) = reuse_values(session.dialect, session.flags.reuse, &old, chart, values)?;
    let render = session.render(&chart, &values, last.revision + 1, true)?;
    let server_side = session.dialect.is_v4() && server_side(session.flags.server_side, last.apply_method);
    let mut new = revision(session, last.revision + 1, Status::PendingUpgrade, render);
    new.description = "Preparing upgrade".to_owned();
    new.first_deployed = old.first_deployed;
    new.apply_method = session.method_mark(server_side);
    let render = Arc::clone(&new.render);
    let targets = session.build(&render)?;
    let mut current = session.build(&old.render).map_err(|error| unbuildable(&error))?;
    let targets = session.owned(&targets);
    let fresh: Vec<Target> =
        targets.iter().filter(|target| !current.iter().any(|old| old.same_key(target))).cloned().collect();
    let (take, namespace) = (session.flags.take_ownership, session.subject.namespace.clone());
    let adopted = ownership::adoptable(&mut session.link, session.dialect, &fresh, take, (&name, &namespace))
        .map_err(|error| session.dialect.unable("update", &error))?;
    session.announce(&fresh, &render, Some(&old.render))?;
    current.extend(adopted);
    Ok(Plan { old, new, current, targets, server_side })
}

fn unbuildable(error: &str) -> String {
    if error.contains("unable to recognize \"\": no matches for kind") {
        return format!(
            "current release manifest contains removed kubernetes api(s) for this kubernetes version and it is therefore unable to build the kubernetes objects for performing the diff. error from kubernetes: {error}"
        );
    }
    format!("unable to build kubernetes objects from current release manifest: {error}")
}

/// The last revision, and the one whose objects are taken for live.
fn revisions(session: &mut Session<'_, '_>, name: &str) -> Result<(Release, Release), String> {
    let none = || format!("\"{name}\" has no deployed releases");
    let history = session.history()?;
    let last = history.last().cloned().ok_or_else(none)?;
    if last.status.is_pending() {
        return Err("another operation (install/upgrade/rollback) is in progress".to_owned());
    }
    if last.status == Status::Deployed {
        return Ok((last.clone(), last));
    }
    match history.into_iter().rev().find(|release| release.status == Status::Deployed) {
        Some(deployed) => Ok((last, deployed)),
        None if matches!(last.status, Status::Failed | Status::Superseded) => Ok((last.clone(), last)),
        None => Err(none()),
    }
}

fn perform(session: &mut Session<'_, '_>, plan: &Plan, created: &mut Vec<Target>) -> Result<(), String> {
    if !session.flags.no_hooks {
        hooks::run(session, &plan.new, HookEvent::PreUpgrade, plan.server_side)
            .map_err(|error| format!("pre-upgrade hooks failed: {error}"))?;
    }
    let method = Method {
        server_side: plan.server_side,
        force_conflicts: session.flags.force_conflicts,
        force_replace: session.flags.force_replace,
        three_way: false,
        migrate: plan.server_side && plan.old.apply_method != ApplyMethod::ServerSide,
    };
    let mut written = Written::default();
    let result =
        update_all(&mut session.link, &plan.current, &plan.targets, method, session.dialect, &mut written);
    session.log.push_str(&written.log);
    *created = written.created;
    let result = result.and_then(|()| session.wait_ready(&plan.targets));
    if let Err(error) = result {
        session.record(&plan.old);
        return Err(error);
    }
    if !session.flags.no_hooks {
        hooks::run(session, &plan.new, HookEvent::PostUpgrade, plan.server_side)
            .map_err(|error| format!("post-upgrade hooks failed: {error}"))?;
    }
    Ok(())
}

/// Marks the revision failed, cleans up and undoes as the flags say; answers the error to show.
fn fail(session: &mut Session<'_, '_>, release: &mut Release, created: &[Target], error: String) -> String {
    if session.dialect.is_v4() {
        let line = super::dialect::warn("upgrade failed", &[("name", &release.name), ("error", &error)]);
        session.log.push_str(&line);
    }
    release.status = Status::Failed;
    release.description = format!("Upgrade \"{}\" failed: {error}", release.name);
    session.record(release);
    if session.flags.cleanup_on_fail
        && !created.is_empty()
        && let Err(errors) = delete_all(&mut session.link, created, Propagation::Background)
    {
        return format!(
            "an error occurred while cleaning up resources. original upgrade error: {error}: unable to cleanup resources: {}",
            errors.join(", ")
        );
    }
    if session.flags.atomic { undo(session, &release.name, &error) } else { error }
}

/// Rolls back to the last revision that was ever deployed.
fn undo(session: &mut Session<'_, '_>, name: &str, error: &str) -> String {
    let history = match session.history() {
        Ok(history) => history,
        Err(second) => {
            return format!(
                "an error occurred while finding last successful release. original upgrade error: {error}: {second}"
            );
        }
    };
    let good =
        history.iter().rev().find(|release| matches!(release.status, Status::Superseded | Status::Deployed));
    let Some(good) = good.map(|release| release.revision) else {
        return format!(
            "unable to find a previously successful release when attempting to rollback. original upgrade error: {error}"
        );
    };
    match rollback::roll(session, good) {
        Ok(()) => session.dialect.rolled_back(name, error),
        Err(second) => format!(
            "an error occurred while rolling back the release. original upgrade error: {error}: {second}"
        ),
    }
}
