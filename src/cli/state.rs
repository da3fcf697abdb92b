//! `--state`: objects that already live in the cluster, from one file or a directory of files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::exit::Error;
use crate::cluster::simulated::Simulated;
use crate::finding::ObjectName;
use crate::k8s::collection::{self, Orphan};
use crate::k8s::manifests::{self, Manifest, Place};
use crate::k8s::{Gvk, catalogue, form, object_name, text};
use crate::limits::Limits;
use crate::render::Render;
use crate::render::host::Answers;
use crate::schema::{Cause, FieldError};
use crate::source::directory;
use crate::upgrade::actors::Subject;
use crate::upgrade::lookups;
use crate::upgrade::outcome::Rehearsal;
use crate::upgrade::rehearse::{Plan, State, recorded, releases};
use crate::upgrade::release::{Release, Status};

/// A state and where its objects stand.
pub(crate) struct Given {
    /// The objects.
    pub(crate) state: State,
    places: Vec<Place>,
}

impl From<manifests::Error> for Error {
    fn from(error: manifests::Error) -> Self {
        Self::new(error.message).hint(error.hint)
    }
}

/// Reads every object of a file or directory; lists are taken apart, and each object is one that can live in a cluster.
pub(crate) fn read(path: &Path, limits: &Limits) -> Result<Given, Error> {
    let (objects, places) = collection::checked(manifests_of(path, limits)?)?
        .into_iter()
        .map(|Manifest { object, place }| (object, place))
        .unzip();
    Ok(Given { state: State { name: path.display().to_string(), objects }, places })
}

/// Answers to `lookup` from files and directories together; `None` where there are none.
pub(crate) fn answers(paths: &[PathBuf], limits: &Limits) -> Result<Option<Arc<dyn Answers>>, Error> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for path in paths {
        found.extend(manifests_of(path, limits)?);
    }
    let objects = collection::checked(found)?.into_iter().map(|manifest| Arc::new(manifest.object));
    Ok(Some(lookups::among(objects.collect())))
}

fn manifests_of(path: &Path, limits: &Limits) -> Result<Vec<Manifest>, Error> {
    let mut found = Vec::new();
    if path.is_dir() {
        for (name, data) in directory::read(path, limits)? {
            if [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end)) {
                found.extend(manifests::read(&format!("{}/{name}", path.display()), &data, limits)?);
            }
        }
    } else {
        let data = directory::read_file(path, limits.chart_bytes)
            .map_err(|error| Error::new(format!("`--state`: {}", error.message)).hint(error.hint))?;
        found = manifests::read(&path.display().to_string(), &data, limits)?;
    }
    if found.is_empty() {
        return Err(Error::new(format!("{}: no Kubernetes object in it", path.display()))
            .hint("docs/state.md has the command that writes one."));
    }
    Ok(found)
}

impl Given {
    /// Whether custom objects are in a namespace or outside of all as their definitions say, those of the state or those
    /// that the old chart brings.
    pub(crate) fn placed(&self, before: &Render) -> Result<(), Error> {
        let of_chart = before.crds.iter().flat_map(|file| file.objects.iter());
        let of_chart = of_chart.chain(before.manifests.iter().map(|manifest| &*manifest.object));
        let scopes: BTreeMap<(&str, &str), bool> =
            of_chart.map(|object| &**object).chain(&self.state.objects).filter_map(scope).collect();
        for (object, place) in self.state.objects.iter().zip(&self.places) {
            let Gvk { group, kind, .. } = Gvk::of(object);
            let custom = catalogue::by_kind(&group, &kind).is_none();
            if let Some(namespaced) = scopes.get(&(group.as_str(), kind.as_str())).filter(|_| custom) {
                form::scope(object, *namespaced).map_err(|fault| place.fault(&fault))?;
            }
        }
        Ok(())
    }

