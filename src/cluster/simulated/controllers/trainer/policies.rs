//! What the ML policy of a runtime adds to its JobSet: torch, JAX, XGBoost, MPI.
//!
//! Source of behaviour: `pkg/runtime/framework/plugins/{torch,jax,xgboost,mpi,plainml}`.

use serde_json::{Value, json};

use super::super::owner;
use super::super::status::number;
use super::rendering::{CONTAINERS, Draft, ancestor, list, node_container, set_env, upsert};
use crate::k8s::At as _;
use crate::k8s::text;

/// The port of the first node.
const PORT: i64 = 29_500;
/// Where a pod finds its number.
const INDEX: &str = "metadata.annotations['batch.kubernetes.io/job-completion-index']";

/// Applies the policy of a runtime.
pub(super) fn enforce(draft: &mut Draft<'_>) -> Result<(), String> {
    let has = |field: &str| draft.policy.get(field).is_some_and(|p| !p.is_null());
    let (torch, jax, xgboost, mpi) = (has("torch"), has("jax"), has("xgboost"), has("mpi"));
    if !mpi {
        nodes(draft);
    }
    if torch {
        self::torch(draft);
    }
    if jax {
        self::jax(draft);
    }
    if xgboost {
        self::xgboost(draft);
    }
    if mpi {
        self::mpi(draft)?;
    }
    Ok(())
}

/// The TrainJob's number of nodes.
fn nodes(draft: &mut Draft<'_>) {
    if let (Some(at), Some(wanted)) = (draft.trainer_at(), number(draft.job, "/spec/trainer/numNodes"))
        && let Some(count) = draft.counts.get_mut(at)
    {
        *count = wanted;
    }
}

fn node_count(draft: &Draft<'_>) -> i64 {
    draft.trainer_at().and_then(|at| draft.counts.get(at)).copied().unwrap_or(1)
}

/// The name of the first node's pod in the headless service.
fn first_node(job: &Value) -> String {
    let name = text(job, "/metadata/name");
    format!("{name}-node-0-0.{name}")
}

fn variable(name: &str, value: impl std::fmt::Display) -> Value {
    json!({"name": name, "value": value.to_string()})
}

fn index_variable(name: &str) -> Value {
    json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": INDEX}}})
}

/// Adds variables and the port to the training container, if the TrainJob says anything about its trainer.
fn inject(draft: &mut Draft<'_>, variables: Vec<Value>) {
    if draft.job.at("/spec/trainer").is_none() {
        return;
    }
    let own: Vec<Value> = list(draft.job, "/spec/trainer/env").cloned().collect();
    let Some(at) = draft.trainer_at() else { return };
    let Some(container) = draft.replicated().get_mut(at).and_then(node_container) else { return };
    for variable in own.into_iter().chain(variables) {
        set_env(container, variable);
    }
    upsert(container, "ports", "containerPort", json!({"containerPort": PORT}));
}

/// The resources that a node gets: the TrainJob's, or else the runtime's.
fn resources(draft: &Draft<'_>) -> Value {
    if let Some(wanted) = draft.job.at("/spec/trainer/resourcesPerNode") {
        return wanted.clone();
    }
    let jobs = list(&draft.spec, "/replicatedJobs");
    let fitting = jobs.filter(|job| text(job, "/name") == "node" || ancestor(job) == "trainer");
    let mut containers = fitting.flat_map(|job| list(job, CONTAINERS)).filter(|c| text(c, "/name") == "node");
    containers.find_map(|c| c.get("resources").cloned()).unwrap_or(Value::Null)
}

/// A quantity in whole units, rounded up.
fn quantity(value: &Value) -> i64 {
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (digits, milli) = shown.strip_suffix('m').map_or((shown.as_str(), false), |d| (d, true));
    let amount: f64 = digits.parse().unwrap_or(0.0);
    let amount = if milli { amount / 1000.0 } else { amount };
    amount.ceil().clamp(0.0, 1e9) as i64
}

