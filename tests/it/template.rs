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

const HOOK: &str = "kind: Job\nmetadata:\n  name: h\n  annotations: {helm.sh/hook: test}\n";

fn three(mut arguments: Vec<&str>) -> Vec<&str> {
    arguments.extend(["--helm", "3.22"]);
    arguments
}

/// Standard error of Helm 3.22.0 and 4.3.1 for the same flags, `None` where they render.
#[test]
fn flags_are_taken_and_refused_as_by_helm() {
    let chart = Chart::new("a: 1\n");
    let dry_run = "Invalid dry-run flag. Flag must one of the following: false, true, none, client, server";
    let unpacked = "unpacked charts cannot be verified";
    let labels = "user supplied labels contains system reserved label name. System labels: [name owner status version createdAt modifiedAt]";
    let boolean = |flag: &str, value: &str| {
        format!(
            "invalid argument \"{value}\" for \"--{flag}\" flag: strconv.ParseBool: parsing \"{value}\": invalid syntax"
        )
    };
    let wait = "invalid argument \"foo\" for \"--wait\" flag: invalid wait input \"foo\". Valid inputs are watcher, hookOnly, and legacy";
    let group = |a: &str, b: &str| {
        format!(
            "if any flags in the group [{a} {b}] are set none of the others can be; [{b} {a}] were all set"
        )
    };
    let same =
        |arguments: &'static str, error: &str| (arguments, Some(error.to_owned()), Some(error.to_owned()));
    let cases = [
        (
            "--dry-run=none",
            None,
            Some("invalid dry-run value (\"none\"). Must be \"server\" or \"client\"".to_owned()),
        ),
        (
            "--dry-run=foo",
            Some(dry_run.to_owned()),
            Some("invalid dry-run value (\"foo\"). Must be \"none\", \"server\", or \"client\"".to_owned()),
        ),
        ("--force-conflicts", Some("unknown flag: --force-conflicts".to_owned()), None),
        ("--force-replace", Some("unknown flag: --force-replace".to_owned()), None),
        ("--rollback-on-failure", Some("unknown flag: --rollback-on-failure".to_owned()), None),
        ("--server-side=false", Some("unknown flag: --server-side".to_owned()), None),
        (
            "--force-conflicts --force-replace",
            Some("unknown flag: --force-conflicts".to_owned()),
            Some(group("force-replace", "force-conflicts")),
        ),
        ("--dry-run=client --validate=false", None, Some(group("validate", "dry-run"))),
        ("--wait=foo", Some(boolean("wait", "foo")), Some(wait.to_owned())),
        ("--wait=legacy", Some(boolean("wait", "legacy")), None),
        same("--include-crds=x", &boolean("include-crds", "x")),
        same("--verify", unpacked),
        same("-l owner=me", labels),
        same("-l a", "invalid argument \"a\" for \"-l, --labels\" flag: a must be formatted as key=value"),
        same(
            "--timeout 5",
            "invalid argument \"5\" for \"--timeout\" flag: time: missing unit in duration \"5\"",
        ),
        same(
            "--burst-limit x",
            "invalid argument \"x\" for \"--burst-limit\" flag: strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        same(
            "--qps 1e400",
            "invalid argument \"1e400\" for \"--qps\" flag: strconv.ParseFloat: parsing \"1e400\": value out of range",
        ),
        same("a b", "expected at most two arguments, unexpected arguments: b"),
    ];
    let taken = [
        "--dry-run=client",
        "--dry-run",
        "--dry-run=true",
        "--validate=false",
        "--wait",
        "--wait=true",
        "--timeout 5m",
        "-l a=b,c=d",
        "--burst-limit 0x10 --qps 3.5 --kubeconfig none --kube-context none",
        "--replace --create-namespace=0 --take-ownership=F",
        "--version 1 --devel --username me --password x --dependency-update",
        "-gn x --name-template=",
        "--description x -f=",
    ];
    let taken = taken.map(|arguments| (arguments, None, None));
    for (arguments, helm3, helm4) in cases.into_iter().chain(taken) {
        let words: Vec<&str> = arguments.split(' ').collect();
        for (words, wanted) in [(three(words.clone()), helm3), (words, helm4)] {
            let (exit, out, err) = chart.template(&words);
            let err = err
                .lines()
                .filter(|line| !line.contains("has been deprecated"))
                .fold(String::new(), |text, line| text + line + "\n");
            match wanted {
                Some(error) => assert_eq!((exit, err), (1, format!("Error: {error}\n")), "{words:?}"),
                None => assert_eq!(
                    (exit, out.as_str()),
                    (0, "---\n# Source: c/templates/a.yaml\na: 1\n"),
                    "{words:?}: {err}"
                ),
            }
        }
    }
}

