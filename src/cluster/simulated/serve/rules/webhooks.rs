//! Configurations of webhooks.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/admissionregistration/validation/validation.go`, apiserver
//! `pkg/util/webhook/validation.go`.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::asked;
use super::place::{Errors, Place};
use crate::cel::{self, Decl};
use crate::k8s::items;
use crate::k8s::names;
use crate::schema::FieldError;

const VERSIONS: &[&str] = &["v1", "v1beta1"];
const HARMLESS: &[&str] = &["None", "NoneOnDryRun"];

/// What is asked of a new state: less than of a new object where the stored one does not keep to it.
struct Asked<'o> {
    harmless: bool,
    known_version: bool,
    unique_names: bool,
    lenient: Option<&'o Value>,
    conditions: bool,
    minor: u16,
}

impl<'o> Asked<'o> {
    fn of(object: &Value, old: Option<&'o Value>) -> Self {
        let Some(old) = old else {
            return Self {
                harmless: true,
                known_version: true,
                unique_names: true,
                lenient: None,
                conditions: true,
                minor: 0,
            };
        };
        let hooks = || items(old, "/webhooks");
        let selectors =
            hooks().flat_map(|hook| [hook.get("namespaceSelector"), hook.get("objectSelector")]).flatten();
        let conditions = |object: &Value| -> Vec<Option<Value>> {
            items(object, "/webhooks").map(|hook| hook.get("matchConditions").cloned()).collect()
        };
        let names: BTreeSet<&str> = hooks().map(|hook| crate::k8s::text(hook, "/name")).collect();
        Self {
            harmless: hooks().all(|hook| HARMLESS.contains(&crate::k8s::text(hook, "/sideEffects"))),
            known_version: hooks().all(has_known_version),
            unique_names: names.len() == hooks().count(),
            lenient: selectors.into_iter().find(|selector| asked::has_invalid_value(selector)),
            conditions: conditions(object) != conditions(old),
            minor: 0,
        }
    }
}

fn has_known_version(hook: &Value) -> bool {
    let mut versions = items(hook, "/admissionReviewVersions").filter_map(Value::as_str).peekable();
    versions.peek().is_none() || versions.any(|version| VERSIONS.contains(&version))
}

/// A configuration of validating or mutating webhooks.
pub(super) fn configuration(object: &Value, old: Option<&Value>, minor: u16, errors: &mut Errors) {
    let asked = Asked { minor, ..Asked::of(object, old) };
    let hooks = Place::top(object.get("webhooks"), "webhooks");
    let mut seen = BTreeSet::new();
    for hook in hooks.items() {
        webhook(&hook, &asked, errors);
        review_versions(&hook.field("admissionReviewVersions"), asked.known_version, errors);
        let name = hook.field("name");
        if asked.unique_names && !name.is_empty() && !seen.insert(name.text().to_owned()) {
            name.duplicate(errors);
        }
    }
}

/// Source: `validateValidatingWebhook`, `validateMutatingWebhook`.
fn webhook(hook: &Place<'_>, asked: &Asked<'_>, errors: &mut Errors) {
    qualified(&hook.field("name"), errors);
    hook.field("rules").items().for_each(|one| rule(&one, errors));
    hook.field("failurePolicy").one_of(&["Fail", "Ignore"], errors);
    hook.field("matchPolicy").one_of(&["Equivalent", "Exact"], errors);
    side_effects(&hook.field("sideEffects"), asked.harmless, errors);
    let seconds = hook.field("timeoutSeconds");
    if seconds.number().is_some_and(|seconds| !(1..=30).contains(&seconds)) {
        seconds.invalid("the timeout value must be between 1 and 30 seconds", errors);
    }
    for field in ["namespaceSelector", "objectSelector"] {
        hook.field(field).selector_after(asked.lenient, errors);
    }
    hook.field("reinvocationPolicy").one_of(&["IfNeeded", "Never"], errors);
    client(&hook.field("clientConfig"), errors);
    if asked.conditions {
        match_conditions(&hook.field("matchConditions"), asked.minor, errors);
    }
}

