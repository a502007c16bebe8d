//! The study a verb is asked about: found, opened for reading, and asked.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

use soma_store::{Folder, Options, Store, StoreError};
use soma_study::importance::Evaluator;
use soma_study::{Goal, Space, StudyError, Trial, Trials};

use crate::args::{Lease, Target};
use crate::damage;
use crate::escape;
use crate::failure::Failure;
use crate::output::{Output, Words};

/// Names that an error lists before it only counts the rest.
const MOST_NAMES: usize = 10;

/// A study in a store that is open for reading.
pub struct Study {
    /// Never freed: the process ends with its answer, and taking a large study apart would take as long as
    /// a tenth of reading it. Nothing is written, so there is nothing to close.
    pub store: ManuallyDrop<Store>,
    pub name: String,
}

/// The study that `target` names, or the only one there is.
pub fn open(target: &Target) -> Result<Study, Failure> {
    let store = ManuallyDrop::new(store(&target.store)?);
    let name = match &target.study {
        Some(given) => meant(&store, given)?,
        None => only(&store)?,
    };
    Ok(Study { store, name })
}

/// The store at `location`, open for reading.
pub fn store(location: &OsStr) -> Result<Store, Failure> {
    opened(location, Options::default().with_read_only(true))
}

/// The store at `location`, open for reading: its workers count as gone by `lease`.
pub fn store_for(location: &OsStr, lease: &Lease) -> Result<Store, Failure> {
    opened(location, Options::default().with_read_only(true).with_lease(lease.into()))
}

/// The store at `location`, which is there, open for writing.
pub fn writable(location: &OsStr) -> Result<Store, Failure> {
    opened(location, Options::default())
}

fn opened(location: &OsStr, options: Options) -> Result<Store, Failure> {
    let opened = match location.to_str() {
        Some(location) => Store::open_with(location, options),
        // A path need not be text.
        None => Folder::new(Path::new(location), options.durable, options.read_only)
            .and_then(|folder| Store::over(Arc::new(folder), options)),
    };
    opened.map_err(|error| match error {
        StoreError::NotAStore { .. } => not_a_store(location, error),
        error => error.into(),
    })
}

/// A folder that is none: maybe it lies in one.
fn not_a_store(location: &OsStr, error: StoreError) -> Failure {
    let full = std::fs::canonicalize(location).unwrap_or_default();
    if full.is_file() {
        let shown = escape::name(&location.to_string_lossy()).into_owned();
        return Failure::hinted(
            format!("`{shown}` is a file, expected the folder of a store"),
            "give the folder that holds the file `format`",
        );
    }
    let around = full.ancestors().skip(1).take(3).find(|folder| folder.join("format").is_file());
    match around {
        Some(store) => Failure::hinted(
            error.to_string(),
            format!(
                "it lies in `{}`, which may be the store that is meant",
                escape::name(&store.to_string_lossy())
            ),
        ),
        None => error.into(),
    }
}

/// The study called `given`, or shown as `given`.
pub fn meant(store: &Store, given: &str) -> Result<String, Failure> {
    // Only an escaped name is shown with a backslash or a quote in it.
    if given.contains(['\\', '"']) {
        let studies = store.studies()?;
        let is_shown = |study: &String| study != given && escape::study(study) == given;
        if !studies.iter().any(|study| study == given)
            && let Some(study) = studies.iter().find(|study| is_shown(study))
        {
            return Ok(study.clone());
        }
    }
    Ok(given.to_owned())
}

/// The only study there is.
pub fn only(store: &Store) -> Result<String, Failure> {
    only_of(store, store.studies()?)
}

/// The only one of `studies`, which is what `store` holds.
pub fn only_of(store: &Store, mut studies: Vec<String>) -> Result<String, Failure> {
    let location = escape::name(&store.location()).into_owned();
    match studies.len() {
        0 => Err(Failure::hinted(
            format!("`{location}` holds no study yet"),
            "check the path; a study is there once its first trial was taken",
        )),
        1 => Ok(studies.remove(0)),
        count => {
            let shown: Vec<Cow<'_, str>> =
                studies.iter().take(MOST_NAMES).map(|name| escape::study(name)).collect();
            let rest = count.saturating_sub(MOST_NAMES);
            let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            Err(Failure::hinted(
                format!("`{location}` holds {count} studies, expected the name of one"),
                format!("name one of {}{rest}", shown.join(", ")),
            ))
        }
    }
}

impl Study {
    /// The newest version of its space, and its goal.
    pub fn space(&self) -> Result<(Space, Option<Goal>), Failure> {
        Ok(soma_study::space(&self.store, &self.name)?)
    }

    /// The newest version of its space, as far as it reads: for what is to be said of its trials all the same.
    pub fn space_left(&self) -> Result<Space, Failure> {
        match soma_study::space(&self.store, &self.name) {
            Ok((space, _)) => Ok(space),
            Err(StudyError::Document { .. } | StudyError::Store(StoreError::Damaged { .. })) => {
                Ok(Space::default())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Every attempt.
    pub fn trials(&self) -> Result<Trials, Failure> {
        Ok(soma_study::trials(&self.store, &self.name)?)
    }

    /// The best finished trial, by the study's goal or else by `goal`.
    pub fn best(&self, goal: Option<Goal>) -> Result<Option<Trial>, Failure> {
        Ok(soma_study::best(&self.store, &self.name, goal)?)
    }

    /// Every value an attempt reported.
    pub fn curve(&self, trial: u64, attempt: u32) -> Result<Vec<f64>, Failure> {
        let attempts = soma_study::attempts(&self.store, &self.name, trial)?;
        Ok(attempts.into_iter().find(|(one, _)| *one == attempt).map(|(_, curve)| curve).unwrap_or_default())
    }

    /// How many finished trials were counted, and each dimension's importance.
    pub fn importance(
        &self,
        evaluator: Evaluator,
        goal: Option<Goal>,
    ) -> Result<(usize, Vec<(String, f64)>), Failure> {
        let (space, known) = self.space()?;
        let study = || self.name.clone();
        let goal = match (known, goal, evaluator) {
            (Some(known), Some(given), _) if known != given => {
                return Err(StudyError::GoalDiffers { study: study(), given, known }.into());
            }
            (Some(goal), ..) | (None, Some(goal), _) => goal,
            // Which end is good makes no difference to a rank correlation without its sign.
            (None, None, Evaluator::Spearman) => Goal::default(),
            (None, None, _) => return Err(StudyError::NoGoal { study: study() }.into()),
        };
        let finished = soma_study::finished(&self.store, &self.name)?;
        let scored = finished.iter().filter_map(|one| Some((&one.point, one.score?)));
        Ok((finished.len(), evaluator.evaluate(&space, scored, goal)))
    }

    /// One line on stderr where reading came upon damage; the answer is on stdout by then.
    pub fn say_damage(&self, output: &mut Output, words: &Words) -> Result<(), Failure> {
        output.flush()?;
        let damage = soma_study::damage(&self.store, &self.name)?;
        damage::say(&damage, &self.store, words);
        Ok(())
    }
}
