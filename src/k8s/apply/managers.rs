//! Field managers: `metadata.managedFields` read, changed by updates and applies, and written back.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use super::check::check;
use super::compare::compare;
use super::element::Element;
use super::of::field_set;
use super::set::FieldSet;
use super::{merge, remove};
use crate::k8s::text;
use crate::k8s::types::Type;

/// Updaters kept apart before the oldest are thrown together.
pub(super) const MOST_UPDATERS: usize = 10;
const ANCIENT: &str = "ancient-changes";
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// How a manager came to own its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// What tells managers apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// `fieldManager`.
    pub manager: String,
    /// How it writes.
    pub operation: Operation,
    /// Version it wrote in; empty for appliers, who keep one entry over all versions.
    pub api_version: String,
    /// Subresource it wrote through.
    pub subresource: String,
}

impl Identity {
    /// The identity of a write.
    #[must_use]
    pub fn new(manager: &str, operation: Operation, api_version: &str, subresource: &str) -> Self {
        let version = if operation == Operation::Apply { "" } else { api_version };
        Self {
            manager: if manager.is_empty() { "unknown" } else { manager }.to_owned(),
            operation,
            api_version: version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// The manager as conflict texts name it.
    fn described(&self) -> String {
        let mut text = json!(self.manager).to_string();
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {}", json!(self.subresource)));
        }
        if self.operation == Operation::Update {
            text.push_str(&format!(" using {}", self.api_version));
        }
        text
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Owned {
    set: FieldSet,
    api_version: String,
    time: String,
}

impl Owned {
    /// Whether an apply claims exactly what its manager has already.
    fn says_no_more(&self, claimed: &FieldSet, apply: &Applied<'_>) -> bool {
        self.api_version == apply.api_version && self.set == strip(claimed)
    }
}

/// One field that an apply would take from another manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Who owns it, as the server's texts name it, e.g. `"helm" using apps/v1`.
    pub manager: String,
    /// The field, e.g. `.spec.replicas`.
    pub path: String,
}

/// Why an apply is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The configuration does not fit the type; the faults.
    Untyped(Vec<String>),
    /// Other managers own fields that it changes.
    Conflicts(Vec<Conflict>),
}

/// The managers of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Managers {
    owned: BTreeMap<Identity, Owned>,
}

impl Managers {
    /// Reads `metadata.managedFields`; entries that can't be read are left out.
    #[must_use]
    pub fn decode(fields: Option<&Value>) -> Self {
        let mut managers = Self::default();
        for entry in fields.and_then(Value::as_array).into_iter().flatten() {
            let operation = match text(entry, "/operation") {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => continue,
            };
            let api_version = text(entry, "/apiVersion");
            let identity =
                Identity::new(text(entry, "/manager"), operation, api_version, text(entry, "/subresource"));
            let owned = Owned {
                set: entry.get("fieldsV1").map(FieldSet::decode).unwrap_or_default(),
                api_version: api_version.to_owned(),
                time: text(entry, "/time").to_owned(),
            };
            managers.owned.insert(identity, owned);
        }
        managers
    }