#[test]
fn helm_4_says_which_flags_are_old() {
    let chart = Chart::new("a: 1\n");
    let old = "this flag has no effect for 'helm template' and will be removed in Helm 5";
    let cases = [
        ("--atomic", "Flag --atomic has been deprecated, use --rollback-on-failure instead".to_owned()),
        ("--force=false", "Flag --force has been deprecated, use --force-replace instead".to_owned()),
        ("--hide-notes", format!("Flag --hide-notes has been deprecated, {old}")),
        ("--render-subchart-notes", format!("Flag --render-subchart-notes has been deprecated, {old}")),
        ("--validate=false", "Flag --validate has been deprecated, use '--dry-run=server' instead".to_owned()),
        ("--wait=true", "level=WARN msg=\"--wait=true is deprecated (boolean value) and can be replaced with --wait=watcher\"".to_owned()),
        ("--dry-run", "level=WARN msg=\"--dry-run is deprecated and should be replaced with '--dry-run=client'\"".to_owned()),
    ];
    for (flag, line) in &cases {
        assert_eq!(chart.template(&[flag]).2, format!("{line}\n"));
        assert_eq!(chart.template(&[flag, "--helm", "3.22"]).2, "", "{flag}");
    }
    // In the order of the command line.
    let both = format!("{}\n{}\n", cases[2].1, cases[0].1);
    assert_eq!(chart.template(&["--hide-notes", "--atomic"]).2, both);
}

/// What nobody does here is refused and not passed over.
#[test]
fn flags_that_would_change_the_answer_are_refused() {
    let chart = Chart::new("a: {{ lookup \"v1\" \"Pod\" \"\" \"\" | len }}\n");
    for words in
        ["--validate", "--dry-run=server", "--dry-run=server --helm 3.22", "--repo http://127.0.0.1:1"]
    {
        let (exit, out, err) = chart.template(&words.split(' ').collect::<Vec<_>>());
        assert_eq!((exit, out.as_str()), (1, ""), "{words}");
        assert!(err.contains("cluster") || err.contains("chart repositories are not asked"), "{err}");
    }
    let run = |words: &[&str]| answer(&chart.command(&[&["template"], words].concat()).output().unwrap());
    let (exit, _, err) = run(&["oci://127.0.0.1:1/a/b", "--username", "me", "--version", "1.0.0"]);
    assert!(exit == 1 && err.contains("--username"), "{err}");
    let (exit, _, err) = run(&["oci://127.0.0.1:1/a/b", "--version", "1.0.0+x", "--offline"]);
    assert!(exit == 1 && err.contains("oci://127.0.0.1:1/a/b:1.0.0_x"), "{err}");
}

#[test]
fn the_last_of_several_flags_wins() {
    let chart = Chart::new("a: {{ .Release.Namespace }} {{ .Capabilities.KubeVersion }}\n");
    let words = [
        "-n",
        "x",
        "-n",
        "y",
        "--kube-version",
        "1.20",
        "--kube-version",
        "1.30",
        "--no-hooks",
        "--no-hooks=false",
    ];
    assert!(chart.template(&words).1.ends_with("a: y v1.30\n"));
}

