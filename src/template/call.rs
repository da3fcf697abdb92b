//! Calls: evaluation and conversion of arguments, with Go's checks and error texts.

use std::rc::Rc;

use super::ast::{At, Callee, Term, TermKind};
use super::exec::{Done, Exec, Frame};
use super::funcs::go::{Body, Builtin};
use super::funcs::{Fault, Func, duration};
use super::number::Number;
use super::object::Method;
use super::operand::Operand;
use super::types::Type;
use super::value::Value;

/// Bytes of a result that cost one step.
pub(crate) const BYTES_PER_STEP: usize = 1_024;

/// Arguments of a call: terms, then the value from the pipeline.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'t> {
    pub(crate) terms: &'t [Term],
    pub(crate) last: Option<Operand>,
}

impl Arguments<'_> {
    pub(crate) fn any(&self) -> bool {
        !self.terms.is_empty() || self.last.is_some()
    }

    fn count(&self) -> usize {
        self.terms.len() + usize::from(self.last.is_some())
    }

    /// Go's check of the number of arguments.
    fn check(&self, frame: &Frame<'_>, name: &str, fixed: usize, variadic: bool) -> Done<()> {
        let count = self.count();
        if variadic && count < fixed {
            let got = self.terms.len();
            return frame.error(format!("wrong number of args for {name}: want at least {fixed} got {got}"));
        }
        if !variadic && count != fixed {
            return frame.error(format!("wrong number of args for {name}: want {fixed} got {count}"));
        }
        Ok(())
    }
}

/// Go copies a struct when it hands it to a function.
fn detach(value: &mut Value) {
    if let Value::Object(object) = value
        && let Some(copy) = object.detached()
    {
        *value = copy;
    }
}

