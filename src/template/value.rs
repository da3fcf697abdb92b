//! Go values as `text/template` sees them.

use std::borrow::Cow;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use super::funcs::Func;
use super::object::Object;
use super::types::{DICT, INTS, LIST, MapType, STRING_MAP, STRINGS, SliceType, Type};

/// A Go string: immutable bytes, usually but not always UTF-8; cloning is cheap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoStr(Arc<[u8]>);

/// The bytes of no slice; empty slices have others.
static NIL: LazyLock<Arc<[u8]>> = LazyLock::new(|| Arc::from([].as_slice()));

impl GoStr {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Go's nil slice of bytes: empty, and `null` in JSON.
    pub fn nil() -> Self {
        Self(Arc::clone(&NIL))
    }

    /// Whether it is [`Self::nil`].
    pub fn is_nil(&self) -> bool {
        Arc::ptr_eq(&self.0, &NIL)
    }

    /// Whether somebody else holds the same bytes.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// The text, with invalid bytes replaced by U+FFFD.
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl Deref for GoStr {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl std::borrow::Borrow<[u8]> for GoStr {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for GoStr {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for GoStr {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<String> for GoStr {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into())
    }
}

impl From<&[u8]> for GoStr {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<Vec<u8>> for GoStr {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<Arc<[u8]>> for GoStr {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self(bytes)
    }
}

impl PartialEq<str> for GoStr {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for GoStr {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl fmt::Debug for GoStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.lossy(), f)
    }
}

impl fmt::Display for GoStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lossy())
    }
}

/// A Go value; maps and objects are references, everything else is a plain value.
#[derive(Clone, Default)]
pub enum Value {
    /// A nil `interface{}` (the executor tells it from the invalid `reflect.Value` by the static type).
    #[default]
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `int32`, also a rune.
    Int32(i32),
    /// `int64`
    Int64(i64),
    /// `uint8`, also a byte.
    Uint8(u8),
    /// `uint64`
    Uint64(u64),
    /// `float64`
    Float(f64),
    /// `string`
    String(GoStr),
    /// `[]byte`
    Bytes(GoStr),
    /// A slice other than `[]byte`.
    List(List),
    /// A map with string keys.
    Map(Map),
    /// A struct, a pointer or another named type.
    Object(Rc<dyn Object>),
    /// A function.
    Func(&'static Func),
}

/// A Go slice. Templates cannot assign to elements, so it is immutable and cheap to clone.
#[derive(Clone)]
pub struct List {
    ty: &'static SliceType,
    nil: bool,
    items: Rc<Vec<Value>>,
}

impl List {
    /// A slice of the given type; the items must fit its element type.
    pub fn new(ty: &'static SliceType, items: Vec<Value>) -> Self {
        Self { ty, nil: false, items: Rc::new(items) }
    }

    /// A nil slice of the given type.
    pub fn nil(ty: &'static SliceType) -> Self {
        Self { ty, nil: true, items: Rc::default() }
    }

    /// The slice's type.
    pub fn ty(&self) -> &'static SliceType {
        self.ty
    }

    /// The same items under another type, as a Go conversion gives.
    pub fn with_type(&self, ty: &'static SliceType) -> Self {
        Self { ty, ..self.clone() }
    }

    /// Whether it is a nil slice (JSON `null`).
    pub fn is_nil(&self) -> bool {
        self.nil
    }

    /// Whether somebody else holds the same items.
    pub fn is_shared(&self) -> bool {
        Rc::strong_count(&self.items) > 1
    }

    /// The items.
    pub fn items(&self) -> &[Value] {
        &self.items
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.items
    }
}

impl From<Vec<Value>> for List {
    fn from(items: Vec<Value>) -> Self {
        Self::new(&LIST, items)
    }
}

/// Entries of a map, in the order in which Go's printing and ranging sorts them.
pub type Entries = BTreeMap<GoStr, Value>;

/// A Go map with string keys; clones share the entries.
#[derive(Clone)]
pub struct Map {
    ty: &'static MapType,
    nil: bool,
    held: Rc<Held>,
}

/// What clones of a map share.
#[derive(Default)]
struct Held {
    entries: RefCell<Entries>,
    later: RefCell<Vec<(GoStr, Later)>>,
}

/// A value that is made when somebody asks for it.
pub type Later = Box<dyn FnOnce() -> Value>;

impl Map {
    /// A map of the given type; the values must fit its element type.
    pub fn new(ty: &'static MapType, entries: Entries) -> Self {
        Self::with_later(ty, entries, Vec::new())
    }