    /// Whether nobody owns anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.owned.is_empty()
    }

    /// What a manager owns.
    #[must_use]
    pub fn set(&self, identity: &Identity) -> Option<&FieldSet> {
        self.owned.get(identity).map(|o| &o.set)
    }

    /// The `metadata.managedFields` form: appliers first, then by time and name.
    #[must_use]
    pub fn encode(&self) -> Value {
        let mut entries: Vec<(&Identity, &Owned)> = self.owned.iter().collect();
        entries.sort_by(|(a, x), (b, y)| {
            let key = |i: &Identity, o: &Owned| {
                (i.operation, o.time.clone(), i.manager.clone(), o.api_version.clone())
            };
            key(a, x).cmp(&key(b, y)).then_with(|| a.subresource.cmp(&b.subresource))
        });
        entries
            .into_iter()
            .map(|(identity, owned)| encode_entry(identity, &owned.set, &owned.api_version, &owned.time))
            .collect()
    }

    /// Takes in a write that was no apply: who wrote now owns what changed, and others lose it.
    ///
    /// `old` is `None` for a creation. An object whose fields nobody tracks stays untracked.
    pub fn update(&mut self, of: &Type, old: Option<&Value>, new: &Value, by: &Identity, time: &str) {
        if self.owned.is_empty() && old.is_some() {
            return;
        }
        self.track(of, old, new, by, time);
        self.throw_together_the_oldest();
    }

    fn track(&mut self, of: &Type, old: Option<&Value>, new: &Value, by: &Identity, time: &str) {
        let empty = Value::Object(Map::new());
        let found = compare(of, Some(old.unwrap_or(&empty)), Some(new));
        let changed = found.modified.union(&found.added);
        let gone = found.removed.union(&changed);
        if !gone.is_empty() {
            self.owned.retain(|_, owned| {
                owned.set = owned.set.difference(&gone);
                !owned.set.is_empty()
            });
        }
        let mine = strip(&changed);
        if mine.is_empty() {
            return;
        }
        let set = self.owned.get(by).map_or_else(|| mine.clone(), |before| before.set.union(&mine));
        self.owned
            .insert(by.clone(), Owned { set, api_version: by.api_version.clone(), time: time.to_owned() });
    }

    /// Merges an applied configuration into a live object and tracks it.
    ///
    /// # Errors
    /// A configuration that does not fit its type, or conflicts without `force`.
    pub fn apply(&mut self, of: &Type, apply: &Applied<'_>) -> Result<Value, Refused> {
        let faults = check(of, apply.config);
        if !faults.is_empty() {
            return Err(Refused::Untyped(faults));
        }
        if self.owned.is_empty() && apply.tracked_from_now {
            let before = Identity::new(BEFORE_FIRST_APPLY, Operation::Update, apply.api_version, "");
            self.track(of, None, apply.live, &before, apply.time);
        }
        let by = Identity::new(apply.manager, Operation::Apply, apply.api_version, apply.subresource);
        let merged = merge(of, apply.live, apply.config);
        let mut mine = field_set(of, apply.config);
        for ignored in apply.ignored {
            mine = mine.without(&Element::Field((*ignored).to_owned()));
        }
        let last = self.owned.get(&by);
        if last.is_some_and(|last| last.says_no_more(&mine, apply)) && merged == *apply.live {
            return Ok(merged);
        }
        let mut managers = self.clone();
        // An apply that leaves the object alone gets no time of its own.
        let time = last.map_or("", |l| &l.time).to_owned();
        // Who sets all that it set before takes nothing away.
        let pruning = last.filter(|last| !last.set.within(&mine));
        managers
            .owned
            .insert(by.clone(), Owned { set: mine, api_version: apply.api_version.to_owned(), time });
        let pruned = match pruning {
            Some(last) => managers.prune(of, &merged, &last.set),
            None => merged,
        };
        managers.settle_conflicts(of, apply, &pruned, &by)?;
        if let Some(owned) = managers.owned.get_mut(&by) {
            owned.set = strip(&owned.set);
            if pruned != *apply.live {
                apply.time.clone_into(&mut owned.time);
            }
        }
        managers.owned.retain(|_, owned| !owned.set.is_empty());
        *self = managers;
        Ok(pruned)
    }

    /// Removes what the applier set last time, sets no more, and nobody else owns.
    fn prune(&self, of: &Type, merged: &Value, last: &FieldSet) -> Value {
        let empty = || Value::Object(Map::new());
        let last = last.with_named_fields(of);
        let pruned = remove(of, merged, &last).unwrap_or_else(empty);
        let mut all = FieldSet::default();
        for owned in self.owned.values() {
            all.add(owned.set.clone());
        }
        let merged_set = field_set(of, merged).with_named_fields(of);
        let kept = field_set(of, &pruned).with_named_fields(of).union(&all.with_named_fields(of));
        let pruned = remove(of, merged, &merged_set.difference(&kept)).unwrap_or_else(empty);
        let gone = merged_set.difference(&field_set(of, &pruned).with_named_fields(of));
        remove(of, merged, &gone.intersection(&last)).unwrap_or_else(empty)
    }

    fn settle_conflicts(
        &mut self,
        of: &Type,
        apply: &Applied<'_>,
        new: &Value,
        by: &Identity,
    ) -> Result<(), Refused> {
        let mut found = compare(of, Some(apply.live), Some(new));
        for ignored in apply.ignored {
            found = found.without(&Element::Field((*ignored).to_owned()));
        }
        let changed = found.modified.union(&found.added);
        let mut conflicts = Vec::new();
        for (identity, owned) in self.owned.iter_mut().filter(|(identity, _)| *identity != by) {
            let taken = owned.set.intersection(&changed);
            let manager = identity.described();
            conflicts
                .extend(taken.paths().into_iter().map(|path| Conflict { manager: manager.clone(), path }));
            owned.set = owned.set.difference(&taken).difference(&found.removed);
        }
        if conflicts.is_empty() || apply.force { Ok(()) } else { Err(Refused::Conflicts(conflicts)) }
    }

    /// Keeps the number of updaters in bounds, as every write does.
    pub(super) fn throw_together_the_oldest(&mut self) {
        let mut updaters: Vec<(String, Identity)> = self
            .owned
            .iter()
            .filter(|(identity, _)| identity.operation == Operation::Update)
            .map(|(identity, owned)| (owned.time.clone(), identity.clone()))
            .collect();
        updaters.sort();
        let mut surplus = updaters.len().saturating_sub(MOST_UPDATERS);
        let mut first: BTreeMap<String, Identity> = BTreeMap::new();
        for (time, identity) in updaters {
            if surplus == 0 {
                return;
            }
            let Some(owned) = self.owned.get(&identity).cloned() else { continue };
            let Some(earlier) = first.get(&owned.api_version) else {
                first.insert(owned.api_version, identity);
                continue;
            };
            let bucket = Identity::new(ANCIENT, Operation::Update, &owned.api_version, "");
            if !self.owned.contains_key(&bucket)
                && let Some(before) = self.owned.remove(earlier)
            {
                self.owned.insert(bucket.clone(), before);
            }
            if identity != bucket {
                self.owned.remove(&identity);
            }
            if let Some(ancient) = self.owned.get_mut(&bucket) {
                ancient.set = ancient.set.union(&owned.set);
                ancient.time = time;
            }
            surplus -= 1;
        }
    }
}

