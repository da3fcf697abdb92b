//! The program on small charts: what it may not show, what it may not call safe, where it may not write.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the program is tested from outside")]
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seatrial"));
    command.args(arguments).env_remove("SEATRIAL_CHARTS_CACHE").env_remove("KUBECONFIG");
    command
}

fn all(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A chart with these templates; its path.
fn chart(dir: &Path, version: &str, templates: &[(&str, &str)]) -> String {
    let root = dir.join(version);
    std::fs::create_dir_all(root.join("templates")).unwrap();
    std::fs::write(root.join("Chart.yaml"), format!("apiVersion: v2\nname: demo\nversion: {version}\n"))
        .unwrap();
    for (name, text) in templates {
        std::fs::write(root.join("templates").join(name), text).unwrap();
    }
    root.display().to_string()
}

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: b}\n";

fn hook(command: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: mig\n  annotations: {{helm.sh/hook: pre-upgrade}}\nspec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - {{name: c, image: 'busybox:1', command: {command}}}\n"
    )
}

#[test]
fn values_of_secrets_are_shown_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let secret = |field: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: login}}\n{field}\n");
    // Wrong types, so that the server's refusals quote what they were given.
    let cases = [
        ("stringData: {password: [hunter2-correct-horse]}", "hunter2-correct-horse"),
        ("stringData: {pin: 90210443}", "90210443"),
        ("data: {password: {inner: hunter2-correct-horse}}", "hunter2-correct-horse"),
        ("data: {password: 'hunter2 correct horse'}", "hunter2 correct horse"),
        (
            "type: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: aHVudGVyMi1jb3JyZWN0}",
            "hunter2-correct",
        ),
    ];
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    for (n, (field, value)) in cases.iter().enumerate() {
        let after = chart(dir.path(), &format!("2.0.{n}"), &[("c.yaml", CONFIG), ("s.yaml", &secret(field))]);
        for format in ["text", "json", "markdown", "html"] {
            let output = run(&["verify", &before, &after, "-n", "ns", "-o", format]);
            assert!(!all(&output).contains(value), "{field} {format}: {}", all(&output));
        }
        for format in ["text", "json"] {
            let output = run(&["rehearse", &before, &after, "-n", "ns", "-o", format]);
            assert!(!all(&output).contains(value), "{field} {format}: {}", all(&output));
        }
        // The other way round the old chart can't be installed, which is told on standard error.
        let output = run(&["rehearse", &after, &before, "-n", "ns"]);
        assert!(!all(&output).contains(value), "{field}: {}", all(&output));
    }
}

/// A Deployment whose pods have this in their spec, and this in their container.
fn deployment(spec: &str, container: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  selector: {{matchLabels: {{a: b}}}}\n  template:\n    metadata: {{labels: {{a: b}}}}\n    spec: {{{spec}containers: [{{name: c, image: 'web:1'{container}}}]}}\n"
    )
}

#[test]
fn pods_that_refer_to_what_is_not_there_are_not_safe() {
    let dir = tempfile::tempdir().unwrap();
    let env = |name: &str, key: &str| {
        format!(", env: [{{name: A, valueFrom: {{configMapKeyRef: {{name: {name}, key: {key}}}}}}}]")
    };
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa}\n";
    let runs = |more: &str| deployment("serviceAccountName: sa, ", more);
    let (plain, reads, as_sa) = (deployment("", ""), deployment("", &env("plain", "a")), runs(""));
    let more = deployment("", &format!("{}, args: [x]", env("plain", "a")));
    let gated = deployment("schedulingGates: [{name: x.test/y}], ", "");
    let classed = deployment("priorityClassName: high, ", "");
    let other_account = deployment("serviceAccountName: other, ", "");
    let (no_key, other) = (deployment("", &env("plain", "z")), deployment("", &env("other", "a")));
    let cases = [
        (&plain, no_key, CONFIG, 2, "couldn't find key z in ConfigMap ns/plain"),
        (&reads, reads.clone(), "", 2, "key a of ConfigMap ns/plain is not there (any more)"),
        (&as_sa, runs(", args: [x]"), CONFIG, 2, "serviceaccount"),
        (&plain, gated, CONFIG, 2, "SchedulingGated"),
        (&plain, other, CONFIG, 1, "key a of ConfigMap ns/other, which neither"),
        (&plain, other_account, CONFIG, 1, "ServiceAccount ns/other, which neither"),
        (&plain, classed, CONFIG, 1, "PriorityClass high, which neither"),
        (&reads, more, CONFIG, 0, "taken for granted"),
    ];
    for (n, (before, after, config, exit, told)) in cases.iter().enumerate() {
        let files = [("c.yaml", CONFIG), ("d.yaml", before), ("s.yaml", account)];
        let old = chart(dir.path(), &format!("1.0.{n}"), &files);
        let new = chart(dir.path(), &format!("2.0.{n}"), &[("c.yaml", config), ("d.yaml", after)]);
        let output = run(&["verify", &old, &new, "-n", "ns", "-o", "json"]);
        assert_eq!(output.status.code(), Some(*exit), "{told}: {}", all(&output));
        assert!(all(&output).contains(told), "{told}: {}", all(&output));
    }
}

