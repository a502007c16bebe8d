//! What the readers of a study answer: rows in trial order, in snapshots that cost next to nothing.

use std::ops::Index;
use std::sync::Arc;

use crate::point::Point;
use crate::trial::Trial;

/// Trials whose rows lie in one chunk: a change copies one chunk, a snapshot one pointer per chunk.
const CHUNK_TRIALS: u64 = 256;

/// The trials that ran to the end, or those under way: what a sampler is given.
pub type History = Rows<Observation>;
/// The curves of the trials that ran to the end: what a pruner is given.
pub type Curves = Rows<Curve>;
/// Every attempt of every trial.
pub type Trials = Rows<Trial>;

/// One trial as a sampler sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The trial's number.
    pub trial: u64,
    /// Where it looked.
    pub point: Point,
    /// The score it is ranked by, always finite; None while it runs.
    pub score: Option<f64>,
}

/// All reports of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The trial's number.
    pub trial: u64,
    /// One value per report, in order; a report may be NaN or infinite.
    pub values: Arc<[f64]>,
}

/// An immutable sequence of rows, cheap to clone, to take out of a study and to join.
///
/// ```
/// use soma_study::{Curve, Curves};
///
/// let some: Curves = [Curve { trial: 0, values: vec![0.5, 0.4].into() }].into_iter().collect();
/// assert_eq!(some.len(), 1);
/// assert_eq!(some.concat(&some)[1].values[..], [0.5, 0.4]);
/// ```
#[derive(Debug)]
pub struct Rows<T> {
    chunks: Arc<[Arc<Vec<Arc<T>>>]>,
    // Where each chunk starts; as long as `chunks`.
    starts: Arc<[usize]>,
    len: usize,
}

impl<T> Rows<T> {
    /// No rows.
    pub fn new() -> Self {
        Self::from_chunks(Vec::new())
    }

    fn from_chunks(chunks: Vec<Arc<Vec<Arc<T>>>>) -> Self {
        let mut len = 0;
        let starts = chunks
            .iter()
            .map(|chunk| {
                let start = len;
                len += chunk.len();
                start
            })
            .collect();
        Self { chunks: chunks.into(), starts, len }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The row at `index`, counted from 0. None past the end.
    pub fn get(&self, index: usize) -> Option<&T> {
        // Chunks are never empty, so the last one that starts at or before `index` holds it.
        let chunk = self.starts.partition_point(|start| *start <= index).checked_sub(1)?;
        self.chunks[chunk].get(index - self.starts[chunk]).map(|row| &**row)
    }

    /// The rows in order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { rows: self, chunk: 0, within: 0, left: self.len }
    }

    /// These rows, then those of `other`. Copies one pointer per 256 trials.
    #[must_use]
    pub fn concat(&self, other: &Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (_, true) => self.clone(),
            (true, false) => other.clone(),
            (false, false) => Self::from_chunks(self.chunks.iter().chain(&*other.chunks).cloned().collect()),
        }
    }

    /// Whether both are the same snapshot: true only without anything having changed in between.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chunks, &other.chunks)
    }
}

impl<T> Clone for Rows<T> {
    fn clone(&self) -> Self {
        Self { chunks: Arc::clone(&self.chunks), starts: Arc::clone(&self.starts), len: self.len }
    }
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: PartialEq> PartialEq for Rows<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other)
    }
}

impl<T> Index<usize> for Rows<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        self.get(index).expect("an index below the length, as for a slice")
    }
}

impl<T> FromIterator<T> for Rows<T> {
    /// Rows in the order given, whatever their trials.
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        let rows: Vec<Arc<T>> = rows.into_iter().map(Arc::new).collect();
        Self::from_chunks(if rows.is_empty() { Vec::new() } else { vec![Arc::new(rows)] })
    }
}

impl<'a, T> IntoIterator for &'a Rows<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// The rows in order.
#[derive(Debug)]
pub struct Iter<'a, T> {
    rows: &'a Rows<T>,
    chunk: usize,
    within: usize,
    left: usize,
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        let chunk = self.rows.chunks.get(self.chunk)?;
        let row = &chunk[self.within];
        self.within += 1;
        self.left -= 1;
        if self.within == chunk.len() {
            self.chunk += 1;
            self.within = 0;
        }
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

/// A row that knows its place.
pub(crate) trait Keyed {
    /// Trial and attempt.
    fn key(&self) -> (u64, u32);
}

impl Keyed for Observation {
    fn key(&self) -> (u64, u32) {
        (self.trial, 0)
    }
}

impl Keyed for Curve {
    fn key(&self) -> (u64, u32) {
        (self.trial, 0)
    }
}