    /// A map some of whose entries are made when somebody asks for them.
    pub fn with_later(ty: &'static MapType, entries: Entries, later: Vec<(GoStr, Later)>) -> Self {
        let held = Held { entries: RefCell::new(entries), later: RefCell::new(later) };
        Self { ty, nil: false, held: Rc::new(held) }
    }

    /// Makes entries that were left for later.
    fn make(&self, wanted: impl Fn(&GoStr) -> bool) {
        if self.held.later.borrow().is_empty() {
            return;
        }
        let (now, later): (Vec<_>, Vec<_>) =
            self.held.later.take().into_iter().partition(|(key, _)| wanted(key));
        self.held.later.replace(later);
        let now: Vec<_> = now.into_iter().map(|(key, make)| (key, make())).collect();
        self.held.entries.borrow_mut().extend(now);
    }

    fn whole(&self) -> &RefCell<Entries> {
        self.make(|_| true);
        &self.held.entries
    }

    /// A nil map of the given type.
    pub fn nil(ty: &'static MapType) -> Self {
        Self { ty, nil: true, held: Rc::default() }
    }

    /// An empty `map[string]interface{}`.
    pub fn dict() -> Self {
        Self::new(&DICT, Entries::new())
    }

    /// The same entries under another type, as a Go conversion gives (`Values(m)`).
    pub fn with_type(&self, ty: &'static MapType) -> Self {
        Self { ty, nil: self.nil, held: Rc::clone(&self.held) }
    }

    /// The map's type.
    pub fn ty(&self) -> &'static MapType {
        self.ty
    }

    /// Whether it is a nil map (JSON `null`).
    pub fn is_nil(&self) -> bool {
        self.nil
    }

    /// Whether two maps are one and the same.
    pub fn same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.held, &other.held)
    }

    /// Whether somebody else holds the same entries.
    pub fn is_shared(&self) -> bool {
        Rc::strong_count(&self.held) > 1
    }

    /// An address that tells maps apart, for finding cycles.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.held).addr()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.whole().borrow().len()
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at a key.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Value> {
        let key = key.as_ref();
        self.make(|later| later.as_bytes() == key);
        self.held.entries.borrow().get(key).cloned()
    }

    /// Whether the key is there.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.whole().borrow().contains_key(key.as_ref())
    }

    /// Sets a key, visible to all who hold the map.
    pub fn set(&self, key: impl Into<GoStr>, value: impl Into<Value>) {
        self.whole().borrow_mut().insert(key.into(), value.into());
    }

    /// Removes a key, visible to all who hold the map.
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Option<Value> {
        self.whole().borrow_mut().remove(key.as_ref())
    }

    /// The entries; do not call back into templates while holding them.
    pub fn entries(&self) -> Ref<'_, Entries> {
        self.whole().borrow()
    }

    /// The entries for changing; do not call back into templates while holding them.
    pub fn entries_mut(&self) -> RefMut<'_, Entries> {
        self.whole().borrow_mut()
    }

    /// The entries whose keys are wanted, in order.
    pub fn matching(&self, wanted: impl Fn(&GoStr) -> bool) -> Vec<(GoStr, Value)> {
        self.make(&wanted);
        let entries = self.held.entries.borrow();
        let found = entries.iter().filter(|(key, _)| wanted(key));
        found.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// A snapshot of the entries, for walking while others may change the map.
    pub fn snapshot(&self) -> Vec<(GoStr, Value)> {
        self.whole().borrow().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

impl From<Entries> for Map {
    fn from(entries: Entries) -> Self {
        Self::new(&DICT, entries)
    }
}

impl<K: Into<GoStr>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self::from(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect::<Entries>())
    }
}

impl Value {
    /// A string.
    pub fn str(text: impl Into<GoStr>) -> Self {
        Self::String(text.into())
    }

