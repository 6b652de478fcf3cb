//! The steps that commands share: settings, log, secrets, database, tokens.

use std::path::Path;
use std::sync::Arc;

use secrecy::SecretString;

use super::failure::Failure;
use engine::auth::oidc::Provider;
use engine::db::{Pool, Primary, SchemaAge, Servers};
use engine::keys::RefusedPins;
use engine::ledger::forward::Collector;
use engine::ratelimit::{Limiter, SharedBuckets};
use engine::settings::{Environment, HsmToken, SecretSource, Settings, Stage, Telemetry};
use engine::telemetry::Traces;
use engine::{audit, db, hardening, settings, telemetry};
use formats::clock::Clock;

/// Reads the settings and starts the log, and traces if they are configured. No secret is read before
/// the process is hardened.
pub(super) fn prepare_to_serve(
    config: Option<&Path>,
    environment: &Environment,
) -> Result<(Settings, Option<Traces>), Failure> {
    let settings = Settings::load(config, environment)?;
    let traces = telemetry::start(&settings.log, &settings.telemetry)?;
    if let ignored @ [_, ..] = environment.ignored() {
        tracing::info!(?ignored, "variables of Kubernetes Services are ignored");
    }
    hardening::report();
    Ok((settings, traces))
}

/// As above, without traces, for a command that answers no requests.
pub(super) fn prepare(
    config: Option<&Path>,
    environment: &Environment,
) -> Result<Settings, Failure> {
    begin(Settings::load(config, environment)?)
}

/// As above, for a command that prints its result: it logs only warnings and errors.
pub(super) fn prepare_quietly(
    config: Option<&Path>,
    environment: &Environment,
) -> Result<Settings, Failure> {
    let mut settings = Settings::load(config, environment)?;
    "warn".clone_into(&mut settings.log.level);
    begin(settings)
}

fn begin(settings: Settings) -> Result<Settings, Failure> {
    telemetry::start(&settings.log, &Telemetry::default())?;
    hardening::report();
    Ok(settings)
}

/// Connects to the database and checks that its schema is not older than this version.
pub(super) async fn database(
    settings: &Settings,
    environment: &Environment,
) -> Result<Primary, Failure> {
    let database = connect(settings, environment).await?;
    if db::check_schema(database.pool()).await? == SchemaAge::Newer {
        tracing::warn!("the schema belongs to a later version of Sealward");
    }
    Ok(database)
}

/// Refuses a login that could change or delete audit records; development accepts it.
pub(super) async fn check_login(settings: &Settings, database: &Primary) -> Result<(), Failure> {
    let login = audit::login(database.pool()).await.map_err(Failure::Check)?;
    if !login.settings.is_empty() {
        let settings = login.settings.join("; ");
        tracing::warn!(
            settings,
            login = login.name,
            "the login of the service has settings of its own"
        );
    }
    match settings.environment {
        Stage::Development => Ok(()),
        Stage::Production | Stage::Staging if login.excess.is_empty() => Ok(()),
        Stage::Production | Stage::Staging => Err(Failure::Login(login)),
    }
}

/// Connects to the database with the role of the application, without a check of the schema.
pub(super) async fn connect(
    settings: &Settings,
    environment: &Environment,
) -> Result<Primary, Failure> {
    let servers = servers(&settings.database, environment)?;
    let servers = servers.each(db::as_application);
    Ok(db::connect(servers, &settings.database).await?)
}

pub(super) fn servers(
    database: &settings::Database,
    environment: &Environment,
) -> Result<Servers, Failure> {
    let setting = format!("{}.password", database.section);
    let password = database
        .password
        .as_ref()
        .map(|source| reveal(&setting, source, environment))
        .transpose()?;
    Ok(db::servers(database, password.as_ref())?)
}

/// The limiter of the settings, which is not connected yet.
pub(super) fn limiter(
    settings: &Settings,
    environment: &Environment,
    clock: Clock,
) -> Result<Limiter, Failure> {
    let wanted = &settings.ratelimit;
    let password = wanted
        .password
        .as_ref()
        .map(|source| reveal("ratelimit.password", source, environment))
        .transpose()?;
    Ok(match SharedBuckets::of(wanted, password.as_ref())? {
        Some(shared) => Limiter::shared(clock, shared),
        None => Limiter::new(clock),
    })
}

/// The collector of the settings, which is not connected yet.
pub(super) fn collector(
    settings: &Settings,
    environment: &Environment,
) -> Result<Option<Collector>, Failure> {
    Ok(Collector::new(&settings.audit.forward, environment)?)
}

/// The provider at which people sign in. Nothing is requested yet.
pub(super) fn provider(
    settings: &Settings,
    environment: &Environment,
    clock: Clock,
) -> Result<Option<Provider>, Failure> {
    let wanted = &settings.admin.oidc;
    let secret = wanted
        .client_secret
        .as_ref()
        .map(|source| reveal("admin.oidc.client_secret", source, environment))
        .transpose()?;
    Ok(Provider::new(clock, wanted, secret)?)
}

/// The configuration of the tokens: the settings, the PINs, and the refused PINs in the database.
pub(super) fn tokens(
    settings: &Settings,
    environment: &Environment,
    database: Option<&Pool>,
) -> Result<hsm::Config, Failure> {
    let memory = database.map(|pool| RefusedPins::new(pool.clone()));
    let wanted = &settings.hsm;
    let tokens = wanted
        .tokens
        .iter()
        .enumerate()
        .map(|(place, token)| {
            let pin = reveal(&format!("hsm.tokens[{place}].pin"), &token.pin, environment)?;
            Ok(hsm::TokenConfig {
                module: token.module.clone(),
                module_parameters: token.module_parameters.clone(),
                select: selection(token),
                pin,
                retry_pin: token.retry_pin,
            })
        })
        .collect::<Result<_, Failure>>()?;
    Ok(hsm::Config {
        tokens,
        workers: wanted.workers,
        queue: wanted.queue,
        deadline: wanted.deadline.0,
        generate_deadline: wanted.generate_deadline.0,
        canary_interval: wanted.canary_interval.0,
        hang_budget: wanted.hang_budget,
        allow_raw_rsa: wanted.allow_raw_rsa,
        trace: None,
        observer: None,
        pin_memory: memory.map(|memory| Arc::new(memory) as _),
    })
}

/// Opens the tokens and gets the row key from them, so that rows can be read and written.
pub(super) async fn verifying_token(
    settings: &Settings,
    environment: &Environment,
    database: &Primary,
) -> Result<hsm::Token, Failure> {
    let tokens = tokens(settings, environment, Some(database.pool()))?;
    let token = hsm::Token::open(tokens).await?;
    if let Err(error) = database.pool().seals().open(&token).await {
        token.close().await;
        return Err(error.into());
    }
    Ok(token)
}

fn selection(token: &HsmToken) -> hsm::TokenSelect {
    match (&token.label, &token.serial) {
        (_, Some(serial)) => hsm::TokenSelect::Serial(serial.clone()),
        (label, None) => hsm::TokenSelect::Label(label.clone().unwrap_or_default()),
    }
}

fn reveal(
    setting: &str,
    source: &SecretSource,
    environment: &Environment,
) -> Result<SecretString, Failure> {
    source
        .reveal(environment)
        .map_err(|source| Failure::Secret { setting: setting.to_owned(), source })
}
