//! `sealward migrate`: migrates the database schema with the login of its owner. Run it before a new
//! release starts.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;

use super::{Failure, startup};
use engine::db;
use engine::keys;
use engine::settings::{Database, Environment};
use formats::clock::Clock;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Migrate even if active keys have expired. These keys do not protect, encrypt or sign.
    #[arg(long)]
    accept_expired_keys: bool,
}

pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let settings = startup::prepare(config, environment)?;
    let owner = settings.migrate.database(&settings.database);
    let servers = startup::servers(&owner, environment)?;
    if !arguments.accept_expired_keys {
        refuse_expired_keys(&servers, &owner).await?;
    }
    let applied = db::migrate(&servers, &owner).await?;
    tracing::info!(?applied, "the schema is up to date");
    Ok(())
}

/// Stops if active keys have expired: earlier releases let them protect, encrypt and sign.
async fn refuse_expired_keys(servers: &db::Servers, owner: &Database) -> Result<(), Failure> {
    let mut connection = db::connection(servers, owner).await?;
    let pinned = db::pin_search_path(&mut connection).await;
    pinned.map_err(db::Error::from)?;
    let now = Clock::system().now();
    let expired = keys::store::expired(&mut connection, now).await;
    let expired = expired.map_err(db::Error::from)?;
    if expired.is_empty() {
        return Ok(());
    }
    let mut message =
        "these active keys have expired, and do not protect, encrypt or sign:\n".to_owned();
    for (id, name, service, at) in expired {
        // Writing to memory does not fail.
        let _ = writeln!(
            message,
            "  {id} {name:?} of the service {service:?}, expired at {at}"
        );
    }
    message.push_str(
        "replace them, change their expiresAt, or run `sealward migrate --accept-expired-keys`",
    );
    Err(Failure::Other(message))
}
