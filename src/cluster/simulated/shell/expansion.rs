//! Word expansion: parameters, command substitution, arithmetic, field splitting, file names, quote removal.

use super::execution::Shell;
use super::pattern::{self, Atom};
use super::streams::Streams;
use super::syntax::{Operator, Parameter, Part, Word};
use super::{Flow, Stop, arithmetic, files};

/// Most bytes that the words of one command and its variables may grow to: a script that doubles a text ends here.
pub(super) const TEXT: usize = 8 << 20;

/// What a script comes to that makes more text than that.
pub(super) fn too_much_text() -> Stop {
    Stop::Unknown(format!("more than {TEXT} bytes of text in one place"))
}

/// A stretch of a word after the first expansions.
enum Piece {
    /// Unquoted text of the script.
    Active(String),
    /// The result of an unquoted expansion: split into fields.
    Split(String),
    /// Quoted text.
    Literal(String),
    /// A border between fields, as `"$@"` makes them.
    Border,
}

impl Piece {
    fn size(&self) -> usize {
        match self {
            Self::Active(text) | Self::Split(text) | Self::Literal(text) => text.len() + 1,
            Self::Border => 1,
        }
    }
}

impl Shell<'_> {
    /// Expands words into fields.
    pub(super) fn fields(&mut self, words: &[Word], streams: &Streams) -> Flow<Vec<String>> {
        let mut fields: Vec<String> = Vec::new();
        let (mut counted, mut bytes) = (0, 0);
        for word in words {
            let mut pieces = Vec::new();
            self.pieces(&word.parts, false, &mut pieces, streams)?;
            for field in self.split(pieces) {
                self.file_names(&field, &mut fields);
            }
            bytes +=
                fields.iter().skip(counted).map(|field| field.len() + size_of::<String>()).sum::<usize>();
            counted = fields.len();
            if bytes > TEXT {
                return Err(too_much_text());
            }
        }
        Ok(fields)
    }

    /// Expands a word into one text, without splitting.
    pub(super) fn single(&mut self, word: &Word, streams: &Streams) -> Flow<String> {
        let atoms = self.pattern(word, streams)?;
        Ok(text(&atoms))
    }

    /// Expands a word into a pattern.
    pub(super) fn pattern(&mut self, word: &Word, streams: &Streams) -> Flow<Vec<Atom>> {
        let mut pieces = Vec::new();
        self.pieces(&word.parts, false, &mut pieces, streams)?;
        let mut atoms = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Active(text) | Piece::Split(text) => atoms.extend(pattern::active(&text)),
                Piece::Literal(text) => atoms.extend(text.chars().map(Atom::Literal)),
                Piece::Border => atoms.push(Atom::Literal(' ')),
            }
        }
        Ok(atoms)
    }

    fn pieces(&mut self, parts: &[Part], quoted: bool, out: &mut Vec<Piece>, streams: &Streams) -> Flow<()> {
        let (mut counted, mut bytes) = (out.len(), 0);
        for part in parts {
            bytes += out.iter().skip(counted).map(Piece::size).sum::<usize>();
            counted = out.len();
            if bytes > TEXT {
                return Err(too_much_text());
            }
            match part {
                Part::Text(text) if quoted => out.push(Piece::Literal(text.clone())),
                Part::Text(text) => out.push(Piece::Active(self.home(text, out.is_empty()))),
                Part::Quoted(text) => out.push(Piece::Literal(text.clone())),
                Part::Double(parts) => self.double(parts, out, streams)?,
                Part::Parameter(parameter) => self.parameter(parameter, quoted, out, streams)?,
                Part::Substitution(list) => {
                    let text = self.substitute(list, streams)?;
                    out.push(piece(text, quoted));
                }
                Part::Arithmetic(parts) => {
                    let text = self.calculate(parts, streams)?;
                    out.push(piece(text, quoted));
                }
            }
        }
        Ok(())
    }

    fn home(&self, text: &str, first: bool) -> String {
        match text.strip_prefix('~').filter(|rest| first && (rest.is_empty() || rest.starts_with('/'))) {
            Some(rest) => {
                format!("{}{rest}", self.state.variables.get("HOME").map_or("/root", String::as_str))
            }
            None => text.to_owned(),
        }
    }

    fn double(&mut self, parts: &[Part], out: &mut Vec<Piece>, streams: &Streams) -> Flow<()> {
        let only_all =
            matches!(parts, [Part::Parameter(p)] if p.name == "@" && p.operator.is_none() && !p.length);
        if !only_all {
            // Quotes make a field even around nothing.
            out.push(Piece::Literal(String::new()));
        }
        self.pieces(parts, true, out, streams)
    }

    fn calculate(&mut self, parts: &[Part], streams: &Streams) -> Flow<String> {
        let expression = self.single(&Word { parts: parts.to_vec() }, streams)?;
        match arithmetic::evaluate(&expression, &|name| self.variable(name).to_owned()) {
            Ok(value) => Ok(value.to_string()),
            Err(message) => {
                self.write(streams, 2, &format!("sh: {message}\n"));
                Err(Stop::Exit(2))
            }
        }
    }

    fn parameter(
        &mut self,
        p: &Parameter,
        quoted: bool,
        out: &mut Vec<Piece>,
        streams: &Streams,
    ) -> Flow<()> {
        if p.name == "@" && p.operator.is_none() && !p.length {
            self.all(quoted, out);
            return Ok(());
        }
        let value = self.value(&p.name);
        if p.length {
            let length = value.as_deref().map_or(0, |v| v.chars().count());
            out.push(piece(length.to_string(), quoted));
            return Ok(());
        }
        let Some((operator, word)) = &p.operator else {
            let value = self.required(&p.name, value, streams)?;
            out.push(piece(value, quoted));
            return Ok(());
        };
        self.operate(p, value, *operator, word, quoted, out, streams)
    }

    fn all(&self, quoted: bool, out: &mut Vec<Piece>) {
        for (index, value) in self.state.positional.iter().enumerate() {
            if index > 0 {
                out.push(Piece::Border);
            }
            out.push(piece(value.clone(), quoted));
        }
    }

    fn required(&mut self, name: &str, value: Option<String>, streams: &Streams) -> Flow<String> {
        if value.is_none() && self.state.options.nounset {
            self.write(streams, 2, &format!("sh: {name}: parameter not set\n"));
            return Err(Stop::Exit(2));
        }
        Ok(value.unwrap_or_default())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one call site; the arguments are the parts of one expansion"
    )]
    fn operate(
        &mut self,
        p: &Parameter,
        value: Option<String>,
        operator: Operator,
        word: &Word,
        quoted: bool,
        out: &mut Vec<Piece>,
        streams: &Streams,
    ) -> Flow<()> {
        let missing = |empty: bool| value.as_ref().is_none_or(|v| empty && v.is_empty());
        match operator {
            Operator::Default { empty } if missing(empty) => {
                return self.pieces(&word.parts, quoted, out, streams);
            }
            Operator::Alternative { empty } if !missing(empty) => {
                return self.pieces(&word.parts, quoted, out, streams);
            }
            Operator::Alternative { .. } => return Ok(()),
            Operator::Assign { empty } if missing(empty) => {
                let text = self.single(word, streams)?;
                self.assign(&p.name, text.clone());
                out.push(piece(text, quoted));
            }
            Operator::Require { empty } if missing(empty) => {
                let text = self.single(word, streams)?;
                self.write(streams, 2, &format!("sh: {}: {text}\n", p.name));
                return Err(Stop::Exit(2));
            }
            Operator::CutPrefix { longest } | Operator::CutSuffix { longest } => {
                let atoms = self.pattern(word, streams)?;
                let prefix = matches!(operator, Operator::CutPrefix { .. });
                out.push(piece(cut(&value.unwrap_or_default(), &atoms, prefix, longest), quoted));
            }
            _ => out.push(piece(value.unwrap_or_default(), quoted)),
        }
        Ok(())
    }

    /// The value of a parameter; `None` when unset.
    fn value(&self, name: &str) -> Option<String> {
        Some(match name {
            "?" => self.state.status.to_string(),
            "#" => self.state.positional.len().to_string(),
            "*" | "@" => self.state.positional.join(" "),
            "$" => "1".to_owned(),
            "!" | "-" => String::new(),
            "0" => self.state.zero.clone(),
            name => match name.parse::<usize>() {
                Ok(index) => return self.state.positional.get(index.checked_sub(1)?).cloned(),
                Err(_) => return self.state.variables.get(name).cloned(),
            },
        })
    }

    /// Splits pieces into fields.
    fn split(&self, pieces: Vec<Piece>) -> Vec<Vec<Atom>> {
        let separators = self.state.variables.get("IFS").cloned().unwrap_or_else(|| " \t\n".to_owned());
        let mut fields = Fields::default();
        for piece in pieces {
            match piece {
                Piece::Active(text) => fields.push(pattern::active(&text)),
                Piece::Literal(text) => fields.push(text.chars().map(Atom::Literal)),
                Piece::Border => fields.close(),
                Piece::Split(text) => fields.split(&text, &separators),
            }
        }
        fields.end()
    }

    /// Replaces a pattern by the names of the files it matches, if there are any.
    fn file_names(&self, field: &[Atom], out: &mut Vec<String>) {
        let active = field.iter().any(|a| matches!(a, Atom::Active('*' | '?' | '[')));
        if !active || self.state.options.noglob {
            out.push(text(field));
            return;
        }
        let slash = field.iter().rposition(|a| matches!(a, Atom::Active('/') | Atom::Literal('/')));
        let (directory, name) = field.split_at(slash.map_or(0, |at| at + 1));
        let directory = text(directory);
        let path =
            files::absolute(&self.state.directory, if directory.is_empty() { "." } else { &directory });
        let before = out.len();
        for candidate in self.files.names(&path) {
            let chars: Vec<char> = candidate.chars().collect();
            if !candidate.starts_with('.') && pattern::matches(name, &chars) {
                out.push(format!("{directory}{candidate}"));
            }
        }
        if out.len() == before {
            out.push(text(field));
        }
    }
}

