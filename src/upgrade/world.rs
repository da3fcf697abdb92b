//! A cluster as a rehearsal needs it: it can be looked at as a whole and asked what it noticed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::cluster::simulated::{Conditions, Simulated, controllers};
use crate::cluster::{Arrival, Cluster, Exchange, Request, Unreachable};
use crate::k8s;

/// What rehearsals ask of a cluster beyond requests.
pub trait World: Cluster {
    /// Every object there is, as the server shows it to who asks.
    ///
    /// # Errors
    /// When the server can't be reached.
    fn objects(&mut self) -> Result<Vec<Arc<Value>>, Unreachable>;

    /// An object that the world may hold in a shortened form, in full.
    fn unfolded(&self, object: &Arc<Value>) -> Arc<Value> {
        Arc::clone(object)
    }

    /// Whose name the next requests carry in the trace.
    fn speaks_for(&mut self, who: &str);

    /// Exchanges since the last call, controllers' and hooks' included; `None` when only the asker's own are known.
    fn take_exchanges(&mut self) -> Option<Vec<Exchange>>;

    /// What was noticed since the last call.
    fn take_notes(&mut self) -> Vec<String>;

    /// Fixes what chance decides, where it can be fixed.
    fn assume(&mut self, conditions: &Conditions);

    /// Seconds after which everything that is going to happen has happened.
    fn settling_time(&self) -> f64;
}

/// A fresh simulated cluster of a version such as `v1.34.3`, with every controller and webhook that is known.
#[must_use]
pub fn simulated(kubernetes: &str) -> Simulated {
    let mut cluster = Simulated::new(kubernetes);
    controllers::install(&mut cluster);
    // The namespaces that every cluster has are filled before anybody looks.
    let _ = cluster.wait(0.0);
    cluster.take_exchanges();
    cluster
}

impl World for Simulated {
    fn objects(&mut self) -> Result<Vec<Arc<Value>>, Unreachable> {
        Ok(self.shown().collect())
    }

    fn unfolded(&self, object: &Arc<Value>) -> Arc<Value> {
        Simulated::unfolded(self, object)
    }

    fn speaks_for(&mut self, who: &str) {
        who.clone_into(&mut self.actor);
    }

    fn take_exchanges(&mut self) -> Option<Vec<Exchange>> {
        Some(Simulated::take_exchanges(self))
    }

    fn take_notes(&mut self) -> Vec<String> {
        Simulated::take_notes(self)
    }

    fn assume(&mut self, conditions: &Conditions) {
        Simulated::assume(self, conditions);
    }

    fn settling_time(&self) -> f64 {
        // Leases, refreshed Secrets and backoffs are over by then.
        120.0
    }
}

/// Any API server behind the plain trait: it is listed resource by resource, and chance decides what it decides.
pub struct Plain<C> {
    cluster: C,
    settling_time: f64,
}

impl<C: Cluster> Plain<C> {
    /// Wraps a cluster; rehearsals wait so many (real) seconds after each command.
    pub fn new(cluster: C, settling_time: f64) -> Self {
        Self { cluster, settling_time }
    }
}

impl<C: Cluster> Cluster for Plain<C> {
    fn send(&mut self, request: &Request) -> Result<crate::cluster::Response, Unreachable> {
        self.cluster.send(request)
    }

    fn discover(&mut self) -> Result<Arc<Vec<crate::cluster::ApiResource>>, Unreachable> {
        self.cluster.discover()
    }

    fn version(&mut self) -> Result<String, Unreachable> {
        self.cluster.version()
    }

    fn now(&self) -> f64 {
        self.cluster.now()
    }

    fn wait(&mut self, seconds: f64) -> Result<(), Unreachable> {
        self.cluster.wait(seconds)
    }

    fn expect(&mut self, arrivals: &[Arrival]) -> Result<(), Unreachable> {
        self.cluster.expect(arrivals)
    }
}

impl<C: Cluster> World for Plain<C> {
    fn objects(&mut self) -> Result<Vec<Arc<Value>>, Unreachable> {
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        for api in self.cluster.discover()?.iter().filter(|api| !api.resource.plural.contains('/')) {
            if !seen.insert((api.resource.group.clone(), api.kind.clone())) {
                continue;
            }
            let answer = self.cluster.send(&Request::list(&api.resource, ""))?;
            let items = answer.body.get("items").and_then(Value::as_array).into_iter().flatten();
            all.extend(items.map(|item| Arc::new(typed(item, api))));
        }
        Ok(all)
    }

    fn speaks_for(&mut self, _who: &str) {}

    fn take_exchanges(&mut self) -> Option<Vec<Exchange>> {
        None
    }

    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn assume(&mut self, _conditions: &Conditions) {}

    fn settling_time(&self) -> f64 {
        self.settling_time
    }
}

/// Items of lists of built-in kinds come without kind and version.
fn typed(item: &Value, api: &crate::cluster::ApiResource) -> Value {
    let mut item = item.clone();
    if k8s::text(&item, "/kind").is_empty()
        && let Some(map) = item.as_object_mut()
    {
        let resource = &api.resource;
        let version = if resource.group.is_empty() {
            resource.version.clone()
        } else {
            format!("{}/{}", resource.group, resource.version)
        };
        map.insert("kind".to_owned(), Value::from(api.kind.as_str()));
        map.insert("apiVersion".to_owned(), Value::from(version));
    }
    item
}
