//! A set of templates that call each other by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::Template;
use super::error::Error;
use super::exec::Exec;
use super::funcs::{Host, Registry};
use super::parser::parse;
use super::value::GoStr;
use crate::limits::{Limits, parallel::side_by_side};

/// Bytes of templates that take as long to read as a thread to begin.
const WORTH_A_THREAD: usize = 32 << 10;

/// What a key that a map lacks evaluates to (`Option("missingkey=…")`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// No value at all.
    #[default]
    Invalid,
    /// The zero value of the element type (Helm).
    Zero,
    /// An error (`helm lint --strict`).
    Error,
}

/// Templates by name and the functions they may call.
#[derive(Clone, Debug)]
pub struct Set {
    name: GoStr,
    registry: Arc<Registry>,
    missing_key: MissingKey,
    templates: BTreeMap<GoStr, Arc<Template>>,
}

impl Set {
    /// An empty set; `name` is the root template's, under which [`Engine::execute_text`] parses.
    ///
    /// [`Engine::execute_text`]: super::funcs::Engine::execute_text
    pub fn new(name: &str, registry: Registry, missing_key: MissingKey) -> Self {
        Self {
            name: GoStr::from(name),
            registry: Arc::new(registry),
            missing_key,
            templates: BTreeMap::new(),
        }
    }

    /// Parses a text as `name` and adds it with all that it defines; later definitions win unless they are empty.
    ///
    /// # Errors
    /// The text is no template, in Go's words.
    pub fn parse(&mut self, name: &str, text: impl Into<Arc<[u8]>>) -> Result<(), Box<Error>> {
        self.parse_files(&[(name, &text.into())]).map_err(|(_, error)| error)
    }

    /// Parses files one after the other as [`Set::parse`] does, large ones side by side.
    ///
    /// # Errors
    /// The name of the first that is no template, and why.
    pub fn parse_files(&mut self, files: &[(&str, &Arc<[u8]>)]) -> Result<(), (String, Box<Error>)> {
        let registry = &self.registry;
        let read = |(name, text): &(&str, &Arc<[u8]>)| {
            parse(&GoStr::from(*name), text, registry).map_err(|error| ((*name).to_owned(), error))
        };
        let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
        let parsed = match bytes > WORTH_A_THREAD {
            true => side_by_side(files, read)?,
            false => files.iter().map(read).collect::<Result<_, _>>()?,
        };
        for template in parsed.into_iter().flatten() {
            add(&mut self.templates, Arc::new(template));
        }
        Ok(())
    }

    /// Names of all templates, sorted.
    pub fn names(&self) -> impl Iterator<Item = &GoStr> {
        self.templates.keys()
    }

    /// The template of that name.
    pub fn get(&self, name: &[u8]) -> Option<&Arc<Template>> {
        self.templates.get(name)
    }

    /// The root template's name.
    pub fn name(&self) -> &GoStr {
        &self.name
    }

    /// The functions.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What a missing key evaluates to.
    pub fn missing_key(&self) -> MissingKey {
        self.missing_key
    }

    /// Starts a render: one budget, one set of counters.
    pub fn exec<'s>(&'s self, host: &'s mut dyn Host, limits: &'s Limits) -> Exec<'s> {
        Exec::new(self, host, limits)
    }
}

/// Adds a template unless it is empty and one of its name is there (`Template.associate`).
pub(crate) fn add(templates: &mut BTreeMap<GoStr, Arc<Template>>, template: Arc<Template>) {
    if template.is_empty() && templates.contains_key(&template.name) {
        return;
    }
    templates.insert(template.name.clone(), template);
}
