//! A parsed document becomes a JSON value: anchors, merge keys, YAML 1.1 types, keys of any type.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4, `decode.go`, into `interface{}`; sigs.k8s.io/yaml v1.6.0, `yaml.go`,
//! `convertToJSONableObject`.

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine as _;
use serde_json::{Map, Value};

use super::number;
use super::parser::{Document, Node, Shape};
use super::problem::Problem;
use super::resolve::{self, Scalar};
use super::syntax::{self, Shown};
use crate::limits::Limits;

/// Stands in the tree for a float that JSON can't hold, until the whole document is read.
const NOT_FINITE: &str = "\0not finite: ";

/// Begins a key that JSON has no text for, and its value, which names the node of what Go has there.
const NO_TEXT: &str = "\0no text: ";

const BINARY_TAG: &str = "tag:yaml.org,2002:binary";
const MERGE_TAG: &str = "tag:yaml.org,2002:merge";
const NO_MAP_TO_MERGE: &str = "map merge requires map or sequence of maps as the value";

/// Decodings up to which nearly all of a document may come from aliases, and from which on only a tenth may.
const ALIAS_RANGE: (u64, u64) = (400_000, 4_000_000);

/// How a document is to be decoded.
#[derive(Clone, Copy, Default)]
pub(super) struct Mode {
    /// A key that occurs twice is an error.
    pub(super) strict: bool,
    /// Every number is a float.
    pub(super) floats: bool,
    /// Keys of the root that are wanted, where not all of them are; the rest is checked and left out.
    pub(super) wanted: Option<fn(&str) -> bool>,
}

/// What is made of a document: values, or nothing where it is only checked.
trait Target: Sized {
    type Map: Default;

