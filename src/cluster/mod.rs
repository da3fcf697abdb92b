//! The API server that rehearsals run against: one trait that speaks requests and answers as the API does.
//!
//! [`simulated`] answers in memory, [`live`] passes the same requests to a real server.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

pub mod kind;
pub mod live;
mod request;
pub mod simulated;

/// What is done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// GET of one object.
    Get,
    /// GET of a collection.
    List,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH; the request's [`PatchType`] says how.
    Patch,
    /// DELETE of one object.
    Delete,
    /// DELETE of a collection.
    DeleteCollection,
}

/// The content type of a PATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// `application/json-patch+json`.
    Json,
    /// `application/merge-patch+json`.
    Merge,
    /// `application/strategic-merge-patch+json`.
    Strategic,
    /// `application/apply-patch+yaml`: server-side apply.
    Apply,
}

/// The resource a request is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    /// API group; empty for core.
    pub group: String,
    /// Version.
    pub version: String,
    /// Plural name in the path, e.g. `customresourcedefinitions`.
    pub plural: String,
}

/// How the dependents of a deleted object are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// Dependents first.
    Foreground,
    /// Dependents afterwards, by the garbage collector.
    Background,
    /// Dependents stay and lose the owner reference.
    Orphan,
}

/// One request; [`Request::path`] gives the path a real server is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is done.
    pub verb: Verb,
    /// To which resource.
    pub resource: Resource,
    /// Namespace; empty for cluster-scoped resources and lists over all namespaces.
    pub namespace: String,
    /// Name; empty for collections.
    pub name: String,
    /// `status`, `scale` … or empty.
    pub subresource: String,
    /// Body: the object, the patch, or the delete options.
    pub body: Option<Arc<Value>>,
    /// Content type of a PATCH.
    pub patch_type: Option<PatchType>,
    /// `fieldManager`; empty means the user agent's default.
    pub field_manager: String,
    /// `force` of server-side apply.
    pub force: bool,
    /// `fieldValidation`: `Strict`, `Warn`, `Ignore`; empty for the server's default.
    pub field_validation: &'static str,
    /// `labelSelector` of a collection request.
    pub label_selector: String,
    /// Deletion propagation; `None` is the server's default.
    pub propagation: Option<Propagation>,
    /// `dryRun=All`.
    pub dry_run: bool,
    /// User the request is made as (`Impersonate-User`), e.g. a ServiceAccount; empty for the administrator.
    pub user: String,
}

/// An answer: HTTP status, body, `Warning` headers.
#[derive(Clone, Debug)]
pub struct Response {
    /// HTTP status code.
    pub status: u16,
    /// The object, list or Status.
    pub body: Arc<Value>,
    /// Texts of `Warning` headers.
    pub warnings: Vec<String>,
}

impl Response {
    /// Whether the status is 2xx.
    #[must_use]
    pub fn ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The message of a Status body; empty for objects.
    #[must_use]
    pub fn message(&self) -> &str {
        crate::k8s::text(&self.body, "/message")
    }
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exchange {
    /// Virtual (or real) seconds since the rehearsal began.
    pub at: f64,
    /// Who asked: the actor, a hook, a controller.
    pub by: String,
    /// Method and path.
    pub request: String,
    /// HTTP status.
    pub status: u16,
    /// The Status message, or empty.
    pub message: String,
}

/// One resource of the server's discovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiResource {
    /// Group, version and plural.
    pub resource: Resource,
    /// Kind.
    pub kind: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
}

/// An object that a client is about to bring and that it takes not to be there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// API group; empty for core.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty when the kind has none.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// The server did not answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreachable(pub String);

/// An API server.
pub trait Cluster {
    /// Sends one request and waits for the answer.
    ///
    /// # Errors
    /// Only when the server can't be reached; refusals are answers.
    fn send(&mut self, request: &Request) -> Result<Response, Unreachable>;

    /// Everything the server serves at this moment.
    ///
    /// # Errors
    /// When the server can't be reached.
    fn discover(&mut self) -> Result<Arc<Vec<ApiResource>>, Unreachable>;

    /// The server's version, e.g. `v1.34.3`.
    ///
    /// # Errors
    /// When the server can't be reached.
    fn version(&mut self) -> Result<String, Unreachable>;

    /// Seconds since the rehearsal began: virtual in a simulation, real otherwise.
    fn now(&self) -> f64;

    /// Lets time pass: controllers, hooks and garbage collection get their turn.
    ///
    /// # Errors
    /// When the server can't be reached.
    fn wait(&mut self, seconds: f64) -> Result<(), Unreachable>;

    /// Lets time pass until something may have changed: `pause` seconds where nobody tells, and never more than
    /// `most`. A simulation knows when the next write happens and goes there.
    ///
    /// # Errors
    /// When the server can't be reached.
    fn wait_for_change(&mut self, pause: f64, most: f64) -> Result<(), Unreachable> {
        self.wait(pause.min(most))
    }

    /// Hears what the client is about to bring. Nothing goes over the wire: a real server knows what it has, but a
    /// simulation takes what it never saw to be somewhere, unless it comes only now.
    ///
    /// # Errors
    /// When the server can't be reached.
    fn expect(&mut self, _arrivals: &[Arrival]) -> Result<(), Unreachable> {
        Ok(())
    }
}
