//! The keys of checkpoints, and the origins of the logs. A row that does not count is none of them.

use std::cmp::Reverse;

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::signed_number;
use crate::db::undecodable;
use crate::ids::AuditLogId;
use crate::ledger::Log;
use crate::ledger::foreign::Foreign;
use crate::ledger::key::SigningKey;
use crate::ledger::sealed_rows::{LogCosigner, LogKey, LogOrigin};
use crate::resource::{self, Rows, Stored as _, fetch_whole, select};
use crate::revision::Revision;
use crate::seals::{What, newest_entry};

/// The newest first.
const NEWEST_FIRST: &str = "ORDER BY created_at DESC, id DESC";

/// The signing keys, newest first.
pub(in crate::ledger) async fn keys(
    rows: Rows<impl PgExecutor<'_>>,
) -> sqlx::Result<Vec<SigningKey>> {
    let keys: Vec<LogKey> = select(NEWEST_FIRST).fetch_all(rows).await?;
    keys.iter().map(|key| signing_key(key.id.uuid(), &key.public_key)).collect()
}

/// The keys of cosignatures, newest first.
pub(in crate::ledger) async fn cosigners(
    rows: Rows<impl PgExecutor<'_>>,
) -> sqlx::Result<Vec<SigningKey>> {
    let keys: Vec<LogCosigner> = select(NEWEST_FIRST).fetch_all(rows).await?;
    keys.iter().map(|key| signing_key(key.id.uuid(), &key.public_key)).collect()
}

/// The public keys of the newest signing key and of the newest key of cosignatures, in DER.
pub(in crate::ledger) async fn newest_keys(
    mut rows: Rows<&mut PgConnection>,
) -> sqlx::Result<[Option<Vec<u8>>; 2]> {
    let signing: Vec<LogKey> = select(NEWEST_FIRST).fetch_all(rows.again()).await?;
    let cosigning: Vec<LogCosigner> = select(NEWEST_FIRST).fetch_all(rows).await?;
    let signing = signing.into_iter().next().map(|key| key.public_key);
    let cosigning = cosigning.into_iter().next().map(|key| key.public_key);
    Ok([signing, cosigning])
}

/// The signing keys, newest first; none while the row of a key or an origin that was ever made does not count.
/// Without the newest key, an older one would sign.
pub(in crate::ledger) async fn whole_keys(
    mut rows: Rows<&mut PgConnection>,
) -> sqlx::Result<Option<Vec<SigningKey>>> {
    let Some(mut keys) = fetch_whole::<LogKey>(rows.again()).await? else {
        return Ok(None);
    };
    if fetch_whole::<LogCosigner>(rows.again()).await?.is_none()
        || fetch_whole::<LogOrigin>(rows).await?.is_none()
    {
        return Ok(None);
    }
    keys.sort_by_key(|key| Reverse((key.created_at, key.id)));
    let keys = keys.iter().map(|key| signing_key(key.id.uuid(), &key.public_key));
    keys.collect::<sqlx::Result<_>>().map(Some)
}

/// The origin of a log, as `audit init` sealed it.
pub(in crate::ledger) async fn origin(
    rows: Rows<impl PgExecutor<'_>>,
    log: Log,
) -> sqlx::Result<Option<LogOrigin>> {
    select("WHERE id = $1").bind(id_of(log)).fetch_optional(rows).await
}

/// Seals the origin of a log, which is accepted up to `size` with these segments that no instance wrote.
pub(in crate::ledger) async fn keep_origin(
    mut rows: Rows<&mut PgConnection>,
    log: Log,
    (origin, size): (String, u64),
    foreign: Foreign,
) -> sqlx::Result<()> {
    let accepted = signed_number(size);
    let Foreign { all: foreign_segments, forged: forged_segments } = foreign;
    let known: Option<LogOrigin> =
        select("WHERE id = $1").bind(id_of(log)).lock(rows.again()).await?;
    match known {
        Some(known) => {
            let renewed = LogOrigin {
                origin,
                accepted,
                foreign_segments,
                forged_segments,
                ..known.rewritten()
            };
            resource::update(rows, &renewed, What::Changed).await
        }
        None => {
            // Its identifier can have entries of a row whose absence an operator has accepted.
            let made = LogOrigin::new(id_of(log), origin);
            let newest = newest_entry(&mut *rows.executor, made.row()).await?;
            let next = newest.map(|entry| Revision::of(entry.revision).next());
            let made = made.at(next.unwrap_or(Revision::FIRST));
            let made = LogOrigin { accepted, foreign_segments, forged_segments, ..made };
            resource::insert(rows, &made).await
        }
    }
}

/// The segments that no instance wrote and that `audit init` accepted, according to a row that is not verified: this
/// is for processes without the row key.
pub(in crate::ledger) async fn accepted_segments(
    connection: &mut PgConnection,
    log: Log,
) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar("SELECT unnest(foreign_segments) FROM audit_log_origins WHERE id = $1")
        .bind(id_of(log))
        .fetch_all(connection)
        .await
}

fn id_of(log: Log) -> AuditLogId {
    AuditLogId::from_uuid(Uuid::from_u128(log.number().unsigned_abs().into()))
}

fn signing_key(id: Uuid, spki: &[u8]) -> sqlx::Result<SigningKey> {
    SigningKey::new(id, spki).ok_or_else(|| undecodable("not a key that signs checkpoints"))
}
