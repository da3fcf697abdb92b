//! How long something has taken, by the clock that the limits bring along.

use std::time::Duration;

use super::Limits;

/// Tells the time since some moment that stays the same.
pub type Clock = fn() -> Duration;

/// Runs from the moment it is made.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    running: Option<(Clock, Duration)>,
    seconds: u32,
}

impl Watch {
    /// Starts one for a part of a render.
    #[must_use]
    pub fn start(limits: &Limits) -> Self {
        let seconds = limits.render_seconds;
        let end = |clock: Clock| (clock, clock() + Duration::from_secs(seconds.into()));
        Self { running: limits.clock.map(end), seconds }
    }

    /// Whether the time is over. Reading a clock costs: not for every step.
    ///
    /// # Errors
    /// How long it may take; the flag is to be named beside it.
    pub fn check(&self) -> Result<(), String> {
        match self.running {
            Some((clock, end)) if clock() >= end => {
                Err(format!("rendering takes longer than {} seconds", self.seconds))
            }
            _ => Ok(()),
        }
    }

    /// The flag that moves the bound, without `--limit-`.
    pub const FLAG: &'static str = "render-seconds";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_over_when_the_clock_says_so() {
        let limits = |render_seconds, clock| Limits { render_seconds, clock, ..Limits::default() };
        let check = |seconds, clock| Watch::start(&limits(seconds, clock)).check();
        let still: Clock = || Duration::from_secs(5);
        assert_eq!(check(0, None), Ok(()));
        assert_eq!(check(1, Some(still)), Ok(()));
        assert_eq!(check(0, Some(still)), Err("rendering takes longer than 0 seconds".to_owned()));
    }
}
