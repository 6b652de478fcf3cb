//! `sealward doctor`: tests the tokens, compares them with the records, examines the rows, and connects to the
//! collector, the provider and the issuers.

mod approvals;
mod collector;
mod credentials;
mod database;
mod floor;
mod provider;
mod records;
mod report;
mod rows;
mod sealing;
mod text;

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hsm::{HsmError, OpenError, ProbeReport, Probed, Token, Trace, Works};
use serde_json::{Value, json};

use super::{Failure, startup};
use engine::db::Primary;
use engine::settings::{Environment, Stage};

/// Test each token for all functions that Sealward needs.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Print a block for an issue: the tokens without serial numbers, the version and the system. It
    /// contains no secrets, keys or addresses.
    #[arg(long, conflicts_with = "json")]
    report: bool,
    /// Connect to the tokens without trying their operations. A token under load then generates no keys.
    #[arg(long, conflicts_with = "report")]
    skip_trials: bool,
    /// Show what a cryptographic floor with this minimum strength in bits (112, 128 or 192) would stop, instead
    /// of that of the settings.
    #[arg(long, value_name = "BITS", value_parser = floor::minimum)]
    floor: Option<u16>,
    /// Write every call into the PKCS#11 modules to this file, with its return code and the shape of its
    /// arguments. The file contains no secrets, keys, labels or serial numbers.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// The report on one token, or why there is none.
type Report = Result<ProbeReport, NoReport>;

/// Why there is no report on a token.
enum NoReport {
    /// No token was opened.
    NotOpened(OpenError),
    /// The token failed later.
    Failed(HsmError),
}

