//! Writing a manifest to the cluster: create, update, delete, as each Helm does it.
//!
//! Source: Helm, `pkg/kube/client.go`.

use std::sync::Arc;

use serde_json::Value;

use super::dialect::{Dialect, warn};
use super::managed::client_side_migration;
use super::objects::{RESOURCE_POLICY, Target};
use super::patch;
use crate::cluster::{PatchType, Propagation};
use crate::k8s;
use crate::upgrade::link::{Fault, Link};

/// How objects are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Method {
    /// Server-side apply instead of patches that Helm computes.
    pub(crate) server_side: bool,
    /// Take fields from other managers.
    pub(crate) force_conflicts: bool,
    /// PUT instead of patches.
    pub(crate) force_replace: bool,
    /// Look at the live object for kinds that Helm's client does not know.
    pub(crate) three_way: bool,
    /// Rewrite the entries of earlier client-side writes before the first server-side one.
    pub(crate) migrate: bool,
}

impl Method {
    /// A combination that Helm refuses, in its words.
    ///
    /// # Errors
    /// The refusal.
    pub(crate) fn consistent(self) -> Result<Self, String> {
        if !self.server_side && self.force_conflicts {
            return Err(
                "invalid client update option(s): forceConflicts enabled when serverSideApply disabled"
                    .to_owned(),
            );
        }
        if self.server_side && self.force_replace {
            return Err(
                "invalid operation: cannot use server-side apply and force replace together".to_owned()
            );
        }
        Ok(self)
    }
}

/// What a failed update leaves behind.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Objects that were created, or meant to be.
    pub(crate) created: Vec<Target>,
    /// Lines for stderr.
    pub(crate) log: String,
}

/// Creates all objects; kinds that follow each other are created side by side, so one refusal does not stop the rest.
///
/// # Errors
/// All refusals, joined as the version joins them; or the only one's fault, so that callers can look at it.
pub(crate) fn create_all(
    link: &mut Link<'_>,
    targets: &[Target],
    method: Method,
    dialect: Dialect,
) -> Result<(), CreateError> {
    if targets.is_empty() {
        return Err(CreateError { text: "no objects visited".to_owned(), exists: false });
    }
    let mut errors = Vec::new();
    let mut exists = false;
    for target in targets {
        if let Err(fault) = create(link, target, method) {
            exists |= fault.already_exists();
            errors.push(fault.text);
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(CreateError { text: dialect.join(&errors), exists: exists && errors.len() == 1 })
}

/// Why creating failed.
#[derive(Debug)]
pub(crate) struct CreateError {
    /// The text.
    pub(crate) text: String,
    /// Whether the object was there already.
    pub(crate) exists: bool,
}

fn create(link: &mut Link<'_>, target: &Target, method: Method) -> Result<(), Fault> {
    if method.server_side {
        return apply(link, target, method.force_conflicts);
    }
    link.create(&target.address, Arc::clone(&target.object)).map(|_| ())
}

fn apply(link: &mut Link<'_>, target: &Target, force: bool) -> Result<(), Fault> {
    let Err(fault) = link.apply(&target.address, Arc::clone(&target.object), force) else { return Ok(()) };
    let what = if fault.conflict() {
        "conflict occurred while applying object"
    } else {
        "server-side apply failed for object"
    };
    let text = format!("{what} {}: {}", target.long_name(), fault.text);
    Err(Fault { text, ..fault })
}

/// Brings the cluster from the original objects to the targets: creates, updates, then deletes what is no target.
///
/// A failed creation or read stops everything; failed updates are collected, and nothing is deleted when there are any.
///
/// # Errors
/// The texts, joined by ` && `.
pub(crate) fn update_all(
    link: &mut Link<'_>,
    originals: &[Target],
    targets: &[Target],
    method: Method,
    dialect: Dialect,
    written: &mut Written,
) -> Result<(), String> {
    let method = method.consistent()?;
    let mut errors = Vec::new();
    for target in targets {
        if let Err(error) = bring(link, originals, target, method, dialect, written)? {
            errors.push(error);
        }
    }
    if errors.is_empty() {
        errors = delete_missing(link, originals, targets, dialect);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join(" && ")) }
}

/// One target: the outer error stops the update, the inner one is collected.
fn bring(
    link: &mut Link<'_>,
    originals: &[Target],
    target: &Target,
    method: Method,
    dialect: Dialect,
    written: &mut Written,
) -> Result<Result<(), String>, String> {
    let live = match link.get(&target.address) {
        Ok(live) => live,
        Err(fault) if fault.not_found() => {
            written.created.push(target.clone());
            return create(link, target, method)
                .map(Ok)
                .map_err(|fault| format!("failed to create resource: {}", fault.text));
        }
        Err(fault) => return Err(format!("could not get information about the resource: {}", fault.text)),
    };
    let original = originals
        .iter()
        .find(|original| original.same_object(target))
        .map(|original| Arc::clone(&original.object));
    let original = match original {
        Some(original) => original,
        None if dialect.takes_live_as_baseline() => baseline(link, target, live, dialect, written)?,
        None => return Err(dialect.no_original(&target.gvk.kind, &target.address.name)),
    };
    Ok(update(link, &original, target, method))
}

/// The live state of an object that the old manifest does not know; Helm 4 says so and reads it again.
fn baseline(
    link: &mut Link<'_>,
    target: &Target,
    live: Arc<Value>,
    dialect: Dialect,
    written: &mut Written,
) -> Result<Arc<Value>, String> {
    if !dialect.is_v4() {
        return Ok(live);
    }
    let (kind, address) = (&target.gvk.kind, &target.address);
    written.log.push_str(&warn(
        "resource exists on cluster but not in original release, using cluster state as baseline",
        &[("namespace", &address.namespace), ("name", &address.name), ("kind", kind)],
    ));
    link.get(address)
        .map_err(|_| format!("original object {kind} with the name \"{}\" not found", address.name))
}

fn update(link: &mut Link<'_>, original: &Value, target: &Target, method: Method) -> Result<(), String> {
    if method.force_replace {
        return replace(link, target);
    }
    if method.server_side {
        if method.migrate {
            migrate(link, target)?;
        }
        return apply(link, target, method.force_conflicts).map_err(|fault| fault.text);
    }
    patch_client_side(link, original, target, method.three_way)
}

/// PUT with the live object's resourceVersion, as client-go's helper does it.
fn replace(link: &mut Link<'_>, target: &Target) -> Result<(), String> {
    let failed = |fault: Fault| format!("failed to replace object: {}", fault.text);
    let live = link.get(&target.address).map_err(failed)?;
    let mut body = Value::clone(&target.object);
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata
            .insert("resourceVersion".to_owned(), Value::from(k8s::text(&live, "/metadata/resourceVersion")));
    }
    link.update(&target.address, Arc::new(body)).map(|_| ()).map_err(failed)
}

