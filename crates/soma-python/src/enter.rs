//! The doors into the crates: the interpreter is released, the work runs, its error is mapped.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;

use crate::error::IntoPyError;

/// How often a call that may last looks for Ctrl-C.
const SIGNAL_PERIOD: Duration = Duration::from_millis(50);

/// Runs `work` on this thread with the interpreter released. For work that is short by its nature (one
/// write, one ledger line): Ctrl-C is heard when it ends.
pub fn brief<T, E>(py: Python<'_>, work: impl FnOnce() -> Result<T, E> + Send) -> PyResult<T>
where
    T: Send,
    E: IntoPyError + Send,
{
    py.detach(work).map_err(|error| error.into_py_error(py))
}

/// Runs `work`, however long it takes, with the interpreter released and Ctrl-C heard within
/// [`SIGNAL_PERIOD`]: signals reach the main thread only, so there the work goes to a thread of its own
/// and this one watches. An interrupted call raises at once; its work ends unheard, in the background.
pub fn long<T, E>(py: Python<'_>, work: impl FnOnce() -> Result<T, E> + Send + 'static) -> PyResult<T>
where
    T: Send + 'static,
    E: IntoPyError + Send + 'static,
{
    if !is_main_thread(py)? {
        return brief(py, work);
    }
    let (say, mut heard) = sync_channel(1);
    let worker = std::thread::Builder::new().name("somatize".to_owned()).spawn(move || {
        // The receiver is gone when the call was interrupted; nobody is left to tell.
        let _ = say.send(work());
    })?;
    loop {
        let answer;
        // Moved in and out: a receiver may change threads, and may not be shared by two.
        (heard, answer) = py.detach(move || {
            let answer = heard.recv_timeout(SIGNAL_PERIOD);
            (heard, answer)
        });
        match answer {
            Ok(done) => return done.map_err(|error| error.into_py_error(py)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            // The worker ended without an answer: it panicked, and the panic goes on here.
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a worker that ends has answered"),
            },
        }
    }
}

/// Whether this is the thread that Python's signal handlers run on.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let main = threading.call_method0(intern!(py, "main_thread"))?;
    Ok(threading.call_method0(intern!(py, "current_thread"))?.is(&main))
}
