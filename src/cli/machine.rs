//! What templates ask of this machine: its clock and time zone, its randomness, its name service.
//!
//! Only `seatrial template` answers so, as `helm template` does; everything that is compared or judged stands still.

use std::ffi::OsStr;
use std::net::ToSocketAddrs as _;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Map, Value};

use super::exit::Error;
use crate::render::host::{Answers, Offline};
use crate::source::directory::read_file;

/// What is asked of this machine, and what is answered for it.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Whether names are looked up.
    pub(crate) name_service: bool,
    /// Whether a cluster is said to be there, which none is.
    pub(crate) has_cluster: bool,
    /// What random bytes follow from; without it they are the system's.
    pub(crate) seed: Option<u64>,
    /// Who answers `lookup`; without it nothing is there.
    pub(crate) state: Option<Arc<dyn Answers>>,
}

/// This machine, without a cluster.
#[derive(Debug)]
pub(crate) struct Machine {
    begin: Instant,
    /// The time that stands still, where it does.
    stopped: Option<i128>,
    /// Read when somebody first asks: few charts do.
    zone: OnceLock<TimeZone>,
    dice: Dice,
    settings: Settings,
}

/// Where random bytes come from.
#[derive(Debug)]
enum Dice {
    /// A generator fit for keys; what it gives follows from a seed that the system drew.
    Drawn(Box<Mutex<StdRng>>),
    /// The same bytes in every run: whatever is made of them is no secret.
    Seeded(Offline),
}

impl Dice {
    fn new(seed: Option<u64>) -> Result<Self, Error> {
        if let Some(seed) = seed {
            return Ok(Self::Seeded(Offline { seed, ..Offline::default() }));
        }
        let drawn = StdRng::try_from_rng(&mut SysRng)
            .map_err(|error| Error::new(format!("the system gives no random numbers: {error}")))?;
        Ok(Self::Drawn(Box::new(Mutex::new(drawn))))
    }
}

impl Machine {
    /// The machine as it is now.
    ///
    /// # Errors
    /// The system gives no randomness: keys made without it would be no secrets.
    pub(crate) fn new(settings: Settings) -> Result<Arc<Self>, Error> {
        let dice = Dice::new(settings.seed)?;
        let stopped = match settings.seed {
            Some(_) => epoch(std::env::var_os(EPOCH).as_deref())?,
            None => None,
        };
        Ok(Arc::new(Self { begin: Instant::now(), stopped, zone: OnceLock::new(), dice, settings }))
    }
}

/// The variable by which reproducible builds say what time it is.
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The time of the variable in nanoseconds, where it is set.
fn epoch(variable: Option<&OsStr>) -> Result<Option<i128>, Error> {
    let Some(variable) = variable.filter(|variable| !variable.is_empty()) else { return Ok(None) };
    let seconds = variable.to_str().and_then(|text| text.parse::<u32>().ok());
    let wrong = || Error::new(format!("{EPOCH}={}: no number of seconds since 1970", variable.display()));
    seconds.ok_or_else(wrong).map(|seconds| Some(i128::from(seconds) * 1_000_000_000))
}

impl Answers for Machine {
    fn now(&self) -> i128 {
        if let Some(stopped) = self.stopped {
            return stopped;
        }
        let nanos = |time: std::time::Duration| i128::try_from(time.as_nanos()).unwrap_or(i128::MAX);
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => nanos(after),
            Err(before) => -nanos(before.duration()),
        }
    }

    fn elapsed(&self) -> i128 {
        if self.stopped.is_some() {
            return 0;
        }
        i128::try_from(self.begin.elapsed().as_nanos()).unwrap_or(i128::MAX)
    }

    fn zone(&self) -> TimeZone {
        self.zone.get_or_init(|| zone(std::env::var_os("TZ").as_deref())).clone()
    }

    fn random(&self, position: u64, buffer: &mut [u8]) {
        match &self.dice {
            Dice::Drawn(dice) => dice.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(buffer),
            Dice::Seeded(dice) => dice.random(position, buffer),
        }
    }

    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Value, String> {
        if let Some(state) = &self.settings.state {
            return state.lookup(api_version, kind, namespace, name);
        }
        if self.settings.has_cluster {
            return Err("`--dry-run=server` asks a cluster, which `template` never does".to_owned());
        }
        Ok(Value::Object(Map::new()))
    }

    // Sprig v3.3.0 `network.go` takes any of the addresses; an unknown name has none.
    fn resolve(&self, name: &str) -> String {
        // Asked for nothing, a name would tell its owner that somebody renders.
        if !self.settings.name_service {
            return String::new();
        }
        let addresses = (name, 0).to_socket_addrs().ok();
        addresses.and_then(|mut all| all.next()).map_or_else(String::new, |found| found.ip().to_string())
    }
}