fn gpus(resources: &Value) -> i64 {
    let of = |field: &str| {
        let map = resources.get(field).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .find(|(name, _)| name.to_lowercase().contains("gpu"))
            .map_or(0, |(_, q)| quantity(q))
    };
    match of("requests") {
        0 => of("limits"),
        requested => requested,
    }
}

fn cpus(resources: &Value) -> i64 {
    let of = |field: &str| resources.get(field).and_then(|r| r.get("cpu")).map_or(0, quantity);
    match of("requests") {
        0 => of("limits"),
        requested => requested,
    }
}

fn torch(draft: &mut Draft<'_>) {
    let own = draft.job.at("/spec/trainer/numProcPerNode").cloned();
    // Before 2.2 the runtime had a number as well.
    let policy = draft.policy.at("/torch/numProcPerNode").filter(|_| draft.version < (2, 2)).cloned();
    let configured = own.or(policy);
    let mut processes = match configured {
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => "auto".to_owned(),
    };
    let resources = resources(draft);
    if processes == "cpu" || processes == "auto" && gpus(&resources) == 0 {
        processes = cpus(&resources).max(1).to_string();
    }
    let mut variables = vec![
        variable("PET_NNODES", node_count(draft)),
        variable("PET_NPROC_PER_NODE", processes),
        index_variable("PET_NODE_RANK"),
    ];
    let main = [variable("PET_MASTER_ADDR", first_node(draft.job)), variable("PET_MASTER_PORT", PORT)];
    let tune = draft.job.at("/spec/trainer/command") == Some(&json!(["tune", "run"]));
    if !tune {
        variables.extend(main.clone());
    }
    inject(draft, variables.clone());
    if tune {
        variables.extend(main);
    }
    targets(draft, &variables);
}

/// Other containers that get the variables of torch (since 2.3).
fn targets(draft: &mut Draft<'_>, variables: &[Value]) {
    let targets: Vec<Value> = list(&draft.policy, "/torch/envInjection/targets").cloned().collect();
    for target in targets {
        let names: Vec<&str> = list(&target, "/containerNames").filter_map(Value::as_str).collect();
        for job in draft.replicated().iter_mut().filter(|j| text(j, "/name") == text(&target, "/jobName")) {
            for pointer in [CONTAINERS, "/template/spec/template/spec/initContainers"] {
                let containers = job.pointer_mut(pointer).and_then(Value::as_array_mut);
                for container in
                    containers.into_iter().flatten().filter(|c| names.contains(&text(c, "/name")))
                {
                    variables.iter().for_each(|v| set_env(container, v.clone()));
                }
            }
        }
    }
}

fn jax(draft: &mut Draft<'_>) {
    let variables = vec![
        variable("JAX_NUM_PROCESSES", node_count(draft)),
        index_variable("JAX_PROCESS_ID"),
        variable("JAX_COORDINATOR_ADDRESS", format!("{}:{PORT}", first_node(draft.job))),
    ];
    inject(draft, variables);
}

fn xgboost(draft: &mut Draft<'_>) {
    let workers = node_count(draft) * gpus(&resources(draft)).max(1);
    let variables = vec![
        variable("DMLC_TRACKER_URI", first_node(draft.job)),
        variable("DMLC_TRACKER_PORT", PORT),
        index_variable("DMLC_TASK_ID"),
        variable("DMLC_NUM_WORKER", workers),
    ];
    inject(draft, variables);
}

