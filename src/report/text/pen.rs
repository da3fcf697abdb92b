//! How text is put on a terminal: colours, and lines that end at its edge.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Ansi};

use crate::report::wrap::wrapped;

/// Whether there are colours, and where lines end (0: nowhere).
#[derive(Clone, Copy)]
pub(super) struct Pen {
    pub(super) colored: bool,
    pub(super) width: usize,
}

impl Pen {
    pub(super) fn paint(self, color: AnsiColor, text: &str) -> String {
        if !self.colored {
            return text.to_owned();
        }
        let style = Ansi::new().bold().fg_color(Some(color.into()));
        format!("{style}{text}{style:#}")
    }

    /// Writes a line of running text; where it is broken, it goes on behind `hang` blanks.
    pub(super) fn say(self, out: &mut dyn Write, hang: usize, text: &str) -> io::Result<()> {
        writeln!(out, "{}", wrapped(text, hang, self.width))
    }

    pub(super) fn bold(self, text: &str) -> String {
        if self.colored { format!("{0}{text}{0:#}", Ansi::new().bold()) } else { text.to_owned() }
    }
}
