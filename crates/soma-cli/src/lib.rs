//! The `soma` command line, as a library with one door.
//!
//! [`run`] takes the arguments a process was given and answers the exit code; `main.rs` is that call. A
//! verb parses its arguments, calls soma-store or soma-study, and prints: no rule about studies lives here.
//!
//! Exit codes: 0 done, 1 something the person can put right, 2 a bug or a broken environment. A reader
//! that goes away (`| head -1`) is not an error. stdout is data, stderr is words.

mod args;
mod column;
mod commands;
mod damage;
mod docs;
mod escape;
mod failure;
mod number;
mod output;
mod plot;
mod row;
mod table;
mod target;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::{CommandFactory, FromArgMatches};

use failure::Failure;
use output::{Output, Words};

pub use docs::pages;

/// Done, or nothing to do.
const DONE: u8 = 0;
/// What was asked cannot be done, and the person asking can put it right.
const FIXABLE: u8 = 1;
/// A bug, or an environment that does not work.
const BROKEN: u8 = 2;

/// Run one command line, the program's name first, and answer the exit code of the process.
///
/// Writes to the process's stdout and stderr; never exits, never panics.
pub fn run<I>(arguments: I) -> u8
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    catch_unwind(AssertUnwindSafe(|| parsed(&arguments))).unwrap_or(BROKEN)
}

/// Parse, run, and say what went wrong.
fn parsed(arguments: &[OsString]) -> u8 {
    let colour = args::colour_asked_for(arguments);
    let (mut output, words) = (Output::stdout(colour), Words::stderr(colour));
    let parsed = args::Arguments::command()
        .color(colour.into())
        .try_get_matches_from(arguments)
        .and_then(|matches| args::Arguments::from_arg_matches(&matches));
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) if error.use_stderr() => return misused(&error, arguments, &words),
        // Help and version are answers.
        Err(error) => return concluded(output.help(&error.render()).map_err(Into::into), output, &words),
    };
    concluded(commands::run(parsed.command, &mut output, &words), output, &words)
}

/// Hand over what is left to write, say what went wrong, and answer the exit code.
fn concluded(ended: Result<(), Failure>, mut output: Output, words: &Words) -> u8 {
    match ended.and_then(|()| Ok(output.flush()?)) {
        Ok(()) => DONE,
        Err(failure) if failure.is_closed_pipe() => DONE,
        Err(failure) => {
            // What was already said stays said: the good records come before the word about the bad ones.
            let _ = output.flush();
            words.failure(&failure);
            match failure {
                Failure::Told { .. } | Failure::Found => FIXABLE,
                Failure::Broken { .. } | Failure::Output(_) => BROKEN,
            }
        }
    }
}

/// Say what was typed wrong: the person can put it right.
fn misused(error: &clap::Error, arguments: &[OsString], words: &Words) -> u8 {
    if arguments.iter().any(|argument| escape::is_odd(&argument.to_string_lossy())) {
        // clap repeats it as it is.
        words.plain(&error.render().to_string());
    } else {
        // Nobody is left to be told that stderr is closed.
        let _ = error.print();
    }
    FIXABLE
}

/// The definitions of the command line, for completions, manual pages and the documentation.
fn definitions() -> clap::Command {
    let mut command = args::Arguments::command();
    command.build();
    command
}