impl Exec<'_> {
    pub(crate) fn call<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        callee: Callee,
        node: At<'t>,
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        match callee {
            Callee::Func(func) => self.function(frame, dot, func, None, func.name, node, arguments),
            Callee::Builtin(builtin) => self.builtin(frame, dot, builtin, node, arguments),
        }
    }

    pub(crate) fn method<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        receiver: Value,
        method: &'static Method,
        term: &'t Term,
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        self.function(frame, dot, &method.func, Some(receiver), method.name, At::Term(term), arguments)
    }

    #[expect(clippy::too_many_arguments, reason = "the state of Go's evalCall")]
    fn function<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        func: &Func,
        receiver: Option<Value>,
        name: &str,
        node: At<'t>,
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        let signature = &func.signature;
        let params = signature.params.get(usize::from(receiver.is_some())..).unwrap_or(&[]);
        arguments.check(frame, name, params.len() - usize::from(signature.variadic), signature.variadic)?;
        if let Type::Uncallable(why) = signature.result {
            return frame.error(why);
        }
        let mut values = Vec::with_capacity(arguments.count() + 1);
        values.extend(receiver);
        let received = values.len();
        let param = |at: usize| params.get(at).or(params.last()).unwrap_or(&Type::Interface);
        for (at, term) in arguments.terms.iter().enumerate() {
            values.push(self.argument(frame, dot, param(at), term)?.value);
        }
        if let Some(last) = arguments.last {
            values.push(validate(frame, last, param(arguments.terms.len()))?.value);
        }
        values.iter_mut().skip(received).for_each(detach);
        let foreseen = self.foresee(name, signature.variadic, &values);
        let result = foreseen.and_then(|()| (func.call)(self, &mut values));
        self.finish(frame, name, node, result).map(|value| Operand::typed(value, &signature.result))
    }

    /// Puts a failure into Go's words and pays for large results.
    fn finish<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        name: &str,
        node: At<'t>,
        result: Result<Value, Fault>,
    ) -> Done<Value> {
        let result = result.and_then(|value| {
            if let Value::String(text) | Value::Bytes(text) = &value {
                self.pay_for(text.len())?;
            }
            self.charge(&value)?;
            Ok(value)
        });
        result.map_err(|fault| {
            frame.at = node;
            frame.fault(fault.context(&format!("error calling {name}: ")))
        })
    }

    fn pay_for(&mut self, bytes: usize) -> Result<(), Fault> {
        let limit = self.limits.output_bytes;
        if bytes > limit {
            return Err(Fault::limit(format_args!("a string is longer than {limit} bytes"), "output-bytes"));
        }
        self.pay(u64::try_from(bytes / BYTES_PER_STEP).unwrap_or(u64::MAX))
    }

    fn builtin<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        builtin: &'static Builtin,
        node: At<'t>,
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        arguments.check(frame, builtin.name, builtin.fixed, builtin.variadic)?;
        if let Body::ShortCircuit(stop) = builtin.body {
            return self.short_circuit(frame, dot, stop, arguments);
        }
        let name = match (&arguments.terms, &arguments.last) {
            ([first, ..], _) => first.print(frame.source()),
            ([], Some(last)) => format!("<{} Value>", last.value.type_name()),
            ([], None) => String::new(),
        };
        let values = self.builtin_arguments(frame, dot, builtin, arguments)?;
        let result = match builtin.body {
            Body::Plain(body) => {
                let plain: Vec<Value> = values.iter().map(|operand| operand.value.clone()).collect();
                self.foresee(builtin.name, builtin.variadic, &plain).and_then(|()| body(&values))
            }
            _ => self.call_value(&name, values),
        };
        let value = self.finish(frame, builtin.name, node, result)?;
        // Only an element that `index` finds is an interface, and that only matters when it is nil.
        Ok(Operand { interface: matches!(value, Value::Nil), value })
    }

    fn builtin_arguments<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        builtin: &Builtin,
        arguments: Arguments<'t>,
    ) -> Done<Vec<Operand>> {
        let param = |at: usize| if builtin.format && at == 0 { Type::String } else { Type::Reflect };
        let mut values = Vec::with_capacity(arguments.count());
        for (at, term) in arguments.terms.iter().enumerate() {
            values.push(self.argument(frame, dot, &param(at), term)?);
        }
        if let Some(last) = arguments.last {
            values.push(validate(frame, last, &param(arguments.terms.len()))?);
        }
        Ok(values)
    }

    /// `and`, `or`: the first argument that decides, or the last; the rest is not evaluated.
    fn short_circuit<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        stop: bool,
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        let mut operand = Operand::default();
        for term in arguments.terms {
            operand = self.argument(frame, dot, &Type::Reflect, term)?;
            if operand.value.truth() == stop {
                return Ok(operand);
            }
        }
        Ok(arguments.last.unwrap_or(operand))
    }

    /// `call`: the first operand is a function.
    fn call_value(&mut self, name: &str, operands: Vec<Operand>) -> Result<Value, Fault> {
        let mut operands = operands.into_iter();
        let func = match operands.next().map(|operand| operand.value) {
            Some(Value::Func(func)) => func,
            Some(Value::Nil) | None => return Err(Fault::new("call of nil")),
            Some(other) => {
                return Err(Fault::new(format!("non-function {name} of type {}", other.type_name())));
            }
        };
        let signature = &func.signature;
        let (count, fixed) = (operands.len(), signature.params.len() - usize::from(signature.variadic));
        if signature.variadic && count < fixed {
            return Err(Fault::new(format!(
                "wrong number of args for {name}: got {count} want at least {fixed}"
            )));
        }
        if !signature.variadic && count != fixed {
            return Err(Fault::new(format!("wrong number of args for {name}: got {count} want {fixed}")));
        }
        let param =
            |at: usize| signature.params.get(at).or(signature.params.last()).unwrap_or(&Type::Interface);
        let mut values = Vec::with_capacity(count);
        for (at, operand) in operands.enumerate() {
            values.push(
                prepare(operand.value, param(at)).map_err(|fault| fault.context(&format!("arg {at}: ")))?,
            );
        }
        (func.call)(self, &mut values)
    }

    /// An argument of a given type.
    fn argument<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        ty: &Type,
        term: &'t Term,
    ) -> Done<Operand> {
        frame.at = At::Term(term);
        match &term.kind {
            TermKind::Nil if ty.can_be_nil() => Ok(Operand { value: Value::zero(ty), interface: false }),
            TermKind::Nil => frame.error(format!("cannot assign nil to {ty}")),
            TermKind::Bool(_) | TermKind::Number(_) | TermKind::String(_) => {
                self.literal(frame, dot, ty, term)
            }
            _ => {
                let operand = self.term(frame, dot, term)?;
                validate(frame, operand, ty)
            }
        }
    }

    fn literal<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        ty: &Type,
        term: &'t Term,
    ) -> Done<Operand> {
        let value = match (ty, &term.kind) {
            (Type::Interface | Type::Reflect, _) => return self.term(frame, dot, term),
            (Type::Bool, TermKind::Bool(b)) => Some(Value::Bool(*b)),
            (Type::String, TermKind::String(text)) => Some(Value::String(text.clone())),
            (_, TermKind::Number(number)) => numeric(ty, number),
            _ => None,
        };
        match (value, expected(ty)) {
            (Some(value), _) => Ok(Operand::concrete(value)),
            (None, Some(what)) => {
                frame.error(format!("expected {what}; found {}", term.print(frame.source())))
            }
            (None, None) => {
                frame.error(format!("can't handle {} for arg of type {ty}", term.print(frame.source())))
            }
        }
    }
}