fn migrate(link: &mut Link<'_>, target: &Target) -> Result<(), String> {
    let live = link
        .get(&target.address)
        .map_err(|fault| format!("failed to get object {}: {}", target.long_name(), fault.text))?;
    let Some(patch) = client_side_migration(&live, "helm") else { return Ok(()) };
    link.patch(&target.address, PatchType::Json, patch).map(|_| ()).map_err(|fault| {
        format!("failed to patch object to upgrade CSA field manager {}: {}", target.long_name(), fault.text)
    })
}

fn patch_client_side(
    link: &mut Link<'_>,
    original: &Value,
    target: &Target,
    three_way: bool,
) -> Result<(), String> {
    let address = &target.address;
    let live = match link.get(address) {
        Ok(live) => live,
        Err(fault) if fault.not_found() => Arc::new(Value::Null),
        Err(fault) => {
            let place = format!("{}/{}", address.namespace, address.name);
            return Err(format!(
                "failed to create patch: unable to get data for current object {place}: {}",
                fault.text
            ));
        }
    };
    let Some((kind, patch)) = patch::compute(original, target, &live, three_way) else {
        return link
            .get(address)
            .map(|_| ())
            .map_err(|fault| format!("failed to refresh resource information: {}", fault.text));
    };
    link.patch(address, kind, patch).map(|_| ()).map_err(|fault| {
        format!("cannot patch \"{}\" with kind {}: {}", address.name, target.gvk.kind, fault.text)
    })
}

/// Deletes what the original manifest has and the targets have not, in the original order, unless the live object says `keep`.
fn delete_missing(
    link: &mut Link<'_>,
    originals: &[Target],
    targets: &[Target],
    dialect: Dialect,
) -> Vec<String> {
    let mut errors = Vec::new();
    for gone in originals.iter().filter(|original| !targets.iter().any(|target| target.same_object(original)))
    {
        let Ok(live) = link.get(&gone.address) else { continue };
        if k8s::annotation(&live, RESOURCE_POLICY) == Some("keep") {
            continue;
        }
        match link.delete(&gone.address, Propagation::Background) {
            Err(fault) if !fault.not_found() && dialect.delete_errors_count() => {
                let (address, kind) = (&gone.address, &gone.gvk.kind);
                errors.push(format!(
                    "failed to delete resource namespace={}, name={}, kind={kind}: {}",
                    address.namespace, address.name, fault.text
                ));
            }
            _ => {}
        }
    }
    errors
}

/// Deletes all; what is gone already counts as deleted.
///
/// # Errors
/// Every refusal.
pub(crate) fn delete_all(
    link: &mut Link<'_>,
    targets: &[Target],
    propagation: Propagation,
) -> Result<(), Vec<String>> {
    if targets.is_empty() {
        return Err(vec!["object not found, skipping delete: no objects visited".to_owned()]);
    }
    let mut errors = Vec::new();
    for target in targets {
        match link.delete(&target.address, propagation) {
            Err(fault) if !fault.not_found() => errors.push(fault.text),
            _ => {}
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