#[test]
fn small_charts_end_as_on_a_real_cluster() {
    let dir = tempfile::tempdir().unwrap();
    let named = |kind: &str, more: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {more}\n");
    let service = |name: &str| {
        named(
            "Service",
            &format!("{name}}}\nspec: {{type: NodePort, ports: [{{port: 80, nodePort: 30080}}]}}"),
        )
    };
    let key = ", env: [{name: A, valueFrom: {configMapKeyRef: {name: plain, key: a}}}]";
    let elsewhere = |image: &str| {
        deployment("", "")
            .replace("{name: web}", "{name: web, namespace: kube-system}")
            .replace("web:1", image)
    };
    let pod = named(
        "Pod",
        "bare}\nspec: {containers: [{name: c, image: 'a:1', envFrom: [{configMapRef: {name: none}}]}]}",
    );
    let set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  selector: {matchLabels: {a: b}}\n  serviceName: db\n  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}\n  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: [{name: c, image: 'db:1'}]}\n";
    let scaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: db}\nspec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}}\n";
    let request = hook("[sh, -c, 'curl -X DELETE https://kubernetes.default.svc/api/v1/namespaces/a']");
    let cases = [
        (elsewhere("web:1"), elsewhere("web:2"), 0, "taken for granted"),
        (service("one"), service("two"), 2, "provided port is already allocated"),
        (
            CONFIG.to_owned() + "---\n" + &deployment("", key),
            CONFIG.replace("{a: b}", "{}") + "---\n" + &deployment("", key),
            2,
            "key a of ConfigMap ns/plain is not there (any more)",
        ),
        (CONFIG.to_owned(), pod, 1, "Pod/ns/bare refers to ConfigMap ns/none"),
        (set.to_owned(), format!("{set}---\n{scaler}"), 1, "no HorizontalPodAutoscaler is rehearsed"),
        (CONFIG.to_owned(), format!("{CONFIG}---\n{request}"), 1, "a request that may change something"),
    ];
    for (n, (before, after, exit, told)) in cases.iter().enumerate() {
        let old = chart(dir.path(), &format!("1.1.{n}"), &[("a.yaml", before)]);
        let new = chart(dir.path(), &format!("2.1.{n}"), &[("a.yaml", after)]);
        let output = run(&["verify", &old, &new, "-n", "ns", "-o", "json", "--actor", "helm4"]);
        assert_eq!(output.status.code(), Some(*exit), "{told}: {}", all(&output));
        assert!(all(&output).contains(told), "{told}: {}", all(&output));
    }
}

#[test]
fn a_hook_whose_account_or_secret_nobody_has_seen_is_not_safe() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    let account =
        hook("[sh, -c, 'echo done']").replace("containers:", "serviceAccountName: sa\n      containers:");
    let secret = hook("[sh, -c, 'echo done'], envFrom: [{secretRef: {name: login}}]");
    for (n, (hook, told)) in
        [(account, "ServiceAccount ns/sa"), (secret, "Secret ns/login")].iter().enumerate()
    {
        let after = chart(dir.path(), &format!("2.0.{n}"), &[("c.yaml", CONFIG), ("h.yaml", hook)]);
        let output = run(&["verify", &before, &after, "-n", "ns", "--gate", "loses"]);
        assert_eq!(output.status.code(), Some(1), "{}", all(&output));
        assert!(all(&output).contains(&format!("could not be executed ({told}")), "{}", all(&output));
    }
}

