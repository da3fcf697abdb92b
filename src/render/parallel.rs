//! The same work on several texts, side by side where there is much of it.

use std::convert::Infallible;

use crate::limits::parallel::side_by_side;

/// Bytes below which starting a thread costs more than it saves.
const WORTH_A_THREAD: usize = 128 << 10;

/// Applies `work` to every text, longest first; the results are in the order of the texts.
pub(super) fn map<T: Send>(texts: &[&[u8]], work: impl Fn(&[u8]) -> T + Sync) -> Vec<T> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    if bytes < 2 * WORTH_A_THREAD {
        return texts.iter().map(|text| work(text)).collect();
    }
    let mut queue: Vec<(usize, &[u8])> = texts.iter().copied().enumerate().collect();
    queue.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    let Ok(mut done) = side_by_side(&queue, |(at, text)| Ok::<_, Infallible>((*at, work(text))));
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order() {
        let texts: Vec<String> = (0..20).map(|at| at.to_string().repeat(10_000 * (at % 7 + 1))).collect();
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        assert!(lengths.iter().sum::<usize>() > 2 * WORTH_A_THREAD);
        assert_eq!(map(&texts, <[u8]>::len), lengths);
        assert_eq!(map(&[], <[u8]>::len), [0; 0]);
    }
}
