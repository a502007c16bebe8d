//! The defaults of the crates, for the test that compares those of the Python signatures with them.

use pyo3::prelude::*;
use soma_store::Options;
use soma_study::{
    DivergedOptions, HalvingOptions, HyperbandOptions, IntOptions, MedianOptions, PatienceOptions,
    PercentileOptions, Pruner, RandomOptions, RealOptions, Sampler, SobolOptions, Space, TpeOptions,
};

use crate::error::OrRaise;

/// What each constructor makes when it is given nothing, as text: `("Sampler.sobol", "sobol(seed=0,owen=false)")`.
#[pyfunction]
fn _defaults(py: Python<'_>) -> PyResult<Vec<(&'static str, String)>> {
    let pruners = [
        ("Pruner.median", Ok(Pruner::median(MedianOptions::default()))),
        ("Pruner.percentile", Pruner::percentile(PercentileOptions::default())),
        ("Pruner.patience", Pruner::patience(PatienceOptions::default())),
        ("Pruner.diverged", Pruner::diverged(DivergedOptions::default())),
        ("Pruner.halving", Pruner::halving(HalvingOptions::default())),
        ("Pruner.hyperband", Pruner::hyperband(HyperbandOptions::default())),
    ];
    let samplers = [
        ("Sampler.random", Ok(Sampler::random_with(RandomOptions::default()))),
        ("Sampler.sobol", Ok(Sampler::sobol_with(SobolOptions::default()))),
        ("Sampler.tpe", Sampler::tpe(TpeOptions::default())),
    ];
    let spaces = [
        ("Space.real", Space::new().real("x", 1.0, 2.0, RealOptions::default())),
        ("Space.int", Space::new().int("x", 1, 2, IntOptions::default())),
    ];
    let mut said = Vec::new();
    for (name, pruner) in pruners {
        said.push((name, pruner.or_raise(py)?.to_string()));
    }
    for (name, sampler) in samplers {
        said.push((name, sampler.or_raise(py)?.to_string()));
    }
    for (name, space) in spaces {
        said.push((name, space.or_raise(py)?.to_string()));
    }
    let Options { durable, read_only, lease, .. } = Options::default();
    said.push(("Store", format!("durable={durable}, read_only={read_only}, lease={}", lease.as_secs_f64())));
    Ok(said)
}

/// Puts the function into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_defaults, module)?)
}