impl Keyed for Trial {
    fn key(&self) -> (u64, u32) {
        (self.trial, self.attempt)
    }
}

/// Rows that still change, kept in trial order whatever the order they come in.
#[derive(Debug)]
pub(crate) struct Growing<T> {
    // Sorted by the first member, a trial's number divided by `CHUNK_TRIALS`; no chunk is empty.
    chunks: Vec<(u64, Arc<Vec<Arc<T>>>)>,
    snapshot: Option<Rows<T>>,
}

impl<T> Default for Growing<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), snapshot: None }
    }
}

impl<T: Keyed> Growing<T> {
    /// Puts a row in its place, over the one with the same key.
    pub(crate) fn set(&mut self, row: T) {
        self.snapshot = None;
        let key = row.key();
        let id = key.0 / CHUNK_TRIALS;
        let row = Arc::new(row);
        match self.find(id) {
            Ok(at) => {
                let chunk = Arc::make_mut(&mut self.chunks[at].1);
                // Trials mostly come in order: the end is looked at first.
                if chunk.last().is_none_or(|last| last.key() < key) {
                    chunk.push(row);
                    return;
                }
                match chunk.binary_search_by_key(&key, |row| row.key()) {
                    Ok(place) => chunk[place] = row,
                    Err(place) => chunk.insert(place, row),
                }
            }
            Err(at) => self.chunks.insert(at, (id, Arc::new(vec![row]))),
        }
    }

    /// Takes the row with this key out, if there is one.
    pub(crate) fn remove(&mut self, key: (u64, u32)) {
        let Ok(at) = self.find(key.0 / CHUNK_TRIALS) else { return };
        let Ok(place) = self.chunks[at].1.binary_search_by_key(&key, |row| row.key()) else { return };
        self.snapshot = None;
        let chunk = Arc::make_mut(&mut self.chunks[at].1);
        chunk.remove(place);
        if chunk.is_empty() {
            self.chunks.remove(at);
        }
    }

    fn find(&self, id: u64) -> Result<usize, usize> {
        match self.chunks.last() {
            Some((last, _)) if *last == id => Ok(self.chunks.len() - 1),
            Some((last, _)) if *last < id => Err(self.chunks.len()),
            _ => self.chunks.binary_search_by_key(&id, |(id, _)| *id),
        }
    }

    /// The rows as they are now: the same snapshot until something changes.
    pub(crate) fn snapshot(&mut self) -> Rows<T> {
        let chunks = &self.chunks;
        self.snapshot
            .get_or_insert_with(|| {
                Rows::from_chunks(chunks.iter().map(|(_, chunk)| Arc::clone(chunk)).collect())
            })
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(trial: u64) -> Curve {
        Curve { trial, values: vec![trial as f64].into() }
    }

    fn trials(rows: &Curves) -> Vec<u64> {
        rows.iter().map(|row| row.trial).collect()
    }

    #[test]
    fn rows_come_out_in_trial_order_whatever_order_they_came_in() {
        let mut growing = Growing::default();
        for trial in [700, 3, 0, 256, 255, 1_000_000, 3] {
            growing.set(curve(trial));
        }
        let rows = growing.snapshot();
        assert_eq!(trials(&rows), [0, 3, 255, 256, 700, 1_000_000]);
        let by_index: Vec<u64> = (0..rows.len()).map(|i| rows[i].trial).collect();
        assert_eq!(by_index, trials(&rows));
        assert!(rows.get(6).is_none());
        assert_eq!(rows.iter().len(), 6);
    }

    #[test]
    fn a_snapshot_never_changes_and_is_kept_until_something_does() {
        let mut growing = Growing::default();
        growing.set(curve(1));
        let before = growing.snapshot();
        assert!(before.is_same(&growing.snapshot()));
        growing.set(curve(2));
        growing.remove((1, 0));
        assert_eq!(trials(&before), [1]);
        assert_eq!(trials(&growing.snapshot()), [2]);
        growing.remove((2, 0));
        assert!(growing.snapshot().is_empty());
        assert!(growing.snapshot().get(0).is_none());
    }

    #[test]
    fn joining_puts_one_after_the_other() {
        let one: Curves = [curve(5), curve(1)].into_iter().collect();
        let two: Curves = [curve(3)].into_iter().collect();
        assert_eq!(trials(&one.concat(&two)), [5, 1, 3]);
        assert_eq!(one.concat(&two)[2], curve(3));
        assert_eq!(trials(&Curves::new().concat(&two)), [3]);
        assert_eq!(trials(&two.concat(&Curves::new())), [3]);
    }
}
