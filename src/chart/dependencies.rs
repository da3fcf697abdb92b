//! Which subcharts take part in a release: version matches, aliases, tags, conditions, imported values.

use serde_json::{Map, Value};

use super::go_text::print;
use super::notice::Notices;
use super::{Chart, Dependency, Error, Helm, Values, values};
use crate::version::{Constraint, Version};
use twins::Twins;

mod twins;

/// Applies aliases, tags, conditions and `import-values` for the given user values.
///
/// As Helm v4.3.1 `pkg/chart/v2/util/dependencies.go` `ProcessDependencies`.
///
/// # Errors
/// When a subchart's values are no map.
pub fn process(chart: &mut Chart, user: &Values, notices: &mut Notices) -> Result<(), Error> {
    let place = chart.metadata.name.clone();
    let mut twins = Twins::of(chart, notices.helm());
    enable(chart, user, "", &place, (notices, &mut twins))?;
    import(chart, notices, &mut twins)?;
    twins.settle(chart);
    Ok(())
}

/// The names of dependencies that Chart.yaml lists and `charts/` lacks.
#[must_use]
pub fn missing(chart: &Chart) -> Vec<&str> {
    let present = |name: &str| chart.dependencies.iter().any(|sub| sub.metadata.name == name);
    chart
        .metadata
        .dependencies
        .iter()
        .map(|entry| entry.name.as_str())
        .filter(|name| !present(name))
        .collect()
}

/// Whether a version satisfies a constraint; `false` when either can't be read.
#[must_use]
pub fn is_compatible(constraint: &str, version: &str, helm: Helm) -> bool {
    match (Version::parse_lenient(version), Constraint::parse(constraint)) {
        (Ok(version), Ok(constraint)) => constraint.check_as(&version, helm.semver()),
        _ => false,
    }
}

/// What a walk over the charts writes to.
type Books<'a> = (&'a mut Notices, &'a mut Twins);

fn enable(
    chart: &mut Chart,
    user: &Values,
    path: &str,
    place: &str,
    (notices, twins): Books<'_>,
) -> Result<(), Error> {
    twins.recall(chart);
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let (subcharts, origins) = select(chart, place, notices.helm());
    chart.dependencies = subcharts;
    for entry in &mut chart.metadata.dependencies {
        take_alias(entry);
        entry.enabled = Some(true);
    }
    let merged = values::coalesce(chart, user, notices)?;
    apply_tags(&mut chart.metadata.dependencies, &merged, notices);
    apply_conditions(&mut chart.metadata.dependencies, &merged, path, notices);
    twins.keep_entries(&chart.metadata.dependencies);
    let origins = drop_disabled(chart, origins);
    descend(chart, &origins, &merged, path, place, (notices, twins))?;
    chart.metadata.dependencies.retain(|entry| entry.enabled == Some(true));
    for subchart in &mut chart.dependencies {
        subchart.parent_path = None;
    }
    twins.keep(chart);
    Ok(())
}

/// The subcharts that remain: those Chart.yaml does not list, then one per entry. Each with its place in `charts/`.
fn select(chart: &mut Chart, place: &str, helm: Helm) -> (Vec<Chart>, Vec<usize>) {
    let mut pool = Pool::new(std::mem::take(&mut chart.dependencies));
    let chosen = choose(&chart.metadata.dependencies, &pool.charts(), helm);
    for (origin, _) in &chosen {
        pool.announce(*origin);
    }
    let take = |(origin, entry): (usize, Option<&Dependency>)| {
        let sub = pool.take(origin)?;
        let own = match entry {
            Some(entry) => aliased(sub, entry, place, helm.shares_aliased_subcharts()),
            None => sub,
        };
        Some((own, origin))
    };
    chosen.into_iter().filter_map(take).unzip()
}

