//! Where a rehearsal runs: the embedded server, the cluster of a kubeconfig, or a kind cluster of its own.

use std::io;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use super::args::{Engine, EngineFlags};
use super::exit::Error;
use super::terminal::Terminal;
use crate::cluster::Unreachable;
use crate::cluster::kind::{self, Kind};
use crate::cluster::live::Live;
use crate::cluster::simulated::schemas::Schemas;
use crate::limits::stack;
use crate::upgrade::actors::helm::Forge;
use crate::upgrade::actors::{self, Actor, Renderer, Workshop};
use crate::upgrade::outcome::Rehearsal;
use crate::upgrade::rehearse::{Plan, Shared, rehearse, rehearse_real};
use crate::upgrade::renders::Folding;
use crate::upgrade::sizes::Sizes;
use crate::upgrade::storage::Records;
use crate::upgrade::world::{self, Plain};

/// The actors that were asked for.
pub(crate) fn actors(ids: &[String]) -> Result<Vec<&'static dyn Actor>, Error> {
    let known = || actors::ACTORS.iter().map(|actor| actor.id()).collect::<Vec<_>>().join(", ");
    let find = |id: &String| {
        actors::find(id).ok_or_else(|| {
            Error::new(format!("`--actor {id}`: no such actor")).hint(format!("Actors are {}.", known()))
        })
    };
    ids.iter().map(find).collect()
}

/// One actor's part: the plan as its Helm version reads charts and values.
pub(crate) struct Part {
    pub(crate) actor: &'static dyn Actor,
    pub(crate) plan: Plan,
}

/// Rehearses every part on the engine that the flags name.
pub(crate) fn run(
    parts: &[Part],
    renderer: &dyn Renderer,
    sizes: &Arc<Sizes>,
    flags: &EngineFlags,
    terminal: Terminal,
) -> Result<Vec<Rehearsal>, Error> {
    match flags.engine {
        Engine::Sim => simulated(parts, renderer, sizes),
        Engine::Cluster => on_real(parts, renderer, flags, terminal, || connect(flags)),
        Engine::Kind => on_kind(parts, renderer, flags, terminal),
    }
}

// Actors share renders, records and starting states, so each has a thread.
fn simulated(parts: &[Part], renderer: &dyn Renderer, sizes: &Arc<Sizes>) -> Result<Vec<Rehearsal>, Error> {
    let schemas = &Schemas::default();
    let renderer = &Folding::new(renderer, schemas);
    let fresh = |kubernetes: &str| {
        let mut cluster = world::simulated(kubernetes);
        cluster.fold_definitions(schemas);
        cluster
    };
    let (records, forge) = (Records::with_sizes(sizes), Forge::default());
    let workshop = Workshop { renderer, records: &records, forge: &forge };
    let plans = parts.iter().map(|part| (part.actor.id(), &part.plan));
    let shared = Shared::new(workshop, &fresh, plans);
    let one = |part: &Part| rehearse(part.actor, &part.plan, &shared).map_err(|error| Error::new(error.0));
    let mut rehearsals: Result<Vec<Rehearsal>, Error> = std::thread::scope(|scope| {
        let one = &one;
        let work = |part| move || one(part);
        let threads: Vec<_> = parts.iter().map(|part| stack::spawn(scope, work(part))).collect();
        threads.into_iter().map(joined).collect()
    });
    // The values are known when all actors are through.
    rehearsals.iter_mut().flatten().for_each(|rehearsal| shared.secrets.redact(rehearsal));
    // As above all ends here, nobody waits until every cluster and schema is taken apart.
    std::mem::forget((shared, schemas.clone()));
    rehearsals
}

/// What a thread of its own came to.
pub(crate) fn joined<T>(thread: io::Result<ScopedJoinHandle<'_, Result<T, Error>>>) -> Result<T, Error> {
    let thread = thread.map_err(|error| Error::new(format!("no thread to work on: {error}")))?;
    thread.join().unwrap_or_else(|_| Err(Error::new("a thread ended abnormally; this is a bug")))
}

/// Connects to the cluster that the flags name.
pub(crate) fn connect(flags: &EngineFlags) -> Result<Live, Unreachable> {
    Live::connect(flags.kubeconfig.as_deref(), flags.context.as_deref())
}

/// A real cluster as a rehearsal sees it, with the time to settle that the flags give.
pub(crate) fn real(live: Live, flags: &EngineFlags) -> Plain<Live> {
    Plain::new(live, f64::from(flags.settle))
}

// One after the other: they change the same cluster.
fn on_real(
    parts: &[Part],
    renderer: &dyn Renderer,
    flags: &EngineFlags,
    terminal: Terminal,
    connect: impl Fn() -> Result<Live, Unreachable>,
) -> Result<Vec<Rehearsal>, Error> {
    let unreachable = |error: Unreachable| {
        Error::new(error.0).hint("Check the kubeconfig and context, or use `--engine sim`.")
    };
    let phases = terminal.phases();
    let one = |part: &Part| {
        phases.begin(&format!("rehearsing {} on a real API server", part.actor.title()));
        let world = real(connect().map_err(unreachable)?, flags);
        rehearse_real(part.actor, &part.plan, renderer, world).map_err(unreachable)
    };
    let rehearsals = parts.iter().map(one).collect();
    phases.end();
    rehearsals
}

fn on_kind(
    parts: &[Part],
    renderer: &dyn Renderer,
    flags: &EngineFlags,
    terminal: Terminal,
) -> Result<Vec<Rehearsal>, Error> {
    let cluster = kind(flags, terminal)?;
    on_real(parts, renderer, flags, terminal, || cluster.connect())
}

/// A kind cluster of this run's own, deleted when it is dropped or the program is interrupted.
pub(crate) fn kind(flags: &EngineFlags, terminal: Terminal) -> Result<Kind, Error> {
    let settings = settings(flags);
    delete_on_interrupt(&settings, terminal);
    let phases = terminal.phases();
    let mut progress = |phase: &str| phases.begin(phase);
    let cluster = Kind::create(settings.clone(), &mut progress).map_err(|error| Error::new(error.0))?;
    phases.end();
    if flags.keep {
        let delete = Kind::delete_arguments(&settings).join(" ");
        terminal.say(&format!("cluster {} will be kept; delete it with: kind {delete}", settings.name));
    }
    Ok(cluster)
}

fn settings(flags: &EngineFlags) -> kind::Settings {
    // Process ids come back, and a cluster that an earlier run kept must not be met.
    let unique = uuid::Uuid::new_v4().simple().to_string();
    let name = format!("seatrial-{}", unique.get(..8).unwrap_or(&unique));
    kind::Settings {
        program: std::env::var_os("SEATRIAL_KIND").map_or_else(|| "kind".into(), Into::into),
        image: flags.kind_image.clone(),
        preload: flags.preload.clone(),
        keep: flags.keep,
        kubeconfig: std::env::temp_dir().join(format!("{name}.kubeconfig")),
        name,
        at_work: kind::AtWork::default(),
    }
}

// Ctrl-C and SIGTERM end the program without unwinding, so nothing would be dropped.
#[expect(clippy::exit, reason = "the program was told to end; the cluster is deleted first")]
fn delete_on_interrupt(settings: &kind::Settings, terminal: Terminal) {
    let settings = settings.clone();
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(interrupted());
        settings.at_work.interrupt();
        if !settings.keep {
            terminal.say(&format!("interrupted; deleting cluster {}", settings.name));
            kind::delete(&settings);
        }
        std::process::exit(1);
    });
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
}

#[cfg(not(unix))]
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
