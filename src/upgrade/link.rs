//! The line from an actor to the API server: requests with the actor's name on them, answers as results, everything traced.

use std::sync::Arc;

use serde_json::Value;

use crate::cluster::{
    ApiResource, Arrival, Cluster, PatchType, Propagation, Request, Resource, Response, Verb,
};
use crate::k8s;
use crate::upgrade::trace::Exchange;

/// A refused request, or a server that does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// HTTP status; 0 when the server did not answer.
    pub status: u16,
    /// The Status' reason, e.g. `AlreadyExists`.
    pub reason: String,
    /// The message, as a client prints it.
    pub text: String,
    /// The Status' details: kind, name and causes; null without them.
    pub details: Value,
}

impl Fault {
    /// An error of the client's own.
    #[must_use]
    pub fn of_client(text: &str) -> Self {
        Self { status: 0, reason: String::new(), text: text.to_owned(), details: Value::Null }
    }

    /// Whether the object or its kind is not there.
    #[must_use]
    pub fn not_found(&self) -> bool {
        self.status == 404
    }

    /// Whether the object is already there.
    #[must_use]
    pub fn already_exists(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    /// Whether a write met another version of the object, or another field manager.
    #[must_use]
    pub fn conflict(&self) -> bool {
        self.status == 409 && self.reason != "AlreadyExists"
    }
}

/// An answer that is an object, or the fault.
pub type Answer = Result<Arc<Value>, Fault>;

/// Where one object lives: resource, namespace (empty when cluster-scoped) and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// Resource.
    pub resource: Resource,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// A cluster seen by one user agent, with a trace of what was said.
pub struct Link<'c> {
    cluster: &'c mut dyn Cluster,
    by: String,
    manager: String,
    validation: &'static str,
    /// Requests and answers so far.
    pub exchanges: Vec<Exchange>,
    /// Texts of `Warning` headers, in order of arrival.
    pub warnings: Vec<String>,
}

impl<'c> Link<'c> {
    /// A line for `by` (shown in the trace) whose writes carry the field manager `manager`.
    pub fn new(cluster: &'c mut dyn Cluster, by: &str, manager: &str) -> Self {
        Self {
            cluster,
            by: by.to_owned(),
            manager: manager.to_owned(),
            validation: "",
            exchanges: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Changes the field manager of the writes that follow.
    pub fn manager(&mut self, manager: &str) {
        manager.clone_into(&mut self.manager);
    }

    /// How creates and patches that follow are checked for unknown fields: `Strict`, or nothing for the server's default.
    pub fn validates(&mut self, how: &'static str) {
        self.validation = how;
    }

    /// Does something whose writes carry another field manager.
    pub fn managed_by<T>(&mut self, manager: &str, action: impl FnOnce(&mut Self) -> T) -> T {
        let own = std::mem::replace(&mut self.manager, manager.to_owned());
        let result = action(self);
        self.manager = own;
        result
    }

    /// GET of one object.
    ///
    /// # Errors
    /// When the server refuses or does not answer; so for all requests below.
    pub fn get(&mut self, address: &Address) -> Answer {
        // The client does not send it: without a name it would be the collection that is asked for.
        if address.name.is_empty() {
            return Err(unreachable_fault("resource name may not be empty"));
        }
        self.object(&request(Verb::Get, address))
    }

    /// GET of a collection; an empty namespace means all.
    ///
    /// # Errors
    /// See [`Link::get`].
    pub fn list(
        &mut self,
        resource: &Resource,
        namespace: &str,
        selector: &str,
    ) -> Result<Vec<Arc<Value>>, Fault> {
        let list = self.collection(resource, namespace, selector)?;
        let items = list.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok(items.iter().map(|item| Arc::new(item.clone())).collect())
    }

    /// GET of a collection as the list that the server sends.
    ///
    /// # Errors
    /// See [`Link::get`].
    pub fn collection(&mut self, resource: &Resource, namespace: &str, selector: &str) -> Answer {
        let address =
            Address { resource: resource.clone(), namespace: namespace.to_owned(), name: String::new() };
        self.object(&Request { label_selector: selector.to_owned(), ..request(Verb::List, &address) })
    }

    /// POST.
    ///
    /// # Errors
    /// See [`Link::get`].
    pub fn create(&mut self, address: &Address, body: Arc<Value>) -> Answer {
        let named = request(Verb::Create, address);
        let field_manager = self.manager.clone();
        self.object(&Request { body: Some(body), field_manager, field_validation: self.validation, ..named })
    }

    /// PUT with the `resourceVersion` that the body carries.
    ///
    /// # Errors
    /// See [`Link::get`].
    pub fn update(&mut self, address: &Address, body: Arc<Value>) -> Answer {
        let named = request(Verb::Update, address);
        self.object(&Request { body: Some(body), field_manager: self.manager.clone(), ..named })
    }

    /// PATCH other than apply.
    ///
    /// # Errors
    /// See [`Link::get`].
    pub fn patch(&mut self, address: &Address, patch_type: PatchType, body: Value) -> Answer {
        self.patch_on(address, "", patch_type, body)
    }

    /// PATCH of a subresource; an empty one is the object itself.
    ///
    /// # Errors
    /// See [`Link::get`].
    pub fn patch_on(
        &mut self,
        address: &Address,
        subresource: &str,
        patch_type: PatchType,
        body: Value,
    ) -> Answer {
        let named = request(Verb::Patch, address);
        let body = Some(Arc::new(body));
        self.object(&Request {
            body,
            subresource: subresource.to_owned(),
            patch_type: Some(patch_type),
            field_manager: self.manager.clone(),
            field_validation: self.validation,
            ..named
        })
    }

    /// Server-side apply with strict field validation.
    ///
    /// # Errors
    /// See [`Link::get`].
    pub fn apply(&mut self, address: &Address, body: Arc<Value>, force: bool) -> Answer {
        let named = request(Verb::Patch, address);
        self.object(&Request {
            body: Some(body),
            patch_type: Some(PatchType::Apply),
            field_manager: self.manager.clone(),
            force,
            field_validation: "Strict",
            ..named
        })
    }

    /// DELETE of one object.
    ///
    /// # Errors
    /// See [`Link::get`].
    pub fn delete(&mut self, address: &Address, propagation: Propagation) -> Answer {
        self.object(&Request { propagation: Some(propagation), ..request(Verb::Delete, address) })
    }

    /// Everything the server serves now.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn discover(&mut self) -> Result<Arc<Vec<ApiResource>>, Fault> {
        self.cluster.discover().map_err(|error| unreachable_fault(&error.0))
    }

    /// The server's version.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn version(&mut self) -> Result<String, Fault> {
        self.cluster.version().map_err(|error| unreachable_fault(&error.0))
    }

