//! The resources that Kubernetes itself serves, by version, up to 1.37; removed ones with the release that dropped them.
//!
//! Source: Kubernetes `pkg/controlplane/instance.go`, the deprecation guide, and the types of `k8s.io/api` 0.37.

/// One version of a built-in resource and the releases that serve it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// API version, e.g. `v1beta1`.
    pub version: &'static str,
    /// First minor release of Kubernetes 1.x that serves it by default.
    pub since: u32,
    /// First minor release that no longer does; `None` while it lasts.
    pub until: Option<u32>,
}

/// A built-in kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// API group; empty for core.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Plural name in paths.
    pub plural: &'static str,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Subresources besides the object itself, separated by blanks.
    pub subresources: &'static str,
    /// Versions, the preferred one first.
    pub versions: &'static [Served],
}

impl Builtin {
    /// The versions that a release serves, the preferred one first.
    pub fn served(&self, minor: u32) -> impl Iterator<Item = &'static str> {
        let now = move |s: &&Served| s.since <= minor && s.until.is_none_or(|until| minor < until);
        self.versions.iter().filter(now).map(|s| s.version)
    }

    /// Whether the kind has this subresource.
    #[must_use]
    pub fn has(&self, subresource: &str) -> bool {
        self.subresources.split(' ').any(|s| s == subresource)
    }
}

/// The built-in with this group and kind.
#[must_use]
pub fn by_kind(group: &str, kind: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|b| b.group == group && b.kind == kind)
}

/// The built-in with this group and plural.
#[must_use]
pub fn by_plural(group: &str, plural: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|b| b.group == group && b.plural == plural)
}

/// Whether any group has a built-in of this kind.
#[must_use]
pub fn is_kind(kind: &str) -> bool {
    BUILTINS.iter().any(|b| b.kind == kind)
}

const fn from(version: &'static str, since: u32) -> Served {
    Served { version, since, until: None }
}

const fn between(version: &'static str, since: u32, until: u32) -> Served {
    Served { version, since, until: Some(until) }
}

const V1: &[Served] = &[from("v1", 0)];

macro_rules! builtins {
    ($(group $group:literal: $($kind:literal $plural:literal $scope:ident $subresources:literal $versions:expr;)+)+) => {
        &[$($(Builtin {
            group: $group,
            kind: $kind,
            plural: $plural,
            namespaced: builtins!(@scope $scope),
            subresources: $subresources,
            versions: $versions,
        },)+)+]
    };
    (@scope namespaced) => { true };
    (@scope cluster) => { false };
}

