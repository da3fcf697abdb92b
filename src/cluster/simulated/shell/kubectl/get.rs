//! `kubectl get` and `kubectl api-resources`.

use serde_json::{Value, json};

use super::{Flow, Kubectl, Named, Stop, output};

/// `kubectl get`
pub(super) fn main(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    if kubectl.arguments.on("watch") {
        return Err(Stop::Unknown("kubectl get --watch".to_owned()));
    }
    if kubectl.arguments.operands.is_empty() && kubectl.arguments.value("filename").is_none() {
        return Ok(kubectl.fail("error: Required resource not specified."));
    }
    let operands = kubectl.arguments.operands.clone();
    if let [kinds] = operands.as_slice()
        && !kinds.contains('/')
    {
        let found = match kubectl.collection(kinds)? {
            Ok(found) => found,
            Err(status) => return Ok(status),
        };
        return kubectl.show_collection(found);
    }
    let names = match kubectl.requested(&operands)? {
        Ok(names) => names,
        Err(status) => return Ok(status),
    };
    kubectl.show_named(names)
}

impl Kubectl<'_, '_> {
    fn requested(&mut self, operands: &[String]) -> Flow<Result<Vec<Named>, i32>> {
        if self.arguments.value("filename").is_none() {
            return Ok(self.operands(operands));
        }
        Ok(match self.manifests()? {
            Ok(manifests) => manifests.iter().map(|m| self.named(&m.object, &m.source)).collect(),
            Err(status) => Err(status),
        })
    }

    fn show_collection(&mut self, found: Vec<(Named, Value)>) -> Flow {
        if found.is_empty() && self.tabular() {
            self.fail("No resources found");
            return Ok(0);
        }
        self.show(found, true)
    }

    fn show_named(&mut self, names: Vec<Named>) -> Flow {
        let (mut status, mut found) = (0, Vec::new());
        let single = names.len() == 1;
        for named in names {
            let response = self.send(named.get())?;
            if response.ok() {
                found.push((named, response.body.as_ref().clone()));
            } else if response.status != 404 || !self.arguments.on("ignore-not-found") {
                status = self.refused(&response);
            }
        }
        if !found.is_empty() {
            self.show(found, !single)?;
        }
        Ok(status)
    }

    fn tabular(&self) -> bool {
        self.arguments.value("output").is_none_or(|o| o == "wide" || o.is_empty())
    }

    fn show(&mut self, found: Vec<(Named, Value)>, list: bool) -> Flow {
        let form = self.arguments.value("output").unwrap_or("").to_owned();
        if self.tabular() {
            let headers = !self.arguments.on("no-headers");
            let rows: Vec<String> = found.iter().map(|(named, _)| named.name.clone()).collect();
            let width = rows.iter().map(String::len).max().unwrap_or(0).max(4);
            if headers {
                self.say(&format!("{:width$}   AGE", "NAME"));
            }
            for row in rows {
                self.say(&format!("{row:width$}   1s"));
            }
            return Ok(0);
        }
        if form == "name" {
            for (named, _) in &found {
                let line = named.label();
                self.say(&line);
            }
            return Ok(0);
        }
        let mut objects: Vec<Value> = found.into_iter().map(|(_, object)| object).collect();
        let shown = match (list, objects.len()) {
            (false, 1) => objects.remove(0),
            _ => {
                json!({"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}})
            }
        };
        output::print(self, &form, &shown)?;
        Ok(0)
    }
}

/// `kubectl api-resources`, with `-o name` or as bare names.
pub(super) fn api_resources(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    let group = kubectl.arguments.value("api-group").map(str::to_owned);
    let resources = kubectl.resources.clone();
    for resource in resources.iter() {
        let r = &resource.resource;
        if group.as_ref().is_some_and(|g| *g != r.group) {
            continue;
        }
        let line = if r.group.is_empty() { r.plural.clone() } else { format!("{}.{}", r.plural, r.group) };
        kubectl.say(&line);
    }
    Ok(0)
}
