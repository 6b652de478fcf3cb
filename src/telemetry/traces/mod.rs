//! Traces by OTLP: each step of a request as a span, continued from the client's own trace.
//!
//! Steps are spans of `tracing`. A layer gives them their place in a trace and hands those that
//! have ended to a thread, which sends them on in batches; what it cannot send is dropped, and no
//! request ever waits for it.

mod context;
mod export;
mod layer;
mod span;

pub use self::export::{BadCa, Traces};
pub(super) use self::layer::Steps;

use crate::clock::{Clock, Entropy};
use crate::settings::Otlp;

/// The layer that sees steps, and the handle on the thread that sends them to `endpoint`.
pub(super) fn open(
    clock: Clock,
    entropy: Entropy,
    endpoint: &str,
    settings: &Otlp,
) -> Result<(Steps, Traces), BadCa> {
    let (outbox, traces) = Traces::open(entropy, endpoint, settings.ca.as_deref())?;
    Ok((Steps::new(clock, entropy, settings.ratio, outbox), traces))
}
