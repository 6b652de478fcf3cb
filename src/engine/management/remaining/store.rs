//! The keys and policies of which something remains.

use sqlx::PgExecutor;

use super::{RemainingFilter, RemainingKey, RemainingPolicy};
use crate::ids::KeyId;
use crate::keys::{KeyStatus, Usage};
use crate::policy::PolicyNumber;
use formats::envelope::Alg;
use formats::material::Algorithm;

/// The keys that match the filter, by service and name.
pub(super) async fn keys(
    database: impl PgExecutor<'_>,
    filter: &RemainingFilter,
) -> sqlx::Result<Vec<RemainingKey>> {
    let wanted = |algorithm: &Algorithm| {
        filter.algorithm.is_none_or(|wanted| wanted == *algorithm)
            && filter.strength_below.is_none_or(|bits| algorithm.strength() < usize::from(bits))
    };
    let algorithms: Vec<Algorithm> = Algorithm::ALL.into_iter().filter(wanted).collect();
    sqlx::query_as(
        "SELECT k.id, k.name, k.service_id, k.algorithm, k.usage, k.status,
                k.usage <> $1 OR EXISTS (
                    SELECT FROM policies p
                     WHERE p.destination_service_id = k.service_id AND p.deleted_at IS NULL
                       AND (p.alg, k.family) IN (SELECT * FROM UNNEST ($2::text[], $3::text[]))
                ) AS is_named
           FROM keys k JOIN services s ON s.id = k.service_id
          WHERE k.algorithm = ANY ($4) AND ($5::uuid IS NULL OR k.id = $5)
            AND (k.status <> $6 OR k.id = $5)
            AND ($7::text IS NULL OR k.usage = $1 AND EXISTS (
                    SELECT FROM policies p
                     WHERE p.policy_number = $7 AND p.destination_service_id = k.service_id
                ))
          ORDER BY lower(s.name), k.name, k.id",
    )
    .bind(Usage::Enc)
    .bind(Alg::ALL)
    .bind(Alg::ALL.map(Alg::family))
    .bind(algorithms)
    .bind(filter.key)
    .bind(KeyStatus::Destroyed)
    .bind(&filter.policy)
    .fetch_all(database)
    .await
}

/// The policies with one of these numbers, and those that name one of these keys; only that of `only`, if there is
/// one. A number of a deleted policy can belong to another one, which has precedence.
pub(super) async fn policies(
    database: impl PgExecutor<'_>,
    keys: &[KeyId],
    numbers: &[&str],
    only: Option<&PolicyNumber>,
) -> sqlx::Result<Vec<RemainingPolicy>> {
    sqlx::query_as(
        "SELECT DISTINCT ON (p.policy_number)
                p.id, p.policy_number, p.alg, p.status, p.deleted_at IS NOT NULL AS is_deleted,
                p.deleted_at IS NULL AND key.is_active AS names_key
           FROM policies p, LATERAL (
                    SELECT EXISTS (
                        SELECT FROM keys k
                         WHERE k.id = ANY ($1) AND k.service_id = p.destination_service_id
                           AND k.usage = $2 AND k.status = $3
                           AND (p.alg, k.family) IN (SELECT * FROM UNNEST ($4::text[], $5::text[]))
                    ) AS is_active
                ) AS key
          WHERE (p.policy_number = ANY ($6) OR p.deleted_at IS NULL AND key.is_active)
            AND ($7::text IS NULL OR p.policy_number = $7)
          ORDER BY p.policy_number, p.deleted_at DESC NULLS FIRST",
    )
    .bind(keys)
    .bind(Usage::Enc)
    .bind(KeyStatus::Active)
    .bind(Alg::ALL)
    .bind(Alg::ALL.map(Alg::family))
    .bind(numbers)
    .bind(only)
    .fetch_all(database)
    .await
}
