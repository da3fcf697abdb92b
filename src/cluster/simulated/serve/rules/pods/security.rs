//! Security contexts of pods and containers.

use serde_json::Value;

use super::super::place::{Errors, Place};
use crate::k8s::names;
use crate::schema::{Cause, FieldError};

/// Source: `validatePodSpecSecurityContext`.
pub(super) fn of_pod(spec: &Place<'_>, errors: &mut Errors) {
    let context = spec.field("securityContext");
    context.field("fsGroup").identifier(errors);
    context.field("runAsUser").identifier(errors);
    context.field("runAsGroup").identifier(errors);
    context.field("supplementalGroups").items().for_each(|group| group.identifier(errors));
    shared_processes(spec, &context, errors);
    sysctls(&context.field("sysctls"), errors);
    context.field("fsGroupChangePolicy").one_of(&["Always", "OnRootMismatch"], errors);
    seccomp(&context.field("seccompProfile"), errors);
    context.field("supplementalGroupsPolicy").one_of(&["Merge", "Strict"], errors);
    context.field("seLinuxChangePolicy").one_of(&["MountOption", "Recursive"], errors);
}

fn shared_processes(spec: &Place<'_>, context: &Place<'_>, errors: &mut Errors) {
    if spec.field("shareProcessNamespace").is_true() && spec.field("hostPID").is_true() {
        let field = format!("{}.shareProcessNamespace", context.name());
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(FieldError::invalid(field, &Value::Bool(true), detail));
    }
}

fn sysctls(list: &Place<'_>, errors: &mut Errors) {
    let mut seen = Vec::new();
    for sysctl in list.items() {
        let name = sysctl.field("name");
        let text = sysctl.value.get("name").and_then(Value::as_str).unwrap_or_default();
        if !name.needed(errors) {
            continue;
        }
        name.named(names::sysctl_faults, errors);
        if seen.contains(&text) {
            name.duplicate(errors);
        }
        seen.push(text);
    }
}

/// Source: `ValidateSecurityContext`; that a server forbids privileged containers is a flag that hardly any cluster lacks.
pub(super) fn of_container(context: &Place<'_>, errors: &mut Errors) {
    context.field("runAsUser").identifier(errors);
    context.field("runAsGroup").identifier(errors);
    let mount = context.field("procMount");
    mount.one_of(&["Default", "Unmasked"], errors);
    if mount.text() == "Unmasked" {
        mount.invalid("`hostUsers` must be false to use `Unmasked`", errors);
    }
    seccomp(&context.field("seccompProfile"), errors);
    if context.field("allowPrivilegeEscalation").value == &Value::Bool(false) {
        escalation(context, errors);
    }
}

fn escalation(context: &Place<'_>, errors: &mut Errors) {
    let mut refuse = |why: &str| {
        let detail = format!("cannot set `allowPrivilegeEscalation` to false and {why}");
        errors.push(FieldError::showing(Cause::Invalid, context.name(), &in_go(context), &detail));
    };
    if context.field("privileged").is_true() {
        refuse("`privileged` to true");
    }
    let capabilities = context.field("capabilities");
    if capabilities.field("add").items().any(|one| one.text() == "CAP_SYS_ADMIN") {
        refuse("`capabilities.Add` CAP_SYS_ADMIN");
    }
}

fn seccomp(profile: &Place<'_>, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let kind = profile.field("type");
    kind.one_of(&["Localhost", "RuntimeDefault", "Unconfined"], errors);
    let local = profile.field("localhostProfile");
    match (kind.text() == "Localhost", local.is_set()) {
        (true, false) => local.required("must be set when seccomp type is Localhost", errors),
        (true, true) => local.descending_path(errors),
        (false, true) => {
            let shown = profile_in_go(profile);
            let detail = "can only be set when seccomp type is Localhost";
            errors.push(FieldError::showing(Cause::Invalid, local.name(), &shown, detail));
        }
        (false, false) => {}
    }
}

/// A profile as the server's own type shows it.
fn profile_in_go(profile: &Place<'_>) -> String {
    let of = |field| profile.field(field).value.to_string();
    format!(r#"{{"Type":{},"LocalhostProfile":{}}}"#, of("type"), of("localhostProfile"))
}

/// A container's context as the server's own type shows it.
fn in_go(context: &Place<'_>) -> String {
    let of = |field| context.field(field).value.to_string();
    let whole = |field: &str, shown: fn(&Place<'_>) -> String| {
        let part = context.field(field);
        if part.is_set() { shown(&part) } else { "null".to_owned() }
    };
    let capabilities = whole("capabilities", |part| {
        format!(r#"{{"Add":{},"Drop":{}}}"#, part.field("add").value, part.field("drop").value)
    });
    format!(
        r#"{{"Capabilities":{capabilities},"Privileged":{},"SELinuxOptions":{},"WindowsOptions":{},"RunAsUser":{},"RunAsGroup":{},"RunAsNonRoot":{},"ReadOnlyRootFilesystem":{},"AllowPrivilegeEscalation":{},"ProcMount":{},"SeccompProfile":{},"AppArmorProfile":{}}}"#,
        of("privileged"),
        of("seLinuxOptions"),
        of("windowsOptions"),
        of("runAsUser"),
        of("runAsGroup"),
        of("runAsNonRoot"),
        of("readOnlyRootFilesystem"),
        of("allowPrivilegeEscalation"),
        of("procMount"),
        whole("seccompProfile", profile_in_go),
        of("appArmorProfile"),
    )
}