#[test]
fn values_come_from_standard_input() {
    use std::io::Write as _;
    let chart = Chart::new("a: {{ .Values.a }} {{ .Values.b }}\n");
    let run = |words: &[&str], input: &str| {
        let mut command = chart.command(&[&["template", "."], words].concat());
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        answer(&child.wait_with_output().unwrap())
    };
    assert!(run(&["-f", "-", "--set-file", "b=-"], "a: 1").1.ends_with("a: 1\n"));
    let (exit, _, err) = run(&["-f", "-"], "a: [");
    assert!(exit == 1 && err.starts_with("Error: failed to parse -: "), "{err}");
    let (_, _, err) = run(&["-f", "-", "--limit-file-bytes", "1"], "a: [");
    assert!(err.contains("larger than 1 bytes"), "{err}");
}

/// As Helm 3.22.0 does: the program gets the manifest with CRDs and without hooks.
#[cfg(unix)]
#[test]
fn a_post_renderer_of_helm_3_changes_the_manifest() {
    let chart = Chart::new("a: 1\n");
    chart.write("templates/h.yaml", HOOK);
    chart.write("crds/x.yaml", "x: 1\n");
    let run = |words: &[&str]| chart.template(&three(words.to_vec()));
    let hook = format!("---\n# Source: c/templates/h.yaml\n{HOOK}");
    let sed = ["--post-renderer", "sed", "--post-renderer-args", "-e", "--post-renderer-args", "s/a:/z:/"];
    let (exit, out, err) = run(&sed);
    assert_eq!((exit, err.as_str()), (0, ""));
    assert_eq!(out, format!("---\n# Source: c/templates/a.yaml\nz: 1\n{hook}"));
    let crds = run(&[&sed[..], &["--include-crds", "--no-hooks"]].concat()).1;
    assert_eq!(crds, "---\n# Source: c/crds/x.yaml\nx: 1\n\n---\n# Source: c/templates/a.yaml\nz: 1\n");
    assert_eq!(
        run(&[&sed[..], &["-s", "templates/a.yaml"]].concat()).1,
        "---\n# Source: c/templates/a.yaml\nz: 1\n"
    );
    assert_eq!(run(&["--post-renderer", "true"]).1, format!("\n{hook}"));
    let (exit, out, err) = run(&["--post-renderer", "false"]);
    assert_eq!((exit, out.as_str()), (1, ""));
    let head = "Error: error while running post render on files: error while running command /";
    assert!(err.starts_with(head), "{err}");
    assert!(
        err.ends_with(". error output:\n: exit status 1\n\nUse --debug flag to render out invalid YAML\n"),
        "{err}"
    );
    let missing = "Error: invalid argument \"./no\" for \"--post-renderer\" flag: unable to find binary at ./no: exec: \"./no\": stat ./no: no such file or directory\n";
    assert_eq!(run(&["--post-renderer", "./no"]), (1, String::new(), missing.to_owned()));
    let plugin = "Error: invalid argument \"cat\" for \"--post-renderer\" flag: plugin: {Name:cat Type:postrenderer/v1} not found\n";
    assert_eq!(chart.template(&["--post-renderer", "cat"]), (1, String::new(), plugin.to_owned()));
}

