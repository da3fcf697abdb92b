//! What was worked out for stored objects, remembered for all forks of a rehearsal.
//!
//! Forks share the objects they have in common, and a stored object never changes: what a pure function made of it once
//! holds wherever the very same object is met again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// Entries after which everything is forgotten: what is still needed comes back at once.
const MOST: usize = 1024;

/// Which objects, and what else the function went by.
type Key = (u64, Vec<usize>);

/// Answers of one function. The objects are held, so that their addresses stay their own.
#[derive(Debug)]
pub(super) struct Memory<T> {
    known: Mutex<Known<T>>,
}

/// Answers with the objects they are about.
type Known<T> = HashMap<Key, (Vec<Arc<Value>>, T)>;

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self { known: Mutex::default() }
    }
}

impl<T: Clone> Memory<T> {
    /// The answer for these objects and a number that stands for everything else it depends on.
    pub(super) fn of(&self, objects: &[&Arc<Value>], besides: u64, work: impl FnOnce() -> T) -> T {
        let key = (besides, objects.iter().map(|object| Arc::as_ptr(object).addr()).collect());
        let known = |all: &Known<T>| all.get(&key).map(|(_, answer)| answer.clone());
        if let Some(answer) = known(&self.known.lock().unwrap_or_else(PoisonError::into_inner)) {
            return answer;
        }
        // Not under the lock: other forks go on meanwhile.
        let answer = work();
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(key, (objects.iter().map(|object| Arc::clone(object)).collect(), answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_for_the_same_object_are_worked_out_once() {
        let memory = Memory::default();
        let (one, alike) = (Arc::new(Value::from(1)), Arc::new(Value::from(1)));
        assert_eq!(memory.of(&[&one], 0, || "first"), "first");
        assert_eq!(memory.of(&[&one], 0, || "again"), "first");
        assert_eq!(memory.of(&[&one], 1, || "besides"), "besides");
        assert_eq!(memory.of(&[&alike], 0, || "another object"), "another object");
        assert_eq!(memory.of(&[&one, &alike], 0, || "both"), "both");
    }

    #[test]
    fn it_does_not_grow_for_ever() {
        let memory = Memory::default();
        for i in 0..3 * MOST {
            memory.of(&[&Arc::new(Value::from(i))], 0, || i);
        }
        assert!(memory.known.lock().is_ok_and(|all| all.len() <= MOST));
    }
}
