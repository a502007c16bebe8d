//! What a process knows of a study: built from the ledgers, kept, and read on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use soma_store::{Damage, Follower, Found, LedgerId, StoreError, StudyRecords};

use super::error::StudyError;
use super::values::Values;
use crate::error::SpaceError;
use crate::goal::Goal;
use crate::history::{Curve, Curves, Growing, History, Observation, Trials};
use crate::point::Point;
use crate::record::{self, Id, Record};
use crate::space::Space;
use crate::state::State;
use crate::trial::Trial;

/// The newest version of the document this build reads and writes.
const DOCUMENT_FORMAT: u32 = 1;
/// A ledger counts as silent after at least so many of the signs of life it promised failed to come.
const MISSED_BEATS: u32 = 3;
/// Claims are listed again after this long, or a quarter of the lease: listing costs all of them.
const MAX_CLAIMS_AGE: Duration = Duration::from_secs(1);

/// One version of what a study is about.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) space: Space,
    pub(crate) goal: Option<Goal>,
}

#[derive(Deserialize)]
struct DocumentFile {
    format: u32,
    space: String,
    goal: Option<String>,
}

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

/// Every attempt as a row; made when first asked for, kept up to date from then on.
#[derive(Debug, Default)]
struct Rows {
    growing: Growing<Trial>,
    changed: Option<FxHashSet<Id>>,
    silent: BTreeSet<Id>,
    goal: Option<Goal>,
}

/// Where a record stands.
struct Place<'a> {
    ledger: LedgerId,
    name: &'a Arc<str>,
    offset: u64,
}

/// Trials by number.
#[derive(Debug, Default)]
struct Entries {
    places: FxHashMap<u64, usize>,
    all: Vec<(u64, Entry)>,
    // Records of one trial mostly follow one another.
    last: usize,
}

impl Entries {
    fn get(&self, trial: u64) -> Option<&Entry> {
        self.places.get(&trial).map(|place| &self.all[*place].1)
    }

    fn entry(&mut self, trial: u64) -> &mut Entry {
        if self.all.get(self.last).is_none_or(|(last, _)| *last != trial) {
            self.last = *self.places.entry(trial).or_insert_with(|| {
                self.all.push((trial, Entry::default()));
                self.all.len() - 1
            });
        }
        &mut self.all[self.last].1
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.all.iter().map(|(trial, entry)| (*trial, entry))
    }
}

/// One trial.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub(crate) attempts: Vec<Attempt>,
    fences: Vec<Fence>,
    // Ledgers that spoke of it before the one each attempt names.
    ledgers: Vec<LedgerId>,
    pub(crate) is_discarded: bool,
}

/// What a take of a later attempt says: behind these places nothing counts for the attempts before it.
#[derive(Debug)]
struct Fence {
    attempt: u32,
    after: Vec<(String, u64)>,
}

/// One attempt.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "the number of an attempt is called so everywhere")]
pub(crate) struct Attempt {
    pub(crate) attempt: u32,
    pub(crate) who: Option<Arc<str>>,
    pub(crate) space_version: u32,
    pub(crate) point: Option<Point>,
    pub(crate) curve: Values,
    pub(crate) state: State,
    pub(crate) score: Option<f64>,
    because: Option<Arc<str>>,
    took_secs: Option<f64>,
    // Where it was last spoken of, and where its end stands.
    pub(crate) ledger: LedgerId,
    offset: u64,
}

impl Entry {
    /// The attempt whose result is the trial's for ever: the first that is done.
    pub(crate) fn done(&self) -> Option<&Attempt> {
        self.attempts.iter().find(|one| one.state == State::Done)
    }

    pub(crate) fn get(&self, attempt: u32) -> Option<&Attempt> {
        self.attempts.binary_search_by_key(&attempt, |one| one.attempt).ok().map(|at| &self.attempts[at])
    }

    /// The attempt after `attempt`, if somebody has it on record.
    pub(crate) fn after(&self, attempt: u32) -> Option<&Attempt> {
        self.attempts.iter().find(|one| one.attempt > attempt && one.who.is_some())
    }
}

