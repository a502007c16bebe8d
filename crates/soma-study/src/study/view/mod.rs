//! What a process knows of a study: built from the ledgers, kept, and read on.

mod documents;
mod entry;
mod liveness;
mod rows;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use soma_store::{Damage, Follower, Found, LedgerId, StoreError, StudyRecords};

pub(crate) use self::documents::Document;
pub(crate) use self::entry::{Attempt, Entry};
use self::entry::{Entries, Fence};
use self::liveness::is_silent;
use self::rows::Rows;
use super::error::StudyError;
use crate::history::{Curve, Curves, Growing, History, Observation};
use crate::point::Point;
use crate::record::{self, Id, Record};
use crate::state::State;

/// A study as this process has read it.
#[derive(Debug, Default)]
pub(crate) struct View {
    follower: Option<Follower>,
    documents: Vec<Document>,
    trials: Entries,
    running: BTreeSet<Id>,
    finished: Growing<Observation>,
    // Trials that have no result: where they look, and no score.
    open: Growing<Observation>,
    curves: Growing<Curve>,
    rows: Rows,
    names: FxHashSet<Arc<str>>,
    // Names by number; what was not met yet is empty.
    ledgers: Vec<Arc<str>>,
    damage: Vec<Damage>,
    told: usize,
    said: Vec<f64>,
    // When a claim without a record was first seen, on the awake clock; and when claims were last listed.
    unrecorded: FxHashMap<Id, Duration>,
    claims_listed: Option<Duration>,
}

/// Where a record stands.
struct Place<'a> {
    ledger: LedgerId,
    name: &'a Arc<str>,
    offset: u64,
}

impl View {
    /// Reads what is new.
    pub(crate) fn read_on(&mut self, records: &StudyRecords) -> Result<(), StudyError> {
        let mut follower = self.follower.take().unwrap_or_else(|| records.follower());
        let read = follower.read_on(records.awake(), &mut |found| match found {
            Found::Reset => *self = Self::default(),
            Found::Damaged { name, offset, size, .. } => {
                self.damage.push(Damage::in_file(
                    records.ledger_path(name),
                    offset,
                    size,
                    Damage::UNREADABLE,
                ));
            }
            Found::Unreadable { name, offset, error, .. } => {
                let path = records.ledger_path(name);
                self.damage.push(Damage::in_file(path, offset, 0, &Damage::unreadable(error)));
            }
            Found::Line { ledger, name, offset, line } => {
                let mut said = std::mem::take(&mut self.said);
                let at = Place { ledger, name, offset };
                let record = record::read(line, &mut said);
                if !record.is_some_and(|record| self.apply(record, &said, &at, records)) {
                    let (path, size) = (records.ledger_path(name), line.len() as u64);
                    self.damage.push(Damage::in_file(path, offset, size, Damage::NO_RECORD));
                }
                self.said = said;
            }
        });
        self.follower = Some(follower);
        read.map_err(Into::into)
    }

    /// Whether anything was read yet.
    pub(crate) fn is_begun(&self) -> bool {
        self.follower.is_some()
    }

    /// Forgets everything: the study was taken away.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// False where the record, or the curve in it, cannot be one.
    fn apply(&mut self, record: Record<'_>, said: &[f64], at: &Place<'_>, records: &StudyRecords) -> bool {
        let mut is_sound = true;
        match record {
            Record::Take { id, me, space_version, point, origin: _, after } => {
                let who = self.intern(&me);
                let known = self.document(space_version, records);
                let point = known.and_then(|known| known.space.parse_point(&point).ok());
                self.take(id, who, space_version, point, after, at);
            }
            Record::Report { id, from } => {
                let Some(attempt) = self.valid_attempt(id, at) else { return true };
                if attempt.state == State::Running {
                    is_sound = attempt.curve.extend(from, said);
                    self.rows.touch(id);
                } else if attempt.curve.mend(from, said) {
                    // Its end was read before, from another ledger.
                    self.settle(id);
                }
            }
            Record::End { id, from, state, score, because, took_secs } => {
                let Some(attempt) = self.valid_attempt(id, at) else { return true };
                if attempt.state != State::Running {
                    return true;
                }
                is_sound = attempt.curve.extend(from, said);
                attempt.state = state;
                attempt.score = score.filter(|score| score.is_finite());
                attempt.because = because.map(Into::into);
                attempt.took_secs = took_secs;
                attempt.offset = at.offset;
                if state == State::Done && attempt.score.is_none() {
                    attempt.state = State::Failed;
                }
                self.settle(id);
            }
            Record::Discard { trial, because: _ } => {
                self.trials.entry(trial).is_discarded = true;
                self.finished.remove((trial, 0));
                self.open.remove((trial, 0));
                self.curves.remove((trial, 0));
                self.touch_all(trial);
            }
            Record::Other => {}
        }
        is_sound
    }

