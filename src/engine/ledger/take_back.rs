//! The positions after the last checkpoint, taken back from a log that the login of the service has changed.

use sqlx::PgConnection;

use super::foreign::trusted_size;
use super::head::Head;
use super::seal_error::SealError;
use super::sealer::grown;
use super::tree::load_tree;
use super::{Log, store};
use crate::db::{Pool, undecodable};

/// Takes positions back from the logs whose head is not that of segments that instances wrote: those after the last
/// checkpoint, which nothing has signed. The sealer gives them again. Returns these logs with the sizes that remain. The
/// login must own the schema.
pub async fn take_back(pool: &Pool) -> sqlx::Result<Vec<(Log, u64)>> {
    let mut shortened = Vec::new();
    for log in Log::ALL {
        let mut transaction = pool.begin().await?;
        let Some(head) = store::lock_head(&mut transaction, log).await? else {
            continue;
        };
        let trusted = trusted_size(pool.rows_on(&mut transaction), log, &head).await?;
        if !is_own(pool, &mut transaction, (log, &head), trusted).await? {
            let tree = load_tree(&mut transaction, log, trusted).await?;
            let tree = tree.ok_or_else(|| undecodable("the hashes below the last checkpoint"))?;
            store::shorten(&mut transaction, log, trusted, tree.root()).await?;
            shortened.push((log, trusted));
        }
        transaction.commit().await?;
    }
    Ok(shortened)
}

/// Whether instances wrote all segments of a log, and its head is that of them.
async fn is_own(
    pool: &Pool,
    connection: &mut PgConnection,
    (log, head): (Log, &Head),
    trusted: u64,
) -> sqlx::Result<bool> {
    let tree = load_tree(&mut *connection, log, head.size).await?;
    if tree.is_none_or(|tree| tree.root() != head.root) {
        return Ok(false);
    }
    match grown(connection, pool.seals(), (log, head), trusted).await {
        Ok(()) => Ok(true),
        Err(SealError::Database(error)) => Err(error),
        Err(_) => Ok(false),
    }
}
