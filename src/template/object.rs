//! Go structs and named types with fields and methods.

use std::any::Any;
use std::rc::Rc;

use super::funcs::Func;
use super::types::Type;
use super::value::Value;

/// A method of a named type: a function whose first argument is the receiver.
#[derive(Debug)]
pub struct Method {
    /// Exported name.
    pub name: &'static str,
    /// The function; its first parameter takes the receiver.
    pub func: Func,
}

impl Method {
    /// Finds a method by name.
    pub fn find(methods: &'static [Method], name: &[u8]) -> Option<&'static Method> {
        methods.iter().find(|method| method.name.as_bytes() == name)
    }
}

/// An exported field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// Exported name.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
    /// Whether the static type is an interface (nil errors then speak of `interface {}`).
    pub interface: bool,
    /// Whether its own fields and methods are promoted to the outer struct.
    pub embedded: bool,
    /// Its name in JSON, where that is another one.
    pub tag: Option<Tag>,
}

/// The `json` tag of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its name in JSON.
    pub name: &'static str,
    /// Whether an empty value is left out.
    pub omit_empty: bool,
}

impl Field {
    /// A plain field of a concrete type.
    pub fn new(name: &'static str, value: impl Into<Value>) -> Self {
        Self { name, value: value.into(), interface: false, embedded: false, tag: None }
    }

    /// The same field with a name of its own in JSON.
    #[must_use]
    pub fn tagged(self, name: &'static str, omit_empty: bool) -> Self {
        Self { tag: Some(Tag { name, omit_empty }), ..self }
    }

    /// A deep copy that the copy of its struct points to.
    fn copy(&self) -> Self {
        let copy = match &self.value {
            Value::Object(object) => match downcast::<Struct>(object.as_ref()) {
                Some(inner) => Some(Value::from(Rc::new(inner.public()))),
                None => object.copy(),
            },
            _ => None,
        };
        Self { value: copy.unwrap_or_else(|| self.value.clone()), ..self.clone() }
    }

    /// An embedded struct, whose fields and methods are promoted.
    pub fn embedded(name: &'static str, value: impl Into<Value>) -> Self {
        Self { embedded: true, ..Self::new(name, value) }
    }
}

/// A Go struct, pointer to struct, or other named type that is neither string, number, slice nor map.
///
/// Implement it for data that functions of one family pass among themselves (`time.Time`, `*semver.Version`);
/// [`Struct`] does for plain records.
pub trait Object: Any {
    /// The type as `%T` prints it; a pointer begins with `*`.
    fn type_name(&self) -> &'static str;

    /// Exported fields in the order of declaration.
    fn fields(&self) -> &[Field] {
        &[]
    }

    /// Exported methods.
    fn methods(&self) -> &'static [Method] {
        &[]
    }

    /// What `String()` or `Error()` gives, for types that have it.
    fn text(&self) -> Option<String> {
        None
    }

    /// What `String()` of its pointer gives: only an action that prints the field itself finds that method.
    fn addressed_text(&self) -> Option<String> {
        None
    }

    /// Whether Go's `==` finds a copy equal, for structs; pointers equal only themselves.
    fn same(&self, _other: &dyn Object) -> bool {
        false
    }

    /// Fields that templates can't reach.
    fn hidden(&self) -> &'static [&'static str] {
        &[]
    }

    /// What `GoString()` gives, for types that have it: `%#v` prints it.
    fn go_text(&self) -> Option<String> {
        None
    }

    /// What a deep copy has, where it isn't all: Go copies no fields that are private.
    fn copy(&self) -> Option<Value> {
        None
    }

    /// What a function is handed of a field, where it isn't all: a copy that no pointer reaches.
    fn detached(&self) -> Option<Value> {
        None
    }

    /// What JSON has of a type that writes itself as a text, or why it can't.
    fn json_text(&self) -> Option<Result<String, String>> {
        self.text().map(Ok)
    }

    /// All fields as `fmt` prints them, unexported ones included.
    fn printed_fields(&self) -> &[Field] {
        self.fields()
    }

    /// Whether this is a nil pointer.
    fn is_nil(&self) -> bool {
        false
    }

    /// The number that it is, for named numbers.
    fn number(&self) -> Option<&Value> {
        None
    }
}

/// A plain record.
#[derive(Debug)]
pub struct Struct {
    /// The type as `%T` prints it.
    pub name: &'static str,
    /// Exported fields in the order of declaration.
    pub fields: Vec<Field>,
    /// Exported methods.
    pub methods: &'static [Method],
    /// What `String()` gives, for types that have it.
    pub text: Option<String>,
    /// What `String()` of a pointer to it gives, for types that have it.
    pub addressed: Option<String>,
    /// All fields where some are unexported; else empty.
    pub printed: Vec<Field>,
}

