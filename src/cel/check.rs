//! Static checks of expressions: fields and functions that do not exist, types that do not match, estimated cost.
//!
//! Costs as cel-go `checker/cost.go` and `k8s.io/apiserver` 1.34 `pkg/cel/library/cost.go`; only the upper bound counts.
//! What is not known for certain passes: the checker never refuses what the server accepts.

use std::sync::Arc;

use ::cel::IdedExpr;
use ::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, SourceInfo, operators};

use crate::cel::decl::Decl;
use crate::cel::functions;
use crate::cel::program::Program;

use names::{KNOWN, NAMES, is_known};
use results::{equality, function, grown, item_of, literal, ordered, sum, tenth};

mod names;
mod results;

/// What a check found out.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The type of the result.
    pub result: Decl,
    /// The most that one evaluation can cost.
    pub cost: u64,
}

/// Checks an expression whose variables have the given types, for Kubernetes 1.`minor`.
///
/// # Errors
/// The faults, as cel-go prints them.
pub fn check(program: &Program, variables: &[(&str, Decl)], minor: u16) -> Result<Checked, String> {
    let scope = variables.iter().map(|(name, decl)| ((*name).to_owned(), decl.clone())).collect();
    let mut checker = Checker { scope, faults: Vec::new(), source: program.source_info(), minor };
    let found = checker.expr(program.expression());
    if checker.faults.is_empty() {
        return Ok(Checked { result: found.decl, cost: found.cost });
    }
    Err(checker.faults.join("\n"))
}

/// Type and cost of an expression.
struct Found {
    decl: Decl,
    cost: u64,
}

struct Checker<'s> {
    scope: Vec<(String, Decl)>,
    faults: Vec<String>,
    source: &'s SourceInfo,
    minor: u16,
}

