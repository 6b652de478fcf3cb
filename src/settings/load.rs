//! Reads settings from a file and from the environment.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Settings;
use super::names::{self, Leaf};
use super::removed::{REMOVED, Removed};
use crate::similar::nearest;

const PREFIX: &str = "SEALWARD_";

/// Variables with the prefix that are no settings: the path of the file, and variables of `./dev`.
const NOT_SETTINGS: [&str; 7] = [
    "CONFIG",
    "DEV_DIR",
    "PORT",
    "URL",
    "ADMIN_KEY",
    "API_KEY",
    "POLICY",
];
const TEST_PREFIX: &str = "TEST_";

/// The variables of OpenTelemetry that name the collector of traces.
const OTLP_ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
];

/// Why the settings are refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
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
    #[must_use]
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
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
    #[must_use]
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
    ///
    /// # Errors
    /// Lists all mistakes at once, each with the way out.
    pub fn load(file: Option<&Path>, environment: &Environment) -> Result<Self, Error> {
        let mut table = match file.or(environment.config.as_deref()) {
            Some(path) => read(path)?,
            None => toml::Table::new(),
        };
        let schema = names::schema();
        let leaves = names::leaves(&schema);
        let mut removed: Vec<(Removed, toml::Value)> = REMOVED
            .into_iter()
            .filter_map(|setting| Some((setting, setting.take(&mut table)?)))
            .collect();
        let mut refused = names::unknown(&table, &schema);
        for (name, value) in &environment.settings {
            match leaves.iter().find(|leaf| leaf.variable() == *name) {
                Some(leaf) => match parsed(leaf, value) {
                    Some(value) => set(&mut table, &leaf.path, value),
                    None => refused.push(format!("{PREFIX}{name} must be a TOML value")),
                },
                None => match removed_variable(name, value, &leaves) {
                    Some((setting, Some(value))) => {
                        removed.retain(|(other, _)| *other != setting);
                        removed.push((setting, value));
                    }
                    Some((_, None)) => refused.push(format!("{PREFIX}{name} must be a TOML value")),
                    None => refused.push(unknown_variable(name, &leaves)),
                },
            }
        }
        if !refused.is_empty() {
            return Err(Error::Refused(refused));
        }
        let given = removed.iter().map(|(setting, _)| *setting).collect();
        for (setting, value) in removed {
            setting.replace(&mut table, value);
        }
        let mut settings: Self = table
            .try_into()
            .map_err(|error| Error::Value(Box::new(error)))?;
        settings.removed = given;
        settings.telemetry.otlp.endpoint_in_environment = environment.otlp;
        match settings.contradictions() {
            none if none.is_empty() => Ok(settings),
            found => Err(Error::Refused(found)),
        }
    }
}

