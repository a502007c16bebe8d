//! The study a verb is asked about: found, opened for reading, and asked.

use std::borrow::Cow;
use std::mem::ManuallyDrop;

use soma_store::{Damage, Store};
use soma_study::importance::Evaluator;
use soma_study::{Goal, Space, StudyError, Trial, Trials};

use crate::args::Target;
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
    let store = ManuallyDrop::new(Store::read_only(&target.store)?);
    let name = match &target.study {
        Some(given) => meant(&store, given)?,
        None => only(&store)?,
    };
    Ok(Study { store, name })
}

/// The study called `given`, or shown as `given`.
pub fn meant(store: &Store, given: &str) -> Result<String, Failure> {
    // Only an escaped name is shown with a backslash in it.
    if given.contains('\\') {
        let studies = store.studies()?;
        let is_shown = |study: &String| study != given && escape::name(study) == given;
        if !studies.iter().any(|study| study == given)
            && let Some(study) = studies.iter().find(|study| is_shown(study))
        {
            return Ok(study.clone());
        }
    }
    Ok(given.to_owned())
}

fn only(store: &Store) -> Result<String, Failure> {
    let mut studies = store.studies()?;
    let location = escape::name(&store.location()).into_owned();
    match studies.len() {
        0 => Err(Failure::hinted(
            format!("`{location}` holds no study yet"),
            "a study is there once its first trial was taken",
        )),
        1 => Ok(studies.remove(0)),
        count => {
            let shown: Vec<Cow<'_, str>> =
                studies.iter().take(MOST_NAMES).map(|name| escape::name(name)).collect();
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
    pub fn importance(&self, evaluator: Evaluator) -> Result<(usize, Vec<(String, f64)>), Failure> {
        let (space, goal) = self.space()?;
        let goal = match (goal, evaluator) {
            (Some(goal), _) => goal,
            // Which end is good makes no difference to a rank correlation without its sign.
            (None, Evaluator::Spearman) => Goal::default(),
            (None, _) => return Err(StudyError::NoGoal { study: self.name.clone() }.into()),
        };
        let finished = soma_study::finished(&self.store, &self.name)?;
        let scored = finished.iter().filter_map(|one| Some((&one.point, one.score?)));
        Ok((finished.len(), evaluator.evaluate(&space, scored, goal)))
    }

    /// One line on stderr where reading came upon damage; the answer is on stdout by then.
    pub fn say_damage(&self, output: &mut Output, words: &Words) -> Result<(), Failure> {
        output.flush()?;
        let damage = soma_study::damage(&self.store, &self.name)?;
        say_damage(&damage, &self.store, words);
        Ok(())
    }
}

/// One line about what did not read.
pub fn say_damage(damage: &[Damage], store: &Store, words: &Words) {
    if let Some(first) = damage.first() {
        let more = damage.len() - 1;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let location = escape::name(&store.location()).into_owned();
        words.warning(&format!("passed over {first}{more}; `soma verify {location}` lists all"));
    }
}
