//! The proof that a record is in its log.

use uuid::Uuid;

use super::head::Signed;
use super::store::RecordKey;
use super::tree::load_tiles;
use super::{Log, records, store};
use crate::db::Pool;
use crate::segments::{Placement, leaf, placement};
use formats::tlog::{Hash, ProofText, inclusion};

/// The proof that a record is in its log.
#[derive(Clone, Debug)]
pub struct Proof {
    pub log: Log,
    /// The position of the record.
    pub log_index: u64,
    /// The leaf of the record.
    pub leaf: String,
    /// The hashes from the sibling of the leaf to the child of the root.
    pub inclusion: Vec<Hash>,
    /// The checkpoint, a signed note.
    pub checkpoint: String,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// The record does not exist.
    #[error("the record does not exist")]
    Missing,
    /// No checkpoint covers the record yet.
    #[error("the record is not sealed yet")]
    NotSealed,
    /// The record is not the one that was sealed.
    #[error("the record was changed after it was sealed")]
    Changed,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Proves that the record is in the tree of the latest checkpoint.
pub async fn prove(pool: &Pool, log: Log, id: Uuid) -> Result<Proof, ProofError> {
    let mut connection = pool.acquire().await?;
    let records = records::read(&mut connection, log, &[RecordKey::of(id)]).await?;
    let record = records.get(&id).ok_or(ProofError::Missing)?;
    let line = record.line(None);
    let leaf = leaf(log, &line).ok();
    let own = leaf.as_deref().map(Hash::of_leaf);
    let placed = placement(&mut connection, pool.seals(), (log, id), own).await?;
    let index = match placed {
        Placement::Waiting => return Err(ProofError::NotSealed),
        Placement::Changed(_) => return Err(ProofError::Changed),
        Placement::Sealed(index) => u64::try_from(index).map_err(crate::db::undecodable)?,
    };
    // No instance seals a record without a leaf.
    let leaf = leaf.ok_or(ProofError::Changed)?;
    let head = store::head(&mut *connection, log).await?;
    let head = head.ok_or(ProofError::NotSealed)?;
    let latest = head.signed.clone();
    let covers = |it: &Signed| it.size > index;
    let now = store::now(&mut *connection).await?;
    let keys = store::keys(pool.rows_on(&mut connection)).await?;
    let signed = head.served(now, &keys).filter(covers).or(latest);
    let signed = signed.ok_or(ProofError::NotSealed)?;
    let size = signed.size;
    let subtrees = inclusion(index, size).ok_or(ProofError::NotSealed)?;
    let tiles = load_tiles(&mut connection, log, &subtrees, size).await?;
    let hashes = tiles.hashes(&subtrees).map_err(crate::db::undecodable)?;
    Ok(Proof {
        log,
        log_index: index,
        leaf: String::from_utf8_lossy(&leaf).into_owned(),
        inclusion: hashes,
        checkpoint: signed.note,
    })
}

impl Proof {
    /// The proof in the format of C2SP `tlog-proof`.
    pub fn to_text(&self) -> String {
        let text = ProofText {
            index: self.log_index,
            inclusion: self.inclusion.clone(),
            checkpoint: self.checkpoint.clone(),
        };
        text.to_string()
    }
}
