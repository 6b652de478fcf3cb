//! Exports of a log in its order, in constant memory.

use futures_util::stream::{Stream, try_unfold};
use serde_json::json;

use super::retired::RetiredDays;
use super::{Log, read, store};
use crate::db::Pool;
use crate::segments::RETIRED;

/// The number of records per query and chunk.
const CHUNK: u64 = 1_000;

/// An export of the sealed records of a log, one line of JSON each. A record whose day is retired is a
/// line with its position and its leaf hash.
#[derive(Debug)]
pub struct Export {
    pool: Pool,
    log: Log,
    next: u64,
    /// The size of the tree when the export began, so that it does not chase new records.
    end: Option<u64>,
    retired: Option<RetiredDays>,
}

impl Export {
    /// An export of all sealed records.
    pub fn new(pool: Pool, log: Log) -> Self {
        Self { pool, log, next: 0, end: None, retired: None }
    }

    /// The chunks of the file. If the database fails, the last item is an error, and the response must
    /// abort so that the file is not mistaken for a complete one.
    pub fn pieces(self) -> impl Stream<Item = Result<Vec<u8>, sqlx::Error>> + Send + 'static {
        try_unfold(self, async |mut export| {
            let piece = export.piece().await.inspect_err(|error| {
                tracing::error!(%error, "an export of an audit log failed");
            })?;
            Ok(piece.map(|piece| (piece, export)))
        })
    }

    async fn piece(&mut self) -> sqlx::Result<Option<Vec<u8>>> {
        let (pool, log, next) = (self.pool.clone(), self.log, self.next);
        let (retired, end) = (self.retired.take(), self.end);
        let reading = async move {
            let mut connection = pool.acquire().await?;
            let retired = match retired {
                Some(retired) => retired,
                None => RetiredDays::load(&mut connection).await?,
            };
            let end = match end {
                Some(end) => end,
                None => {
                    let head = store::head(&mut *connection, log).await?;
                    head.map_or(0, |head| head.size)
                }
            };
            let mut next = next;
            while next < end {
                let places = next..end.min(next + CHUNK);
                let found = read::lines(&mut connection, log, places).await?;
                if !found.is_empty() {
                    return Ok((retired, end, found));
                }
                // The positions of a gap are left out, as verification shows.
                let later = store::first_sealed_from(&mut connection, log, next).await?;
                next = later.map_or(end, |later| later.index);
            }
            Ok((retired, end, Vec::new()))
        };
        let (retired, end, found) = self.pool.read_slowly(reading).await?;
        self.end = Some(end);
        let Some((last, _)) = found.last() else {
            return Ok(None);
        };
        self.next = last.index + 1;
        let mut piece = String::new();
        for (sealed, line) in &found {
            match line {
                Some(line) => piece.push_str(line),
                None if retired.include(self.log, sealed.key.ts) => {
                    let hash =
                        json!({ "log_index": sealed.index, RETIRED: sealed.leaf_hash.to_string() });
                    piece.push_str(&hash.to_string());
                }
                // A record that should exist is missing, as its verification shows.
                None => continue,
            }
            piece.push('\n');
        }
        self.retired = Some(retired);
        Ok(Some(piece.into_bytes()))
    }
}
