//! `seatrial pull`: charts into the cache.

use super::args::{Global, Pull};
use super::exit::{Error, Exit};
use super::settings;
use super::terminal::{self, Terminal};

/// Fetches each chart and prints where it lies and its digest.
pub(crate) fn run(pull: &Pull, global: &Global) -> Result<Exit, Error> {
    let mut sources = settings::sources(global);
    if sources.caches.is_empty() {
        sources.caches.push(settings::CHARTS_CACHE.into());
    }
    let talk = Terminal::new(global.color);
    for reference in &pull.references {
        // Nothing is pulled then: what is not on disk is refused.
        if !global.offline {
            talk.say(&format!("pulling {reference}"));
        }
        let fetched = sources.fetch(reference)?;
        let digest = fetched.digest.unwrap_or_default();
        terminal::print(format!("{}  {digest}\n", terminal::line(&fetched.origin)).as_bytes())?;
    }
    Ok(Exit::Safe)
}
