//! Threads whose stack holds whatever nesting Go accepts, and how deep a value may nest on the thread that reads it.

use std::cell::Cell;
use std::io;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// Deepest nesting that every walk over a value survives on an ordinary thread's stack (2 MiB).
const SHALLOW: usize = 1_000;

/// Deepest nesting on a deep thread: that of go-yaml and of Go's JSON.
const DEEP: usize = 10_000;

/// Stack of a deep thread, in bytes: a render's, and what leads to it. Only pages in use cost memory.
const STACK: usize = 528 << 20;

thread_local! {
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
    /// Lowest address of this thread's stack, where it is known.
    static END: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Bytes of stack that this thread has left; none where nobody knows.
#[must_use]
pub fn room() -> usize {
    here().saturating_sub(END.get())
}

/// An address in the frame of whoever asks.
#[inline(never)]
#[must_use]
pub fn here() -> usize {
    let marker = 0u8;
    (&raw const marker).addr()
}

/// How deep a value may nest that this thread reads.
#[must_use]
pub fn levels() -> usize {
    if IS_DEEP.get() { DEEP } else { SHALLOW }
}

/// Runs a job on a deep thread and waits for it.
///
/// # Errors
/// The system gives no thread, or the job panicked.
pub fn deep<T: Send>(job: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let worker = start(scope, STACK, true, job)?;
        worker.join().map_err(|_| io::Error::other("a thread ended abnormally"))
    })
}

/// Starts a thread that reads as deep as this one.
///
/// # Errors
/// The system gives no thread.
pub fn spawn<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    job: impl FnOnce() -> T + Send + 's,
) -> io::Result<ScopedJoinHandle<'s, T>> {
    if IS_DEEP.get() { start(scope, STACK, true, job) } else { Builder::new().spawn_scoped(scope, job) }
}

/// Starts a thread with a stack of its own size, which may hold deep values when `deep` says so.
///
/// # Errors
/// The system gives no thread.
pub fn start<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    bytes: usize,
    deep: bool,
    job: impl FnOnce() -> T + Send + 's,
) -> io::Result<ScopedJoinHandle<'s, T>> {
    Builder::new().stack_size(bytes).spawn_scoped(scope, move || {
        IS_DEEP.set(deep);
        END.set(here().saturating_sub(bytes));
        job()
    })
}

/// Whether this thread is a deep one.
#[must_use]
pub fn is_deep() -> bool {
    IS_DEEP.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_as_deep_as_who_starts_them() {
        let inner = || thread::scope(|scope| spawn(scope, levels).unwrap().join().unwrap());
        assert_eq!((levels(), inner()), (SHALLOW, SHALLOW));
        assert_eq!(deep(|| (levels(), inner())).unwrap(), (DEEP, DEEP));
    }
}
