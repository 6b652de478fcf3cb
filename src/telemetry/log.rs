//! The log: JSON lines, or lines for people on a terminal.
//!
//! What a client sent is only ever logged as a field's value, where both forms escape it.

use std::io::{self, IsTerminal};

use tracing::Subscriber;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::settings::{Log, LogFormat};

/// The setting `log.level` is not a filter.
#[derive(Debug, thiserror::Error)]
#[error(
    "log.level: {0}; use error, warn, info, debug or trace, or a list such as \"info,sealward::http=debug\""
)]
pub struct BadFilter(#[from] ParseError);

/// Which lines are written.
pub(super) fn filter(settings: &Log) -> Result<EnvFilter, BadFilter> {
    Ok(EnvFilter::builder().parse(&settings.level)?)
}

/// Writes lines to standard error.
pub(super) fn lines<S>(settings: &Log) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let pretty = match settings.format {
        LogFormat::Auto => io::stderr().is_terminal(),
        LogFormat::Json => false,
        LogFormat::Pretty => true,
    };
    // A log that goes nowhere any more must not take requests down with it.
    let lines = fmt::layer()
        .log_internal_errors(false)
        .with_writer(io::stderr);
    if pretty {
        lines.with_target(false).boxed()
    } else {
        lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .boxed()
    }
}
