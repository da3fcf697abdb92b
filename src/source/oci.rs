//! Pulls charts from OCI registries: manifest, config and chart layer by media type, digests verified.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use oci_client::client::{ClientConfig, ClientProtocol};
use oci_client::manifest::{OciDescriptor, OciManifest};
use oci_client::secrets::RegistryAuth;
use tokio::io::AsyncWrite;

use super::Error;
use super::lock::digest;
use super::reference::Oci;
use crate::limits::Limits;

/// Media type of a chart's config blob (Helm v4.3.1 `pkg/registry/constants.go`).
pub const CONFIG_MEDIA_TYPE: &str = "application/vnd.cncf.helm.config.v1+json";
/// Media type of the layer that holds the chart archive.
pub const LAYER_MEDIA_TYPE: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// Seconds without a byte after which a registry counts as unreachable.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// Seconds for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Seconds for a whole pull.
const PULL_TIMEOUT: Duration = Duration::from_secs(300);

/// Pulls one chart archive.
///
/// # Errors
/// When the registry can't be reached or refuses, the artifact is no chart, is too large, or has another digest than asked for.
pub fn pull(oci: &Oci, plain_http: bool, limits: &Limits) -> Result<Vec<u8>, Error> {
    // Fails only when a provider was installed before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(format!("can't start the network runtime: {error}")))?;
    runtime.block_on(async {
        tokio::time::timeout(PULL_TIMEOUT, pull_async(oci, plain_http, limits)).await.map_err(|_| {
            Error::new(format!("chart `{oci}`: the registry took more than {} s", PULL_TIMEOUT.as_secs()))
        })?
    })
}

async fn pull_async(oci: &Oci, plain_http: bool, limits: &Limits) -> Result<Vec<u8>, Error> {
    let client = oci_client::Client::new(ClientConfig {
        protocol: if plain_http { ClientProtocol::Http } else { ClientProtocol::Https },
        read_timeout: Some(READ_TIMEOUT),
        connect_timeout: Some(CONNECT_TIMEOUT),
        user_agent: concat!("seatrial/", env!("CARGO_PKG_VERSION")),
        ..ClientConfig::default()
    });
    let image = image(oci)?;
    let auth = credentials(&oci.host);
    let (manifest, _) = client.pull_manifest(&image, &auth).await.map_err(|error| refused(oci, &error))?;
    let layer = chart_layer(oci, manifest, limits)?;
    let mut archive = Bounded { data: Vec::new(), limit: limits.chart_bytes };
    client.pull_blob(&image, &layer, &mut archive).await.map_err(|error| refused(oci, &error))?;
    let found = digest(&archive.data);
    if found != layer.digest {
        return Err(Error::new(format!("chart `{oci}`: wrong digest: wanted {}, got {found}", layer.digest)));
    }
    Ok(archive.data)
}

fn image(oci: &Oci) -> Result<oci_client::Reference, Error> {
    let (host, path) = (oci.host.clone(), oci.path.clone());
    match (&oci.digest, &oci.tag) {
        (Some(digest), _) => Ok(oci_client::Reference::with_digest(host, path, digest.clone())),
        // Tags can't hold `+`; Helm writes `_` for it.
        (None, Some(tag)) => Ok(oci_client::Reference::with_tag(host, path, tag.replace('+', "_"))),
        (None, None) => Err(Error::new(format!("chart `{oci}`: no tag and no digest"))
            .hint(format!("Name a version: `{oci}:VERSION`."))),
    }
}

fn chart_layer(oci: &Oci, manifest: OciManifest, limits: &Limits) -> Result<OciDescriptor, Error> {
    let OciManifest::Image(manifest) = manifest else {
        return Err(Error::new(format!("chart `{oci}`: an image index, not a chart")));
    };
    if manifest.config.media_type != CONFIG_MEDIA_TYPE {
        return Err(Error::new(format!(
            "chart `{oci}`: not a Helm chart: its config has media type `{}`, wanted `{CONFIG_MEDIA_TYPE}`",
            manifest.config.media_type
        )));
    }
    let layer = manifest.layers.into_iter().find(|layer| layer.media_type == LAYER_MEDIA_TYPE);
    let layer = layer.ok_or_else(|| {
        Error::new(format!("chart `{oci}`: the manifest has no layer of media type `{LAYER_MEDIA_TYPE}`"))
    })?;
    if u64::try_from(layer.size).is_ok_and(|size| size <= limits.chart_bytes) {
        return Ok(layer);
    }
    Err(Error::new(format!(
        "chart `{oci}`: the archive has {} bytes, more than {}",
        layer.size, limits.chart_bytes
    ))
    .hint("Raise `--limit-chart-bytes` if the chart is really that large."))
}

// Credentials of Docker's configuration go to the registry they are stored for and nowhere else.
fn credentials(host: &str) -> RegistryAuth {
    use docker_credential::DockerCredential;
    match docker_credential::get_credential(host) {
        Ok(DockerCredential::UsernamePassword(user, password)) => RegistryAuth::Basic(user, password),
        Ok(DockerCredential::IdentityToken(token)) => RegistryAuth::Bearer(token),
        Err(_) => RegistryAuth::Anonymous,
    }
}

fn refused(oci: &Oci, error: &oci_client::errors::OciDistributionError) -> Error {
    let mut message = format!("chart `{oci}`: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    Error::new(message).hint(
        "Check the reference and that the registry can be reached; log in with `docker login` or `helm registry login` for private charts.",
    )
}

struct Bounded {
    data: Vec<u8>,
    limit: u64,
}

impl AsyncWrite for Bounded {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if (this.data.len() + bytes.len()) as u64 > this.limit {
            return Poll::Ready(Err(io::Error::other(format!("more than {} bytes", this.limit))));
        }
        this.data.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
