//! Reads the table of built-in types (`builtin.types`; the notation is described at its top).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Empty, Field, List, ListKind, Map, Scalar, Struct, Type};

/// All built-in structs.
pub(super) struct Table {
    pub(super) types: Vec<Type>,
    /// What could not be read; a test keeps it empty.
    pub(super) faults: Vec<String>,
    names: BTreeMap<String, usize>,
    sections: BTreeMap<String, Vec<String>>,
}

impl Table {
    pub(super) fn read(text: &str) -> Self {
        let mut table =
            Self { types: Vec::new(), faults: Vec::new(), names: BTreeMap::new(), sections: BTreeMap::new() };
        let lines = table.index(text);
        for (section, line) in lines {
            let of = table.structure(section, line);
            table.types.push(Type::Struct(Arc::new(of)));
        }
        table
    }

    /// Gives every struct its place, so that lines may refer to later ones.
    fn index<'t>(&mut self, text: &'t str) -> Vec<(&'t str, &'t str)> {
        let (mut section, mut lines) = ("", Vec::new());
        for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            if let Some(header) = line.strip_prefix('@') {
                let (name, served) = header.split_once(' ').unwrap_or((header, ""));
                section = name;
                self.sections.entry(served.to_owned()).or_default().push(name.to_owned());
            } else {
                let name = line.split([' ', '!']).next().unwrap_or("");
                self.names.insert(format!("{section}.{name}"), lines.len());
                lines.push((section, line));
            }
        }
        lines
    }

    /// The place of a struct by section and name.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The place of a kind.
    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<usize> {
        let sections = self.sections.get(api_version)?;
        sections.iter().find_map(|section| self.named(&format!("{section}.{kind}")))
    }

    fn structure(&mut self, section: &str, line: &str) -> Struct {
        let mut words = line.split(' ');
        let head = words.next().unwrap_or("");
        let (name, atomic) = head.strip_suffix('!').map_or((head, false), |name| (name, true));
        let mut fields = BTreeMap::new();
        for word in words {
            match word.split_once(':') {
                Some((field, of)) => {
                    fields.insert(field.to_owned(), self.field(section, of));
                }
                None => self.faults.push(format!("{name}: {word}")),
            }
        }
        Struct { name: name.to_owned(), fields, rest: None, atomic }
    }

    fn field(&mut self, section: &str, word: &str) -> Field {
        // A list's marks have equals signs of their own, inside its brackets.
        let close = word.rfind(']').map_or(0, |at| at + 1);
        let split = word.get(close..).and_then(|rest| rest.find('=')).map(|at| word.split_at(close + at));
        let (word, default) = split.map_or((word, None), |(word, default)| (word, default.strip_prefix('=')));
        let (word, empty) = match (word.strip_suffix('?'), word.strip_suffix('^')) {
            (Some(word), _) => (word, Empty::LeftOut),
            (_, Some(word)) => (word, Empty::Shown),
            _ => (word, Empty::Kept),
        };
        let (word, retain_keys) = word.strip_suffix('~').map_or((word, false), |word| (word, true));
        let of = self.parse(section, word);
        Field { of, default: default.map(|d| serde_json::json!(d)), retain_keys, empty }
    }

    fn parse(&mut self, section: &str, word: &str) -> Type {
        if let Some(list) = word.strip_prefix('[').and_then(|w| w.strip_suffix(']')) {
            return self.list(section, list);
        }
        let (plain, atomic) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
        if let Some(value) = plain.strip_prefix('<').and_then(|w| w.strip_suffix('>')) {
            return Type::Map(Arc::new(Map { value: self.parse(section, value), atomic }));
        }
        match plain {
            "s" => Type::Scalar(Scalar::String),
            "y" => Type::Scalar(Scalar::Bytes),
            "b" => Type::Scalar(Scalar::Bool),
            "i32" => Type::Scalar(Scalar::Int32),
            "i64" => Type::Scalar(Scalar::Int64),
            "n" => Type::Scalar(Scalar::Number),
            "t" => Type::Scalar(Scalar::Time),
            "q" => Type::Scalar(Scalar::Quantity),
            "I" => Type::Scalar(Scalar::Untyped),
            "x" | "F" => Type::Any,
            name => self.reference(section, name),
        }
    }

    fn reference(&mut self, section: &str, name: &str) -> Type {
        let full = if name.contains('.') { name.to_owned() } else { format!("{section}.{name}") };
        match self.named(&full) {
            Some(at) => Type::Builtin(at),
            None => {
                self.faults.push(format!("no type {full}"));
                Type::Any
            }
        }
    }

    fn list(&mut self, section: &str, word: &str) -> Type {
        // The element comes first and may itself be a list with marks of its own.
        let close = word.rfind([']', '>']).map_or(0, |at| at + 1);
        let end = word.get(close..).and_then(|rest| rest.find(';')).map_or(word.len(), |at| close + at);
        let item = self.parse(section, word.get(..end).unwrap_or(""));
        let (mut kind, mut merge) = (ListKind::Atomic, None);
        for mark in word.get(end..).unwrap_or("").split(';').filter(|m| !m.is_empty()) {
            match mark.split_once('=').unwrap_or((mark, "")) {
                ("set", _) => kind = ListKind::Set,
                ("map", keys) => kind = ListKind::Keyed(keys.split(',').map(str::to_owned).collect()),
                ("merge", key) => merge = Some(key.to_owned()),
                ("retain", _) => {}
                _ => self.faults.push(format!("unknown mark {mark}")),
            }
        }
        Type::List(Arc::new(List { item, kind, merge }))
    }
}
