//! `Sampler`: where to look next.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use pyo3::prelude::*;
use soma_study::{RandomOptions, Sampler, SobolOptions, TpeOptions};

use crate::convert::{TrialNumber, call_from_text, call_in_words};
use crate::enter::long;
use crate::error::OrRaise;
use crate::given::{Arg, Toward};
use crate::history::history_from_py;
use crate::point::PyPoint;
use crate::space::PySpace;

/// A way of choosing points: `ask` is a pure function of the space, the trial number and the history, and nothing is
/// remembered between two calls. A machine that takes trial 7 works out its point without the first six.
///
/// Its text, `str(sampler)`, reads back as `Sampler(text)`.
///
/// Args:
///     text: A sampler as it prints itself: `"sobol(seed=0)"`.
///
/// Raises:
///     SamplerError: The text does not read.
///
/// Example:
///     >>> from somatize.study import Sampler, Space
///     >>> space = Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64).choice("opt", ["adam", "sgd"])
///     >>> Sampler.sobol(seed=0).ask(space, 0)
///     lr=0.002771855228616633,width=44,opt=sgd
#[pyclass(name = "Sampler", module = "somatize.study", frozen)]
pub struct PySampler(pub Sampler);

#[pymethods]
impl PySampler {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        text.parse().map(Self).or_raise(py)
    }

    /// Every combination once, the last dimension turning fastest; `size` says how many.
    ///
    /// Args:
    ///     points_per_real: Values of each dimension whose values cannot be counted, evenly spaced on its own scale with
    ///         both ends (the middle when it is 1); at least 1. The others give all their values.
    ///
    /// Raises:
    ///     SamplerError: `points_per_real` is 0.
    #[staticmethod]
    #[pyo3(signature = (*, points_per_real = 1))]
    fn grid(py: Python<'_>, points_per_real: u32) -> PyResult<Self> {
        Sampler::grid(points_per_real).map(Self).or_raise(py)
    }

    /// Independent draws.
    ///
    /// Args:
    ///     seed: Two seeds give unrelated draws.
    ///     repeats: Draw again what was drawn before. Without it each point of a space whose points can be counted
    ///         comes once, in random order, and then the sampler says that it is used up.
    #[staticmethod]
    #[pyo3(signature = (*, seed = 0, repeats = false))]
    fn random(seed: u64, repeats: bool) -> Self {
        Self(Sampler::random_with(RandomOptions::default().with_seed(seed).with_repeats(repeats)))
    }

    /// The scrambled Halton sequence: even over the space for every number of trials, to 1,024 dimensions.
    ///
    /// Args:
    ///     seed: Chooses the scrambling.
    #[staticmethod]
    #[pyo3(signature = (*, seed = 0))]
    fn halton(seed: u64) -> Self {
        Self(Sampler::halton(seed))
    }

    /// The Sobol' sequence: even over the space for every number of trials, best for powers of two, to 1,111
    /// dimensions.
    ///
    /// Args:
    ///     seed: Chooses the shift, or the scrambling.
    ///     owen: Scramble as Owen does, rather than shift: more even still, and a little slower.
    #[staticmethod]
    #[pyo3(signature = (*, seed = 0, owen = false))]
    fn sobol(seed: u64, owen: bool) -> Self {
        Self(Sampler::sobol_with(SobolOptions::default().with_seed(seed).with_owen(owen)))
    }

    /// The tree-structured Parzen estimator: draws near the trials that did well. Give it every trial, `asked(...)`:
    /// no point of a finite space that the history holds is asked again. Up to eight workers that ask at one moment
    /// keep apart on a space of at most 1,024 points; on a larger one they may meet.
    ///
    /// Args:
    ///     seed: Chooses the draws.
    ///     goal: `"min"` or `"max"`: which end of a score is good. None is the study's under `search`, and `"min"` in a
    ///         loop of your own.
    ///     startup: Scores before it learns from them; points are spread by the Sobol' sequence until then.
    ///     candidates: Points drawn near the good ones, of which the most promising is asked; at least 1.
    ///
    /// Raises:
    ///     SamplerError: `candidates` is 0.
    ///     SpaceError: Another goal.
    #[staticmethod]
    #[pyo3(signature = (*, seed = 0, goal = None, startup = 10, candidates = 24))]
    fn tpe(
        py: Python<'_>,
        seed: u64,
        goal: Option<Toward>,
        startup: usize,
        candidates: usize,
    ) -> PyResult<Self> {
        let mut options =
            TpeOptions::default().with_seed(seed).with_startup(startup).with_candidates(candidates);
        if let Some(goal) = goal {
            options = options.with_goal(goal.0);
        }
        Sampler::tpe(options).map(Self).or_raise(py)
    }

    /// The same sampler, with `goal` where it was not given one and needs one.
    ///
    /// Raises:
    ///     SpaceError: Neither `"min"` nor `"max"`.
    fn toward(&self, goal: Toward) -> Self {
        Self(self.0.toward(goal.0))
    }

    /// The point of a trial.
    ///
    /// Args:
    ///     space: What is searched.
    ///     trial: The trial's number, from 0.
    ///     history: What is known, as `asked` or `finished` answer it (nothing is converted), or any sequence of
    ///         `(point, score)`. `grid`, `random`, `halton` and `sobol` do not look at it.
    ///
    /// Raises:
    ///     UsedUpError: The sampler visits each point once, and has none left for this trial.
    ///     SpaceError: More dimensions than the sampler has numbers for.
    #[pyo3(signature = (space, trial, history = None))]
    fn ask(
        &self,
        py: Python<'_>,
        space: Arg<'_, PySpace>,
        trial: TrialNumber,
        history: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyPoint> {
        let space = &space.get().0;
        let history = history_from_py(space, history)?;
        // About a microsecond: releasing the interpreter, and waiting for it again, would take longer.
        if self.0.is_independent() {
            return self.0.ask(space, trial.0, &history).map(PyPoint).or_raise(py);
        }
        let (sampler, space) = (self.0.clone(), space.clone());
        long(py, move || sampler.ask(&space, trial.0, &history)).map(PyPoint)
    }

    /// How many trials the sampler has points for in a space; None when there is no end of them.
    fn size(&self, space: Arg<'_, PySpace>) -> Option<u64> {
        self.0.size(&space.get().0)
    }

    /// Whether the point of a trial follows from its number alone.
    #[getter]
    fn is_independent(&self) -> bool {
        self.0.is_independent()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (name, arguments) = call_from_text(py, &self.0.to_string())?;
        call_in_words("Sampler", &name, &arguments)
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

/// Puts the class into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySampler>()
}