/// Source: apimachinery 0.34.3, `pkg/util/validation/validation.go`, `IsFullyQualifiedName`.
fn qualified(name: &Place<'_>, errors: &mut Errors) {
    if !name.needed(errors) {
        return;
    }
    let faults = names::subdomain_faults(name.text());
    if !faults.is_empty() {
        name.invalid_text(&faults.join(","), errors);
    } else if name.text().split('.').count() < 3 {
        name.invalid_text("should be a domain with at least three segments separated by dots", errors);
    }
}

fn side_effects(effects: &Place<'_>, harmless: bool, errors: &mut Errors) {
    let classes = if harmless { HARMLESS } else { &["None", "NoneOnDryRun", "Some", "Unknown"] };
    if effects.is_set() {
        effects.supported(classes, errors);
    } else {
        effects.required(&format!("must specify one of {}", classes.join(", ")), errors);
    }
}

/// Source: `validateAdmissionReviewVersions`.
fn review_versions(versions: &Place<'_>, known: bool, errors: &mut Errors) {
    let all = VERSIONS.join(", ");
    if versions.is_empty() {
        return versions.required(&format!("must specify one of {all}"), errors);
    }
    let mut seen = BTreeSet::new();
    for version in versions.items() {
        if seen.insert(version.text().to_owned()) {
            version.named(names::service_faults, errors);
        } else {
            version.invalid_text("duplicate version", errors);
        }
    }
    if known && !VERSIONS.iter().any(|version| seen.contains(*version)) {
        versions.invalid(&format!("must include at least one of {all}"), errors);
    }
}

/// Source: `validateRuleWithOperations`, `validateRule`.
fn rule(rule: &Place<'_>, errors: &mut Errors) {
    alone(&rule.field("operations"), "operations", errors);
    for operation in rule.field("operations").items() {
        operation.supported(&["*", "CONNECT", "CREATE", "DELETE", "UPDATE"], errors);
    }
    alone(&rule.field("apiGroups"), "API groups", errors);
    let versions = rule.field("apiVersions");
    alone(&versions, "API versions", errors);
    for version in versions.items() {
        version.needed(errors);
    }
    resources(&rule.field("resources"), errors);
    rule.field("scope").one_of(&["*", "Cluster", "Namespaced"], errors);
}

/// Something must be listed, and `*` stands alone.
fn alone(list: &Place<'_>, what: &str, errors: &mut Errors) {
    list.needed(errors);
    let texts = list.texts();
    if texts.len() > 1 && texts.contains(&"*") {
        list.invalid(&format!("if '*' is present, must not specify other {what}"), errors);
    }
}

/// Source: `validateResources`.
fn resources(list: &Place<'_>, errors: &mut Errors) {
    list.needed(errors);
    let (mut all_below, mut below_all) = (BTreeSet::new(), BTreeSet::new());
    // The server remembers of the last one alone whether it was a resource without subresources.
    let mut is_plain = false;
    for one in list.items() {
        let text = one.text();
        if text.is_empty() {
            one.required("", errors);
            continue;
        }
        let Some((resource, below)) = text.split_once('/') else {
            is_plain = text != "*";
            continue;
        };
        if all_below.contains(resource) {
            one.invalid_text(&format!("if '{resource}/*' is present, must not specify {text}"), errors);
        }
        if below_all.contains(below) {
            one.invalid_text(&format!("if '*/{below}' is present, must not specify {text}"), errors);
        }
        if below == "*" {
            all_below.insert(resource.to_owned());
        }
        if resource == "*" {
            below_all.insert(below.to_owned());
        }
    }
    let texts = list.texts();
    if texts.len() > 1 && texts.contains(&"*/*") {
        list.invalid("if '*/*' is present, must not specify other resources", errors);
    }
    if texts.contains(&"*") && is_plain {
        list.invalid("if '*' is present, must not specify other resources without subresources", errors);
    }
}

fn client(config: &Place<'_>, errors: &mut Errors) {
    let (url, service) = (config.field("url"), config.field("service"));
    match (url.is_set(), service.is_set()) {
        (true, false) => webhook_url(&url, errors),
        (false, true) => webhook_service(&service, errors),
        _ => config.required("exactly one of url or service is required", errors),
    }
}

const FORM: &str = "; desired format: https://host[/path]";

