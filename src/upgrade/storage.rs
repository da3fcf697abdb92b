//! Helm's release records: one Secret per revision.
//!
//! Source: Helm, `pkg/storage/driver/{secrets,util}.go`. Real servers get and give Helm's own format; in a simulation,
//! where compressing megabytes at every step would cost more than everything else, the Secret holds a reference to the
//! record, and the size that the real one would have is computed once per render.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::cluster::{Propagation, Resource};
use crate::k8s;
use crate::render::Render;
use crate::upgrade::link::{Address, Fault, Link};
use crate::upgrade::record;
use crate::upgrade::release::{Release, Status};
use crate::upgrade::sizes::Sizes;

/// Largest sum of a Secret's values, in bytes.
/// Source: Kubernetes, `staging/src/k8s.io/api/core/v1/types.go`, `MaxSecretSize`.
pub const SECRET_LIMIT: usize = 1 << 20;

/// Field manager of records: Helm names none when it writes them, and the server takes it from the user agent.
const MANAGER: &str = "Helm";

/// What a stored reference begins with; base64 never does.
const REFERENCE: &str = "%seatrial ";

/// Releases behind the references, and the sizes of records; shared by all forks of a rehearsal.
#[derive(Debug, Default)]
pub struct Records {
    /// Whether Secrets get Helm's own format.
    pub real: bool,
    known: Mutex<BTreeMap<String, Arc<Release>>>,
    renders: Mutex<Vec<Arc<Render>>>,
    sizes: Arc<Sizes>,
}

impl Records {
    /// Records for a real API server, in Helm's format.
    #[must_use]
    pub fn real() -> Self {
        Self { real: true, ..Self::default() }
    }

    /// Records for a simulation that knows the sizes of some already.
    #[must_use]
    pub fn with_sizes(sizes: &Arc<Sizes>) -> Self {
        Self { sizes: Arc::clone(sizes), ..Self::default() }
    }

    /// The render's place in the order in which renders were seen.
    fn number(&self, render: &Arc<Render>) -> usize {
        let mut renders = self.renders.lock().unwrap_or_else(PoisonError::into_inner);
        renders.iter().position(|known| Arc::ptr_eq(known, render)).unwrap_or_else(|| {
            renders.push(Arc::clone(render));
            renders.len() - 1
        })
    }

    fn keep(&self, reference: String, release: &Release) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(reference).or_insert_with(|| Arc::new(release.clone()));
    }

    fn find(&self, reference: &str) -> Option<Arc<Release>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(reference).cloned()
    }
}

/// The records of one namespace.
pub struct Storage<'r> {
    records: &'r Records,
    namespace: String,
    writer: &'static str,
}

impl<'r> Storage<'r> {
    /// The records in a namespace; `writer` names the Helm line, whose encodings differ.
    #[must_use]
    pub fn new(records: &'r Records, namespace: &str, writer: &'static str) -> Self {
        Self { records, namespace: namespace.to_owned(), writer }
    }

    /// Every revision of a release, oldest first. Secrets that can't be read are passed over, as Helm does.
    ///
    /// # Errors
    /// When the server refuses the list.
    pub fn history(&self, link: &mut Link<'_>, name: &str) -> Result<Vec<Release>, Fault> {
        let secrets = link.list(&secrets(), &self.namespace, &format!("name={name},owner=helm"))?;
        let mut releases: Vec<Release> = secrets.iter().filter_map(|secret| self.decode(secret)).collect();
        releases.sort_by_key(|release| release.revision);
        Ok(releases)
    }

    /// Stores a new revision, first dropping the oldest ones beyond `history_max` (0: no limit).
    ///
    /// # Errors
    /// `create: failed to create: …`, with the server's reason.
    pub fn create(&self, link: &mut Link<'_>, release: &Release, history_max: usize) -> Result<(), String> {
        if history_max > 0 {
            self.trim(link, &release.name, history_max - 1)?;
        }
        self.within_limit(release, "create")?;
        let (address, secret) = (self.address(release), Arc::new(self.secret(release, "createdAt")));
        match link.managed_by(MANAGER, |link| link.create(&address, secret)) {
            Ok(_) => Ok(()),
            Err(fault) if fault.already_exists() => Err("release: already exists".to_owned()),
            Err(fault) => Err(format!("create: failed to create: {}", fault.text)),
        }
    }