impl Attempt {
    fn new(attempt: u32, ledger: LedgerId) -> Self {
        Self {
            attempt,
            who: None,
            space_version: 0,
            point: None,
            curve: Values::new(),
            state: State::Running,
            score: None,
            because: None,
            took_secs: None,
            ledger,
            offset: 0,
        }
    }

    /// Forgets how it ended: that was said behind a fence.
    fn reopen(&mut self) {
        (self.state, self.score, self.because, self.took_secs) = (State::Running, None, None, None);
    }
}

impl View {
    /// Reads what is new.
    pub(crate) fn read_on(&mut self, records: &StudyRecords) -> Result<(), StudyError> {
        let mut follower = self.follower.take().unwrap_or_else(|| records.follower());
        let read = follower.read_on(records.awake(), &mut |found| match found {
            Found::Reset => *self = Self { told: 0, ..Self::default() },
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
                match record::read(line, &mut said) {
                    Some(record) => self.apply(record, &said, &at, records),
                    None => self.damage.push(Damage::in_file(
                        records.ledger_path(name),
                        offset,
                        line.len() as u64,
                        Damage::NO_RECORD,
                    )),
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

    fn apply(&mut self, record: Record<'_>, said: &[f64], at: &Place<'_>, records: &StudyRecords) {
        match record {
            Record::Take { id, me, space_version, point, origin: _, after } => {
                let who = self.intern(&me);
                let known = self.document(space_version, records);
                let point = known.and_then(|known| known.space.parse_point(&point).ok());
                self.take(id, who, space_version, point, after, at);
            }
            Record::Report { id, from } => {
                let Some(attempt) = self.valid_attempt(id, at) else { return };
                if attempt.state == State::Running {
                    attempt.curve.extend(from, said);
                    self.rows.touch(id);
                } else if attempt.curve.mend(from, said) {
                    // Its end was read before, from another ledger.
                    self.settle(id);
                }
            }
            Record::End { id, from, state, score, because, took_secs } => {
                let Some(attempt) = self.valid_attempt(id, at) else { return };
                if attempt.state != State::Running {
                    return;
                }
                attempt.curve.extend(from, said);
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

    /// A version of the document, counted from 1, read when it is first needed. A damaged one is told as damage.
    pub(crate) fn document(&mut self, version: u32, records: &StudyRecords) -> Option<&Document> {
        while self.documents.len() < version as usize {
            let next = self.documents.len() as u32 + 1;
            match self.read_document(next, records) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.document_damage(next, error, records);
                    return None;
                }
            }
        }
        self.documents.get((version as usize).checked_sub(1)?)
    }

    fn document_damage(&mut self, version: u32, error: StudyError, records: &StudyRecords) {
        let path = records.document_path(version);
        if self.damage.iter().any(|known| known.path == path) {
            return;
        }
        let what = match error {
            StudyError::Document { what, .. } | StudyError::Store(StoreError::Damaged { what, .. }) => what,
            other => other.to_string(),
        };
        self.damage.push(Damage::in_file(path, 0, 0, &format!("{what}; its points do not read")));
    }

    /// Reads all versions of the document there are, for looking, and answers whether there is a study: one that does
    /// not read, or is gone, is damage and costs the points that are of it.
    pub(crate) fn look_for_documents(&mut self, records: &StudyRecords) -> Result<bool, StudyError> {
        match self.documents(records).map(<[Document]>::len) {
            Ok(0) if self.trials.all.is_empty() => return Ok(false),
            Ok(0) => self.document_damage(1, StudyError::no_document(records.document_path(1)), records),
            Ok(_) => {}
            Err(error @ (StudyError::Document { .. } | StudyError::Store(StoreError::Damaged { .. }))) => {
                let next = self.documents.len() as u32 + 1;
                self.document_damage(next, error, records);
            }
            Err(other) => return Err(other),
        }
        Ok(true)
    }

    /// Reads all versions of the document there are.
    pub(crate) fn documents(&mut self, records: &StudyRecords) -> Result<&[Document], StudyError> {
        while self.read_document(self.documents.len() as u32 + 1, records)? {}
        Ok(&self.documents)
    }

    /// The versions that were read so far.
    pub(crate) fn known_documents(&self) -> &[Document] {
        &self.documents
    }

    fn read_document(&mut self, version: u32, records: &StudyRecords) -> Result<bool, StudyError> {
        let Some(bytes) = records.document(version)? else { return Ok(false) };
        let path = || records.document_path(version);
        let unreadable = |what: String| StudyError::Document { path: path(), what };
        let file: DocumentFile = serde_json::from_slice(&bytes).map_err(|e| unreadable(e.to_string()))?;
        if file.format > DOCUMENT_FORMAT {
            let (found, known) = (u64::from(file.format), u64::from(DOCUMENT_FORMAT));
            return Err(StoreError::NewerVersion { path: path(), found, known }.into());
        }
        let space = file.space.parse().map_err(|e: SpaceError| unreadable(e.to_string()))?;
        let goal = file
            .goal
            .map(|goal| goal.parse())
            .transpose()
            .map_err(|e: SpaceError| unreadable(e.to_string()))?;
        self.documents.push(Document { space, goal });
        Ok(true)
    }

    /// Which end of the score is good, as the study's newest document says.
    pub(crate) fn goal(&self) -> Option<Goal> {
        self.documents.iter().rev().find_map(|document| document.goal)
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

    /// The running attempts whose process has been silent for `lease`, or said that it is gone; `is_mine` tells those
    /// of this process, which is not.
    pub(crate) fn silent(
        &mut self,
        records: &StudyRecords,
        lease: Duration,
        is_mine: impl Fn(Id) -> bool,
    ) -> Result<BTreeSet<Id>, StudyError> {
        let (Some(follower), trials) = (&mut self.follower, &self.trials) else { return Ok(BTreeSet::new()) };
        let mut by_ledger: FxHashMap<LedgerId, bool> = FxHashMap::default();
        let mut silent = BTreeSet::new();
        for id in &self.running {
            let Some(attempt) = trials.get(id.trial).and_then(|entry| entry.get(id.attempt)) else {
                continue;
            };
            let ledger = attempt.ledger;
            let is_silent = if let Some(known) = by_ledger.get(&ledger) {
                *known
            } else {
                let is_silent = is_silent(follower, ledger, records, lease)?;
                by_ledger.insert(ledger, is_silent);
                is_silent
            };
            if is_silent && !is_mine(*id) {
                silent.insert(*id);
            }
        }
        Ok(silent)
    }

    /// The running attempts: of each trial the last one.
    pub(crate) fn running(&self) -> impl Iterator<Item = (Id, &Attempt)> {
        self.running.iter().filter_map(|id| {
            let entry = self.trials.get(id.trial)?;
            let is_open = entry.done().is_none() && !entry.is_discarded && entry.after(id.attempt).is_none();
            Some((*id, entry.get(id.attempt).filter(|_| is_open)?))
        })
    }

    /// Claims without a record that are at least `lease` old: their process ended between the two.
    pub(crate) fn unrecorded(
        &mut self,
        records: &StudyRecords,
        lease: Duration,
    ) -> Result<Vec<Id>, StudyError> {
        let now = records.awake();
        let is_due =
            self.claims_listed.is_none_or(|then| now.saturating_sub(then) >= MAX_CLAIMS_AGE.min(lease / 4));
        if is_due {
            self.claims_listed = Some(now);
            let mut still = FxHashMap::default();
            for (trial, attempt) in records.claims()? {
                let id = Id { trial, attempt };
                let entry = self.trials.get(trial);
                // Of an attempt that somebody took after, or a trial that has its result, nobody waits for the record.
                let is_settled = |entry: &Entry| {
                    entry.is_discarded
                        || entry.done().is_some()
                        || entry.attempts.iter().any(|one| one.attempt >= attempt)
                };
                if !entry.is_some_and(is_settled) {
                    still.insert(id, self.unrecorded.get(&id).copied().unwrap_or(now));
                }
            }
            self.unrecorded = still;
        }
        // Its record may be in a ledger that a listing does not show yet.
        let enough = lease.max(records.listing_lag());
        let mut old = Vec::new();
        for (id, seen) in &self.unrecorded {
            let watched = now.saturating_sub(*seen);
            let is_old = watched >= enough
                || records.claim_age(id.trial, id.attempt)?.is_some_and(|age| age >= enough);
            // Of several attempts without a record only the last is to be followed by another.
            let is_last = !self.unrecorded.contains_key(&Id { trial: id.trial, attempt: id.attempt + 1 });
            if is_old && is_last {
                old.push(*id);
            }
        }
        old.sort_unstable();
        Ok(old)
    }

    /// Every attempt; those in `silent` as failed.
    pub(crate) fn rows(&mut self, silent: &BTreeSet<Id>) -> Trials {
        let goal = self.goal();
        if self.rows.goal != goal || self.rows.changed.is_none() {
            self.rows = Rows { goal, changed: Some(FxHashSet::default()), ..Rows::default() };
            for (trial, entry) in self.trials.iter() {
                entry.attempts.iter().for_each(|one| self.rows.touch(Id { trial, attempt: one.attempt }));
            }
        }
        let differing: Vec<Id> = silent.symmetric_difference(&self.rows.silent).copied().collect();
        for id in differing {
            self.rows.touch(id);
        }
        self.rows.silent.clone_from(silent);
        // In order, so that a first reading appends instead of inserting.
        let mut changed: Vec<Id> = self.rows.changed.iter_mut().flat_map(std::mem::take).collect();
        changed.sort_unstable();
        for id in changed {
            let Some(entry) = self.trials.get(id.trial) else { continue };
            let Some(attempt) = entry.get(id.attempt) else { continue };
            self.rows.growing.set(row(id, entry, attempt, goal, silent.contains(&id)));
        }
        self.rows.growing.snapshot()
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

    /// The ledger an attempt was last spoken of in, and how long it has been silent, as far as can be known.
    pub(crate) fn silence(
        &mut self,
        records: &StudyRecords,
        ledger: LedgerId,
    ) -> Result<Duration, StudyError> {
        let Some(follower) = &mut self.follower else { return Ok(Duration::ZERO) };
        let enough = records.options().lease;
        Ok(follower.silence(ledger, records.awake(), enough, || records.storage_now())?)
    }
}

/// Whether the process of a ledger said that it is gone, or has been silent for `lease`.
fn is_silent(
    follower: &mut Follower,
    ledger: LedgerId,
    records: &StudyRecords,
    lease: Duration,
) -> Result<bool, StudyError> {
    let enough = lease.max(follower.beat(ledger) * MISSED_BEATS).max(records.listing_lag());
    Ok(follower.is_closed(ledger)
        || follower.silence(ledger, records.awake(), enough, || records.storage_now())? >= enough)
}

fn row(id: Id, entry: &Entry, attempt: &Attempt, goal: Option<Goal>, is_silent: bool) -> Trial {
    let (mut state, mut because) = (attempt.state, attempt.because.clone());
    if state == State::Running {
        if let Some(next) = entry.after(id.attempt) {
            let who = next.who.as_deref().unwrap_or_default();
            state = State::Failed;
            because = Some(format!("abandoned: taken over by `{who}` as attempt {}", next.attempt).into());
        } else if is_silent {
            state = State::Failed;
            because = Some("abandoned: no sign of life for a lease".into());
        }
    }
    Trial {
        trial: id.trial,
        attempt: id.attempt,
        state,
        point: attempt.point.clone(),
        score: attempt.score,
        who: attempt.who.clone().unwrap_or_default(),
        goal,
        because,
        took_secs: attempt.took_secs,
        reports: attempt.curve.len(),
        space_version: attempt.space_version,
        is_discarded: entry.is_discarded,
    }
}

impl Rows {
    fn touch(&mut self, id: Id) {
        if let Some(changed) = &mut self.changed {
            changed.insert(id);
        }
    }
}

impl Fence {
    /// Whether what stands at this place says nothing about `attempt`.
    fn voids(&self, attempt: u32, ledger: &str, offset: u64) -> bool {
        attempt < self.attempt
            && self.after.iter().find(|(name, _)| name == ledger).is_none_or(|(_, end)| offset >= *end)
    }
}
