//! Segments under another generation of the row key.

use sqlx::PgConnection;
use uuid::Uuid;

use super::{Log, store};
use crate::seals::RowKey;

/// The number of segments in one statement.
const PAGE: i64 = 500;

/// Authenticates all segments under the generation that seals now, also those below a checkpoint: whoever removes the
/// checkpoint must not make them look like those of somebody else. Those that no instance wrote stay as they are. Returns
/// the number of the others. The login must own the schema.
pub(crate) async fn renew(connection: &mut PgConnection, key: &RowKey) -> sqlx::Result<u64> {
    store::wait_for_writers(&mut *connection).await?;
    let mut renewed = 0;
    for log in Log::ALL {
        let mut after = Uuid::nil();
        loop {
            let from = (log, after);
            let page = store::of_other_generations(&mut *connection, from, key.sealing(), PAGE);
            let page = page.await?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.id;
            let macs = page.iter().filter_map(|it| Some((it.id, it.renewed(key)?)));
            let (ids, macs): (Vec<_>, Vec<_>) = macs.unzip();
            renewed += store::put_macs(&mut *connection, log, (&ids, &macs)).await?;
        }
    }
    Ok(renewed)
}
