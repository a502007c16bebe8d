//! The `soma` binary from outside: what it prints, where, and how it ends.

#![expect(clippy::unwrap_used, reason = "what fails in a helper fails the test")]
#![expect(clippy::float_cmp, reason = "every digit is kept")]

mod basics;
mod damage;
mod docs;
mod export;
mod fixtures;
mod graph;
mod names;
mod pipes;
mod process;
mod seal;
mod shapes;
mod studies;
mod terminals;
mod watch;
