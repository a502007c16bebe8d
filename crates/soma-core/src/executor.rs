//! Walks a plan.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::driver::Driver;
use crate::error::{NodeError, RunError};
use crate::host::{Host, Local, NoHost, Seat};
use crate::node::{Ctx, Transition};
use crate::pool::Pool;
use crate::program::{Feed, Op, Program, Step};
use crate::value::{Map, Value};
use crate::wave::Wave;

/// How often a node is asked within one run before the run ends with [`RunError::TurnBudget`].
pub const MAX_TURNS: u32 = 64;

/// How many threads a run uses at most when it does not say: many more than cores, because branches that
/// wait for something cost no core while they do.
pub const DEFAULT_WORKERS: usize = 64;

/// How a graph runs.
#[derive(Clone, Default)]
pub struct RunOptions {
    driver: Option<Arc<dyn Driver>>,
    workers: Option<NonZeroUsize>,
    host: Option<Arc<dyn Host>>,
}

impl RunOptions {
    /// Who answers what nodes ask for; nobody unless said.
    #[must_use]
    pub fn with_driver(mut self, driver: impl Driver + 'static) -> Self {
        self.driver = Some(Arc::new(driver));
        self
    }

    /// How many threads run branches at most, the caller's included; [`DEFAULT_WORKERS`] unless said.
    /// With 1 the branches of a wave run one after another: same result, same error.
    #[must_use]
    pub fn with_workers(mut self, workers: NonZeroUsize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// The world the nodes live in; plain Rust unless said.
    #[must_use]
    pub fn with_host(mut self, host: Arc<dyn Host>) -> Self {
        self.host = Some(host);
        self
    }
}

/// One run of a program, shared by the threads that work on it.
pub(crate) struct Run {
    pub(crate) program: Arc<Program>,
    pub(crate) host: Arc<dyn Host>,
    driver: Option<Arc<dyn Driver>>,
    slots: Box<[Mutex<Slot>]>,
    /// How many pool threads may join, and how many have.
    max_helpers: usize,
    helpers: AtomicUsize,
    cancelled: AtomicBool,
    /// Why it was cancelled, for whoever began the run.
    interrupt: Mutex<Option<RunError>>,
}

/// What a node said, until its last reader has it.
struct Slot {
    value: Option<Value>,
    readers_left: u32,
}

/// Runs a program once on the calling thread and, in its waves, on the pool's.
pub(crate) fn run(program: &Arc<Program>, input: Value, options: &RunOptions) -> Result<Value, RunError> {
    let mut slots: Vec<Mutex<Slot>> =
        program.readers.iter().map(|&readers_left| Mutex::new(Slot { value: None, readers_left })).collect();
    if let Some(last) = slots.last_mut() {
        last.get_mut().unwrap_or_else(PoisonError::into_inner).value = Some(input);
    }
    let run = Arc::new(Run {
        program: Arc::clone(program),
        host: options.host.clone().unwrap_or_else(|| Arc::new(NoHost)),
        driver: options.driver.clone(),
        slots: slots.into_boxed_slice(),
        max_helpers: options.workers.map_or(DEFAULT_WORKERS, NonZeroUsize::get) - 1,
        helpers: AtomicUsize::new(0),
        cancelled: AtomicBool::new(false),
        interrupt: Mutex::new(None),
    });
    match drive(&run, 0..program.ops.len(), None) {
        Ok(()) => Ok(run.feed(&program.output)),
        Err(RunError::Cancelled) => {
            let interrupt = run.interrupt.lock().unwrap_or_else(PoisonError::into_inner).take();
            Err(interrupt.unwrap_or(RunError::Cancelled))
        }
        Err(error) => Err(error),
    }
}

/// A wave this thread opened and has not left.
struct Opened {
    wave: Arc<Wave>,
    /// The branch of it this thread is in, and what the host gave that branch.
    branch: Option<usize>,
    /// Where the thread goes on after the wave.
    resume: Range<usize>,
    local: Option<Local>,
}

/// Runs the steps of `span`, and the waves in it with whoever helps, to the end or to the first failure.
///
/// A thread that opened a wave runs branches of it as long as there are any, then waits for those that
/// others took. Waves within waves are a stack on the heap: nothing here recurses.
pub(crate) fn drive(run: &Arc<Run>, span: Range<usize>, local: Option<Local>) -> Result<(), RunError> {
    let (mut span, mut local) = (span, local);
    let mut open: Vec<Opened> = Vec::new();
    let mut failed = None;
    loop {
        let entered = walk(run, &mut span, local.as_ref(), &mut failed);
        if let Some(wave) = entered {
            let resume = run.program.waves[wave.at].next..span.end;
            open.push(Opened { wave, branch: None, resume, local: local.take() });
        }
        let Some(opened) = open.last_mut() else { return failed.map_or(Ok(()), Err) };
        if let Some(branch) = opened.branch.take() {
            opened.wave.settle(branch, Seat::Opener, local.take(), failed.take());
        }
        let Some(branch) = opened.wave.claim() else {
            failed = opened.wave.leave();
            if let Some(Opened { resume, local: outer, .. }) = open.pop() {
                span = resume;
                local = outer;
            }
            continue;
        };
        match opened.wave.held.begin(Seat::Opener) {
            Ok(begun) => {
                opened.branch = Some(branch);
                span = opened.wave.span(branch);
                local = Some(begun);
            }
            Err(error) => {
                let failure = RunError::Interrupted(error.into_cause());
                opened.wave.settle(branch, Seat::Opener, None, Some(failure));
            }
        }
    }
}

/// Runs steps until the span is over, one fails, or a wave opens; answers the wave.
fn walk(
    run: &Arc<Run>,
    span: &mut Range<usize>,
    local: Option<&Local>,
    failed: &mut Option<RunError>,
) -> Option<Arc<Wave>> {
    while failed.is_none() {
        let op = run.program.ops[span.clone()].first()?;
        if run.is_cancelled() {
            *failed = Some(RunError::Cancelled);
            return None;
        }
        span.start += 1;
        match op {
            Op::Execute(at) => {
                if let Err(error) = run.execute(*at, local) {
                    *failed = Some(error);
                }
            }
            Op::Wave(at) => match run.host.hold(local) {
                Ok(held) => {
                    let wave = Arc::new(Wave::new(Arc::clone(run), *at, held));
                    if run.may_have_helpers() {
                        Pool::current().offer(&wave);
                    }
                    return Some(wave);
                }
                Err(error) => *failed = Some(RunError::Interrupted(error.into_cause())),
            },
        }
    }
    None
}

impl Run {
    /// Runs one step, turn by turn, and keeps what it says.
    fn execute(&self, at: usize, local: Option<&Local>) -> Result<(), RunError> {
        let step = &self.program.steps[at];
        let input = self.feed(&step.from);
        let mut results = Vec::new();
        let mut turn = 0;
        loop {
            let ctx =
                Ctx { device: step.device.as_ref(), turn, results: &results, local, kept: Some(&step.kept) };
            // A panic on a pool thread would leave the wave waiting for ever; everywhere else it is the same error.
            let answer = catch_unwind(AssertUnwindSafe(|| step.node.forward(&input, &ctx)))
                .unwrap_or_else(|panic| Err(NodeError::new(panic_text(&*panic))));
            match answer {
                Ok(Transition::Done(value)) => {
                    self.check_placement(step, &value)?;
                    let mut slot = self.slots[at].lock().unwrap_or_else(PoisonError::into_inner);
                    slot.value = Some(value);
                    return Ok(());
                }
                Ok(Transition::Await(requests)) => {
                    turn += 1;
                    if turn >= MAX_TURNS {
                        return Err(RunError::TurnBudget { node: step.id.to_string() });
                    }
                    results = self.ask(step, &requests, local)?;
                }
                Err(error) if error.is_interrupt() => return Err(RunError::Interrupted(error.into_cause())),
                Err(error) => {
                    return Err(RunError::Node { node: step.id.to_string(), source: error.into_cause() });
                }
            }
            if self.is_cancelled() {
                return Err(RunError::Cancelled);
            }
        }
    }

