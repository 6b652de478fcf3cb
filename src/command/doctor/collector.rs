//! Whether the collector of audit records is reachable.

use serde_json::{Value, json};

use crate::command::{Failure, startup};
use engine::settings::{Environment, Settings};

/// The result of the connection. None without forwarding.
pub(super) type Reached = Option<Result<(), String>>;

/// Connects over TLS, and sends nothing.
pub(super) async fn check(
    settings: &Settings,
    environment: &Environment,
) -> Result<Reached, Failure> {
    let Some(collector) = startup::collector(settings, environment)? else {
        return Ok(None);
    };
    let reached = collector.probe().await;
    Ok(Some(reached.map_err(|error| error.to_string())))
}

/// For people.
pub(super) fn text(reached: &Reached) -> String {
    match reached {
        None => String::new(),
        Some(Ok(())) => "Collector of audit records\n  reachable\n".to_owned(),
        Some(Err(reason)) => format!("Collector of audit records\n  {reason}\n"),
    }
}

/// For programs.
pub(super) fn as_json(reached: &Reached) -> Value {
    match reached {
        None => Value::Null,
        Some(Ok(())) => json!({ "reachable": true }),
        Some(Err(reason)) => json!({ "error": reason }),
    }
}
