//! Steps, ways and rehearsals for tests: of Helm 3, plain, and with nothing to tell; a test says what differs.

use super::outcome::{Operation, Rehearsal, Start, Way};
use super::trace::Step;

/// A step that succeeds and changes nothing.
pub(crate) fn step(operation: impl Into<String>) -> Step {
    Step {
        operation: operation.into(),
        actor: "helm3".into(),
        command: String::new(),
        exit_code: 0,
        stdout: String::new(),
        stderr: String::new(),
        events: Vec::new(),
        lost_objects: Vec::new(),
        exchanges: Vec::new(),
        notes: Vec::new(),
        rewritten: Vec::new(),
        undone: Vec::new(),
    }
}

/// The plain way with a release of Helm 3.
pub(crate) fn way(operations: Vec<Operation>) -> Way {
    Way {
        name: "plain".into(),
        summary: String::new(),
        made_by: "helm3".into(),
        flags: Vec::new(),
        prepare: Vec::new(),
        afterwards: Vec::new(),
        loses_already: Vec::new(),
        numbered: true,
        values: None,
        operations,
    }
}

/// A rehearsal by Helm 3 from the built-in population.
pub(crate) fn rehearsal(ways: Vec<Way>) -> Rehearsal {
    Rehearsal {
        actor: "helm3".into(),
        version: "3.22".into(),
        start: Start::BuiltIn,
        population: Vec::new(),
        alive: Vec::new(),
        unserved: Vec::new(),
        doubts: Vec::new(),
        secrets: Default::default(),
        origins: Vec::new(),
        obstacle: String::new(),
        ways,
    }
}
