//! Connections to Postgres, the schema, and the health check.

mod error;
mod pool;
mod primary;
mod probe;
mod schema;

use std::net::IpAddr;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{AssertSqlSafe, PgConnection, PgExecutor};

pub use self::error::{Error, is_transient};
pub use self::pool::Pool;
pub use self::primary::{Primary, Servers, connect};
pub use self::probe::Probe;
pub use self::schema::{SchemaAge, apply, check_schema, migrate};
use crate::settings::{Database, certificates};
use formats::clock::Timestamp;

/// The error for a row that this version cannot decode.
pub(crate) fn undecodable(
    what: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> sqlx::Error {
    sqlx::Error::Decode(what.into())
}

/// Whether a statement waited for a lock as long as it may.
fn is_locked_out(error: &sqlx::Error) -> bool {
    const LOCK_NOT_AVAILABLE: &str = "55P03";
    let code = error.as_database_error().and_then(|error| error.code());
    code.as_deref() == Some(LOCK_NOT_AVAILABLE)
}

/// Whether another session of the database canceled the statement, or ended this session.
pub(crate) fn is_ended(error: &sqlx::Error) -> bool {
    const QUERY_CANCELED: &str = "57014";
    const ADMIN_SHUTDOWN: &str = "57P01";
    let code = error.as_database_error().and_then(|error| error.code());
    match code.as_deref() {
        Some(code) => [QUERY_CANCELED, ADMIN_SHUTDOWN].contains(&code),
        None => matches!(error, sqlx::Error::Io(_)),
    }
}

/// A statement whose parts are all in the code.
pub(crate) fn sql<const N: usize>(parts: [&'static str; N]) -> AssertSqlSafe<String> {
    AssertSqlSafe(parts.concat())
}

pub fn servers(settings: &Database, password: Option<&SecretString>) -> Result<Servers, Error> {
    let section = settings.section;
    let reached = |url: String| -> Result<PgConnectOptions, Error> {
        let options = url.parse();
        let options: PgConnectOptions =
            options.map_err(|source| Error::Address { section, source })?;
        let options = options.application_name("sealward");
        let options = verified(settings, options)?;
        Ok(match password {
            Some(password) => options.password(password.expose_secret()),
            None => options,
        })
    };
    let (before, hosts, after) = parts(&settings.url);
    let mut each = hosts.split(',').map(|host| reached(format!("{before}{host}{after}")));
    let first = each.next().unwrap_or_else(|| reached(settings.url.clone()))?;
    let others = each.collect::<Result<_, _>>()?;
    Ok(Servers::new(section, first, others))
}

/// The parts of a URL before, in and after the list of hosts.
fn parts(url: &str) -> (&str, &str, &str) {
    let authority = url.find("://").map_or(0, |scheme| scheme + 3);
    let end = url.get(authority..).and_then(|rest| rest.find(['/', '?']));
    let end = end.map_or(url.len(), |end| authority + end);
    let named = url.get(authority..end).unwrap_or_default();
    let hosts = authority + named.rfind('@').map_or(0, |at| at + 1);
    let part = |range: std::ops::Range<usize>| url.get(range).unwrap_or_default();
    (part(0..hosts), part(hosts..end), part(end..url.len()))
}

/// Requires verified TLS for connections to other machines.
fn verified(settings: &Database, options: PgConnectOptions) -> Result<PgConnectOptions, Error> {
    let Some(host) = host(&options) else {
        return Ok(options);
    };
    let is_here = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    let is_free = is_here || settings.allow_plain;
    if settings.ca.is_none() && is_free {
        return Ok(options);
    }
    // "prefer" is the default of a URL without sslmode.
    if !matches!(options.get_ssl_mode(), PgSslMode::Prefer | PgSslMode::VerifyFull) {
        return Err(Error::Unverified { section: settings.section, place: place(&options) });
    }
    let options = options.ssl_mode(PgSslMode::VerifyFull);
    let Some(path) = &settings.ca else {
        return Ok(options);
    };
    match certificates(path) {
        // By path, so that a changed file applies to the next connection.
        Ok(_) => Ok(options.ssl_root_cert(path)),
        Err(source) => Err(Error::Ca { path: path.clone(), source }),
    }
}

/// The host of a connection; none for a local socket.
fn host(options: &PgConnectOptions) -> Option<&str> {
    let host = options.get_host();
    (options.get_socket().is_none() && !host.starts_with('/')).then_some(host)
}

/// The longest time that Postgres spends on a statement of the service. A request that ends early, or a
/// lost client, does not stop a statement.
const STATEMENT_TIMEOUT: &str = "60s";

/// Settings for which the defaults of the server and of the login do not count. A login can change its own defaults,
/// and these could prevent its sessions after its password was changed.
const SETTINGS: [(&str, &str); 10] = [
    ("synchronous_commit", "on"),
    ("default_transaction_isolation", "read committed"),
    ("gin_fuzzy_search_limit", "0"),
    ("lock_timeout", "0"),
    ("idle_in_transaction_session_timeout", "0"),
    ("idle_session_timeout", "0"),
    ("transform_null_equals", "off"),
    ("exit_on_error", "off"),
    ("quote_all_identifiers", "off"),
    ("local_preload_libraries", ""),
];

/// The settings for programs of Postgres, as `PGOPTIONS` has them.
pub(crate) fn program_options() -> String {
    let each = SETTINGS.map(|(name, value)| format!("-c {name}={}", value.replace(' ', "\\ ")));
    each.join(" ")
}

/// Uses these settings in a schema: Postgres finds objects in its own catalog first, and then only in this schema.
/// `timeout` limits the time of each statement.
pub(crate) fn in_schema(
    options: PgConnectOptions,
    schema: &str,
    timeout: &str,
) -> PgConnectOptions {
    let path = format!("\"{}\", pg_temp", schema.replace('"', "\"\""));
    let more = [("search_path", path.as_str()), ("statement_timeout", timeout)];
    options.options(SETTINGS).options(more)
}

/// Switches to the application role, which can add audit records and read them, but not change or
/// delete them. Limits the time of each statement. Commits are durable, a statement after a lock sees what
/// the lock waited for, a search in an index finds every record, and no session ends early, whatever the defaults of
/// the server and of the login are.
pub fn as_application(options: PgConnectOptions) -> PgConnectOptions {
    let has_path = options.get_options().is_some_and(|it| it.contains("search_path"));
    // Only the URL names another schema.
    let path = (!has_path).then_some(("search_path", "\"$user\", public"));
    let role = [("role", "sealward_application"), ("statement_timeout", STATEMENT_TIMEOUT)];
    options.options(path).options(role).options(SETTINGS)
}

fn unreachable(section: &'static str, options: &PgConnectOptions, source: sqlx::Error) -> Error {
    let place = place(options);
    let code = source.as_database_error().and_then(|error| error.code());
    let is_role = |code: &str| matches!(code, "22023" | "42501");
    if code.as_deref().is_some_and(is_role) && source.to_string().contains("sealward_application") {
        let login = options.get_username().to_owned();
        return Error::NoRole { login, place };
    }
    if is_distrust(&source) {
        return Error::Untrusted { section, place, source };
    }
    Error::Unreachable { section, place, advice: error::advice(section, &source), source }
}

/// A connection to the primary that is not part of a pool.
pub async fn connection(servers: &Servers, settings: &Database) -> Result<PgConnection, Error> {
    let (connection, _) = servers.primary(settings.connect_timeout.0).await?;
    Ok(connection)
}

/// Whether the server accepts writes: a standby does not.
pub(crate) async fn takes_writes(connection: &mut PgConnection) -> sqlx::Result<bool> {
    let sql = "SELECT NOT current_setting('transaction_read_only')::bool";
    sqlx::query_scalar(sql).fetch_one(connection).await
}

/// The earlier of the local time and the time of Postgres. Irreversible actions use it, so that a
/// fast clock of one machine has no effect.
pub(crate) async fn earlier_present(
    database: impl PgExecutor<'_>,
    now: Timestamp,
) -> sqlx::Result<Timestamp> {
    sqlx::query_scalar("SELECT least($1, now())").bind(now).fetch_one(database).await
}

/// The later of the local time and the time of Postgres. Delays start here, so that a slow clock
/// does not shorten them.
pub(crate) async fn later_present(
    database: impl PgExecutor<'_>,
    now: Timestamp,
) -> sqlx::Result<Timestamp> {
    sqlx::query_scalar("SELECT greatest($1, now())").bind(now).fetch_one(database).await
}

/// Whether the database responds within `patience`.
pub async fn answers(pool: &Pool, patience: Duration) -> bool {
    matches!(tokio::time::timeout(patience, sqlx::query("SELECT 1").execute(pool)).await, Ok(Ok(_)))
}

fn is_distrust(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Tls(_) => true,
        sqlx::Error::Io(error) => error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()),
        _ => false,
    }
}

