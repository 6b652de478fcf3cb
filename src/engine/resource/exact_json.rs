//! JSON in a column, in exactly the form in which it is written.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef};
use sqlx::types::Json;
use sqlx::{Decode, Encode, Postgres, Type};

/// A value as JSON. A seal covers the value, and queries compare the JSON: another spelling of the same value
/// would count, and no query would find it. So a column with another spelling has no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactJson<T>(pub T);

impl<T> Type<Postgres> for ExactJson<T> {
    fn type_info() -> PgTypeInfo {
        Json::<Value>::type_info()
    }
}

impl<T: Serialize> Encode<'_, Postgres> for ExactJson<T> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Json(&self.0).encode_by_ref(buffer)
    }
}

impl<'r, T: Serialize + DeserializeOwned> Decode<'r, Postgres> for ExactJson<T> {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let Json(found): Json<Value> = Json::decode(value)?;
        let value = T::deserialize(&found)?;
        match serde_json::to_value(&value)? == found {
            true => Ok(Self(value)),
            false => Err("the JSON has another form than the service writes".into()),
        }
    }
}
