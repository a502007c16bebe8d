//! `Pruner`: when to stop early.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use soma_study::{
    DivergedOptions, HalvingOptions, HyperbandOptions, MedianOptions, PatienceOptions, PercentileOptions,
    Pruner, ThresholdOptions,
};

use crate::convert::{Reals, call_from_text, call_in_words};
use crate::error::OrRaise;
use crate::given::Toward;
use crate::history::curves_from_py;

/// Curves up to which a verdict takes some microseconds: less than releasing the interpreter and waiting for it.
const FEW_CURVES: usize = 500;

/// A judge of curves: it answers a reason in words, or None, and stops nothing. `pruner | pruner` prunes when either
/// does.
///
/// After `n` reports, `n <= warmup` means no verdict: with `warmup=0` the very first report can be pruned. Reports are
/// counted, whatever epochs lie between them. A report that is NaN or infinite is pruned at once, in the warm-up too.
/// A `goal` of None is the study's under `search`, and `"min"` in a loop of your own.
///
/// Its text, `str(pruner)`, reads back as `Pruner(text)`.
///
/// Args:
///     text: A pruner as it prints itself: `"median(warmup=4) | diverged(factor=10)"`.
///
/// Raises:
///     PrunerError: The text does not read.
///
/// Example:
///     >>> from somatize.study import Pruner
///     >>> pruner = Pruner.median(warmup=1, startup=2) | Pruner.threshold(upper=100)
///     >>> pruner.verdict([0.9, 0.8], [[1.0, 0.25], [1.0, 0.5]])
///     'after 2 reports its best is 0.8, worse than 0.375, the median of 2 trials by then'
#[pyclass(name = "Pruner", module = "somatize.study", frozen)]
pub struct PyPruner(pub Pruner);

/// Options with a goal, where one was said.
macro_rules! with_goal {
    ($goal:expr, $options:expr) => {
        match $goal {
            Some(goal) => $options.with_goal(goal.0),
            None => $options,
        }
    };
}

