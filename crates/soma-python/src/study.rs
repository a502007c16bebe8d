//! The functions that a study's loop is made of.

use std::ffi::CString;

use pyo3::prelude::*;
use soma_store::{Damage, Store};
use soma_study::importance::Evaluator;
use soma_study::{Goal, Report, Space, State, StudyError, Take};

use crate::convert::{Reals, TrialNumber};
use crate::enter::{brief, long};
use crate::error::{OrRaise, class};
use crate::given::{Arg, Toward};
use crate::history::{PyCurves, PyHistory, PyTrials};
use crate::point::PyPoint;
use crate::row::{PyAbandoned, PyTrial};
use crate::space::PySpace;
use crate::store::{PyStore, lease_from_secs};

/// Claim an attempt at a trial: True for exactly one of any number of callers, on any machines; False where somebody
/// has it, or the trial has its result.
///
/// The first take begins the study: it writes the point's space and the goal down, once. From here on this process
/// gives signs of life for the trial, by itself, until it has ended. Visible to others when it returns; nothing waits
/// for the disk.
///
/// Args:
///     store: Where the study is kept.
///     point: Where the trial looks.
///     study: The study's name: anything, it is never taken for a path.
///     trial: The trial's number, from 0.
///     me: Who takes it, unlike anybody else's name: reports are accepted from nobody else.
///     attempt: 0 at first; one more than the last to take over what was abandoned or failed.
///     goal: `"min"` or `"max"`; None leaves it as the study has it.
///
/// Raises:
///     SpaceMismatchError: The study was begun over dimensions of other names or kinds; says which.
///     GoalError: The study has the other goal.
///     OwnershipError: The attempt before this one was never taken.
///     SpaceError: Another goal than the two there are.
///     OSError: The storage refuses or fails.
#[pyfunction]
#[pyo3(signature = (store, point, *, study, trial, me, attempt = 0, goal = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments, as Python has them")]
fn take(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    point: Arg<'_, PyPoint>,
    study: &str,
    trial: TrialNumber,
    me: &str,
    attempt: u32,
    goal: Option<Toward>,
) -> PyResult<bool> {
    let how = Take { study, trial: trial.0, me, attempt, goal: goal.map(|toward| toward.0) };
    let (store, point) = (&store.get().0, &point.get().0);
    brief(py, || soma_study::take(store, point, &how))
}

/// Write down where a trial got to, and how it ended if it did.
///
/// A report that ends the trial is on disk when this returns, where the store is durable; every report is visible to
/// others. A trial that is done with a score that is not finite is written down as failed, with the reason.
///
/// Args:
///     store: Where the study is kept.
///     point: Where the trial looks, as it was taken.
///     said: The whole curve so far, one number per report; only what is new is written.
///     study: The study's name.
///     trial: The trial's number.
///     me: Who took it.
///     attempt: The attempt that was taken.
///     state: `RUNNING`, or how it ended: `DONE`, `PRUNED` or `FAILED`.
///     score: What it is ranked by; None is the last value of the curve.
///     because: Why it was pruned, or failed.
///     goal: `"min"` or `"max"`; None leaves it as the study has it.
///
/// Raises:
///     OwnershipError: Somebody else holds the trial, nobody does, it has ended, or it was taken over. Nothing changed.
///     ReportError: The curve does not continue what was reported before, or a trial is done without a score.
///     GoalError: The study has the other goal.
///     SpaceError: Another goal or state than there are.
///     OSError: The storage refuses or fails; to report the same again is right.
#[pyfunction]
#[pyo3(signature = (
    store, point, said, *, study, trial, me, attempt = 0, state = "running", score = None, because = None, goal = None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments, as Python has them")]
#[expect(clippy::similar_names, reason = "`store` and `score` are the words")]
fn report(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    point: Arg<'_, PyPoint>,
    said: Reals,
    study: &str,
    trial: TrialNumber,
    me: &str,
    attempt: u32,
    state: &str,
    score: Option<f64>,
    because: Option<&str>,
    goal: Option<Toward>,
) -> PyResult<()> {
    let (state, goal) = (state.parse::<State>().or_raise(py)?, goal.map(|toward| toward.0));
    let how = Report { study, trial: trial.0, me, attempt, state, score, because, goal };
    let (store, point) = (&store.get().0, &point.get().0);
    brief(py, || soma_study::report(store, point, &said.0, &how))
}