#[test]
fn a_hook_that_needs_what_the_same_chart_brings_later_never_starts() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    let needs = |more: &str| hook(&format!("[sh, -c, 'echo done']{more}"));
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n";
    let later = settings.replace(
        "settings}",
        "settings, annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-weight: '5'}}",
    );
    let earlier = later.replace("'5'", "'-5'");
    let (reads, account) = (needs(", envFrom: [{configMapRef: {name: settings}}]"), needs(""));
    let account = account.replace("containers:", "serviceAccountName: sa\n      containers:");
    let own = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa}\n";
    for (n, (brought, hook, exit)) in
        [(settings, &reads, 2), (&later, &reads, 2), (&earlier, &reads, 0), (own, &account, 2)]
            .iter()
            .enumerate()
    {
        let after = chart(
            dir.path(),
            &format!("2.2.{n}"),
            &[("c.yaml", CONFIG), ("h.yaml", *hook), ("s.yaml", *brought)],
        );
        let output = run(&["verify", &before, &after, "-n", "ns"]);
        assert_eq!(output.status.code(), Some(*exit), "{n}: {}", all(&output));
        assert_eq!(
            all(&output).contains("upgrade of helm3 (plain) ends with an error"),
            *exit == 2,
            "{n}: {}",
            all(&output)
        );
    }
}

#[test]
fn hooks_that_go_when_they_have_ended_are_seen_to_end() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    let brief = |script: &str| {
        let hook = hook(&format!("[sh, -c, '{script}']"));
        hook.replace("backoffLimit: 0", "backoffLimit: 0\n  ttlSecondsAfterFinished: 0")
    };
    for (n, (script, fails)) in
        [("exit 0", false), ("sleep 90; exit 0", false), ("exit 1", true), ("sleep 90; exit 1", true)]
            .into_iter()
            .enumerate()
    {
        let after = chart(dir.path(), &format!("2.4.{n}"), &[("c.yaml", CONFIG), ("h.yaml", &brief(script))]);
        let output = run(&["verify", &before, &after, "-n", "ns"]);
        let told = all(&output).contains("(plain) ends with an error");
        assert_eq!(told, fails, "{script}: {}", all(&output));
    }
}

#[test]
fn an_upgrade_that_no_rollback_takes_back_is_not_safe() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    let sealed = CONFIG.replace("a: b}", "a: c}\nimmutable: true");
    let after = chart(dir.path(), "2.0.0", &[("c.yaml", &sealed)]);
    let output = run(&["verify", &before, &after, "-n", "ns"]);
    assert_eq!(output.status.code(), Some(2), "{}", all(&output));
    assert!(all(&output).contains("rollback_impossible"), "{}", all(&output));
    assert!(all(&output).contains("no rehearsed rollback leads back"), "{}", all(&output));
}

#[test]
fn a_state_may_hold_the_namespaces_that_a_chart_writes_into() {
    let dir = tempfile::tempdir().unwrap();
    let place = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n";
    let inside = CONFIG.replace("plain}", "plain, namespace: team-a}");
    let state = dir.path().join("state.yaml");
    std::fs::write(&state, place).unwrap();
    let state = state.to_str().unwrap();
    let (given, brought) = ([("c.yaml", inside.as_str())], [("c.yaml", inside.as_str()), ("n.yaml", place)]);
    // To uninstall a chart with its namespace deletes the namespace.
    for (n, (templates, exit)) in [(&given[..], 0), (&brought[..], 2)].into_iter().enumerate() {
        let before = chart(dir.path(), &format!("1.3.{n}"), templates);
        let after = chart(dir.path(), &format!("2.3.{n}"), templates);
        let output = run(&["verify", &before, &after, "-n", "ns", "--state", state]);
        assert_eq!(output.status.code(), Some(exit), "{n}: {}", all(&output));
        assert!(!all(&output).contains("INSTALLATION FAILED"), "{n}: {}", all(&output));
    }
}