#[pymethods]
impl PyPruner {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        text.parse().map(Self).or_raise(py)
    }

    /// Prunes a trial whose best so far is worse than the median of the others' best by the same report.
    ///
    /// Args:
    ///     goal: `"min"` or `"max"`: which end of a report is good.
    ///     warmup: Reports before the first verdict.
    ///     startup: Other curves that must reach as far before there is a verdict; at least 1.
    ///
    /// Raises:
    ///     SpaceError: Another goal.
    #[classmethod]
    #[pyo3(signature = (*, goal = None, warmup = 0, startup = 5))]
    fn median(_cls: &Bound<'_, PyType>, goal: Option<Toward>, warmup: usize, startup: usize) -> Self {
        let options = MedianOptions::default().with_warmup(warmup).with_startup(startup);
        Self(Pruner::median(with_goal!(goal, options)))
    }

    /// Prunes a trial whose best so far is worse than a percentile of the others' best by the same report.
    ///
    /// Args:
    ///     percentile: The share of the others, from 0 to 100, that a trial must keep up with: with 25 only the best
    ///         quarter goes on.
    ///     goal: `"min"` or `"max"`: which end of a report is good.
    ///     warmup: Reports before the first verdict.
    ///     startup: Other curves that must reach as far before there is a verdict; at least 1.
    ///
    /// Raises:
    ///     PrunerError: `percentile` is not from 0 to 100.
    ///     SpaceError: Another goal.
    #[classmethod]
    #[pyo3(signature = (*, percentile = 50.0, goal = None, warmup = 0, startup = 5))]
    fn percentile(
        cls: &Bound<'_, PyType>,
        percentile: f64,
        goal: Option<Toward>,
        warmup: usize,
        startup: usize,
    ) -> PyResult<Self> {
        let options = PercentileOptions::default().with_percentile(percentile);
        let options = with_goal!(goal, options.with_warmup(warmup).with_startup(startup));
        Pruner::percentile(options).map(Self).or_raise(cls.py())
    }

    /// Prunes a trial whose latest report lies outside fixed bounds.
    ///
    /// Args:
    ///     lower: A report below this is pruned; None is no bound.
    ///     upper: A report above this is pruned; None is no bound.
    ///     warmup: Reports before the first verdict.
    ///
    /// Raises:
    ///     PrunerError: No bound, one that is NaN, or `lower` above `upper`.
    #[classmethod]
    #[pyo3(signature = (*, lower = None, upper = None, warmup = 0))]
    fn threshold(
        cls: &Bound<'_, PyType>,
        lower: Option<f64>,
        upper: Option<f64>,
        warmup: usize,
    ) -> PyResult<Self> {
        let mut options = ThresholdOptions::default().with_warmup(warmup);
        if let Some(lower) = lower {
            options = options.with_lower(lower);
        }
        if let Some(upper) = upper {
            options = options.with_upper(upper);
        }
        Pruner::threshold(options).map(Self).or_raise(cls.py())
    }

    /// Prunes a trial that has not got better for some reports.
    ///
    /// Args:
    ///     patience: Reports in a row that may pass without getting better; at least 1.
    ///     min_delta: How much better counts as better, in the units of the report; at least 0.
    ///     goal: `"min"` or `"max"`: which end of a report is good.
    ///     warmup: Reports before the first verdict.
    ///
    /// Raises:
    ///     PrunerError: `patience` is 0, or `min_delta` is negative or not finite.
    ///     SpaceError: Another goal.
    #[classmethod]
    #[pyo3(signature = (*, patience = 5, min_delta = 0.0, goal = None, warmup = 0))]
    fn patience(
        cls: &Bound<'_, PyType>,
        patience: usize,
        min_delta: f64,
        goal: Option<Toward>,
        warmup: usize,
    ) -> PyResult<Self> {
        let options = PatienceOptions::default().with_patience(patience).with_min_delta(min_delta);
        let options = with_goal!(goal, options.with_warmup(warmup));
        Pruner::patience(options).map(Self).or_raise(cls.py())
    }

    /// Prunes a trial that has got much worse than it began; needs no other curves.
    ///
    /// Args:
    ///     factor: How much worse than the first report is too much, in multiples of that report's size; at least 0.
    ///     goal: `"min"` or `"max"`: which end of a report is good.
    ///     warmup: Reports before the first verdict.
    ///
    /// Raises:
    ///     PrunerError: `factor` is negative or not finite.
    ///     SpaceError: Another goal.
    #[classmethod]
    #[pyo3(signature = (*, factor = 10.0, goal = None, warmup = 0))]
    fn diverged(cls: &Bound<'_, PyType>, factor: f64, goal: Option<Toward>, warmup: usize) -> PyResult<Self> {
        let options = DivergedOptions::default().with_factor(factor).with_warmup(warmup);
        Pruner::diverged(with_goal!(goal, options)).map(Self).or_raise(cls.py())
    }

    /// Prunes, at a few numbers of reports (the rungs), every trial that is not in the best part of those that came so
    /// far: asynchronous successive halving in its stopping form, which needs no coordinator.
    ///
    /// Args:
    ///     min_steps: Reports at the first rung; at least 1.
    ///     factor: One trial in this many goes on, and the next rung is this many times further; at least 2.
    ///     goal: `"min"` or `"max"`: which end of a report is good.
    ///
    /// Raises:
    ///     PrunerError: `min_steps` is 0 or `factor` is below 2.
    ///     SpaceError: Another goal.
    #[classmethod]
    #[pyo3(signature = (*, min_steps = 1, factor = 4, goal = None))]
    fn halving(
        cls: &Bound<'_, PyType>,
        min_steps: usize,
        factor: usize,
        goal: Option<Toward>,
    ) -> PyResult<Self> {
        let options = HalvingOptions::default().with_min_steps(min_steps).with_factor(factor);
        Pruner::halving(with_goal!(goal, options)).map(Self).or_raise(cls.py())
    }

    /// Halving with several first rungs at once, each for a share of the trials.
    ///
    /// Args:
    ///     min_steps: Reports at the first rung of the first bracket; at least 1.
    ///     max_steps: Reports of a trial that runs to the end; at least `min_steps`.
    ///     factor: One trial in this many goes on, and the next rung is this many times further; at least 2.
    ///     goal: `"min"` or `"max"`: which end of a report is good.
    ///
    /// Raises:
    ///     PrunerError: `min_steps` is 0, `max_steps` lies below it, or `factor` is below 2.
    ///     SpaceError: Another goal.
    #[classmethod]
    #[pyo3(signature = (*, min_steps = 1, max_steps = 81, factor = 3, goal = None))]
    fn hyperband(
        cls: &Bound<'_, PyType>,
        min_steps: usize,
        max_steps: usize,
        factor: usize,
        goal: Option<Toward>,
    ) -> PyResult<Self> {
        let options = HyperbandOptions::default().with_min_steps(min_steps).with_max_steps(max_steps);
        let options = with_goal!(goal, options.with_factor(factor));
        Pruner::hyperband(options).map(Self).or_raise(cls.py())
    }

    /// Why the trial should stop, in words; None to go on.
    ///
    /// Args:
    ///     mine: The trial's whole curve so far, one number per report.
    ///     others: The curves to compare with, as `curves` answers them (nothing is converted), or any sequence of
    ///         sequences of numbers. None is none.
    #[pyo3(signature = (mine, others = None))]
    fn verdict(
        &self,
        py: Python<'_>,
        mine: Reals,
        others: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<String>> {
        let others = curves_from_py(others)?;
        if others.len() <= FEW_CURVES {
            return Ok(self.0.verdict(&mine.0, &others));
        }
        Ok(py.detach(|| self.0.verdict(&mine.0, &others)))
    }

    /// The same pruner, with `goal` for every rule that was not given one.
    ///
    /// Raises:
    ///     SpaceError: Neither `"min"` nor `"max"`.
    fn toward(&self, goal: Toward) -> Self {
        Self(self.0.toward(goal.0))
    }

    fn __or__(&self, other: &Bound<'_, Self>) -> Self {
        Self(self.0.clone() | other.get().0.clone())
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let said: PyResult<Vec<String>> = self
            .rules(py)?
            .iter()
            .map(|(name, arguments)| call_in_words("Pruner", name, arguments))
            .collect();
        Ok(said?.join(" | "))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __getnewargs__(&self) -> (String,) {
        (self.0.to_string(),)
    }
}

impl PyPruner {
    /// Each rule as the call that makes it, from the pruner's text: `median(warmup=4,startup=6) | threshold(...)`.
    fn rules<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyDict>)>> {
        self.0.to_string().split(" | ").map(|rule| call_from_text(py, rule)).collect()
    }
}

/// Puts the class into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPruner>()
}
