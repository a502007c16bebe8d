//! Who is still there: what nobody gives a sign of life for.

use std::collections::BTreeSet;
use std::time::Duration;

use rustc_hash::FxHashMap;
use soma_store::{Follower, LedgerId, StudyRecords};

use super::View;
use super::entry::{Attempt, Entry};
use crate::record::Id;
use crate::study::error::StudyError;

/// A ledger counts as silent after at least so many of the signs of life it promised failed to come.
const MISSED_BEATS: u32 = 3;

/// Claims are listed again after this long, or a quarter of the lease: listing costs all of them.
const MAX_CLAIMS_AGE: Duration = Duration::from_secs(1);

impl View {
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
            // Of several attempts without a record only the last is to be followed by another, if there can be one.
            let next = id.attempt.checked_add(1).map(|attempt| Id { trial: id.trial, attempt });
            let is_last = next.is_some_and(|next| !self.unrecorded.contains_key(&next));
            if is_old && is_last {
                old.push(*id);
            }
        }
        old.sort_unstable();
        Ok(old)
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
pub(super) fn is_silent(
    follower: &mut Follower,
    ledger: LedgerId,
    records: &StudyRecords,
    lease: Duration,
) -> Result<bool, StudyError> {
    let enough = lease.max(follower.beat(ledger) * MISSED_BEATS).max(records.listing_lag());
    Ok(follower.is_closed(ledger)
        || follower.silence(ledger, records.awake(), enough, || records.storage_now())? >= enough)
}
