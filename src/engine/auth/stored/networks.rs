//! The networks from which an API key can be used.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use serde::Serialize;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type as JsonType};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::resource::{FieldInput, Member, Value, list, string};
use formats::json::Text;
use formats::problem::{Code, Problem, Problems};

/// A list of networks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent, no_pg_array)]
pub struct Networks(Vec<Network>);

/// A network in CIDR notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Network(IpNet);

impl Networks {
    /// Its networks.
    pub fn iter(&self) -> impl Iterator<Item = IpNet> {
        self.0.iter().map(|network| network.0)
    }
}

impl Value for Networks {
    const INPUT: FieldInput = FieldInput::Lines;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        list(text, field, problems).map(Self)
    }
}

/// An address is the network of itself.
impl Value for Network {
    const INPUT: FieldInput = FieldInput::Line;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |text| {
            let network = text
                .parse()
                .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
                .ok()
                // Bits beyond the prefix are a mistake that would allow more than was meant.
                .filter(|network| network.trunc() == *network);
            network.map(Self).ok_or_else(|| {
                let message = "must be a network such as 192.0.2.0/24 or 2001:db8::/32, without bits \
                               beyond the prefix";
                Problem::of_body(Code::Format, message)
            })
        })
    }
}

impl PartialSchema for Networks {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .items(ObjectBuilder::new().schema_type(JsonType::String))
            .min_items(Some(1))
            .max_items(Some(1_000))
            .into()
    }
}

impl ToSchema for Networks {
    fn name() -> Cow<'static, str> {
        "Networks".into()
    }
}

/// Postgres' type `cidr`.
impl Type<Postgres> for Network {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(650))
    }
}

impl PgHasArrayType for Network {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(651))
    }
}

/// The family, the prefix, that it is a network, the length of the address, the address.
impl Encode<'_, Postgres> for Network {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let prefix = self.0.prefix_len();
        match self.0.addr() {
            IpAddr::V4(address) => {
                buffer.extend_from_slice(&[2, prefix, 1, 4]);
                buffer.extend_from_slice(&address.octets());
            }
            IpAddr::V6(address) => {
                buffer.extend_from_slice(&[3, prefix, 1, 16]);
                buffer.extend_from_slice(&address.octets());
            }
        }
        Ok(IsNull::No)
    }
}

impl Decode<'_, Postgres> for Network {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        let (prefix, address): (u8, IpAddr) = match value.as_bytes()? {
            [2, prefix, _, 4, address @ ..] => {
                (*prefix, Ipv4Addr::from(<[u8; 4]>::try_from(address)?).into())
            }
            [3, prefix, _, 16, address @ ..] => {
                (*prefix, Ipv6Addr::from(<[u8; 16]>::try_from(address)?).into())
            }
            _ => return Err("not a network".into()),
        };
        Ok(Self(IpNet::new(address, prefix)?))
    }
}
