//! The positions that the login of the service gave, taken back from a log.

use sqlx::PgConnection;

use super::Log;
use super::foreign::trusted_size;
use super::head::Head;
use super::seal_error::SealError;
use super::sealer::{append, follow, grown};
use super::store::{self, Growth};
use super::tree::load_tree;
use crate::db::{Pool, undecodable};
use crate::seals::lost_generations;
use crate::segments::key_of;
use formats::tlog::Tree;

/// The number of positions in one query.
const PAGE: i64 = 2_000;

/// Takes positions back from the logs whose head is not that of segments that instances wrote: from the first other segment
/// on. The sealer gives them again. It has signed nothing after that segment, so what is signed stays, also if the
/// database has lost the checkpoint. A log without a sealed origin keeps the positions, and gets the nodes and the head of
/// its segments, so that `audit init --new-origin` can continue it. Returns these logs with the sizes that remain. The
/// login must own the schema.
pub async fn take_back(pool: &Pool) -> sqlx::Result<Vec<(Log, u64)>> {
    let mut shortened = Vec::new();
    for log in Log::ALL {
        let mut transaction = pool.begin().await?;
        let Some(head) = store::lock_head(&mut transaction, log).await? else {
            continue;
        };
        match store::origin(pool.rows_on(&mut transaction), log).await? {
            Some(origin) if origin.origin == head.origin => {}
            Some(_) => {
                return Err(undecodable(
                    "the origin of the log is not the sealed one: run `sealward audit init` first",
                ));
            }
            // Nobody knows which segments were accepted, so all keep their positions.
            None => {
                match follow(&mut transaction, (log, &head), 0, |_| true).await {
                    Ok(()) => {}
                    Err(SealError::Database(error)) => return Err(error),
                    Err(_) => {
                        let (tree, growth) =
                            positioned_tree(&mut transaction, (log, &head)).await?;
                        store::shorten(&mut transaction, log, (0, &growth), &tree).await?;
                        shortened.push((log, tree.size()));
                    }
                }
                transaction.commit().await?;
                continue;
            }
        }
        let trusted = trusted_size(pool.rows_on(&mut transaction), log, &head).await?;
        if !is_own(pool, &mut transaction, (log, &head), trusted).await? {
            let tree = load_tree(&mut transaction, log, trusted).await?;
            let mut tree =
                tree.ok_or_else(|| undecodable("the hashes below the last checkpoint"))?;
            let growth = regrown(pool, &mut transaction, (log, &head), &mut tree).await?;
            store::shorten(&mut transaction, log, (trusted, &growth), &tree).await?;
            shortened.push((log, tree.size()));
        }
        transaction.commit().await?;
    }
    Ok(shortened)
}

/// The tree of the segments that have positions, whoever wrote them, and its nodes.
async fn positioned_tree(
    connection: &mut PgConnection,
    (log, head): (Log, &Head),
) -> sqlx::Result<(Tree, Growth)> {
    let (mut tree, mut growth) = (Tree::default(), Growth::default());
    while tree.size() < head.size {
        let start = tree.size();
        let found = store::positioned(&mut *connection, log, start..head.size, PAGE).await?;
        for (base, segment) in found.iter().skip_while(|(base, _)| *base < start) {
            if *base != tree.size() {
                return Ok((tree, growth));
            }
            append(&mut tree, segment, &mut growth);
        }
        if tree.size() == start {
            break;
        }
    }
    Ok((tree, growth))
}

/// Adds the segments that follow the tree to it, up to the first one that no instance wrote. One under a generation of the
/// row key that no token has can be genuine and signed: then nothing may be taken back.
async fn regrown(
    pool: &Pool,
    connection: &mut PgConnection,
    (log, head): (Log, &Head),
    tree: &mut Tree,
) -> sqlx::Result<Growth> {
    let mut growth = Growth::default();
    while tree.size() < head.size {
        let start = tree.size();
        let found = store::positioned(&mut *connection, log, start..head.size, PAGE).await?;
        let key = key_of(pool.seals(), found.iter().map(|(_, segment)| segment)).await?;
        let lost = lost_generations(&mut *connection, &key).await?;
        for (base, segment) in found.iter().skip_while(|(base, _)| *base < start) {
            match segment.verify(&key) {
                Ok(()) if *base == tree.size() => append(tree, segment, &mut growth),
                Err(_) if !segment.is_forged(&key, &lost) => {
                    return Err(undecodable(
                        "a segment under a row key that no token has: restore the token, or run \
                         `sealward audit init --new-origin`",
                    ));
                }
                Ok(()) | Err(_) => return Ok(growth),
            }
        }
        if tree.size() == start {
            break;
        }
    }
    Ok(growth)
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
