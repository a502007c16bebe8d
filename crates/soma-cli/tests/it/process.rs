//! Runs the built `soma` as people do: a process, its two streams, its exit code.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

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

/// Run `soma` in `folder` as on a terminal of `columns`.
pub fn soma_narrow<A: AsRef<OsStr>>(
    folder: &Path,
    columns: usize,
    arguments: impl IntoIterator<Item = A>,
) -> Outcome {
    outcome(
        &command(folder).env("COLUMNS", columns.to_string()).args(arguments).output().expect("soma starts"),
    )
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
        (r"\(\d+ (B|bytes)\)", "([SIZE])"),
        (r"offset\x22:\d+", r#"offset":"[OFFSET]""#),
    ]
}