/// One apply.
#[derive(Clone, Copy, Debug)]
pub struct Applied<'a> {
    /// The object as it is, without `managedFields`; an empty object for a creation.
    pub live: &'a Value,
    /// The configuration.
    pub config: &'a Value,
    /// Its version.
    pub api_version: &'a str,
    /// `fieldManager`.
    pub manager: &'a str,
    /// Subresource.
    pub subresource: &'a str,
    /// Whether conflicts are overridden.
    pub force: bool,
    /// Top-level fields that this endpoint does not write.
    pub ignored: &'a [&'a str],
    /// Whether the live object exists, so that its fields need an owner before the first apply.
    pub tracked_from_now: bool,
    /// Now.
    pub time: &'a str,
}

pub(super) fn encode_entry(identity: &Identity, set: &FieldSet, api_version: &str, time: &str) -> Value {
    let mut entry = json!({
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": set.encode(),
        "manager": identity.manager,
        "operation": identity.operation.as_str(),
    });
    if !time.is_empty() {
        entry["time"] = json!(time);
    }
    if !identity.subresource.is_empty() {
        entry["subresource"] = json!(identity.subresource);
    }
    entry
}

/// The set without what belongs to the server and never to a manager.
pub(super) fn strip(set: &FieldSet) -> FieldSet {
    static NEVER: OnceLock<FieldSet> = OnceLock::new();
    let never = NEVER.get_or_init(|| {
        FieldSet::decode(&json!({
            "f:apiVersion": {}, "f:kind": {},
            "f:metadata": {
                ".": {}, "f:name": {}, "f:namespace": {}, "f:creationTimestamp": {}, "f:selfLink": {}, "f:uid": {},
                "f:clusterName": {}, "f:generation": {}, "f:managedFields": {}, "f:resourceVersion": {},
            },
        }))
    });
    set.difference(never)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::types::builtin;

    fn map(data: &Value) -> Value {
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "m" }, "data": data })
    }

    fn applied<'a>(live: &'a Value, config: &'a Value, manager: &'a str, force: bool) -> Applied<'a> {
        Applied {
            live,
            config,
            api_version: "v1",
            manager,
            subresource: "",
            force,
            ignored: &[],
            tracked_from_now: false,
            time: "t",
        }
    }

    #[test]
    fn an_applier_that_stops_setting_a_field_removes_it() {
        let of = builtin("v1", "ConfigMap").unwrap();
        let mut managers = Managers::default();
        let live = managers
            .apply(&of, &applied(&json!({}), &map(&json!({ "a": "1", "b": "2" })), "x", false))
            .unwrap();
        let live = managers.apply(&of, &applied(&live, &map(&json!({ "a": "1" })), "x", false)).unwrap();
        assert_eq!(live["data"], json!({ "a": "1" }));
    }

    #[test]
    fn an_update_takes_what_it_changes_and_an_apply_then_conflicts() {
        let of = builtin("v1", "ConfigMap").unwrap();
        let mut managers = Managers::default();
        let live = managers.apply(&of, &applied(&json!({}), &map(&json!({ "a": "1" })), "x", false)).unwrap();
        let edited = map(&json!({ "a": "2" }));
        let by = Identity::new("kubectl-edit", Operation::Update, "v1", "");
        managers.update(&of, Some(&live), &edited, &by, "t");
        let again = map(&json!({ "a": "1" }));
        let refused = managers.apply(&of, &applied(&edited, &again, "x", false)).unwrap_err();
        let conflict =
            Conflict { manager: "\"kubectl-edit\" using v1".to_owned(), path: ".data.a".to_owned() };
        assert_eq!(refused, Refused::Conflicts(vec![conflict]));
        let live = managers.apply(&of, &applied(&edited, &again, "x", true)).unwrap();
        assert_eq!(live["data"]["a"], "1");
        assert_eq!(managers.set(&by), None);
    }
}