/// The trials that ran to the end, in trial order: empty for a study that nobody has begun. Costs what is new since
/// this process last looked.
///
/// Args:
///     store: Where the study is kept.
///     space: What is searched, to have it compared with the study's; None compares nothing.
///     study: The study's name.
///
/// Raises:
///     SpaceMismatchError: The study is over dimensions of other names or kinds than `space`.
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, space = None, *, study))]
fn finished(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    space: Option<Arg<'_, PySpace>>,
    study: String,
) -> PyResult<PyHistory> {
    reading(py, &store, space.as_deref(), study, soma_study::finished).map(PyHistory)
}

/// The trials under way, in trial order, without scores: empty for a study that nobody has begun. One whose process
/// has been silent for the store's lease is left out.
///
/// Args:
///     store: Where the study is kept.
///     space: As for `finished`.
///     study: The study's name.
///
/// Raises:
///     SpaceMismatchError: The study is over dimensions of other names or kinds than `space`.
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, space = None, *, study))]
fn in_flight(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    space: Option<Arg<'_, PySpace>>,
    study: String,
) -> PyResult<PyHistory> {
    reading(py, &store, space.as_deref(), study, soma_study::in_flight).map(PyHistory)
}

/// What a sampler is to know: the trials that ran to the end with their scores, and then every other one without,
/// under way, pruned, failed or abandoned, so that no point of a finite space is asked for twice. Empty for a study that
/// nobody has begun; discarded trials are left out.
///
/// Args:
///     store: Where the study is kept.
///     space: As for `finished`.
///     study: The study's name.
///
/// Raises:
///     SpaceMismatchError: The study is over dimensions of other names or kinds than `space`.
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, space = None, *, study))]
fn asked(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    space: Option<Arg<'_, PySpace>>,
    study: String,
) -> PyResult<PyHistory> {
    reading(py, &store, space.as_deref(), study, soma_study::asked).map(PyHistory)
}

/// The curves of the trials that ran to the end, in trial order: empty for a study that nobody has begun. What a
/// pruner compares with.
///
/// Args:
///     store: Where the study is kept.
///     study: The study's name.
///
/// Raises:
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, *, study))]
fn curves(py: Python<'_>, store: Arg<'_, PyStore>, study: String) -> PyResult<PyCurves> {
    reading(py, &store, None, study, soma_study::curves).map(PyCurves)
}

/// The trials whose process ended without saying how it went, in trial order: `take` with `attempt + 1` has one tried
/// again. Empty for a study that nobody has begun.
///
/// Silence is measured by this process's own clock where it has watched for a lease, else by the storage's.
///
/// Args:
///     store: Where the study is kept.
///     study: The study's name.
///     lease: Seconds of silence, above 0; None is the store's.
///
/// Raises:
///     ValueError: The lease is not above 0.
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, *, study, lease = None))]
fn abandoned(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    study: String,
    lease: Option<f64>,
) -> PyResult<Vec<PyAbandoned>> {
    let lease = lease.map(lease_from_secs).transpose()?;
    let found =
        reading(py, &store, None, study, move |store, study| soma_study::abandoned(store, study, lease))?;
    Ok(found.into_iter().map(PyAbandoned).collect())
}

/// Every attempt of a study, in order of trial and attempt. One that was taken over, or whose process has been silent
/// for the store's lease, stands as failed.
///
/// Args:
///     store: Where the study is kept.
///     space: As for `finished`.
///     study: The study's name.
///
/// Raises:
///     StudyNotFoundError: There is no such study; the hint names a close one.
///     SpaceMismatchError: The study is over dimensions of other names or kinds than `space`.
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, space = None, *, study))]
fn trials(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    space: Option<Arg<'_, PySpace>>,
    study: String,
) -> PyResult<PyTrials> {
    reading(py, &store, space.as_deref(), study, soma_study::trials).map(PyTrials)
}

/// The finished trial with the best score, of equal ones the first; None while none has finished.
///
/// Args:
///     store: Where the study is kept.
///     space: As for `finished`.
///     study: The study's name.
///     goal: `"min"` or `"max"`, needed only where the study was begun without; None is the study's.
///
/// Raises:
///     StudyNotFoundError: There is no such study; the hint names a close one.
///     GoalError: Neither the study nor `goal` says which end is good, or they differ.
///     SpaceError: Another goal than the two there are.
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, space = None, *, study, goal = None))]
fn best(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    space: Option<Arg<'_, PySpace>>,
    study: String,
    goal: Option<Toward>,
) -> PyResult<Option<PyTrial>> {
    let goal = goal.map(|toward| toward.0);
    let found = reading(py, &store, space.as_deref(), study, move |store, study| {
        soma_study::best(store, study, goal)
    })?;
    Ok(found.map(PyTrial))
}

