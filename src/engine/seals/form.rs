//! The canonical form of a row.

use sqlx::Postgres;
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::PgArgumentBuffer;

/// The columns of a row that decide something, as Postgres receives them: of each its name and its value, both
/// with their lengths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form(Vec<u8>);

impl Form {
    /// Adds a column.
    pub fn add<'q, T: Encode<'q, Postgres>>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<(), BoxDynError> {
        let mut encoded = PgArgumentBuffer::default();
        let is_null = value.encode_by_ref(&mut encoded)?;
        self.put(name.as_bytes())?;
        match is_null {
            IsNull::Yes => self.0.push(0),
            IsNull::No => {
                self.0.push(1);
                self.put(&encoded)?;
            }
        }
        Ok(())
    }

    /// The bytes.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), BoxDynError> {
        let length = u32::try_from(bytes.len())?;
        self.0.extend_from_slice(&length.to_be_bytes());
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}
