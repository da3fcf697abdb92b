//! Parsing and executing a chart's templates in Helm's order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::context::{Renderable, values_type};
use super::functions::strip_no_value;
use super::host::Session;
use super::manifests::{Rendered, Text};
use super::{Error, Options, error, functions};
use crate::template::funcs::{Registry, sprig};
use crate::template::set::{MissingKey, Set};
use crate::template::value::{Map, Value};

/// The name of Helm's root template, which texts given to `tpl` carry in messages.
const ROOT: &str = "gotpl";

/// Renders everything that is no partial.
///
/// As Helm v4.3.1 `pkg/engine/engine.go` `render`.
pub(super) fn execute(found: Vec<Renderable>, options: &Options, ends: bool) -> Result<Rendered, Error> {
    let order = in_order(found);
    let registry = functions::registry(options.helm);
    let mut set = Set::new(ROOT, registry, MissingKey::Zero);
    let files: Vec<_> = order.iter().map(|template| (template.name.as_str(), &template.text)).collect();
    set.parse_files(&files).map_err(|(name, problem)| error::parse_error(&name, &problem))?;
    let mut session = Session::new(Arc::clone(&options.answers));
    let mut exec = set.exec(&mut session, &options.limits);
    let mut rendered = Rendered::new();
    for template in order.iter().filter(|template| !is_partial(&template.name)) {
        let data = data(template, options);
        let out = exec
            .render(&template.name, &data)
            .map_err(|problem| error::exec_error(&template.name, &problem, options.helm))?;
        rendered.insert(template.name.clone(), text(out));
    }
    drop(exec);
    if ends {
        // The system takes it all at once.
        std::mem::forget((set, order));
    }
    Ok(rendered)
}

/// The name that a `--name-template` gives.
///
/// As Helm v4.3.1 `pkg/action/install.go` `TemplateName`.
///
/// # Errors
/// In Go's words.
pub fn name(template: &str, options: &Options) -> Result<String, String> {
    const NAME: &str = "name-template";
    let registry = sprig::add_to(Registry::go());
    let mut set = Set::new(NAME, registry, MissingKey::Invalid);
    set.parse(NAME, template.as_bytes().to_vec()).map_err(|problem| problem.to_string())?;
    let mut session = Session::new(Arc::clone(&options.answers));
    let out = set.exec(&mut session, &options.limits).render(NAME, &Value::Nil);
    out.map(|name| String::from_utf8_lossy(&name).into_owned()).map_err(|problem| problem.to_string())
}

/// Deepest paths first, each depth from the end of the alphabet: a parent's definitions come last and win.
fn in_order(found: Vec<Renderable>) -> Vec<Renderable> {
    let by_name: BTreeMap<String, Renderable> =
        found.into_iter().map(|template| (template.name.clone(), template)).collect();
    let mut order: Vec<_> = by_name.into_values().rev().collect();
    order.sort_by_key(|template| std::cmp::Reverse(template.name.matches('/').count()));
    order
}

fn is_partial(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|base| base.starts_with('_'))
}

/// The chart's context, with `.Template` set for this file.
fn data(template: &Renderable, options: &Options) -> Value {
    let ty = values_type(options.helm);
    let own = Map::new(ty, Default::default());
    own.set("Name", template.name.as_str());
    own.set("BasePath", template.base_path.as_str());
    template.context.set("Template", own);
    Value::Map(template.context.with_type(ty))
}

fn text(out: Vec<u8>) -> Text {
    Text::from(strip_no_value(&out).unwrap_or(out))
}
