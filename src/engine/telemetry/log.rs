//! The log: JSON lines, or lines for people on a terminal.
//!
//! Input of clients is logged only as the value of a field, which both formats escape.

use std::io::{self, IsTerminal};

use tracing::Subscriber;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::settings::{Log, LogFormat};

/// The setting `log.level` is not a filter.
#[derive(Debug, thiserror::Error)]
#[error(
    "log.level: {0}; use error, warn, info, debug or trace, or a list such as \"info,sealward_http=debug\""
)]
pub struct BadFilter(#[from] ParseError);

/// The filter of log lines.
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
    // Requests must not fail if the log cannot be written.
    let lines = fmt::layer().log_internal_errors(false).with_writer(io::stderr);
    if pretty {
        lines.with_target(false).boxed()
    } else {
        lines.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed()
    }
}
