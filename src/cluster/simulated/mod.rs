//! The in-memory API server: objects, a virtual clock, controllers that get their turn, and a log of exchanges.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

pub mod api;
pub mod conditions;
pub mod controllers;
pub mod webhooks;

mod clock;
mod collector;
mod definitions;
mod discovery;
mod memory;
mod namespaces;
pub mod schemas;
mod serve;
mod shell;
mod status;
mod store;

pub use api::{Api, Controller};
pub use conditions::{Conditions, Consulted};
pub use serve::namespace_object;
pub use store::{Change, Key};
pub use webhooks::{WebhookAnswer, WebhookCall, Webhooks};

use super::{ApiResource, Arrival, Cluster, Exchange, Request, Response, Unreachable};
use discovery::Discovery;
use schemas::Schemas;
use store::Store;

/// Turns that controllers may take at one instant before the simulation calls it a livelock.
const ROUNDS: usize = 200;

/// How often fewer turns are given to controllers that did not come to rest, each time half as many.
const MOST_RESTLESS: u32 = 4;

/// Seconds by which time goes on all the same while controllers answer each other.
const RESTLESS_PAUSE: f64 = 1.0;

/// A simulated cluster; a clone is a cheap fork that shares all objects.
pub struct Simulated {
    /// What the outside world does.
    pub conditions: Conditions,
    consulted: Consulted,
    /// Whose name the requests of [`Cluster::send`] carry in the trace.
    pub actor: String,
    kube_version: String,
    minor: u32,
    now: f64,
    /// How often controllers did not come to rest.
    restless: u32,
    revision: u64,
    uids: u64,
    /// UIDs that are not to be given out.
    reserved: Arc<BTreeSet<String>>,
    names: u64,
    store: Store,
    discovery: Discovery,
    schemas: Schemas,
    /// Whether definitions are stored with references in place of their schemas.
    folds: bool,
    controllers: Vec<Slot>,
    webhooks: Vec<Box<dyn Webhooks>>,
    changes: Vec<Arc<Change>>,
    refused: Option<Arc<Refused>>,
    exchanges: Vec<Exchange>,
    notes: Vec<String>,
}

/// The last request that was refused, and when.
struct Refused {
    by: String,
    revision: u64,
    request: Request,
    response: Response,
}

impl Refused {
    /// Whether the same request would be refused now: only certificates change by time alone.
    fn stands(&self, server: &Simulated, request: &Request, by: &str) -> bool {
        self.revision == server.revision
            && server.conditions.certificates == conditions::Certificates::Settled
            && self.by == by
            && self.request == *request
    }
}

/// A controller, when it is due, and how far it has read the changes.
struct Slot {
    controller: Box<dyn Controller>,
    due: Option<f64>,
    seen: usize,
}

impl Clone for Simulated {
    fn clone(&self) -> Self {
        let fork = |slot: &Slot| Slot { controller: slot.controller.fork(), due: slot.due, seen: slot.seen };
        Self {
            conditions: self.conditions.clone(),
            consulted: self.consulted.clone(),
            actor: self.actor.clone(),
            kube_version: self.kube_version.clone(),
            minor: self.minor,
            now: self.now,
            restless: self.restless,
            revision: self.revision,
            uids: self.uids,
            reserved: Arc::clone(&self.reserved),
            names: self.names,
            store: self.store.clone(),
            discovery: self.discovery.clone(),
            schemas: self.schemas.clone(),
            folds: self.folds,
            controllers: self.controllers.iter().map(fork).collect(),
            webhooks: self.webhooks.iter().map(|w| w.fork()).collect(),
            changes: self.changes.clone(),
            refused: self.refused.clone(),
            exchanges: self.exchanges.clone(),
            notes: self.notes.clone(),
        }
    }
}

impl std::fmt::Debug for Simulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.controllers.iter().map(|s| s.controller.name()).collect();
        f.debug_struct("Simulated")
            .field("kube_version", &self.kube_version)
            .field("now", &self.now)
            .field("revision", &self.revision)
            .field("controllers", &names)
            .finish_non_exhaustive()
    }
}

