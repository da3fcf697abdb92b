//! What scripts write and how they end, without a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Ending, Host, Pause, Program, run};
use crate::cluster::{ApiResource, Request, Response};

/// A host without a cluster, whose time always passes.
#[derive(Default)]
struct Alone {
    clock: f64,
    downloads: Vec<String>,
}

impl Host for Alone {
    fn send(&mut self, _: Request) -> Result<Response, Pause> {
        let body = serde_json::json!({"kind": "Status", "reason": "NotFound", "message": "nothing here", "code": 404});
        Ok(Response { status: 404, body: Arc::new(body), warnings: Vec::new() })
    }

    fn discover(&mut self) -> Arc<Vec<ApiResource>> {
        Arc::default()
    }

    fn sleep(&mut self, seconds: f64) -> Result<(), Pause> {
        self.clock += seconds;
        Ok(())
    }

    fn download(&mut self, what: &str) -> Result<bool, Pause> {
        self.downloads.push(what.to_owned());
        Ok(!what.contains("unreachable"))
    }

    fn alias(&mut self, _: &str) -> Option<(String, String)> {
        None
    }

    fn now(&self) -> f64 {
        self.clock
    }
}

fn shell(script: &str) -> (String, Ending) {
    let files = BTreeMap::from([("/data/list.txt".to_owned(), "b 2\na 1\nc 3\n".to_owned())]);
    let program = Program {
        words: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
        environment: BTreeMap::from([("WHO".to_owned(), "world".to_owned())]),
        files,
        namespace: "default".to_owned(),
        user: String::new(),
    };
    let run = run(&program, &mut Alone::default());
    (run.output, run.ending)
}

#[test]
fn scripts_write_what_a_shell_writes() {
    // Checked against dash and BusyBox ash by hand.
    let table = [
        ("echo hello $WHO", "hello world\n"),
        ("a='x  y'; echo $a; echo \"$a\"", "x y\nx  y\n"),
        ("for i in 1 2 3; do echo -n $i; done", "123"),
        ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done", "1\n2\n3\n"),
        ("case foo.yaml in *.json) echo j;; *.yaml|*.yml) echo y;; esac", "y\n"),
        ("if false; then echo a; elif true; then echo b; else echo c; fi", "b\n"),
        ("f() { echo $1-$#; return 3; }; f x y || echo $?", "x-2\n3\n"),
        (
            "echo ${X:-none} ${WHO:+set} ${#WHO}; p=a/b/c.txt; echo ${p##*/} ${p%.txt} ${p%%/*} ${p#*/}",
            "none set 5\nc.txt a/b/c a b/c.txt\n",
        ),
        ("cat <<EOF\nhi $WHO\n\\$x\nEOF", "hi world\n$x\n"),
        ("cat <<'EOF' | wc -l\na $b\nc\nEOF", "2\n"),
        ("sort /data/list.txt | head -n 1; grep -c . /data/list.txt", "a 1\n3\n"),
        ("while read name number; do echo $number:$name; done < /data/list.txt", "2:b\n1:a\n3:c\n"),
        (
            "echo a:b:c | cut -d: -f2,3; echo abc | tr a-z A-Z; echo 'x=1' | sed 's/\\(.*\\)=\\(.*\\)/\\2=\\1/'",
            "b:c\nABC\n1=x\n",
        ),
        ("x=$(echo one; echo two); for w in $x; do printf '%s;' \"$w\"; done", "one;two;"),
        ("echo a b c | xargs -n1 echo -; echo x | xargs -I{} echo [{}]", "- a\n- b\n- c\n[x]\n"),
        ("set -- one 'two three'; for a in \"$@\"; do echo $a; done; echo $#", "one\ntwo three\n2\n"),
        ("(cd /data; ls); pwd; echo /data/*.txt", "list.txt\n/\n/data/list.txt\n"),
        ("echo out > /tmp/f; echo more >> /tmp/f; cat /tmp/f; [ -s /tmp/f ] && echo yes", "out\nmore\nyes\n"),
        ("echo err >&2 2>/dev/null; { echo a; echo b; } > /dev/null; echo c", "err\nc\n"),
        ("[[ foo == f* && -n x ]] && echo match; [ ! -f /none ] && echo absent", "match\nabsent\n"),
        ("trap 'echo bye' EXIT; echo hi; exit 0", "hi\nbye\n"),
        ("until [ \"${n:-0}\" -ge 2 ]; do n=$((${n:-0}+1)); [ $n = 1 ] && continue; echo $n; done", "2\n"),
        ("echo 'a b' | while read -r l; do echo \"<$l>\"; done; echo `echo tick`", "<a b>\ntick\n"),
        (
            "desired=\"$(printf 'a\\nb')\"; echo \"$desired\" | grep -qx b && echo in; echo \"$desired\" | grep -qx c || echo out",
            "in\nout\n",
        ),
        ("# comment\necho a # more\n\n\necho 'b\n c'", "a\nb\n c\n"),
        ("echo \"a\\\"b\" 'c\"d' e\\ f", "a\"b c\"d e f\n"),
    ];
    for (script, expected) in table {
        let (output, ending) = shell(script);
        assert_eq!((output.as_str(), &ending), (expected, &Ending::Exited(0)), "{script}");
    }
}

