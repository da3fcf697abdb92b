//! Helm's commands against a cluster, request by request, for every version that [`Dialect`] knows.

use std::sync::Arc;

use crate::chart::notice::Notices;
use crate::chart::{Chart, Values, values};
use crate::cluster::{Arrival, Cluster, Exchange};
use crate::k8s::{Gvk, references};
use crate::render::{Options, Render};
use crate::upgrade::actors::{Command, Renderer, Subject, Terminal, Workshop};
use crate::upgrade::link::Link;
use crate::upgrade::lookups;
use crate::upgrade::release::{ApplyMethod, Release, Status};
use crate::upgrade::storage::Storage;

mod apply;
mod dialect;
mod flags;
mod hooks;
mod install;
mod managed;
mod objects;
mod order;
mod ownership;
mod patch;
mod rollback;
mod strategic;
mod uninstall;
mod upgrade;
mod wait;

pub use dialect::Dialect;
pub use flags::{FlagError, Flags, Reuse, ServerSide, Wait, offered, seconds, takes_value};
pub use objects::Forge;
pub(crate) use objects::{HOOK, MANAGED_BY, RELEASE_NAME, RELEASE_NAMESPACE, RESOURCE_POLICY};
pub(crate) use patch::{is_typed, is_typed_group, same, three_way_merge};
pub(crate) use strategic::three_way as strategic_three_way;
pub(crate) use wait::rollout_status;

use objects::{Target, build};

/// A finished command: what is on the terminal, and what was asked.
#[derive(Debug)]
pub struct Finished {
    /// Exit code and output.
    pub terminal: Terminal,
    /// Requests and answers.
    pub exchanges: Vec<Exchange>,
}

/// One command in progress.
pub(crate) struct Session<'s, 'c> {
    pub(crate) link: Link<'c>,
    pub(crate) dialect: Dialect,
    pub(crate) flags: Flags,
    pub(crate) subject: &'s Subject,
    pub(crate) forge: &'s Forge,
    renderer: &'s dyn Renderer,
    storage: Storage<'s>,
    /// Lines for stderr.
    log: String,
}

/// Runs one command.
pub(crate) fn run(
    cluster: &mut dyn Cluster,
    workshop: &Workshop<'_>,
    dialect: Dialect,
    subject: &Subject,
    command: &Command,
    flags: &Flags,
) -> Finished {
    let by = if dialect.is_v4() { "helm4" } else { "helm3" };
    let mut session = Session {
        link: Link::new(cluster, by, "helm"),
        dialect,
        flags: flags.clone(),
        subject,
        forge: workshop.forge,
        renderer: workshop.renderer,
        storage: Storage::new(workshop.records, &subject.namespace, by),
        log: flags.notices.clone(),
    };
    let result = match command {
        Command::Install { chart, values } => {
            install::run(&mut session, chart, values).map_err(|error| format!("INSTALLATION FAILED: {error}"))
        }
        Command::Upgrade { chart, values } => upgrade::command(&mut session, chart, values),
        Command::Rollback { revision } => rollback::run(&mut session, *revision),
        Command::Uninstall => uninstall::run(&mut session),
    };
    session.finish(result)
}

impl Session<'_, '_> {
    fn finish(mut self, result: Result<String, String>) -> Finished {
        for warning in self.link.warnings.drain(..) {
            self.log.push_str(&self.dialect.server_warning(&warning));
        }
        let terminal = match result {
            Ok(stdout) => Terminal { exit_code: 0, stdout, stderr: self.log },
            Err(error) => Terminal {
                exit_code: 1,
                stdout: String::new(),
                stderr: format!("{}Error: {error}\n", self.log),
            },
        };
        Finished { terminal, exchanges: self.link.exchanges }
    }

    /// Whether deleting a hook's object waits until it is gone.
    pub(crate) fn hook_deletion_waits(&self) -> bool {
        self.dialect.hook_deletion_waits() || self.flags.wait != Wait::HooksOnly
    }

    /// Stores a revision and goes on whatever the answer, as Helm does for records on the way.
    pub(crate) fn record(&mut self, release: &Release) {
        // Helm logs the error in debug mode only.
        let _ = self.storage.update(&mut self.link, release);
    }

