//! The keys, policies and instances that a floor concerns.

use sqlx::PgExecutor;

use super::{LISTED, StoppedKey, StoppedPolicy};
use crate::catalog;
use crate::floor::Floor;
use crate::keys::{KeyStatus, Usage};
use crate::policy::PolicyStatus;
use formats::envelope::{Alg, Enc};
use formats::material::Algorithm;

pub(super) async fn keys(
    database: impl PgExecutor<'_>,
    refused: &[Algorithm],
) -> sqlx::Result<Vec<StoppedKey>> {
    sqlx::query_as(
        "SELECT k.id, k.name, k.service_id, s.name AS service, k.algorithm,
                k.rotation_days IS NOT NULL AS rotates
           FROM keys k JOIN services s ON s.id = k.service_id
          WHERE k.status = $1 AND k.algorithm = ANY ($2)
          ORDER BY lower(s.name), k.name, k.id
          LIMIT $3",
    )
    .bind(KeyStatus::Active)
    .bind(refused)
    .bind(LISTED)
    .fetch_all(database)
    .await
}

pub(super) async fn count_keys(
    database: impl PgExecutor<'_>,
    refused: &[Algorithm],
) -> sqlx::Result<i64> {
    sqlx::query_scalar("SELECT count(*) FROM keys WHERE status = $1 AND algorithm = ANY ($2)")
        .bind(KeyStatus::Active)
        .bind(refused)
        .fetch_one(database)
        .await
}

/// The number of keys whose rotation would make a key of these algorithms.
pub(super) async fn count_rotations(
    database: impl PgExecutor<'_>,
    refused: &[Algorithm],
) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "SELECT count(*) FROM keys
          WHERE status = $1 AND rotation_days IS NOT NULL AND algorithm = ANY ($2)",
    )
    .bind(KeyStatus::Active)
    .bind(refused)
    .fetch_one(database)
    .await
}

/// The active policies that name a refused algorithm, or whose envelopes a key of one receives.
pub(super) async fn policies(
    database: impl PgExecutor<'_>,
    floor: Floor,
) -> sqlx::Result<Vec<StoppedPolicy>> {
    let algs: Vec<Alg> = Alg::ALL.into_iter().filter(|alg| floor.refuses(*alg)).collect();
    let encs: Vec<Enc> = Enc::ALL.into_iter().filter(|enc| floor.refuses(*enc)).collect();
    sqlx::query_as(
        "SELECT p.id, p.policy_number, p.alg, p.enc, k.algorithm AS key
           FROM policies p
           LEFT JOIN keys k
             ON k.service_id = p.destination_service_id AND k.usage = $1 AND k.status = $2
            AND (p.alg, k.family) IN (SELECT * FROM UNNEST ($3::text[], $4::text[]))
          WHERE p.deleted_at IS NULL AND p.status = $5
            AND (p.alg = ANY ($6) OR p.enc = ANY ($7) OR k.algorithm = ANY ($8))
          ORDER BY p.policy_number
          LIMIT $9",
    )
    .bind(Usage::Enc)
    .bind(KeyStatus::Active)
    .bind(Alg::ALL)
    .bind(Alg::ALL.map(Alg::family))
    .bind(PolicyStatus::Active)
    .bind(algs)
    .bind(encs)
    .bind(floor.refused_keys())
    .bind(LISTED)
    .fetch_all(database)
    .await
}

/// The number of instances by the fingerprint of their floor: each has a connection for notices, which it is
/// part of the name of.
pub(super) async fn floors(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<(String, i64)>> {
    sqlx::query_as(
        "SELECT ltrim(substr(application_name, length($1) + 1)) AS floor, count(*)
           FROM pg_stat_activity
          WHERE datname = current_database() AND starts_with(application_name, $1)
          GROUP BY floor
          ORDER BY floor",
    )
    .bind(catalog::LISTENER)
    .fetch_all(database)
    .await
}
