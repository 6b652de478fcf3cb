//! The operations of the runtime API, and the sets of them that API keys and policies allow.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType as _, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::closed_set::ClosedSet;
use formats::closed_set;

closed_set! {
    /// An operation of the runtime.
    #[derive(PartialOrd, Ord)]
    pub enum Operation: "Operation" {
        /// Make an envelope under a policy.
        Protect = "protect",
        /// Open an envelope under a policy.
        Unprotect = "unprotect",
        /// Open an envelope under a policy and make a new one, without returning the payload.
        Rewrap = "rewrap",
        /// Encrypt with a chosen algorithm.
        Encrypt = "encrypt",
        /// Decrypt the result of [`Operation::Encrypt`].
        Decrypt = "decrypt",
        /// Sign.
        Sign = "sign",
        /// Verify a signature.
        Verify = "verify",
        /// Hash.
        Hash = "hash",
    }
}

impl ClosedSet for Operation {}

/// A set of operations.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Vec<Operation>", from = "Vec<Operation>")]
pub struct Operations(u32);

impl Operations {
    /// All operations.
    pub fn all() -> Self {
        Operation::ALL.into_iter().collect()
    }

    /// Whether the set contains `operation`.
    pub const fn contain(self, operation: Operation) -> bool {
        self.0 & bit(operation) != 0
    }

    /// The operations in display order.
    pub fn iter(self) -> impl Iterator<Item = Operation> {
        Operation::ALL.into_iter().filter(move |operation| self.contain(*operation))
    }
}

const fn bit(operation: Operation) -> u32 {
    1 << operation as u32
}

impl Type<Postgres> for Operations {
    fn type_info() -> PgTypeInfo {
        Operation::array_type_info()
    }

    fn compatible(ty: &PgTypeInfo) -> bool {
        <Vec<String> as Type<Postgres>>::compatible(ty)
    }
}

impl Encode<'_, Postgres> for Operations {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode(Vec::from(*self), buffer)
    }
}

impl Decode<'_, Postgres> for Operations {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        <Vec<Operation> as Decode<'_, Postgres>>::decode(value).map(Self::from)
    }
}

impl PartialSchema for Operations {
    fn schema() -> RefOr<Schema> {
        let array = ArrayBuilder::new().items(Operation::schema());
        array.min_items(Some(1)).into()
    }
}

impl ToSchema for Operations {
    fn name() -> Cow<'static, str> {
        "Operations".into()
    }
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl FromIterator<Operation> for Operations {
    fn from_iter<I: IntoIterator<Item = Operation>>(operations: I) -> Self {
        Self(operations.into_iter().fold(0, |bits, operation| bits | bit(operation)))
    }
}

impl From<Vec<Operation>> for Operations {
    fn from(operations: Vec<Operation>) -> Self {
        operations.into_iter().collect()
    }
}

impl From<Operations> for Vec<Operation> {
    fn from(operations: Operations) -> Self {
        operations.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_exactly_its_elements() {
        let set: Operations = [Operation::Hash, Operation::Protect].into_iter().collect();
        for operation in Operation::ALL {
            let put_in = matches!(operation, Operation::Hash | Operation::Protect);
            assert_eq!(set.contain(operation), put_in, "{operation}");
        }
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["protect","hash"]"#);
        assert_eq!(Operations::all().iter().count(), Operation::ALL.len());
    }
}
