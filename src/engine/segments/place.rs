//! A position in a log, as Postgres returns it.

use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::{Decode, Postgres, Type};

use formats::tlog::Hash;

/// A position in a log, and the hash of the leaf there. In SQL: the position in 8 bytes, then the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) index: i64,
    pub(crate) leaf_hash: Hash,
}

impl Type<Postgres> for Place {
    fn type_info() -> PgTypeInfo {
        <[u8] as Type<Postgres>>::type_info()
    }
}

impl<'r> Decode<'r, Postgres> for Place {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let bytes = <&[u8] as Decode<Postgres>>::decode(value)?;
        let (index, hash) = bytes.split_first_chunk().ok_or("a position has 8 bytes")?;
        Ok(Self { index: i64::from_be_bytes(*index), leaf_hash: Hash::try_from(hash)? })
    }
}