    fn ask(&self, step: &Step, requests: &[Value], local: Option<&Local>) -> Result<Vec<Value>, RunError> {
        let node = || step.id.to_string();
        let Some(driver) = &self.driver else {
            return Err(RunError::NoDriver { node: node(), n_requests: requests.len() });
        };
        let answer = catch_unwind(AssertUnwindSafe(|| driver.answer(requests, local)))
            .unwrap_or_else(|panic| Err(NodeError::new(panic_text(&*panic))));
        match answer {
            Ok(results) if results.len() == requests.len() => Ok(results),
            Ok(results) => {
                Err(RunError::DriverCount { node: node(), given: results.len(), expected: requests.len() })
            }
            Err(error) if error.is_interrupt() => Err(RunError::Interrupted(error.into_cause())),
            Err(error) => Err(RunError::Driver { node: node(), source: error.into_cause() }),
        }
    }

    fn check_placement(&self, step: &Step, value: &Value) -> Result<(), RunError> {
        let Some(placed) = &step.device else { return Ok(()) };
        match self.host.strayed(placed, value) {
            None => Ok(()),
            Some(said) => {
                Err(RunError::Placement { node: step.id.to_string(), placed: placed.to_string(), said })
            }
        }
    }

    fn feed(&self, feed: &Feed) -> Value {
        match feed {
            Feed::One(slot) => self.read(*slot),
            Feed::Many(slots) => {
                Value::Map(Map::of_nodes(slots.iter().map(|(id, slot)| (Arc::clone(id), self.read(*slot)))))
            }
        }
    }

    /// What a slot holds; its last reader takes it out.
    fn read(&self, slot: usize) -> Value {
        let mut slot = self.slots[slot].lock().unwrap_or_else(PoisonError::into_inner);
        slot.readers_left = slot.readers_left.saturating_sub(1);
        let value = if slot.readers_left == 0 { slot.value.take() } else { slot.value.clone() };
        value.unwrap_or_default()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// An interrupt within a wave ends the run: it is kept for whoever began the run, and the branch is
    /// one that was cancelled. Any other failure is as it was.
    pub(crate) fn heard(&self, failure: RunError) -> RunError {
        if !matches!(failure, RunError::Interrupted(_)) {
            return failure;
        }
        self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        self.cancelled.store(true, Ordering::Release);
        RunError::Cancelled
    }

    /// A place for one more pool thread, if the run may have one.
    pub(crate) fn seat(&self) -> bool {
        let more = |helpers| (helpers < self.max_helpers).then_some(helpers + 1);
        self.helpers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Whether a pool thread could join now.
    pub(crate) fn has_seat(&self) -> bool {
        self.helpers.load(Ordering::Relaxed) < self.max_helpers
    }

    /// Whether waves of this run are offered to the pool at all.
    pub(crate) fn may_have_helpers(&self) -> bool {
        self.max_helpers > 0
    }

    pub(crate) fn unseat(&self) {
        self.helpers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a panic said.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", said.unwrap_or("without a text"))
}