    fn take(
        &mut self,
        id: Id,
        who: Arc<str>,
        space_version: u32,
        point: Option<Point>,
        after: Vec<(String, u64)>,
        at: &Place<'_>,
    ) {
        let attempt = self.attempt(id, at);
        if attempt.who.is_some() {
            // A claim was lost with the power and given again: the first one on record has it.
            return;
        }
        (attempt.who, attempt.space_version, attempt.point) = (Some(who), space_version, point);
        if attempt.state.is_finished() {
            // Its end was read before its beginning, from another ledger.
            self.settle(id);
        }
        self.rows.touch(id);
        if id.attempt == 0 {
            self.reopen(id.trial);
            return;
        }
        let ledgers = &self.ledgers;
        let entry = self.trials.entry(id.trial);
        let fence = Fence { attempt: id.attempt, after };
        for earlier in entry.attempts.iter_mut().filter(|one| one.attempt < id.attempt) {
            self.running.remove(&Id { trial: id.trial, attempt: earlier.attempt });
            let name = ledgers.get(earlier.ledger.0 as usize).map_or("", |name| &**name);
            if earlier.state.is_finished() && fence.voids(earlier.attempt, name, earlier.offset) {
                earlier.reopen();
            }
        }
        entry.fences.push(fence);
        if entry.done().is_none() {
            self.finished.remove((id.trial, 0));
            self.curves.remove((id.trial, 0));
        }
        self.reopen(id.trial);
        self.touch_all(id.trial);
    }

    /// Puts a trial among those without a result, if it is one.
    fn reopen(&mut self, trial: u64) {
        let Some(entry) = self.trials.get(trial) else { return };
        if entry.is_discarded || entry.done().is_some() {
            return;
        }
        if let Some(point) = entry.attempts.iter().find_map(|one| one.point.clone()) {
            self.open.set(Observation { trial, point, score: None });
        }
    }

    /// The attempt, if what is said at this place counts.
    fn valid_attempt(&mut self, id: Id, at: &Place<'_>) -> Option<&mut Attempt> {
        let entry = self.trials.entry(id.trial);
        let is_void = entry.fences.iter().any(|fence| fence.voids(id.attempt, at.name, at.offset));
        (!is_void).then(|| self.attempt(id, at))
    }

    /// The attempt, last spoken of at this place.
    fn attempt(&mut self, id: Id, at: &Place<'_>) -> &mut Attempt {
        let entry = self.trials.entry(id.trial);
        let place = match entry.attempts.binary_search_by_key(&id.attempt, |one| one.attempt) {
            Ok(place) => place,
            Err(place) => {
                if entry.attempts.is_empty() {
                    // Mostly the only one.
                    entry.attempts.reserve_exact(1);
                }
                entry.attempts.insert(place, Attempt::new(id.attempt, at.ledger));
                if place + 1 == entry.attempts.len() {
                    self.running.insert(id);
                }
                place
            }
        };
        let attempt = &mut entry.attempts[place];
        if attempt.state == State::Running && attempt.ledger != at.ledger {
            entry.ledgers.push(std::mem::replace(&mut attempt.ledger, at.ledger));
        }
        let ledger = at.ledger.0 as usize;
        if self.ledgers.get(ledger).is_none_or(|name| name.is_empty()) {
            self.ledgers.resize(self.ledgers.len().max(ledger + 1), "".into());
            self.ledgers[ledger] = Arc::clone(at.name);
        }
        attempt
    }

