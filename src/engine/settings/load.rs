//! Reads settings from a file and from the environment.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Settings;
use super::names::{self, Leaf};
use formats::similar::nearest;

const PREFIX: &str = "SEALWARD_";

/// Variables with the prefix that are no settings: the path of the file, and variables of `./dev` and of clients.
const NOT_SETTINGS: [&str; 12] = [
    "CONFIG",
    "DEV_DIR",
    "PORT",
    "URL",
    "ADMIN_KEY",
    "API_KEY",
    "API_KEY_FILE",
    "TOKEN_FILE",
    "CA_FILE",
    "OPENAPI",
    "POLICY",
    "WORLD",
];
const TEST_PREFIX: &str = "TEST_";

/// The variables of OpenTelemetry that name the collector of traces.
const OTLP_ENDPOINTS: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// Why the settings are refused.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the settings in {path}: {source}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not valid TOML.
    #[error("{path} must be TOML: {source}", path = .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// A value has the wrong type.
    #[error("a setting has an invalid value: {0}")]
    Value(Box<toml::de::Error>),
    /// Unknown names, or settings that contradict each other.
    #[error("{}", .0.join("\n"))]
    Refused(Vec<String>),
}

/// The environment variables that the service reads.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    settings: Vec<(String, String)>,
    ignored: Vec<String>,
    config: Option<PathBuf>,
    credentials: Option<PathBuf>,
    otlp: bool,
}

impl Environment {
    /// The variables of this process.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn of_process() -> Self {
        Self::from_variables(std::env::vars_os())
    }

    /// Selects the variables that the service reads.
    pub fn from_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut environment = Self::default();
        for (name, value) in variables {
            let Some(name) = name.to_str() else { continue };
            match name.strip_prefix(PREFIX) {
                Some("CONFIG") => environment.config = Some(PathBuf::from(value)),
                Some(rest) if NOT_SETTINGS.contains(&rest) || rest.starts_with(TEST_PREFIX) => {}
                Some(rest) => {
                    let value = value.to_string_lossy().into_owned();
                    if is_service_link(rest, &value) {
                        environment.ignored.push(name.to_owned());
                    } else {
                        environment.settings.push((rest.to_owned(), value));
                    }
                }
                None if name == "CREDENTIALS_DIRECTORY" => {
                    environment.credentials = Some(PathBuf::from(value));
                }
                None if OTLP_ENDPOINTS.contains(&name) => environment.otlp |= !value.is_empty(),
                None => {}
            }
        }
        environment
    }

    /// The variables that Kubernetes sets for its Services, which are no settings.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// The directory of the systemd credentials.
    pub(super) fn credentials(&self) -> Option<&Path> {
        self.credentials.as_deref()
    }
}

impl Settings {
    /// Reads `file`, or the file that `SEALWARD_CONFIG` names. Variables take precedence.
    pub fn load(file: Option<&Path>, environment: &Environment) -> Result<Self, SettingsError> {
        let mut table = match file.or(environment.config.as_deref()) {
            Some(path) => read(path)?,
            None => toml::Table::new(),
        };
        let schema = names::schema();
        let leaves = names::leaves(&schema);
        let mut refused = names::unknown(&table, &schema);
        for (name, value) in &environment.settings {
            if let Some(leaf) = secret_in_file(name, &leaves) {
                if environment.settings.iter().any(|(other, _)| *other == leaf.variable()) {
                    let other = leaf.variable();
                    refused
                        .push(format!("{PREFIX}{name} and {PREFIX}{other} must not both be set"));
                }
                let source = toml::Table::from_iter([("file".to_owned(), value.clone().into())]);
                set(&mut table, &leaf.path, source.into());
                continue;
            }
            match leaves.iter().find(|leaf| leaf.variable() == *name) {
                Some(leaf) => match parsed(leaf, value) {
                    Some(value) => set(&mut table, &leaf.path, value),
                    None => refused.push(format!("{PREFIX}{name} must be a TOML value")),
                },
                None => refused.push(unknown_variable(name, &leaves)),
            }
        }
        if !refused.is_empty() {
            return Err(SettingsError::Refused(refused));
        }
        let mut settings: Self =
            table.try_into().map_err(|error| SettingsError::Value(Box::new(error)))?;
        settings.telemetry.otlp.endpoint_in_environment = environment.otlp;
        match settings.contradictions() {
            none if none.is_empty() => Ok(settings),
            found => Err(SettingsError::Refused(found)),
        }
    }
}

fn read(path: &Path) -> Result<toml::Table, SettingsError> {
    let text = fs::read_to_string(path)
        .map_err(|source| SettingsError::Unreadable { path: path.to_owned(), source })?;
    text.parse()
        .map_err(|source| SettingsError::Syntax { path: path.to_owned(), source: Box::new(source) })
}

/// The setting whose secret is in the file that the variable `name` names: that of its setting with the
/// suffix `_FILE`.
fn secret_in_file<'a>(name: &str, leaves: &'a [Leaf]) -> Option<&'a Leaf> {
    let name = name.strip_suffix("_FILE")?;
    leaves.iter().find(|leaf| leaf.secret && leaf.variable() == name)
}

/// The value of a variable: strings as they are, other types in TOML syntax.
fn parsed(leaf: &Leaf, value: &str) -> Option<toml::Value> {
    if leaf.text {
        return Some(toml::Value::String(value.to_owned()));
    }
    let mut table: toml::Table = format!("value = {value}").parse().ok()?;
    table.remove("value").filter(|_| table.is_empty())
}

fn set(table: &mut toml::Table, path: &[String], value: toml::Value) {
    match path {
        [] => {}
        [name] => {
            table.insert(name.clone(), value);
        }
        [section, rest @ ..] => {
            let inner = table
                .entry(section.clone())
                .or_insert_with(|| toml::Value::Table(toml::Table::new()));
            if let toml::Value::Table(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}

/// Whether Kubernetes sets this variable for a Service whose name starts with `sealward`: for
/// example `SEALWARD_SERVICE_HOST`, `SEALWARD_PORT` or `SEALWARD_PORT_8080_TCP_ADDR`.
fn is_service_link(name: &str, value: &str) -> bool {
    // The name of a Service such as `sealward-metrics` comes first.
    let of_service = |marker: &str| {
        let inner = || Some(name.split_once(&format!("_{marker}"))?.1);
        name.strip_prefix(marker).or_else(inner)
    };
    let is_number = |text: &str| text.parse::<u16>().is_ok();
    let is_url = ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    if let Some(rest) = of_service("SERVICE_HOST") {
        return rest.is_empty();
    }
    if let Some(rest) = of_service("SERVICE_PORT") {
        return (rest.is_empty() || rest.starts_with('_')) && is_number(value);
    }
    let parts: Vec<&str> = match of_service("PORT") {
        Some(rest) => rest.split('_').skip(1).collect(),
        None => return false,
    };
    match *parts.as_slice() {
        [] => is_url,
        [port, "TCP" | "UDP" | "SCTP"] => is_number(port) && is_url,
        [port, "TCP" | "UDP" | "SCTP", "ADDR" | "PORT" | "PROTO"] => is_number(port),
        _ => false,
    }
}

fn unknown_variable(name: &str, leaves: &[Leaf]) -> String {
    let known: Vec<String> = leaves.iter().map(Leaf::variable).collect();
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("unknown setting {PREFIX}{name}: did you mean {PREFIX}{near}?"),
        None => format!("unknown setting {PREFIX}{name}"),
    }
}
