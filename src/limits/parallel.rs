//! The same work on many items, spread over the processors.

use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::Scope;

use super::stack;

/// Threads at work beyond those that called, less the callers that wait; work within work shares the processors.
static AT_WORK: AtomicIsize = AtomicIsize::new(0);

/// Processors at hand: asking the system takes as long as a small document.
static PROCESSORS: LazyLock<isize> = LazyLock::new(|| {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    isize::try_from(most).unwrap_or(isize::MAX)
});

/// Does the same with every item, on as many threads as there are processors left; the results are in the items' order.
///
/// # Errors
/// The first error in that order.
pub fn side_by_side<I: Sync, T: Send, E: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let crew = Crew { items, work, next: AtomicUsize::new(0), done: Mutex::default() };
    let rest = std::thread::scope(|scope| {
        crew.work(scope);
        Rest::begin()
    });
    drop(rest);
    let mut done = crew.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Threads that share the items of one call.
struct Crew<'c, I, T, E, W> {
    items: &'c [I],
    work: W,
    next: AtomicUsize,
    done: Mutex<Vec<(usize, Result<T, E>)>>,
}

impl<I: Sync, T: Send, E: Send, W: Fn(&I) -> Result<T, E> + Sync> Crew<'_, I, T, E, W> {
    fn work<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        while let Some((at, item)) = take(self.items, &self.next) {
            self.enlist(scope);
            let result = (self.work)(item);
            self.done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    }

    /// Takes a thread on as soon as a processor gets free, however late that is.
    fn enlist<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        if self.next.load(Ordering::Relaxed) >= self.items.len() {
            return;
        }
        let Some(seat) = Seat::take() else { return };
        let helper = move || {
            self.work(scope);
            drop(seat);
        };
        // Without a thread more the work is done by those that are there.
        let _ = stack::spawn(scope, helper);
    }
}

/// The right to a thread more.
struct Seat;

impl Seat {
    fn take() -> Option<Self> {
        let most = *PROCESSORS;
        let taken =
            AT_WORK.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n + 1 < most).then_some(n + 1));
        taken.ok().map(|_| Self)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A caller that has nothing left to do and waits for the others: somebody else may have its processor.
struct Rest;

impl Rest {
    fn begin() -> Self {
        AT_WORK.fetch_sub(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        AT_WORK.fetch_add(1, Ordering::Relaxed);
    }
}

fn take<'i, I>(items: &'i [I], next: &AtomicUsize) -> Option<(usize, &'i I)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    items.get(at).map(|item| (at, item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order_and_the_first_error_wins() {
        let numbers: Vec<u32> = (0..50).collect();
        let doubled = side_by_side(&numbers, |n| Ok::<_, String>(n * 2)).unwrap();
        assert_eq!(doubled, numbers.iter().map(|n| n * 2).collect::<Vec<_>>());
        let failed = side_by_side(&numbers, |n| if *n > 20 { Err(*n) } else { Ok(()) });
        assert_eq!(failed, Err(21));
    }
}