/// Folders of time zones, those of Go 1.26 `time/zoneinfo_unix.go`.
const ZONES: &[&str] =
    &["/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"];

/// Largest file of a time zone in bytes, that of Go 1.26 `time/zoneinfo_read.go`.
const ZONE_BYTES: u64 = 10 << 20;

/// The local time zone by the variable `TZ`, as Go 1.26 `time/zoneinfo_unix.go` `initLocal` finds it.
///
/// Without the variable it is that of `/etc/localtime`; whatever can't be read is UTC.
fn zone(variable: Option<&OsStr>) -> TimeZone {
    let Some(variable) = variable else {
        return load(Path::new("/etc/localtime"), "Local").or_else(system).unwrap_or(TimeZone::UTC);
    };
    let text = variable.to_string_lossy();
    let text = text.strip_prefix(':').unwrap_or(&text);
    let found = match text {
        "" | "UTC" => None,
        "/etc/localtime" => load(Path::new(text), "Local"),
        path if path.starts_with('/') => load(Path::new(path), path),
        name => ZONES.iter().find_map(|folder| load(&Path::new(folder).join(name), name)),
    };
    found.unwrap_or(TimeZone::UTC)
}

fn load(path: &Path, name: &str) -> Option<TimeZone> {
    TimeZone::tzif(name, &read_file(path, ZONE_BYTES).ok()?).ok()
}

/// Where there is no such file, as on Windows, the system is asked.
fn system() -> Option<TimeZone> {
    if cfg!(unix) { None } else { TimeZone::try_system().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name_service: bool) -> Arc<Machine> {
        Machine::new(Settings { name_service, ..Settings::default() }).unwrap()
    }

    #[test]
    fn the_epoch_is_a_number_of_seconds() {
        let of = |text: &str| epoch(Some(OsStr::new(text)));
        assert_eq!(of("1700000000").unwrap(), Some(1_700_000_000_000_000_000));
        assert_eq!((of("").unwrap(), epoch(None).unwrap()), (None, None));
        assert!(["x", "-1", "1.5"].iter().all(|text| of(text).is_err()));
    }

    #[test]
    fn two_machines_have_other_dice_and_the_clock_goes_on() {
        let (one, other) = (machine(false), machine(false));
        let drawn = |machine: &Machine| {
            let mut bytes = [0; 32];
            machine.random(0, &mut bytes);
            bytes
        };
        let all = [drawn(&one), drawn(&one), drawn(&other), drawn(&other)];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), 4);
        let year = 365 * 86_400 * 1_000_000_000_i128;
        let (early, late) = (one.now(), one.now());
        assert!(early > 50 * year && early <= late);
        assert!(one.elapsed() < one.elapsed() + 1 && one.elapsed() < year);
    }

    #[test]
    fn the_variable_names_the_zone_as_in_go() {
        let offset = |zone: &TimeZone| {
            zone.to_offset_info(jiff::Timestamp::from_second(1_700_000_000).unwrap())
                .abbreviation()
                .to_owned()
        };
        let of = |text: &str| zone(Some(OsStr::new(text)));
        for utc in
            ["", ":", "UTC", "No/Such", "/no/such/file", "CET-1CEST,M3.5.0,M10.5.0/3", "/", "/dev/null"]
        {
            assert_eq!(of(utc), TimeZone::UTC, "{utc}");
        }
        if !Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
            return;
        }
        for berlin in ["Europe/Berlin", ":Europe/Berlin", "/usr/share/zoneinfo/Europe/Berlin"] {
            let zone = of(berlin);
            assert_eq!(offset(&zone), "CET");
            assert_eq!(zone.iana_name(), Some(berlin.trim_start_matches(':')));
        }
    }

    #[test]
    fn names_are_looked_up_only_when_told_to() {
        assert_eq!(machine(false).resolve("localhost"), "");
        assert!(["127.0.0.1", "::1"].contains(&machine(true).resolve("127.0.0.1").as_str()));
    }
}