    /// An attempt ended, and its taking is known or was lost.
    fn settle(&mut self, id: Id) {
        self.running.remove(&id);
        self.rows.touch(id);
        let entry = self.trials.entry(id.trial);
        if entry.is_discarded {
            return;
        }
        let done = entry.attempts.iter_mut().find(|one| one.state == State::Done);
        let Some(done) = done.filter(|done| done.attempt == id.attempt) else { return };
        self.open.remove((id.trial, 0));
        self.curves.set(Curve { trial: id.trial, values: done.curve.share() });
        if let Some(point) = &done.point {
            self.finished.set(Observation { trial: id.trial, point: point.clone(), score: done.score });
        }
    }

    fn touch_all(&mut self, trial: u64) {
        if let Some(entry) = self.trials.get(trial) {
            entry.attempts.iter().for_each(|one| self.rows.touch(Id { trial, attempt: one.attempt }));
        }
    }

    fn intern(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        name
    }

    /// A trial, if anything was said of it.
    pub(crate) fn entry(&self, trial: u64) -> Option<&Entry> {
        self.trials.get(trial)
    }

    /// Trials of which something is on record.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.trials.iter()
    }

    /// The trials that ran to the end.
    pub(crate) fn finished(&mut self) -> History {
        self.finished.snapshot()
    }

    /// The trials that ran to the end, and then those that have no result.
    pub(crate) fn asked(&mut self) -> History {
        self.finished.snapshot().concat(&self.open.snapshot())
    }

    /// The curves of the trials that ran to the end.
    pub(crate) fn curves(&mut self) -> Curves {
        self.curves.snapshot()
    }

    /// How far the ledgers that speak of a trial have been read.
    ///
    /// # Errors
    /// One of them cannot be read: what it says behind that is not known, so nobody may take over from it. Where nothing
    /// is known of the trial, any ledger may be the one.
    pub(crate) fn fence(&mut self, trial: u64) -> Result<Vec<(&str, u64)>, StoreError> {
        let Some(follower) = &mut self.follower else { return Ok(Vec::new()) };
        let Some(entry) = self.trials.get(trial) else {
            follower.require(follower.ledgers())?;
            return Ok(Vec::new());
        };
        let mut ledgers = entry.ledgers.clone();
        ledgers.extend(entry.attempts.iter().map(|one| one.ledger));
        ledgers.sort_unstable();
        ledgers.dedup();
        follower.require(ledgers.iter().copied())?;
        let follower = &*follower;
        let read = |ledger| (&**follower.name(ledger), follower.bytes_read(ledger));
        Ok(ledgers.into_iter().map(read).collect())
    }

    /// How many ledgers there are, and how many bytes of them were read.
    pub(crate) fn size(&self) -> (usize, u64) {
        let Some(follower) = &self.follower else { return (0, 0) };
        let bytes = follower.ledgers().map(|ledger| follower.bytes_read(ledger)).sum();
        (follower.ledgers().len(), bytes)
    }

    /// What is damaged, so far as it was read, with the unfinished last records of processes that are gone or have
    /// been silent for `lease`.
    pub(crate) fn all_damage(
        &mut self,
        records: &StudyRecords,
        lease: Duration,
    ) -> Result<Vec<Damage>, StudyError> {
        let mut damage = self.damage.clone();
        let Some(follower) = &mut self.follower else { return Ok(damage) };
        for ledger in follower.ledgers() {
            let size = follower.bytes_torn(ledger);
            if size > 0 && is_silent(follower, ledger, records, lease)? {
                let path = records.ledger_path(follower.name(ledger));
                damage.push(Damage::in_file(path, follower.bytes_read(ledger), size, Damage::TORN));
            }
        }
        Ok(damage)
    }

    /// What is damaged and was not told yet.
    pub(crate) fn new_damage(&mut self) -> Vec<Damage> {
        let told = std::mem::replace(&mut self.told, self.damage.len());
        self.damage[told..].to_vec()
    }
}
