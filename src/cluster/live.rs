//! A real API server behind the same trait: the requests of a rehearsal over HTTP, time as it passes.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::client::Body;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::{ApiResource, Cluster, Request, Resource, Response, Unreachable};
use crate::k8s::text;

/// Longest wait for one answer.
const ANSWER: Duration = Duration::from_secs(60);
/// Asks for all groups, versions and resources in one answer (Kubernetes 1.30 and newer).
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A connection to a real API server.
pub struct Live {
    client: kube::Client,
    runtime: Runtime,
    start: Instant,
}

impl Live {
    /// Connects by a kubeconfig file (or the usual places when `None`) and context (or the current one).
    ///
    /// # Errors
    /// When the kubeconfig can't be read or makes no client; whether the server answers is seen at the first request.
    pub fn connect(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Self, Unreachable> {
        // Fails only when a provider was installed before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| Unreachable(format!("can't start the network runtime: {error}")))?;
        let client = runtime.block_on(client(kubeconfig, context))?;
        Ok(Self { client, runtime, start: Instant::now() })
    }

    fn exchange(&self, request: http::Request<Body>) -> Result<Response, Unreachable> {
        let client = self.client.clone();
        self.runtime.block_on(async move {
            tokio::time::timeout(ANSWER, answer(client, request))
                .await
                .unwrap_or_else(|_| Err(Unreachable(format!("no answer within {} s", ANSWER.as_secs()))))
        })
    }

    fn fetch(&self, path: &str, accept: &str) -> Result<Response, Unreachable> {
        let request = http::Request::get(path).header("accept", accept).body(Body::empty());
        self.exchange(request.map_err(|error| Unreachable(error.to_string()))?)
    }
}

async fn client(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<kube::Client, Unreachable> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let config = match kubeconfig {
        Some(path) => {
            let file = Kubeconfig::read_from(path)
                .map_err(|error| Unreachable(format!("kubeconfig {}: {error}", path.display())))?;
            Config::from_custom_kubeconfig(file, &options).await
        }
        None => Config::from_kubeconfig(&options).await,
    };
    let config = config.map_err(|error| Unreachable(format!("kubeconfig: {error}")))?;
    kube::Client::try_from(config).map_err(|error| Unreachable(format!("kubeconfig: {error}")))
}

async fn answer(client: kube::Client, request: http::Request<Body>) -> Result<Response, Unreachable> {
    let line = format!("{} {}", request.method(), request.uri().path());
    let response = client.send(request).await.map_err(|error| Unreachable(format!("{line}: {error}")))?;
    let status = response.status().as_u16();
    let warnings = response
        .headers()
        .get_all("warning")
        .iter()
        .filter_map(|value| warning(value.to_str().ok()?))
        .collect();
    let bytes = response.into_body().collect_bytes().await;
    let bytes = bytes.map_err(|error| Unreachable(format!("{line}: {error}")))?;
    // A proxy or an old path may answer in plain text, which is carried as a Status message.
    let body =
        serde_json::from_slice(&bytes).unwrap_or_else(|_| plain(status, &String::from_utf8_lossy(&bytes)));
    Ok(Response { status, body: Arc::new(body), warnings })
}

fn plain(code: u16, message: &str) -> Value {
    serde_json::json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "message": message.trim(), "code": code })
}

// `299 - "text"`, quotes and backslashes escaped (RFC 7234, section 5.5).
fn warning(header: &str) -> Option<String> {
    let quoted = header.splitn(3, ' ').nth(2)?.trim();
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

fn http_request(request: &Request) -> Result<http::Request<Body>, Unreachable> {
    let mut uri = request.path();
    let pairs = request.query();
    if !pairs.is_empty() {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        uri = format!("{uri}?{query}");
    }
    let mut builder =
        http::Request::builder().method(request.method()).uri(uri).header("accept", "application/json");
    builder = builder.header(
        "content-type",
        request.patch_type.map_or("application/json", super::PatchType::content_type),
    );
    if !request.user.is_empty() {
        builder = builder.header("impersonate-user", &request.user);
    }
    let body = match &request.body {
        Some(body) => Body::from(serde_json::to_vec(body).map_err(|error| Unreachable(error.to_string()))?),
        None => Body::empty(),
    };
    builder.body(body).map_err(|error| Unreachable(error.to_string()))
}

impl Cluster for Live {
    fn send(&mut self, request: &Request) -> Result<Response, Unreachable> {
        self.exchange(http_request(request)?)
    }

    fn discover(&mut self) -> Result<Arc<Vec<ApiResource>>, Unreachable> {
        let mut resources = Vec::new();
        for path in ["/api", "/apis"] {
            let answer = self.fetch(path, AGGREGATED)?;
            if !answer.ok() {
                return Err(Unreachable(format!("GET {path}: {} {}", answer.status, answer.message())));
            }
            resources.extend(discovered(&answer.body));
        }
        Ok(Arc::new(resources))
    }

    fn version(&mut self) -> Result<String, Unreachable> {
        let answer = self.fetch("/version", "application/json")?;
        Ok(text(&answer.body, "/gitVersion").to_owned())
    }

    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn wait(&mut self, seconds: f64) -> Result<(), Unreachable> {
        std::thread::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 3600.0)));
        Ok(())
    }
}

fn discovered(groups: &Value) -> Vec<ApiResource> {
    let mut resources = Vec::new();
    for group in list(groups, "items") {
        for version in list(group, "versions") {
            for resource in list(version, "resources") {
                resources.push(ApiResource {
                    resource: Resource::new(
                        text(group, "/metadata/name"),
                        text(version, "/version"),
                        text(resource, "/resource"),
                    ),
                    kind: text(resource, "/responseKind/kind").to_owned(),
                    namespaced: text(resource, "/scope") == "Namespaced",
                });
            }
        }
    }
    resources
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_take_their_http_form() {
        let resource = Resource::new("apps", "v1", "deployments");
        let body = Arc::new(serde_json::json!({ "metadata": { "name": "d" } }));
        let request = Request::apply(&resource, "ns", "helm", true, body).user("system:serviceaccount:a:b");
        let http = http_request(&request).unwrap();
        assert_eq!(http.uri(), "/apis/apps/v1/namespaces/ns/deployments/d?fieldManager=helm&force=true");
        assert_eq!(http.headers()["content-type"], "application/apply-patch+yaml");
        assert_eq!(http.headers()["impersonate-user"], "system:serviceaccount:a:b");
    }

    #[test]
    fn warnings_are_unquoted() {
        assert_eq!(warning(r#"299 - "unknown field \"spec.x\"""#).unwrap(), r#"unknown field "spec.x""#);
        assert_eq!(warning("garbage"), None);
    }

    #[test]
    fn missing_server_is_unreachable_not_a_panic() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config");
        std::fs::write(&path, "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\ncurrent-context: x\n").unwrap();
        let mut live = Live::connect(Some(&path), None).unwrap();
        assert!(live.version().is_err());
        assert!(Live::connect(Some(&dir.path().join("absent")), None).is_err());
    }
}