#[test]
fn what_a_state_leaves_out_is_filled_in_as_by_a_server() {
    let dir = tempfile::tempdir().unwrap();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\ndata: {a: Yg==}\n";
    let state = dir.path().join("state.yaml");
    std::fs::write(&state, secret.replace("login}", "login, namespace: ns}")).unwrap();
    let before = chart(dir.path(), "1.0.0", &[("s.yaml", secret)]);
    let after = chart(dir.path(), "2.0.0", &[("s.yaml", &secret.replace("Yg==", "Yw=="))]);
    let output = run(&["verify", &before, &after, "-n", "ns", "--state", state.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", all(&output));
}

#[test]
fn what_a_hook_prints_of_a_secret_is_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {password: hunter2-correct-horse}\n";
    let job = hook(
        "[sh, -c, 'echo \"bad login $PASSWORD\"; exit 3'], env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: login, key: password}}}]",
    );
    let before = chart(dir.path(), "1.0.0", &[("s.yaml", secret)]);
    let after = chart(dir.path(), "2.0.0", &[("s.yaml", secret), ("j.yaml", &job)]);
    let output = run(&["rehearse", &before, &after, "-n", "ns"]);
    assert!(all(&output).contains("bad login (redacted)"), "{}", all(&output));
    assert!(!all(&output).contains("hunter2"), "{}", all(&output));
}

#[test]
fn a_hook_that_cant_be_executed_is_not_safe() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    let known = chart(dir.path(), "2.0.0", &[("c.yaml", CONFIG), ("j.yaml", &hook("[sh, -c, 'exit 0']"))]);
    let unknown = chart(dir.path(), "2.0.1", &[("c.yaml", CONFIG), ("j.yaml", &hook("[/app/migrate]"))]);
    for arguments in [&["verify", "--gate", "loses"][..], &["rehearse"]] {
        let output = run(&[arguments, &[&before, &known, "-n", "ns"]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", all(&output));
    }
    let output = run(&["verify", &before, &unknown, "-n", "ns", "--gate", "loses"]);
    assert_eq!(output.status.code(), Some(1), "{}", all(&output));
    assert!(all(&output).contains("could not be executed"), "{}", all(&output));
    let output = run(&["rehearse", &before, &unknown, "-n", "ns"]);
    assert_eq!(output.status.code(), Some(1), "{}", all(&output));
}

#[test]
fn a_rehearsal_in_which_nothing_gets_through_is_not_safe() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    let bad = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 99999999}]}\n";
    let after = chart(dir.path(), "2.0.0", &[("c.yaml", CONFIG), ("s.yaml", bad)]);
    let output = run(&["rehearse", &before, &after, "-n", "ns"]);
    assert_eq!(output.status.code(), Some(1), "{}", all(&output));
    assert!(all(&output).contains("no upgrade gets through"), "{}", all(&output));
    let scenario = dir.path().join("s.yaml");
    let text = "charts: {a: 2.0.0}\nrelease: r\nsteps:\n- install: {chart: a}\n";
    std::fs::write(&scenario, text).unwrap();
    let output = run(&["rehearse", "--scenario", scenario.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3), "it ends halfway: {}", all(&output));
    std::fs::write(&scenario, text.replace("install", "upgrade")).unwrap();
    let output = run(&["rehearse", "--scenario", scenario.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", all(&output));
    assert!(all(&output).contains("every step is refused"), "{}", all(&output));
    std::fs::write(&scenario, "charts: {a: 2.0.0}\nrelease: r\nsteps: []\n").unwrap();
    let output = run(&["rehearse", "--scenario", scenario.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", all(&output));
}

#[test]
fn a_scenario_that_breaks_something_is_not_safe() {
    let dir = tempfile::tempdir().unwrap();
    let works = hook("[sh, -c, 'exit 0']");
    chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    chart(dir.path(), "2.0.0", &[("c.yaml", CONFIG), ("j.yaml", &works)]);
    let file = dir.path().join("my scenario.yaml");
    let play = |steps: &str| {
        let start = "charts: {a: 1.0.0, b: 2.0.0}\nrelease: r\nstart: {steps: [{install: {chart: a}}]}\n";
        std::fs::write(&file, format!("{start}steps:\n- {steps}\n")).unwrap();
        run(&["rehearse", "--scenario", file.to_str().unwrap()])
    };
    let open = play("upgrade: {chart: b, set: ['x=a b']}");
    assert_eq!(open.status.code(), Some(3), "{}", all(&open));
    let line = format!(
        "$ helm upgrade r {}/2.0.0 --set 'x=a b' -n default   [helm4, exit code 0]",
        dir.path().display()
    );
    assert!(all(&open).contains(&line), "{}", all(&open));
    let settled = play("{upgrade: {chart: b}, conditions: {hooks: {default: succeeds}}}");
    assert_eq!(settled.status.code(), Some(0), "{}", all(&settled));
    let fails = play("{upgrade: {chart: b}, conditions: {hooks: {default: fails}}}");
    assert_eq!(fails.status.code(), Some(3), "{}", all(&fails));
    let note =
        play("{upgrade: {chart: b}, conditions: {hooks: {default: succeeds, named: {nobody: fails}}}}");
    assert!(all(&note).contains("hooks.named: nothing is called \"nobody\"; there are "), "{}", all(&note));
    let kind = all(&play("delete: {objects: [Tranjob/a/b]}"));
    assert!(kind.contains("my scenario.yaml: line 5: unknown kind \"Tranjob\""), "{kind}");
    let missing = all(&play("apply: {file: nothing.yaml}"));
    assert!(missing.contains("line 5: ") && missing.contains("nothing.yaml"), "{missing}");
}

#[test]
fn a_safe_verdict_names_what_does_not_end_well() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    let after = chart(dir.path(), "2.0.0", &[("c.yaml", CONFIG), ("j.yaml", &hook("[sh, -c, 'exit 0']"))]);
    let output = run(&["verify", &before, &after, "-n", "ns", "--gate", "loses"]);
    let text = all(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    // Lines are as narrow as they are elsewhere than on a terminal.
    let lines: Vec<&str> = text.lines().skip(1).take_while(|line| !line.starts_with("release ")).collect();
    let summary = lines.join(" ");
    assert!(!text.contains("breaks*") || summary.contains("can break (end halfway"), "{text}");
    assert!(text.contains("breaks*"), "{text}");
}

#[test]
fn handed_in_objects_of_unknown_kinds_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    let state = dir.path().join("state.yaml");
    std::fs::write(&state, "apiVersion: example.test/v1\nkind: Gadget\nmetadata: {name: g, namespace: ns}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: ns}\n").unwrap();
    let state = state.to_str().unwrap();
    let output = run(&["verify", &before, &before, "-n", "ns", "--state", state]);
    assert_eq!(output.status.code(), Some(1), "{}", all(&output));
    assert!(all(&output).contains("Gadget/ns/g: could not be loaded"), "{}", all(&output));
    assert!(!all(&output).contains("ConfigMap/ns/own: could not"), "{}", all(&output));
    let output = run(&["rehearse", &before, &before, "-n", "ns", "--state", state]);
    assert_eq!(output.status.code(), Some(1), "{}", all(&output));
}

#[test]
fn outputs_never_overwrite_each_other_and_a_reader_that_goes_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG)]);
    let twice = format!("-ojson={0}/a,-ohtml={0}/a", dir.path().display());
    let mut arguments = vec!["verify", &before, &before];
    arguments.extend(twice.split(','));
    assert_eq!(run(&arguments).status.code(), Some(1));
    assert!(!dir.path().join("a").exists());
    assert_eq!(run(&["verify", &before, &before, "-o", "json="]).status.code(), Some(1));
    let mut child =
        command(&["verify", &before, &before]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", all(&output));
    assert!(!all(&output).contains("error"), "{}", all(&output));
}

