//! Where the releases of Helm part ways in what they print: the one table, which the code asks by name.
//!
//! docs/helm-versions.md is made of it.

use std::fmt;
use std::ops::Range;

use super::Helm;

/// A release: major, minor and patch.
type Release = (u8, u8, u8);

/// Releases from one on up to, and without, another.
type Span = Range<Release>;

/// Helm 4 began.
const FOUR: Release = (4, 0, 0);
/// No release so far.
const END: Release = (u8::MAX, 0, 0);
/// The first release that is known here.
const BEGIN: Release = (3, 14, 0);

/// One thing that some releases do and others do not.
#[derive(Clone, Debug)]
pub struct Difference {
    /// By which the code asks.
    pub name: &'static str,
    /// What these releases do.
    pub what: &'static str,
    /// Which releases.
    spans: &'static [Span],
}

macro_rules! differences {
    ($($(#[doc = $what:literal])+ $name:ident: $spans:expr;)+) => {
        impl Helm {
            $(
                $(#[doc = $what])+
                #[must_use]
                pub fn $name(self) -> bool {
                    const SPANS: &[Span] = &$spans;
                    self.is_within(SPANS)
                }
            )+
        }

        /// All differences, by subject.
        pub const DIFFERENCES: &[Difference] = &[
            $(Difference { name: stringify!($name), what: concat!($($what),+), spans: &$spans }),+
        ];
    };
}

differences! {
    /// Values files may hold several documents; later ones win.
    reads_document_streams: [FOUR..END];
    /// Nulls among a chart's own defaults never reach the templates.
    drops_default_nulls: [(4, 2, 0)..END];
    /// A user's null below the top level removes its key even where the chart has null there too; where a subchart has a table,
    /// it is warned of.
    takes_nulls_for_any_default: [BEGIN..(3, 19, 5)];
    /// A user's null for a subchart's value stays for the subchart to see, where the parent has a default for it.
    keeps_nulls_for_subcharts: [(3, 17, 1)..END];
    /// A user's null below the top level vanishes even where the chart has no such key.
    drops_all_nested_nulls: [(3, 19, 5)..(3, 20, 1), FOUR..(4, 1, 3)];
    /// `--set-json` takes a whole object.
    takes_whole_json: [FOUR..END];
    /// `--set 'a[0'` ends like a text that is complete.
    ends_at_open_index: [(4, 1, 0)..END];

    /// A second alias of one subchart shares what the first one changed.
    shares_aliased_subcharts: [BEGIN..FOUR];
    /// A `requirements.lock` beside a chart of version 2 is warned of.
    warns_of_old_locks: [(3, 15, 0)..END];
    /// A single file of an archive is bounded besides the whole archive.
    bounds_single_files: [(3, 17, 3)..(4, 3, 0)];
    /// A chart's format is looked at before it is loaded, and has refusals of its own.
    detects_formats: [FOUR..END];
    /// Errors name Go packages and sizes by a new, short name.
    has_short_packages: [FOUR..END];

    /// `.Values` and `.Capabilities` are of types of a package `common`.
    names_common_types: [FOUR..END];
    /// `.Chart` is a map by Go's field names, and what it lacks is empty.
    maps_metadata: [FOUR..END];
    /// `.Capabilities.HelmVersion` has `KubeClientVersion`.
    tells_client_version: [FOUR..END];
    /// `--kube-version` is read as a semantic version: suffixes stay and count in comparisons, missing digits become 0.
    reads_semantic_kube_version: [BEGIN..(3, 19, 0)];
    /// A suffix of `--kube-version` stays in what is shown, but not in what constraints are compared with.
    has_normalized_kube_version: [(4, 1, 0)..END];

    /// One comparison with a prerelease opens a whole constraint (`>=1.25-0 <2`) to prereleases, and `!=` opens none; before, each
    /// comparison counts by itself and `!=` takes every prerelease. Faults of versions begin with a small letter since.
    opens_groups_to_prereleases: [(3, 19, 0)..END];
    /// Constraints that make no sense are told in quotes.
    quotes_constraints: [(3, 21, 1)..FOUR, (4, 2, 0)..END];
    /// Comparisons of what can't be compared name no types, as in Go up to 1.23, of which these releases are built.
    compares_without_types: [BEGIN..(3, 18, 0)];
    /// Functions of Sprig 3.2.3: no `sha512sum`, `camelcase` leaves capitals that follow each other, and `mergeOverwrite` keeps
    /// what is no map where a map would replace it.
    has_old_sprig: [BEGIN..(3, 16, 0)];
    /// Functions `fromToml` and `toYamlPretty`.
    has_from_toml: [(3, 17, 0)..END];
    /// Functions `mustToYaml` and `mustToJson` of Helm's own.
    has_must_to_yaml: [FOUR..END];
    /// Function `mustToToml`.
    has_must_to_toml: [(4, 2, 0)..END];
    /// Functions `mustToDuration` and `duration…`.
    has_durations: [(4, 3, 0)..END];
    /// `.Files.Lines` of an empty file stops the render.
    stops_at_empty_lines: [BEGIN..(3, 21, 4), FOUR..(4, 3, 0)];

    /// Webhook configurations have a place at the end of the install order; elsewhere they are as unknown kinds.
    ranks_webhooks: [FOUR..END];
    /// Documents keep what stands at their ends, as only lines of `---` are cut out.
    splits_by_lines: [(4, 2, 4)..END];
    /// The last document of each file keeps the line breaks at its end.
    keeps_ends_of_files: [(4, 2, 0)..(4, 2, 4)];

    /// Values are checked by gojsonschema: drafts 4, 6 and 7, formats included, with words of its own.
    checks_by_gojsonschema: [BEGIN..(3, 18, 5)];

    /// What is wrong with the name of a value is told with the place of the values.
    places_property_names: [(3, 22, 0)..FOUR, (4, 3, 0)..END];

    /// Errors of a template are told in lines, one template after the other.
    traces_errors: [FOUR..END];
    /// Some errors are logged before they end the command.
    logs_failures: [FOUR..END];
    /// The records of such errors stand inside of others.
    logs_in_logs: [FOUR..(4, 0, 1)];
    /// Warnings are records (`level=…`) instead of lines that begin with a place in Helm's source.
    logs_records: [FOUR..END];
    /// `An error occurred while checking for chart dependencies` begins with a capital.
    has_capital_errors: [BEGIN..FOUR];
    /// `'helm dependency build'` is quoted by apostrophes.
    quotes_commands_plainly: [(4, 2, 0)..END];

    /// Flags of Helm 4, its protests against those of Helm 3, and `--dry-run` and `--wait` by its rules.
    has_new_flags: [FOUR..END];
    /// `--skip-schema-validation` and `--hide-notes`.
    has_flags_of_3_16: [(3, 16, 0)..END];
    /// `--take-ownership`.
    has_take_ownership: [(3, 17, 0)..END];
    /// `--atomic` is unknown.
    lacks_atomic: [FOUR..(4, 1, 1)];
    /// `--wait=hookOnly`, which `--wait=false` is said to be.
    waits_for_hooks_alone: [(4, 1, 0)..END];
    /// Labels that a release may not have are `suplied`.
    misspells_labels: [BEGIN..(3, 16, 0)];
    /// `--post-renderer` names a plugin, never a program.
    takes_plugins_alone: [FOUR..END];
    /// Certificates for registries are read one by one, whichever of them are named.
    reads_keys_alone: [FOUR..END];
}

impl Helm {
    fn is_within(self, spans: &[Span]) -> bool {
        spans.iter().any(|span| span.contains(&(self.major, self.minor, self.patch)))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.spans.iter().map(shown).collect();
        f.write_str(&parts.join(", "))
    }
}

fn shown(span: &Span) -> String {
    let release = |(major, minor, patch): Release| match patch {
        0 => format!("{major}.{minor}"),
        _ => format!("{major}.{minor}.{patch}"),
    };
    match (span.start, span.end) {
        (BEGIN, FOUR) => "Helm 3".to_owned(),
        (FOUR, END) => "Helm 4".to_owned(),
        (start, END) => format!("from {}", release(start)),
        (BEGIN, end) => format!("before {}", release(end)),
        (start, end) => format!("{} until before {}", release(start), release(end)),
    }
}

/// Lines of Helm 3's source that it prints before a warning: where they are in 3.22, and up to before which release they
/// were elsewhere.
const MOVED: &[(&str, &[(Release, &str)])] = &[
    (
        "coalesce.go:316",
        &[((3, 17, 1), "coalesce.go:286"), ((3, 19, 5), "coalesce.go:298"), ((3, 20, 1), "coalesce.go:303")],
    ),
    (
        "coalesce.go:319",
        &[((3, 17, 1), "coalesce.go:289"), ((3, 19, 5), "coalesce.go:301"), ((3, 20, 1), "coalesce.go:306")],
    ),
    ("dependencies.go:64", &[((3, 18, 5), "dependencies.go:63")]),
    ("dependencies.go:95", &[((3, 18, 5), "dependencies.go:94")]),
    ("dependencies.go:270", &[((3, 18, 5), "dependencies.go:269")]),
    ("dependencies.go:287", &[((3, 18, 5), "dependencies.go:286")]),
    (
        "manifest_sorter.go:199",
        &[((3, 16, 0), "manifest_sorter.go:192"), ((3, 18, 0), "manifest_sorter.go:190")],
    ),
    ("walk.go:75", &[((3, 16, 0), "walk.go:74")]),
];

/// The place of a warning in the source of a release, by its place in that of 3.22.
#[must_use]
pub fn moved(place: &str, helm: Helm) -> &str {
    let known = MOVED.iter().find(|(now, _)| *now == place);
    let before =
        known.and_then(|(_, older)| older.iter().find(|(before, _)| helm.is_within(&[BEGIN..*before])));
    before.map_or(place, |(_, then)| then)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::helm::LINES;

    fn page() -> String {
        let mut text = String::from(
            "# Versions of Helm\n\nWhat `--helm VERSION` of `template` and `diff` (and `helm:` of golden files) stands for. \
             A version without a patch digit is the newest patch release of this list.\n\n\
             Generated from `src/chart/helm`; `UPDATE_DOCS=1 cargo test helm_versions` writes it anew.\n\n\
             | version | taken for | Kubernetes without `--kube-version` |\n| --- | --- | --- |\n",
        );
        for line in LINES {
            let newest = line.newest;
            text.push_str(&format!("| {newest} | {} | v1.{}.0 |\n", &newest.full()[1..], line.kubernetes));
        }
        text.push_str("\n## Differences\n\n| what | which | name in the code |\n| --- | --- | --- |\n");
        for difference in DIFFERENCES {
            text.push_str(&format!(
                "| {} | {difference} | `{}` |\n",
                difference.what.trim(),
                difference.name
            ));
        }
        text
    }

    #[test]
    fn the_page_of_helm_versions_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/helm-versions.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, page()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(written == page(), "docs/helm-versions.md is stale: UPDATE_DOCS=1 cargo test helm_versions");
    }

    /// What the releases printed: the differences that a case is about, the releases, and a number of each answer.
    fn recorded() -> Vec<(String, Vec<(Release, usize)>)> {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
        let read = |path: &str| std::fs::read_to_string(format!("{root}{path}")).unwrap();
        let (cases, answers) = (read("scripts/oracle/version-cases.txt"), read("golden/render/versions.tsv"));
        let case = |line: &str| {
            let (key, names) = line.rsplit_once('\t').unwrap();
            let rows =
                answers.lines().filter_map(|row| row.strip_prefix(key)?.strip_prefix('\t')).enumerate();
            let releases = rows.flat_map(|(answer, row)| {
                let releases = row.split('\t').next().unwrap_or_default().split(',');
                releases.map(move |text| {
                    let helm = Helm::parse(text).unwrap();
                    ((helm.major, helm.minor, helm.patch), answer)
                })
            });
            let mut releases: Vec<_> = releases.collect();
            releases.sort_unstable();
            assert!(!releases.is_empty(), "scripts/oracle/versions has not asked: {line}");
            (names.to_owned(), releases)
        };
        cases.lines().map(case).collect()
    }

    /// Whether the answers before and from a release on differ.
    fn parts(releases: &[(Release, usize)], at: Release) -> bool {
        let first = releases.partition_point(|(release, _)| *release < at);
        let (before, after) = (first.checked_sub(1).map(|last| releases[last].1), releases.get(first));
        before != after.map(|(_, answer)| *answer)
    }

    #[test]
    fn every_difference_is_recorded_on_both_sides() {
        // The recorded programs are built of one Go; of older ones there is a field case.
        const ELSEWHERE: &[&str] = &["compares_without_types"];
        let recorded = recorded();
        let mut unseen = Vec::new();
        for difference in DIFFERENCES.iter().filter(|known| !ELSEWHERE.contains(&known.name)) {
            let about = |names: &str| names.split(' ').any(|name| name == difference.name);
            let edges = difference.spans.iter().flat_map(|span| [span.start, span.end]);
            for edge in edges.filter(|edge| ![BEGIN, END].contains(edge)) {
                let seen = recorded.iter().any(|(names, releases)| about(names) && parts(releases, edge));
                if !seen {
                    unseen.push((difference.name, edge));
                }
            }
        }
        assert!(unseen.is_empty(), "no case of version-cases.txt shows {unseen:?}");
        let known = |name: &str| DIFFERENCES.iter().any(|difference| difference.name == name);
        for (names, _) in &recorded {
            assert!(names.split_whitespace().all(known), "unknown among {names}");
        }
    }

    #[test]
    fn every_place_of_a_warning_is_recorded() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/render/versions.tsv");
        let answers = std::fs::read_to_string(path).unwrap();
        for (now, older) in MOVED {
            for place in older.iter().map(|(_, place)| place).chain([now]) {
                assert!(answers.contains(&format!("{place}:")), "no case warns from {place}");
            }
        }
    }

    #[test]
    fn spans_begin_and_end_where_they_say() {
        for difference in DIFFERENCES {
            assert!(difference.spans.iter().all(|span| span.start < span.end), "{}", difference.name);
            assert!(difference.spans.is_sorted_by_key(|span| span.start), "{}", difference.name);
        }
        let drops = |text: &str| Helm::parse(text).unwrap().drops_all_nested_nulls();
        assert_eq!(["3.19.4", "3.19.5", "3.20.0", "3.20.1"].map(drops), [false, true, true, false]);
        assert_eq!(["3.22", "4.0", "4.1.2", "4.1.3"].map(drops), [false, true, true, false]);
    }

    #[test]
    fn warnings_come_from_the_lines_of_their_release() {
        let place =
            |text: &str| moved("coalesce.go:316", Helm::parse(text).unwrap()).replace("coalesce.go:", "");
        assert_eq!(["3.16", "3.17", "3.20.0", "3.22"].map(place), ["286", "298", "303", "316"]);
    }
}
