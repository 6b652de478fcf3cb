//! What the service tells of itself while it runs: a log, and where it is wanted a trace of each
//! request, a span a step.

mod log;
mod traces;

use tracing_subscriber::Registry;
use tracing_subscriber::filter::{FilterExt as _, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

pub use self::log::BadFilter;
pub use self::traces::{BadCa, Traces};
use crate::clock::{Clock, Entropy};
use crate::settings::{Log, Telemetry};

/// A step of a request: a span where traces are on, and nothing where they are off.
///
/// What is written into its fields leaves this process: names and numbers of ours alone, never what
/// a client sent, nor a key.
macro_rules! step {
    ($name:literal $(, $($fields:tt)+)?) => {
        ::tracing::trace_span!(target: "sealward::step", $name $(, $($fields)+)?)
    };
}
pub(crate) use step;

/// Whose spans are steps: this crate's, and those in which a token is waited for and works.
const STEPS: [&str; 2] = ["sealward::step", "hsm::step"];

/// There is nothing to start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The setting `log.level` is not a filter.
    #[error(transparent)]
    Log(#[from] BadFilter),
    /// The setting `telemetry.otlp.ca` names no certificates.
    #[error(transparent)]
    Ca(#[from] BadCa),
}

/// Logs to standard error from here on, and sends traces where the settings want them.
///
/// # Errors
/// When a setting is not what it should be.
pub fn start(log: &Log, telemetry: &Telemetry) -> Result<Option<Traces>, Error> {
    let filter = log::filter(log)?;
    let Some(endpoint) = &telemetry.otlp.endpoint else {
        // Where somebody else already logs, as in a test, that stays.
        let _ = tracing::subscriber::set_global_default(
            Registry::default().with(filter).with(log::lines(log)),
        );
        return Ok(None);
    };
    let (steps, traces) = traces::open(
        Clock::system(),
        Entropy::system(),
        endpoint,
        &telemetry.otlp,
    )?;
    let are_steps =
        Targets::new().with_targets(STEPS.map(|target| (target, tracing::Level::TRACE)));
    let subscriber = Registry::default()
        .with(log::lines(log).with_filter(filter.and(are_steps.clone().not())))
        .with(steps.with_filter(are_steps));
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(Some(traces))
}
