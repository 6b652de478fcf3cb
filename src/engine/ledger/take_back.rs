//! The positions that the login of the service gave, taken back from a log.

use sqlx::PgConnection;

use super::Log;
use super::foreign::trusted_size;
use super::head::Head;
use super::positioned::{append, check_growth, check_own, following};
use super::seal_error::SealError;
use super::store::{self, Growth};
use super::tree::load_tree;
use crate::db::{Pool, undecodable};
use crate::resource::Rows;
use crate::seals::lost_generations;
use crate::segments::{Segment, key_of};
use formats::tlog::Tree;

/// Takes positions back from the logs whose head is not that of segments that instances wrote: from the first other segment
/// on. The sealer gives them again. It has signed nothing after that segment, so what is signed stays, also if the
/// database has lost the checkpoint. Returns these logs with the sizes that remain. The login must own the schema.
pub async fn take_back(pool: &Pool) -> sqlx::Result<Vec<(Log, u64)>> {
    let mut shortened = Vec::new();
    for log in Log::ALL {
        let mut transaction = pool.begin().await?;
        let Some(head) = store::lock_head(&mut transaction, log).await? else {
            continue;
        };
        let size = match trusted(pool.rows_on(&mut transaction), (log, &head)).await? {
            Some(trusted) => shorten(pool, &mut transaction, (log, &head), trusted).await?,
            None => renew_nodes(&mut transaction, (log, &head)).await?,
        };
        transaction.commit().await?;
        shortened.extend(size.map(|size| (log, size)));
    }
    Ok(shortened)
}

/// The number of records in a log whose segments instances wrote, or `audit init` accepted. None if nobody knows which
/// segments it accepted: the log has no sealed origin, whose name its checkpoints have.
async fn trusted(
    mut rows: Rows<&mut PgConnection>,
    (log, head): (Log, &Head),
) -> sqlx::Result<Option<u64>> {
    match store::origin(rows.again(), log).await? {
        Some(origin) if origin.origin == head.origin => {
            trusted_size(rows, log, head).await.map(Some)
        }
        Some(_) => Err(undecodable(
            "the origin of the log is not the sealed one: run `sealward audit init` first",
        )),
        None => Ok(None),
    }
}

/// Takes positions back from a log that is trusted up to a size. Returns the size that remains; none if instances wrote
/// all segments.
async fn shorten(
    pool: &Pool,
    connection: &mut PgConnection,
    (log, head): (Log, &Head),
    trusted: u64,
) -> sqlx::Result<Option<u64>> {
    if is_own(pool, &mut *connection, (log, head), trusted).await? {
        return Ok(None);
    }
    let tree = load_tree(&mut *connection, log, trusted).await?;
    let mut tree = tree.ok_or_else(|| undecodable("the hashes below the last checkpoint"))?;
    let mut growth = Growth::default();
    loop {
        let segments = following(&mut *connection, (log, head.size), &tree).await?;
        let own = own_segments(pool, &mut *connection, &segments).await?;
        for segment in segments.iter().take(own) {
            append(&mut tree, segment, &mut growth);
        }
        if own == 0 || own < segments.len() {
            break;
        }
    }
    store::shorten(connection, log, (trusted, &growth), &tree).await?;
    Ok(Some(tree.size()))
}

/// The number of these segments up to the first one that no instance wrote. One under a generation of the row key that no
/// token has can be genuine and signed: then nothing may be taken back.
async fn own_segments(
    pool: &Pool,
    connection: &mut PgConnection,
    segments: &[Segment],
) -> sqlx::Result<usize> {
    let key = key_of(pool.seals(), segments.iter()).await?;
    let own = segments.iter().take_while(|segment| segment.verify(&key).is_ok()).count();
    let lost = lost_generations(connection, &key).await?;
    match segments.get(own) {
        Some(other) if !other.is_forged(&key, &lost) => Err(undecodable(
            "a segment under a row key that no token has: restore the token, or run \
             `sealward audit init --new-origin`",
        )),
        _ => Ok(own),
    }
}

/// Gives a log the nodes and the head of its segments, whoever wrote them, so that `audit init --new-origin` can continue it.
/// Returns its size; none if they were right.
async fn renew_nodes(
    connection: &mut PgConnection,
    (log, head): (Log, &Head),
) -> sqlx::Result<Option<u64>> {
    match check_growth(&mut *connection, (log, head), 0, |_| true).await {
        Ok(()) => Ok(None),
        Err(SealError::Database(error)) => Err(error),
        Err(_) => {
            let (mut tree, mut growth) = (Tree::default(), Growth::default());
            loop {
                let segments = following(&mut *connection, (log, head.size), &tree).await?;
                if segments.is_empty() {
                    break;
                }
                for segment in &segments {
                    append(&mut tree, segment, &mut growth);
                }
            }
            store::shorten(connection, log, (0, &growth), &tree).await?;
            Ok(Some(tree.size()))
        }
    }
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
    match check_own(connection, pool.seals(), (log, head), trusted).await {
        Ok(()) => Ok(true),
        Err(SealError::Database(error)) => Err(error),
        Err(_) => Ok(false),
    }
}
