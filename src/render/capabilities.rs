//! `.Capabilities`: the Kubernetes and API versions that templates may ask about.

use crate::chart::{Error, Helm};

/// A Kubernetes version as one Helm keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// What templates see as `.Version`.
    pub version: String,
    /// What constraints are compared with.
    pub normalized: String,
    /// `.Major`.
    pub major: String,
    /// `.Minor`.
    pub minor: String,
}

impl KubeVersion {
    /// The version a released Helm assumes without a cluster.
    #[must_use]
    pub fn default_of(helm: Helm) -> Self {
        let minor = KUBERNETES.iter().rev().find(|(since, _)| *since <= (helm.major, helm.minor));
        let minor = minor.map_or(29, |(_, minor)| *minor);
        let version = format!("v1.{minor}.0");
        Self { normalized: version.clone(), version, major: "1".to_owned(), minor: minor.to_string() }
    }

    /// Reads `--kube-version`.
    ///
    /// As Helm v4.3.1 `pkg/chart/common/capabilities.go` `ParseKubeVersion`.
    ///
    /// # Errors
    /// In Helm's words.
    pub fn parse(text: &str, helm: Helm) -> Result<Self, Error> {
        let parts = parse_generic(text)
            .map_err(|problem| Error::new(format!("invalid kube version '{text}': {problem}")))?;
        let normalized = format!("v{}", parts.join("."));
        let given = if text.starts_with('v') { text.to_owned() } else { format!("v{text}") };
        let (version, normalized) = match (helm.major, helm.minor) {
            // Up to 3.18 the suffix stays and takes part in comparisons; then it is cut off; from 4.1 both are kept.
            (3, minor) if minor <= 18 => (given.clone(), given),
            (3, _) | (4, 0) => (normalized.clone(), normalized),
            _ => (given, normalized),
        };
        let mut parts = parts.into_iter();
        let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        Ok(Self { version, normalized, major, minor })
    }
}

/// Since which Helm the default is which minor version of Kubernetes.
const KUBERNETES: &[((u8, u8), u8)] = &[
    ((3, 14), 29),
    ((3, 15), 30),
    ((3, 16), 31),
    ((3, 17), 32),
    ((3, 18), 33),
    ((3, 19), 34),
    ((3, 20), 35),
    ((3, 21), 36),
    ((3, 22), 37),
    ((4, 0), 34),
    ((4, 1), 35),
    ((4, 2), 36),
    ((4, 3), 37),
];

/// `ParseGeneric` of `k8s.io/apimachinery` `pkg/util/version`: dotted numbers and any suffix.
fn parse_generic(text: &str) -> Result<Vec<String>, String> {
    let quoted = crate::go::quote(text);
    let bare = text.trim_start();
    let bare = bare.strip_prefix('v').unwrap_or(bare);
    let mut numbers = Vec::new();
    let mut rest = bare;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        if number.is_empty() {
            break;
        }
        numbers.push(number.to_owned());
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None => break,
        }
    }
    match numbers.as_slice() {
        [] => Err(format!("could not parse {quoted} as version")),
        [_] => Err(format!("illegal version string {quoted}")),
        [major, ..] if major.len() > 1 && major.starts_with('0') => {
            Err(format!("illegal zero-prefixed version component \"{major}\" in {quoted}"))
        }
        _ => numbers.iter().map(|number| plain_number(number, &quoted)).collect(),
    }
}

fn plain_number(digits: &str, version: &str) -> Result<String, String> {
    digits.parse::<u64>().map(|number| number.to_string()).map_err(|_| {
        format!(
            "illegal non-numeric version component \"{digits}\" in {version}: strconv.ParseUint: parsing \"{digits}\": \
             value out of range"
        )
    })
}

/// The version by which a released Helm calls itself.
#[must_use]
pub fn helm_version(helm: Helm) -> String {
    let patch = match (helm.major, helm.minor) {
        (3, 17) => 3,
        (3, 18) => 6,
        (3, 14..=16 | 21) | (4, 1 | 2) => 4,
        (4, 3) => 1,
        _ => 0,
    };
    format!("v{}.{}.{patch}", helm.major, helm.minor)
}

/// The API versions a Helm knows without a cluster, in its order.
#[must_use]
pub fn default_api_versions(helm: Helm) -> Vec<&'static str> {
    let kubernetes = KubeVersion::default_of(helm).minor.parse().unwrap_or(37_u8);
    let known = |(_, since, until): &&(&str, u8, u8)| (*since..=*until).contains(&kubernetes);
    API_VERSIONS.iter().filter(known).map(|(name, _, _)| *name).collect()
}

