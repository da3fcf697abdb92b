//! Volumes and what they are filled from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::place::{Errors, Place};
use super::{environment, resources};
use crate::k8s::names;
use crate::k8s::quantity::billionths;
use crate::schema::FieldError;

/// The sources of the volumes that are in order, by name; the errors of the others.
pub(super) fn volumes<'p>(list: &Place<'p>, errors: &mut Errors) -> BTreeMap<&'p str, &'p Value> {
    let mut sound = BTreeMap::new();
    let values = list.value.as_array().map(Vec::as_slice).unwrap_or_default();
    for (volume, value) in list.items().zip(values) {
        let before = errors.len();
        source(&volume, errors);
        let name = volume.field("name");
        if name.needed(errors) {
            name.named(names::label_faults, errors);
        }
        let text = value.get("name").and_then(Value::as_str).unwrap_or_default();
        if sound.contains_key(text) {
            name.duplicate(errors);
        }
        if errors.len() == before {
            sound.insert(text, value);
        }
    }
    sound
}

type Check = fn(&Place<'_>, &mut Errors);

/// Kinds of volumes in the server's order, each with what is asked of it.
const SOURCES: &[(&str, Check)] = &[
    ("emptyDir", empty),
    ("hostPath", host_path),
    ("gitRepo", |source, errors| {
        source.field("repository").needed(errors);
    }),
    ("gcePersistentDisk", anything),
    ("awsElasticBlockStore", anything),
    ("secret", |source, errors| {
        source.field("secretName").needed(errors);
        files(source, errors);
    }),
    ("nfs", nfs),
    ("iscsi", anything),
    ("glusterfs", anything),
    ("flocker", anything),
    ("persistentVolumeClaim", |source, errors| {
        source.field("claimName").needed(errors);
    }),
    ("rbd", anything),
    ("cinder", anything),
    ("cephfs", anything),
    ("quobyte", anything),
    ("downwardAPI", downward),
    ("fc", anything),
    ("flexVolume", anything),
    ("configMap", |source, errors| {
        source.field("name").needed(errors);
        files(source, errors);
    }),
    ("azureFile", anything),
    ("vsphereVolume", anything),
    ("photonPersistentDisk", anything),
    ("portworxVolume", anything),
    ("azureDisk", anything),
    ("storageos", anything),
    ("projected", projected),
    ("scaleIO", anything),
    ("csi", csi),
    ("ephemeral", |source, errors| {
        source.field("volumeClaimTemplate").needed(errors);
    }),
    ("image", anything),
];

fn anything(_: &Place<'_>, _: &mut Errors) {}

/// A volume is of one kind; one of none would be an empty directory, which is filled in before.
fn source(volume: &Place<'_>, errors: &mut Errors) {
    let mut found = 0;
    for (kind, check) in SOURCES {
        let source = volume.field(kind);
        if !source.is_set() {
            continue;
        }
        found += 1;
        match found {
            1 => check(&source, errors),
            _ => source.forbidden("may not specify more than 1 volume type", errors),
        }
    }
}

fn empty(source: &Place<'_>, errors: &mut Errors) {
    let limit = source.field("sizeLimit");
    if billionths(limit.text()).is_some_and(|bytes| bytes < 0) {
        limit.forbidden("SizeLimit field must be a valid resource quantity", errors);
    }
}

fn host_path(source: &Place<'_>, errors: &mut Errors) {
    let path = source.field("path");
    if !path.needed(errors) {
        return;
    }
    path.no_way_up(errors);
    let kinds =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    source.field("type").one_of(&kinds, errors);
}

fn nfs(source: &Place<'_>, errors: &mut Errors) {
    source.field("server").needed(errors);
    let path = source.field("path");
    path.needed(errors);
    if !path.text().starts_with('/') {
        path.invalid_text("must be an absolute path", errors);
    }
}

fn csi(source: &Place<'_>, errors: &mut Errors) {
    let driver = source.field("driver");
    driver.needed(errors);
    driver.named(|name| names::subdomain_faults(&name.to_lowercase()), errors);
    let secret = source.field("nodePublishSecretRef");
    if secret.is_set() {
        secret.field("name").needed(errors);
    }
}

/// The mode of files, and keys with their paths.
fn files(source: &Place<'_>, errors: &mut Errors) {
    mode(&source.field("defaultMode"), errors);
    source.field("items").items().for_each(|item| key_to_path(&item, errors));
}

fn mode(place: &Place<'_>, errors: &mut Errors) {
    if place.number().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        place.invalid("must be a number between 0 and 0777 (octal), both inclusive", errors);
    }
}

fn key_to_path(item: &Place<'_>, errors: &mut Errors) {
    item.field("key").needed(errors);
    let path = item.field("path");
    path.needed(errors);
    path.local_path(errors);
    mode(&item.field("mode"), errors);
}

fn downward(source: &Place<'_>, errors: &mut Errors) {
    mode(&source.field("defaultMode"), errors);
    let name = source.name();
    for file in source.field("items").items() {
        // The server leaves the number of the file out.
        downward_file(&Place::top(Some(file.value), &name), errors);
    }
}

fn downward_file(file: &Place<'_>, errors: &mut Errors) {
    let (path, field, resource) =
        (file.field("path"), file.field("fieldRef"), file.field("resourceFieldRef"));
    path.needed(errors);
    path.local_path(errors);
    match (field.is_set(), resource.is_set()) {
        (true, _) => environment::field_for_file(&field, errors),
        (false, true) => resources::field(&resource, errors),
        (false, false) => file.required("one of fieldRef and resourceFieldRef is required", errors),
    }
    if field.is_set() && resource.is_set() {
        let shown = Value::from("resource");
        let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
        errors.push(FieldError::invalid(file.name(), &shown, detail));
    }
    mode(&file.field("mode"), errors);
}

fn projected(source: &Place<'_>, errors: &mut Errors) {
    mode(&source.field("defaultMode"), errors);
    let mut paths = BTreeSet::new();
    let parts = source.field("sources");
    for part in parts.items() {
        let mut found = 0;
        for kind in ["secret", "configMap", "downwardAPI", "serviceAccountToken"] {
            let one = part.field(kind);
            if one.is_set() {
                found += 1;
                projection(kind, &one, errors);
                clashes(source, &one, &mut paths, errors);
            }
        }
        found +=
            ["clusterTrustBundle", "podCertificate"].iter().filter(|kind| part.field(kind).is_set()).count();
        if found > 1 {
            part.forbidden("may not specify more than 1 volume type per source", errors);
        }
    }
}

fn projection(kind: &str, one: &Place<'_>, errors: &mut Errors) {
    match kind {
        "serviceAccountToken" => token(one, errors),
        "downwardAPI" => {
            let name = one.name();
            let list = one.field("items");
            list.items().for_each(|file| downward_file(&Place::top(Some(file.value), &name), errors));
        }
        _ => {
            one.field("name").needed(errors);
            one.field("items").items().for_each(|item| key_to_path(&item, errors));
        }
    }
}

fn token(one: &Place<'_>, errors: &mut Errors) {
    let seconds = one.field("expirationSeconds");
    if seconds.number().is_some_and(|seconds| seconds < 600) {
        seconds.invalid("may not specify a duration less than 10 minutes", errors);
    }
    one.field("path").needed(errors);
}

/// Two sources can't write one file.
fn clashes(whole: &Place<'_>, one: &Place<'_>, paths: &mut BTreeSet<String>, errors: &mut Errors) {
    let items = one.value.get("items").and_then(Value::as_array).into_iter().flatten();
    for path in items.filter_map(|item| item.get("path")?.as_str()).filter(|path| !path.is_empty()) {
        if !paths.insert(path.to_owned()) {
            let named = one.value.get("name").and_then(Value::as_str).unwrap_or(path);
            errors.push(FieldError::invalid(
                whole.name(),
                &Value::from(named),
                "conflicting duplicate paths",
            ));
        }
    }
}
