//! How deep a chain of calls may go before the thread's stack ends, so that hostile nesting is an error.

use std::cell::Cell;
use std::thread;

use crate::limits::stack::{self, here};

/// Stack that [`deep`] gives, in bytes; only pages in use cost memory.
const DEEP: usize = 512 << 20;

/// Stack that may be used on other threads, in bytes (test threads have 2 MiB).
const SHALLOW: usize = 1 << 20;

/// Left for what runs between two checks, in bytes.
const RESERVE: usize = 256 << 10;

thread_local! {
    /// Lowest address that calls may reach; 0 when nothing runs.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
}

/// Runs a job with a stack large enough for whatever Go accepts: on this thread if it has that much left.
///
/// # Errors
/// The system gives no thread.
pub fn deep<T: Send>(job: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    if stack::room() > DEEP {
        let _guard = Guard::with(DEEP - RESERVE);
        return Ok(job());
    }
    thread::scope(|scope| {
        // A value that is read here may be dropped on the thread that waits.
        let worker = stack::start(scope, DEEP, stack::is_deep(), || {
            FLOOR.set(here().saturating_sub(DEEP - RESERVE));
            job()
        })?;
        worker.join().map_err(|_| std::io::Error::other("a render ended abnormally"))
    })
}

/// Sets the bound for the outermost call on this thread and lifts it at the end.
pub(crate) struct Guard {
    outermost: bool,
}

impl Guard {
    pub(crate) fn new() -> Self {
        Self::with(SHALLOW)
    }

    fn with(bytes: usize) -> Self {
        let outermost = FLOOR.get() == 0;
        if outermost {
            FLOOR.set(here().saturating_sub(bytes).max(1));
        }
        Self { outermost }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.outermost {
            FLOOR.set(0);
        }
    }
}

/// Whether there is no room for another level.
pub(crate) fn exhausted() -> bool {
    here() < FLOOR.get()
}

/// Whether there is room for another level, but not for many.
pub(crate) fn scarce() -> bool {
    here() < FLOOR.get().saturating_add(RESERVE / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descend(levels: &mut usize) {
        let ballast = std::hint::black_box([0u8; 64]);
        *levels += usize::from(ballast[0] == 0);
        if !exhausted() {
            descend(levels);
        }
    }

    #[test]
    fn recursion_stops_before_the_stack_does() {
        let _guard = Guard::new();
        let mut shallow = 0;
        descend(&mut shallow);
        let deep = deep(|| {
            let mut levels = 0;
            descend(&mut levels);
            levels
        });
        assert!(deep.unwrap() > 100 * shallow);
    }

    #[test]
    fn a_thread_with_room_goes_on_itself() {
        let on = || thread::current().id();
        let same = stack::deep(|| on() == deep(on).unwrap()).unwrap();
        assert!(same && on() != deep(on).unwrap());
        assert!(FLOOR.get() == 0 && !exhausted());
    }
}
