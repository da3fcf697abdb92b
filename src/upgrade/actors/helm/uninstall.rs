//! `helm uninstall`.
//!
//! Source: Helm, `pkg/action/uninstall.go`, `resource_policy.go`.

use std::sync::Arc;

use serde_json::Value;

use super::apply::delete_all;
use super::objects::{RESOURCE_POLICY, Target, build};
use super::wait::{Bounds, gone};
use super::{Session, Wait, hooks, order, ownership};
use crate::k8s;
use crate::render::HookEvent;
use crate::upgrade::release::{Release, Status};

/// Runs the command and answers what it prints.
///
/// # Errors
/// The text behind `Error: `.
pub(super) fn run(session: &mut Session<'_, '_>) -> Result<String, String> {
    let name = session.subject.release.clone();
    let mut history = session.history()?;
    let mut release = history
        .last()
        .cloned()
        .ok_or_else(|| format!("uninstall: Release not loaded: {name}: release: not found"))?;
    if release.status == Status::Uninstalled {
        return already_gone(session, &history, &name);
    }
    release.status = Status::Uninstalling;
    release.description = "Deletion in progress (or silently failed)".to_owned();
    if !session.flags.no_hooks {
        hooks::run(session, &release, HookEvent::PreDelete, session.dialect.is_v4())?;
    }
    session.record(&release);
    let (deleted, kept) =
        delete_release(session, &release).map_err(|()| format!("failed to delete release: {name}"))?;
    let mut errors = afterwards(session, &release, &deleted);
    release.status = Status::Uninstalled;
    release.description = if session.flags.description.is_empty() {
        "Uninstallation complete".to_owned()
    } else {
        session.flags.description.clone()
    };
    if session.flags.keep_history {
        keep(session, &mut history, &release);
    } else if let Err(error) = purge(session, &history) {
        errors.push(format!("uninstall: Failed to purge the release: {error}"));
    }
    if !errors.is_empty() {
        return Err(format!(
            "uninstallation completed with {} error(s): {}",
            errors.len(),
            errors.join("; ")
        ));
    }
    let kept = if kept.is_empty() { kept } else { format!("{kept}\n") };
    Ok(format!("{kept}release \"{name}\" uninstalled\n"))
}

fn already_gone(session: &mut Session<'_, '_>, history: &[Release], name: &str) -> Result<String, String> {
    if session.flags.keep_history {
        return Err(format!("the release named \"{name}\" is already deleted"));
    }
    purge(session, history).map_err(|error| format!("uninstall: Failed to purge the release: {error}"))?;
    Ok(format!("release \"{name}\" uninstalled\n"))
}

/// Waiting and post-delete hooks; their errors are collected.
fn afterwards(session: &mut Session<'_, '_>, release: &Release, deleted: &[Target]) -> Vec<String> {
    let mut errors = Vec::new();
    if session.flags.wait != Wait::HooksOnly {
        let bounds = Bounds { timeout: session.flags.timeout, dialect: session.dialect };
        errors.extend(gone(&mut session.link, deleted, bounds).err());
    }
    if !session.flags.no_hooks {
        errors.extend(hooks::run(session, release, HookEvent::PostDelete, session.dialect.is_v4()).err());
    }
    errors
}

fn purge(session: &mut Session<'_, '_>, history: &[Release]) -> Result<(), String> {
    history.iter().try_for_each(|release| session.storage.delete(&mut session.link, release))
}

fn keep(session: &mut Session<'_, '_>, history: &mut [Release], last: &Release) {
    session.record(last);
    for release in history {
        if release.status == Status::Deployed && release.revision != last.revision {
            release.status = Status::Superseded;
            session.record(release);
        }
    }
}

/// Deletes the manifest's objects in uninstall order, except those that its own text keeps; a live annotation does not count.
fn delete_release(session: &mut Session<'_, '_>, release: &Release) -> Result<(Vec<Target>, String), ()> {
    let mut documents: Vec<&Arc<Value>> =
        release.render.manifests.iter().map(|manifest| &*manifest.object).filter(|o| !o.is_null()).collect();
    order::for_uninstall(&mut documents, session.dialect.is_v4());
    let policy =
        |object: &Value| k8s::annotation(object, RESOURCE_POLICY).map(|policy| policy.trim().to_lowercase());
    let kept: Vec<&&Arc<Value>> =
        documents.iter().filter(|object| policy(object).as_deref() == Some("keep")).collect();
    let mut info = String::new();
    if !kept.is_empty() {
        info.push_str("These resources were kept due to the resource policy:\n");
        for object in kept {
            info.push_str(&format!(
                "[{}] {}\n",
                k8s::text(object, "/kind"),
                k8s::text(object, "/metadata/name")
            ));
        }
    }
    let doomed = documents.iter().filter(|object| policy(object).is_none()).copied();
    let served = session.link.discover().map_err(|_| ())?;
    let mut targets = build(&served, doomed, &release.namespace, session.forge).map_err(|_| ())?;
    if session.dialect.uninstall_checks_ownership() {
        targets = owned_only(session, targets, &mut info);
    }
    if targets.is_empty() {
        return Ok((targets, info));
    }
    delete_all(&mut session.link, &targets, session.flags.cascade).map_err(|_| ())?;
    Ok((targets, info))
}

/// The live objects that carry this release's metadata; the others are named and left alone.
fn owned_only(session: &mut Session<'_, '_>, targets: Vec<Target>, info: &mut String) -> Vec<Target> {
    let subject = session.subject;
    let (mut owned, mut others, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    for target in targets {
        match session.link.get(&target.address) {
            Ok(live) if ownership::check(&live, &subject.release, &subject.namespace).is_ok() => {
                owned.push(target);
            }
            Ok(_) => others.push(target),
            Err(fault) if fault.not_found() => {}
            Err(fault) => unread.push((target, fault.text)),
        }
    }
    report_others(session, &others, info);
    if !unread.is_empty() {
        separate(info);
        info.push_str(&format!(
            "{} resource(s) were not deleted because their ownership could not be verified:\n",
            unread.len()
        ));
        for (target, error) in &unread {
            info.push_str(&format!("[{}] {}: {error}\n", target.gvk.kind, target.address.name));
        }
    }
    owned
}

fn report_others(session: &mut Session<'_, '_>, others: &[Target], info: &mut String) {
    if others.is_empty() {
        return;
    }
    separate(info);
    info.push_str(&format!(
        "{} resource(s) were not deleted because they are not owned by this release:\n",
        others.len()
    ));
    for target in others {
        let (kind, address, release) = (&target.gvk.kind, &target.address, &session.subject.release);
        session.log.push_str(&super::dialect::warn(
            "skipping delete of resource not owned by this release",
            &[
                ("kind", kind),
                ("name", &address.name),
                ("namespace", &address.namespace),
                ("release", release),
            ],
        ));
        info.push_str(&format!("[{kind}] {}\n", address.name));
    }
}

fn separate(info: &mut String) {
    if !info.is_empty() {
        info.push('\n');
    }
}
