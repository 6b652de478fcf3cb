//! The log: JSON lines, or lines for people on a terminal.
//!
//! What a client sent is only ever logged as a field's value, where both forms escape it.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::MakeWriter;

use crate::settings::{Log, LogFormat};

/// The setting `log.level` is not a filter.
#[derive(Debug, thiserror::Error)]
#[error(
    "log.level: {0}; use error, warn, info, debug or trace, or a list such as \"info,sealward::http=debug\""
)]
pub struct BadFilter(#[from] ParseError);

/// Logs to standard error from here on.
///
/// # Errors
/// When the level in the settings is not one.
pub fn start(settings: &Log) -> Result<(), BadFilter> {
    let filter = EnvFilter::builder().parse(&settings.level)?;
    let pretty = match settings.format {
        LogFormat::Auto => io::stderr().is_terminal(),
        LogFormat::Json => false,
        LogFormat::Pretty => true,
    };
    // Where somebody else already logs, as in a test, that stays.
    let _ = tracing::subscriber::set_global_default(subscriber(filter, pretty, io::stderr));
    Ok(())
}

type Subscriber = Box<dyn tracing::Subscriber + Send + Sync>;

fn subscriber<W>(filter: EnvFilter, pretty: bool, writer: W) -> Subscriber
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // A log that goes nowhere any more must not take requests down with it.
    let lines = tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_writer(writer);
    if pretty {
        Box::new(lines.with_target(false).finish())
    } else {
        Box::new(
            lines
                .json()
                .flatten_event(true)
                .with_current_span(false)
                .finish(),
        )
    }
}
