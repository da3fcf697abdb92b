//! Containers: names, ports, mounts, and what init containers may not have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::place::{Errors, Place};
use super::{environment, probes, resources, security};
use crate::k8s::names;
use crate::schema::{Cause, FieldError};

/// What the containers of a pod refer to.
pub(super) struct Surroundings<'p> {
    /// Sources of the volumes that are in order, by name.
    volumes: BTreeMap<&'p str, &'p Value>,
    /// Names of resource claims.
    claims: BTreeSet<&'p str>,
    /// Seconds that a pod has to end.
    grace: Option<i64>,
    restarts: &'p str,
}

impl<'p> Surroundings<'p> {
    pub(super) fn new(spec: &Place<'p>, volumes: BTreeMap<&'p str, &'p Value>) -> Self {
        let claims = spec.value.get("resourceClaims").and_then(Value::as_array).into_iter().flatten();
        Self {
            volumes,
            claims: claims.filter_map(|claim| claim.get("name")?.as_str()).collect(),
            grace: spec.value.get("terminationGracePeriodSeconds").and_then(Value::as_i64),
            restarts: spec.value.get("restartPolicy").and_then(Value::as_str).unwrap_or_default(),
        }
    }
}

/// The containers of a pod, then its init containers.
pub(super) fn containers(spec: &Place<'_>, around: &Surroundings<'_>, errors: &mut Errors) {
    let list = spec.field("containers");
    if list.is_empty() {
        list.required("", errors);
    }
    let mut seen = BTreeSet::new();
    for container in list.items() {
        common(&container, around, errors);
        unique(&container, &mut seen, errors);
        running(&container, around, errors);
    }
    host_ports(&list, list.items(), errors);
    let inits = spec.field("initContainers");
    for container in inits.items() {
        common(&container, around, errors);
        unique(&container, &mut seen, errors);
        host_ports(&inits, std::iter::once(container), errors);
        match container.field("restartPolicy").text() {
            "Always" => running(&container, around, errors),
            _ => runs_once(&container, errors),
        }
    }
}

fn unique<'p>(container: &Place<'p>, seen: &mut BTreeSet<&'p str>, errors: &mut Errors) {
    let name = container.value.get("name").and_then(Value::as_str).unwrap_or_default();
    if !name.is_empty() && !seen.insert(name) {
        container.field("name").duplicate(errors);
    }
}

/// What only containers have that go on running.
fn running(container: &Place<'_>, around: &Surroundings<'_>, errors: &mut Errors) {
    probes::lifecycle(&container.field("lifecycle"), around.grace, errors);
    probes::probes(container, around.grace, errors);
}

fn runs_once(container: &Place<'_>, errors: &mut Errors) {
    for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
        let field = container.field(field);
        if field.is_set() {
            field.forbidden("may not be set for init containers without restartPolicy=Always", errors);
        }
    }
}

fn common(container: &Place<'_>, around: &Surroundings<'_>, errors: &mut Errors) {
    let name = container.field("name");
    if name.needed(errors) {
        name.named(names::label_faults, errors);
    }
    container.field("image").needed(errors);
    container.field("terminationMessagePolicy").one_of(&["File", "FallbackToLogsOnError"], errors);
    ports(&container.field("ports"), errors);
    environment::variables(&container.field("env"), errors);
    environment::sources(&container.field("envFrom"), errors);
    mounts(container, around, errors);
    container.field("imagePullPolicy").one_of(&["Always", "IfNotPresent", "Never"], errors);
    resources::requirements(&container.field("resources"), &around.claims, errors);
    resize(&container.field("resizePolicy"), around.restarts, errors);
    security::of_container(&container.field("securityContext"), errors);
}

fn ports(ports: &Place<'_>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for port in ports.items() {
        let name = port.field("name");
        let text = name.text();
        if !text.is_empty() {
            let before = errors.len();
            name.named(names::port_name_faults, errors);
            if errors.len() == before && !seen.insert(text.to_owned()) {
                name.duplicate(errors);
            }
        }
        let number = port.field("containerPort");
        match number.number() {
            None | Some(0) => number.required("", errors),
            Some(_) => number.port_number(errors),
        }
        let host = port.field("hostPort");
        if host.number().is_some_and(|number| number != 0) {
            host.port_number(errors);
        }
        port.field("protocol").one_of(&["SCTP", "TCP", "UDP"], errors);
    }
}

