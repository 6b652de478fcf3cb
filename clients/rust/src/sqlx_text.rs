//! An envelope as a value of a text column.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Type};

use crate::Envelope;

impl<DB: Database> Type<DB> for Envelope
where
    String: Type<DB>,
{
    fn type_info() -> DB::TypeInfo {
        String::type_info()
    }

    fn compatible(info: &DB::TypeInfo) -> bool {
        String::compatible(info)
    }
}

impl<'q, DB: Database> Encode<'q, DB> for Envelope
where
    String: Encode<'q, DB>,
{
    fn encode_by_ref(&self, buffer: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.to_string().encode(buffer)
    }
}

impl<'r, DB: Database> Decode<'r, DB> for Envelope
where
    String: Decode<'r, DB>,
{
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(String::decode(value)?.parse()?)
    }
}