    /// All revisions, oldest first.
    ///
    /// # Errors
    /// The server's refusal.
    fn history(&mut self) -> Result<Vec<Release>, String> {
        let name = self.subject.release.clone();
        self.storage
            .history(&mut self.link, &name)
            .map_err(|fault| format!("query: failed to query with labels: {}", fault.text))
    }

    /// Renders with the cluster's version and API list.
    fn render(
        &mut self,
        chart: &Arc<Chart>,
        config: &Arc<Values>,
        revision: u64,
        is_upgrade: bool,
    ) -> Result<Arc<Render>, String> {
        let version = self.link.version().map_err(|fault| fault.text)?;
        let served = self.link.discover().map_err(|fault| fault.text)?;
        let options = Options {
            revision,
            is_upgrade,
            kube_version: Some(version),
            api_versions: api_versions(&served),
            check_schema: !self.flags.skip_schema,
            ..template_options(self.dialect.helm, self.subject)
        };
        lookups::render(&mut self.link, self.renderer, (chart, config), &options)
    }

    /// A render's documents as targets, without ownership metadata.
    fn build(&mut self, render: &Render) -> Result<Vec<Target>, String> {
        let served = self.link.discover().map_err(|fault| fault.text)?;
        let documents = render.manifests.iter().map(|manifest| &*manifest.object);
        build(&served, documents, &self.subject.namespace, self.forge)
    }

    /// The same targets with this release's ownership metadata.
    fn owned(&self, targets: &[Target]) -> Vec<Target> {
        let own = |target: &Target| Target {
            object: self.forge.owned(&target.object, &self.subject.release, &self.subject.namespace),
            ..target.clone()
        };
        targets.iter().map(own).collect()
    }

    /// Says that these come new, and of a render's hooks those that the revision before did not have.
    fn announce(
        &mut self,
        targets: &[Target],
        render: &Render,
        before: Option<&Render>,
    ) -> Result<(), String> {
        let served = self.link.discover().map_err(|fault| fault.text)?;
        let hooks = |render: &Render| -> Vec<Target> {
            let objects = render.hooks.iter().map(|hook| &*hook.manifest.object);
            let referred = objects.filter(|object| references::is_referred_to(&Gvk::of(object)));
            let namespace = &self.subject.namespace;
            let built = referred.filter_map(|object| build(&served, [object], namespace, self.forge).ok());
            built.flatten().collect()
        };
        let (old, mut new) = (before.map(hooks).unwrap_or_default(), hooks(render));
        new.retain(|hook| !old.iter().any(|old| old.same_object(hook)));
        let coming = targets.iter().chain(&new).filter(|target| references::is_referred_to(&target.gvk));
        let arrivals: Vec<Arrival> = coming.map(Target::arrival).collect();
        self.link.expect(&arrivals).map_err(|fault| fault.text)
    }

    /// Waits for the targets as the flags say.
    fn wait_ready(&mut self, targets: &[Target]) -> Result<(), String> {
        let (jobs, timeout) = (self.flags.wait_for_jobs, self.flags.timeout);
        match self.flags.wait {
            Wait::HooksOnly => Ok(()),
            Wait::Legacy => wait::ready_legacy(&mut self.link, targets, jobs, timeout),
            Wait::Watcher => wait::ready_watched(&mut self.link, targets, jobs, timeout),
        }
    }

    /// An undoing flag without a wait strategy waits for everything.
    fn wait_when_atomic(&mut self) {
        if self.flags.atomic && self.flags.wait == Wait::HooksOnly {
            self.flags.wait = if self.dialect.is_v4() { Wait::Watcher } else { Wait::Legacy };
        }
    }

    /// What Helm stores about how objects are written; Helm 3 stores nothing.
    fn method_mark(&self, server_side: bool) -> ApplyMethod {
        match (self.dialect.is_v4(), server_side) {
            (false, _) => ApplyMethod::Unset,
            (true, true) => ApplyMethod::ServerSide,
            (true, false) => ApplyMethod::ClientSide,
        }
    }

