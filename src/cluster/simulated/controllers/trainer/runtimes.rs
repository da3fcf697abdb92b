//! The finalizer on runtimes: set and lifted by use up to 2.2, stripped from all of them by 2.3.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::super::api::Api;
use super::super::managers::Version;
use super::super::owner;
use super::{GROUP, runtime_of};
use crate::cluster::{PatchType, Request};
use crate::k8s::At as _;
use crate::k8s::text;

/// What keeps a runtime that TrainJobs refer to.
const IN_USE: &str = "trainer.kubeflow.org/resource-in-use";

/// Brings the finalizers of all runtimes in order, as a version does it.
pub(super) fn sync(api: &mut Api<'_>, version: Version) {
    for kind in ["ClusterTrainingRuntime", "TrainingRuntime"] {
        let runtimes: Vec<Arc<Value>> = api.list(GROUP, kind, "").cloned().collect();
        for runtime in runtimes {
            let held = finalizers(&runtime).iter().any(|f| f == IN_USE);
            if version >= (2, 3) {
                if held {
                    set(api, &runtime, kind, false);
                }
                continue;
            }
            let used = referenced(api, kind, &runtime);
            if used && !held && !owner::terminating(&runtime) {
                set(api, &runtime, kind, true);
            } else if held && !used && owner::terminating(&runtime) {
                set(api, &runtime, kind, false);
            }
        }
    }
}

/// Whether a runtime that is being deleted waits for its finalizer.
pub(super) fn leaving(api: &Api<'_>) -> bool {
    let held =
        |runtime: &Arc<Value>| owner::terminating(runtime) && finalizers(runtime).iter().any(|f| f == IN_USE);
    ["ClusterTrainingRuntime", "TrainingRuntime"].iter().any(|kind| api.list(GROUP, kind, "").any(held))
}

fn finalizers(object: &Value) -> Vec<String> {
    let list = object.at("/metadata/finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|f| f.as_str().map(str::to_owned)).collect()
}

fn referenced(api: &Api<'_>, kind: &str, runtime: &Value) -> bool {
    let wanted = (kind, text(runtime, "/metadata/namespace"), text(runtime, "/metadata/name"));
    api.list(GROUP, "TrainJob", "").any(|job| runtime_of(job) == wanted)
}

fn set(api: &mut Api<'_>, runtime: &Value, kind: &str, held: bool) {
    let mut list = finalizers(runtime);
    list.retain(|f| f != IN_USE);
    if held {
        list.push(IN_USE.to_owned());
    }
    let value = if list.is_empty() { Value::Null } else { json!(list) };
    let Some(served) = api.resource(GROUP, kind) else { return };
    let patch = Arc::new(json!({"metadata": {"finalizers": value}}));
    let (namespace, name) = (text(runtime, "/metadata/namespace"), text(runtime, "/metadata/name"));
    api.send(&Request::patch(&served.resource, namespace, name, PatchType::Merge, patch));
}
