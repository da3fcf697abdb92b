//! `seatrial template` from outside: its clock, chance and flags.

use std::path::Path;
use std::process::{Command, Output};

/// A chart with one template, in a directory of its own.
struct Chart(tempfile::TempDir);

impl Chart {
    fn new(template: &str) -> Self {
        let chart = Self(tempfile::tempdir().unwrap());
        chart.write("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
        chart.write("templates/a.yaml", template);
        chart
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "the program is tested from outside")]
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seatrial"));
        command.args(arguments).current_dir(self.path()).env_remove("SEATRIAL_CHARTS_CACHE").env_remove("TZ");
        command
    }

    /// Exit code, standard output and standard error of `seatrial template .`.
    fn template(&self, arguments: &[&str]) -> (i32, String, String) {
        answer(&self.command(&[&["template", "."], arguments].concat()).output().unwrap())
    }
}

fn answer(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// What is made by chance must be no secret that everybody knows.
#[test]
fn keys_passwords_and_certificates_differ_in_every_run() {
    let secrets = [
        "genPrivateKey \"ecdsa\"",
        "genPrivateKey \"ed25519\"",
        "(genCA \"ca\" 365).Key",
        "(genSelfSignedCert \"a\" nil nil 365).Cert",
        "randAlphaNum 24",
        "randBytes 24",
        "uuidv4",
        "bcrypt \"password\"",
        "htpasswd \"me\" \"password\"",
        "encryptAES \"key\" \"text\"",
        "shuffle \"abcdefghijklmnopqrstuvwxyz\"",
    ];
    let lines: String =
        secrets.iter().enumerate().map(|(at, call)| format!("s{at}: {{{{ {call} | quote }}}}\n")).collect();
    let chart = Chart::new(&lines);
    let runs = [chart.template(&[]).1, chart.template(&[]).1];
    let [first, second] = runs.each_ref().map(|run| run.lines().filter(|line| line.starts_with('s')));
    let same: Vec<_> = first.zip(second).filter(|(a, b)| a == b).collect();
    assert!(same.is_empty(), "{same:?}");
    assert_eq!(runs[0].lines().filter(|line| line.starts_with('s')).count(), secrets.len());
}

#[test]
fn names_by_chance_differ() {
    let chart = Chart::new("a: {{ .Release.Name }}\n");
    let name = || chart.template(&["--name-template", "x{{ randNumeric 20 }}"]).1;
    let (one, other) = (name(), name());
    assert!(one.contains("a: x") && one != other, "{one}");
}

#[test]
fn the_clock_is_the_machines_and_shows_the_local_zone() {
    let chart = Chart::new("a: {{ now }}\nb: {{ now | unixEpoch }}\nc: {{ now.UTC }}\n");
    let seconds = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let before = seconds();
    let (_, text, _) = chart.template(&[]);
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let at: u64 = line("b: ").trim_matches('"').parse().unwrap();
    assert!((before..=seconds()).contains(&at), "{text}");
    // As Go prints what it read from the clock.
    assert!(line("a: ").contains(" m=+0.") && line("c: ").ends_with(" +0000 UTC"), "{text}");
}

/// What `helm template` of Helm 3.22.0 and 4.3.1 prints for the same variable.
#[test]
fn the_variable_tz_decides_on_the_zone() {
    let chart = Chart::new(
        "a: {{ date \"2006-01-02 15:04 -0700 MST\" 1700000000 }}\n\
         b: {{ toDate \"2006-01-02\" \"2024-07-01\" }}\n\
         c: {{ now.Location }}\n",
    );
    let utc = ("2023-11-14 22:13 +0000 UTC", "2024-07-01 00:00:00 +0000 UTC");
    let berlin = ("2023-11-14 23:13 +0100 CET", "2024-07-01 00:00:00 +0200 CEST");
    let mut cases = vec![("", utc, "UTC"), ("No/Where", utc, "UTC"), ("<+02>-2", utc, "UTC")];
    if Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
        cases.push(("Europe/Berlin", berlin, "Europe/Berlin"));
        cases.push((":Europe/Berlin", berlin, "Europe/Berlin"));
        cases.push(("/usr/share/zoneinfo/Europe/Berlin", berlin, "/usr/share/zoneinfo/Europe/Berlin"));
    }
    for (variable, (a, b), c) in cases {
        let output = chart.command(&["template", "."]).env("TZ", variable).output().unwrap();
        let wanted = format!("---\n# Source: c/templates/a.yaml\na: {a}\nb: {b}\nc: {c}\n");
        assert_eq!(answer(&output).1, wanted, "{variable}");
    }
}

/// What is compared or judged must be the same tomorrow and elsewhere.
#[test]
fn everything_but_template_stands_still() {
    let chart = Chart::new("a: {{ now }}\nb: {{ randAlphaNum 20 }}\nc: {{ date \"15:04\" 0 }}\n");
    chart.write("other/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    chart.write(".helmignore", "golden\n");
    chart.write("seatrial-golden.yaml", "releases:\n- name: r\n  chart: .\n");
    let run =
        |arguments: &[&str], zone: &str| answer(&chart.command(arguments).env("TZ", zone).output().unwrap());
    let diff = ["diff", "other", ".", "-o", "json"];
    assert_eq!(run(&diff, "UTC"), run(&diff, "Asia/Tokyo"));
    assert_eq!(run(&["golden", "update"], "UTC").0, 0);
    let (exit, out, err) = run(&["golden", "check"], "Asia/Tokyo");
    assert_eq!(exit, 0, "{out}{err}");
}