/// Group and version, and the client-go minor versions (as Kubernetes 1.x) that first and last register it.
///
/// The list of 1.37 was printed by the real programs; the differences of older ones are those of
/// `kubernetes/scheme/register.go` in client-go's tags.
const API_VERSIONS: &[(&str, u8, u8)] = &[
    ("v1", 0, 255),
    ("admissionregistration.k8s.io/v1", 0, 255),
    ("admissionregistration.k8s.io/v1alpha1", 0, 255),
    ("admissionregistration.k8s.io/v1beta1", 0, 255),
    ("internal.apiserver.k8s.io/v1alpha1", 0, 255),
    ("apps/v1", 0, 255),
    ("apps/v1beta1", 0, 255),
    ("apps/v1beta2", 0, 255),
    ("authentication.k8s.io/v1", 0, 255),
    ("authentication.k8s.io/v1alpha1", 0, 255),
    ("authentication.k8s.io/v1beta1", 0, 255),
    ("authorization.k8s.io/v1", 0, 255),
    ("authorization.k8s.io/v1beta1", 0, 255),
    ("autoscaling/v1", 0, 255),
    ("autoscaling/v2", 0, 255),
    ("autoscaling/v2beta1", 0, 35),
    ("autoscaling/v2beta2", 0, 35),
    ("batch/v1", 0, 255),
    ("batch/v1beta1", 0, 255),
    ("certificates.k8s.io/v1", 0, 255),
    ("certificates.k8s.io/v1beta1", 0, 255),
    ("certificates.k8s.io/v1alpha1", 0, 255),
    ("coordination.k8s.io/v1alpha2", 32, 255),
    ("coordination.k8s.io/v1beta1", 0, 255),
    ("coordination.k8s.io/v1", 0, 255),
    ("discovery.k8s.io/v1", 0, 255),
    ("discovery.k8s.io/v1beta1", 0, 255),
    ("events.k8s.io/v1", 0, 255),
    ("events.k8s.io/v1beta1", 0, 255),
    ("extensions/v1beta1", 0, 255),
    ("flowcontrol.apiserver.k8s.io/v1", 0, 255),
    ("flowcontrol.apiserver.k8s.io/v1beta1", 0, 255),
    ("flowcontrol.apiserver.k8s.io/v1beta2", 0, 255),
    ("flowcontrol.apiserver.k8s.io/v1beta3", 0, 255),
    ("lifecycle.k8s.io/v1alpha1", 37, 255),
    ("networking.k8s.io/v1", 0, 255),
    ("networking.k8s.io/v1alpha1", 0, 33),
    ("networking.k8s.io/v1beta1", 0, 255),
    ("node.k8s.io/v1", 0, 255),
    ("node.k8s.io/v1alpha1", 0, 255),
    ("node.k8s.io/v1beta1", 0, 255),
    ("policy/v1", 0, 255),
    ("policy/v1beta1", 0, 255),
    ("rbac.authorization.k8s.io/v1", 0, 255),
    ("rbac.authorization.k8s.io/v1beta1", 0, 255),
    ("rbac.authorization.k8s.io/v1alpha1", 0, 255),
    ("resource.k8s.io/v1", 34, 255),
    ("resource.k8s.io/v1alpha2", 0, 30),
    ("resource.k8s.io/v1beta2", 33, 255),
    ("resource.k8s.io/v1beta1", 32, 255),
    ("resource.k8s.io/v1alpha3", 31, 255),
    ("scheduling.k8s.io/v1alpha1", 0, 35),
    ("scheduling.k8s.io/v1alpha2", 36, 36),
    ("scheduling.k8s.io/v1alpha3", 37, 255),
    ("scheduling.k8s.io/v1beta1", 0, 255),
    ("scheduling.k8s.io/v1", 0, 255),
    ("storage.k8s.io/v1beta1", 0, 255),
    ("storage.k8s.io/v1", 0, 255),
    ("storage.k8s.io/v1alpha1", 0, 255),
    ("storagemigration.k8s.io/v1", 37, 255),
    ("storagemigration.k8s.io/v1alpha1", 30, 34),
    ("storagemigration.k8s.io/v1beta1", 35, 255),
    ("apiextensions.k8s.io/v1beta1", 0, 255),
    ("apiextensions.k8s.io/v1", 0, 255),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_stay_or_go_by_helm_version() {
        for (helm, version, normalized) in [
            (Helm { major: 3, minor: 17 }, "v1.29.1-gke.100", "v1.29.1-gke.100"),
            (Helm::V3, "v1.29.1", "v1.29.1"),
            (Helm::V4, "v1.29.1-gke.100", "v1.29.1"),
        ] {
            let parsed = KubeVersion::parse("1.29.1-gke.100", helm).unwrap();
            assert_eq!(
                (parsed.version.as_str(), parsed.normalized.as_str()),
                (version, normalized),
                "{helm}"
            );
        }
        assert_eq!(KubeVersion::parse("1.29", Helm::V3).unwrap().version, "v1.29");
        assert!(KubeVersion::parse("x", Helm::V4).is_err());
    }

    #[test]
    fn defaults_follow_the_client_library() {
        assert_eq!(KubeVersion::default_of(Helm::V4).version, "v1.37.0");
        assert_eq!(KubeVersion::default_of(Helm { major: 3, minor: 17 }).version, "v1.32.0");
        assert!(!default_api_versions(Helm::V4).contains(&"autoscaling/v2beta1"));
    }
}
