//! `helm install`.
//!
//! Source: Helm, `pkg/action/install.go`.

use std::sync::Arc;

use serde_json::json;

use super::apply::{Method, Written, create_all, update_all};
use super::objects::{Target, build};
use super::{ServerSide, Session, hooks, ownership, revision, uninstall, valid_name, wait};
use crate::chart::{Chart, Values};
use crate::render::{CrdFile, HookEvent, Render};
use crate::upgrade::release::{Release, Status};

/// Runs the command and answers what it prints.
///
/// # Errors
/// The text behind `INSTALLATION FAILED: `.
pub(super) fn run(
    session: &mut Session<'_, '_>,
    chart: &Arc<Chart>,
    values: &Arc<Values>,
) -> Result<String, String> {
    session.wait_when_atomic();
    let server_side = session.dialect.is_v4() && session.flags.server_side != ServerSide::No;
    let last = available(session)?;
    let render = prepare(session, chart, values, server_side)?;
    let targets = session
        .build(&render)
        .map_err(|error| format!("unable to build kubernetes objects from release manifest: {error}"))?;
    let targets = session.owned(&targets);
    let (take, subject) = (session.flags.take_ownership, session.subject);
    let owner = (subject.release.as_str(), subject.namespace.as_str());
    let adopted = ownership::adoptable(&mut session.link, session.dialect, &targets, take, owner)
        .map_err(|error| session.dialect.unable("install", &error))?;
    session.announce(&targets, &render, None)?;
    create_namespace(session)?;
    let mut release = first_revision(session, last, render, server_side);
    session.storage.create(&mut session.link, &release, session.flags.history_max)?;
    match perform(session, &release, &adopted, &targets, server_side) {
        Ok(()) => {
            release.status = Status::Deployed;
            release.description = described(session, "Install complete");
            session.record(&release);
            Ok(session.summary(&release))
        }
        Err(error) => Err(fail(session, &mut release, error)),
    }
}

fn described(session: &Session<'_, '_>, default: &str) -> String {
    if session.flags.description.is_empty() { default.to_owned() } else { session.flags.description.clone() }
}

fn first_revision(
    session: &mut Session<'_, '_>,
    last: Option<Release>,
    render: Arc<Render>,
    server_side: bool,
) -> Release {
    let number = last.map_or(1, |last| last.revision + 1);
    let mut release = revision(session, number, Status::PendingInstall, render);
    release.description = "Initial install underway".to_owned();
    release.apply_method = session.method_mark(server_side);
    release
}

/// Checks that the name is free; with `--replace` the last revision may be an uninstalled or failed one.
fn available(session: &mut Session<'_, '_>) -> Result<Option<Release>, String> {
    let name = &session.subject.release;
    let prefix = if session.dialect.is_v4() { "release name check failed: " } else { "" };
    if !valid_name(name) {
        return Err(format!(
            "{prefix}release name \"{name}\": invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53"
        ));
    }
    let last = session.history()?.pop();
    match &last {
        None => Ok(None),
        Some(release)
            if session.flags.replace && matches!(release.status, Status::Uninstalled | Status::Failed) =>
        {
            Ok(last)
        }
        Some(_) => Err(format!("{prefix}cannot re-use a name that is still in use")),
    }
}

/// `crds/` first, because the API list that templates see is read after them; then the render.
fn prepare(
    session: &mut Session<'_, '_>,
    chart: &Arc<Chart>,
    values: &Arc<Values>,
    server_side: bool,
) -> Result<Arc<Render>, String> {
    let render = session.render(chart, values, 1, false)?;
    if session.flags.skip_crds || render.crds.is_empty() {
        return Ok(render);
    }
    install_crds(session, &render.crds, server_side)?;
    session.render(chart, values, 1, false)
}

