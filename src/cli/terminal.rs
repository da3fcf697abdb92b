//! The terminal: talk on standard error, data on standard output, colour only where it is wanted.

use std::io::Write;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::ProgressBar;

use super::args::Color;
use super::exit::Error;
pub(crate) use crate::report::escape::{line, terminal as printable};

/// Where lines of running text end if there is no terminal to say so, in characters.
pub(crate) const WIDTH: usize = 100;
/// Below this width breaking lines helps nobody.
const NARROWEST: usize = 40;

/// Where messages go and whether they may be coloured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    color: Color,
}

impl Terminal {
    pub(crate) fn new(color: Color) -> Self {
        Self { color }
    }

    /// Whether text for standard output is coloured.
    pub(crate) fn colors_stdout(self) -> bool {
        self.colored(io::stdout().is_terminal())
    }

    /// Where lines on standard output end: at the terminal's edge.
    pub(crate) fn width(self) -> usize {
        let size = terminal_size::terminal_size_of(io::stdout());
        size.map_or(WIDTH, |(width, _)| usize::from(width.0).max(NARROWEST))
    }

    /// Shows phases of something that takes long: a spinner on a terminal, lines elsewhere.
    pub(crate) fn phases(self) -> Phases {
        let drawn = self.color != Color::Never && io::stderr().is_terminal();
        Phases { terminal: self, spinner: drawn.then(ProgressBar::new_spinner) }
    }

    fn colored(self, is_terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            // https://no-color.org: set and not empty.
            Color::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }

    /// Prints an error with its hint.
    pub(crate) fn error(self, error: &Error) {
        let colored = self.colored(io::stderr().is_terminal());
        let (red, reset) = paint(colored, AnsiColor::Red);
        // Further lines are set off, so that none of them reads as a line of our own.
        let set_off = |text: &str| printable(text).trim_end().replace('\n', "\n  ");
        let mut text = format!("{red}error:{reset} {}\n", set_off(&error.message));
        if !error.hint.is_empty() {
            let (cyan, reset) = paint(colored, AnsiColor::Cyan);
            text.push_str(&format!("{cyan}hint:{reset} {}\n", set_off(&error.hint)));
        }
        // Nobody is left to tell when standard error is closed.
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Says something on standard error.
    pub(crate) fn say(self, text: &str) {
        let _ = io::stderr().write_all(format!("{}\n", line(text)).as_bytes());
    }
}

/// Phases of something that takes long.
pub(crate) struct Phases {
    terminal: Terminal,
    spinner: Option<ProgressBar>,
}

impl Phases {
    /// The next phase begins.
    pub(crate) fn begin(&self, phase: &str) {
        match &self.spinner {
            Some(spinner) => {
                spinner.enable_steady_tick(Duration::from_millis(120));
                spinner.set_message(line(phase));
            }
            None => self.terminal.say(phase),
        }
    }

    /// Nothing is going on any more.
    pub(crate) fn end(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

fn paint(colored: bool, color: AnsiColor) -> (String, String) {
    if !colored {
        return (String::new(), String::new());
    }
    let style = Style::new().bold().fg_color(Some(color.into()));
    (style.render().to_string(), style.render_reset().to_string())
}

/// Writes text to standard error as it is, with what a terminal must not get made visible.
pub(crate) fn stderr(text: &str) {
    let _ = io::stderr().write_all(printable(text).as_bytes());
}

/// Writes data to standard output.
///
/// # Errors
/// When standard output can't be written. A reader that went away has read what it wanted, as `head` does.
pub(crate) fn print(data: &[u8]) -> Result<(), Error> {
    print_pieces(&[data])
}

/// Like [`print`], for data in pieces.
///
/// # Errors
/// Those of [`print`].
pub(crate) fn print_pieces(pieces: &[impl AsRef<[u8]>]) -> Result<(), Error> {
    stream(|out| pieces.iter().try_for_each(|piece| out.write_all(piece.as_ref())))
}

/// Lets somebody write to a place without a system call for each word.
///
/// # Errors
/// Those of the place and of the writing.
pub(crate) fn buffered(
    place: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(64 << 10, place);
    write(&mut out)?;
    out.flush()
}

/// Lets somebody write to standard output.
///
/// # Errors
/// Those of [`print`].
pub(crate) fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let written = buffered(io::stdout().lock(), write);
    heard(written).map_err(|error| Error::new(format!("can't write to standard output: {error}")))
}

/// Without the error that says that nobody reads on.
fn heard(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}