impl Simulated {
    /// A fresh cluster of a Kubernetes version such as `v1.34.3`, with the namespaces every cluster has.
    #[must_use]
    pub fn new(kube_version: &str) -> Self {
        let minor = kube_version.split('.').nth(1).and_then(|m| m.parse().ok()).unwrap_or(34);
        let mut cluster = Self {
            conditions: Conditions::default(),
            consulted: Consulted::default(),
            actor: "client".to_owned(),
            kube_version: kube_version.to_owned(),
            minor,
            now: 0.0,
            restless: 0,
            revision: 1,
            uids: 0,
            reserved: Arc::default(),
            names: 0,
            store: Store::default(),
            discovery: Discovery::default(),
            schemas: Schemas::default(),
            folds: false,
            controllers: Vec::new(),
            webhooks: Vec::new(),
            changes: Vec::new(),
            refused: None,
            exchanges: Vec::new(),
            notes: Vec::new(),
        };
        cluster.add_controller(Box::new(definitions::Definitions));
        cluster.add_controller(Box::new(namespaces::Namespaces::default()));
        cluster.add_controller(Box::new(collector::Collector));
        cluster
            .load(["default", "kube-node-lease", "kube-public", "kube-system"].map(serve::namespace_object));
        cluster
    }

    /// Stores definitions folded from now on, and answers them so; the schemas are kept in `schemas`.
    pub fn fold_definitions(&mut self, schemas: &Schemas) {
        self.schemas = schemas.clone();
        self.folds = true;
    }

    /// A definition with its schemas in place; every other object as it is.
    #[must_use]
    pub fn unfolded(&self, object: &Arc<Value>) -> Arc<Value> {
        if self.folds { self.schemas.unfold(object) } else { Arc::clone(object) }
    }

    /// Adds a controller; it gets its first turn with the next write or wait.
    pub fn add_controller(&mut self, controller: Box<dyn Controller>) {
        self.controllers.push(Slot { controller, due: Some(self.now), seen: self.changes.len() });
    }

    /// Adds the programs behind webhooks; the first model that answers a call decides it.
    pub fn add_webhooks(&mut self, webhooks: Box<dyn Webhooks>) {
        self.webhooks.push(webhooks);
    }

    /// Fixes what the outside world does from now on; what came into play before is forgotten.
    pub fn assume(&mut self, conditions: &Conditions) {
        self.conditions = conditions.clone();
        self.consulted = Consulted::default();
    }

    /// Which conditions came into play since they were fixed.
    #[must_use]
    pub fn consulted(&self) -> &Consulted {
        &self.consulted
    }

    /// Takes the exchanges since the last call.
    pub fn take_exchanges(&mut self) -> Vec<Exchange> {
        std::mem::take(&mut self.exchanges)
    }