/// Two containers of a pod can't have one port of the node.
fn host_ports<'s>(list: &Place<'_>, containers: impl Iterator<Item = Place<'s>>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    // The server counts from zero in lists of one, whichever init container it is.
    for (at, container) in containers.enumerate() {
        for (n, port) in container.field("ports").items().enumerate() {
            let number = port.field("hostPort").number().unwrap_or(0);
            let of = |field| port.value.get(field).and_then(Value::as_str).unwrap_or_default();
            let shown = format!("{}/{}/{number}", of("protocol"), of("hostIP"));
            if number != 0 && !seen.insert(shown.clone()) {
                let field = format!("{}[{at}].ports[{n}].hostPort", list.name());
                errors.push(FieldError::duplicate(field, &Value::from(shown)));
            }
        }
    }
}

/// On the node's network a port is the same inside and outside.
pub(super) fn host_network(spec: &Place<'_>, is_pod: bool, errors: &mut Errors) {
    if !spec.field("hostNetwork").is_true() {
        return;
    }
    let list = spec.field("containers");
    for container in list.items() {
        let ports = container.field("ports");
        for port in ports.items() {
            let (inside, outside) = (port.field("containerPort"), port.field("hostPort"));
            let number = outside.number().unwrap_or(0);
            if (is_pod || number != 0) && Some(number) != inside.number() {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.push(FieldError::invalid(outside.name(), &Value::from(number), detail));
            }
        }
    }
}

fn mounts(container: &Place<'_>, around: &Surroundings<'_>, errors: &mut Errors) {
    let list = container.field("volumeMounts");
    let mut paths = BTreeSet::new();
    for mount in list.items() {
        let name = mount.field("name");
        name.needed(errors);
        if !around.volumes.contains_key(name.text()) {
            let detail = FieldError::new(Cause::NotFound, name.name(), &Value::from(name.text()), "");
            errors.push(detail);
        }
        let path = mount.field("mountPath");
        path.needed(errors);
        if !paths.insert(path.text().to_owned()) {
            path.invalid_text("must be unique", errors);
        }
        parts(&list, &mount, errors);
        propagation(&list, &mount, container, errors);
    }
    devices(&container.field("volumeDevices"), around, errors);
}

/// Parts of a volume; the server leaves the number of the mount out.
fn parts(list: &Place<'_>, mount: &Place<'_>, errors: &mut Errors) {
    let [part, expression] = ["subPath", "subPathExpr"].map(|field| mount.value.get(field));
    if part.is_some_and(|part| part != "") {
        let name = format!("{}.subPath", list.name());
        Place::top(part, &name).descending_path(errors);
    }
    if expression.is_some_and(|expression| expression != "") {
        if part.is_some_and(|part| part != "") {
            mount.field("subPathExpr").invalid("subPathExpr and subPath are mutually exclusive", errors);
        }
        let name = format!("{}.subPathExpr", list.name());
        Place::top(expression, &name).descending_path(errors);
    }
}

fn propagation(list: &Place<'_>, mount: &Place<'_>, container: &Place<'_>, errors: &mut Errors) {
    let name = format!("{}.mountPropagation", list.name());
    let place = Place::top(mount.value.get("mountPropagation"), &name);
    let security = container.field("securityContext");
    let privileged = security.field("privileged").is_true();
    if place.text() == "Bidirectional" && !privileged {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        place.forbidden(detail, errors);
    }
    place.one_of(&["Bidirectional", "HostToContainer", "None"], errors);
}

fn devices(list: &Place<'_>, around: &Surroundings<'_>, errors: &mut Errors) {
    for device in list.items() {
        let name = device.field("name");
        name.needed(errors);
        match around.volumes.get(name.text()) {
            None => {
                errors.push(FieldError::new(Cause::NotFound, name.name(), &Value::from(name.text()), ""));
            }
            Some(source)
                if ["persistentVolumeClaim", "ephemeral"].iter().all(|kind| source.get(*kind).is_none()) =>
            {
                let detail =
                    "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                name.invalid_text(detail, errors);
            }
            Some(_) => {}
        }
        device.field("devicePath").needed(errors);
    }
}

fn resize(list: &Place<'_>, restarts: &str, errors: &mut Errors) {
    let shown = list.name();
    for policy in list.items() {
        Place::top(policy.value.get("resourceName"), &shown).one_of(&["cpu", "memory"], errors);
        let restart = Place::top(policy.value.get("restartPolicy"), &shown);
        restart.one_of(&["NotRequired", "RestartContainer"], errors);
        if restarts == "Never" && restart.text() != "NotRequired" {
            restart.invalid_text("must be 'NotRequired' when `restartPolicy` is 'Never'", errors);
        }
    }
}
