//! What a trial waits for: a point, a verdict, and the importance of a study.
//!
//! Each group holds a plain loop over the same numbers, made in the same run: the ratio to it is what to look at.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use soma_benches::searches::{CURVES, REPORTS, TRIALS, curves, finished, notebook, ten_reals};
use soma_study::importance::spearman;
use soma_study::{HalvingOptions, MedianOptions, Pruner, Sampler, SobolOptions, TpeOptions};

/// ask/<sampler>/<dimensions>x10k
fn ask(c: &mut Criterion) {
    let mut group = c.benchmark_group("ask");
    let samplers = [
        ("sobol", Sampler::sobol(0)),
        ("owen", Sampler::sobol_with(SobolOptions::default().with_owen(true))),
        ("halton", Sampler::halton(0)),
        ("random", Sampler::random(0)),
        ("tpe", Sampler::tpe(TpeOptions::default()).expect("its defaults are in range")),
    ];
    for (shape, space) in [("3x10k", notebook()), ("10x10k", ten_reals())] {
        let space = space.expect("the space is right");
        let history = finished(&space, TRIALS).expect("random draws have no end");
        for (name, sampler) in &samplers {
            let mut trial = TRIALS;
            group.bench_function(BenchmarkId::new(*name, shape), |b| {
                b.iter(|| {
                    trial += 1;
                    sampler.ask(black_box(&space), trial, &history)
                });
            });
        }
        // As many exponentials and as many texts as the point has values.
        group.bench_function(BenchmarkId::new("baseline", shape), |b| {
            let n = space.dimensions().len();
            b.iter(|| (0..n).map(|i| black_box(-(i as f64)).exp()).collect::<Vec<f64>>());
        });
    }
    group.finish();
}

/// verdict/<pruner>/<curves>x<reports>
fn verdict(c: &mut Criterion) {
    let mut group = c.benchmark_group("verdict");
    let others = curves(CURVES, REPORTS);
    let shape = format!("{CURVES}x{REPORTS}");
    let mine: Vec<f64> = (0..REPORTS).map(|i| 0.1 + 0.9 / (i + 1) as f64).collect();
    let pruners = [
        ("median", Pruner::median(MedianOptions::default())),
        (
            "halving",
            Pruner::halving(HalvingOptions::default().with_min_steps(REPORTS))
                .expect("the options are in range"),
        ),
    ];
    for (name, pruner) in &pruners {
        group.bench_function(BenchmarkId::new(*name, &shape), |b| {
            b.iter(|| pruner.verdict(black_box(&mine), black_box(&others)));
        });
    }
    group.bench_function(BenchmarkId::new("baseline", &shape), |b| {
        b.iter(|| {
            let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
            black_box(&others).iter().map(|curve| least(&curve.values)).sum::<f64>()
        });
    });
    group.finish();
}

/// importance/<evaluator>/<dimensions>x10k
fn importance(c: &mut Criterion) {
    let mut group = c.benchmark_group("importance");
    for (shape, space) in [("3x10k", notebook()), ("10x10k", ten_reals())] {
        let space = space.expect("the space is right");
        let history = finished(&space, TRIALS).expect("random draws have no end");
        let scored: Vec<_> = history.iter().filter_map(|row| Some((&row.point, row.score?))).collect();
        group.bench_function(BenchmarkId::new("spearman", shape), |b| {
            b.iter(|| spearman(&space, scored.iter().copied()));
        });
        // One sort of the scores per column, and one more.
        group.bench_function(BenchmarkId::new("baseline", shape), |b| {
            b.iter(|| {
                for _ in 0..=space.dimensions().len() {
                    let mut sorted: Vec<f64> = scored.iter().map(|(_, score)| *score).collect();
                    sorted.sort_by(f64::total_cmp);
                    black_box(sorted);
                }
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = ask, verdict, importance
}
criterion_main!(benches);
