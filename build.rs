//! How the program is linked.

use std::env;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Without this the loader patches 60,000 addresses before the first line of the program runs: a quarter of the time that a
    // small render takes, and three megabytes that no other process can share.
    let (os, kind) = (env::var("CARGO_CFG_TARGET_OS"), env::var("CARGO_CFG_TARGET_ENV"));
    if os.as_deref() == Ok("linux") && kind.as_deref() == Ok("gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        side_by_side();
    }
}

/// Puts the functions that a render calls side by side, where there is a list of them and the linker takes it: a third of
/// the memory of a small render is code that merely stands beside what it runs.
fn side_by_side() {
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let target = env::var("TARGET").unwrap_or_default();
    let list = format!("{root}/scripts/layout/{target}.txt");
    println!("cargo::rerun-if-changed=scripts/layout");
    let flags = [format!("-Wl,--symbol-ordering-file={list}"), "-Wl,--no-warn-symbol-ordering".to_owned()];
    if Path::new(&list).exists() && links_with(&flags) {
        flags.iter().for_each(|flag| println!("cargo::rustc-link-arg-bins={flag}"));
    }
}

/// Whether the linker that will be used knows some flags: only LLVM's knows those above.
#[expect(clippy::disallowed_methods, reason = "only the compiler knows which linker it takes")]
fn links_with(flags: &[String]) -> bool {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let out = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("linked");
    rustc.args(["--crate-type=bin", "--crate-name=linked", "-", "-o"]).arg(out);
    rustc.args(["--target", &env::var("TARGET").unwrap_or_default()]);
    rustc.args(
        env::var("CARGO_ENCODED_RUSTFLAGS")
            .iter()
            .flat_map(|flags| flags.split('\x1f'))
            .filter(|flag| !flag.is_empty()),
    );
    rustc.args(env::var("RUSTC_LINKER").iter().map(|linker| format!("-Clinker={linker}")));
    rustc.args(flags.iter().map(|flag| format!("-Clink-arg={flag}")));
    let child = rustc.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return false };
    let written = child.stdin.take().is_some_and(|mut text| text.write_all(b"fn main() {}").is_ok());
    child.wait().is_ok_and(|status| written && status.success())
}