const LOOKING: &str = r#"{{ $old := lookup "v1" "Secret" .Release.Namespace "login" }}
apiVersion: v1
kind: Secret
metadata: {name: login}
data: {password: {{ if $old }}{{ $old.data.password }}{{ else }}{{ printf "chart-%s" .Chart.Version | b64enc }}{{ end }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ if $old }}found{{ else }}missing{{ end }}}
data: {n: "{{ len (lookup "v1" "Namespace" "" "").items }}"}
"#;

#[test]
fn lookup_is_answered_by_the_rehearsed_cluster() {
    let dir = tempfile::tempdir().unwrap();
    let before = chart(dir.path(), "1.0.0", &[("s.yaml", LOOKING)]);
    let after = chart(dir.path(), "2.0.0", &[("s.yaml", LOOKING)]);
    let output = run(&["rehearse", &before, &after, "-n", "ns", "-o", "json"]);
    let text = all(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let rehearsals: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let events = rehearsals.pointer("/0/ways/0/operations/0/outcomes/0/steps/0/events").unwrap();
    let of = |name: &str| {
        let fits = |event: &&serde_json::Value| event["object"] == name;
        events.as_array().unwrap().iter().find(fits).map(|event| event["action"].as_str().unwrap().to_owned())
    };
    assert_eq!(of("ConfigMap/ns/found").as_deref(), Some("created"), "{events}");
    assert_eq!(of("ConfigMap/ns/missing").as_deref(), Some("deleted"), "{events}");
    // The password that the first install made is kept.
    assert_eq!(of("Secret/ns/login").as_deref(), Some("unchanged"), "{events}");
    let output = run(&["verify", &before, &after, "-n", "ns", "--gate", "loses"]);
    assert_eq!(output.status.code(), Some(0), "{}", all(&output));
    // What the user has is found too, and a kind that is not served ends the render.
    let state = dir.path().join("state.yaml");
    std::fs::write(&state, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: ns}\n")
        .unwrap();
    let own = "{{ if not (lookup \"v1\" \"ConfigMap\" .Release.Namespace \"own\") }}{{ fail \"own is wanted\" }}{{ end }}";
    let needy = chart(dir.path(), "3.0.0", &[("s.yaml", LOOKING), ("o.yaml", own)]);
    let output = run(&["rehearse", &before, &needy, "-n", "ns"]);
    assert!(all(&output).contains("own is wanted"), "{}", all(&output));
    let output =
        run(&["verify", &before, &needy, "-n", "ns", "--gate", "loses", "--state", state.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", all(&output));
    let strange = "{{ lookup \"strange.test/v1\" \"Thing\" \"\" \"\" }}";
    let strange = chart(dir.path(), "4.0.0", &[("s.yaml", LOOKING), ("o.yaml", strange)]);
    let output = run(&["rehearse", &before, &strange, "-n", "ns"]);
    let wanted = "unable to get apiresource from unstructured: strange.test/v1, Kind=Thing: the server could not find the requested resource";
    assert!(all(&output).contains(wanted), "{}", all(&output));
}

#[test]
fn lines_of_a_chart_never_look_like_lines_of_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let named = |value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\n  labels: {{\"x\\nSAFE  fake\": \"{value}\"}}\ndata: {{\"k\\nSAFE  fake\": \"{value}\\nSAFE  fake\\e[31m\"}}\n"
        )
    };
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", &named("a"))]);
    let after = chart(dir.path(), "2.0.0", &[("c.yaml", &named("b"))]);
    for arguments in [&["verify"][..], &["diff"], &["rehearse"]] {
        let arguments: Vec<&str> = arguments.iter().copied().chain([before.as_str(), &after]).collect();
        let text = all(&run(&arguments));
        assert!(!text.lines().any(|line| line.starts_with("SAFE  fake")), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

const WIDGETS: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.test, annotations: {KEEP}}\nspec:\n  group: example.test\n  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}\n  scope: Cluster\n  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n";

#[test]
fn what_leaves_a_release_can_be_kept_and_the_way_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let lasting = [
        (WIDGETS.replace("KEEP", ""), "customresourcedefinition widgets.example.test"),
        ("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n".to_owned(), "namespace team"),
        (
            "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n".to_owned(),
            "persistentvolumeclaim data -n ns",
        ),
    ];
    for (n, (object, words)) in lasting.iter().enumerate() {
        let before =
            chart(dir.path(), &format!("1.0.{n}"), &[("c.yaml", CONFIG), ("o.yaml", object.as_str())]);
        let after = chart(dir.path(), &format!("2.0.{n}"), &[("c.yaml", CONFIG)]);
        let output = run(&["verify", &before, &after, "-n", "ns", "--actor", "helm3"]);
        assert_eq!(output.status.code(), Some(3), "{}", all(&output));
        let command = format!("kubectl annotate --overwrite {words} helm.sh/resource-policy=keep");
        assert!(all(&output).contains(&command), "{command}: {}", all(&output));
        assert!(all(&output).contains("→ keep "), "{}", all(&output));
    }
}

#[test]
fn a_definition_whose_chart_keeps_it_is_not_called_lost() {
    let dir = tempfile::tempdir().unwrap();
    let kept = WIDGETS.replace("KEEP", "helm.sh/resource-policy: keep");
    let before = chart(dir.path(), "1.0.0", &[("c.yaml", CONFIG), ("o.yaml", &kept)]);
    let after = chart(dir.path(), "2.0.0", &[("c.yaml", CONFIG)]);
    std::fs::create_dir_all(dir.path().join("2.0.0/crds")).unwrap();
    std::fs::write(dir.path().join("2.0.0/crds/o.yaml"), WIDGETS.replace("KEEP", "")).unwrap();
    let output = run(&["verify", &before, &after, "-n", "ns", "--gate", "loses"]);
    assert_eq!(output.status.code(), Some(0), "{}", all(&output));
    assert!(!all(&output).contains("loses CRD"), "{}", all(&output));
}
