//! The program from outside: exit codes, streams, hostile input, the report's schema.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[expect(clippy::disallowed_methods, reason = "the program is tested from outside")]
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seatrial"));
    command.args(arguments).env_remove("SEATRIAL_CHARTS_CACHE").env_remove("KUBECONFIG");
    command
}

fn seatrial(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn standin(side: &str) -> String {
    format!("{}/examples/standin/{side}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn usage_errors_exit_with_one_and_help_with_zero() {
    for arguments in [&["verify"][..], &["nonsense"], &["verify", "a", "b", "--gate", "x"], &["golden"]] {
        let output = seatrial(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    for command in ["verify", "template", "diff", "rehearse", "pull", "golden", "explain", "demo"] {
        let output = seatrial(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(stdout(&output).contains("Usage:"), "{command}");
    }
}

#[test]
fn errors_name_the_place_and_the_way_on() {
    let cases: &[(&[&str], &str)] = &[
        (&["template", "no/such/chart"], "no such file or directory"),
        (&["template", "unknown@1.0.0", "--offline"], "oci://"),
        (&["template", "kubeflow-trainer@9.9.9", "--offline"], "--offline"),
        (&["template", "oci://127.0.0.1:1/a/b:1", "--plain-http"], "127.0.0.1:1"),
        (&["template", "oci://127.0.0.1:1/a/b@sha256:zz"], "malformed digest"),
        (&["explain", "no_such_check"], "explain"),
        (&["verify", "a", "b", "-o", "pdf"], "no such format"),
        (&["golden", "check", "--config", "absent.yaml"], "absent.yaml"),
        (&["verify", "a", "b", "--kube-version", "abc"], "--kube-version"),
        (&["verify", "a", "b", "-f", "no.yaml"], "`-f no.yaml`"),
        (&["diff", "a", "b", "--values-after", "no.yaml"], "`--values-after no.yaml`"),
        (&["verify", "a", "b", "--kind-image", "x"], "it is for `--engine kind`"),
        (&["rehearse", "a", "b", "--engine", "kind", "--context", "x"], "it is for `--engine cluster`"),
        (&["rehearse", "--scenario", "s.yaml", "--keep"], "it is for `--engine kind`"),
        (&["rehearse", "--scenario", "s.yaml", "--actor", "helm3"], "cannot be used with '--actor"),
        (&["rehearse", "--scenario", "s.yaml", "--set-after", "a=b"], "cannot be used with '--set-after"),
    ];
    for (arguments, wanted) in cases {
        let output = seatrial(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let text = stderr(&output);
        assert!(text.contains(wanted), "{arguments:?}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
}

#[test]
fn template_prints_what_helm_prints_and_fails_as_helm_fails() {
    let output = seatrial(&["template", "r", &standin("after"), "-n", "ns", "--include-crds"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("---\n# Source: trainer-standin/"), "{}", stdout(&output));
    let output = seatrial(&["template", "r", &standin("after"), "--set", "runtimes=1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("Error: "), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn diff_names_moves_between_places() {
    let output = seatrial(&["diff", &standin("before"), &standin("after"), "-n", "ns"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains(
            "CustomResourceDefinition//trainjobs.trainer.kubeflow.org  moves from crds/ to the release"
        ),
        "{text}"
    );
    assert!(text.contains("moves from the release to a ConfigMap that a hook applies"), "{text}");
}

#[test]
fn explain_tells_every_check() {
    let list = stdout(&seatrial(&["explain"]));
    for line in list.lines() {
        let id = line.split_whitespace().next().unwrap();
        let output = seatrial(&["explain", id]);
        assert!(stdout(&output).contains("## What to do"), "{id}");
    }
    assert!(list.lines().count() >= 15, "{list}");
}

#[test]
fn a_state_that_is_not_there_is_named_by_its_flag_and_offline_pulls_nothing() {
    let output = seatrial(&["verify", &standin("before"), &standin("after"), "--state", "no.yaml"]);
    assert!(stderr(&output).contains("`--state`: open no.yaml"), "{}", stderr(&output));
    let output = seatrial(&["pull", "kubeflow-trainer@9.9.9", "--offline"]);
    assert!(!stderr(&output).contains("fetching"), "{}", stderr(&output));
}

#[test]
fn what_is_on_disk_is_not_pulled_and_has_a_digest_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let digest = |before: &str| {
        let output = seatrial(&["pull", before]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!stderr(&output).contains("fetching"), "{}", stderr(&output));
        assert!(stderr(&output).contains("the digest is of its files"), "{}", stderr(&output));
        let text = stdout(&output);
        let (_, digest) = text.trim_end().split_once("  sha256:").unwrap_or_else(|| panic!("{text}"));
        assert_eq!(digest.len(), 64, "{text}");
        digest.to_owned()
    };
    std::fs::write(dir.path().join("Chart.yaml"), CHART).unwrap();
    let first = digest(dir.path().to_str().unwrap());
    std::fs::write(dir.path().join("values.yaml"), "a: 1\n").unwrap();
    assert_ne!(first, digest(dir.path().to_str().unwrap()));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["template", "r", &standin("after"), "--include-crds"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn golden_files_are_written_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("seatrial-golden.yaml");
    let text = format!("releases:\n- name: demo\n  chart: {}\n  helm: ['3.22', '4.3']\n", standin("before"));
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    assert_eq!(seatrial(&["golden", "check", "--config", config]).status.code(), Some(2));
    assert_eq!(seatrial(&["golden", "update", "--config", config]).status.code(), Some(0));
    let output = seatrial(&["golden", "check", "--config", config]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "2 passed, 0 failed\n"));
    let file = dir.path().join("golden/demo.helm-4.3.yaml");
    let changed = std::fs::read_to_string(&file).unwrap().replace("replicas: 1", "replicas: 2");
    std::fs::write(&file, &changed).unwrap();
    let output = seatrial(&["golden", "check", "--config", config]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).contains("-  replicas: 2"), "{}", stdout(&output));
    assert!(
        stdout(&output).contains("objects: 2 differ, 0 new, 0 gone\n  ~ Deployment "),
        "{}",
        stdout(&output)
    );
    assert!(!changed.contains("before 1.0.0 \n"), "the header has a digest of the directory: {changed}");
    assert!(changed.lines().nth(1).unwrap().contains(" sha256:"), "{changed}");
}

#[test]
fn golden_files_that_no_release_makes_any_more_fail_the_check() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("seatrial-golden.yaml");
    let write = |name: &str| {
        let text = format!("releases:\n- name: {name}\n  chart: {}\n", standin("before"));
        std::fs::write(&config, text).unwrap();
    };
    let golden = |word: &str| {
        let output = seatrial(&["golden", word, "--config", config.to_str().unwrap()]);
        (output.status.code(), stdout(&output))
    };
    write("old");
    assert_eq!(golden("update").0, Some(0));
    let own = dir.path().join("golden/notes.helm-own.yaml");
    std::fs::write(&own, "not seatrial's\n").unwrap();
    write("new");
    golden("update");
    assert!(!dir.path().join("golden/old.helm-4.3.yaml").exists());
    assert!(own.exists(), "foreign files stay");
    std::fs::copy(dir.path().join("golden/new.helm-4.3.yaml"), dir.path().join("golden/old.helm-4.3.yaml"))
        .unwrap();
    let (code, text) = golden("check");
    assert_eq!(code, Some(2));
    assert!(text.contains("old.helm-4.3.yaml: no release makes this file"), "{text}");
}

#[test]
fn mistakes_in_own_files_are_named_by_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.yaml");
    let path = path.to_str().unwrap();
    std::fs::write(path, "releases:\n- name: a\n  chart: b\n  sets: []\n").unwrap();
    let text = stderr(&seatrial(&["golden", "check", "--config", path]));
    assert!(text.contains("file.yaml: line 4: releases[0].sets: unknown field"), "{text}");
    std::fs::write(path, "charts: {a: .}\nrelease: r\nsteps:\n- upgrade: {chart: b}\n").unwrap();
    let text = stderr(&seatrial(&["rehearse", "--scenario", path]));
    assert!(text.contains("file.yaml: line 4: no chart is named \"b\""), "{text}");
}

#[test]
fn commands_in_a_report_have_the_users_own_flags() {
    let dir = tempfile::tempdir().unwrap();
    let values = dir.path().join("my values.yaml");
    std::fs::write(&values, "replicas: 1\n").unwrap();
    let values = values.to_str().unwrap();
    let (before, after) = (standin("before"), standin("after"));
    let pair = ["verify", &before, &after, "--actor", "helm3", "-n", "ns"];
    let flags = ["-f", values, "--set-string", "a=b c,db.password=hunter2", "--set-after", "x=1"];
    let text = stdout(&seatrial(&[&pair[..], &flags].concat()));
    let line = text.lines().find(|line| line.contains(". helm upgrade")).expect("a command");
    let wanted = format!("{after} -f '{values}' --set x=1 --set-string 'a=b c,db.password=(redacted)'");
    assert!(line.contains(&wanted), "{line}\nlacks\n{wanted}");
    assert!(!text.contains("hunter2"), "{text}");
    // The same values on both sides: asking for those of the release changes nothing, and keeps what was not told here.
    let text = stdout(&seatrial(&[&pair[..], &["--set", "x=1"]].concat()));
    let mut switched = text.lines().filter(|line| line.contains(". helm upgrade")).peekable();
    assert!(switched.peek().is_some(), "{text}");
    for line in switched {
        assert!(line.contains("--set x=1") && line.contains("--reset-then-reuse-values"), "{line}");
    }
    // Adoption is the alternative where the report tells to keep the definitions outside.
    let advice = text.find("take the way under \"What to do\"").expect("advice");
    assert!(text.find("only if you want it in the release").is_some_and(|at| at > advice), "{text}");
    // Without values the switch alone would make Helm forget those of the installed release.
    let text = stdout(&seatrial(&[&pair[..], &["--set-before", "x=1"]].concat()));
    for line in text.lines().filter(|line| line.contains("$ helm upgrade") || line.contains(". helm upgrade"))
    {
        assert!(!line.contains(" --set ") || line.contains("--reset-then-reuse-values"), "{line}");
    }
}

/// A gzipped tar of these entries; a name that starts with `link:` becomes a symbolic link.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, data) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        // `set_path` refuses what an attacker would write.
        let bytes = name.as_bytes();
        header.as_old_mut().name[..bytes.len()].copy_from_slice(bytes);
        header.set_cksum();
        builder.append(&header, *data).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn refused(name: &str, bytes: &[u8], wanted: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("chart.tgz");
    std::fs::write(&path, bytes).unwrap();
    let start = std::time::Instant::now();
    let output = seatrial(&["template", path.to_str().unwrap()]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{name}: {text}");
    assert!(text.contains(wanted), "{name}: {text}");
    assert!(!text.contains("panicked"), "{name}: {text}");
    assert!(start.elapsed().as_secs() < 60, "{name} took {:?}", start.elapsed());
}

const CHART: &[u8] = b"apiVersion: v2\nname: c\nversion: 1.0.0\n";

#[test]
fn broken_and_hostile_archives_are_refused() {
    let whole = archive(&[("c/Chart.yaml", CHART), ("c/values.yaml", &[b'#'; 4000])]);
    refused("truncated", &whole[..whole.len() / 2], "");
    refused("no archive", b"hello", "");
    refused("no Chart.yaml", &archive(&[("c/values.yaml", b"a: 1")]), "Chart.yaml");
    refused("path escape", &archive(&[("c/Chart.yaml", CHART), ("c/../../etc/x", b"x")]), "");
    let bomb = vec![0_u8; 200 << 20];
    refused("expansion", &archive(&[("c/Chart.yaml", CHART), ("c/big", &bomb)]), "");
}

#[test]
fn yaml_bombs_and_endless_templates_end() {
    let mut values = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let last = format!("*a{}", n - 1);
        values.push_str(&format!("a{n}: &a{n} [{}]\n", vec![last; 10].join(", ")));
    }
    refused("alias bomb", &archive(&[("c/Chart.yaml", CHART), ("c/values.yaml", values.as_bytes())]), "");
    let deep = "[".repeat(200_000);
    refused("deep flow", &archive(&[("c/Chart.yaml", CHART), ("c/values.yaml", deep.as_bytes())]), "");
    let looping = b"{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}";
    refused("include loop", &archive(&[("c/Chart.yaml", CHART), ("c/templates/a.yaml", looping)]), "");
    let endless = b"{{ range $i := until 1000000 }}{{ range $j := until 1000000 }}x{{ end }}{{ end }}";
    refused(
        "endless loop",
        &archive(&[("c/Chart.yaml", CHART), ("c/templates/a.yaml", endless)]),
        "--limit-",
    );
    let growing = b"{{ $s := \"x\" }}{{ range until 64 }}{{ $s = print $s $s }}{{ end }}{{ $s }}";
    refused("doubling", &archive(&[("c/Chart.yaml", CHART), ("c/templates/a.yaml", growing)]), "--limit-");
}

#[test]
fn values_nest_as_deep_as_in_helm() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("templates")).unwrap();
    std::fs::write(dir.path().join("Chart.yaml"), CHART).unwrap();
    let template =
        "x: {{ len (toYaml .Values) }} {{ len (toJson (deepCopy .Values)) }} {{ len (print .Values) }}\n";
    std::fs::write(dir.path().join("templates/a.yaml"), template).unwrap();
    let render = |levels: usize| {
        let values = format!("a: {}{}\n", "[".repeat(levels), "]".repeat(levels));
        std::fs::write(dir.path().join("values.yaml"), values).unwrap();
        seatrial(&["template", dir.path().to_str().unwrap()])
    };
    // As Helm 4.3.1 renders them; it refuses 10,001 levels.
    let output = render(9_980);
    assert!(stdout(&output).ends_with("x: 19963 19966 19967\n"), "{}{}", stdout(&output), stderr(&output));
    let output = render(10_001);
    assert!(stderr(&output).contains("exceeded max depth of 10000"), "{}", stderr(&output));
}

#[test]
fn what_grows_without_bound_meets_a_limit_that_names_its_place_and_flag() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("templates")).unwrap();
    std::fs::write(dir.path().join("Chart.yaml"), CHART).unwrap();
    let cases = [
        ("{{ $x := list 1 2 }}{{ range until 40 }}{{ $x = concat $x $x }}{{ end }}", "--limit-value-bytes"),
        (
            "{{ $s := \"x\" }}{{ $all := list }}{{ range until 9000 }}{{ $s = print $s \"xxxxxxx\" }}{{ $all = append $all $s }}{{ end }}",
            "--limit-value-bytes",
        ),
        (
            "{{ $d := dict }}{{ range until 40 }}{{ $d = dict \"a\" $d \"b\" $d }}{{ end }}{{ toYaml $d }}",
            "--limit-output-bytes",
        ),
        (
            "{{ $l := list \"x\" }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}{{ join \"-\" $l }}",
            "--limit-",
        ),
        (
            "{{ define \"x\" }}{{ tpl .t . }}{{ end }}{{ include \"x\" (dict \"t\" \"{{ include `x` . }}\" \"Template\" .Template) }}",
            "--limit-template-depth",
        ),
        (
            "{{ $t := \"{{ tpl .t . }}\" }}{{ tpl $t (dict \"t\" $t \"Template\" .Template) }}",
            "--limit-template-depth",
        ),
        ("{{ range 3000 }}{{ range 3000 }}{{ end }}{{ end }}", "--limit-template-steps"),
    ];
    for (template, flag) in cases {
        std::fs::write(dir.path().join("templates/a.yaml"), format!("\n{template}")).unwrap();
        let limits = ["--limit-value-bytes", "10000000", "--limit-template-steps", "1000000"];
        let output = seatrial(&[&["template", dir.path().to_str().unwrap()], &limits[..]].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{template}: {text}");
        assert!(text.contains(flag) && text.contains("c/templates/a.yaml:"), "{template}: {text}");
        assert!(text.len() < 2_000, "{template}: {text}");
    }
}

#[test]
fn slow_charts_end_by_the_clock() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("templates")).unwrap();
    std::fs::write(dir.path().join("Chart.yaml"), "apiVersion: v2\nname: c\nversion: 1.0.0\n").unwrap();
    let slow = |text: &str| {
        std::fs::write(dir.path().join("templates/a.yaml"), text).unwrap();
        let output = seatrial(&["template", dir.path().to_str().unwrap(), "--limit-render-seconds", "0"]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        stderr(&output)
    };
    let flag = "rendering takes longer than 0 seconds (--limit-render-seconds)";
    for text in ["a: b\n", "{{ range 3000 }}{{ range 3000 }}{{ end }}{{ end }}"] {
        let said = slow(text);
        assert!(said.contains(flag) && said.contains("c/templates/a.yaml"), "{said}");
    }
}

#[test]
fn template_is_refused_in_helms_words() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("templates")).unwrap();
    std::fs::write(root.join("templates/a.yaml"), "a: {{ .Release.Name }}\n").unwrap();
    let write = |text: &str| std::fs::write(root.join("Chart.yaml"), text).unwrap();
    let chart = root.to_str().unwrap();
    let said = |arguments: &[&str]| {
        let output = seatrial(&[&["template", chart], arguments].concat());
        (output.status.code(), stderr(&output) + &stdout(&output))
    };
    let refused = |text: &str| (Some(1), format!("Error: {text}\n"));
    write("apiVersion: v2\nname: c\nversion: 1.0.0\n");
    assert_eq!(said(&["-f", "nope.yaml"]), refused("open nope.yaml: no such file or directory"));
    assert_eq!(
        said(&["--name-template", "{{ bad"]),
        refused("template: name-template:1: function \"bad\" not defined")
    );
    assert!(said(&["--name-template", "x{{ add 1 2 }}"]).1.contains("a: x3"));
    let absent = seatrial(&["template", "./no-chart-here"]);
    assert_eq!((absent.status.code(), stderr(&absent)), refused("path \"./no-chart-here\" not found"));
    write("apiVersion: v9\nname: c\nversion: 1.0.0\n");
    assert_eq!(said(&[]), refused("unsupported chart version"));
    assert_eq!(said(&["--helm", "3.22"]).0, Some(0));
    std::fs::remove_file(root.join("Chart.yaml")).unwrap();
    let wanted = format!(
        "unable to detect chart at {chart}/Chart.yaml: open {chart}/Chart.yaml: no such file or directory"
    );
    assert_eq!(said(&[]), refused(&wanted));
    assert_eq!(said(&["--helm", "3.22"]), refused("Chart.yaml file is missing"));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_never_opened() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("templates")).unwrap();
    std::fs::write(root.join("Chart.yaml"), CHART).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("templates/pipe.yaml")).unwrap();
    let chart = root.to_str().unwrap();
    let output = seatrial(&["template", chart]);
    let wanted = format!(
        "Error: cannot load irregular file {chart}/templates/pipe.yaml as it has file mode type bits set\n"
    );
    assert_eq!((output.status.code(), stderr(&output)), (Some(1), wanted));
    std::fs::write(root.join(".helmignore"), "pipe.yaml\n").unwrap();
    assert_eq!(seatrial(&["template", chart]).status.code(), Some(0));
}

