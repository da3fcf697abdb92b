//! From typed Rust functions to Go signatures and back.

use super::{Engine, Fault};
use crate::template::object::{Named, Object};
use crate::template::types::{DICT, INTS, LIST, STRINGS, Type};
use crate::template::value::{GoStr, List, Map, Value};
use std::rc::Rc;
use std::sync::LazyLock;

/// A Go signature.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// Types of the parameters; a variadic one stands last with the type of one argument.
    pub params: &'static [Type],
    /// Whether the last parameter may repeat.
    pub variadic: bool,
    /// Declared type of the result.
    pub result: Type,
}

/// A Rust type that a parameter may have.
pub trait Param {
    /// The Go type that the argument is converted to.
    const TYPE: Type;
    /// Whether it takes all remaining arguments.
    const VARIADIC: bool = false;
    /// The argument itself.
    type Arg<'a>;

    /// Makes a value readable as this type.
    fn prepare(_value: &mut Value) {}

    /// Takes the argument from the front.
    fn take<'a>(arguments: &mut &'a [Value]) -> Self::Arg<'a>;
}

fn first<'a>(arguments: &mut &'a [Value]) -> &'a Value {
    match arguments.split_first() {
        Some((value, rest)) => {
            *arguments = rest;
            value
        }
        None => &Value::Nil,
    }
}

fn utf8(value: &Value) -> &str {
    value.as_str().and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
}

fn make_utf8(value: &mut Value) {
    if let Value::String(text) = value
        && std::str::from_utf8(text).is_err()
    {
        *text = GoStr::from(text.lossy().into_owned());
    }
}

impl Param for &str {
    const TYPE: Type = Type::String;
    type Arg<'a> = &'a str;

    fn prepare(value: &mut Value) {
        make_utf8(value);
    }

    fn take<'a>(arguments: &mut &'a [Value]) -> &'a str {
        utf8(first(arguments))
    }
}

impl Param for &[u8] {
    const TYPE: Type = Type::String;
    type Arg<'a> = &'a [u8];

    fn take<'a>(arguments: &mut &'a [Value]) -> &'a [u8] {
        first(arguments).as_str().map_or(&[], GoStr::as_bytes)
    }
}

/// What stands for a string where there is none.
static NONE: LazyLock<GoStr> = LazyLock::new(GoStr::nil);

impl Param for &GoStr {
    const TYPE: Type = Type::String;
    type Arg<'a> = &'a GoStr;

    fn take<'a>(arguments: &mut &'a [Value]) -> &'a GoStr {
        first(arguments).as_str().unwrap_or(&NONE)
    }
}

impl Param for &Value {
    const TYPE: Type = Type::Interface;
    type Arg<'a> = &'a Value;

    fn take<'a>(arguments: &mut &'a [Value]) -> &'a Value {
        first(arguments)
    }
}

impl Param for &[Value] {
    const TYPE: Type = Type::Interface;
    const VARIADIC: bool = true;
    type Arg<'a> = &'a [Value];

    fn take<'a>(arguments: &mut &'a [Value]) -> &'a [Value] {
        std::mem::take(arguments)
    }
}

impl Param for i64 {
    const TYPE: Type = Type::Int;
    type Arg<'a> = i64;

    fn take(arguments: &mut &[Value]) -> i64 {
        first(arguments).as_int().unwrap_or_default()
    }
}

impl Param for f64 {
    const TYPE: Type = Type::Float64;
    type Arg<'a> = f64;

    fn take(arguments: &mut &[Value]) -> f64 {
        match first(arguments) {
            Value::Float(f) => *f,
            _ => 0.0,
        }
    }
}

impl Param for bool {
    const TYPE: Type = Type::Bool;
    type Arg<'a> = bool;

    fn take(arguments: &mut &[Value]) -> bool {
        matches!(first(arguments), Value::Bool(true))
    }
}

/// A parameter of type `[]interface{}`; not to be mixed up with the variadic `&[Value]`.
impl Param for List {
    const TYPE: Type = Type::Slice(&LIST);
    type Arg<'a> = List;

    fn take(arguments: &mut &[Value]) -> List {
        first(arguments).as_list().cloned().unwrap_or_else(|| List::nil(&LIST))
    }
}

impl Param for &List {
    const TYPE: Type = Type::Slice(&LIST);
    type Arg<'a> = &'a List;

    fn prepare(value: &mut Value) {
        if value.as_list().is_none() {
            *value = Value::List(List::nil(&LIST));
        }
    }

    #[expect(clippy::expect_used, reason = "prepare made it a list")]
    fn take<'a>(arguments: &mut &'a [Value]) -> &'a List {
        first(arguments).as_list().expect("a list after prepare")
    }
}

impl Param for Map {
    const TYPE: Type = Type::Map(&DICT);
    type Arg<'a> = Map;

    fn take(arguments: &mut &[Value]) -> Map {
        first(arguments).as_map().cloned().unwrap_or_else(|| Map::nil(&DICT))
    }
}

impl Param for &Map {
    const TYPE: Type = Type::Map(&DICT);
    type Arg<'a> = &'a Map;

    fn prepare(value: &mut Value) {
        if value.as_map().is_none() {
            *value = Value::Map(Map::nil(&DICT));
        }
    }

    #[expect(clippy::expect_used, reason = "prepare made it a map")]
    fn take<'a>(arguments: &mut &'a [Value]) -> &'a Map {
        first(arguments).as_map().expect("a map after prepare")
    }
}

/// The arguments of a variadic `...string`.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a>(&'a [Value]);

