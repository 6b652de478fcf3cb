//! Exports of the audit logs, in constant memory.
//!
//! They read and write page by page, so that a slow client holds neither a transaction nor a
//! connection.

mod format;
mod operations;

use futures_util::stream::{Stream, try_unfold};
use uuid::Uuid;

pub(crate) use self::format::Column;
pub use self::format::{Exported, Format};
pub(crate) use self::format::{cell, csv};
pub use self::operations::Operations;

/// The records of an export, newest first.
pub trait RecordSource: Send + Sync + 'static {
    /// A record.
    type Record: Exported + Send;

    /// The newest `limit` records that are older than `older_than`.
    fn page(
        &self,
        older_than: Option<Uuid>,
        limit: i64,
    ) -> impl Future<Output = sqlx::Result<Vec<Self::Record>>> + Send;
}

/// An export in progress.
#[derive(Debug)]
pub struct Export<S> {
    source: S,
    format: Format,
    at: Position,
}

#[derive(Debug)]
enum Position {
    Start,
    After(Uuid),
    End,
}

impl<S: RecordSource> Export<S> {
    /// An export of all records of `source`.
    pub fn new(source: S, format: Format) -> Self {
        Self { source, format, at: Position::Start }
    }

    /// The media type of the file.
    pub fn media_type(&self) -> &'static str {
        self.format.media_type()
    }

    /// The disposition: a download with a file name.
    pub fn disposition(&self) -> String {
        let (name, extension) = (S::Record::FILE, self.format.extension());
        format!("attachment; filename=\"{name}.{extension}\"")
    }

    /// The chunks of the file. If the database fails, the last item is an error, and the response
    /// must abort so that the file is not mistaken for a complete one.
    pub fn pieces(self) -> impl Stream<Item = Result<Vec<u8>, sqlx::Error>> + Send + 'static {
        try_unfold(self, async |mut export| {
            let piece = export.next().await.inspect_err(|error| {
                tracing::error!(%error, "an export of an audit log failed");
            })?;
            Ok(piece.map(|piece| (piece, export)))
        })
    }

    /// The next chunk; none when the file is complete.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, sqlx::Error> {
        let (older_than, mut chunk) = match self.at {
            Position::Start => (None, self.format.head::<S::Record>()),
            Position::After(id) => (Some(id), Vec::new()),
            Position::End => return Ok(None),
        };
        let records = self.source.page(older_than, i64::from(S::Record::CHUNK)).await?;
        for record in &records {
            self.format.write(record, &mut chunk);
        }
        self.at = match records.last() {
            Some(last) if records.len() == usize::from(S::Record::CHUNK) => {
                Position::After(last.uuid())
            }
            _ => Position::End,
        };
        Ok(Some(chunk))
    }
}
