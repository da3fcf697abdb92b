//! Owners, and the names of what they create.

use serde_json::{Value, json};

pub(super) use crate::k8s::controller;
use crate::k8s::text;

/// The letters of generated names: no vowels and no look-alikes (apimachinery, `pkg/util/rand`).
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A controller reference to an object.
pub(super) fn reference(owner: &Value) -> Value {
    json!({
        "apiVersion": text(owner, "/apiVersion"), "kind": text(owner, "/kind"),
        "name": text(owner, "/metadata/name"), "uid": text(owner, "/metadata/uid"),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// Whether an object is controlled by this owner.
pub(super) fn controls(owner: &Value, object: &Value) -> bool {
    let uid = text(owner, "/metadata/uid");
    !uid.is_empty() && controller(object).is_some_and(|r| text(r, "/uid") == uid)
}

/// Whether deletion was asked for.
pub(super) fn terminating(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// FNV-1a, 32 bits.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn letter(index: u32) -> char {
    char::from(LETTERS[index as usize % LETTERS.len()])
}

/// The value of the label `pod-template-hash` for a template.
pub(super) fn template_hash(template: &Value) -> String {
    let digits = fnv(template.to_string().as_bytes()).to_string();
    digits.bytes().map(|b| letter(u32::from(b))).collect()
}

/// Five letters that a name is completed with; the same seed gives the same letters.
pub(super) fn suffix(seed: &str) -> String {
    let mut hash = fnv(seed.as_bytes());
    let mut out = String::new();
    for _ in 0..5 {
        out.push(letter(hash >> 8));
        hash = hash.wrapping_mul(0x41c6_4e6d).wrapping_add(0x3039);
    }
    out
}

/// The address of a pod: the same UID gives the same address.
pub(super) fn address(uid: &str) -> String {
    let hash = fnv(uid.as_bytes());
    format!("10.244.{}.{}", hash >> 8 & 0xff, 2 + (hash & 0xff) % 250)
}