/// As both Helms do: one line for each document, CRDs beside the release, hooks appended to what is there.
#[test]
fn files_are_written_below_a_directory() {
    let chart = Chart::new("a: 1\n---\nb: 2\n");
    chart.write("templates/h.yaml", HOOK);
    chart.write("crds/x.yaml", "x: 1\n");
    chart.write(".helmignore", "out\n");
    let words = ["--output-dir", "./out", "--release-name", "--include-crds"];
    let lines = [
        "out/c/crds/x.yaml",
        "out/release-name/c/templates/a.yaml",
        "out/release-name/c/templates/a.yaml",
        "out/release-name/c/templates/h.yaml",
    ];
    let wanted: String = lines.iter().map(|line| format!("wrote {line}\n")).collect();
    for run in 1..=2 {
        assert_eq!(chart.template(&words), (0, format!("{wanted}\n"), String::new()));
        let read = |path: &str| std::fs::read_to_string(chart.path().join(path)).unwrap();
        assert_eq!(read(lines[0]), "---\n# Source: c/crds/x.yaml\nx: 1\n\n");
        assert_eq!(read(lines[1]).matches("# Source: c/templates/a.yaml").count(), 2);
        assert_eq!(read(lines[3]).matches("# Source").count(), run);
    }
    chart.write("file", "");
    let refused = "Error: mkdir file: not a directory\n\nUse --debug flag to render out invalid YAML\n";
    assert_eq!(chart.template(&["--output-dir", "file"]), (1, String::new(), refused.to_owned()));
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_told() {
    let chart = Chart::new("a: 1\n");
    chart.write("elsewhere/b.yaml", "b: 1\n");
    chart.write(".helmignore", "elsewhere\n");
    let root = chart.path().canonicalize().unwrap().display().to_string();
    std::os::unix::fs::symlink("../elsewhere", chart.path().join("templates/dir")).unwrap();
    let answer =
        |words: &[&str]| answer(&chart.command(&[&["template", &root], words].concat()).output().unwrap());
    let (link, target) = (format!("{root}/templates/dir"), format!("{root}/elsewhere"));
    let three = format!(
        "walk.go:75: found symbolic link in path: {link} resolves to {target}. Contents of linked file included and used\n"
    );
    let four = format!(
        "level=INFO msg=\"found symbolic link in path. Contents of linked file included and used\" path={link} resolved={target}\n"
    );
    assert_eq!(answer(&["--helm", "3.22"]).2, three);
    assert_eq!(answer(&[]).2, four);
    chart.write(".helmignore", "elsewhere\ntemplates/\n");
    assert_eq!(answer(&[]).2, "");
}

const CHANCE: &str = "a: {{ randAlphaNum 20 }}\nb: {{ uuidv4 }}\nc: {{ genPrivateKey \"ed25519\" | b64enc }}\nd: {{ bcrypt \"x\" }}\ne: {{ (genCA \"x\" 1).Cert | b64enc }}\nf: {{ now | unixEpoch }}\n";

#[test]
fn a_seed_makes_chance_come_again_and_the_clock_goes_on() {
    let chart = Chart::new(CHANCE);
    let lines = |seed: &str, epoch: Option<&str>| {
        let mut command = chart.command(&["template", ".", "--seed", seed]);
        command.env_remove("SOURCE_DATE_EPOCH");
        epoch.map(|epoch| command.env("SOURCE_DATE_EPOCH", epoch));
        answer(&command.output().unwrap()).1.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let but_dates = |lines: Vec<String>| lines[..6].to_vec();
    let one = but_dates(lines("7", None));
    assert!(one[2].len() > 20, "{one:?}");
    assert_eq!(one, but_dates(lines("7", None)));
    let other = but_dates(lines("8", None));
    assert!(one.iter().zip(&other).skip(2).all(|(one, other)| one != other), "{one:?}\n{other:?}");
    let still = lines("7", Some("1700000000"));
    assert_eq!(still, lines("7", Some("1700000000")));
    assert!(still.last().unwrap().contains("1700000000"), "{still:?}");
    let (code, _, err) = answer(
        &chart.command(&["template", ".", "--seed", "7"]).env("SOURCE_DATE_EPOCH", "soon").output().unwrap(),
    );
    assert!(code == 1 && err.contains("SOURCE_DATE_EPOCH=soon"), "{err}");
}

#[test]
fn lookup_finds_what_the_state_has() {
    let chart = Chart::new(
        "one: {{ (lookup \"v1\" \"Secret\" \"ns\" \"s\").data.k }}\n\
         none: {{ lookup \"v1\" \"Secret\" \"ns\" \"t\" }}\n\
         here: {{ range (lookup \"v1\" \"ConfigMap\" \"ns\" \"\").items }}{{ .metadata.name }} {{ end }}\n\
         all: {{ range (lookup \"v1\" \"ConfigMap\" \"\" \"\").items }}{{ .metadata.name }} {{ end }}\n\
         list: {{ lookup \"v1\" \"Pod\" \"\" \"\" | toJson }}\n\
         wide: {{ (lookup \"v1\" \"Namespace\" \"\" \"ns\").kind }}\n\
         odd: {{ lookup \"x.test/v1\" \"Odd\" \"\" \"\" }}\n\
         number: {{ (index (lookup \"v1\" \"ConfigMap\" \"\" \"\").items 0).metadata.generation }}\n",
    );
    chart.write(
        "state/a.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\ndata: {k: dg==}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: ns, generation: 3000000}\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n",
    );
    chart.write("more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: o, namespace: other}\n");
    chart.write(".helmignore", "state\nmore.yaml\n");
    let (code, out, err) = chart.template(&["--state", "state", "--state", "more.yaml"]);
    let wanted = "one: dg==\nnone: map[]\nhere: m \nall: m o \n\
        list: {\"apiVersion\":\"v1\",\"items\":[],\"kind\":\"PodList\",\"metadata\":{}}\n\
        wide: Namespace\nodd: map[]\nnumber: 3000000\n";
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.ends_with(wanted), "{out}");
    let (code, _, err) = chart.template(&["--state", "nowhere.yaml"]);
    assert!(code == 1 && err.contains("`--state`"), "{err}");
}

#[test]
fn differences_depend_on_what_lookup_finds() {
    let chart = Chart::new(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: {{ len (lookup \"v1\" \"Secret\" \"\" \"\").items | quote }}\n",
    );
    chart.write("other/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    chart.write(
        "other/templates/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: \"0\"\n",
    );
    chart.write("s.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\n");
    let diff = |more: &[&str]| {
        let arguments = [&["diff", ".", "other", "--exit-code", "--release", "r"], more].concat();
        answer(&chart.command(&arguments).output().unwrap()).0
    };
    assert_eq!((diff(&["--state", "s.yaml"])), 2);
}

/// What Go knows of structs: their fields' order, private ones, what only a pointer to them can do.
#[test]
fn structs_are_copied_and_written_as_in_go() {
    let rows = [
        ("deepCopy (semver \"1.2.3\")", "0.0.0"),
        (".Capabilities.KubeVersion", "v1.30.0"),
        ("deepCopy .Capabilities.KubeVersion", "{v1.30.0 1 30}"),
        ("default 1 .Capabilities.KubeVersion", "{v1.30.0 1 30}"),
        ("or .Capabilities.KubeVersion 1", "v1.30.0"),
        ("(deepCopy .Capabilities).KubeVersion", "v1.30.0"),
        ("toJson .Files.missing", "null"),
        ("toJson (.Files.GetBytes \"missing\")", "\"\""),
        ("printf \"%#v\" .Files.missing", "[]byte(nil)"),
        ("toYamlPretty .Capabilities.KubeVersion | trunc 16", "version: v1.30.0"),
        ("list (toDate \"2006\" \"2024\") | toYamlPretty", "- 2024-01-01T00:00:00Z"),
        ("toYamlPretty \"\\xff\"", "!!binary /w=="),
    ];
    let text: Vec<_> = rows.iter().map(|(action, _)| format!("# {{{{ {action} }}}}")).collect();
    let wanted: Vec<_> = rows.iter().map(|(_, printed)| format!("# {printed}")).collect();
    let chart = Chart::new("");
    chart.write("templates/a.txt", &format!("a: 1\n{}", text.join("\n")));
    let (code, out, err) = chart.template(&["--helm", "3.22.0", "--kube-version", "1.30.0"]);
    let body = out.split_once("a: 1\n").map_or("", |(_, body)| body);
    assert_eq!((code, body.trim_end(), err.as_str()), (0, wanted.join("\n").as_str(), ""));
}

/// Go's own limit is told from all places on the way.
#[test]
fn endless_templates_are_told_through_includes() {
    let chart = Chart::new(
        "{{ define \"a\" }}{{ template \"a\" }}{{ end }}{{ define \"b\" }}{{ template \"a\" }}{{ end }}{{ include \"b\" . }}",
    );
    let (code, _, err) = chart.template(&["--helm", "3.22.0"]);
    let wanted = "error calling include: template: c/templates/a.yaml:1:28: executing \"a\" at <{{template \"a\"}}>: exceeded maximum template depth (100000)";
    assert!(code == 1 && err.contains(wanted), "{err}");
}
