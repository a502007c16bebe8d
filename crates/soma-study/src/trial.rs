//! One attempt at one trial, as the record tells it.

use std::sync::Arc;

use crate::goal::Goal;
use crate::point::Point;
use crate::state::State;

/// One attempt at one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The trial's number, from 0.
    pub trial: u64,
    /// How many attempts came before this one.
    pub attempt: u32,
    /// Where it stands. An attempt that fell silent, or that was taken over, is failed and `because` says so.
    pub state: State,
    /// Where it looked. None where the record of its taking is damaged or was never written.
    pub point: Option<Point>,
    /// What a trial that ran to the end is ranked by, always finite; the last report of a pruned one, never ranked.
    pub score: Option<f64>,
    /// Who took it; empty where the record of its taking is damaged or was never written.
    pub who: Arc<str>,
    /// Which end of the score is good, as the study says. None where nobody said.
    pub goal: Option<Goal>,
    /// Why it was pruned, or failed.
    pub because: Option<Arc<str>>,
    /// Seconds from taking it to its last report, by the clock of the process that did both. None while it runs, and
    /// where two processes shared the work.
    pub took_secs: Option<f64>,
    /// Values reported so far.
    pub reports: usize,
    /// Which version of the study's space its point was written with, from 1.
    pub space_version: u32,
    /// Whether somebody took it out of the study: kept in this list, left out of every other.
    pub is_discarded: bool,
}
