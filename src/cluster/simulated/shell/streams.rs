//! Standard streams of a command: where its output goes and where its input comes from.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::files::BYTES;

/// Input that commands read on from where the last one stopped.
#[derive(Debug, Default)]
pub(super) struct Input {
    text: String,
    at: usize,
}

impl Input {
    /// Everything that is left.
    fn rest(&mut self) -> String {
        let rest = self.text.get(self.at..).unwrap_or("").to_owned();
        self.at = self.text.len();
        rest
    }

    /// The next line without its end; `None` at the end of the input. The flag says whether it was ended.
    fn line(&mut self) -> Option<(String, bool)> {
        let rest = self.text.get(self.at..).filter(|r| !r.is_empty())?;
        let (line, ended) = rest.split_once('\n').map_or((rest, false), |(line, _)| (line, true));
        let line = line.to_owned();
        self.at += line.len() + usize::from(ended);
        Some((line, ended))
    }
}

/// Where output goes.
#[derive(Clone, Debug)]
pub(super) enum Sink {
    /// Nowhere.
    Null,
    /// Into a buffer.
    Buffer(Rc<RefCell<String>>),
    /// To the end of a file.
    File(String),
}

/// The open descriptors of a command.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    input: Rc<RefCell<Input>>,
    sinks: BTreeMap<u32, Sink>,
}

impl Streams {
    /// No input, and both outputs in one buffer.
    pub(super) fn joined(buffer: &Rc<RefCell<String>>) -> Self {
        let sinks = BTreeMap::from([(1, Sink::Buffer(buffer.clone())), (2, Sink::Buffer(buffer.clone()))]);
        Self { input: Rc::default(), sinks }
    }

    /// The same with other input.
    pub(super) fn reading(&self, text: String) -> Self {
        Self { input: Rc::new(RefCell::new(Input { text, at: 0 })), sinks: self.sinks.clone() }
    }

    /// The same with another sink for one descriptor.
    pub(super) fn writing(&self, descriptor: u32, sink: Sink) -> Self {
        let mut streams = self.clone();
        streams.sinks.insert(descriptor, sink);
        streams
    }

    /// Where a descriptor goes.
    pub(super) fn sink(&self, descriptor: u32) -> Sink {
        self.sinks.get(&descriptor).cloned().unwrap_or(Sink::Null)
    }

    /// Everything that is left of the input.
    pub(super) fn read_all(&self) -> String {
        self.input.borrow_mut().rest()
    }

    /// The next line of the input; the flag says whether a line end followed it.
    pub(super) fn read_line(&self) -> Option<(String, bool)> {
        self.input.borrow_mut().line()
    }
}

/// Adds text to a buffer, up to a limit.
pub(super) fn append(buffer: &RefCell<String>, text: &str) {
    let mut buffer = buffer.borrow_mut();
    if buffer.len() + text.len() <= BYTES {
        buffer.push_str(text);
    }
}
