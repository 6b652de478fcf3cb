//! The keys of Sealward itself, which a cryptographic floor concerns.

use super::store;
use crate::db::Pool;
use crate::management::floor::OwnKey;
use crate::report_key;
use formats::material::{Algorithm, PublicKey};

/// The keys of Sealward itself whose algorithms the database shows. Those in rows that do not count are none: without
/// the row key, only the key that wraps keys to import is left.
pub async fn own_keys(pool: &Pool) -> sqlx::Result<Vec<OwnKey>> {
    let importing = OwnKey { purpose: "wraps keys to import", algorithm: Algorithm::Rsa4096 };
    if !pool.seals().is_unlocked() {
        return Ok(vec![importing]);
    }
    let mut connection = pool.acquire().await?;
    let [signing, cosigning] = store::newest_keys(pool.rows_on(&mut connection)).await?;
    let reporting = report_key::newest(pool.rows_on(&mut connection)).await?;
    let reporting = reporting.map(|key| key.public_key);
    let kinds = [
        ("signs the audit logs", signing),
        ("cosigns the audit logs", cosigning),
        ("signs reports", reporting),
    ];
    let keys = kinds.into_iter().filter_map(|(purpose, spki)| {
        let algorithm = PublicKey::from_spki(&spki?).ok()?.algorithm();
        Some(OwnKey { purpose, algorithm })
    });
    Ok(keys.chain([importing]).collect())
}
