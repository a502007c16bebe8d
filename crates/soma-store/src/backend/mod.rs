//! Where the bytes of a store lie: what a folder, memory and, one day, a bucket must be able to do.
//!
//! Keys are relative paths with `/` between components, made by [`layout`](crate) and never by a caller's name. What
//! every implementation must hold is written as tests in [`conformance`](crate::conformance).

pub(crate) mod folder;
pub(crate) mod memory;

use std::fmt::Debug;
use std::time::{Duration, SystemTime};

pub use folder::Folder;
pub use memory::Memory;

use crate::error::Result;

/// Storage that a store can lie on. Every method may be called by any number of threads, processes and machines at
/// once.
pub trait Backend: Debug + Send + Sync {
    /// Where it is, in the words a person opened it with.
    fn location(&self) -> String;

    /// What a person would call the thing under `key`: a path where there is one.
    fn path(&self, key: &str) -> String;

    /// The whole content under `key`. None when nothing is there.
    fn read(&self, key: &str) -> Result<Option<Vec<u8>>>;

    /// Whether something is under `key`.
    fn exists(&self, key: &str) -> Result<bool>;

    /// Makes an empty entry. True for exactly one of any number of callers, on any machines. Not a write barrier.
    fn mark(&self, key: &str) -> Result<bool>;

    /// Puts `bytes` under a key that has nothing. True for exactly one of any number of callers; a reader sees all of
    /// it or none. On disk when it returns, where the backend is durable.
    fn create(&self, key: &str, bytes: &[u8]) -> Result<bool>;

    /// Puts `bytes` under `key`, over what was there; a reader sees the old or the new. On disk when it returns, where
    /// the backend is durable.
    fn replace(&self, key: &str, bytes: &[u8]) -> Result<()>;

    /// Takes away what is under `key`. False when nothing was.
    fn remove(&self, key: &str) -> Result<bool>;

    /// The last components of the keys right under `folder`, in no order; none when there is no such folder.
    fn list(&self, folder: &str) -> Result<Vec<String>>;

    /// How long an entry may be missing from [`Backend::list`] after it was made. Nothing, where the storage is this
    /// machine's own.
    fn listing_lag(&self) -> Duration {
        Duration::ZERO
    }

    /// Looks at `folder` again and again, for as little as can be.
    fn watch(&self, folder: &str) -> Box<dyn Watch>;

    /// Makes a new entry to append to. None when the key is taken.
    fn append(&self, key: &str) -> Result<Option<Box<dyn Append>>>;

    /// Reads an entry that somebody may be appending to. It need not be there yet, or any more.
    fn follow(&self, key: &str) -> Box<dyn Follow>;

    /// When the entry under `key` was last written, by the storage's clock.
    fn modified(&self, key: &str) -> Result<Option<SystemTime>>;

    /// What the storage's clock says now. None where that cannot be known without writing.
    fn now(&self) -> Result<Option<SystemTime>>;
}

/// A folder that is looked at again and again.
pub trait Watch: Debug + Send {
    /// The entries as [`Backend::list`] gives them. None when nothing came or went since the last call.
    fn changed(&mut self) -> Result<Option<Vec<String>>>;
}

/// The writing end of an append-only entry: this process alone has it.
pub trait Append: Debug + Send {
    /// Adds all of `bytes` at the end, or answers an error that says so. Other readers see it when this returns.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Whether a failed write left a part of its bytes behind: nothing may be appended any more.
    fn is_torn(&self) -> bool;

    /// A write barrier: everything appended survives a loss of power, where the backend is durable.
    fn sync(&mut self) -> Result<()>;

    /// Makes what was appended visible to readers on other machines, where that takes more than appending.
    fn publish(&mut self) -> Result<()>;

    /// Whether the entry can still be found by its key.
    fn is_there(&self) -> Result<bool>;
}

/// The reading end of an append-only entry.
pub trait Follow: Debug + Send {
    /// Adds what stands at `offset` and behind to `into`, as much as its spare capacity takes. Less than that only at
    /// the end of the entry.
    fn read_on(&mut self, offset: u64, into: &mut Vec<u8>) -> Result<Tail>;

    /// When it was last written, by the storage's clock. None when it is gone.
    fn modified(&mut self) -> Result<Option<SystemTime>>;

    /// Gives back what is held open between two calls.
    fn rest(&mut self);
}

/// What [`Follow::read_on`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// So many bytes; 0 when nothing is new.
    Read(usize),
    /// The entry is no longer there, or shorter than it was.
    Gone,
    /// What is there is nothing that can be read: somebody made a folder, or a pipe, of that name.
    NoFile,
}