/// Every built-in kind, core first, groups in alphabetical order.
pub const BUILTINS: &[Builtin] = builtins! {
    group "":
        "Binding" "bindings" namespaced "" V1;
        "ComponentStatus" "componentstatuses" cluster "" V1;
        "ConfigMap" "configmaps" namespaced "" V1;
        "Endpoints" "endpoints" namespaced "" V1;
        "Event" "events" namespaced "" V1;
        "LimitRange" "limitranges" namespaced "" V1;
        "Namespace" "namespaces" cluster "finalize status" V1;
        "Node" "nodes" cluster "proxy status" V1;
        "PersistentVolume" "persistentvolumes" cluster "status" V1;
        "PersistentVolumeClaim" "persistentvolumeclaims" namespaced "status" V1;
        "Pod" "pods" namespaced "attach binding ephemeralcontainers eviction exec log portforward proxy resize status" V1;
        "PodTemplate" "podtemplates" namespaced "" V1;
        "ReplicationController" "replicationcontrollers" namespaced "scale status" V1;
        "ResourceQuota" "resourcequotas" namespaced "status" V1;
        "Secret" "secrets" namespaced "" V1;
        "Service" "services" namespaced "proxy status" V1;
        "ServiceAccount" "serviceaccounts" namespaced "token" V1;
    group "admissionregistration.k8s.io":
        "MutatingAdmissionPolicy" "mutatingadmissionpolicies" cluster "" &[from("v1", 36), between("v1beta1", 99, 99)];
        "MutatingAdmissionPolicyBinding" "mutatingadmissionpolicybindings" cluster "" &[from("v1", 36), between("v1beta1", 99, 99)];
        "MutatingWebhookConfiguration" "mutatingwebhookconfigurations" cluster "" &[from("v1", 16), between("v1beta1", 9, 22)];
        "ValidatingAdmissionPolicy" "validatingadmissionpolicies" cluster "status" &[from("v1", 30), between("v1beta1", 99, 99)];
        "ValidatingAdmissionPolicyBinding" "validatingadmissionpolicybindings" cluster "" &[from("v1", 30), between("v1beta1", 99, 99)];
        "ValidatingWebhookConfiguration" "validatingwebhookconfigurations" cluster "" &[from("v1", 16), between("v1beta1", 9, 22)];
    group "apiextensions.k8s.io":
        "CustomResourceDefinition" "customresourcedefinitions" cluster "status" &[from("v1", 16), between("v1beta1", 7, 22)];
    group "apiregistration.k8s.io":
        "APIService" "apiservices" cluster "status" &[from("v1", 10), between("v1beta1", 7, 22)];
    group "apps":
        "ControllerRevision" "controllerrevisions" namespaced "" &[from("v1", 9), between("v1beta2", 8, 16), between("v1beta1", 7, 16)];
        "DaemonSet" "daemonsets" namespaced "status" &[from("v1", 9), between("v1beta2", 8, 16)];
        "Deployment" "deployments" namespaced "scale status" &[from("v1", 9), between("v1beta2", 8, 16), between("v1beta1", 6, 16)];
        "ReplicaSet" "replicasets" namespaced "scale status" &[from("v1", 9), between("v1beta2", 8, 16)];
        "StatefulSet" "statefulsets" namespaced "scale status" &[from("v1", 9), between("v1beta2", 8, 16), between("v1beta1", 5, 16)];
    group "authentication.k8s.io":
        "SelfSubjectReview" "selfsubjectreviews" cluster "" &[from("v1", 28)];
        "TokenReview" "tokenreviews" cluster "" &[from("v1", 6), between("v1beta1", 4, 22)];
    group "authorization.k8s.io":
        "LocalSubjectAccessReview" "localsubjectaccessreviews" namespaced "" &[from("v1", 6), between("v1beta1", 2, 22)];
        "SelfSubjectAccessReview" "selfsubjectaccessreviews" cluster "" &[from("v1", 6), between("v1beta1", 2, 22)];
        "SelfSubjectRulesReview" "selfsubjectrulesreviews" cluster "" &[from("v1", 8), between("v1beta1", 8, 22)];
        "SubjectAccessReview" "subjectaccessreviews" cluster "" &[from("v1", 6), between("v1beta1", 2, 22)];
    group "autoscaling":
        "HorizontalPodAutoscaler" "horizontalpodautoscalers" namespaced "status"
            &[from("v2", 23), from("v1", 2), between("v2beta1", 8, 25), between("v2beta2", 12, 26)];
    group "batch":
        "CronJob" "cronjobs" namespaced "status" &[from("v1", 21), between("v1beta1", 8, 25), between("v2alpha1", 99, 99)];
        "Job" "jobs" namespaced "status" V1;
    group "certificates.k8s.io":
        "CertificateSigningRequest" "certificatesigningrequests" cluster "approval status" &[from("v1", 19), between("v1beta1", 6, 22)];
    group "coordination.k8s.io":
        "Lease" "leases" namespaced "" &[from("v1", 14), between("v1beta1", 12, 22)];
    group "discovery.k8s.io":
        "EndpointSlice" "endpointslices" namespaced "" &[from("v1", 21), between("v1beta1", 17, 25)];
    group "events.k8s.io":
        "Event" "events" namespaced "" &[from("v1", 19), between("v1beta1", 8, 25)];
    group "extensions":
        "DaemonSet" "daemonsets" namespaced "status" &[between("v1beta1", 2, 16)];
        "Deployment" "deployments" namespaced "scale status" &[between("v1beta1", 2, 16)];
        "Ingress" "ingresses" namespaced "status" &[between("v1beta1", 2, 22)];
        "NetworkPolicy" "networkpolicies" namespaced "" &[between("v1beta1", 3, 16)];
        "PodSecurityPolicy" "podsecuritypolicies" cluster "" &[between("v1beta1", 3, 16)];
        "ReplicaSet" "replicasets" namespaced "scale status" &[between("v1beta1", 2, 16)];
    group "flowcontrol.apiserver.k8s.io":
        "FlowSchema" "flowschemas" cluster "status"
            &[from("v1", 29), between("v1beta3", 26, 32), between("v1beta2", 23, 29), between("v1beta1", 20, 26)];
        "PriorityLevelConfiguration" "prioritylevelconfigurations" cluster "status"
            &[from("v1", 29), between("v1beta3", 26, 32), between("v1beta2", 23, 29), between("v1beta1", 20, 26)];
    group "networking.k8s.io":
        "Ingress" "ingresses" namespaced "status" &[from("v1", 19), between("v1beta1", 14, 22)];
        "IngressClass" "ingressclasses" cluster "" &[from("v1", 19), between("v1beta1", 18, 22)];
        "IPAddress" "ipaddresses" cluster "" &[from("v1", 33)];
        "NetworkPolicy" "networkpolicies" namespaced "" &[from("v1", 7)];
        "ServiceCIDR" "servicecidrs" cluster "status" &[from("v1", 33)];
    group "node.k8s.io":
        "RuntimeClass" "runtimeclasses" cluster "" &[from("v1", 20), between("v1beta1", 14, 25)];
    group "policy":
        "PodDisruptionBudget" "poddisruptionbudgets" namespaced "status" &[from("v1", 21), between("v1beta1", 5, 25)];
        "PodSecurityPolicy" "podsecuritypolicies" cluster "" &[between("v1beta1", 10, 25)];
    group "rbac.authorization.k8s.io":
        "ClusterRole" "clusterroles" cluster "" &[from("v1", 8), between("v1beta1", 6, 22)];
        "ClusterRoleBinding" "clusterrolebindings" cluster "" &[from("v1", 8), between("v1beta1", 6, 22)];
        "Role" "roles" namespaced "" &[from("v1", 8), between("v1beta1", 6, 22)];
        "RoleBinding" "rolebindings" namespaced "" &[from("v1", 8), between("v1beta1", 6, 22)];
    group "resource.k8s.io":
        "DeviceClass" "deviceclasses" cluster "" &[from("v1", 34)];
        "ResourceClaim" "resourceclaims" namespaced "status" &[from("v1", 34)];
        "ResourceClaimTemplate" "resourceclaimtemplates" namespaced "" &[from("v1", 34)];
        "ResourceSlice" "resourceslices" cluster "" &[from("v1", 34)];
    group "scheduling.k8s.io":
        "PriorityClass" "priorityclasses" cluster "" &[from("v1", 14), between("v1beta1", 11, 22)];
    group "storage.k8s.io":
        "CSIDriver" "csidrivers" cluster "" &[from("v1", 18), between("v1beta1", 14, 22)];
        "CSINode" "csinodes" cluster "" &[from("v1", 17), between("v1beta1", 14, 22)];
        "CSIStorageCapacity" "csistoragecapacities" namespaced "" &[from("v1", 24), between("v1beta1", 21, 27)];
        "StorageClass" "storageclasses" cluster "" &[from("v1", 6), between("v1beta1", 4, 22)];
        "VolumeAttachment" "volumeattachments" cluster "status" &[from("v1", 13), between("v1beta1", 10, 22)];
        "VolumeAttributesClass" "volumeattributesclasses" cluster "" &[from("v1", 34)];
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_ranges_make_sense() {
        let mut seen = std::collections::BTreeSet::new();
        for builtin in BUILTINS {
            assert!(seen.insert((builtin.group, builtin.plural)), "{} twice", builtin.plural);
            for served in builtin.versions {
                assert!(served.until.is_none_or(|until| served.since <= until), "{builtin:?}");
            }
        }
    }

    #[test]
    fn releases_serve_what_they_should() {
        let pdb = by_kind("policy", "PodDisruptionBudget").unwrap();
        assert_eq!(pdb.served(24).collect::<Vec<_>>(), ["v1", "v1beta1"]);
        assert_eq!(pdb.served(25).collect::<Vec<_>>(), ["v1"]);
        assert_eq!(by_plural("extensions", "ingresses").unwrap().served(34).count(), 0);
    }
}
