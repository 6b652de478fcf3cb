//! The record of all calls, to examine a token that is elsewhere.

use std::fmt;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use cryptoki::context::Function;
use cryptoki::error::Rv;
use cryptoki_sys::CK_RV;

/// Writes a line for each call into a module: its time, thread, arguments by their shape, return code and
/// duration. Values, PINs, labels and identifiers are shown as their length only.
pub struct Trace {
    started: Instant,
    output: Mutex<Box<dyn Write + Send>>,
}

impl Trace {
    /// A record in this output.
    pub fn new(output: impl Write + Send + 'static) -> Self {
        Self { started: Instant::now(), output: Mutex::new(Box::new(output)) }
    }

    pub(super) fn record(
        &self,
        began: Instant,
        name: Function,
        code: CK_RV,
        result: Rv,
        shape: &str,
    ) {
        let took = began.elapsed();
        let result = match result {
            Rv::Ok => "OK".to_owned(),
            Rv::Error(error) => format!("{error:?} ({code:#x})"),
        };
        let line = format!(
            "{:>10.3} {:<14} C_{name:?} {shape} = {result} {:.3}ms\n",
            (began - self.started).as_secs_f64(),
            thread::current().name().unwrap_or("-"),
            took.as_secs_f64() * 1e3,
        );
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = output.write_all(line.as_bytes()) {
            tracing::warn!(%error, "a call could not be recorded");
        }
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trace")
    }
}