    /// Seconds since the rehearsal began.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.cluster.now()
    }

    /// Lets time pass.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn wait(&mut self, seconds: f64) -> Result<(), Fault> {
        self.cluster.wait(seconds).map_err(|error| unreachable_fault(&error.0))
    }

    /// Lets time pass until something may have changed; see [`Cluster::wait_for_change`].
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn wait_for_change(&mut self, pause: f64, most: f64) -> Result<(), Fault> {
        self.cluster.wait_for_change(pause, most).map_err(|error| unreachable_fault(&error.0))
    }

    /// Says what is about to come; see [`Cluster::expect`].
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn expect(&mut self, arrivals: &[Arrival]) -> Result<(), Fault> {
        self.cluster.expect(arrivals).map_err(|error| unreachable_fault(&error.0))
    }

    fn object(&mut self, request: &Request) -> Answer {
        let at = self.cluster.now();
        let response = self.cluster.send(request).map_err(|error| unreachable_fault(&error.0))?;
        self.exchanges.push(exchange(at, &self.by, request, &response));
        self.warnings.extend(response.warnings.iter().cloned());
        if response.ok() { Ok(response.body) } else { Err(fault(&response)) }
    }
}

fn request(verb: Verb, address: &Address) -> Request {
    Request {
        verb,
        resource: address.resource.clone(),
        namespace: address.namespace.clone(),
        name: address.name.clone(),
        subresource: String::new(),
        body: None,
        patch_type: None,
        field_manager: String::new(),
        force: false,
        field_validation: "",
        label_selector: String::new(),
        propagation: None,
        dry_run: false,
        user: String::new(),
    }
}

fn unreachable_fault(text: &str) -> Fault {
    Fault::of_client(text)
}

/// A Status as the clients of Kubernetes word it; a 404 without one is a path that is not served.
fn fault(response: &Response) -> Fault {
    let message = response.message();
    let text = match (message, response.status) {
        ("" | "404 page not found", 404) => "the server could not find the requested resource",
        (text, _) => text,
    };
    Fault {
        status: response.status,
        reason: k8s::text(&response.body, "/reason").to_owned(),
        text: text.to_owned(),
        details: response.body.get("details").cloned().unwrap_or_default(),
    }
}

fn exchange(at: f64, by: &str, request: &Request, response: &Response) -> Exchange {
    let message = if response.ok() { String::new() } else { response.message().to_owned() };
    Exchange { at, by: by.to_owned(), request: line(request), status: response.status, message }
}

/// Method, path and what matters of the query, as a person reads a request.
fn line(request: &Request) -> String {
    let method = match request.verb {
        Verb::Get | Verb::List => "GET",
        Verb::Create => "POST",
        Verb::Update => "PUT",
        Verb::Patch => "PATCH",
        Verb::Delete | Verb::DeleteCollection => "DELETE",
    };
    let kind = match request.patch_type {
        Some(PatchType::Apply) if request.force => " (apply, force)",
        Some(PatchType::Apply) => " (apply)",
        Some(PatchType::Strategic) => " (strategic merge)",
        Some(PatchType::Merge) => " (merge)",
        Some(PatchType::Json) => " (json)",
        None => "",
    };
    format!("{method} {}{kind}", path(request))
}

fn path(request: &Request) -> String {
    let Resource { group, version, plural } = &request.resource;
    let mut path =
        if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    if !request.namespace.is_empty() {
        path.push_str("/namespaces/");
        path.push_str(&request.namespace);
    }
    let named = if request.verb == Verb::Create { "" } else { request.name.as_str() };
    for part in [plural.as_str(), named, request.subresource.as_str()] {
        if !part.is_empty() {
            path.push('/');
            path.push_str(part);
        }
    }
    path
}
