//! What aliases of one chart have in common under Helm 3: it copies the chart alone, so the entries of its dependencies
//! and the charts below it that no entry names are the same objects for all of them.

use std::collections::{HashMap, HashSet};

use super::super::{Chart, Dependency, Helm};

/// The state of shared entries and charts, by their number; a number of 0 is nobody's.
#[derive(Default)]
pub(super) struct Twins {
    last: u32,
    entries: HashMap<u32, Dependency>,
    charts: HashMap<u32, Chart>,
    imported: HashSet<u32>,
}

impl Twins {
    /// Numbers what may be shared; nothing where no chart is taken twice.
    pub(super) fn of(chart: &mut Chart, helm: Helm) -> Self {
        let mut twins = Self::default();
        if helm.shares_aliased_subcharts() && has_twins(chart) {
            twins.number(chart);
        }
        twins
    }

    fn number(&mut self, chart: &mut Chart) {
        chart.identity = self.next();
        for entry in &mut chart.metadata.dependencies {
            entry.identity = self.next();
        }
        for subchart in &mut chart.dependencies {
            self.number(subchart);
        }
    }

    fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Brings a chart to the state that another alias left it in.
    pub(super) fn recall(&self, chart: &mut Chart) {
        if let Some(known) = self.charts.get(&chart.identity) {
            let place = chart.parent_path.take();
            *chart = Chart { parent_path: place, ..known.clone() };
        }
        for entry in &mut chart.metadata.dependencies {
            if let Some(known) = self.entries.get(&entry.identity) {
                entry.clone_from(known);
            }
        }
    }

    /// Keeps the state of entries for the next alias.
    pub(super) fn keep_entries(&mut self, entries: &[Dependency]) {
        let shared = entries.iter().filter(|entry| entry.identity != 0);
        self.entries.extend(shared.map(|entry| (entry.identity, entry.clone())));
    }

    /// Keeps the state of a chart for the next alias.
    pub(super) fn keep(&mut self, chart: &Chart) {
        if chart.identity != 0 {
            self.charts.insert(chart.identity, chart.clone());
        }
    }

    /// Whether the wishes of an entry are Helm's own already, which it doesn't know again: the second alias imports
    /// nothing.
    pub(super) fn has_imported(&mut self, entry: &Dependency) -> bool {
        entry.identity != 0 && !self.imported.insert(entry.identity)
    }

    /// Gives all aliases the last state.
    pub(super) fn settle(&self, chart: &mut Chart) {
        if self.last == 0 {
            return;
        }
        self.recall(chart);
        for subchart in &mut chart.dependencies {
            self.settle(subchart);
        }
    }
}

fn has_twins(chart: &Chart) -> bool {
    let mut names = HashSet::new();
    let twice = chart.metadata.dependencies.iter().any(|entry| !names.insert(&entry.name));
    twice || chart.dependencies.iter().any(has_twins)
}

#[cfg(test)]
mod tests {
    use super::super::super::notice::Notices;
    use super::super::super::{File, Values};
    use super::super::process;
    use super::*;
    use crate::limits::Limits;

    const FILES: &[(&str, &str)] = &[
        (
            "Chart.yaml",
            "name: demo\nversion: 1.0.0\ndependencies:\n- {name: sub, version: 1.x, alias: one}\n- {name: sub, version: 1.x}\n",
        ),
        (
            "charts/sub/Chart.yaml",
            "name: sub\nversion: 1.0.0\ndependencies:\n- {name: inner, version: 1.x, import-values: [a, none]}\n",
        ),
        ("charts/sub/charts/inner/Chart.yaml", "name: inner\nversion: 1.0.0\n"),
        ("charts/sub/charts/inner/values.yaml", "exports: {a: {x: 1}}\n"),
    ];

    /// Whether each alias has the imported value, and the warnings.
    fn processed(helm: Helm) -> (Vec<bool>, usize) {
        let file =
            |(path, text): &(&str, &str)| File { path: (*path).to_owned(), data: text.as_bytes().into() };
        let limits = Limits::default();
        let mut chart = Chart::from_files(FILES.iter().map(file).collect(), helm, &limits).unwrap();
        let mut notices = Notices::new(helm);
        process(&mut chart, &Values::new(), &mut notices).unwrap();
        let imported = chart.dependencies.iter().map(|sub| sub.values.contains_key("x")).collect();
        (imported, notices.into_lines().len())
    }

    #[test]
    fn the_second_alias_of_helm_3_imports_nothing() {
        assert_eq!(processed(Helm::V3), (vec![true, false], 1));
        assert_eq!(processed(Helm::V4), (vec![true, true], 2));
    }
}
