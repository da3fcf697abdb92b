//! Rendered texts with documents, comments, hooks and line breaks of all kinds, which are split and sorted.

use super::case::Case;
use super::dice::Dice;
use super::question::Question;
use super::yaml_texts;

pub(crate) fn question(dice: &mut Dice) -> Question {
    let mut case = Case::default();
    case.file("Chart.yaml", "apiVersion: v2\nname: demo\nversion: 0.1.0\n");
    for at in 0..=dice.below(3) {
        let name = if dice.often(25) { dice.pick(NAMES).to_owned() } else { format!("{at}.yaml") };
        let text = text(dice);
        case.file(format!("templates/{name}"), text);
    }
    flags(dice, &mut case);
    Question::Render(Box::new(case))
}

pub(crate) fn flags(dice: &mut Dice, case: &mut Case) {
    for flag in ["include-crds", "no-hooks", "skip-tests", "is-upgrade"] {
        if dice.often(12) {
            case.flags.push(flag);
        }
    }
}

const NAMES: &[&str] = &[
    "NOTES.txt",
    "_a.tpl",
    "a.txt",
    "sub/b.yaml",
    "b.yml",
    ".hidden",
    "tests/t.yaml",
    "aNOTES.txt",
    "d.json",
    "sub/NOTES.txt",
    "a b.yaml",
    "é.yaml",
    "e",
    "A.yaml",
    "sub/_x.yaml",
    "a.yaml~",
    "10.yaml",
    "a..yaml",
];

fn text(dice: &mut Dice) -> String {
    let documents = dice.some(4, |dice| separator(dice) + &manifest(dice));
    let mut text =
        documents.concat() + dice.pick(&["", "\n", "\n\n", "---", "---\n", " \n", "\n---\n# end\n", "..."]);
    if dice.often(12) {
        text = dice
            .mutate(&text, &["---", "\n", " ", "#", ":", "\t", "\r", "{{ 1 }}", "- ", "\u{85}", "\u{a0}"]);
    }
    if dice.often(6) { text.replace('\n', "\r\n") } else { text }
}

fn separator(dice: &mut Dice) -> String {
    dice.pick(&[
        "---\n",
        "\n---\n",
        "",
        "--- \n",
        "---",
        "\n\n---\n\n",
        "--- # c\n",
        "  ---\n",
        "----\n",
        "\t\n---\n",
        "---\n---\n",
        "\r\n---\r\n",
        " \n--- \n \n",
        "# ---\n",
        "a: |\n  x\n---\n",
        "...\n---\n",
        "---\t\n",
        "\u{a0}\n---\u{a0}\n",
        "\u{c}\n---\u{b}\n",
    ])
    .to_owned()
}

/// A manifest, or what stands where one is expected.
pub(crate) fn manifest(dice: &mut Dice) -> String {
    if dice.often(20) {
        return odd(dice);
    }
    let (kind, name) = (dice.pick(KINDS), dice.pick(&["a", "b", "c", "\"1\"", "1", "null"]));
    let head = dice.pick(&[
        "apiVersion: v1\n",
        "apiVersion: apps/v1\n",
        "# c\napiVersion: v1\n",
        "",
        "\napiVersion: v1\n",
    ]);
    let metadata = if dice.often(90) {
        format!("metadata:\n  name: {name}\n{}", annotations(dice))
    } else {
        String::new()
    };
    let body = dice.pick(&[
        "",
        "data: {a: b}\n",
        "spec:\n  x: |\n    y\n\n",
        "spec: 1\n# tail\n",
        "items: []\n",
        "  \n",
        "data:\n  x: |+\n    a\n\n\n",
    ]);
    format!("{head}kind: {kind}\n{metadata}{body}")
}

fn annotations(dice: &mut Dice) -> String {
    if !dice.often(45) {
        return String::new();
    }
    let lines = dice.some(4, |dice| {
        let (key, value) = (
            dice.pick(&[
                "helm.sh/hook",
                "helm.sh/hook",
                "helm.sh/hook-weight",
                "helm.sh/hook-delete-policy",
                "helm.sh/hook-output-log-policy",
                "x",
                "helm.sh/resource-policy",
            ]),
            dice.pick(&[
                "pre-install",
                "post-install",
                "test",
                "pre-install,post-upgrade",
                "\"5\"",
                "\"-1\"",
                "5",
                "\"x\"",
                "hook-succeeded",
                "before-hook-creation, hook-failed",
                "crd-install",
                "test-success",
                "test-failure",
                "nope",
                "\"\"",
                "null",
                "true",
                "PRE-INSTALL",
                " pre-install , test ",
                "[a]",
                "pre-delete",
                "pre-rollback",
                "keep",
                "{}",
                "~",
            ]),
        );
        format!("    {key}: {value}\n")
    });
    format!("  {}:\n{}", dice.pick(&["annotations", "annotations", "annotations", "labels"]), lines.concat())
}

fn odd(dice: &mut Dice) -> String {
    let odds = [
        "# only a comment\n",
        "",
        "\n",
        "text\n",
        "- a\n",
        "{}\n",
        "null\n",
        "kind: A\nkind: B\n",
        "kind: 1\n",
        "kind: [a]\n",
        "metadata: 1\n",
        "metadata: [1]\nkind: x\n",
        "a: [\n",
        "\tx\n",
        "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"j\"}}\n",
        "kind: List\nitems:\n- kind: Pod\n  metadata: {annotations: {helm.sh/hook: test}}\n",
        "metadata: {annotations: {a: 1}}\n",
        "metadata: {annotations: {a: true}, name: x}\nkind: X\n",
        "metadata: {annotations: null}\n",
        "metadata: {annotations: [x]}\n",
        "apiVersion: 1\nkind: x\n",
        "a: b: c\n",
        "Kind: Pod\n",
        "KIND: Pod\nMetadata: {Annotations: {helm.sh/hook: test}}\n",
        "!!map {kind: X}\n",
        "&a kind: X\n",
        "kind: *a\n",
        "? kind\n: X\n",
        "'kind': \"Pod\"\n",
        "metadata: {annotations: {helm.sh/hook: test}}\n",
        "kind: X\nmetadata: {name: {}}\n",
        "kind: X\nmetadata: {name: 1.5}\n",
        "kind: yes\n",
        "%YAML 1.1\n",
        "@\n",
        "1\n",
        "\"a\n",
        "kind: X\n...\nkind: Y\n",
        "a: 1\na: 2\n",
        "x: \u{1}\n",
        "kind: Pod\nmetadata:\n name: a\n  annotations: {}\n",
        "metadata:\n  annotations:\n    <<: {helm.sh/hook: test}\nkind: M\n",
    ];
    if dice.often(8) {
        return String::from_utf8_lossy(&yaml_texts::text(dice)).into_owned().replace("{{", "{ {");
    }
    dice.pick(&odds).to_owned()
}

const KINDS: &[&str] = &[
    "ConfigMap",
    "Pod",
    "Deployment",
    "Service",
    "Secret",
    "Namespace",
    "CustomResourceDefinition",
    "Job",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleList",
    "ServiceAccount",
    "Ingress",
    "IngressClass",
    "APIService",
    "Unknown",
    "Another",
    "PriorityClass",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "SecretList",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CronJob",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "HorizontalPodAutoscaler",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "List",
    "pod",
    "\"\"",
    "RoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "RoleBindingList",
    "configmap",
    "GatewayClass",
    "Gateway",
    "HTTPRoute",
];