#[test]
fn control_characters_of_charts_do_not_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("templates")).unwrap();
    std::fs::write(dir.path().join("Chart.yaml"), CHART).unwrap();
    let mut file = std::fs::File::create(dir.path().join("templates/a.yaml")).unwrap();
    file.write_all(b"{{ fail \"\x1b[31mred\" }}").unwrap();
    let output = seatrial(&["template", dir.path().to_str().unwrap()]);
    assert!(!stderr(&output).contains('\u{1b}'), "{}", stderr(&output));
}

#[test]
fn the_demo_prints_what_the_readme_shows() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let sample = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let text = stdout(&seatrial(&["demo"]));
    let printed: Vec<&str> = text.lines().map(str::trim_end).collect();
    for line in sample.lines().map(str::trim_end).filter(|line| *line != "…") {
        assert!(printed.contains(&line), "README.md shows\n{line}\nbut the demo prints\n{text}");
    }
}

#[test]
fn the_demo_can_be_read_in_one_sitting_and_leaves_nothing_unmentioned() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    let json = format!("json={}", path.display());
    let text = stdout(&seatrial(&["demo", "-o", "text", "-o", &json]));
    assert!(text.lines().count() <= 200, "{} lines", text.lines().count());
    assert!(text.contains("`--full` also tells"), "{text}");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for finding in report["findings"].as_array().unwrap() {
        let check = finding["check"].as_str().unwrap();
        if check == "rehearsal_lost" {
            continue;
        }
        assert!(text.contains(&format!("[{check}]")), "{check}");
        for object in finding["objects"].as_array().unwrap() {
            let name = object.as_str().unwrap().rsplit('/').next().unwrap();
            assert!(text.contains(name), "{check}: {name}");
        }
    }
    let full = stdout(&seatrial(&["demo", "--full"]));
    assert!(full.lines().count() > 400 && !full.contains("--full"), "{full}");
    let output = seatrial(&["demo", "--full", "-o", &json]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("`--full`: no text is written"), "{}", stderr(&output));
}

