//! Runs the built `soma` as people do: a process, its two streams, its exit code.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// What a run of `soma` did, as one text for a snapshot.
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit {}", self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "--- {name}\n{text}")?;
            }
        }
        Ok(())
    }
}

/// `soma` ready to run in `folder`, with an environment in which only what a test sets counts.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soma"));
    command.current_dir(folder).stdin(Stdio::null());
    for set in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"] {
        command.env_remove(set);
    }
    command
}

/// Run `soma` in `folder`.
pub fn soma<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Outcome {
    outcome(&command(folder).args(arguments).output().expect("soma starts"))
}

/// A terminal of this size: the end that its screen would read, and the end a process writes to.
pub fn terminal(rows: u16, columns: u16) -> (File, File) {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    tcsetwinsize(&screen, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
    let line = File::options().read(true).write(true).open(name).unwrap();
    (File::from(screen), line)
}

/// Run `soma` in `folder` with stdout on a terminal of `columns`, without colour.
pub fn soma_on_terminal<A: AsRef<OsStr>>(
    folder: &Path,
    columns: u16,
    arguments: impl IntoIterator<Item = A>,
) -> Outcome {
    on_terminal(command(folder).args(arguments), columns)
}

/// Run `command` with stdout on a terminal of `columns`, without colour.
pub fn on_terminal(command: &mut Command, columns: u16) -> Outcome {
    let (mut screen, line) = terminal(24, columns);
    let mut soma = command
        .env("NO_COLOR", "1")
        .stdout(line.try_clone().unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .expect("soma starts");
    command.stdout(Stdio::null());
    drop(line);
    let mut shown = Vec::new();
    let mut bytes = [0; 4096];
    // The other end is closed when soma has ended: the read fails then.
    while let Ok(count @ 1..) = screen.read(&mut bytes) {
        shown.extend_from_slice(&bytes[..count]);
    }
    let mut stderr = String::new();
    soma.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    Outcome {
        code: soma.wait().unwrap().code().expect("an exit code and no signal"),
        // A terminal goes back to the first column at a line end.
        stdout: String::from_utf8(shown).expect("UTF-8 on the terminal").replace("\r\n", "\n"),
        stderr,
    }
}

/// The streams as text.
pub fn outcome(output: &Output) -> Outcome {
    Outcome {
        code: output.status.code().expect("an exit code and no signal"),
        stdout: String::from_utf8(output.stdout.clone()).expect("UTF-8 on stdout"),
        stderr: String::from_utf8(output.stderr.clone()).expect("UTF-8 on stderr"),
    }
}

/// The one JSON document on stdout.
pub fn json<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> serde_json::Value {
    let outcome = soma(folder, arguments);
    assert_eq!(outcome.code, 0, "{outcome}");
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"))
}

/// What differs from run to run, for `insta`: times, sizes and the names of ledgers, with the room they take.
pub fn filters() -> Vec<(&'static str, &'static str)> {
    vec![
        (r"/[^ `\x22]*/\.tmp\w+", "[FOLDER]"),
        (r"_secs\x22:[0-9.e-]+", r#"_secs":"[SECS]""#),
        (r"size_bytes\x22:\d{4,}", r#"size_bytes":"[SIZE]""#),
        (r" +\d+(\.\d+)? (ms|s)\b", " [TIME]"),
        (r" +\d+(\.\d+)? k?B\b", " [SIZE]"),
        (r"(\d) {2,}worker-1", "$1  worker-1"),
        (r" +(TOOK|LAST|SIZE)\b", " $1"),
        (r"ledger/[0-9a-z]+\.jsonl", "ledger/[NAME].jsonl"),
        (r"byte \d+", "byte [OFFSET]"),
        (r"\(\d+(\.\d+)? (k?B|bytes)\)", "([SIZE])"),
        (r"offset\x22:\d+", r#"offset":"[OFFSET]""#),
    ]
}

/// Snapshots of runs of `soma` in a folder, with what differs from run to run filtered.
macro_rules! shown {
    ($folder:expr, $line:literal, @$snapshot:literal) => {
        insta::with_settings!({filters => $crate::process::filters()}, {
            insta::assert_snapshot!($crate::process::soma($folder, $line.split(' ')), @$snapshot);
        });
    };
}
pub(crate) use shown;
