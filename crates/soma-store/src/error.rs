//! What a store refuses or fails at, and what to do about it.

use std::io;

/// A store could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store to read at the place given.
    #[error("there is no store at `{location}`")]
    NotFound {
        /// The place given.
        location: String,
    },
    /// The folder is there and holds no store.
    #[error("`{location}` is not a store: it has no `format` file")]
    NotAStore {
        /// The place given.
        location: String,
    },
    /// The place names a kind of storage that this build cannot reach.
    #[error(
        "`{location}` was given, and `{scheme}` storage is not in this build yet; expected a folder or `memory://`"
    )]
    NoBackend {
        /// The place given.
        location: String,
        /// The part before `://`.
        scheme: String,
    },
    /// A file says a version that this build does not know.
    #[error("`{path}` was written by version {found} of the format, this build reads up to version {known}")]
    NewerVersion {
        /// The file.
        path: String,
        /// The version it says.
        found: u64,
        /// The newest this build reads.
        known: u64,
    },
    /// The operating system refused or failed.
    #[error("could not {action} `{path}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// Something was to be written to a store opened for reading.
    #[error("could not write `{path}`: the store was opened for reading")]
    ReadOnly {
        /// What was to be written.
        path: String,
    },
    /// No blob has this digest.
    #[error("there is no blob `{digest}` in `{location}`")]
    BlobNotFound {
        /// The digest asked for.
        digest: String,
        /// The store.
        location: String,
    },
    /// The bytes under a digest are not the ones that were put.
    #[error("blob `{digest}` is damaged: `{path}` holds {size} bytes whose digest is `{found}`")]
    BlobDamaged {
        /// The digest asked for.
        digest: String,
        /// The digest of what is there.
        found: String,
        /// The file.
        path: String,
        /// Bytes it holds.
        size: usize,
    },
    /// A small file that is written once does not read back.
    #[error("`{path}` is damaged: {what}")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// Text that is not a digest.
    #[error("`{given}` is not a digest, expected 64 hexadecimal digits")]
    BadDigest {
        /// What was given.
        given: String,
    },
    /// A record that is not one JSON object.
    #[error("a record was given as `{given}`, expected one JSON object on one line")]
    BadRecord {
        /// Its beginning.
        given: String,
    },
}

impl StoreError {
    /// What to do about it, where there is more to say than the text does.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotFound { .. } => "check the path; a store is made when something is first written to it",
            Self::NotAStore { .. } => "give the folder that holds the file `format`",
            Self::NoBackend { .. } => "use a folder, which may lie on a shared file system",
            Self::NewerVersion { .. } => "read it with a newer somatize; this one changes nothing in it",
            Self::ReadOnly { .. } => "open the store without `read_only` to write to it",
            Self::BlobDamaged { .. } => {
                "put the same bytes again to replace it; `soma verify` lists all damage"
            }
            Self::Damaged { .. } => "restore the file from a copy; `soma verify` lists all damage",
            Self::Io { source, .. } => return io_hint(source),
            Self::BlobNotFound { .. } | Self::BadDigest { .. } | Self::BadRecord { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// Names what was tried and on what.
    pub(crate) fn io(action: &'static str, path: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { action, path: path.into(), source: source.into() }
    }
}

fn io_hint(source: &io::Error) -> Option<String> {
    let hint = match source.kind() {
        io::ErrorKind::StorageFull => "free some space and report again: nothing acknowledged is lost",
        io::ErrorKind::QuotaExceeded => "the quota is used up; free some space and report again",
        io::ErrorKind::PermissionDenied => "check who owns the folder, or open the store with `read_only`",
        io::ErrorKind::ReadOnlyFilesystem => "open the store with `read_only`",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// What store functions answer.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
