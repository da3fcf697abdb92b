//! Controllers of a simulated cluster: what Kubernetes itself and known managers do in answer to writes, on virtual
//! time.
//!
//! Each file is one controller and each is registered by one row. Controllers of Kubernetes always run; those of
//! managers act when a pod that runs their program leads. Kinds without a model are left alone.

use super::Simulated;
use super::api::Controller;

mod admission;
mod certificates;
mod claims;
mod containers;
mod daemonsets;
mod deployments;
mod election;
mod endpointslices;
mod jobs;
mod jobset;
mod kubelet;
mod managers;
mod owner;
mod pods;
mod programs;
mod publishers;
mod replicasets;
mod rights;
mod services;
mod statefulsets;
mod status;
#[cfg(test)]
mod tests;
mod trainer;
mod turn;

/// Makes a controller in its initial state.
type Make = fn() -> Box<dyn Controller>;

/// Every controller, in the order of their turns.
const REGISTER: &[Make] = &[
    || Box::new(publishers::Publishers::default()),
    || Box::new(deployments::Deployments::default()),
    || Box::new(replicasets::ReplicaSets::default()),
    || Box::new(statefulsets::StatefulSets::default()),
    || Box::new(daemonsets::DaemonSets::default()),
    || Box::new(jobs::Jobs::default()),
    || Box::new(claims::Claims::default()),
    || Box::new(endpointslices::EndpointSlices::default()),
    || Box::new(kubelet::Kubelet::default()),
    || Box::new(programs::Programs::default()),
    || Box::new(certificates::Certificates::default()),
    || Box::new(trainer::Trainer::default()),
    || Box::new(jobset::JobSets::default()),
];

/// Adds every controller and the webhooks of known managers to a cluster.
pub fn install(cluster: &mut Simulated) {
    for make in REGISTER {
        cluster.add_controller(make());
    }
    cluster.add_webhooks(Box::<admission::Admission>::default());
}