    /// Stores a changed revision.
    ///
    /// # Errors
    /// `update: failed to update: …`, with the server's reason.
    pub fn update(&self, link: &mut Link<'_>, release: &Release) -> Result<(), String> {
        self.within_limit(release, "update")?;
        let (address, secret) = (self.address(release), Arc::new(self.secret(release, "modifiedAt")));
        link.managed_by(MANAGER, |link| link.update(&address, secret))
            .map(|_| ())
            .map_err(|fault| format!("update: failed to update: {}", fault.text))
    }

    /// Removes a revision's record.
    ///
    /// # Errors
    /// The server's reason.
    pub fn delete(&self, link: &mut Link<'_>, release: &Release) -> Result<(), String> {
        let address = self.address(release);
        link.get(&address).map_err(|fault| fault.text)?;
        link.delete(&address, Propagation::Background).map(|_| ()).map_err(|fault| fault.text)
    }

    /// Drops the oldest revisions until `keep` are left; the last deployed one stays.
    fn trim(&self, link: &mut Link<'_>, name: &str, keep: usize) -> Result<(), String> {
        let history = self
            .history(link, name)
            .map_err(|fault| format!("query: failed to query with labels: {}", fault.text))?;
        let deployed = history
            .iter()
            .rev()
            .find(|release| release.status == Status::Deployed)
            .map(|release| release.revision);
        let surplus = history.len().saturating_sub(keep);
        let old = history.iter().filter(|release| Some(release.revision) != deployed).take(surplus);
        for release in old {
            self.delete(link, release)?;
        }
        Ok(())
    }

    /// In a simulation the size is checked here, because the stored reference is small.
    fn within_limit(&self, release: &Release, verb: &str) -> Result<(), String> {
        if self.records.real || self.records.sizes.fits(release) {
            return Ok(());
        }
        let verb_done =
            if verb == "create" { "create: failed to create" } else { "update: failed to update" };
        Err(format!(
            "{verb_done}: Secret \"{}\" is invalid: data: Too long: may not be more than {SECRET_LIMIT} bytes",
            release.secret()
        ))
    }

    fn address(&self, release: &Release) -> Address {
        Address { resource: secrets(), namespace: self.namespace.clone(), name: release.secret() }
    }

    fn secret(&self, release: &Release, stamp: &str) -> Value {
        let data = if self.records.real { record::encode(release) } else { self.reference(release) };
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "helm.sh/release.v1",
            "metadata": {
                "name": release.secret(),
                "namespace": self.namespace,
                "labels": {
                    "name": release.name,
                    "owner": "helm",
                    "status": release.status.as_str(),
                    "version": release.revision.to_string(),
                    stamp: format!("{:.0}", link_time(release)),
                },
            },
            "data": { "release": record::base64(data.as_bytes()) },
        })
    }

    /// A reference that changes whenever the stored record would.
    fn reference(&self, release: &Release) -> String {
        let mut digest = Sha256::new();
        digest.update(format!(
            "{} {} {}",
            self.records.number(&release.render),
            self.writer,
            release.apply_method.as_str()
        ));
        digest.update(format!(
            "{} {} {}",
            release.status.as_str(),
            release.description,
            release.last_deployed
        ));
        let mut reference =
            format!("{REFERENCE}{} v{} {} ", release.name, release.revision, release.status.as_str());
        for byte in digest.finalize().iter().take(8) {
            let _ = write!(reference, "{byte:02x}");
        }
        self.records.keep(reference.clone(), release);
        reference
    }

    fn decode(&self, secret: &Value) -> Option<Release> {
        let data = record::unbase64(k8s::text(secret, "/data/release"))?;
        let text = String::from_utf8(data).ok()?;
        if text.starts_with(REFERENCE) {
            return self.records.find(&text).map(|release| Release::clone(&release));
        }
        record::decode(&text).ok()
    }
}

fn link_time(release: &Release) -> f64 {
    release.last_deployed.max(0.0)
}

fn secrets() -> Resource {
    Resource { group: String::new(), version: "v1".to_owned(), plural: "secrets".to_owned() }
}
