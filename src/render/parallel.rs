//! The same work on several texts, side by side where there is much of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::limits::stack;

/// Bytes below which starting a thread costs more than it saves.
const WORTH_A_THREAD: usize = 128 << 10;

/// Threads at most: texts are few and uneven.
const MOST_THREADS: usize = 8;

/// Applies `work` to every text; the results keep the order.
pub(super) fn map<T: Send>(texts: &[&str], work: impl Fn(&str) -> T + Sync) -> Vec<T> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let threads = (bytes / WORTH_A_THREAD).min(texts.len());
    let threads = if threads > 1 { threads.min(processors()).min(MOST_THREADS) } else { 1 };
    if threads <= 1 {
        return texts.iter().map(|text| work(text)).collect();
    }
    in_threads(texts, threads, &work)
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Each thread takes the longest text that is left.
fn in_threads<T: Send>(texts: &[&str], threads: usize, work: &(impl Fn(&str) -> T + Sync)) -> Vec<T> {
    let mut queue: Vec<(usize, &str)> = texts.iter().copied().enumerate().collect();
    queue.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    let next = AtomicUsize::new(0);
    let take = || queue.get(next.fetch_add(1, Ordering::Relaxed));
    let run = || std::iter::from_fn(take).map(|(at, text)| (*at, work(text))).collect::<Vec<_>>();
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).filter_map(|_| stack::spawn(scope, run).ok()).collect();
        let mut done = run();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order() {
        let texts: Vec<String> = (0..20).map(|at| at.to_string().repeat(10_000 * (at % 7 + 1))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        assert!(lengths.iter().sum::<usize>() > 2 * WORTH_A_THREAD);
        assert_eq!(map(&texts, str::len), lengths);
        assert_eq!(in_threads(&texts, 3, &str::len), lengths);
        assert_eq!(map(&[], str::len), [0; 0]);
    }
}
