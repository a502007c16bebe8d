//! The study to watch, waited for where it has not begun.

use soma_store::Store;
use soma_study::{StudyError, Trials};

use super::Pace;
use crate::escape;
use crate::failure::Failure;
use crate::output::{Output, Words};
use crate::target;

/// What a look for a study came to.
enum Sought {
    /// It is there: its name and its trials.
    Begun(String, Trials),
    /// What to say while it is waited for, and what it comes to where the waiting ends.
    NotYet(String, Failure),
}

/// The study that is meant, and what there is of it; None where it was waited for: whatever there is by then is news.
pub fn begin(
    store: &Store,
    asked: Option<&str>,
    pace: &Pace,
    output: &Output,
    words: &Words,
) -> Result<(String, Option<Trials>), Failure> {
    match seek(store, asked)? {
        Sought::Begun(name, trials) => return Ok((name, Some(trials))),
        Sought::NotYet(said, _) => words.note(&said),
    }
    loop {
        pace.wait(output)?;
        match seek(store, asked)? {
            Sought::Begun(name, _) => return Ok((name, None)),
            Sought::NotYet(_, failure) if pace.is_over() => return Err(failure),
            Sought::NotYet(..) => {}
        }
    }
}

fn seek(store: &Store, asked: Option<&str>) -> Result<Sought, Failure> {
    let name = if let Some(given) = asked {
        target::meant(store, given)?
    } else {
        // Listed once: the study may begin at any moment.
        let studies = store.studies()?;
        let is_empty = studies.is_empty();
        match target::only_of(store, studies) {
            Err(failure) if is_empty => {
                return Ok(Sought::NotYet(format!("{failure}; waiting for its first trial"), failure));
            }
            only => only?,
        }
    };
    match soma_study::trials(store, &name) {
        Ok(trials) => Ok(Sought::Begun(name, trials)),
        Err(error) => match &error {
            StudyError::UnknownStudy { close, .. } => {
                Ok(Sought::NotYet(waiting_for(&name, close.as_deref()), error.into()))
            }
            _ => Err(error.into()),
        },
    }
}

fn waiting_for(name: &str, close: Option<&str>) -> String {
    let meant = match close {
        // Begun between two looks of the one who says so.
        Some(close) if close != name => format!(" (did you mean `{}`?)", escape::study(close)),
        _ => String::new(),
    };
    format!("there is no study `{}` yet{meant}; waiting for its first trial", escape::study(name))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use soma_store::{Memory, Options};
    use soma_study::{Point, Space, Take, take};

    use super::*;

    #[test]
    fn a_study_that_begins_during_a_look_is_begun_or_waited_for() {
        let point = Point::from_values(&Space::default(), [] as [(&str, f64); 0]).unwrap();
        for _ in 0..200 {
            let store = Store::over(Arc::new(Memory::default()), Options::default()).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    assert!(take(&store, &point, &Take::new("widths", 0, "me")).unwrap());
                });
                while let Sought::NotYet(..) = seek(&store, None).unwrap() {}
            });
        }
    }
}