#[test]
fn a_way_that_is_named_is_judged_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    let json = format!("json={}", path.display());
    let way = "CRDs outside the release";
    let output = seatrial(&["demo", "--way", way, "-o", "text", "-o", &json]);
    let text = stdout(&output);
    // Uninstalling deletes what the chart delivers; nothing else is at the gate, as no definition joins the release.
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(&format!("Only one way was judged (--way): {way}.")), "{text}");
    assert!(!text.contains("take ownership") && !text.contains("[ownership_missing]"), "{text}");
    assert!(text.contains("1. kubectl annotate") && text.contains("to go back: helm rollback"), "{text}");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(report["verdict"]["ways"], serde_json::json!([way]));
    for rehearsal in report["rehearsals"].as_array().unwrap() {
        assert!(rehearsal["ways"].as_array().unwrap().iter().all(|one| one["name"] == way));
    }
    let both = seatrial(&["demo", "--actor", "helm3", "--way", way, "--way", "adoption labels"]);
    assert_eq!(both.status.code(), Some(3), "{}", stdout(&both));
    let adopted = stdout(&seatrial(&["demo", "--actor", "helm3", "--way", "adoption labels and keep"]));
    assert!(
        !adopted.contains("[ownership_missing]") && adopted.contains("risks uninstall deletes CRD"),
        "{adopted}"
    );
    let unknown = seatrial(&["demo", "--actor", "helm3", "--way", "sideways"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        stderr(&unknown).contains("'plain', 'take ownership', 'adoption labels'"),
        "{}",
        stderr(&unknown)
    );
}