/// What Go says a constant must be.
fn expected(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Bool => "bool",
        Type::String => "string",
        Type::Int | Type::Int32 | Type::Int64 | Type::Object(duration::TYPE_NAME) => "integer",
        Type::Uint8 | Type::Uint64 => "unsigned integer",
        Type::Float64 => "float",
        _ => return None,
    })
}

fn numeric(ty: &Type, number: &Number) -> Option<Value> {
    match ty {
        Type::Int => number.int.map(Value::Int),
        Type::Int64 => number.int.map(Value::Int64),
        Type::Int32 => number.int.map(|int| Value::Int32(int as i32)),
        Type::Uint64 => number.uint.map(Value::Uint64),
        Type::Uint8 => number.uint.map(|uint| Value::Uint8(uint as u8)),
        Type::Float64 => number.float.map(Value::Float),
        Type::Object(duration::TYPE_NAME) => {
            number.int.map(|nanos| Value::Object(Rc::new(duration::named(nanos))))
        }
        _ => None,
    }
}

/// `validateType`: the operand as a value of the type.
fn validate(frame: &Frame<'_>, operand: Operand, ty: &Type) -> Done<Operand> {
    if matches!(ty, Type::Reflect) {
        return Ok(operand);
    }
    if operand.is_invalid() {
        if ty.can_be_nil() {
            return Ok(Operand::typed(Value::zero(ty), ty));
        }
        return frame.error(format!("invalid value; expected {ty}"));
    }
    if *ty == Type::Interface {
        return Ok(operand);
    }
    let got =
        if matches!(operand.value, Value::Nil) { operand.type_name() } else { operand.value.type_name() };
    match assign(operand.value, ty) {
        Some(value) => Ok(Operand::concrete(value)),
        None => frame.error(format!("wrong type for value; expected {ty}; got {got}")),
    }
}

/// The value as one of the type, when Go would assign it.
fn assign(value: Value, ty: &Type) -> Option<Value> {
    let own = value.ty()?;
    if own == *ty {
        return Some(value);
    }
    match (value, ty) {
        // A named type and its underlying one.
        (Value::Map(map), Type::Map(to))
            if map.ty().elem == to.elem && either_unnamed(map.ty().name, to.name) =>
        {
            Some(Value::Map(map.with_type(to)))
        }
        (Value::List(list), Type::Slice(to))
            if list.ty().elem == to.elem && either_unnamed(list.ty().name, to.name) =>
        {
            Some(Value::List(list.with_type(to)))
        }
        // One dereference.
        (Value::Object(object), Type::Object(name)) if object.type_name().strip_prefix('*') == Some(name) => {
            Some(Value::Object(object))
        }
        _ => None,
    }
}

fn either_unnamed(one: &str, other: &str) -> bool {
    let unnamed = |name: &str| name.starts_with("map[") || name.starts_with("[]");
    unnamed(one) || unnamed(other)
}

/// `prepareArg`: like [`assign`], with conversions between integers.
fn prepare(value: Value, ty: &Type) -> Result<Value, Fault> {
    if matches!(value, Value::Nil) {
        return if ty.can_be_nil() {
            Ok(Value::zero(ty))
        } else {
            Err(Fault::new(format!("value is nil; should be of type {ty}")))
        };
    }
    if matches!(ty, Type::Interface | Type::Reflect) {
        return Ok(value);
    }
    let got = value.type_name();
    let number = value.as_int().map(|int| Number {
        int: Some(int),
        uint: Some(int.cast_unsigned()),
        ..Number::default()
    });
    let converted = assign(value, ty).or_else(|| number.as_ref().and_then(|number| numeric(ty, number)));
    converted.ok_or_else(|| Fault::new(format!("value has type {got}; should be {ty}")))
}