/// How much each dimension mattered, from high to low, in [0, 1]. Fewer than three finished trials: all 0.
///
/// Args:
///     store: Where the study is kept.
///     space: What is searched; None is the study's newest.
///     study: The study's name.
///     method: `"spearman"`, the absolute value of the rank correlation between the dimension and the score, ties with
///         the mean of their ranks and a choice ranked by the order of its options; or `"ped_anova"`, how far the best
///         tenth of the trials is from the rest.
///
/// Raises:
///     StudyNotFoundError: There is no such study; the hint names a close one.
///     SpaceMismatchError: The study is over dimensions of other names or kinds than `space`.
///     SpaceError: Another method.
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, space = None, *, study, method = "spearman"))]
fn importance(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    space: Option<Arg<'_, PySpace>>,
    study: String,
    method: &str,
) -> PyResult<Vec<(String, f64)>> {
    let evaluator = method.parse::<Evaluator>().or_raise(py)?;
    let asked = space.as_ref().map(|space| space.get().0.clone());
    computing(py, &store, space.as_deref(), study, move |store, study| {
        let (known, goal) = soma_study::space(store, study)?;
        let seen = soma_study::finished(store, study)?;
        let scored = seen.iter().filter_map(|row| Some((&row.point, row.score?)));
        Ok(evaluator.evaluate(asked.as_ref().unwrap_or(&known), scored, goal.unwrap_or_default()))
    })
}

/// Take a trial out of a study, for instance one whose score was a mistake: it stays on record and in `trials`, and is
/// left out of everything else. Its number is not given again. On disk when this returns, where the store is durable.
///
/// Args:
///     store: Where the study is kept.
///     study: The study's name.
///     trial: The trial's number.
///     because: Why, for whoever reads the record.
///
/// Raises:
///     StudyNotFoundError: There is no such study; the hint names a close one.
///     TrialNotFoundError: Nobody has taken this trial.
///     OSError: The storage refuses or fails.
#[pyfunction]
#[pyo3(signature = (store, *, study, trial, because = None))]
fn discard(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    study: String,
    trial: TrialNumber,
    because: Option<String>,
) -> PyResult<()> {
    reading(py, &store, None, study, move |store, study| {
        soma_study::discard(store, study, trial.0, because.as_deref())
    })
}

/// Gathers the study's small records files in one, a seal, so that whoever reads the study for the first time opens
/// that one: worth it where hundreds of short processes worked on it, above all on a file server. Anybody may go on
/// working meanwhile; losing a seal loses nothing.
///
/// Args:
///     store: Where the study is kept.
///     study: The study's name.
///
/// Returns:
///     How many files were gathered (each up to 256 KiB); 0, and nothing is written, where there are fewer than two or
///     nothing is new since the last seal.
///
/// Raises:
///     StudyNotFoundError: There is no such study; the hint names a close one.
///     OSError: The storage refuses or fails.
#[pyfunction]
#[pyo3(signature = (store, *, study))]
fn seal(py: Python<'_>, store: Arg<'_, PyStore>, study: String) -> PyResult<usize> {
    let sealed = reading(py, &store, None, study, soma_study::seal)?;
    Ok(sealed.map_or(0, |sealed| sealed.n_ledgers))
}

/// The curve of every attempt at a trial, whatever became of it: pairs of attempt and reports.
///
/// Args:
///     store: Where the study is kept.
///     study: The study's name.
///     trial: The trial's number.
///
/// Raises:
///     StudyNotFoundError: There is no such study; the hint names a close one.
///     TrialNotFoundError: Nobody has taken this trial.
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, *, study, trial))]
fn attempts(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    study: String,
    trial: TrialNumber,
) -> PyResult<Vec<(u32, Vec<f64>)>> {
    reading(py, &store, None, study, move |store, study| soma_study::attempts(store, study, trial.0))
}