impl<'a> Strings<'a> {
    /// The strings in order.
    pub fn iter(self) -> impl Iterator<Item = &'a str> {
        self.0.iter().map(utf8)
    }
}

impl Param for Strings<'_> {
    const TYPE: Type = Type::String;
    const VARIADIC: bool = true;
    type Arg<'a> = Strings<'a>;

    fn prepare(value: &mut Value) {
        make_utf8(value);
    }

    fn take<'a>(arguments: &mut &'a [Value]) -> Strings<'a> {
        Strings(std::mem::take(arguments))
    }
}

/// A Rust type that a function may return.
pub trait Output {
    /// The declared type in Go.
    const TYPE: Type;

    /// The value or the failure.
    ///
    /// # Errors
    /// The function's own failure.
    fn output(self) -> Result<Value, Fault>;
}

macro_rules! output {
    ($($source:ty => $go:expr),+ $(,)?) => {$(
        impl Output for $source {
            const TYPE: Type = $go;

            fn output(self) -> Result<Value, Fault> {
                Ok(Value::from(self))
            }
        }
    )+};
}

output! {
    Value => Type::Interface,
    bool => Type::Bool,
    i64 => Type::Int,
    i32 => Type::Int32,
    u8 => Type::Uint8,
    u64 => Type::Uint64,
    f64 => Type::Float64,
    GoStr => Type::String,
    String => Type::String,
    &str => Type::String,
    List => Type::Slice(&LIST),
    Map => Type::Map(&DICT),
    Vec<Value> => Type::Slice(&LIST),
    Rc<dyn Object> => Type::Object("interface {}"),
}

impl Output for Vec<String> {
    const TYPE: Type = Type::Slice(&STRINGS);

    fn output(self) -> Result<Value, Fault> {
        Ok(Value::strings(self))
    }
}

impl Output for Vec<i64> {
    const TYPE: Type = Type::Slice(&INTS);

    fn output(self) -> Result<Value, Fault> {
        Ok(Value::ints(self))
    }
}

impl Output for Named {
    // Only Helm's durations and methods of times give such numbers.
    const TYPE: Type = Type::Object("time.Duration");

    fn output(self) -> Result<Value, Fault> {
        Ok(Value::from(Rc::new(self)))
    }
}

impl<T: Output> Output for Result<T, Fault> {
    const TYPE: Type = T::TYPE;

    fn output(self) -> Result<Value, Fault> {
        self.and_then(Output::output)
    }
}

/// A Rust function whose parameters are all [`Param`]s; `M` is its signature.
pub trait PlainFn<M>: Copy {
    /// As Go sees it.
    const SIGNATURE: Signature;

    /// Calls it with checked arguments.
    ///
    /// # Errors
    /// The function's own failure.
    fn call(self, arguments: &mut [Value]) -> Result<Value, Fault>;
}

/// A Rust function whose first parameter is the engine, the others [`Param`]s; `M` is its signature.
pub trait EngineFn<M>: Copy {
    /// As Go sees it.
    const SIGNATURE: Signature;

    /// Calls it with checked arguments.
    ///
    /// # Errors
    /// The function's own failure.
    fn call(self, engine: &mut dyn Engine, arguments: &mut [Value]) -> Result<Value, Fault>;
}

/// Prepares each argument for its parameter; all beyond the last belong to it.
fn prepare(arguments: &mut [Value], steps: &[fn(&mut Value)]) {
    for (at, argument) in arguments.iter_mut().enumerate() {
        if let Some(step) = steps.get(at).or(steps.last()) {
            step(argument);
        }
    }
}

macro_rules! functions {
    ($($param:ident)*) => {
        impl<Fun, R, $($param: Param),*> PlainFn<fn($($param),*) -> R> for Fun
        where
            Fun: Copy + Fn($($param),*) -> R + for<'a> Fn($($param::Arg<'a>),*) -> R,
            R: Output,
        {
            const SIGNATURE: Signature = Signature {
                params: &[$($param::TYPE),*],
                variadic: false $(|| $param::VARIADIC)*,
                result: R::TYPE,
            };

            fn call(self, arguments: &mut [Value]) -> Result<Value, Fault> {
                prepare(arguments, &[$($param::prepare),*]);
                #[allow(unused_mut, unused_variables, reason = "no parameters, nothing to take")]
                let mut rest: &[Value] = arguments;
                self($($param::take(&mut rest)),*).output()
            }
        }

        impl<Fun, R, $($param: Param),*> EngineFn<fn($($param),*) -> R> for Fun
        where
            Fun: Copy
                + Fn(&mut dyn Engine, $($param),*) -> R
                + for<'a> Fn(&mut dyn Engine, $($param::Arg<'a>),*) -> R,
            R: Output,
        {
            const SIGNATURE: Signature = Signature {
                params: &[$($param::TYPE),*],
                variadic: false $(|| $param::VARIADIC)*,
                result: R::TYPE,
            };

            fn call(self, engine: &mut dyn Engine, arguments: &mut [Value]) -> Result<Value, Fault> {
                prepare(arguments, &[$($param::prepare),*]);
                #[allow(unused_mut, unused_variables, reason = "no parameters, nothing to take")]
                let mut rest: &[Value] = arguments;
                self(engine, $($param::take(&mut rest)),*).output()
            }
        }
    };
}

functions!();
functions!(A);
functions!(A B);
functions!(A B C);
functions!(A B C D);
functions!(A B C D E);
functions!(A B C D E F);
functions!(A B C D E F G);
