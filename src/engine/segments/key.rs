//! The row key that verifies segments.

use std::sync::Arc;

use super::Segment;
use crate::seals::{NoRowKey, RowKey, Seals};

/// The row key.
pub(crate) fn row_key(seals: &Seals) -> sqlx::Result<Arc<RowKey>> {
    Ok(seals.current().ok_or(NoRowKey)?)
}

/// The row key, with the generation of each of these segments if a token has it.
pub(crate) async fn key_of(
    seals: &Seals,
    segments: impl Iterator<Item = &Segment>,
) -> sqlx::Result<Arc<RowKey>> {
    let key = row_key(seals)?;
    let unknown = segments.filter_map(Segment::generation).filter(|it| !key.has(*it)).max();
    match unknown {
        Some(generation) => {
            seals.learn(generation).await;
            row_key(seals)
        }
        None => Ok(key),
    }
}