/// Fails if a configured function cannot work.
pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let database = database::connect(&settings, environment).await?;
    let memory = database::current(&database).await;
    let mut tokens = startup::tokens(&settings, environment, memory)?;
    tokens.trace = arguments.trace.as_deref().map(trace).transpose()?;
    // A report on a token that cannot be opened is the one that is needed most.
    let (token, reports) = match Token::open(tokens).await {
        Ok(token) => {
            let reports = if arguments.skip_trials { vec![] } else { probe(&token).await };
            (Some(token), reports)
        }
        Err(error) => (None, vec![("hsm.tokens".to_owned(), Err(NoReport::NotOpened(error)))]),
    };
    let collector = collector::check(&settings, environment).await?;
    let credentials = credentials::check(&settings).await;
    let login = database::login(&database).await;
    let records = records::compare(&database, token.as_ref()).await;
    let examined = rows::examine(&database, token.as_ref()).await;
    let pool = database.as_ref().ok().map(Primary::pool);
    let provider = provider::check(&settings, environment, pool).await?;
    let people = approvals::check(pool, &settings.approvals).await;
    let sealing = sealing::check(pool, &settings.audit.seal).await;
    let floor = floor::examine(pool, &settings.crypto, arguments.floor).await;
    if let Some(token) = token {
        token.close().await;
    }

    if arguments.json {
        let reports: Vec<Value> =
            reports.iter().map(|(label, report)| as_json(label, report)).collect();
        let (login, records) = (database::as_json(&login), records::as_json(&records));
        let collector = collector::as_json(&collector);
        let provider = provider::as_json(provider.as_ref());
        let people = approvals::as_json(people.as_deref());
        let sealing = sealing::as_json(sealing.as_deref());
        let credentials = credentials::as_json(&credentials);
        let examined = rows::as_json(&examined);
        let floor = floor::as_json(floor.as_ref());
        let whole = json!({
            "tokens": reports, "login": login, "records": records, "collector": collector,
            "openIdConnect": provider, "credentials": credentials, "approvals": people,
            "auditLogs": sealing, "rows": examined, "floor": floor,
        });
        writeln!(io::stdout(), "{whole:#}")?;
    } else if arguments.report {
        io::stdout().write_all(report::block(&settings, &reports).as_bytes())?;
    } else {
        for (label, report) in &reports {
            io::stdout().write_all(text::of(label, report).as_bytes())?;
        }
        io::stdout().write_all(database::text(&login).as_bytes())?;
        io::stdout().write_all(sealing::text(sealing.as_deref()).as_bytes())?;
        io::stdout().write_all(records::text(&records).as_bytes())?;
        io::stdout().write_all(rows::text(&examined).as_bytes())?;
        io::stdout().write_all(collector::text(&collector).as_bytes())?;
        io::stdout().write_all(provider::text(provider.as_ref()).as_bytes())?;
        io::stdout().write_all(credentials::text(&credentials).as_bytes())?;
        io::stdout().write_all(approvals::text(people.as_deref()).as_bytes())?;
        io::stdout().write_all(floor::text(floor.as_ref()).as_bytes())?;
    }
    let mut ill = Vec::new();
    for (label, report) in reports {
        match report {
            Err(NoReport::NotOpened(error)) => return Err(error.into()),
            Ok(report) if report.broken.is_empty() => {}
            Ok(_) | Err(NoReport::Failed(_)) => ill.push(label),
        }
    }
    if !ill.is_empty() {
        let ill = ill.join(", ");
        let message = format!("token {ill} does not support the configuration");
        return Err(Failure::Other(message));
    }
    if settings.environment != Stage::Development
        && let Ok(login) = login
        && !login.excess.is_empty()
    {
        return Err(Failure::Login(login));
    }
    if let Some(Err(reason)) = collector {
        return Err(Failure::Other(format!("audit.forward.url: {reason}")));
    }
    if let Some(Err(reason)) = provider.map(|found| found.reached) {
        return Err(Failure::Other(format!("admin.oidc.issuer: {reason}")));
    }
    if let Some(fault) = credentials::fault(&credentials) {
        return Err(Failure::Other(fault));
    }
    if rows::is_wrong(&examined) {
        return Err(Failure::Other(
            "rows of the database do not count or deviate from their events, or a token derives another row key: see \"Rows that do not count\" in \
             the operations guide"
                .to_owned(),
        ));
    }
    match records {
        Ok((found, _)) if !found.missing.is_empty() => Err(Failure::Other(
            "keys are recorded that no token holds: bring them back from the vendor's backup, or \
             delete their records"
                .to_owned(),
        )),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Tries each token.
async fn probe(token: &Token) -> Vec<(String, Report)> {
    let reports = token.probe().await.into_iter();
    reports.map(|(label, report)| (label, report.map_err(NoReport::Failed))).collect()
}

/// The record of calls in a new file that only its owner can read.
fn trace(file: &Path) -> Result<Arc<Trace>, Failure> {
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(file);
    let opened =
        opened.map_err(|error| Failure::Other(format!("--trace {}: {error}", file.display())))?;
    Ok(Arc::new(Trace::new(opened)))
}

impl NoReport {
    /// With the names of the installation.
    fn details(&self) -> String {
        match self {
            Self::NotOpened(error) => error.to_string(),
            Self::Failed(error) => format!("{error:?}"),
        }
    }

    /// Without them.
    fn without_names(&self) -> String {
        match self {
            Self::NotOpened(error) => error.without_names(),
            Self::Failed(error) => error.to_string(),
        }
    }
}

fn as_json(label: &str, report: &Report) -> Value {
    let report = match report {
        Ok(report) => report,
        Err(error) => return json!({ "label": label, "error": error.details() }),
    };
    let ProbeReport { module, token, operations, imports, weaknesses, speeds, broken } = report;
    let speeds: Vec<Value> = speeds
        .iter()
        .map(|speed| json!({ "operation": speed.operation, "perSecond": speed.per_second }))
        .collect();
    json!({
        "label": label,
        "module": {
            "path": module.path,
            "manufacturer": module.manufacturer,
            "description": module.description,
            "version": module.version,
            "pkcs11Version": module.pkcs11_version,
        },
        "token": {
            "label": token.label,
            "serial": token.serial,
            "manufacturer": token.manufacturer,
            "model": token.model,
            "hardwareVersion": token.hardware_version,
            "firmwareVersion": token.firmware_version,
            "maxSessions": token.max_sessions,
            "loggedIn": token.logged_in,
            "flags": token.flags,
        },
        "operations": rows(operations),
        "imports": rows(imports),
        "weaknesses": weaknesses,
        "speeds": speeds,
        "broken": broken,
    })
}

fn rows(tried: &[Probed]) -> Vec<Value> {
    tried
        .iter()
        .map(|tried| {
            let (works, note) = match &tried.works {
                Works::Yes => ("yes", None),
                Works::ByFallback(how) => ("byFallback", Some(*how)),
                Works::Missing(reason) => ("missing", Some(reason.as_str())),
            };
            json!({ "operation": tried.operation, "algorithm": tried.algorithm, "works": works, "note": note })
        })
        .collect()
}