/// Fields under construction.
#[derive(Default)]
struct Fields {
    done: Vec<Vec<Atom>>,
    open: Option<Vec<Atom>>,
}

impl Fields {
    fn push(&mut self, atoms: impl Iterator<Item = Atom>) {
        self.open.get_or_insert_default().extend(atoms);
    }

    fn close(&mut self) {
        self.done.extend(self.open.take());
    }

    fn split(&mut self, text: &str, separators: &str) {
        for c in text.chars() {
            match separators.contains(c) {
                // White space only ends a field; another separator makes one even when nothing stands before it.
                true if c.is_whitespace() => self.close(),
                true => {
                    self.open.get_or_insert_default();
                    self.close();
                }
                false => self.push(std::iter::once(Atom::Active(c))),
            }
        }
    }

    fn end(mut self) -> Vec<Vec<Atom>> {
        self.close();
        self.done
    }
}

fn piece(text: String, quoted: bool) -> Piece {
    if quoted { Piece::Literal(text) } else { Piece::Split(text) }
}

fn text(atoms: &[Atom]) -> String {
    atoms.iter().map(|(Atom::Active(c) | Atom::Literal(c))| *c).collect()
}

/// Cuts a matching prefix or suffix.
fn cut(value: &str, atoms: &[Atom], prefix: bool, longest: bool) -> String {
    let chars: Vec<char> = value.chars().collect();
    let length = chars.len();
    // Candidates from the shortest cut to the longest, or the other way round.
    let mut cuts: Vec<usize> = (0..=length).collect();
    if longest {
        cuts.reverse();
    }
    for count in cuts {
        let (removed, kept) = if prefix {
            chars.split_at(count)
        } else {
            let (kept, removed) = chars.split_at(length - count);
            (removed, kept)
        };
        if pattern::matches(atoms, removed) {
            return kept.iter().collect();
        }
    }
    value.to_owned()
}
