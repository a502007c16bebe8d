//! A store: bytes by content, names for them, exclusive claims and append-only ledgers, in a folder or in memory.
//!
//! Nothing here knows what a record means. Nothing is locked: a claim is a file that only one process can create, a
//! ledger is a file that only one process appends to, and a reader reads on from where it stopped.

mod backend;
pub mod conformance;
mod damage;
mod digest;
mod error;
pub mod faulty;
mod follow;
mod fork;
mod heartbeat;
mod layout;
mod ledger;
mod line;
mod name;
mod seal;
mod store;
mod study;
mod verify;
mod written_once;

pub use backend::{Append, Backend, Folder, Follow, Memory, Tail, Watch};
pub use damage::Damage;
pub use digest::Digest;
pub use error::{Result, StoreError};
pub use follow::{Follower, Found, LedgerId};
pub use heartbeat::Held;
pub use ledger::Place;
pub use line::{Scanned, scan};
pub use seal::Sealed;
pub use store::{Binding, Options, Store};
pub use study::StudyRecords;
pub use verify::Verification;