/// The cells of a line of the demo's table, or its heads.
fn cells(text: &str, begin: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("{begin}: {text}"));
    let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    cells.skip(1).map(str::to_owned).collect()
}

#[test]
fn what_is_said_of_the_way_to_take_has_the_words_of_its_cells() {
    let text = stdout(&seatrial(&["demo", "--actor", "helm3"]));
    let (heads, row) = (cells(&text, "helm3 3.22"), cells(&text, "→ CRDs outside"));
    assert_eq!(heads.len(), row.len(), "{text}");
    for (head, cell) in heads.iter().zip(&row).filter(|(_, cell)| *cell != "–") {
        let word = cell.split([' ', '*']).next().unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("       {head}: ")));
        assert!(line.is_some_and(|line| line.starts_with(word)), "{head}, {word}: {text}");
        let ways =
            ["  plain ", "  take ownership", "  adoption labels", "  CRDs switched off", "→ CRDs outside"];
        let name = |way: &&str| way.trim_start_matches(['→', ' ']).trim().to_lowercase();
        assert!(ways.iter().all(|way| !name(way).contains(&head.to_lowercase())), "{head}");
    }
    let answer = text.lines().skip(1).take(4).collect::<Vec<_>>().join(" ");
    assert!(
        answer.contains("loses nothing on upgrade and rollback") && answer.contains("can break"),
        "{answer}"
    );
    assert!(!answer.contains("keeps"), "{answer}");
}

fn demo(format: &str, path: &Path) -> Option<i32> {
    seatrial(&["demo", "-o", &format!("{format}={}", path.display())]).status.code()
}

#[test]
fn demo_loses_objects_and_its_report_fits_the_published_schema() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    assert_eq!(demo("json", &path), Some(3));
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/report.schema.json");
    let schema: serde_json::Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&report).take(5).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(report["verdict"]["exit_code"], 3);
    let actors: Vec<&str> =
        report["rehearsals"].as_array().unwrap().iter().map(|r| r["actor"].as_str().unwrap()).collect();
    assert_eq!(actors, ["helm3", "helm4"]);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.json"), dir.path().join("b.json"));
    demo("json", &first);
    demo("json", &second);
    assert!(std::fs::read(first).unwrap() == std::fs::read(second).unwrap(), "two runs of the demo differ");
}
