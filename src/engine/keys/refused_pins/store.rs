//! The refused PINs in Postgres.

use sqlx::PgConnection;

use super::{RefusedPin, TokenName};
use crate::db::undecodable;

/// The maximum time to wait for an attempt of another process.
const LOCK_TIMEOUT: &str = "30s";

/// Waits until no other process logs in to the token.
pub(super) async fn lock(connection: &mut PgConnection, token: &TokenName) -> sqlx::Result<()> {
    sqlx::query("SELECT set_config('lock_timeout', $1, true)")
        .bind(LOCK_TIMEOUT)
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "SELECT pg_advisory_xact_lock(hashtextextended(json_build_array('refused_pins', $1::text, $2::text)::text, 0))",
    )
    .bind(&token.label)
    .bind(&token.serial)
    .execute(connection)
    .await?;
    Ok(())
}

/// The PINs that the token has refused since it last accepted one.
pub(super) async fn list(
    connection: &mut PgConnection,
    token: &TokenName,
) -> sqlx::Result<Vec<RefusedPin>> {
    let rows: Vec<i16> =
        sqlx::query_scalar("SELECT digest FROM refused_pins WHERE label = $1 AND serial = $2")
            .bind(&token.label)
            .bind(&token.serial)
            .fetch_all(connection)
            .await?;
    let refusal = |digest| Ok(RefusedPin { digest: u8::try_from(digest).map_err(undecodable)? });
    rows.into_iter().map(refusal).collect()
}

pub(super) async fn insert(
    connection: &mut PgConnection,
    token: &TokenName,
    refusal: &RefusedPin,
) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO refused_pins (label, serial, digest) VALUES ($1, $2, $3)")
        .bind(&token.label)
        .bind(&token.serial)
        .bind(i16::from(refusal.digest))
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn forget(connection: &mut PgConnection, token: &TokenName) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM refused_pins WHERE label = $1 AND serial = $2")
        .bind(&token.label)
        .bind(&token.serial)
        .execute(connection)
        .await?;
    Ok(())
}