/// Source: `ValidateWebhookURL`, and Go's `net/url` for how an address is taken apart.
fn webhook_url(place: &Place<'_>, errors: &mut Errors) {
    let url = match Url::parse(place.text()) {
        Ok(url) => url,
        Err(why) => {
            let shown = json!(place.text());
            return place.required(&format!("url must be a valid URL: parse {shown}: {why}{FORM}"), errors);
        }
    };
    if url.scheme != "https" {
        place.invalid_as(&url.scheme, &format!("'https' is the only allowed URL scheme{FORM}"), errors);
    }
    if url.host.is_empty() {
        place.invalid_as("", &format!("host must be specified{FORM}"), errors);
    }
    for (part, detail) in [
        (url.user, "user information is not permitted in the URL"),
        (url.fragment, "fragments are not permitted in the URL"),
        (url.query, "query parameters are not permitted in the URL"),
    ] {
        if let Some(part) = part {
            place.invalid_as(part, detail, errors);
        }
    }
}

/// The parts of an address that may be there and those that may not.
struct Url<'u> {
    scheme: String,
    host: &'u str,
    user: Option<&'u str>,
    fragment: Option<&'u str>,
    query: Option<&'u str>,
}

impl<'u> Url<'u> {
    fn parse(text: &'u str) -> Result<Self, String> {
        if text.bytes().any(|b| b.is_ascii_control()) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let (rest, fragment) = apart(text, '#');
        let (scheme, rest) = scheme(rest)?;
        let (rest, query) = apart(rest, '?');
        let authority = rest.strip_prefix("//").map(|rest| rest.split('/').next().unwrap_or(rest));
        if authority.is_none()
            && scheme.is_empty()
            && rest.split('/').next().is_some_and(|part| part.contains(':'))
        {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
        let (user, host) = match authority.unwrap_or_default().rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority.unwrap_or_default()),
        };
        well_formed(host, rest)?;
        Ok(Self { scheme, host, user, fragment, query })
    }
}

/// Whether host and path are spelled as such: a port is a number, an escape has two digits.
fn well_formed(host: &str, rest: &str) -> Result<(), String> {
    let behind = host.rfind(']').map_or(host, |at| host.get(at + 1..).unwrap_or_default());
    if let Some(at) = behind.rfind(':')
        && let Some(port) = behind.get(at..)
        && !port.bytes().skip(1).all(|b| b.is_ascii_digit())
    {
        return Err(format!("invalid port {} after host", json!(port)));
    }
    let escapes =
        [host, rest].into_iter().flat_map(|text| text.match_indices('%').map(move |(at, _)| (text, at)));
    for (text, at) in escapes {
        let escape = text.get(at..).unwrap_or_default();
        let escape = escape.get(..3.min(escape.len())).unwrap_or(escape);
        if escape.len() < 3 || !escape.bytes().skip(1).all(|b| b.is_ascii_hexdigit()) {
            return Err(format!("invalid URL escape {}", json!(escape)));
        }
    }
    let odd =
        |c: &char| c.is_ascii() && !c.is_ascii_alphanumeric() && !"-_.~!$&'()*+,;=:[]<>\"%".contains(*c);
    match host.chars().find(odd) {
        Some(odd) => Err(format!("invalid character {} in host name", json!(odd.to_string()))),
        None => Ok(()),
    }
}

/// A text up to a mark, and what follows, unless that is empty.
fn apart(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, after)) => (before, Some(after).filter(|after| !after.is_empty())),
        None => (text, None),
    }
}

/// The scheme, in lower case, and what follows it; nothing where the address begins otherwise.
fn scheme(text: &str) -> Result<(String, &str), String> {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    match text.split_once(':') {
        Some(("", _)) => Err("missing protocol scheme".to_owned()),
        Some((scheme, rest))
            if scheme.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
                && scheme.bytes().all(inner) =>
        {
            Ok((scheme.to_lowercase(), rest))
        }
        _ => Ok((String::new(), text)),
    }
}

