//! Settings of the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The log.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Log {
    /// What is logged: `error`, `warn`, `info`, `debug` or `trace`, also by module, as in
    /// `info,sealward::http=debug`.
    pub level: String,
    /// How it is written.
    pub format: LogFormat,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum LogFormat {
    /// For people on a terminal, JSON anywhere else.
    #[default]
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Pretty,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            level: "info".to_owned(),
            format: LogFormat::Auto,
        }
    }
}
