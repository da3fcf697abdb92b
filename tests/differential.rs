//! Inputs made by chance, given to seatrial and to the real Helms, Go template engine and go-yaml; differences shrink.
//!
//! `SEATRIAL_FUZZ_SEED` repeats a run, `SEATRIAL_FUZZ_CASES` and `SEATRIAL_FUZZ_SECONDS` say how long it goes on.

#![expect(clippy::print_stderr, reason = "all of this crate is tests, helpers included")]

use differential::campaign::run;
use differential::{charts, emitted, outputs, sets, templates, toml_texts, values, yaml_texts};

mod differential {
    pub(crate) mod campaign;
    pub(crate) mod case;
    pub(crate) mod charts;
    pub(crate) mod dice;
    pub(crate) mod emitted;
    pub(crate) mod functions;
    pub(crate) mod known;
    mod literals;
    pub(crate) mod oracle;
    pub(crate) mod outputs;
    pub(crate) mod question;
    pub(crate) mod sets;
    pub(crate) mod templates;
    pub(crate) mod toml_texts;
    pub(crate) mod trim;
    pub(crate) mod values;
    pub(crate) mod yaml_texts;
}
#[path = "it/shared.rs"]
mod shared;

#[test]
fn templates_print_what_they_print_in_helm() {
    run("templates", templates::question);
}

#[test]
fn yaml_reads_as_in_go() {
    run("yaml", yaml_texts::question);
}

#[test]
fn toml_reads_as_in_go() {
    run("toml", toml_texts::question);
}

#[test]
fn values_merge_as_in_helm() {
    run("values", values::question);
}

#[test]
fn emitted_texts_are_those_of_helm() {
    run("emitted", emitted::question);
}

#[test]
fn set_expressions_read_as_in_helm() {
    run("sets", sets::question);
}

#[test]
fn charts_render_as_in_helm() {
    run("charts", charts::question);
}

#[test]
fn outputs_split_as_in_helm() {
    run("outputs", outputs::question);
}
