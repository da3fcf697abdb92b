//! Leader election by Lease, without release on exit: a new manager leads when the lease of the one that is gone has
//! lapsed.

use std::sync::Arc;

use serde_json::json;

use super::super::api::Api;
use super::super::conditions::LeaderTiming;
use super::managers::{self, Manager, Program};
use super::pods;
use crate::cluster::{Request, Resource};
use crate::k8s::text;

const GROUP: &str = "coordination.k8s.io";
/// The label by which a rehearsal knows the leases it wrote.
const ELECTIONS: &[(Program, &str)] =
    &[(Program::Trainer, "trainer.kubeflow.org"), (Program::JobSet, "6d4f6a47.jobset.x-k8s.io")];

/// The election among the managers of one program.
#[derive(Clone, Debug, Default)]
pub(super) struct Election {
    vacant_since: Option<f64>,
    /// Since when there is more than one manager.
    challenged_since: Option<f64>,
    /// UID of the pod that led last, as far as this rehearsal has seen.
    last: String,
    term: u64,
}

/// What an election says at this moment.
pub(super) struct Ballot {
    /// The leader, if there is one.
    pub(super) leader: Option<Manager>,
    /// When the next manager may take the lead.
    pub(super) due: Option<f64>,
    /// Whether the leader is another one than before.
    pub(super) changed: bool,
    /// How many leaders there have been.
    pub(super) term: u64,
}

fn lease_name(program: Program) -> &'static str {
    ELECTIONS.iter().find(|(p, _)| *p == program).map_or("", |(_, name)| name)
}

impl Election {
    /// Holds the election; a vacant lead goes to the first manager that is Ready once the lease has lapsed.
    pub(super) fn hold(&mut self, api: &mut Api<'_>, program: Program) -> Ballot {
        let running = managers::running(api, program);
        self.challenged_since = (running.len() > 1).then(|| self.challenged_since.unwrap_or(api.now()));
        let holder = lease(api, program);
        let leader = holder
            .as_ref()
            .and_then(|(_, pod)| running.iter().find(|m| text(&m.pod, "/metadata/name") == pod));
        if let Some(leader) = leader {
            self.vacant_since = None;
            return self.ballot(leader.clone());
        }
        let candidate = running.iter().find(|m| pods::ready(&m.pod)).cloned();
        let vacant_since = *self.vacant_since.get_or_insert(api.now());
        let timing = api.conditions().timing;
        let lapses = holder.is_some() && api.conditions().leader != LeaderTiming::AtOnce;
        let free = if lapses { vacant_since + timing.pod_stop + timing.lease } else { vacant_since };
        if holder.is_some() && candidate.is_some() {
            api.consulted().lease();
        }
        let free = if api.conditions().leader == LeaderTiming::AtLast {
            self.challenged_since.map_or(free, |since| free.min(since + timing.pod_ready / 2.0))
        } else {
            free
        };
        match candidate {
            Some(manager) if api.now() >= free => {
                take(api, program, &manager, holder.is_some());
                self.vacant_since = None;
                self.ballot(manager)
            }
            Some(_) => Ballot { leader: None, due: Some(free), changed: false, term: self.term },
            None => Ballot { leader: None, due: None, changed: false, term: self.term },
        }
    }

    fn ballot(&mut self, leader: Manager) -> Ballot {
        let uid = text(&leader.pod, "/metadata/uid").to_owned();
        let changed = self.last != uid;
        self.last = uid;
        self.term += u64::from(changed);
        Ballot { leader: Some(leader), due: None, changed, term: self.term }
    }
}

/// The namespace of a program's lease and the pod that holds it.
fn lease(api: &Api<'_>, program: Program) -> Option<(String, String)> {
    let name = lease_name(program);
    let lease = api.list(GROUP, "Lease", "").find(|l| text(l, "/metadata/name") == name)?;
    let holder = text(lease, "/spec/holderIdentity");
    let pod = holder.split('_').next().unwrap_or(holder);
    Some((text(lease, "/metadata/namespace").to_owned(), pod.to_owned()))
}

fn take(api: &mut Api<'_>, program: Program, manager: &Manager, held: bool) {
    let namespace = text(&manager.pod, "/metadata/namespace").to_owned();
    let (pod, uid) = (text(&manager.pod, "/metadata/name"), text(&manager.pod, "/metadata/uid"));
    let name = lease_name(program);
    let object = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"holderIdentity": format!("{pod}_{uid}"), "leaseDurationSeconds": 15},
    });
    let resource = Resource::new(GROUP, "v1", "leases");
    let existing = api.get(GROUP, "Lease", &namespace, name).is_some();
    let request = if held && existing {
        Request::update(&resource, &namespace, Arc::new(object))
    } else {
        Request::create(&resource, &namespace, Arc::new(object))
    };
    api.send(&request);
}

/// Whether a change of the lead is under way: a lease whose holder is gone, or a manager about to replace another.
pub(super) fn pending(api: &Api<'_>) -> bool {
    ELECTIONS.iter().any(|(program, _)| {
        let running = managers::running(api, *program);
        let holder = lease(api, *program).map(|(_, pod)| pod);
        let led = running.iter().any(|m| holder.as_deref() == Some(text(&m.pod, "/metadata/name")));
        !running.is_empty() && (!led || running.len() > 1)
    })
}
