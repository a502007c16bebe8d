//! Runs of graphs.

#![expect(clippy::unwrap_used, reason = "a test stops where it is wrong")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use soma_core::{
    Ctx, Expression, Graph, MAX_TURNS, Node, NodeError, RunError, RunOptions, Transition, Value, driver_fn,
    from_fn,
};

/// Adds to an int.
fn add(n: i64) -> impl Node + 'static {
    from_fn("Add", move |input, _| match input {
        Value::Int(it) => Ok(Value::Int(it + n).into()),
        other => Err(format!("expected an int, was given {}", other.kind()).into()),
    })
}

/// Adds up what several said.
fn sum() -> impl Node + 'static {
    from_fn("Sum", |input, _| match input {
        Value::Map(map) => {
            let mut total = 0;
            for (_, value) in map.iter() {
                let Value::Int(n) = value else { return Err("expected ints".into()) };
                total += n;
            }
            Ok(Value::Int(total).into())
        }
        other => Err(format!("expected a map, was given {}", other.kind()).into()),
    })
}

fn failing(text: &'static str) -> impl Node + 'static {
    from_fn("Failing", move |_, _| Err(text.into()))
}

fn x(node: impl Node + 'static) -> Expression {
    Expression::from(node)
}

fn forward(piece: Expression, input: Value) -> Result<Value, RunError> {
    Graph::somatize(piece).unwrap().forward(input, &RunOptions::default())
}

fn one_worker() -> RunOptions {
    RunOptions::default().with_workers(NonZeroUsize::MIN)
}

#[test]
fn an_empty_graph_answers_its_input() {
    assert_eq!(Graph::new().forward(Value::Int(7), &RunOptions::default()).unwrap(), Value::Int(7));
}

#[test]
fn a_join_runs_once_after_its_longest_arm_and_is_given_a_map_in_written_order() {
    let seen = from_fn("Seen", |input: &Value, _: &Ctx<'_>| Ok(input.clone().into()));
    let out =
        forward(x(add(1)) >> (x(add(10)) | (x(add(100)) >> x(add(1000)))) >> x(seen), Value::Int(0)).unwrap();
    assert_eq!(format!("{out:?}"), r#"{"add_2": Int(11), "add_4": Int(1101)}"#);
}

#[test]
fn several_leaves_come_out_as_a_map_keyed_by_leaf() {
    let out =
        forward(x(add(1)) >> (x(add(2)).named("l").unwrap() | x(add(3)).named("r").unwrap()), Value::Int(0));
    assert_eq!(format!("{:?}", out.unwrap()), r#"{"l": Int(3), "r": Int(4)}"#);
}

#[test]
fn thirty_stacked_diamonds_call_each_node_once() {
    let calls = Arc::new(AtomicUsize::new(0));
    let id = || {
        let calls = Arc::clone(&calls);
        x(from_fn("Id", move |input: &Value, _: &Ctx<'_>| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(input.clone().into())
        }))
    };
    let mut piece = id();
    for _ in 0..30 {
        piece = piece >> (id() | id()) >> x(sum());
    }
    assert_eq!(forward(piece, Value::Int(1)).unwrap(), Value::Int(1 << 30));
    assert_eq!(calls.load(Ordering::Relaxed), 61);
}

#[test]
fn the_first_failing_branch_in_declaration_order_is_raised_and_the_others_are_kept() {
    let slow = from_fn("Slow", |_, _| {
        std::thread::sleep(Duration::from_millis(20));
        Err("slow".into())
    });
    let piece =
        x(add(0)) >> (x(add(1)) | x(slow).named("b").unwrap() | x(failing("fast")).named("c").unwrap());
    let graph = Graph::somatize(piece).unwrap();
    for options in [RunOptions::default(), one_worker()] {
        let error = graph.forward(Value::Int(0), &options).unwrap_err();
        assert_eq!(error.node(), Some("b"));
        let RunError::Several { also, .. } = error else { panic!("{error}") };
        assert_eq!(also.iter().map(RunError::node).collect::<Vec<_>>(), [Some("c")]);
    }
}

#[test]
fn every_branch_ends_though_one_failed() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = {
        let calls = Arc::clone(&calls);
        from_fn("Counted", move |_, _| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(Value::Null.into())
        })
    };
    let graph = Graph::somatize(x(failing("no")) | (x(add(0)) >> x(counted))).unwrap();
    for options in [RunOptions::default(), one_worker()] {
        assert!(graph.forward(Value::Int(0), &options).is_err());
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[test]
fn branches_that_wait_wait_at_the_same_time() {
    let slow = || {
        x(from_fn("Slow", |_, _| {
            std::thread::sleep(Duration::from_millis(100));
            Ok(Value::Null.into())
        }))
    };
    let piece = (0..7).fold(slow(), |piece, _| piece | slow());
    let graph = Graph::somatize(piece).unwrap();
    let since = Instant::now();
    graph.forward(Value::Null, &RunOptions::default()).unwrap();
    assert!(since.elapsed() < Duration::from_millis(400), "{:?}", since.elapsed());
    let since = Instant::now();
    graph.forward(Value::Null, &one_worker()).unwrap();
    assert!(since.elapsed() >= Duration::from_millis(800));
}

#[test]
fn at_most_the_given_number_of_workers_run_at_once() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let slow = || {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        x(from_fn("Slow", move |_, _| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(Value::Null.into())
        }))
    };
    let piece = (0..19).fold(slow(), |piece, _| piece | slow());
    let options = RunOptions::default().with_workers(NonZeroUsize::new(3).unwrap());
    Graph::somatize(piece).unwrap().forward(Value::Null, &options).unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

/// A node that runs a graph of its own.
struct Inner(Graph);

impl Node for Inner {
    fn forward(&self, input: &Value, _: &Ctx<'_>) -> Result<Transition, NodeError> {
        Ok(self.0.forward(input.clone(), &RunOptions::default())?.into())
    }
}

#[test]
fn graphs_within_waves_within_graphs_do_not_wait_for_each_other() {
    let mut piece = x(add(1));
    for _ in 0..4 {
        let graph = Graph::somatize(piece).unwrap();
        piece = (0..5).fold(x(Inner(graph.clone())), |piece, _| piece | x(Inner(graph.clone()))) >> x(sum());
    }
    assert_eq!(forward(piece, Value::Int(0)).unwrap(), Value::Int(6_i64.pow(4)));
}

#[test]
fn waves_nested_deeply_run_without_recursion() {
    let mut piece = x(add(1));
    for _ in 0..2_000 {
        piece = x(add(0)) >> (x(add(1)) | piece) >> x(sum());
    }
    let graph = Graph::somatize(piece).unwrap();
    let run = move || {
        let all = graph.forward(Value::Int(0), &RunOptions::default()).unwrap();
        assert_eq!(all, graph.forward(Value::Int(0), &one_worker()).unwrap());
        all
    };
    // A small stack: what recursed would not fit.
    let thread = std::thread::Builder::new().stack_size(128 * 1024).spawn(run).unwrap();
    assert_eq!(thread.join().unwrap(), Value::Int(2_001));
}

#[test]
fn a_node_asks_until_it_is_done() {
    let asking = from_fn("Asking", |input: &Value, ctx: &Ctx<'_>| {
        Ok(match ctx.turn() {
            0 => Transition::Await(vec![input.clone(), Value::Int(5)]),
            1 => Transition::Await(vec![ctx.results()[1].clone()]),
            turn => vec![input.clone(), i64::from(turn).into(), ctx.results()[0].clone()].into_transition(),
        })
    });
    let driver = driver_fn(|requests| {
        let double = |request: &Value| match request {
            Value::Int(n) => Value::Int(2 * n),
            _ => Value::Null,
        };
        Ok(requests.iter().map(double).collect())
    });
    let graph = Graph::somatize(x(asking)).unwrap();
    let out = graph.forward(Value::Int(1), &RunOptions::default().with_driver(driver)).unwrap();
    assert_eq!(out, vec![Value::Int(1), Value::Int(2), Value::Int(20)].into());
}

trait IntoTransition {
    fn into_transition(self) -> Transition;
}

impl IntoTransition for Vec<Value> {
    fn into_transition(self) -> Transition {
        Transition::Done(self.into())
    }
}

#[test]
fn misuse_of_a_driver_is_named() {
    let asking = || x(from_fn("Asking", |_, _| Ok(Transition::Await(vec![Value::Null, Value::Null]))));
    assert!(matches!(
        forward(asking(), Value::Null),
        Err(RunError::NoDriver { node, n_requests: 2 }) if node == "asking"
    ));
    let graph = Graph::somatize(asking()).unwrap();
    let short = RunOptions::default().with_driver(driver_fn(|_| Ok(vec![Value::Null])));
    assert!(matches!(
        graph.forward(Value::Null, &short),
        Err(RunError::DriverCount { given: 1, expected: 2, .. })
    ));
    let broken = RunOptions::default().with_driver(driver_fn(|_| Err("offline".into())));
    let error = graph.forward(Value::Null, &broken).unwrap_err();
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "offline");
}

