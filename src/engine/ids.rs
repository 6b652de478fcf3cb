//! Identifiers: a prefix for the kind of resource, and a UUIDv7 in base32 (TypeID).
//!
//! The API shows text such as `key_01h455vb4pex5vsknk084sn02q`. The code and the database use the UUID,
//! which has a third of the size.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};
use utoipa::openapi::schema::{ObjectBuilder, Type as JsonType};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use formats::clock::{Clock, Entropy, Timestamp};

/// The time in a UUIDv7: its first 48 bits.
pub(crate) fn time_of(id: Uuid) -> Timestamp {
    Timestamp::from_millis(i64::try_from(id.as_u128() >> 80).unwrap_or_default())
}

/// The kind of a resource, with the prefix of its identifiers.
pub trait Named {
    /// The text before the underscore.
    const PREFIX: &'static str;
    /// The name of this kind of identifier.
    const NAME: &'static str;
}

macro_rules! named {
    ($($(#[$doc:meta])* $id:ident, $kind:ident, $prefix:literal;)*) => {$(
        $(#[$doc])*
        pub type $id = Id<$kind>;

        #[doc = concat!("The kind behind [`", stringify!($id), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub enum $kind {}

        impl Named for $kind {
            const PREFIX: &'static str = $prefix;
            const NAME: &'static str = stringify!($id);
        }
    )*};
}

named! {
    /// Identifies a service.
    ServiceId, ServiceKind, "svc";
    /// Identifies the switch that freezes everything. People never see it.
    EmergencyId, EmergencyKind, "emg";
    /// Identifies a policy, in addition to its number.
    PolicyId, PolicyKind, "pol";
    /// Identifies a key; the `keyId` of the API.
    KeyId, KeyKind, "key";
    /// Identifies an API key. It is not the secret.
    ApiKeyId, ApiKeyKind, "ak";
    /// Identifies a workload identity.
    IdentityId, IdentityKind, "idn";
    /// Identifies a person who signs in with OpenID Connect.
    PersonId, PersonKind, "per";
    /// Identifies a session of the dashboard. People never see it.
    SessionId, SessionKind, "ses";
    /// Identifies the wrapping key of one import.
    ImportKeyId, ImportKeyKind, "imp";
    /// Identifies a request without `X-Request-Id`.
    RequestId, RequestKind, "req";
    /// Identifies an audit record.
    RecordId, RecordKind, "rec";
    /// Identifies a change that needs approval.
    ChangeId, ProposalKind, "chg";
    /// Identifies a management event.
    EventId, EventKind, "evt";
    /// Identifies an audit log. People never see it.
    AuditLogId, AuditLogKind, "log";
}

/// The identifier of one `K`.
pub struct Id<K>(Uuid, PhantomData<fn() -> K>);

/// Identifies the credential of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialId {
    /// An API key.
    ApiKey(ApiKeyId),
    /// A workload identity.
    Identity(IdentityId),
}

impl CredentialId {
    pub const fn uuid(self) -> Uuid {
        match self {
            Self::ApiKey(id) => id.uuid(),
            Self::Identity(id) => id.uuid(),
        }
    }

    /// The API key, if it is one.
    pub const fn api_key(self) -> Option<ApiKeyId> {
        match self {
            Self::ApiKey(id) => Some(id),
            Self::Identity(_) => None,
        }
    }

    /// The workload identity, if it is one.
    pub const fn identity(self) -> Option<IdentityId> {
        match self {
            Self::ApiKey(_) => None,
            Self::Identity(id) => Some(id),
        }
    }
}

impl fmt::Display for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApiKey(id) => id.fmt(f),
            Self::Identity(id) => id.fmt(f),
        }
    }
}

impl<K: Named> Id<K> {
    /// A new identifier. Identifiers are ordered by creation time.
    pub fn new(clock: &Clock, entropy: &Entropy) -> Self {
        let millis = u64::try_from(clock.now().as_millis()).unwrap_or_default();
        Self::from_uuid(
            uuid::Builder::from_unix_timestamp_millis(millis, &entropy.name()).into_uuid(),
        )
    }

    /// The identifier with this UUID.
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid, PhantomData)
    }

    /// The creation time.
    pub fn created_at(self) -> Timestamp {
        time_of(self.0)
    }

    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Id<K> {}

impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K> Eq for Id<K> {}

impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// The base32 digits of a TypeID in ascending order: Crockford's alphabet in lower case.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// 128 bits in digits of five bits each.
const LENGTH: usize = 26;

impl<K: Named> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;

        f.write_str(K::PREFIX)?;
        f.write_char('_')?;
        let mut bits = self.0.as_u128();
        let mut digits = [b'0'; LENGTH];
        for digit in digits.iter_mut().rev() {
            let value = usize::try_from(bits & 31).unwrap_or_default();
            *digit = DIGITS.get(value).copied().unwrap_or(b'0');
            bits >>= 5;
        }
        f.write_str(str::from_utf8(&digits).map_err(|_| fmt::Error)?)
    }
}

impl<K: Named> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not an identifier of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier of this kind")]
pub struct NotAnId;

impl<K: Named> FromStr for Id<K> {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let digits =
            text.strip_prefix(K::PREFIX).and_then(|rest| rest.strip_prefix('_')).ok_or(NotAnId)?;
        // 26 digits of five bits are 130: the first digit holds three only.
        if digits.len() != LENGTH || digits.as_bytes().first().is_none_or(|first| *first > b'7') {
            return Err(NotAnId);
        }
        let bits = digits.bytes().try_fold(0_u128, |bits, digit| {
            let value = DIGITS.binary_search(&digit).map_err(|_| NotAnId)?;
            Ok((bits << 5) | u128::try_from(value).map_err(|_| NotAnId)?)
        })?;
        Ok(Self::from_uuid(Uuid::from_u128(bits)))
    }
}

impl<K: Named> Serialize for Id<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K: Named> Deserialize<'de> for Id<K> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'_, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl<K> Type<Postgres> for Id<K> {
    fn type_info() -> PgTypeInfo {
        <Uuid as Type<Postgres>>::type_info()
    }
}

impl<K> PgHasArrayType for Id<K> {
    fn array_type_info() -> PgTypeInfo {
        <Uuid as PgHasArrayType>::array_type_info()
    }
}

impl<K> Encode<'_, Postgres> for Id<K> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode_by_ref(&self.0, buffer)
    }
}

impl<K> Decode<'_, Postgres> for Id<K> {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self(<Uuid as Decode<'_, Postgres>>::decode(value)?, PhantomData))
    }
}

impl<K: Named> PartialSchema for Id<K> {
    fn schema() -> RefOr<Schema> {
        let prefix = K::PREFIX;
        ObjectBuilder::new()
            .schema_type(JsonType::String)
            .pattern(Some(format!("^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$")))
            .examples([serde_json::json!(format!("{prefix}_01h455vb4pex5vsknk084sn02q"))])
            .into()
    }
}

impl<K: Named> ToSchema for Id<K> {
    fn name() -> Cow<'static, str> {
        K::NAME.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_published_typeid_of_its_uuid() {
        // The example of the TypeID specification.
        let id = KeyId::from_uuid("01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap());
        assert_eq!(id.to_string(), "key_01h455vb4pex5vsknk084sn02q");
        assert_eq!("key_01h455vb4pex5vsknk084sn02q".parse(), Ok(id));
    }

    #[test]
    fn an_invalid_id_is_refused() {
        let malformed = [
            "",
            "key_",
            "svc_01h455vb4pex5vsknk084sn02q",
            "key_81h455vb4pex5vsknk084sn02q",
            "key_01H455VB4PEX5VSKNK084SN02Q",
            "key_01h455vb4pex5vsknk084sn02",
            "key_01h455vb4pex5vsknk084sn02l",
            "key_01h455vb4pex5vsknk084sn02qq",
            "01h455vb4pex5vsknk084sn02q",
        ];
        for text in malformed {
            assert_eq!(text.parse::<KeyId>(), Err(NotAnId), "{text:?}");
        }
    }

    #[test]
    fn ids_are_ordered_by_time() {
        let clock = Clock::held_at(Timestamp::from_millis(1_700_000_000_000));
        let first = KeyId::new(&clock, &Entropy::system());
        clock.advance(std::time::Duration::from_millis(1));
        assert!(first < KeyId::new(&clock, &Entropy::system()));
        assert_eq!(first.created_at().as_millis(), 1_700_000_000_000);
    }
}
