//! The functions that a study's loop is made of: take a trial, report to it, read what is known.
//!
//! A study is a loop over numbered trials and functions over a store. `take` claims a trial, `report` writes down where
//! it got to, the others read. Every process that looks at a study keeps what it has read and reads on from there.

mod error;
mod misfit;
mod readers;
mod refusal;
mod report;
mod summary;
mod take;
mod values;
mod view;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustc_hash::FxHashMap;
use soma_store::{Held, Store, StudyRecords};

pub use error::StudyError;
pub use misfit::{Misfit, misfits};
pub use readers::{
    Abandoned, abandoned, asked, attempts, best, curves, damage, discard, finished, in_flight, new_damage,
    seal, space, trials,
};
pub use report::{Report, report};
pub use summary::{Counts, Summary, Worker, summary};
pub use take::{Take, take};

use crate::goal::Goal;
use crate::record::Id;
use view::View;

/// What the threads of a process share of a study.
#[derive(Debug, Default)]
pub(crate) struct Known {
    view: Mutex<View>,
    mine: Mutex<Mine>,
}

/// The attempts this process works on.
#[derive(Debug, Default)]
struct Mine {
    running: FxHashMap<Id, Running>,
    line: Vec<u8>,
    point: String,
}

#[derive(Debug)]
struct Running {
    me: Arc<str>,
    // Values on record, and the last of them.
    said: usize,
    last: f64,
    // The goal it was taken with, which is the study's.
    goal: Option<Goal>,
    // None where another process took it.
    began: Option<Instant>,
    looked: Instant,
    // The record of its taking, and which ledger that and the curve are in.
    take: Box<[u8]>,
    epoch: u64,
    // Its end was written, and the write or its barrier failed.
    is_unsure: bool,
    _held: Held,
}

/// A study's records and what this process knows of them.
pub(crate) struct Study<'a> {
    pub(crate) store: &'a Store,
    pub(crate) records: StudyRecords,
    pub(crate) known: Arc<Known>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Study<'a> {
    pub(crate) fn of(store: &'a Store, name: &str) -> Self {
        let records = store.study(name);
        let known = records.attached();
        Self { store, records, known }
    }

    /// The view, as far as it was read.
    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        lock(&self.known.view)
    }

    /// The view, read on to the present.
    pub(crate) fn read(&self) -> Result<MutexGuard<'_, View>, StudyError> {
        let mut view = self.view();
        view.read_on(&self.records)?;
        Ok(view)
    }

    fn mine(&self) -> MutexGuard<'_, Mine> {
        lock(&self.known.mine)
    }

    pub(crate) fn is_mine(&self) -> impl Fn(Id) -> bool {
        let running: rustc_hash::FxHashSet<Id> = self.mine().running.keys().copied().collect();
        move |id| running.contains(&id)
    }

    pub(crate) fn name(&self) -> String {
        self.records.name().to_owned()
    }
}
