//! Values that are worked out when somebody first asks for them: printing a render needs texts, not objects.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

/// A value that is worked out at most once; copies share it.
pub struct Lazy<T>(Arc<LazyLock<T, Work<T>>>);

type Work<T> = Box<dyn FnOnce() -> T + Send>;

impl<T> Lazy<T> {
    /// A value that `work` gives when it is first looked at.
    pub fn new(work: impl FnOnce() -> T + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(work))))
    }
}

impl<T: Send + 'static> From<T> for Lazy<T> {
    /// A value that is there already.
    fn from(value: T) -> Self {
        let lazy = Self::new(|| value);
        LazyLock::force(&lazy.0);
        lazy
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for Lazy<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn copies_share_what_is_worked_out_once() {
        let count = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&count);
        let lazy = Lazy::new(move || seen.fetch_add(1, Ordering::Relaxed) + 1);
        let copy = lazy.clone();
        assert_eq!(count.load(Ordering::Relaxed), 0);
        assert_eq!((*lazy, *copy), (1, 1));
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}
