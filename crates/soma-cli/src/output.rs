//! Where a verb's words go: stdout for data, stderr for words, with or without colour, as wide as there is room.

use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout, Write};
use std::time::Duration;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::args::Colour;
use crate::escape;
use crate::failure::Failure;
use crate::table::cut;

/// The version of every `--json` shape. Members are only added to a version; see `docs/cli/json.md`.
const JSON_VERSION: u32 = 1;

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// What a piece of text means, which decides its colour; without colour it reads the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Titles of columns.
    Title,
    /// Words around the data.
    Quiet,
    /// What the eye should find first.
    Strong,
    Good,
    Warning,
    Bad,
    Live,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Title => Style::new().bold().underline(),
            Self::Quiet => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Live => AnsiColor::Cyan.on_default(),
        }
    }
}

/// A line in pieces, each in its colour.
pub type Line = Vec<(Tone, String)>;

/// Stdout of the process.
pub struct Output {
    stdout: BufWriter<Stdout>,
    coloured: bool,
}

impl Output {
    /// Stdout, coloured as asked.
    pub fn stdout(colour: Colour) -> Self {
        let stdout = io::stdout();
        let coloured = coloured(colour, || AutoStream::choice(&stdout));
        Self { stdout: BufWriter::with_capacity(BUFFER_BYTES, stdout), coloured }
    }

    /// Whether a person is looking.
    pub fn is_terminal(&self) -> bool {
        self.stdout.get_ref().is_terminal()
    }

    /// The columns of the terminal, or those that `COLUMNS` says it has; in a pipe or a file as many as it takes.
    pub fn width(&self) -> Option<usize> {
        if !self.is_terminal() {
            return None;
        }
        let said = std::env::var("COLUMNS").ok().and_then(|said| said.parse().ok());
        let asked = || terminal_size::terminal_size_of(self.stdout.get_ref());
        said.or_else(|| asked().map(|(width, _)| usize::from(width.0))).filter(|width| *width > 0)
    }

    /// The rows of the terminal, where there is one.
    pub fn height(&self) -> Option<usize> {
        terminal_size::terminal_size_of(self.stdout.get_ref()).map(|(_, height)| usize::from(height.0))
    }

    /// Write `text` in the colour of `tone`.
    pub fn toned(&mut self, tone: Tone, text: &str) -> io::Result<()> {
        if !self.coloured || tone == Tone::Plain || text.is_empty() {
            return self.stdout.write_all(text.as_bytes());
        }
        let style = tone.style();
        write!(self.stdout, "{style}{text}{style:#}")
    }

    /// Write what clap has to say.
    pub fn help(&mut self, text: &clap::builder::StyledStr) -> io::Result<()> {
        if self.coloured { write!(self.stdout, "{}", text.ansi()) } else { write!(self.stdout, "{text}") }
    }

    /// Write one line, cut where the terminal ends.
    pub fn line(&mut self, line: &Line) -> io::Result<()> {
        self.pieces(line)?;
        self.stdout.write_all(b"\n")
    }

    /// Write one line whole, however wide the terminal is: what is said at its end must be seen.
    pub fn whole_line(&mut self, line: &Line) -> io::Result<()> {
        line.iter().try_for_each(|(tone, text)| self.toned(*tone, text))?;
        self.stdout.write_all(b"\n")
    }

    /// Write lines over the `n_before` lines that were written last.
    pub fn redraw(&mut self, lines: &[Line], n_before: usize) -> io::Result<()> {
        if n_before > 0 {
            // Up, to the beginning of the line.
            write!(self.stdout, "\x1b[{n_before}F")?;
        }
        for line in lines {
            self.pieces(line)?;
            // The rest of the line before is wiped.
            self.stdout.write_all(b"\x1b[K\n")?;
        }
        // And the lines below.
        self.stdout.write_all(b"\x1b[J")?;
        self.stdout.flush()
    }

