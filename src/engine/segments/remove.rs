//! The removal of segments that no instance wrote.

use uuid::Uuid;

use super::{Log, store};
use crate::db::Pool;
use crate::seals::{NoRowKey, lost_generations};

/// The number of segments in one statement.
const PAGE: i64 = 500;

/// Removes the segments without a position that no instance wrote, and returns their identifiers. The login
/// must own the schema. Records of a removed segment that exist are found again by the sealer.
pub async fn remove_forged(pool: &Pool) -> sqlx::Result<Vec<Uuid>> {
    let key = pool.seals().current().ok_or(NoRowKey)?;
    let mut connection = pool.acquire().await?;
    let lost = lost_generations(&mut *connection, &key).await?;
    let mut removed = Vec::new();
    for log in Log::ALL {
        let mut after = Uuid::nil();
        loop {
            let page = store::without_position(&mut connection, log, after, PAGE).await?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.id;
            let forged = page.iter().filter(|segment| segment.is_forged(&key, &lost));
            let forged: Vec<Uuid> = forged.map(|segment| segment.id).collect();
            removed.extend(store::remove(&mut connection, log, &forged).await?);
        }
    }
    Ok(removed)
}
