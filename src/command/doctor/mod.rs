//! `sealward doctor`: tests the tokens, compares them with the records, examines the rows, and connects to the
//! collector, the provider and the issuers.

mod approvals;
mod collector;
mod credentials;
mod database;
mod provider;
mod records;
mod report;
mod rows;
mod sealing;
mod text;

use std::io::{self, Write as _};
use std::path::Path;

use hsm::{HsmError, ProbeReport, Probed, Works};
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
    let token = hsm::Token::open(startup::tokens(&settings, environment, memory)?).await?;
    let reports = match arguments.skip_trials {
        true => vec![],
        false => token.probe().await,
    };
    let collector = collector::check(&settings, environment).await?;
    let credentials = credentials::check(&settings).await;
    let login = database::login(&database).await;
    let records = records::compare(&database, &token).await;
    let examined = rows::examine(&database, &token).await;
    let pool = database.as_ref().ok().map(Primary::pool);
    let provider = provider::check(&settings, environment, pool).await?;
    let people = approvals::check(pool, &settings.approvals).await;
    let sealing = sealing::check(pool, &settings.audit.seal).await;
    token.close().await;

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
        let whole = json!({
            "tokens": reports, "login": login, "records": records, "collector": collector,
            "openIdConnect": provider, "credentials": credentials, "approvals": people,
            "auditLogs": sealing, "rows": examined,
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
    }
    let ill: Vec<&str> = reports
        .iter()
        .filter(|(_, report)| report.as_ref().map_or(true, |report| !report.broken.is_empty()))
        .map(|(label, _)| label.as_str())
        .collect();
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

fn as_json(label: &str, report: &Result<ProbeReport, HsmError>) -> Value {
    let report = match report {
        Ok(report) => report,
        Err(error) => return json!({ "label": label, "error": format!("{error:?}") }),
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
