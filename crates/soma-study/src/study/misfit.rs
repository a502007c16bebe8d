//! Points that are not what the sampler they name gives.

use std::fmt;

use rustc_hash::FxHashMap;
use soma_store::{Found, Store};

use super::Study;
use super::error::StudyError;
use super::readers::existing;
use crate::history::History;
use crate::record::{self, Id, Record};
use crate::sampler::Sampler;
use crate::space::Space;

/// A record whose point is another one than its sampler gives for its trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The study.
    pub study: String,
    /// The trial.
    pub trial: u64,
    /// Which attempt at it.
    pub attempt: u32,
    /// The file that the record stands in.
    pub path: String,
    /// Bytes before it.
    pub offset: u64,
    /// The sampler it names, as its text.
    pub sampler: String,
    /// The point on record.
    pub recorded: String,
    /// What the sampler gives; None where it gives no point for this trial.
    pub given: Option<String>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { study, trial, path, offset, sampler, recorded, given, .. } = self;
        let given = given.as_deref().map_or("no point".to_owned(), |given| format!("`{given}`"));
        write!(
            f,
            "{path}, byte {offset}: trial {trial} of study `{study}` is recorded at `{recorded}`, where `{sampler}` gives {given}"
        )
    }
}

/// The records whose point is not what the sampler they name gives: a record says which sampler its point was asked of,
/// and grid, random, halton and sobol give a trial the same point for ever, on every machine. Points that came from
/// elsewhere, or from a sampler that looks at the history, are not looked at, nor are studies whose space is lost. Reads
/// every study whole.
///
/// # Errors
/// The store fails.
pub fn misfits(store: &Store) -> Result<Vec<Misfit>, StudyError> {
    let mut found = Vec::new();
    for name in store.studies()? {
        found.extend(misfits_of(&Study::of(store, &name))?);
    }
    Ok(found)
}

fn misfits_of(study: &Study<'_>) -> Result<Vec<Misfit>, StudyError> {
    let documents: Vec<Space> = match existing(study) {
        Ok(view) => view.known_documents().iter().map(|document| document.space.clone()).collect(),
        Err(StudyError::UnknownStudy { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (mut found, mut said, mut samplers) = (Vec::new(), Vec::new(), FxHashMap::default());
    let mut follower = study.records.follower();
    follower.read_on(study.records.awake(), &mut |read| {
        let (name, offset, line) = match read {
            Found::Line { name, offset, line, .. } => (name, offset, line),
            // Everything comes again.
            Found::Reset => return found.clear(),
            Found::Damaged { .. } | Found::Unreadable { .. } => return,
        };
        let Some(Record::Take { id, space_version, point, origin: Some((sampler, asked)), .. }) =
            record::read(line, &mut said)
        else {
            return;
        };
        // A sampler that this build does not know says nothing.
        let known: &Option<Sampler> =
            samplers.entry(sampler.to_string()).or_insert_with(|| sampler.parse().ok());
        let space = (space_version as usize).checked_sub(1).and_then(|at| documents.get(at));
        let (Some(known), Some(space)) = (known.as_ref().filter(|known| known.is_independent()), space)
        else {
            return;
        };
        let given = known.ask(space, asked, &History::new()).ok().map(|given| given.to_string());
        if given.as_deref() != Some(&*point) {
            let Id { trial, attempt } = id;
            let (path, sampler, recorded) =
                (study.records.ledger_path(name), sampler.into_owned(), point.into_owned());
            let study = study.name();
            found.push(Misfit { study, trial, attempt, path, offset, sampler, recorded, given });
        }
    })?;
    found.sort_by_key(|one| (one.trial, one.attempt));
    Ok(found)
}
