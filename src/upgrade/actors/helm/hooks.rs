//! Hooks: create, wait, delete by policy.
//!
//! Source: Helm, `pkg/action/hooks.go`.

use super::Session;
use super::apply::{Method, create_all, delete_all};
use super::objects::{Target, build};
use super::wait::{Bounds, gone, hook_ready};
use crate::cluster::Propagation;
use crate::k8s;
use crate::render::{DeletePolicy, Hook, HookEvent};
use crate::upgrade::record::EVENTS;
use crate::upgrade::release::Release;

/// Runs the hooks of one event in their order.
///
/// # Errors
/// The first failure; later hooks do not run.
pub(crate) fn run(
    session: &mut Session<'_, '_>,
    release: &Release,
    event: HookEvent,
    server_side: bool,
) -> Result<(), String> {
    let mut hooks: Vec<&Hook> =
        release.render.hooks.iter().filter(|hook| hook.events.contains(&event)).collect();
    hooks.sort_by(|a, b| a.weight.cmp(&b.weight).then_with(|| name(a).cmp(name(b))));
    for (position, hook) in hooks.iter().enumerate() {
        if let Err((error, ran)) = run_one(session, release, hook, event, server_side) {
            if ran {
                // A hook that ran and failed: its own policy, then that of those before it. Errors here give way to the first one.
                let _ = delete_by_policy(session, release, hook, DeletePolicy::HookFailed);
                for earlier in hooks.iter().take(position) {
                    delete_by_policy(session, release, earlier, DeletePolicy::HookSucceeded)?;
                }
            }
            return Err(error);
        }
    }
    for hook in hooks.iter().rev() {
        delete_by_policy(session, release, hook, DeletePolicy::HookSucceeded)?;
    }
    Ok(())
}

fn name(hook: &Hook) -> &str {
    k8s::text(&hook.manifest.object, "/metadata/name")
}

/// The event's word in a `helm.sh/hook` annotation.
fn word(event: HookEvent) -> &'static str {
    EVENTS.iter().find(|(known, _)| *known == event).map_or("", |(_, word)| word)
}

/// Runs one hook; the flag says whether it was created before it failed.
fn run_one(
    session: &mut Session<'_, '_>,
    release: &Release,
    hook: &Hook,
    event: HookEvent,
    server_side: bool,
) -> Result<(), (String, bool)> {
    delete_by_policy(session, release, hook, DeletePolicy::BeforeHookCreation)
        .map_err(|error| (error, false))?;
    let path = &hook.manifest.source;
    let targets = targets(session, release, hook).map_err(|error| {
        (format!("unable to build kubernetes object for {} hook {path}: {error}", word(event)), false)
    })?;
    session.record(release);
    let method = Method {
        server_side,
        force_conflicts: false,
        force_replace: false,
        three_way: false,
        migrate: false,
    };
    create_all(&mut session.link, &targets, method, session.dialect)
        .map_err(|error| (format!("warning: Hook {} {path} failed: {}", word(event), error.text), false))?;
    let bounds = Bounds { timeout: session.flags.timeout, dialect: session.dialect };
    hook_ready(&mut session.link, &targets, bounds).map_err(|error| (error, true))
}

fn targets(session: &mut Session<'_, '_>, release: &Release, hook: &Hook) -> Result<Vec<Target>, String> {
    let served = session.link.discover().map_err(|fault| fault.text)?;
    build(&served, [&*hook.manifest.object], &release.namespace, session.forge)
}

/// Deletes a hook's object if its policies say so; never a CustomResourceDefinition.
fn delete_by_policy(
    session: &mut Session<'_, '_>,
    release: &Release,
    hook: &Hook,
    policy: DeletePolicy,
) -> Result<(), String> {
    let default = [DeletePolicy::BeforeHookCreation];
    let policies = if hook.delete_policies.is_empty() { &default[..] } else { &hook.delete_policies };
    if !policies.contains(&policy) || k8s::text(&hook.manifest.object, "/kind") == "CustomResourceDefinition"
    {
        return Ok(());
    }
    let targets = targets(session, release, hook).map_err(|error| {
        format!("unable to build kubernetes object for deleting hook {}: {error}", hook.manifest.source)
    })?;
    delete_all(&mut session.link, &targets, Propagation::Background).map_err(|errors| errors.join("; "))?;
    if !session.hook_deletion_waits() {
        return Ok(());
    }
    let bounds = Bounds { timeout: session.flags.timeout, dialect: session.dialect };
    gone(&mut session.link, &targets, bounds)
}