    /// A `[]interface{}`.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(List::from(items))
    }

    /// A `[]string`.
    pub fn strings<S: Into<GoStr>>(items: impl IntoIterator<Item = S>) -> Self {
        Self::List(List::new(&STRINGS, items.into_iter().map(Self::str).collect()))
    }

    /// A `[]int`.
    pub fn ints(items: impl IntoIterator<Item = i64>) -> Self {
        Self::List(List::new(&INTS, items.into_iter().map(Self::Int).collect()))
    }

    /// A `map[string]string`.
    pub fn string_map<K: Into<GoStr>, V: Into<GoStr>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let entries = pairs.into_iter().map(|(key, value)| (key.into(), Self::str(value))).collect();
        Self::Map(Map::new(&STRING_MAP, entries))
    }

    /// The value's dynamic type; `None` for nil.
    pub fn ty(&self) -> Option<Type> {
        Some(match self {
            Self::Nil => return None,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Int32(_) => Type::Int32,
            Self::Int64(_) => Type::Int64,
            Self::Uint8(_) => Type::Uint8,
            Self::Uint64(_) => Type::Uint64,
            Self::Float(_) => Type::Float64,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::List(list) => Type::Slice(list.ty()),
            Self::Map(map) => Type::Map(map.ty()),
            Self::Object(object) => Self::object_type(object.as_ref()),
            Self::Func(_) => Type::Func,
        })
    }

    /// The type as `fmt.Sprintf("%T", v)` prints it (`<nil>` for nil).
    pub fn type_name(&self) -> &'static str {
        self.ty().map_or("<nil>", |ty| ty.name())
    }

    /// The name of `reflect.ValueOf(v).Kind()` (`invalid` for nil).
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Object(object) if let Some(number) = object.number() => number.kind(),
            _ => self.ty().map_or("invalid", |ty| ty.kind()),
        }
    }

    /// The zero value of a type.
    pub fn zero(ty: &Type) -> Self {
        match ty {
            Type::Interface | Type::Func | Type::Reflect | Type::Uncallable(_) => Self::Nil,
            Type::Bool => Self::Bool(false),
            Type::Int => Self::Int(0),
            Type::Int32 => Self::Int32(0),
            Type::Int64 => Self::Int64(0),
            Type::Uint8 => Self::Uint8(0),
            Type::Uint64 => Self::Uint64(0),
            Type::Float64 => Self::Float(0.0),
            Type::String => Self::str(""),
            Type::Bytes => Self::Bytes(GoStr::nil()),
            Type::Slice(ty) => Self::List(List::nil(ty)),
            Type::Map(ty) => Self::Map(Map::nil(ty)),
            Type::Object(name) => Self::Object(Rc::new(super::object::NilPointer(name))),
        }
    }

    /// Go's truth in templates: not the zero value, not empty.
    pub fn truth(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(b) => *b,
            Self::Int(n) | Self::Int64(n) => *n != 0,
            Self::Int32(n) => *n != 0,
            Self::Uint8(n) => *n != 0,
            Self::Uint64(n) => *n != 0,
            Self::Float(f) => *f != 0.0,
            Self::String(s) | Self::Bytes(s) => !s.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Object(object) => object.number().map_or(!object.is_nil(), Self::truth),
            Self::Func(_) => true,
        }
    }

    /// Whether this is nil, or a nil slice, map or pointer.
    pub fn is_nil(&self) -> bool {
        match self {
            Self::Nil => true,
            Self::Bytes(bytes) => bytes.is_nil(),
            Self::List(list) => list.is_nil(),
            Self::Map(map) => map.is_nil(),
            Self::Object(object) => object.is_nil(),
            _ => false,
        }
    }

    /// The integer behind any signed or unsigned kind that fits.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(n) | Self::Int64(n) => Some(*n),
            Self::Int32(n) => Some(i64::from(*n)),
            Self::Uint8(n) => Some(i64::from(*n)),
            Self::Uint64(n) => i64::try_from(*n).ok(),
            _ => None,
        }
    }

    /// The same, also of named numbers such as `time.Month`.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Object(object) => object.number()?.as_int(),
            other => other.as_int(),
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&GoStr> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The slice, if it is one other than `[]byte`.
    pub fn as_list(&self) -> Option<&List> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("nil"),
            Self::String(text) => write!(f, "{text:?}"),
            // Not the entries: a map may hold itself.
            other => write!(f, "{}", other.type_name()),
        }
    }
}

macro_rules! from {
    ($($source:ty => $make:expr),+ $(,)?) => {$(
        impl From<$source> for Value {
            fn from(value: $source) -> Self {
                $make(value)
            }
        }
    )+};
}

from! {
    bool => Self::Bool,
    i64 => Self::Int,
    i32 => Self::Int32,
    u8 => Self::Uint8,
    u64 => Self::Uint64,
    f64 => Self::Float,
    GoStr => Self::String,
    String => Self::str,
    &str => Self::str,
    List => Self::List,
    Map => Self::Map,
    &'static Func => Self::Func,
    Vec<Value> => Self::list,
    Rc<dyn Object> => Self::Object,
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Nil
    }
}

impl<T: Object> From<Rc<T>> for Value {
    fn from(object: Rc<T>) -> Self {
        Self::Object(object)
    }
}