    /// Lines about objects that a server of this version would not take as they stand, though an older one may have.
    ///
    /// # Errors
    /// The first object that no server ever held: one without what its kind can't be without, or with metadata that was
    /// never allowed.
    pub(crate) fn held(&self, kubernetes: &str) -> Result<Vec<String>, Error> {
        let server = Simulated::new(kubernetes);
        let mut lines = Vec::new();
        for (object, place) in self.state.objects.iter().zip(&self.places) {
            let faults = server.faults(object);
            let Some(first) = faults.iter().find(|fault| is_beyond(object, fault)).or(faults.first()) else {
                continue;
            };
            let name = object_name(object);
            if is_beyond(object, first) {
                let message = format!("{name}: no server holds it so: {first}");
                return Err(place
                    .fault(&form::Fault { pointer: pointer(&first.field), message, hint: BEYOND })
                    .into());
            }
            let more =
                if faults.len() > 1 { format!(" and {} more", faults.len() - 1) } else { String::new() };
            let at = place.at(&pointer(&first.field));
            lines.push(format!(
                "{name} ({at}): Kubernetes {kubernetes} would not take it so: {first}{more}; it was taken as it stands, and \
                 what would follow from that could not be checked"
            ));
        }
        Ok(lines)
    }

    /// Whether the release that the state records is the one on the command line; lines on what it can't tell.
    pub(crate) fn agrees(&self, plan: &Plan) -> Result<Vec<String>, Error> {
        let Subject { release, namespace } = &plan.subject;
        let recorded = recorded(&self.state.objects, &plan.subject);
        let last = |one: &&Release| (one.status == Status::Deployed, one.revision);
        let Some(installed) = recorded.iter().max_by_key(last) else { return self.of_others(plan) };
        let (known, named) = (&installed.render.chart.metadata, &plan.before.metadata);
        if (&known.name, &known.version) == (&named.name, &named.version) {
            return Ok(Vec::new());
        }
        let message = format!(
            "{}: release {release} in {namespace} was made from chart {} {}, and the old chart is {} {}",
            self.state.name, known.name, known.version, named.name, named.version
        );
        Err(Error::new(message).hint("Name the chart that is installed as BEFORE, or take the release's records (Secrets of type helm.sh/release.v1) out of the state."))
    }

    /// A state with records of other releases alone hints at a release or namespace that was not meant; where one of them
    /// is of the same chart, there is no doubt.
    fn of_others(&self, plan: &Plan) -> Result<Vec<String>, Error> {
        let Subject { release, namespace } = &plan.subject;
        let others: Vec<Subject> = releases(&self.state.objects)
            .into_iter()
            .map(|(namespace, release)| Subject { release, namespace })
            .collect();
        let named: Vec<String> =
            others.iter().map(|one| format!("{} in {}", one.release, one.namespace)).collect();
        let line = format!(
            "release {release} in {namespace}: the state has no record of it, only of {}",
            named.join(", ")
        );
        let name = &plan.before.metadata.name;
        let is_same = |one: &Release| one.render.chart.metadata.name == *name;
        if others.iter().any(|one| recorded(&self.state.objects, one).iter().any(is_same)) {
            let hint = "Name the installed release by --release and -n, or take the records of the others (Secrets of type helm.sh/release.v1) out of the state.";
            return Err(Error::new(format!("{}: {line}", self.state.name)).hint(hint));
        }
        let line = format!("{line}; the old chart was installed under that name first");
        Ok(if others.is_empty() { Vec::new() } else { vec![line] })
    }

    /// Objects that no rehearsal has, because their owners are not in the state: as in a cluster they are deleted at once.
    pub(crate) fn collected(&self, rehearsals: &[Rehearsal]) -> Vec<String> {
        let alive: BTreeSet<&ObjectName> =
            rehearsals.iter().flat_map(|rehearsal| &rehearsal.population).collect();
        let gone = |orphan: &Orphan| !alive.is_empty() && !alive.contains(&orphan.name);
        let orphans = collection::orphans(self.state.objects.iter()).into_iter().filter(gone);
        let mut by_kind: BTreeMap<String, Vec<Orphan>> = BTreeMap::new();
        orphans.for_each(|orphan| by_kind.entry(orphan.name.kind.clone()).or_default().push(orphan));
        by_kind.values().filter_map(|orphans| told(orphans)).collect()
    }
}

const BEYOND: &str = "Write the state with `kubectl get -o yaml`, or put the object right.";

/// Whether an object with this fault was never taken by any server. Schemas were looked at less closely once, and who
/// hands Secrets in may have emptied them.
fn is_beyond(object: &Value, fault: &FieldError) -> bool {
    let doubtful = matches!(text(object, "/kind"), "Secret" | "ConfigMap" | "CustomResourceDefinition");
    fault.field.starts_with("metadata.") || fault.cause == Cause::Required && !doubtful
}

