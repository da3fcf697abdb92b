//! `.Capabilities`: the Kubernetes and API versions that templates may ask about.

use crate::chart::{Error, Helm};
use crate::version::Version;

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
        let minor = helm.default_kubernetes();
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
        let read =
            if helm.reads_semantic_kube_version() { semantic(text, helm) } else { generic(text, helm) };
        read.map_err(|problem| Error::new(format!("invalid kube version '{text}': {problem}")))
    }
}

/// Semver's reading, with which a suffix stays and takes part in comparisons.
fn semantic(text: &str, helm: Helm) -> Result<KubeVersion, String> {
    let read = Version::parse_lenient(text).map_err(|error| error.words(helm.semver()))?;
    let version = format!("v{read}");
    let (major, minor) = (read.major.to_string(), read.minor.to_string());
    Ok(KubeVersion { normalized: version.clone(), version, major, minor })
}

fn generic(text: &str, helm: Helm) -> Result<KubeVersion, String> {
    let parts = parse_generic(text)?;
    let normalized = format!("v{}", parts.join("."));
    let given = if text.starts_with('v') { text.to_owned() } else { format!("v{text}") };
    let version = if helm.has_normalized_kube_version() { given } else { normalized.clone() };
    let mut parts = parts.into_iter();
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    Ok(KubeVersion { version, normalized, major, minor })
}

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

/// The API versions a Helm knows without a cluster, in its order.
#[must_use]
pub fn default_api_versions(helm: Helm) -> Vec<&'static str> {
    let kubernetes = helm.default_kubernetes();
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
    ("coordination.k8s.io/v1alpha1", 31, 31),
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
            (Helm::known(3, 17).unwrap(), "v1.29.1-gke.100", "v1.29.1-gke.100"),
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
        assert_eq!(KubeVersion::parse("1.29", Helm::known(3, 17).unwrap()).unwrap().version, "v1.29.0");
        assert_eq!(KubeVersion::parse("1.29", Helm::V3).unwrap().version, "v1.29");
        assert!(KubeVersion::parse("x", Helm::V4).is_err());
    }

    #[test]
    fn defaults_follow_the_client_library() {
        assert_eq!(KubeVersion::default_of(Helm::V4).version, "v1.37.0");
        assert_eq!(KubeVersion::default_of(Helm::known(3, 17).unwrap()).version, "v1.32.0");
        assert!(!default_api_versions(Helm::V4).contains(&"autoscaling/v2beta1"));
    }
}