fn mpi(draft: &mut Draft<'_>) -> Result<(), String> {
    let policy = draft.policy.get("mpi").cloned().unwrap_or(Value::Null);
    let launcher = policy.get("runLauncherAsNode").and_then(Value::as_bool).unwrap_or(false);
    if let Some(wanted) = number(draft.job, "/spec/trainer/numNodes") {
        let at = list(&draft.spec, "/replicatedJobs").position(|job| text(job, "/name") == "node");
        if let Some(count) = at.and_then(|at| draft.counts.get_mut(at)) {
            *count = if launcher { (wanted - 1).max(1) } else { wanted };
        }
    }
    let implementation = text(&policy, "/mpiImplementation");
    if !matches!(implementation, "" | "OpenMPI") {
        return Err(format!("MPI implementation for {implementation} doesn't supported"));
    }
    let slots = slots(draft, &policy);
    let mount = text(&policy, "/sshAuthMountPath").to_owned();
    let (name, version) = (text(draft.job, "/metadata/name").to_owned(), draft.version);
    for job in draft.replicated() {
        let role = text(job, "/name").to_owned();
        if role != "node" && role != "launcher" {
            continue;
        }
        let pod = &mut job["template"]["spec"]["template"]["spec"];
        upsert(pod, "volumes", "name", keys_volume(&name, version >= (2, 3)));
        if role == "launcher" {
            upsert(pod, "volumes", "name", hostfile_volume(&name));
        }
        if let Some(container) = node_container(job) {
            push_mount(container, "mpi-ssh-auth", &mount);
            if role == "launcher" {
                push_mount(container, "mpi-hostfile", "/etc/mpi");
                open_mpi(container, slots);
            }
        }
    }
    companions(draft, launcher, slots);
    Ok(())
}

fn slots(draft: &Draft<'_>, policy: &Value) -> i64 {
    if let Some(wanted) = number(draft.job, "/spec/trainer/numProcPerNode") {
        return wanted;
    }
    let own = number(policy, "/numProcPerNode").unwrap_or(1);
    let gpus = gpus(&resources(draft));
    if own == 1 && gpus > 1 { gpus } else { own }
}

fn push_mount(container: &mut Value, name: &str, path: &str) {
    upsert(container, "volumeMounts", "name", json!({"name": name, "mountPath": path}));
}

/// The volume with the SSH keys; 2.3 sets the modes of its files.
fn keys_volume(name: &str, modes: bool) -> Value {
    let mut secret = json!({
        "secretName": format!("{name}-mpi-ssh-auth"),
        "items": [
            {"key": "ssh-privatekey", "path": "id_rsa"},
            {"key": "ssh-publickey", "path": "id_rsa.pub"},
            {"key": "ssh-publickey", "path": "authorized_keys"},
        ],
    });
    if modes {
        secret["defaultMode"] = json!(0o400);
        for (index, mode) in [0o640, 0o644, 0o644].into_iter().enumerate() {
            secret["items"][index]["mode"] = json!(mode);
        }
    }
    json!({"name": "mpi-ssh-auth", "secret": secret})
}

fn hostfile_volume(name: &str) -> Value {
    json!({"name": "mpi-hostfile", "configMap": {
        "name": format!("{name}-mpi-hostfile"), "items": [{"key": "hostfile", "path": "hostfile", "mode": 0o444}],
    }})
}

fn open_mpi(container: &mut Value, slots: i64) {
    for variable in [
        variable("OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile"),
        variable("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        variable("OMPI_MCA_orte_set_default_slots", slots),
        variable("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10"),
    ] {
        set_env(container, variable);
    }
}

/// The Secret with the keys and the ConfigMap with the list of hosts.
fn companions(draft: &mut Draft<'_>, launcher: bool, slots: i64) {
    let job = draft.job;
    let (name, namespace) = (text(job, "/metadata/name"), text(job, "/metadata/namespace"));
    let metadata = |suffix: &str| {
        json!({
            "name": format!("{name}{suffix}"), "namespace": namespace, "ownerReferences": [owner::reference(job)],
        })
    };
    let domain = match text(&draft.spec, "/network/subdomain") {
        "" => name,
        subdomain => subdomain,
    };
    let mut hosts = String::new();
    for (replicated, count) in list(&draft.spec, "/replicatedJobs").zip(&draft.counts) {
        let role = text(replicated, "/name");
        if role != "node" && !(launcher && role == "launcher") {
            continue;
        }
        for index in 0..*count {
            hosts.push_str(&format!("{name}-{role}-0-{index}.{domain} slots={slots}\n"));
        }
    }
    let keys = json!({"ssh-privatekey": "a2V5", "ssh-publickey": "a2V5"});
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/ssh-auth", "immutable": true,
        "metadata": metadata("-mpi-ssh-auth"), "data": keys,
    });
    let hostfile = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("-mpi-hostfile"), "data": {"hostfile": hosts},
    });
    draft.companions.extend([secret, hostfile]);
}
