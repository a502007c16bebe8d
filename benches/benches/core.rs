//! The graph: build, compile, run. Ids say what, which shape, how many nodes. Each run has its baseline beside
//! it: the same nodes called in a plain loop.

use std::hint::black_box;
use std::num::NonZeroUsize;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use soma_core::{Expression, Graph, Node, RunOptions, Value, compile, from_fn};

/// Nodes of a chain.
const CHAINS: [usize; 4] = [1, 10, 100, 10_000];
/// Branches of a wave.
const WAVES: [usize; 3] = [2, 8, 64];
/// Nodes, of every shape, that are compiled.
const COMPILED: usize = 10_000;

fn same() -> impl Node + 'static {
    from_fn("Same", |input: &Value, _: &_| Ok(input.clone().into()))
}

fn one() -> Expression {
    same().into()
}

fn chain(n_nodes: usize) -> Expression {
    (1..n_nodes).fold(one(), |piece, _| piece >> one())
}

fn fan(n_branches: usize) -> Expression {
    (1..n_branches).fold(one(), |piece, _| piece | one())
}

fn diamonds(n_nodes: usize) -> Expression {
    (0..n_nodes / 3).fold(one(), |piece, _| piece >> (one() | one()) >> one())
}

/// Two rows joined at every step: not series-parallel.
fn ladder(n_nodes: usize) -> Graph {
    let mut graph = Graph::new();
    let mut last: Option<(String, String)> = None;
    for step in 0..n_nodes / 2 {
        let (a, b) = (format!("a{step}"), format!("b{step}"));
        graph.node(&a, same()).expect("a new name");
        graph.node(&b, same()).expect("a new name");
        graph.edge(&a, &b).expect("a new edge");
        if let Some((a_before, b_before)) = last {
            graph.edge(&a_before, &a).expect("a new edge");
            graph.edge(&b_before, &b).expect("a new edge");
        }
        last = Some((a, b));
    }
    graph
}

fn graph(piece: Expression) -> Graph {
    Graph::somatize(piece).expect("derived names do not repeat")
}

fn forward(c: &mut Criterion) {
    let mut group = c.benchmark_group("forward");
    for n_nodes in CHAINS {
        group.throughput(Throughput::Elements(n_nodes as u64));
        let graph = graph(chain(n_nodes));
        let options = RunOptions::default();
        graph.plan();
        group.bench_function(BenchmarkId::new("chain", n_nodes), |b| {
            b.iter(|| graph.forward(black_box(Value::Int(1)), &options).expect("nodes that do not fail"));
        });
        // The baseline: the same values handed through as many calls, by nobody.
        group.bench_function(BenchmarkId::new("plain", n_nodes), |b| {
            b.iter(|| (0..n_nodes).fold(black_box(Value::Int(1)), |value, _| black_box(&value).clone()));
        });
    }
    group.finish();
}

fn wave(c: &mut Criterion) {
    let mut group = c.benchmark_group("wave");
    for n_branches in WAVES {
        let graph = graph(fan(n_branches));
        let alone = RunOptions::default().with_workers(NonZeroUsize::MIN);
        for (name, options) in [("pool", RunOptions::default()), ("alone", alone)] {
            group.bench_function(BenchmarkId::new(name, n_branches), |b| {
                b.iter(|| graph.forward(black_box(Value::Int(1)), &options).expect("nodes that do not fail"));
            });
        }
        // The baseline: a thread per branch.
        group.bench_function(BenchmarkId::new("threads", n_branches), |b| {
            b.iter(|| {
                std::thread::scope(|scope| {
                    for _ in 0..n_branches {
                        scope.spawn(|| black_box(Value::Int(1)));
                    }
                });
            });
        });
    }
    group.finish();
}

fn build_and_plan(c: &mut Criterion) {
    let mut group = c.benchmark_group("build");
    group.throughput(Throughput::Elements(COMPILED as u64));
    group.sample_size(10);
    group.bench_function(BenchmarkId::new("chain", COMPILED), |b| {
        b.iter_batched(|| chain(COMPILED), graph, criterion::BatchSize::LargeInput);
    });
    group.finish();

    let mut group = c.benchmark_group("plan");
    group.throughput(Throughput::Elements(COMPILED as u64));
    group.sample_size(10);
    let shapes = [
        ("chain", graph(chain(COMPILED))),
        ("wide", graph(one() >> fan(COMPILED - 2) >> one())),
        ("diamonds", graph(diamonds(COMPILED))),
        ("ladder", ladder(COMPILED)),
    ];
    for (shape, graph) in shapes {
        group.bench_function(BenchmarkId::new(shape, COMPILED), |b| {
            b.iter(|| compile(black_box(graph.topology())));
        });
        // The baseline: one walk over the same nodes and edges.
        group.bench_function(BenchmarkId::new(format!("{shape} sorted"), COMPILED), |b| {
            b.iter(|| black_box(graph.topology()).topological_sort());
        });
    }
    group.finish();
}

criterion_group!(benches, forward, wave, build_and_plan);
criterion_main!(benches);