impl Struct {
    /// A record without methods.
    pub fn new(name: &'static str, fields: Vec<Field>) -> Self {
        Self { name, fields, methods: &[], text: None, addressed: None, printed: Vec::new() }
    }
}

impl Object for Struct {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn methods(&self) -> &'static [Method] {
        self.methods
    }

    fn text(&self) -> Option<String> {
        self.text.clone()
    }

    fn addressed_text(&self) -> Option<String> {
        self.addressed.clone()
    }

    fn printed_fields(&self) -> &[Field] {
        if self.printed.is_empty() { &self.fields } else { &self.printed }
    }

    fn copy(&self) -> Option<Value> {
        Some(Value::from(Rc::new(self.without_pointer(self.public()))))
    }

    fn detached(&self) -> Option<Value> {
        let printed = self.printed.clone();
        self.addressed.as_ref()?;
        Some(Value::from(Rc::new(self.without_pointer(Self { printed, ..self.like(self.fields.clone()) }))))
    }
}

impl Struct {
    /// The same type with other fields.
    fn like(&self, fields: Vec<Field>) -> Self {
        Self {
            name: self.name,
            fields,
            methods: self.methods,
            text: self.text.clone(),
            addressed: self.addressed.clone(),
            printed: Vec::new(),
        }
    }

    /// A copy whose private fields are empty, all of which are texts.
    fn public(&self) -> Self {
        let public = |field: &Field| self.fields.iter().any(|other| other.name == field.name);
        let printed = self.printed.iter().map(|field| match public(field) {
            true => field.copy(),
            false => Field { value: Value::str(""), ..field.clone() },
        });
        // `KubeVersion`, the only type of its kind, tells its first field then.
        let first = || self.fields.first()?.value.as_str().map(|text| text.lossy().into_owned());
        Self {
            printed: printed.collect(),
            addressed: self.addressed.as_ref().and_then(|_| first()),
            ..self.like(self.fields.iter().map(Field::copy).collect())
        }
    }

    /// A struct that no pointer reaches lacks its pointer's methods, `String()` among them.
    fn without_pointer(&self, copy: Self) -> Self {
        if self.addressed.is_none() { copy } else { Self { addressed: None, methods: &[], ..copy } }
    }
}

/// A named number with a text of its own: `time.Month`, `time.Weekday`, `time.Duration`.
#[derive(Clone, Debug)]
pub struct Named {
    /// The type as `%T` prints it.
    pub name: &'static str,
    /// The number, of the type that it is made of.
    pub number: Value,
    /// What `String()` gives.
    pub text: String,
    /// Exported methods.
    pub methods: &'static [Method],
    /// Another number of the same type.
    pub of: fn(i64) -> Named,
}

impl Object for Named {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn number(&self) -> Option<&Value> {
        Some(&self.number)
    }

    fn methods(&self) -> &'static [Method] {
        self.methods
    }

    fn text(&self) -> Option<String> {
        Some(self.text.clone())
    }
}

/// A nil pointer of a named type.
#[derive(Clone, Copy, Debug)]
pub struct NilPointer(pub &'static str);

impl Object for NilPointer {
    fn type_name(&self) -> &'static str {
        self.0
    }

    fn is_nil(&self) -> bool {
        true
    }
}

/// What `encoding/json` writes of a struct, in order: fields by the names of their tags, those of embedded structs among
/// them, without the empty ones that are to be left out.
pub fn json_members(object: &dyn Object) -> Vec<(&'static str, Value)> {
    let mut out = Vec::new();
    for field in object.fields() {
        match (&field.value, field.tag) {
            (Value::Object(inner), None) if field.embedded => out.extend(json_members(inner.as_ref())),
            (value, Some(tag)) if tag.omit_empty && is_empty(value) => {}
            (value, tag) => out.push((tag.map_or(field.name, |tag| tag.name), value.clone())),
        }
    }
    out
}

/// What `omitempty` leaves out: no struct is ever empty.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.is_nil(),
        other => !other.truth(),
    }
}

/// Sees an object as the Rust type behind it.
pub fn downcast<T: Object>(object: &dyn Object) -> Option<&T> {
    (object as &dyn Any).downcast_ref::<T>()
}

impl Value {
    /// Sees a value as the Rust type of an [`Object`].
    pub fn object<T: Object>(&self) -> Option<&T> {
        match self {
            Self::Object(object) => downcast(object.as_ref()),
            _ => None,
        }
    }

    /// The Go type of an object.
    pub(crate) fn object_type(object: &dyn Object) -> Type {
        Type::Object(object.type_name())
    }
}
