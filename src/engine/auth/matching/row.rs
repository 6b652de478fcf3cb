//! The rule as the database keeps it: JSON, as the API shows it.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef};
use sqlx::types::Json;
use sqlx::{Decode, Encode, Postgres, Type};

use super::Match;
use crate::resource::ExactJson;

impl Type<Postgres> for Match {
    fn type_info() -> PgTypeInfo {
        Json::<Self>::type_info()
    }
}

impl Encode<'_, Postgres> for Match {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Json(self).encode_by_ref(buffer)
    }
}

impl<'r> Decode<'r, Postgres> for Match {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(ExactJson::decode(value)?.0)
    }
}