fn read(path: &Path) -> Result<toml::Table, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    text.parse().map_err(|source| Error::Syntax {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

/// The value of a variable: strings as they are, other types in TOML syntax.
fn parsed(leaf: &Leaf, value: &str) -> Option<toml::Value> {
    if leaf.text {
        return Some(toml::Value::String(value.to_owned()));
    }
    let mut table: toml::Table = format!("value = {value}").parse().ok()?;
    table.remove("value").filter(|_| table.is_empty())
}

/// The removed setting of this variable, and its value if that is valid.
fn removed_variable(
    name: &str,
    value: &str,
    leaves: &[Leaf],
) -> Option<(Removed, Option<toml::Value>)> {
    let setting = REMOVED.into_iter().find(|it| it.variable() == name)?;
    let leaf = leaves
        .iter()
        .find(|leaf| leaf.path == setting.replacement())?;
    Some((setting, parsed(leaf, value)))
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
    let is_url = ["tcp://", "udp://", "sctp://"]
        .iter()
        .any(|scheme| value.starts_with(scheme));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::from_variables(
            variables
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        )
    }

    fn with(variables: &[(&str, &str)]) -> Result<Settings, Error> {
        Settings::load(None, &environment(variables))
    }

    fn refusals(variables: &[(&str, &str)]) -> Vec<String> {
        match with(variables) {
            Err(Error::Refused(refused)) => refused,
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn defaults_are_production_on_loopback() {
        let settings = with(&[]).unwrap();
        assert_eq!(settings.environment, super::super::Stage::Production);
        assert!(settings.http.listen.ip().is_loopback());
        assert!(!settings.plaintext_import_allowed());
    }

    #[test]
    fn variables_can_set_every_kind_of_setting() {
        let settings = with(&[
            ("SEALWARD_ENVIRONMENT", "development"),
            ("SEALWARD_HTTP_LISTEN", "127.0.0.1:9000"),
            ("SEALWARD_LIMITS_MAX_BODY_BYTES", "2048"),
            ("SEALWARD_HSM_CANARY_INTERVAL", "1s"),
            (
                "SEALWARD_HSM_TOKENS",
                r#"[{ module = "/m.so", label = "a", pin = { file = "/pin" } }]"#,
            ),
            ("SEALWARD_DATABASE_PASSWORD", r#"{ file = "/password" }"#),
            ("SEALWARD_TEST_POSTGRES", "not a setting"),
        ])
        .unwrap();
        assert_eq!(settings.http.listen.port(), 9000);
        assert_eq!(settings.limits.max_body_bytes, 2048);
        assert_eq!(settings.hsm.canary_interval, super::super::Span::seconds(1));
        assert_eq!(settings.hsm.tokens.len(), 1);
        assert!(settings.plaintext_import_allowed());
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_known_one() {
        assert_eq!(
            refusals(&[("SEALWARD_HTTP_LISTN", "x"), ("SEALWARD_QQQ", "x")]),
            [
                "unknown setting SEALWARD_HTTP_LISTN: did you mean SEALWARD_HTTP_LISTEN?",
                "unknown setting SEALWARD_QQQ"
            ]
        );
        let table = "[hsm]\nworker = 1\n[[hsm.tokens]]\nmodul = 1"
            .parse()
            .unwrap();
        assert_eq!(
            names::unknown(&table, &names::schema()),
            [
                "unknown setting hsm.tokens[0].modul: did you mean hsm.tokens[0].module?",
                "unknown setting hsm.worker: did you mean hsm.workers?"
            ]
        );
    }

    #[test]
    fn variables_of_kubernetes_services_are_ignored_and_near_misses_refused() {
        let links = [
            ("SEALWARD_SERVICE_HOST", "10.0.0.7"),
            ("SEALWARD_SERVICE_PORT", "8443"),
            ("SEALWARD_SERVICE_PORT_HTTPS", "8443"),
            ("SEALWARD_PORT", "tcp://10.0.0.7:8443"),
            ("SEALWARD_PORT_8080_TCP", "tcp://10.0.0.7:8080"),
            ("SEALWARD_PORT_8080_TCP_ADDR", "10.0.0.7"),
            ("SEALWARD_PORT_8080_TCP_PORT", "8080"),
            ("SEALWARD_PORT_8080_TCP_PROTO", "tcp"),
            ("SEALWARD_METRICS_SERVICE_HOST", "10.0.0.8"),
            ("SEALWARD_METRICS_PORT", "tcp://10.0.0.8:9464"),
            ("SEALWARD_METRICS_PORT_9464_TCP_ADDR", "10.0.0.8"),
        ];
        with(&links).unwrap();
        let ignored = environment(&links);
        let named = |name: &&str| *name != "SEALWARD_PORT";
        let expected: Vec<_> = links.iter().map(|(name, _)| *name).filter(named).collect();
        assert_eq!(ignored.ignored(), expected);
        for near_miss in [
            ("SEALWARD_HTTP_PORT", "8080"),
            ("SEALWARD_PORT_HTTP", "8080"),
            ("SEALWARD_SERVICE_NAME", "sealward"),
            ("SEALWARD_HTTP_LISTN", "tcp://10.0.0.7:8080"),
        ] {
            assert_eq!(refusals(&[near_miss]).len(), 1, "{near_miss:?}");
        }
        for leaf in names::leaves(&names::schema()) {
            let name = leaf.variable();
            assert!(!is_service_link(&name, "tcp://10.0.0.7:1"), "{name}");
        }
    }

    #[test]
    fn all_unsafe_settings_are_reported_at_once_in_production() {
        let refused = refusals(&[
            ("SEALWARD_HTTP_LISTEN", "0.0.0.0:8080"),
            ("SEALWARD_DATABASE_URL", "postgres://u:secret@h/d"),
            ("SEALWARD_HSM_ALLOW_RAW_RSA", "true"),
            (
                "SEALWARD_HSM_TOKENS",
                r#"[{ module = "/m.so", pin = { value = "1234" } }]"#,
            ),
        ]);
        assert_eq!(refused.len(), 5, "{refused:#?}");
        assert!(
            refused
                .iter()
                .all(|line| !line.contains("secret") && !line.contains("1234"))
        );
    }

    #[test]
    fn removed_settings_are_accepted_as_their_replacements() {
        let old = [
            ("SEALWARD_DATABASE_OWNER_URL", "postgres://owner@h/d"),
            ("SEALWARD_DATABASE_OWNER_PASSWORD", r#"{ file = "/p" }"#),
            ("SEALWARD_AUDIT_RETENTION_DAYS", "400"),
            ("SEALWARD_AUDIT_DROP_RETIRED", "true"),
        ];
        let settings = with(&old).unwrap();
        assert_eq!(settings.removed.len(), 4);
        for ((variable, _), removed) in old.iter().zip(&settings.removed) {
            let named = removed.to_string();
            let (name, _) = named.split_once(' ').unwrap();
            assert_eq!(
                format!("{PREFIX}{}", name.replace('.', "_").to_uppercase()),
                *variable
            );
        }
        assert_eq!(
            settings.migrate.url.as_deref(),
            Some("postgres://owner@h/d")
        );
        assert!(settings.migrate.password.is_some());
        assert_eq!(
            (settings.retain.days, settings.retain.drop),
            (Some(400), true)
        );
        let both = with(&[old[2], ("SEALWARD_RETAIN_DAYS", "500")]).unwrap();
        assert_eq!((both.retain.days, both.removed.len()), (Some(500), 1));
        assert_eq!(
            refusals(&[("SEALWARD_AUDIT_RETENTION_DAYS", "many days")]),
            ["SEALWARD_AUDIT_RETENTION_DAYS must be a TOML value"]
        );
    }

    #[test]
    fn a_time_limit_that_is_too_short_is_refused() {
        for name in [
            "AUDIT_DEADLINE",
            "DATABASE_CONNECT_TIMEOUT",
            "HSM_CANARY_INTERVAL",
            "HSM_DEADLINE",
            "HSM_GENERATE_DEADLINE",
            "HTTP_HEADER_TIMEOUT",
            "HTTP_IDLE_TIMEOUT",
            "LIMITS_REQUEST_TIMEOUT",
        ] {
            let (section, setting) = name.split_once('_').unwrap();
            let setting = format!("{section}.{setting}").to_lowercase();
            assert_eq!(
                refusals(&[(&*format!("{PREFIX}{name}"), "0s")]),
                [format!("{setting} must be at least 100ms")]
            );
        }
    }

    #[test]
    fn keys_are_not_destroyed_within_a_day_in_production() {
        let delay = |delay| ("SEALWARD_KEYS_DESTRUCTION_DELAY", delay);
        with(&[delay("24h")]).unwrap();
        assert_eq!(
            refusals(&[delay("23h 59m")]),
            ["keys.destruction_delay must be at least 24h in production"]
        );
        with(&[delay("1s"), ("SEALWARD_ENVIRONMENT", "staging")]).unwrap();
    }

    #[test]
    fn shown_settings_hide_secrets() {
        let settings = with(&[
            ("SEALWARD_ENVIRONMENT", "development"),
            (
                "SEALWARD_HSM_TOKENS",
                r#"[{ module = "/m.so", label = "a", pin = { value = "settings-secret" } }]"#,
            ),
        ])
        .unwrap();
        let shown = toml::to_string(&settings).unwrap();
        assert!(
            shown.contains("[redacted]") && !shown.contains("settings-secret"),
            "{shown}"
        );
        assert!(!format!("{settings:?}").contains("settings-secret"));
    }
}