    fn pieces(&mut self, line: &Line) -> io::Result<()> {
        let mut room = self.width().unwrap_or(usize::MAX);
        for (tone, text) in line {
            let (shown, width) =
                if text.width() > room { cut(text, room) } else { (text.into(), text.width()) };
            self.toned(*tone, &shown)?;
            room -= width;
        }
        Ok(())
    }

    /// Wait, and answer whether whoever reads this has gone away meanwhile: a pipe says so without being written to.
    pub fn wait(&self, wait: Duration) -> bool {
        let mut stdout = [PollFd::new(self.stdout.get_ref(), PollFlags::empty())];
        let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        match poll(&mut stdout, Some(&timeout)) {
            // A signal: looked at again earlier than asked, that is all.
            Ok(0) | Err(_) => false,
            Ok(_) => stdout[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL),
        }
    }

    /// Write one JSON document on a line; see [`document`].
    pub fn json(&mut self, verb: &str, body: &impl Serialize) -> Result<(), Failure> {
        document(&mut self.stdout, verb, body)
    }

    /// Hand everything over to the reader.
    pub fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stdout.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// Write one JSON document on a line: `version`, the verb, then the members of `body`.
pub fn document(mut into: impl Write, verb: &str, body: &impl Serialize) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Head<'a> {
        version: u32,
        verb: &'a str,
    }
    // Two objects written as one: `{"version":1,"verb":"best"` + `,` + the members of the body. A flattened struct
    // would be built in memory first, all 100,000 rows of it.
    let head = serde_json::to_string(&Head { version: JSON_VERSION, verb })?;
    into.write_all(head.trim_end_matches('}').as_bytes())?;
    let joined = Joined { inner: &mut into, is_first: true };
    body.serialize(&mut serde_json::Serializer::with_formatter(joined, escape::Json))?;
    into.write_all(b"\n")?;
    Ok(())
}

/// Turns the `{` that opens the body into the `,` that goes on after the head.
struct Joined<W> {
    inner: W,
    is_first: bool,
}

impl<W: Write> Write for Joined<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.split_first() {
            Some((b'{', _)) if self.is_first => {
                self.is_first = false;
                self.inner.write_all(b",")?;
                Ok(1)
            }
            _ => self.inner.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Stderr of the process: what is said about the data and is not the data.
pub struct Words {
    stderr: Stderr,
    coloured: bool,
}

impl Words {
    /// Stderr, coloured as asked.
    pub fn stderr(colour: Colour) -> Self {
        let stderr = io::stderr();
        let coloured = coloured(colour, || AutoStream::choice(&stderr));
        Self { stderr, coloured }
    }

    /// One line that is good to know.
    pub fn note(&self, text: &str) {
        self.line(AnsiColor::Cyan.on_default(), "note", text);
    }

    /// One line about something that is not as it should be.
    pub fn warning(&self, text: &str) {
        self.line(AnsiColor::Yellow.on_default().bold(), "warning", text);
    }

    /// What ended the verb: the error on a line, what to do on another.
    pub fn failure(&self, ended: &Failure) {
        if matches!(ended, Failure::Found) {
            return;
        }
        self.line(AnsiColor::Red.on_default().bold(), "error", &ended.to_string());
        if let Failure::Told { hint: Some(hint), .. } | Failure::Broken { hint: Some(hint), .. } = ended {
            self.line(AnsiColor::Green.on_default(), "hint", hint);
        }
    }

    /// Lines as they are.
    pub fn plain(&self, text: &str) {
        // Nobody is left to be told that stderr is closed.
        let _ = escape::Shown(&self.stderr).write_all(text.as_bytes());
    }

    fn line(&self, style: Style, kind: &str, text: &str) {
        let style = if self.coloured { style } else { Style::new() };
        // Nobody is left to be told that stderr is closed.
        let _ = writeln!(&self.stderr, "{style}{kind}:{style:#} {}", escape::text(text));
    }
}

fn coloured(asked: Colour, auto: impl FnOnce() -> anstream::ColorChoice) -> bool {
    match asked {
        Colour::Auto => auto() != anstream::ColorChoice::Never,
        Colour::Always => true,
        Colour::Never => false,
    }
}
