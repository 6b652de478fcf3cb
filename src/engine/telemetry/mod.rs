//! The log, and traces of requests if they are configured.

mod log;
mod traces;

use tracing_subscriber::Registry;
use tracing_subscriber::filter::{FilterExt as _, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

pub use self::log::BadFilter;
pub(crate) use self::traces::join_trace;
pub use self::traces::{BadExporter, Traces};
use crate::settings::{Log, Telemetry};
use formats::clock::Entropy;

/// A step of a request: a span if traces are enabled.
///
/// Its fields are the attributes of the span and leave this process: they contain names and numbers of
/// the service, never input of a client and never keys. They have the names of the semantic conventions
/// where these exist.
#[macro_export]
macro_rules! step {
    ($name:literal $(, $($fields:tt)+)?) => {
        ::tracing::trace_span!(target: "sealward::step", $name $(, $($fields)+)?)
    };
}
pub use crate::step;

/// The targets of steps: requests, and operations on tokens.
const STEPS: [&str; 2] = ["sealward::step", "hsm::step"];

/// Why telemetry cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The setting `log.level` is not a filter.
    #[error(transparent)]
    Log(#[from] BadFilter),
    /// Traces cannot be exported.
    #[error(transparent)]
    Traces(#[from] BadExporter),
}

/// Starts the log on standard error, and traces if they are configured.
pub fn start(log: &Log, telemetry: &Telemetry) -> Result<Option<Traces>, TelemetryError> {
    let filter = log::filter(log)?;
    if !telemetry.otlp.is_enabled() {
        // An existing subscriber stays, as in tests.
        let _ = tracing::subscriber::set_global_default(
            Registry::default().with(filter).with(log::lines(log)),
        );
        return Ok(None);
    }
    let traces = traces::open(Entropy::system(), &telemetry.otlp)?;
    let are_steps =
        Targets::new().with_targets(STEPS.map(|target| (target, tracing::Level::TRACE)));
    let subscriber = Registry::default()
        .with(log::lines(log).with_filter(filter.and(are_steps.clone().not())))
        .with(traces.layer().with_filter(are_steps));
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(Some(traces))
}