#[test]
fn a_node_that_never_stops_asking_is_stopped_after_its_turns() {
    let calls = Arc::new(AtomicUsize::new(0));
    let asking = {
        let calls = Arc::clone(&calls);
        from_fn("Asking", move |_, _| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(Transition::Await(vec![]))
        })
    };
    let graph = Graph::somatize(x(asking)).unwrap();
    let driver = driver_fn(|_| Ok(vec![]));
    let error = graph.forward(Value::Null, &RunOptions::default().with_driver(driver)).unwrap_err();
    assert!(matches!(error, RunError::TurnBudget { node } if node == "asking"));
    assert_eq!(calls.load(Ordering::Relaxed), MAX_TURNS as usize);
}

#[test]
fn a_value_is_released_as_soon_as_its_last_reader_has_run() {
    /// Counts itself while it lives.
    struct Big(Arc<AtomicUsize>);
    impl Drop for Big {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let (live, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let make = || {
        let (live, most) = (Arc::clone(&live), Arc::clone(&most));
        x(from_fn("Make", move |_, _| {
            most.fetch_max(live.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            Ok(Value::opaque(Big(Arc::clone(&live))).into())
        }))
    };
    let piece = (0..99).fold(make(), |piece, _| piece >> make());
    drop(forward(piece, Value::Null).unwrap());
    assert_eq!((live.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, 2));
}

#[test]
fn a_panic_is_an_error_that_names_the_node() {
    let piece = x(add(0)) >> (x(add(1)) | x(from_fn("Bad", |_, _| panic!("ouch"))));
    let error = forward(piece, Value::Int(0)).unwrap_err();
    assert_eq!(error.node(), Some("bad"));
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "it panicked: ouch");
}

#[test]
fn an_interrupt_is_passed_on_as_it_is_and_nothing_more_begins() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = || {
        let calls = Arc::clone(&calls);
        x(from_fn("Counted", move |_, _| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(Value::Null.into())
        }))
    };
    let stop = x(from_fn("Stop", |_, _| Err(NodeError::interrupt("enough"))));
    let graph = Graph::somatize((stop | counted() | counted()) >> counted()).unwrap();
    let error = graph.forward(Value::Null, &one_worker()).unwrap_err();
    assert!(matches!(error, RunError::Interrupted(cause) if cause.to_string() == "enough"));
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}