    /// Takes the notes since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Adds a note to the trace.
    pub fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Every object, in order of group, kind, namespace and name.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.store.all()
    }

    /// Every object as a reader gets it: in the preferred version, and without what its schema no longer knows.
    pub fn shown(&self) -> impl Iterator<Item = Arc<Value>> {
        self.objects().map(|object| {
            let gvk = crate::k8s::Gvk::of(object);
            let target = self.discovery.by_kind(&gvk.group, &gvk.kind, self.minor);
            let custom = target.filter(|target| target.custom.is_some());
            custom.map_or_else(|| Arc::clone(object), |target| serve::in_version(&target, object))
        })
    }

    /// One object as stored, without a request.
    #[must_use]
    pub fn get(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&Arc<Value>> {
        self.store.get(group, kind, namespace, name)
    }

    /// The objects of a kind in a namespace (empty: in all of them), without a request.
    pub fn list<'s>(
        &'s self,
        group: &str,
        kind: &str,
        namespace: &'s str,
    ) -> impl Iterator<Item = &'s Arc<Value>> {
        self.store.list(group, kind, namespace)
    }

    /// The resource that serves a kind at this moment, in its preferred version.
    #[must_use]
    pub fn resource(&self, group: &str, kind: &str) -> Option<ApiResource> {
        self.discovery.by_kind(group, kind, self.minor).map(|t| t.api_resource())
    }

    /// Handles a request in someone's name and records it; controllers get no turn.
    fn exchange(&mut self, request: &Request, by: &str) -> Response {
        let response = self.serve(request, by);
        self.record(request, by, &response);
        response
    }

    /// As [`Simulated::exchange`], for those who try again and again: what was refused is refused again as long as nothing
    /// has changed.
    fn try_again(&mut self, request: &Request, by: &str) -> Response {
        let again = self.refused.as_ref().filter(|last| last.stands(self, request, by));
        if let Some(response) = again.map(|last| last.response.clone()) {
            self.record(request, by, &response);
            return response;
        }
        let response = self.exchange(request, by);
        if !response.ok() {
            let (request, response) = (request.clone(), response.clone());
            self.refused =
                Some(Arc::new(Refused { by: by.to_owned(), revision: self.revision, request, response }));
        }
        response
    }

    fn record(&mut self, request: &Request, by: &str, response: &Response) {
        self.exchanges.push(Exchange {
            at: self.now,
            by: by.to_owned(),
            request: request.line(),
            status: response.status,
            message: response.message().to_owned(),
        });
    }

    /// Gives controllers their turns until nobody has anything left to do at this instant; false where they don't come to rest.
    fn settle(&mut self) -> bool {
        // Who did not come to rest before is not waited for at length again.
        let rounds = ROUNDS >> self.restless.min(MOST_RESTLESS);
        for _ in 0..rounds {
            if !self.round() {
                self.forget_changes();
                return true;
            }
        }
        self.forget_changes();
        self.restless = self.restless.saturating_add(1);
        self.note(format!("controllers did not come to rest within {rounds} turns at {:.3} s", self.now));
        false
    }

    /// One turn for every controller that has unread changes or is due; false when there was none.
    fn round(&mut self) -> bool {
        let mut controllers = std::mem::take(&mut self.controllers);
        let mut active = false;
        for slot in &mut controllers {
            let due = slot.due.is_some_and(|due| due <= self.now);
            if slot.seen < self.changes.len() || due {
                active = true;
                self.turn(slot);
            }
        }
        self.controllers = controllers;
        active
    }

    fn turn(&mut self, slot: &mut Slot) {
        let changes = self.changes.get(slot.seen..).unwrap_or_default().to_vec();
        slot.seen = self.changes.len();
        slot.due = None;
        let by = slot.controller.name();
        slot.due = slot.controller.run(&mut Api { server: self, by, changes });
    }

    /// Drops the changes that every controller has read.
    fn forget_changes(&mut self) {
        let read = self.controllers.iter().map(|s| s.seen).min().unwrap_or(self.changes.len());
        self.changes.drain(..read);
        for slot in &mut self.controllers {
            slot.seen -= read;
        }
    }
}

impl Cluster for Simulated {
    fn send(&mut self, request: &Request) -> Result<Response, Unreachable> {
        let actor = self.actor.clone();
        let response = self.exchange(request, &actor);
        self.settle();
        Ok(response)
    }

    fn discover(&mut self) -> Result<Arc<Vec<ApiResource>>, Unreachable> {
        Ok(self.discovery.resources(self.minor))
    }

    fn version(&mut self) -> Result<String, Unreachable> {
        Ok(self.kube_version.clone())
    }

    fn now(&self) -> f64 {
        self.now
    }

    fn wait(&mut self, seconds: f64) -> Result<(), Unreachable> {
        let end = self.now + seconds.max(0.0);
        let mut rested = self.settle();
        while let Some(due) = self.next_due(end) {
            // Controllers that answer each other for ever must not hold up time.
            let soonest = if rested { self.now } else { self.now + RESTLESS_PAUSE };
            if soonest > end {
                break;
            }
            self.now = due.max(soonest);
            rested = self.settle();
        }
        self.now = end;
        Ok(())
    }

    fn wait_for_change(&mut self, pause: f64, most: f64) -> Result<(), Unreachable> {
        let (start, end) = (self.now, self.now + most.max(0.0));
        self.settle();
        let seen = self.revision;
        while let Some(due) = self.next_due(end).filter(|_| self.revision == seen) {
            self.now = due.max(self.now);
            if !self.settle() {
                break;
            }
        }
        // Who looks again never looks sooner than its pause; what happens in it is seen together.
        let next = if self.revision == seen { end } else { self.now.max(start + pause).min(end) };
        self.wait(next - self.now)
    }

    fn expect(&mut self, arrivals: &[Arrival]) -> Result<(), Unreachable> {
        for Arrival { group, kind, namespace, name } in arrivals {
            let (group, kind) = (group.as_str().into(), kind.as_str().into());
            self.store.miss(Key { group, kind, namespace: namespace.clone(), name: name.clone() });
        }
        Ok(())
    }
}

impl Simulated {
    fn next_due(&self, end: f64) -> Option<f64> {
        self.controllers.iter().filter_map(|s| s.due).filter(|due| *due <= end).min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests;
