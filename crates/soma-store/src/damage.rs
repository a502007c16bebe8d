//! What is wrong with a file of a store, in words.

use std::fmt;

use crate::error::StoreError;

/// A place in a store that does not read, and what that costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: String,
    /// Bytes before the place.
    pub offset: u64,
    /// Bytes that do not read.
    pub size: u64,
    /// What is wrong.
    pub what: String,
}

impl Damage {
    /// A line whose checksum is not that of its content: a torn or a flipped byte.
    pub const UNREADABLE: &'static str =
        "a record whose checksum is not that of its content; one record is lost";
    /// A whole line that is no record this build knows.
    pub const NO_RECORD: &'static str = "a whole line that is no record of a study; it is passed over";
    /// The end of a file whose last write broke off.
    pub const TORN: &'static str =
        "an unfinished last record; what was being written when its process ended is lost";

    /// A claim that is not empty.
    pub const FILLED_CLAIM: &'static str = "a claim with bytes in it, expected none; it counts all the same";

    /// A file that does not open or read at all, and why.
    pub fn unreadable(error: &StoreError) -> String {
        match error {
            StoreError::Io { source, .. } => {
                format!("it cannot be read ({source}); what it holds is not known")
            }
            StoreError::Damaged { what, .. } => what.clone(),
            other => other.to_string(),
        }
    }

    /// Damage at a place in a file.
    pub fn in_file(path: String, offset: u64, size: u64, what: &str) -> Self {
        Self { path, offset, size, what: what.to_owned() }
    }
}

/// `<path>, byte <offset>: <what> (<size> bytes)`.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, byte {}: {} ({} bytes)", self.path, self.offset, self.what, self.size)
    }
}