fn place(options: &PgConnectOptions) -> String {
    let host = match options.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => options.get_host().to_owned(),
    };
    format!("{host}:{}/{}", options.get_port(), options.get_database().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(url: &str, allow_plain: bool) -> Result<PgSslMode, Error> {
        let settings = Database { url: url.to_owned(), allow_plain, ..Database::default() };
        let (before, hosts, after) = parts(url);
        assert_eq!(format!("{before}{hosts}{after}"), url);
        let options = url.parse().unwrap();
        verified(&settings, options).map(|options| options.get_ssl_mode())
    }

    #[test]
    fn a_url_may_name_several_hosts() {
        let url = "postgres://u@one:1,[::1]:2,three/d?sslmode=verify-full";
        let expected = ("postgres://u@", "one:1,[::1]:2,three", "/d?sslmode=verify-full");
        assert_eq!(parts(url), expected);
        assert_eq!(parts("postgres:///d?host=/run"), ("postgres://", "", "/d?host=/run"));
        let settings =
            |url: &str| Database { url: url.to_owned(), allow_plain: true, ..Database::default() };
        let named = format!("{:?}", servers(&settings(url), None).unwrap());
        for host in ["\"one\"", "\"[::1]\"", "\"three\""] {
            assert!(named.contains(host), "{named}");
        }
        assert!(servers(&settings("postgres://u@one:a,two/d"), None).is_err());
    }

    #[test]
    fn remote_connections_are_verified_by_default() {
        for far in [
            "postgres://u@db.example/d",
            "postgres://u@10.0.0.1/d",
            "postgres://u@db.example/d?sslmode=verify-full",
        ] {
            assert!(matches!(asked(far, false), Ok(PgSslMode::VerifyFull)), "{far}");
        }
        for less in ["disable", "allow", "require", "verify-ca"] {
            let url = format!("postgres://u@db.example/d?sslmode={less}");
            let refused = asked(&url, false);
            assert!(matches!(refused, Err(Error::Unverified { .. })), "{less}");
            assert!(asked(&url, true).is_ok(), "{less}");
        }
        let plain = asked("postgres://u@db.example/d", true);
        assert!(matches!(plain, Ok(PgSslMode::Prefer)));
    }

    #[test]
    fn local_connections_need_no_tls() {
        for near in [
            "postgres://u@localhost/d",
            "postgres://u@127.0.0.1:5433/d",
            "postgres://u@localhost/d?host=/run/postgresql",
            "postgres://u@db.example/d?host=/run/postgresql",
        ] {
            assert!(matches!(asked(near, false), Ok(PgSslMode::Prefer)), "{near}");
        }
    }
}
