//! `helm rollback`.
//!
//! Source: Helm, `pkg/action/rollback.go`.

use std::sync::Arc;

use super::apply::{Method, Written, delete_all, update_all};
use super::objects::Target;
use super::{Session, hooks, revision, server_side};
use crate::cluster::Propagation;
use crate::render::HookEvent;
use crate::upgrade::release::{Release, Status};

/// Runs the command and answers what it prints.
///
/// # Errors
/// The text behind `Error: `.
pub(super) fn run(session: &mut Session<'_, '_>, to: u64) -> Result<String, String> {
    roll(session, to).map(|()| "Rollback was a success! Happy Helming!\n".to_owned())
}

/// Goes back to a revision; 0 is the one before the last.
///
/// # Errors
/// The first error; the new revision is then marked failed.
pub(super) fn roll(session: &mut Session<'_, '_>, to: u64) -> Result<(), String> {
    let history = session.history()?;
    let mut current = history.last().cloned().ok_or_else(|| "release: not found".to_owned())?;
    let to = if to == 0 { current.revision.saturating_sub(1) } else { to };
    let previous = history
        .into_iter()
        .find(|release| release.revision == to)
        .ok_or_else(|| format!("release has no {to} version"))?;
    let server_side =
        session.dialect.is_v4() && server_side(session.flags.server_side, previous.apply_method);
    let mut target =
        revision(session, current.revision + 1, Status::PendingRollback, Arc::clone(&previous.render));
    target.first_deployed = current.first_deployed;
    target.description = if session.flags.description.is_empty() {
        format!("Rollback to {to}")
    } else {
        session.flags.description.clone()
    };
    target.apply_method = session.method_mark(server_side);
    target.rollback_revision = if session.dialect.is_v4() { to } else { 0 };
    session.storage.create(&mut session.link, &target, session.flags.history_max)?;
    perform(session, &mut current, &mut target, server_side)?;
    supersede(session, &target)?;
    target.status = Status::Deployed;
    session.storage.update(&mut session.link, &target)
}

fn perform(
    session: &mut Session<'_, '_>,
    current: &mut Release,
    target: &mut Release,
    server_side: bool,
) -> Result<(), String> {
    let originals = session.build(&current.render).map_err(|error| {
        format!("unable to build kubernetes objects from current release manifest: {error}")
    })?;
    let targets = session
        .build(&target.render)
        .map_err(|error| format!("unable to build kubernetes objects from new release manifest: {error}"))?;
    if !session.flags.no_hooks {
        hooks::run(session, target, HookEvent::PreRollback, server_side)?;
    }
    let targets = session.owned(&targets);
    write(session, current, target, &originals, &targets, server_side)?;
    if let Err(error) = session.wait_ready(&targets) {
        target.status = Status::Failed;
        target.description = format!("Release \"{}\" failed: {error}", target.name);
        session.record(current);
        session.record(target);
        return Err(format!("release {} failed: {error}", target.name));
    }
    if !session.flags.no_hooks {
        hooks::run(session, target, HookEvent::PostRollback, server_side)?;
    }
    Ok(())
}

fn write(
    session: &mut Session<'_, '_>,
    current: &mut Release,
    target: &mut Release,
    originals: &[Target],
    targets: &[Target],
    server_side: bool,
) -> Result<(), String> {
    let method = Method {
        server_side,
        force_conflicts: session.flags.force_conflicts,
        force_replace: session.flags.force_replace,
        three_way: false,
        migrate: true,
    };
    let mut written = Written::default();
    let result = update_all(&mut session.link, originals, targets, method, session.dialect, &mut written);
    session.log.push_str(&written.log);
    let Err(error) = result else { return Ok(()) };
    let message = format!("Rollback \"{}\" failed: {error}", target.name);
    if session.dialect.is_v4() {
        session.log.push_str(&super::dialect::warn(&message, &[]));
    }
    current.status = Status::Superseded;
    target.status = Status::Failed;
    target.description = message;
    session.record(current);
    session.record(target);
    if session.flags.cleanup_on_fail
        && let Err(errors) = delete_all(&mut session.link, &written.created, Propagation::Background)
    {
        return Err(format!(
            "an error occurred while cleaning up resources. original rollback error: {error}: unable to cleanup resources: {}",
            errors.join(", ")
        ));
    }
    Err(error)
}

/// Marks every revision that was still deployed as superseded.
fn supersede(session: &mut Session<'_, '_>, target: &Release) -> Result<(), String> {
    for mut release in session.history()? {
        if release.status == Status::Deployed && release.revision != target.revision {
            release.status = Status::Superseded;
            session.record(&release);
        }
    }
    Ok(())
}