    fn scalar(scalar: &Resolved<'_>, floats: bool) -> Self;
    fn list(items: Vec<Self>) -> Self;
    fn map(map: Self::Map) -> Self;
    /// `index` is the value's node.
    fn insert(map: &mut Self::Map, key: &Key<'_>, value: Self, index: u32);
}

impl Target for Value {
    type Map = Map<String, Self>;

    fn scalar(scalar: &Resolved<'_>, floats: bool) -> Self {
        match *scalar {
            Resolved::Bytes(ref bytes) => Self::String(go_string(bytes)),
            Resolved::Scalar(scalar) => match scalar {
                Scalar::Null => Self::Null,
                Scalar::Bool(b) => Self::Bool(b),
                Scalar::Int(i) if floats => Self::from(i as f64),
                Scalar::Uint(u) if floats => Self::from(u as f64),
                Scalar::Int(i) => Self::from(i),
                Scalar::Uint(u) => Self::from(u),
                Scalar::Float(f) if f.is_finite() => Self::from(f),
                Scalar::Float(f) => Self::String(format!("{NOT_FINITE}{}", not_finite_name(f))),
                Scalar::Text(text) | Scalar::Timestamp(text) => Self::String(text.to_owned()),
            },
        }
    }

    fn list(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn map(map: Self::Map) -> Self {
        Self::Object(map)
    }

    fn insert(map: &mut Self::Map, key: &Key<'_>, value: Self, index: u32) {
        match key_text(key) {
            Some(text) => map.insert(text.into_owned(), value),
            None => map.insert(format!("{NO_TEXT}{}", refused_key(key)), format!("{NO_TEXT}{index}").into()),
        };
    }
}

impl Target for Shown {
    type Map = Vec<(Self, Self)>;

    fn scalar(scalar: &Resolved<'_>, _: bool) -> Self {
        match *scalar {
            Resolved::Bytes(ref bytes) => Self::of_text(&go_string(bytes)),
            Resolved::Scalar(ref scalar) => Self::of_scalar(scalar),
        }
    }

    fn list(items: Vec<Self>) -> Self {
        Self::List(items)
    }

    fn map(map: Self::Map) -> Self {
        Self::of_map(map)
    }

    fn insert(map: &mut Self::Map, key: &Key<'_>, value: Self, _: u32) {
        let key = match key {
            Key::Text(text) => Self::of_text(text),
            Key::Other(scalar) => Self::of_scalar(scalar),
            Key::Collection => return,
        };
        map.retain(|(known, _)| *known != key);
        map.push((key, value));
    }
}

/// Nothing is made: the document is only checked.
impl Target for () {
    type Map = ();

    fn scalar(_: &Resolved<'_>, _: bool) {}
    fn list(_: Vec<Self>) {}
    fn map((): ()) {}
    fn insert((): &mut (), _: &Key<'_>, (): (), _: u32) {}
}

/// A key of a mapping.
enum Key<'d> {
    Text(Cow<'d, str>),
    Other(Scalar<'d>),
    Collection,
}

/// Keys that a mapping already has, in strict mode: type and text.
type Seen = HashSet<(&'static str, String)>;

pub(super) struct Decoder<'d, 'a> {
    document: &'d Document<'a>,
    mode: Mode,
    node_limit: u64,
    depth_limit: usize,
    depth: usize,
    decoded: u64,
    through_aliases: u64,
    /// Alias nodes that are being followed.
    following: Vec<u32>,
    duplicates: Vec<String>,
    duplicate_line: u32,
    /// Whether there is a key that JSON has no text for.
    keys_without_text: bool,
    /// Names of floats that JSON can't hold, each with the line where it was first met.
    not_finite: Vec<(&'static str, u32)>,
}

impl<'d, 'a> Decoder<'d, 'a> {
    pub(super) fn new(document: &'d Document<'a>, mode: Mode, limits: &Limits, depth_limit: usize) -> Self {
        Self {
            document,
            mode,
            node_limit: limits.yaml_nodes as u64,
            depth_limit,
            depth: 0,
            // Go counts the document as one.
            decoded: 1,
            through_aliases: 0,
            following: Vec::new(),
            duplicates: Vec::new(),
            duplicate_line: 0,
            keys_without_text: false,
            not_finite: Vec::new(),
        }
    }

    /// Decodes the whole document.
    pub(super) fn root(mut self) -> Result<Value, Problem> {
        if self.node(0)?.shape == Shape::Sequence {
            self.mode.wanted = None;
        }
        let value: Value = self.value(0)?;
        if !self.duplicates.is_empty() {
            let text = format!("unmarshal errors:\n  {}", self.duplicates.join("\n  "));
            return Err(Problem::unnumbered(text, self.duplicate_line));
        }
        if self.not_finite.is_empty() && !self.keys_without_text {
            return Ok(value);
        }
        self.refuse_what_json_lacks(value)
    }

    /// Names the first key or float that JSON can't hold; where parts were left out, it may be in one of them. What a
    /// later key of the same name replaced is gone.
    fn refuse_what_json_lacks(mut self, value: Value) -> Result<Value, Problem> {
        if let Some(wanted) = self.mode.wanted.take() {
            (self.decoded, self.through_aliases) = (1, 0);
            (self.keys_without_text, self.not_finite) = (false, Vec::new());
            let mut whole = self.root()?;
            whole.as_object_mut().into_iter().for_each(|map| map.retain(|key, _| wanted(key)));
            return Ok(whole);
        }
        if self.keys_without_text
            && let Some((key, index)) = first_key_without_text(&value)
        {
            return Err(self.refuse_key(&key, index));
        }
        match first_not_finite(&value) {
            Some(name) => {
                let met = self.not_finite.iter().find(|(known, _)| *known == name);
                let line = met.map_or(0, |(_, line)| *line);
                Err(Problem::converter(format!("json: unsupported value: {name}"), line))
            }
            None => Ok(value),
        }
    }

    fn node(&self, index: u32) -> Result<&'d Node<'a>, Problem> {
        self.document
            .node(index)
            .ok_or_else(|| Problem::unnumbered("unknown problem parsing YAML content", 0))
    }

    /// Counts one decoding and refuses documents that grow out of proportion by their aliases.
    fn count(&mut self, line: u32) -> Result<(), Problem> {
        self.decoded += 1;
        if !self.following.is_empty() {
            self.through_aliases += 1;
            let share = self.through_aliases as f64 / self.decoded as f64;
            if self.through_aliases > 100 && self.decoded > 1000 && share > allowed_share(self.decoded) {
                return Err(Problem::unnumbered("document contains excessive aliasing", line));
            }
        }
        if self.decoded > self.node_limit {
            let text =
                format!("document expands to more than {} nodes (--limit-yaml-nodes)", self.node_limit);
            return Err(Problem::limit(text, line));
        }
        Ok(())
    }

    fn value<T: Target>(&mut self, index: u32) -> Result<T, Problem> {
        let node = self.node(index)?;
        self.count(node.line)?;
        match node.shape {
            Shape::Scalar => self.scalar(node),
            Shape::Alias(target) => self.follow(index, |this| this.value(target)),
            Shape::Sequence => self.sequence(index, node.line),
            Shape::Mapping => self.object(index, node.line),
        }
    }

    /// Decodes what an alias stands for.
    fn follow<T>(
        &mut self,
        alias: u32,
        decode: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let node = self.node(alias)?;
        if self.following.contains(&alias) {
            let text = format!("anchor '{}' value contains itself", node.value);
            return Err(Problem::unnumbered(text, node.line));
        }
        self.following.push(alias);
        self.enter(node.line)?;
        let result = decode(self);
        self.depth -= 1;
        self.following.pop();
        result
    }

    /// One level deeper; who calls it lowers the depth again. No closure runs in it: the levels share one stack.
    fn enter(&mut self, line: u32) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth > self.depth_limit {
            let text = format!("nesting is deeper than {} levels (--limit-yaml-depth)", self.depth_limit);
            return Err(Problem::limit(text, line));
        }
        Ok(())
    }

    fn sequence<T: Target>(&mut self, index: u32, line: u32) -> Result<T, Problem> {
        self.enter(line)?;
        let mut items = Vec::new();
        for child in self.document.children(index) {
            items.push(self.value(child)?);
        }
        self.depth -= 1;
        Ok(T::list(items))
    }

    fn object<T: Target>(&mut self, index: u32, line: u32) -> Result<T, Problem> {
        self.enter(line)?;
        let mut map = T::Map::default();
        self.mapping::<T>(index, &mut map, &mut Seen::new())?;
        self.depth -= 1;
        Ok(T::map(map))
    }

    fn mapping<T: Target>(&mut self, index: u32, map: &mut T::Map, seen: &mut Seen) -> Result<(), Problem> {
        let mut children = self.document.children(index);
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            if self.is_merge(key)? {
                self.merge::<T>(value, map, seen)?;
            } else {
                self.entry::<T>(key, value, map, seen)?;
            }
        }
        Ok(())
    }

    fn entry<T: Target>(
        &mut self,
        key_index: u32,
        index: u32,
        map: &mut T::Map,
        seen: &mut Seen,
    ) -> Result<(), Problem> {
        let key = self.plain_key(key_index)?;
        // The choice is among the root's keys; what stands below one that is wanted is wanted as well.
        let wanted = self.mode.wanted.take();
        let value = if wanted.is_none_or(|wanted| key_text(&key).is_none_or(|text| wanted(&text))) {
            Some(self.value::<T>(index)?)
        } else {
            self.value::<()>(index)?;
            None
        };
        self.mode.wanted = wanted;
        self.insert::<T>(&key, index, value, map, seen)
    }

    /// A key that is no collection.
    fn plain_key(&mut self, index: u32) -> Result<Key<'d>, Problem> {
        let key = self.key(index)?;
        if matches!(key, Key::Collection) {
            let text = format!("invalid map key: {}", self.shown(index));
            return Err(Problem::unnumbered(text, self.node(index)?.line));
        }
        Ok(key)
    }

    fn insert<T: Target>(
        &mut self,
        key: &Key<'_>,
        index: u32,
        value: Option<T>,
        map: &mut T::Map,
        seen: &mut Seen,
    ) -> Result<(), Problem> {
        if self.mode.strict && !self.first_time(key, index, seen)? {
            return Ok(());
        }
        self.keys_without_text |= !has_text(key);
        if let Some(value) = value {
            T::insert(map, key, value, index);
        }
        Ok(())
    }

    /// Notes a key in strict mode; `false` when the mapping has it already.
    fn first_time(&mut self, key: &Key<'_>, value: u32, seen: &mut Seen) -> Result<bool, Problem> {
        let (kind, shown) = match key {
            Key::Text(text) => ("!!str", crate::go::quote(text.as_ref() as &str)),
            Key::Other(scalar) => (scalar.tag(), syntax::of_scalar(scalar)),
            Key::Collection => return Ok(true),
        };
        if !seen.contains(&(kind, shown.clone())) {
            seen.insert((kind, shown));
            return Ok(true);
        }
        let line = self.node(value)?.line;
        if self.duplicates.is_empty() {
            self.duplicate_line = line;
        }
        self.duplicates.push(format!("line {}: key {shown} already set in map", line + 1));
        Ok(false)
    }

    /// What is said of a key that JSON has no text for.
    fn refuse_key(&mut self, key: &str, value: u32) -> Problem {
        let shown = self.shown(value);
        let line = self.node(value).map_or(0, |node| node.line);
        Problem::converter(format!("unsupported map key of type: {key}, value: {shown}"), line)
    }

    /// A node in Go's syntax, all of it; it has been decoded before.
    fn shown(&mut self, index: u32) -> String {
        self.mode.wanted = None;
        self.value::<Shown>(index).map_or_else(|_| "…".to_owned(), |shown| shown.alone())
    }

    fn key(&mut self, index: u32) -> Result<Key<'d>, Problem> {
        let node = self.node(index)?;
        match node.shape {
            Shape::Scalar => {
                self.count(node.line)?;
                self.scalar_key(node)
            }
            Shape::Alias(target) => {
                self.count(node.line)?;
                self.follow(index, |this| this.key(target))
            }
            Shape::Sequence | Shape::Mapping => self.value::<()>(index).map(|()| Key::Collection),
        }
    }

    fn scalar_key(&self, node: &'d Node<'a>) -> Result<Key<'d>, Problem> {
        Ok(match self.resolve(node)? {
            Resolved::Bytes(bytes) => Key::Text(go_string(&bytes).into()),
            Resolved::Scalar(Scalar::Text(text) | Scalar::Timestamp(text)) => Key::Text(text.into()),
            Resolved::Scalar(scalar) => Key::Other(scalar),
        })
    }

    fn scalar<T: Target>(&mut self, node: &'d Node<'a>) -> Result<T, Problem> {
        let scalar = self.resolve(node)?;
        if let Resolved::Scalar(Scalar::Float(float)) = scalar
            && !float.is_finite()
        {
            let name = not_finite_name(float);
            if self.not_finite.iter().all(|(known, _)| *known != name) {
                self.not_finite.push((name, node.line));
            }
        }
        Ok(T::scalar(&scalar, self.mode.floats))
    }

    fn resolve(&self, node: &'d Node<'a>) -> Result<Resolved<'d>, Problem> {
        let tag = self.document.tag(node);
        let text = &*node.value;
        if tag.is_empty() {
            let scalar = if node.implicit { resolve::plain(text) } else { Scalar::Text(text) };
            return Ok(Resolved::Scalar(scalar));
        }
        if tag == BINARY_TAG {
            let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
            let bytes = base64::engine::general_purpose::STANDARD.decode(text);
            return bytes
                .map(Resolved::Bytes)
                .map_err(|_| Problem::unnumbered("!!binary value contains invalid base64 data", node.line));
        }
        match resolve::tagged(tag, text) {
            Ok(scalar) => Ok(Resolved::Scalar(scalar.unwrap_or(Scalar::Text(text)))),
            Err(text) => Err(Problem::unnumbered(text, node.line)),
        }
    }

    // Merge keys.

    fn is_merge(&self, key: u32) -> Result<bool, Problem> {
        let node = self.node(key)?;
        let scalar = node.shape == Shape::Scalar && node.value == "<<";
        Ok(scalar && (node.implicit || self.document.tag(node) == MERGE_TAG))
    }

    /// Puts the entries of the mappings that a `<<` names into `map`; entries that are already there are replaced.
    fn merge<T: Target>(&mut self, index: u32, map: &mut T::Map, seen: &mut Seen) -> Result<(), Problem> {
        if self.node(index)?.shape != Shape::Sequence {
            return self.merge_one::<T>(index, map, seen);
        }
        let sources: Vec<u32> = self.document.children(index).collect();
        sources.into_iter().rev().try_for_each(|source| self.merge_one::<T>(source, map, seen))
    }

    fn merge_one<T: Target>(&mut self, index: u32, map: &mut T::Map, seen: &mut Seen) -> Result<(), Problem> {
        let node = self.node(index)?;
        match node.shape {
            Shape::Mapping => {
                self.count(node.line)?;
                self.enter(node.line)?;
                self.mapping::<T>(index, map, seen)?;
                self.depth -= 1;
                Ok(())
            }
            Shape::Alias(target) if self.node(target)?.shape == Shape::Mapping => {
                self.count(node.line)?;
                self.follow(index, |this| this.merge_one::<T>(target, map, seen))
            }
            _ => Err(Problem::unnumbered(NO_MAP_TO_MERGE, node.line)),
        }
    }
}

/// The value of a scalar.
pub(super) fn of_scalar(scalar: Scalar<'_>, floats: bool) -> Value {
    Target::scalar(&Resolved::Scalar(scalar), floats)
}

/// A scalar, or the bytes of a `!!binary` one.
enum Resolved<'d> {
    Scalar(Scalar<'d>),
    Bytes(Vec<u8>),
}

/// The share of decodings that may happen below aliases (`allowedAliasRatio`).
fn allowed_share(decoded: u64) -> f64 {
    let (low, high) = ALIAS_RANGE;
    if decoded <= low {
        0.99
    } else if decoded >= high {
        0.10
    } else {
        0.99 - 0.89 * ((decoded - low) as f64 / (high - low) as f64)
    }
}

/// The text of a key in JSON; `None` for null and integers beyond `i64`.
fn key_text<'k>(key: &'k Key<'_>) -> Option<Cow<'k, str>> {
    Some(match key {
        Key::Text(text) => Cow::Borrowed(text),
        Key::Other(Scalar::Bool(b)) => b.to_string().into(),
        Key::Other(Scalar::Int(i)) => i.to_string().into(),
        Key::Other(Scalar::Float(f)) => number::format_general_32(*f).into(),
        Key::Other(Scalar::Text(text) | Scalar::Timestamp(text)) => Cow::Borrowed(text),
        Key::Other(Scalar::Null | Scalar::Uint(_)) | Key::Collection => return None,
    })
}

/// Type and text of a key that JSON has no text for.
fn refused_key(key: &Key<'_>) -> String {
    match key {
        Key::Other(scalar @ Scalar::Uint(_)) => format!("uint64, key: {}", syntax::of_scalar(scalar)),
        _ => "%!s(<nil>), key: <nil>".to_owned(),
    }
}

/// The first key, in the order of JSON, that JSON has no text for, and the node of its value.
fn first_key_without_text(value: &Value) -> Option<(String, u32)> {
    let Value::Object(map) = value else {
        return value.as_array()?.iter().find_map(first_key_without_text);
    };
    let own = map.iter().find_map(|(key, value)| {
        let node = value.as_str()?.strip_prefix(NO_TEXT)?.parse().ok()?;
        Some((key.strip_prefix(NO_TEXT)?.to_owned(), node))
    });
    own.or_else(|| map.values().find_map(first_key_without_text))
}

const fn has_text(key: &Key<'_>) -> bool {
    !matches!(key, Key::Other(Scalar::Null | Scalar::Uint(_)) | Key::Collection)
}

const fn not_finite_name(f: f64) -> &'static str {
    if f.is_nan() {
        "NaN"
    } else if f > 0.0 {
        "+Inf"
    } else {
        "-Inf"
    }
}

/// The first float, in the order of JSON, that JSON can't hold.
fn first_not_finite(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => text.strip_prefix(NOT_FINITE),
        Value::Array(items) => items.iter().find_map(first_not_finite),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|&(key, _)| key);
            entries.into_iter().find_map(|(_, value)| first_not_finite(value))
        }
        _ => None,
    }
}

/// Bytes as Go's JSON encoder writes them: each that is no UTF-8 becomes U+FFFD.
pub(super) fn go_string(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    out
}