/// Where a field stands that the server names, as far as its name says so.
fn pointer(field: &str) -> String {
    let field = field.replace("spec.validation.openAPIV3Schema", "spec.versions[0].schema.openAPIV3Schema");
    format!("/{}", field.replace('[', ".").replace(']', "").replace('.', "/"))
}

/// Orphans of one kind, in a line.
fn told(orphans: &[Orphan]) -> Option<String> {
    let (Orphan { name, owner }, rest) = orphans.split_first()?;
    let more =
        if rest.is_empty() { String::new() } else { format!(" and {} more {}", rest.len(), name.kind) };
    Some(format!(
        "{name}{more}: deleted at once by the garbage collector, as no owner is in the state ({owner}); hand the owners in too, or take metadata.ownerReferences out"
    ))
}

/// Group and kind that a definition defines, and whether objects live in namespaces.
fn scope(object: &Value) -> Option<((&str, &str), bool)> {
    let is_definition = text(object, "/kind") == "CustomResourceDefinition";
    let kind = (text(object, "/spec/group"), text(object, "/spec/names/kind"));
    is_definition.then(|| (kind, text(object, "/spec/scope") == "Namespaced"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str) -> String {
        format!("{{kind: ConfigMap, apiVersion: v1, metadata: {{name: {name}, namespace: ns}}}}")
    }

    #[test]
    fn lists_and_documents_are_read_and_nonsense_is_named_by_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.yaml");
        let list = format!("kind: List\napiVersion: v1\nitems:\n- {}\n- {}\n---\n", map("a"), map("b"));
        std::fs::write(&path, format!("{list}{}\n", map("c"))).unwrap();
        assert_eq!(read(&path, &Limits::default()).unwrap().state.objects.len(), 3);
        assert_eq!(read(dir.path(), &Limits::default()).unwrap().state.objects.len(), 3);
        std::fs::write(&path, format!("{}\n---\n[1, 2]\n", map("a"))).unwrap();
        let error = read(&path, &Limits::default()).err().unwrap();
        let wanted = format!("{}:3: document 2: a list, not a Kubernetes object", path.display());
        assert_eq!(error.message, wanted);
        std::fs::write(&path, "").unwrap();
        assert!(read(&path, &Limits::default()).is_err());
    }

    #[test]
    fn an_object_is_in_one_file_of_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.yaml"), map("a")).unwrap();
        std::fs::write(dir.path().join("b.json"), map("a")).unwrap();
        let error = read(dir.path(), &Limits::default()).err().unwrap().message;
        assert!(error.contains("b.json:1: document 1: ConfigMap a in ns is there twice, as in "), "{error}");
        assert!(error.ends_with("a.yaml:1: document 1"), "{error}");
    }

    fn held(text: &str) -> Result<Vec<String>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.yaml");
        std::fs::write(&path, text).unwrap();
        let given = read(&path, &Limits::default()).map_err(|error| error.message)?;
        let cut = |text: String| text.replace(&format!("{}/", dir.path().display()), "");
        let lines = given.held("v1.34.3").map_err(|error| cut(error.message))?;
        Ok(lines.into_iter().map(cut).collect())
    }

    #[test]
    fn what_no_server_held_is_an_error_and_what_an_older_one_may_hold_a_line() {
        let labelled =
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: ns\n  labels: {a b: c}\n";
        let error = held(&format!("{}\n---\n{labelled}", map("x"))).unwrap_err();
        assert!(
            error.starts_with("s.yaml:8: document 2: ConfigMap/ns/a: no server holds it so: metadata.labels: Invalid value: \"a b\""),
            "{error}"
        );
        let empty =
            held("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ns}\n").unwrap_err();
        assert!(empty.ends_with("no server holds it so: spec.selector: Required value"), "{empty}");
        let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.test}\nspec:\n  group: example.test\n  names: {kind: Widget, plural: widgets}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema: {type: foo}\n";
        let lines = held(definition).unwrap();
        assert!(lines[0].starts_with("CustomResourceDefinition//widgets.example.test (s.yaml:13): Kubernetes v1.34.3 would not take it so"), "{lines:?}");
        // Who hands Secrets in may have emptied them.
        let secret = held(
            "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nmetadata: {name: a, namespace: ns}\n",
        )
        .unwrap();
        assert_eq!(secret.len(), 1, "{secret:?}");
    }
}
