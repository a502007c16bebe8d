//! Why a verb did not do what was asked, and whose turn it is now.

use std::error::Error;
use std::fmt;
use std::io;

use soma_store::StoreError;
use soma_study::StudyError;

use crate::escape;

/// What ends a verb early.
#[derive(Debug)]
pub enum Failure {
    /// The person asking can put it right: a name that is not there, a value that does not fit.
    Told {
        /// What was given and what was expected.
        text: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The verb did its work and found something wrong; it has said so itself (`verify`).
    Found,
    /// A bug or a broken environment.
    Broken {
        /// What was tried, and what came of it.
        text: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Stdout, or the file that stands for it, cannot be written.
    Output(io::Error),
}

impl Failure {
    /// A refusal without a hint.
    pub fn told(text: impl Into<String>) -> Self {
        Self::Told { text: text.into(), hint: None }
    }

    /// A refusal that says what to do.
    pub fn hinted(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Told { text: text.into(), hint: Some(hint.into()) }
    }

    /// A file of the person's that could not be read or written.
    pub fn file(action: &str, path: &str, error: &io::Error) -> Self {
        let text = format!("could not {action} `{}`: {}", escape::name(path), reason(error));
        if is_fixable(error) { Self::told(text) } else { Self::Broken { text, hint: None } }
    }

    /// Whoever read our output has gone away: no error at all.
    pub fn closed_pipe() -> Self {
        Self::Output(io::ErrorKind::BrokenPipe.into())
    }

    /// Whether it is that.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// An error of the crates below, with everything it says.
    fn below(error: &(dyn Error + 'static), hint: Option<String>) -> Self {
        let mut text = error.to_string();
        let (mut source, mut is_broken) = (error.source(), false);
        while let Some(cause) = source {
            match cause.downcast_ref::<io::Error>() {
                Some(io) => {
                    is_broken = !is_fixable(io);
                    text = format!("{text}: {}", reason(io));
                }
                None => text = format!("{text}: {cause}"),
            }
            source = cause.source();
        }
        if is_broken { Self::Broken { text, hint } } else { Self::Told { text, hint } }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told { text, .. } | Self::Broken { text, .. } => f.write_str(text),
            Self::Output(error) => write!(f, "could not write to stdout: {}", reason(error)),
            Self::Found => Ok(()),
        }
    }
}

/// Whether an I/O error is about what was named, and not about the machine.
fn is_fixable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// The words of an I/O error without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Only writing an answer fails with a bare I/O error here; other files of the person go through [`Failure::file`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(kind) => io::Error::from(kind).into(),
            None => Self::Broken { text: format!("could not write JSON: {error}"), hint: None },
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::below(&error, store_hint(&error))
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        Self::below(&error, study_hint(&error))
    }
}

/// What to do at a command line; the library's own hints speak of functions where they must.
fn store_hint(error: &StoreError) -> Option<String> {
    match error {
        StoreError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            Some("check who owns it, and that you may read it".to_owned())
        }
        // Nothing is written here.
        StoreError::Io { .. } | StoreError::ReadOnly { .. } => None,
        StoreError::NotFound { .. } => Some("check the path".to_owned()),
        other => other.hint(),
    }
}

fn study_hint(error: &StudyError) -> Option<String> {
    match error {
        StudyError::Store(error) => store_hint(error),
        StudyError::UnknownStudy { close: None, n_studies: 0, .. } => {
            Some("the store holds no study yet: check the path".to_owned())
        }
        StudyError::UnknownStudy { close: None, location, .. } => {
            Some(format!("`soma inspect {}` lists the studies there are", escape::shell(location)))
        }
        StudyError::NoGoal { .. } => {
            Some("say which end is good: `--goal min` for a loss, `--goal max` for an accuracy".to_owned())
        }
        StudyError::GoalDiffers { .. } => Some("leave `--goal` out: the study says its own".to_owned()),
        other => other.hint(),
    }
}
