//! Requests: constructors and their HTTP form.

use std::sync::Arc;

use serde_json::Value;

use super::{PatchType, Propagation, Request, Resource, Verb};

impl Resource {
    /// A resource by group (empty for core), version and plural.
    #[must_use]
    pub fn new(group: &str, version: &str, plural: &str) -> Self {
        Self { group: group.to_owned(), version: version.to_owned(), plural: plural.to_owned() }
    }
}

impl Request {
    fn new(verb: Verb, resource: &Resource, namespace: &str, name: &str, body: Option<Arc<Value>>) -> Self {
        Self {
            verb,
            resource: resource.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: String::new(),
            body,
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

    /// GET of one object.
    #[must_use]
    pub fn get(resource: &Resource, namespace: &str, name: &str) -> Self {
        Self::new(Verb::Get, resource, namespace, name, None)
    }

    /// GET of a collection; an empty namespace means all of them.
    #[must_use]
    pub fn list(resource: &Resource, namespace: &str) -> Self {
        Self::new(Verb::List, resource, namespace, "", None)
    }

    /// POST.
    #[must_use]
    pub fn create(resource: &Resource, namespace: &str, object: Arc<Value>) -> Self {
        Self::new(Verb::Create, resource, namespace, "", Some(object))
    }

    /// PUT of the object's own name.
    #[must_use]
    pub fn update(resource: &Resource, namespace: &str, object: Arc<Value>) -> Self {
        let name = crate::k8s::text(&object, "/metadata/name").to_owned();
        Self::new(Verb::Update, resource, namespace, &name, Some(object))
    }

    /// PATCH.
    #[must_use]
    pub fn patch(
        resource: &Resource,
        namespace: &str,
        name: &str,
        kind: PatchType,
        patch: Arc<Value>,
    ) -> Self {
        let mut request = Self::new(Verb::Patch, resource, namespace, name, Some(patch));
        request.patch_type = Some(kind);
        request
    }

    /// Server-side apply of the object under its own name.
    #[must_use]
    pub fn apply(
        resource: &Resource,
        namespace: &str,
        manager: &str,
        force: bool,
        object: Arc<Value>,
    ) -> Self {
        let name = crate::k8s::text(&object, "/metadata/name").to_owned();
        let mut request = Self::patch(resource, namespace, &name, PatchType::Apply, object);
        manager.clone_into(&mut request.field_manager);
        request.force = force;
        request
    }

    /// DELETE of one object; `None` leaves the propagation to the server.
    #[must_use]
    pub fn delete(
        resource: &Resource,
        namespace: &str,
        name: &str,
        propagation: Option<Propagation>,
    ) -> Self {
        let mut request = Self::new(Verb::Delete, resource, namespace, name, None);
        request.propagation = propagation;
        request
    }

    /// The same request on a subresource.
    #[must_use]
    pub fn on(mut self, subresource: &str) -> Self {
        subresource.clone_into(&mut self.subresource);
        self
    }

    /// The same request under a field manager.
    #[must_use]
    pub fn by(mut self, manager: &str) -> Self {
        manager.clone_into(&mut self.field_manager);
        self
    }

    /// The same request as a user, e.g. `system:serviceaccount:ns:name`.
    #[must_use]
    pub fn user(mut self, user: &str) -> Self {
        user.clone_into(&mut self.user);
        self
    }

    /// The HTTP method.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self.verb {
            Verb::Get | Verb::List => "GET",
            Verb::Create => "POST",
            Verb::Update => "PUT",
            Verb::Patch => "PATCH",
            Verb::Delete | Verb::DeleteCollection => "DELETE",
        }
    }

    /// The path without the query.
    #[must_use]
    pub fn path(&self) -> String {
        let Resource { group, version, plural } = &self.resource;
        let mut path =
            if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        let namespace_itself = group.is_empty() && plural == "namespaces";
        if !self.namespace.is_empty() && !namespace_itself {
            path.push_str("/namespaces/");
            path.push_str(&self.namespace);
        }
        // A new object goes to its collection; its name is in the body.
        let is_new = self.verb == Verb::Create && self.subresource.is_empty();
        let name = if is_new { "" } else { self.name.as_str() };
        for part in [plural.as_str(), name, self.subresource.as_str()] {
            if !part.is_empty() {
                path.push('/');
                path.push_str(part);
            }
        }
        path
    }

    /// The query's parameters, in the order of their names.
    #[must_use]
    pub fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = Vec::new();
        if self.dry_run {
            query.push(("dryRun", "All".to_owned()));
        }
        if !self.field_manager.is_empty() {
            query.push(("fieldManager", self.field_manager.clone()));
        }
        if !self.field_validation.is_empty() {
            query.push(("fieldValidation", self.field_validation.to_owned()));
        }
        if self.patch_type == Some(PatchType::Apply) {
            query.push(("force", self.force.to_string()));
        }
        if !self.label_selector.is_empty() {
            query.push(("labelSelector", self.label_selector.clone()));
        }
        if let Some(propagation) = self.propagation {
            query.push(("propagationPolicy", propagation.as_str().to_owned()));
        }
        query
    }

    /// Method and path on one line, as traces and evidence show it.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {}", self.method(), self.path())
    }
}

impl Propagation {
    /// The value of `propagationPolicy`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Foreground => "Foreground",
            Self::Background => "Background",
            Self::Orphan => "Orphan",
        }
    }
}

impl PatchType {
    /// The `Content-Type` of such a PATCH.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}