/// What a study searches and which end of its score is good: its newest space, and `"min"`, `"max"` or None.
///
/// Args:
///     store: Where the study is kept.
///     study: The study's name.
///
/// Raises:
///     StudyNotFoundError: There is no such study; the hint names a close one.
///     OSError: The storage fails.
#[pyfunction]
#[pyo3(signature = (store, *, study))]
fn declared(
    py: Python<'_>,
    store: Arg<'_, PyStore>,
    study: String,
) -> PyResult<(PySpace, Option<&'static str>)> {
    let (space, goal) = reading(py, &store, None, study, soma_study::space)?;
    Ok((PySpace(space), goal.map(Goal::as_str)))
}

/// Reads what is new in a study, and warns of what was found damaged on the way.
fn reading<T: Send + 'static>(
    py: Python<'_>,
    store: &Bound<'_, PyStore>,
    space: Option<&Bound<'_, PySpace>>,
    study: String,
    read: impl FnOnce(&Store, &str) -> Result<T, StudyError> + Send + 'static,
) -> PyResult<T> {
    let is_fresh = store.get().is_fresh(&study);
    let work = reader(store, space, study, read);
    // A thread to watch for Ctrl-C from costs more than reading what a moment has brought.
    let (answer, damage) = if is_fresh { brief(py, work)? } else { long(py, work)? };
    warn_of(py, damage)?;
    Ok(answer)
}

/// [`reading`], for what takes as long as the study is, whatever is new in it.
fn computing<T: Send + 'static>(
    py: Python<'_>,
    store: &Bound<'_, PyStore>,
    space: Option<&Bound<'_, PySpace>>,
    study: String,
    compute: impl FnOnce(&Store, &str) -> Result<T, StudyError> + Send + 'static,
) -> PyResult<T> {
    let (answer, damage) = long(py, reader(store, space, study, compute))?;
    warn_of(py, damage)?;
    Ok(answer)
}

fn reader<T>(
    store: &Bound<'_, PyStore>,
    space: Option<&Bound<'_, PySpace>>,
    study: String,
    read: impl FnOnce(&Store, &str) -> Result<T, StudyError> + Send + 'static,
) -> impl FnOnce() -> Result<(T, Vec<Damage>), StudyError> + Send + 'static {
    let store = store.get().0.clone();
    let space = space.map(|space| space.get().0.clone());
    move || {
        if let Some(space) = space {
            compare(&store, &study, &space)?;
        }
        let answer = read(&store, &study)?;
        Ok((answer, soma_study::new_damage(&store, &study)))
    }
}

fn warn_of(py: Python<'_>, damage: Vec<Damage>) -> PyResult<()> {
    for one in damage {
        let words = CString::new(one.to_string().replace('\0', "?"))?;
        PyErr::warn(py, &class(py, "DamageWarning")?, &words, 1)?;
    }
    Ok(())
}

/// Whether a space has the names and kinds of the study's; one that nobody has begun has every space.
fn compare(store: &Store, study: &str, given: &Space) -> Result<(), StudyError> {
    let known = match soma_study::space(store, study) {
        Ok((known, _)) => known,
        Err(StudyError::UnknownStudy { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    match known.difference(given) {
        Some(difference) => Err(StudyError::SpaceDiffers { study: study.to_owned(), difference }),
        None => Ok(()),
    }
}

/// Puts the functions and the words of the states into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for state in State::ALL {
        module.add(state.as_str().to_uppercase(), state.as_str())?;
    }
    module.add_function(wrap_pyfunction!(take, module)?)?;
    module.add_function(wrap_pyfunction!(report, module)?)?;
    module.add_function(wrap_pyfunction!(finished, module)?)?;
    module.add_function(wrap_pyfunction!(in_flight, module)?)?;
    module.add_function(wrap_pyfunction!(asked, module)?)?;
    module.add_function(wrap_pyfunction!(curves, module)?)?;
    module.add_function(wrap_pyfunction!(abandoned, module)?)?;
    module.add_function(wrap_pyfunction!(trials, module)?)?;
    module.add_function(wrap_pyfunction!(best, module)?)?;
    module.add_function(wrap_pyfunction!(importance, module)?)?;
    module.add_function(wrap_pyfunction!(discard, module)?)?;
    module.add_function(wrap_pyfunction!(seal, module)?)?;
    module.add_function(wrap_pyfunction!(attempts, module)?)?;
    module.add_function(wrap_pyfunction!(declared, module)?)?;
    Ok(())
}
