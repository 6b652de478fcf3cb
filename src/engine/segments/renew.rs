//! Segments under another generation of the row key.

use sqlx::PgConnection;
use uuid::Uuid;

use super::{Log, store};
use crate::seals::RowKey;

/// The number of segments in one statement.
const PAGE: i64 = 500;

/// Authenticates the segments that no checkpoint covers under the generation that seals now. Those that no instance
/// wrote stay as they are. Returns the number of the others.
pub(crate) async fn renew(connection: &mut PgConnection, key: &RowKey) -> sqlx::Result<u64> {
    let mut renewed = 0;
    for log in Log::ALL {
        // Waits for transactions that write segments under a former generation.
        store::put_macs(&mut *connection, log, &[], &[]).await?;
        let mut after = Uuid::nil();
        loop {
            let page = store::uncovered(&mut *connection, log, after, PAGE).await?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.id;
            let macs = page.iter().filter_map(|it| Some((it.id, it.renewed(key)?)));
            let (ids, macs): (Vec<_>, Vec<_>) = macs.unzip();
            if !ids.is_empty() {
                renewed += store::put_macs(&mut *connection, log, &ids, &macs).await?;
            }
        }
    }
    Ok(renewed)
}