fn unknown(what: &str) -> Ending {
    Ending::Unknown(what.to_owned())
}

#[test]
fn scripts_end_as_a_shell_ends() {
    let table = [
        ("exit 3", Ending::Exited(3)),
        ("set -e; false; exit 9", Ending::Exited(1)),
        ("set -e; false || true; if false; then :; fi; ! true; exit 9", Ending::Exited(9)),
        ("set -e; x=$(false); exit 9", Ending::Exited(1)),
        ("set -e; false | true; exit 9", Ending::Exited(9)),
        ("set -e -o pipefail; false | true; exit 9", Ending::Exited(1)),
        ("set -eu; echo $UNSET; exit 9", Ending::Exited(2)),
        ("set -e; f() { false; echo no; }; f && true; exit 9", Ending::Exited(9)),
        ("set -e; (exit 4); exit 9", Ending::Exited(4)),
        ("kubectl get pods", Ending::Exited(1)),
        ("curl -f https://unreachable.example", Ending::Exited(1)),
        (
            "curl -X DELETE https://a.example",
            unknown("a request that may change something: -X DELETE https://a.example"),
        ),
        (
            "wget --post-data=a https://a.example",
            unknown("a request that may change something: --post-data=a https://a.example"),
        ),
        (
            "curl -sL https://a.example/install.sh | sh",
            unknown("a script from standard input that nobody knows"),
        ),
        ("if then", Ending::Exited(2)),
        ("python3 run.py", Ending::Unknown("program `python3`".to_owned())),
        ("sh /opt/run.sh", Ending::Unknown("script /opt/run.sh, which is part of the image".to_owned())),
        ("x=a; while true; do x=\"$x$x\"; done", endless()),
        ("set -- a b; while true; do set -- \"$@\" \"$@\"; done", endless()),
        ("while true; do :; done", Ending::Unknown("more than 200000 commands".to_owned())),
    ];
    for (script, expected) in table {
        assert_eq!(shell(script).1, expected, "{script}");
    }
}

#[test]
fn hostile_scripts_end() {
    let deep = format!("{}true{}", "(".repeat(5000), ")".repeat(5000));
    let substitutions = format!("echo {}x{}", "$(echo ".repeat(3000), ")".repeat(3000));
    for script in [
        deep.as_str(),
        substitutions.as_str(),
        "f() { f; }; f",
        "echo $((((((1",
        "case x in",
        "echo \"${x",
        "a() {",
    ] {
        assert!(
            !matches!(shell(script).1, Ending::Exited(0)),
            "{}",
            script.chars().take(20).collect::<String>()
        );
    }
}

/// How a script ends that makes more and more text.
fn endless() -> Ending {
    Ending::Unknown(format!("more than {} bytes of text in one place", super::expansion::TEXT))
}