    /// The last lines of a successful install or upgrade.
    fn summary(&self, release: &Release) -> String {
        let mut out = format!(
            "NAME: {}\nLAST DEPLOYED: {:.0}\nNAMESPACE: {}\n",
            release.name, release.last_deployed, release.namespace
        );
        out.push_str(&format!("STATUS: {}\nREVISION: {}\n", release.status.as_str(), release.revision));
        if self.dialect.is_v4() {
            out.push_str(&format!("DESCRIPTION: {}\n", release.description));
        }
        out.push_str("TEST SUITE: None\n");
        if let Some(notes) = release.render.notes.as_deref().map(str::trim).filter(|notes| !notes.is_empty())
        {
            out.push_str(&format!("NOTES:\n{notes}\n"));
        }
        out
    }
}

/// What a chart is rendered for when no cluster is asked.
#[must_use]
pub fn template_options(helm: crate::render::Helm, subject: &Subject) -> Options {
    Options {
        helm,
        release: subject.release.clone(),
        namespace: subject.namespace.clone(),
        revision: 1,
        is_upgrade: false,
        kube_version: None,
        api_versions: Vec::new(),
        check_schema: true,
        ..Options::default()
    }
}

/// `server_side` of a revision that comes after another.
fn server_side(wanted: ServerSide, before: ApplyMethod) -> bool {
    match wanted {
        ServerSide::Auto => before == ApplyMethod::ServerSide,
        ServerSide::Yes => true,
        ServerSide::No => false,
    }
}

/// Group/versions and group/version/kinds of discovery, as `.Capabilities.APIVersions` holds them.
fn api_versions(served: &[crate::cluster::ApiResource]) -> Vec<String> {
    let mut versions = std::collections::BTreeSet::new();
    for api in served {
        let (group, version) = (&api.resource.group, &api.resource.version);
        let group_version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
        versions.insert(format!("{group_version}/{}", api.kind));
        versions.insert(group_version);
    }
    versions.into_iter().collect()
}

/// The values and the chart that an upgrade renders with.
///
/// Source: Helm, `pkg/action/upgrade.go`, `reuseValues`.
fn reuse_values(
    dialect: Dialect,
    reuse: Reuse,
    current: &Release,
    chart: &Arc<Chart>,
    given: &Arc<Values>,
) -> Result<(Arc<Chart>, Arc<Values>), String> {
    let old = &current.render.config;
    let over_old = || {
        let mut merged = Values::clone(given);
        values::coalesce_tables(&mut merged, Values::clone(old), &mut Notices::new(dialect.helm));
        Arc::new(merged)
    };
    Ok(match reuse {
        Reuse::Reuse => {
            // Records hold no subcharts, so only the parent's defaults come along.
            let stored = Chart { dependencies: Vec::new(), ..Chart::clone(&current.render.chart) };
            let defaults = values::coalesce(&stored, old, &mut Notices::new(dialect.helm))
                .map_err(|error| format!("failed to rebuild old values: {error}"))?;
            (Arc::new(Chart { values: defaults, ..Chart::clone(chart) }), over_old())
        }
        Reuse::ResetThenReuse => (Arc::clone(chart), over_old()),
        Reuse::Default if given.is_empty() => (Arc::clone(chart), Arc::clone(old)),
        Reuse::Reset | Reuse::Default => (Arc::clone(chart), Arc::clone(given)),
    })
}

/// Names that Helm accepts for a release.
fn valid_name(name: &str) -> bool {
    let label = |part: &str| {
        let inner = part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        inner && !part.is_empty() && !part.starts_with('-') && !part.ends_with('-')
    };
    name.len() <= 53 && name.split('.').all(label)
}

/// A new revision of this release.
fn revision(session: &Session<'_, '_>, number: u64, status: Status, render: Arc<Render>) -> Release {
    let now = session.link.now();
    Release {
        name: session.subject.release.clone(),
        namespace: session.subject.namespace.clone(),
        revision: number,
        status,
        description: String::new(),
        render,
        rollback_revision: 0,
        apply_method: ApplyMethod::Unset,
        first_deployed: now,
        last_deployed: now,
    }
}