/// Source: `ValidateWebhookService`, which gets name and namespace the wrong way round.
fn webhook_service(service: &Place<'_>, errors: &mut Errors) {
    for (given, named) in [("namespace", "name"), ("name", "namespace")] {
        if service.field(given).is_empty() {
            service.field(named).required("", errors);
        }
    }
    let port = service.field("port");
    if !(1..=65535).contains(&port.number_or_zero()) {
        port.invalid_number("port is not valid: must be between 1 and 65535, inclusive", errors);
    }
    webhook_path(&service.field("path"), errors);
}

fn webhook_path(path: &Place<'_>, errors: &mut Errors) {
    match path.text() {
        "" | "/" => return,
        "//" => return path.invalid_text("segment[0] may not be empty", errors),
        text if !text.starts_with('/') => path.invalid_text("must start with a '/'", errors),
        _ => {}
    }
    // The server cuts the first byte off whatever it is.
    let rest =
        path.text().char_indices().nth(1).and_then(|(at, _)| path.text().get(at..)).unwrap_or_default();
    for (at, step) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if step.is_empty() {
            path.invalid_text(&format!("segment[{at}] may not be empty"), errors);
            continue;
        }
        for fault in names::subdomain_faults(step) {
            path.invalid_text(&format!("segment[{at}]: {fault}"), errors);
        }
    }
}

/// Source: `validateMatchConditions`.
fn match_conditions(conditions: &Place<'_>, minor: u16, errors: &mut Errors) {
    let count = conditions.items().count();
    if count > 64 {
        errors.push(FieldError::too_many(conditions.name(), count, 64));
    }
    let mut seen = BTreeSet::new();
    for condition in conditions.items() {
        let (name, expression) = (condition.field("name"), condition.field("expression"));
        match expression.text().trim() {
            "" => expression.required("", errors),
            source => compiled(&expression, source, minor, errors),
        }
        name.needed_named(names::qualified_name_faults, errors);
        if !name.is_empty() && !seen.insert(name.text().to_owned()) {
            name.duplicate(errors);
        }
    }
}

/// An expression must be one, with types that fit, and say yes or no.
fn compiled(place: &Place<'_>, source: &str, minor: u16, errors: &mut Errors) {
    let checked = cel::Program::compile(source).and_then(|program| cel::check(&program, &variables(), minor));
    let fault = match checked.map(|checked| checked.result) {
        Ok(Decl::Bool | Decl::Dyn { .. }) => return,
        Ok(other) => format!("must evaluate to bool but got {}", other.name()),
        Err(why) => format!("compilation failed: {why}"),
    };
    errors.push(FieldError::invalid(place.name(), &json!(source), &fault));
}

/// What an expression can look at.
///
/// Source: apiserver 0.34.3, `pkg/admission/plugin/cel/compile.go`, `BuildRequestType`.
fn variables() -> Vec<(&'static str, Decl)> {
    let any = ["object", "oldObject", "namespaceObject", "authorizer"].map(|name| (name, Decl::ANY));
    any.into_iter().chain([("request", request())]).collect()
}

const TEXT: Decl = Decl::Text { max: cel::MAX_REQUEST };

fn list_of(item: Decl) -> Decl {
    Decl::List { item: Arc::new(item), max: cel::MAX_REQUEST }
}

fn object_of<const N: usize>(fields: [(&str, Decl); N]) -> Decl {
    Decl::Object(Arc::new(fields.into_iter().map(|(name, decl)| (name.to_owned(), decl)).collect()))
}

fn request() -> Decl {
    let kind = object_of([("group", TEXT), ("version", TEXT), ("kind", TEXT)]);
    let resource = object_of([("group", TEXT), ("version", TEXT), ("resource", TEXT)]);
    let extra = Decl::Map { value: Arc::new(list_of(TEXT)), max: cel::MAX_REQUEST };
    let user = [("username", TEXT), ("uid", TEXT), ("groups", list_of(TEXT)), ("extra", extra)];
    object_of([
        ("kind", kind.clone()),
        ("resource", resource.clone()),
        ("subResource", TEXT),
        ("requestKind", kind),
        ("requestResource", resource),
        ("requestSubResource", TEXT),
        ("name", TEXT),
        ("namespace", TEXT),
        ("operation", TEXT),
        ("userInfo", object_of(user)),
        ("dryRun", Decl::Bool),
        ("options", Decl::ANY),
    ])
}