fn install_crds(session: &mut Session<'_, '_>, files: &[CrdFile], server_side: bool) -> Result<(), String> {
    let mut created = Vec::new();
    for file in files {
        let name = file.source.split_once("/crds/").map_or(file.source.as_str(), |(_, rest)| rest);
        let failed = |error: String| format!("failed to install CRD crds/{name}: {error}");
        let served = session.link.discover().map_err(|fault| fault.text)?;
        let targets =
            build(&served, file.objects.iter(), &session.subject.namespace, session.forge).map_err(failed)?;
        let method = Method {
            server_side,
            force_conflicts: server_side && session.flags.force_conflicts,
            force_replace: false,
            three_way: false,
            migrate: false,
        };
        match create_all(&mut session.link, &targets, method, session.dialect) {
            Ok(()) => created.extend(targets),
            Err(error) if error.exists => {}
            Err(error) => return Err(failed(error.text)),
        }
    }
    if created.is_empty() { Ok(()) } else { wait::ready_legacy(&mut session.link, &created, false, 60.0) }
}

fn create_namespace(session: &mut Session<'_, '_>) -> Result<(), String> {
    if !session.flags.create_namespace {
        return Ok(());
    }
    let name = &session.subject.namespace;
    // A typed object is sent: the empty parts become fields that Helm manages.
    let object = Arc::new(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"name": name}},
        "spec": {}, "status": {},
    }));
    let served = session.link.discover().map_err(|fault| fault.text)?;
    let targets = build(&served, [&object], name, session.forge)?;
    let server_side = session.dialect.is_v4() && session.flags.server_side != ServerSide::No;
    let method = Method {
        server_side,
        force_conflicts: false,
        force_replace: false,
        three_way: false,
        migrate: false,
    };
    match create_all(&mut session.link, &targets, method, session.dialect) {
        Err(error) if !error.exists => Err(error.text),
        _ => Ok(()),
    }
}

fn perform(
    session: &mut Session<'_, '_>,
    release: &Release,
    adopted: &[Target],
    targets: &[Target],
    server_side: bool,
) -> Result<(), String> {
    if !session.flags.no_hooks {
        hooks::run(session, release, HookEvent::PreInstall, server_side)
            .map_err(|error| format!("failed pre-install: {error}"))?;
    }
    write(session, adopted, targets, server_side)?;
    session.wait_ready(targets)?;
    if !session.flags.no_hooks {
        hooks::run(session, release, HookEvent::PostInstall, server_side)
            .map_err(|error| format!("failed post-install: {error}"))?;
    }
    Ok(())
}

fn write(
    session: &mut Session<'_, '_>,
    adopted: &[Target],
    targets: &[Target],
    server_side: bool,
) -> Result<(), String> {
    if targets.is_empty() {
        return Ok(());
    }
    let mut method = Method {
        server_side,
        force_conflicts: false,
        force_replace: false,
        three_way: false,
        migrate: false,
    };
    if adopted.is_empty() {
        return create_all(&mut session.link, targets, method, session.dialect).map_err(|error| error.text);
    }
    method.force_replace = session.flags.force_replace;
    method.force_conflicts = session.flags.force_conflicts;
    method.three_way = session.flags.take_ownership && !server_side;
    method.migrate = true;
    let mut written = Written::default();
    let result = update_all(&mut session.link, adopted, targets, method, session.dialect, &mut written);
    session.log.push_str(&written.log);
    result
}

fn fail(session: &mut Session<'_, '_>, release: &mut Release, error: String) -> String {
    release.status = Status::Failed;
    release.description = format!("Release \"{}\" failed: {error}", release.name);
    if !session.flags.atomic {
        session.record(release);
        return error;
    }
    session.record(release);
    let keep = std::mem::replace(&mut session.flags.keep_history, false);
    let undone = uninstall::run(session);
    session.flags.keep_history = keep;
    match undone {
        Ok(_) => session.dialect.uninstalled(&release.name, &error),
        Err(second) => format!(
            "an error occurred while uninstalling the release. original install error: {error}: {second}"
        ),
    }
}
