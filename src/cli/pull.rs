//! `seatrial pull`: charts into the cache.

use super::args::{Global, Pull};
use super::charts::Loaded;
use super::exit::{Error, Exit};
use super::settings;
use super::terminal::{self, Terminal};
use crate::source::Reference;

/// Fetches each chart and prints where it lies and its digest.
pub(crate) fn run(pull: &Pull, global: &Global) -> Result<Exit, Error> {
    let mut sources = settings::sources(global);
    if sources.caches.is_empty() {
        sources.caches.push(settings::CHARTS_CACHE.into());
    }
    let talk = Terminal::new(global.color);
    for reference in &pull.references {
        if let Some(said) = said(reference, global.offline)? {
            talk.say(&said);
        }
        let fetched = sources.fetch(reference)?;
        let origin = fetched.origin.clone();
        let digest = Loaded::of(fetched, settings::limits(&global.limits)).digest();
        terminal::print(format!("{}  {digest}\n", terminal::line(&origin)).as_bytes())?;
    }
    Ok(Exit::Safe)
}

/// What is said of a reference before it is fetched: only what is not on disk is pulled.
fn said(reference: &str, offline: bool) -> Result<Option<String>, Error> {
    Ok(match Reference::parse(reference)? {
        Reference::Directory(path) => Some(format!(
            "{}: a directory, not copied into the charts cache; the digest is of its files, as in golden files",
            path.display()
        )),
        Reference::Archive(path) => {
            Some(format!("{}: an archive on disk, not copied into the charts cache", path.display()))
        }
        _ if offline => None,
        _ => Some(format!("fetching {reference}, from a charts cache where one has it")),
    })
}