/// Places in `charts/`, with the entry that a subchart is taken for.
fn choose<'e, 'c>(
    entries: &'e [Dependency],
    all: &(impl Iterator<Item = &'c Chart> + Clone),
    helm: Helm,
) -> Vec<(usize, Option<&'e Dependency>)> {
    let fits = |entry: &Dependency, sub: &Chart| {
        sub.metadata.name == entry.name && is_compatible(&entry.version, &sub.metadata.version, helm)
    };
    let listed = |sub: &Chart| entries.iter().any(|entry| fits(entry, sub));
    let unlisted = all.clone().enumerate().filter(|(_, sub)| !listed(sub)).map(|(origin, _)| (origin, None));
    let found = |entry| Some((all.clone().position(|sub| fits(entry, sub))?, Some(entry)));
    unlisted.chain(entries.iter().filter_map(found)).collect()
}

/// Charts that are copied only when they are needed again.
struct Pool(Vec<(Option<Chart>, usize)>);

impl Pool {
    fn new(charts: Vec<Chart>) -> Self {
        Self(charts.into_iter().map(|chart| (Some(chart), 0)).collect())
    }

    fn charts(&self) -> impl Iterator<Item = &Chart> + Clone {
        self.0.iter().filter_map(|(chart, _)| chart.as_ref())
    }

    fn announce(&mut self, at: usize) {
        if let Some((_, uses)) = self.0.get_mut(at) {
            *uses += 1;
        }
    }

    fn take(&mut self, at: usize) -> Option<Chart> {
        let (chart, uses) = self.0.get_mut(at)?;
        *uses = uses.saturating_sub(1);
        if *uses == 0 { chart.take() } else { chart.clone() }
    }
}

/// A subchart under the name of its entry.
fn aliased(sub: Chart, entry: &Dependency, place: &str, shallow: bool) -> Chart {
    let mut copy = Chart { identity: 0, ..sub };
    if entry.alias.is_empty() {
        return copy;
    }
    // Helm copies one chart (version 4: one more level); what lies below keeps pointing to the original parents.
    let original = format!("{place}/charts/{}", copy.metadata.name);
    for child in &mut copy.dependencies {
        if shallow {
            child.parent_path = Some(original.clone());
            continue;
        }
        let parent = format!("{original}/charts/{}", child.metadata.name);
        for grandchild in &mut child.dependencies {
            grandchild.parent_path = Some(parent.clone());
        }
    }
    copy.metadata.name.clone_from(&entry.alias);
    copy
}

fn take_alias(entry: &mut Dependency) {
    if !entry.alias.is_empty() {
        entry.name.clone_from(&entry.alias);
    }
}

fn drop_disabled(chart: &mut Chart, origins: Vec<usize>) -> Vec<usize> {
    let disabled: Vec<_> =
        chart.metadata.dependencies.iter().filter(|entry| entry.enabled != Some(true)).collect();
    let keeps = |sub: &Chart| !disabled.iter().any(|entry| entry.name == sub.metadata.name);
    let pairs = std::mem::take(&mut chart.dependencies).into_iter().zip(origins);
    let (kept, origins) = pairs.filter(|(sub, _)| keeps(sub)).unzip();
    chart.dependencies = kept;
    origins
}

fn descend(
    chart: &mut Chart,
    origins: &[usize],
    merged: &Values,
    path: &str,
    place: &str,
    (notices, twins): Books<'_>,
) -> Result<(), Error> {
    let shares = notices.helm().shares_aliased_subcharts();
    let lists: Vec<_> = chart.dependencies.iter().map(|sub| !sub.metadata.dependencies.is_empty()).collect();
    for subchart in &mut chart.dependencies {
        let name = subchart.metadata.name.clone();
        let subplace = format!("{place}/charts/{name}");
        enable(subchart, merged, &format!("{path}{name}."), &subplace, (notices, twins))?;
    }
    if shares {
        move_to_last_twin(&mut chart.dependencies, origins, &lists, place);
    }
    Ok(())
}

/// In Helm 3 charts below an aliased subchart that no entry names are one object for all aliases: its parent is the
/// alias that was processed last. Without any entry nothing below is touched.
fn move_to_last_twin(subcharts: &mut [Chart], origins: &[usize], lists: &[bool], place: &str) {
    for (index, (origin, _)) in origins.iter().zip(lists).enumerate().filter(|(_, (_, lists))| **lists) {
        let last = origins.iter().rposition(|other| other == origin).filter(|last| *last > index);
        let Some(parent) = last.and_then(|last| subcharts.get(last)) else { continue };
        let path = format!("{place}/charts/{}", parent.metadata.name);
        let Some(subchart) = subcharts.get_mut(index) else { continue };
        for child in subchart.dependencies.iter_mut().filter(|child| child.identity != 0) {
            child.parent_path = Some(path.clone());
        }
    }
}

fn apply_tags(entries: &mut [Dependency], merged: &Values, notices: &mut Notices) {
    let Ok(tags) = values::table(merged, "tags") else { return };
    for entry in entries {
        let (mut any_true, mut any_false) = (false, false);
        for tag in &entry.tags {
            match tags.get(tag) {
                None => {}
                Some(Value::Bool(true)) => any_true = true,
                Some(Value::Bool(false)) => any_false = true,
                Some(_) => {
                    let text =
                        format!("Warning: Tag '{tag}' for chart {} returned non-bool value", entry.name);
                    let attributes = [("tag", tag.as_str()), ("chart", &entry.name)];
                    notices.warn("dependencies.go:95", &text, "returned non-bool value", &attributes);
                }
            }
        }
        entry.enabled = Some(any_true || !any_false);
    }
}

fn apply_conditions(entries: &mut [Dependency], merged: &Values, path: &str, notices: &mut Notices) {
    for entry in entries {
        for condition in entry.condition.trim().split(',').filter(|condition| !condition.is_empty()) {
            match values::leaf(merged, &format!("{path}{condition}")) {
                None => {}
                Some(Value::Bool(enabled)) => {
                    entry.enabled = Some(*enabled);
                    break;
                }
                Some(_) => {
                    let name = &entry.name;
                    let text = format!(
                        "Warning: Condition path '{condition}' for chart {name} returned non-bool value"
                    );
                    let attributes = [("path", condition), ("chart", name)];
                    notices.warn("dependencies.go:64", &text, "returned non-bool value", &attributes);
                }
            }
        }
    }
}

/// Takes over the values that subcharts export, deepest charts first.
fn import(chart: &mut Chart, notices: &mut Notices, twins: &mut Twins) -> Result<(), Error> {
    twins.recall(chart);
    for subchart in &mut chart.dependencies {
        import(subchart, notices, twins)?;
    }
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let mut merged = values::merge(chart, &Values::new(), notices)?;
    let mut imported = Values::new();
    for entry in &mut chart.metadata.dependencies {
        let mut wishes = std::mem::take(&mut entry.import_values);
        if twins.has_imported(entry) {
            wishes.clear();
        }
        for wish in wishes.iter().filter_map(Import::read) {
            wish.apply(&entry.name, &merged, &mut imported, notices);
            entry.import_values.push(wish.as_value());
        }
    }
    twins.keep_entries(&chart.metadata.dependencies);
    values::merge_tables(&mut merged, imported, notices);
    chart.values = merged;
    twins.keep(chart);
    Ok(())
}

/// One item of `import-values`.
struct Import {
    child: String,
    parent: String,
    /// Whether it was a plain name, that is a key of `exports`.
    exported: bool,
}

impl Import {
    fn read(item: &Value) -> Option<Self> {
        match item {
            Value::String(name) => {
                Some(Self { child: format!("exports.{name}"), parent: ".".to_owned(), exported: true })
            }
            Value::Object(map) => {
                let text = |key| print(map.get(key).unwrap_or(&Value::Null));
                Some(Self { child: text("child"), parent: text("parent"), exported: false })
            }
            _ => None,
        }
    }

    fn as_value(&self) -> Value {
        serde_json::json!({ "child": self.child, "parent": self.parent })
    }

    fn apply(&self, subchart: &str, merged: &Values, imported: &mut Values, notices: &mut Notices) {
        match values::table(merged, &format!("{subchart}.{}", self.child)) {
            Ok(table) => values::merge_tables(imported, self.placed(table.clone()), notices),
            Err(part) => self.warn(subchart, &part, notices),
        }
    }

    /// The child's table below the parent's path.
    fn placed(&self, table: Values) -> Values {
        if self.parent == "." {
            return table;
        }
        let wrap = |inner: Values, part: &str| {
            let mut outer = Map::new();
            outer.insert(part.to_owned(), Value::Object(inner));
            outer
        };
        self.parent.rsplit('.').fold(table, wrap)
    }

    fn warn(&self, subchart: &str, part: &str, notices: &mut Notices) {
        let error = format!("\"{part}\" is not a table");
        if self.exported {
            let text = format!("Warning: ImportValues missing table: {error}");
            notices.warn("dependencies.go:287", &text, "ImportValues missing table", &[("error", &error)]);
        } else {
            let text = format!("Warning: ImportValues missing table from chart {subchart}: {error}");
            let attributes = [("chart", subchart), ("error", error.as_str())];
            notices.warn("dependencies.go:270", &text, "ImportValues missing table from chart", &attributes);
        }
    }
}