impl Checker<'_> {
    fn fault(&mut self, id: u64, words: &str) {
        let offset = self.source.offset_for(id).map_or(0, |(start, _)| start as usize);
        let chars: Vec<char> = self.source.source.chars().collect();
        let before = chars.get(..offset.min(chars.len())).unwrap_or_default();
        let line = before.iter().filter(|c| **c == '\n').count();
        let column = before.iter().rev().take_while(|c| **c != '\n').count();
        let text = self.source.source.lines().nth(line).unwrap_or("");
        let dots = ".".repeat(column);
        self.faults.push(format!(
            "ERROR: <input>:{}:{}: {words}\n | {text}\n | {dots}^",
            line + 1,
            column + 1
        ));
    }

    fn expr(&mut self, expr: &IdedExpr) -> Found {
        match &expr.expr {
            Expr::Ident(name) => Found { decl: self.name(expr.id, name), cost: 1 },
            Expr::Literal(value) => Found { decl: literal(value), cost: 0 },
            Expr::Select(select) => {
                if let Some(decl) = self.qualified(expr) {
                    return Found { decl, cost: 1 };
                }
                let operand = self.expr(&select.operand);
                let field = self.field(expr.id, &operand.decl, &select.field);
                let cost = if select.test { operand.cost } else { operand.cost.saturating_add(1) };
                Found { decl: if select.test { Decl::Bool } else { field }, cost }
            }
            Expr::Call(call) => self.call(expr.id, call),
            Expr::List(list) => {
                let mut item: Option<Decl> = None;
                let mut cost = 10_u64;
                for element in &list.elements {
                    let found = self.expr(element);
                    cost = cost.saturating_add(found.cost);
                    item = Some(item.map_or(found.decl.clone(), |item| item.join(&found.decl)));
                }
                let max = list.elements.len() as u64;
                Found { decl: Decl::List { item: Arc::new(item.unwrap_or(Decl::ANY)), max }, cost }
            }
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr), 30),
            Expr::Struct(object) => self.entries(object.entries.iter().map(|entry| &entry.expr), 40),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Unspecified => Found { decl: Decl::ANY, cost: 0 },
        }
    }

    fn entries<'e>(&mut self, entries: impl Iterator<Item = &'e EntryExpr>, base: u64) -> Found {
        let (mut cost, mut max) = (base, 0);
        for entry in entries {
            max += 1;
            match entry {
                EntryExpr::MapEntry(entry) => {
                    cost = cost
                        .saturating_add(self.expr(&entry.key).cost)
                        .saturating_add(self.expr(&entry.value).cost);
                }
                EntryExpr::StructField(field) => cost = cost.saturating_add(self.expr(&field.value).cost),
            }
        }
        Found { decl: Decl::Map { value: Arc::new(Decl::ANY), max }, cost }
    }

    fn name(&mut self, id: u64, name: &str) -> Decl {
        if let Some((_, decl)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            return decl.clone();
        }
        if !NAMES.contains(&name) && !name.starts_with(['@', '#', '.']) {
            self.fault(id, &format!("undeclared reference to '{name}' (in container '')"));
        }
        Decl::ANY
    }

    /// A selection that spells a type, such as `net.IP`.
    fn qualified(&self, expr: &IdedExpr) -> Option<Decl> {
        let mut at = expr;
        while let Expr::Select(select) = &at.expr {
            at = &select.operand;
        }
        match &at.expr {
            Expr::Ident(name)
                if NAMES.contains(&name.as_str()) && !self.scope.iter().any(|(known, _)| known == name) =>
            {
                Some(Decl::Type)
            }
            _ => None,
        }
    }

    fn field(&mut self, id: u64, operand: &Decl, name: &str) -> Decl {
        match operand {
            Decl::Object(fields) => match fields.get(name) {
                Some(decl) => decl.clone(),
                None => {
                    self.fault(id, &format!("undefined field '{name}'"));
                    Decl::ANY
                }
            },
            Decl::Map { value, .. } => (**value).clone(),
            Decl::Optional(held) => {
                let held = (**held).clone();
                Decl::Optional(Arc::new(self.field(id, &held, name)))
            }
            Decl::Dyn { .. } => Decl::ANY,
            other => {
                self.fault(id, &format!("type '{}' does not support field selection", other.name()));
                Decl::ANY
            }
        }
    }

    fn comprehension(&mut self, loops: &ComprehensionExpr) -> Found {
        let range = self.expr(&loops.iter_range);
        let init = self.expr(&loops.accu_init);
        let (item, turns) = match &range.decl {
            Decl::List { item, max } => ((**item).clone(), *max),
            Decl::Map { max, .. } => (Decl::Text { max: super::decl::MAX_REQUEST - 2 }, *max),
            Decl::Dyn { max } => (Decl::ANY, *max),
            Decl::Object(_) => (Decl::Text { max: super::decl::MAX_REQUEST - 2 }, 1),
            other => {
                let words = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    other.name()
                );
                self.fault(loops.iter_range.id, &words);
                (Decl::ANY, 0)
            }
        };
        let depth = self.scope.len();
        let accumulator = match &init.decl {
            Decl::List { item, max: 0 } if item.is_dyn() => Decl::List { item: item.clone(), max: turns },
            decl => decl.clone(),
        };
        self.scope.push((loops.accu_var.clone(), accumulator.clone()));
        self.scope.push((loops.iter_var.clone(), item));
        let condition = self.expr(&loops.loop_cond);
        let step = self.expr(&loops.loop_step);
        self.scope.truncate(depth);
        let grown = grown(&accumulator, &step.decl, turns);
        self.scope.push((loops.accu_var.clone(), grown));
        let result = self.expr(&loops.result);
        self.scope.truncate(depth);
        let once = condition.cost.saturating_add(step.cost);
        let cost = range
            .cost
            .saturating_add(init.cost)
            .saturating_add(turns.saturating_mul(once))
            .saturating_add(result.cost);
        Found { decl: result.decl, cost }
    }

    fn call(&mut self, id: u64, call: &CallExpr) -> Found {
        let name = qualified_name(call);
        let is_namespaced = name.contains('.') && functions::all().any(|overload| overload.name == name)
            || KNOWN.contains(&name.as_str()) && name.contains('.');
        let target = call.target.as_deref().filter(|_| !is_namespaced).map(|target| self.expr(target));
        let mut args: Vec<Found> = target.into_iter().collect();
        args.extend(call.args.iter().map(|arg| self.expr(arg)).collect::<Vec<_>>());
        let base = args.iter().fold(0_u64, |sum, arg| sum.saturating_add(arg.cost));
        if let Some(found) = self.operator(id, &call.func_name, &args, base) {
            return found;
        }
        if !is_known(&name, self.minor) && !name.starts_with('@') {
            self.fault(id, &format!("undeclared reference to '{name}' (in container '')"));
            return Found { decl: Decl::ANY, cost: base };
        }
        let decls: Vec<&Decl> = args.iter().map(|arg| &arg.decl).collect();
        let (decl, own) = function(&name, &decls);
        Found { decl, cost: base.saturating_add(own) }
    }

    /// Operators, with their type rules.
    fn operator(&mut self, id: u64, operator: &str, args: &[Found], base: u64) -> Option<Found> {
        let plus = |cost: u64| base.saturating_add(cost);
        let (first, second) = (args.first(), args.get(1));
        let found = match (operator, first, second) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR, Some(a), Some(b)) => {
                for side in [a, b] {
                    if !side.decl.is_dyn() && side.decl != Decl::Bool {
                        self.mismatch(id, operator, args);
                        break;
                    }
                }
                Found { decl: Decl::Bool, cost: base }
            }
            (operators::LOGICAL_NOT, Some(_), None) => Found { decl: Decl::Bool, cost: plus(1) },
            (operators::NOT_STRICTLY_FALSE, ..) => Found { decl: Decl::Bool, cost: base },
            (operators::CONDITIONAL, Some(condition), Some(yes)) => {
                let no = args.get(2)?;
                let cost = condition.cost.saturating_add(yes.cost.max(no.cost));
                Found { decl: yes.decl.join(&no.decl), cost }
            }
            (operators::EQUALS | operators::NOT_EQUALS, Some(a), Some(b)) => {
                if !a.decl.comparable(&b.decl) {
                    self.mismatch(id, operator, args);
                }
                Found { decl: Decl::Bool, cost: plus(equality(&a.decl, &b.decl)) }
            }
            (
                operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS,
                Some(a),
                Some(b),
            ) => {
                if !ordered(&a.decl, &b.decl) {
                    self.mismatch(id, operator, args);
                }
                Found { decl: Decl::Bool, cost: plus(equality(&a.decl, &b.decl)) }
            }
            (operators::IN, Some(_), Some(list)) => {
                let size = if matches!(list.decl, Decl::List { .. } | Decl::Dyn { .. }) {
                    list.decl.size()
                } else {
                    1
                };
                Found { decl: Decl::Bool, cost: plus(size) }
            }
            (operators::INDEX, Some(list), Some(_)) => Found { decl: item_of(&list.decl), cost: plus(1) },
            (operators::OPT_INDEX, Some(list), Some(_)) => {
                Found { decl: Decl::Optional(Arc::new(item_of(&list.decl))), cost: plus(1) }
            }
            (operators::OPT_SELECT, Some(_), Some(_)) => {
                Found { decl: Decl::Optional(Arc::new(Decl::ANY)), cost: plus(1) }
            }
            (operators::ADD, Some(a), Some(b)) => {
                let decl = sum(&a.decl, &b.decl).unwrap_or_else(|| {
                    self.mismatch(id, operator, args);
                    Decl::ANY
                });
                let text = matches!(decl, Decl::Text { .. } | Decl::Bytes { .. });
                Found { cost: plus(if text { tenth(decl.size()) } else { 1 }), decl }
            }
            (
                operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO,
                Some(a),
                Some(b),
            ) => {
                let decl = match (&a.decl, &b.decl) {
                    (Decl::Timestamp, Decl::Timestamp) => Decl::Duration,
                    (a, b) if a == b || b.is_dyn() => a.clone(),
                    (a, b) if a.is_dyn() => b.clone(),
                    (Decl::Timestamp, Decl::Duration) => Decl::Timestamp,
                    _ => {
                        self.mismatch(id, operator, args);
                        Decl::ANY
                    }
                };
                Found { decl, cost: plus(1) }
            }
            (operators::NEGATE, Some(a), None) => Found { decl: a.decl.clone(), cost: plus(1) },
            _ => return None,
        };
        Some(found)
    }

    fn mismatch(&mut self, id: u64, function: &str, args: &[Found]) {
        let types: Vec<String> = args.iter().map(|arg| arg.decl.name()).collect();
        let words =
            format!("found no matching overload for '{function}' applied to '({})'", types.join(", "));
        self.fault(id, &words);
    }
}

/// A function's name with the namespace before it.
fn qualified_name(call: &CallExpr) -> String {
    match call.target.as_deref().map(|target| &target.expr) {
        Some(Expr::Ident(namespace)) if NAMES.contains(&namespace.as_str()) => {
            format!("{namespace}.{}", call.func_name)
        }
        _ => call.func_name.clone(),
    }
}
