//! What this library knows of the OpenAPI document, as its own types say.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Impossible, Serialize, SerializeStruct, Serializer};
use serde_json::{Map, Value, json};

use crate::admin::*;

const OPERATIONS: &[&str] = &[
    "approveChange",
    "createApiKey",
    "createIdentity",
    "createImportParameters",
    "createKey",
    "createPolicy",
    "createService",
    "deleteIdentity",
    "deleteKey",
    "deletePolicy",
    "deleteService",
    "freezeEverything",
    "health",
    "jwks",
    "listApiKeys",
    "listAudit",
    "listChanges",
    "listIdentities",
    "listKeys",
    "listManagementEvents",
    "listPeople",
    "listPolicies",
    "listServices",
    "lockPerson",
    "lockUnseenPerson",
    "makeDataKey",
    "operate",
    "patchApiKey",
    "patchIdentity",
    "patchKey",
    "patchPolicy",
    "patchService",
    "protect",
    "protectBatch",
    "readApiKey",
    "readAuditCheckpoint",
    "readAuditLogKey",
    "readAuditProof",
    "readAuditTile",
    "readCaller",
    "readChange",
    "readCryptographicBillOfMaterials",
    "readEmergency",
    "readIdentity",
    "readKey",
    "readKeyRegister",
    "readPerson",
    "readPolicy",
    "readProtectionPolicy",
    "readReportKeys",
    "readService",
    "rejectChange",
    "restorePolicy",
    "revokeApiKey",
    "rewrap",
    "rewrapBatch",
    "unfreezeEverything",
    "unlockPerson",
    "unprotect",
    "unprotectBatch",
    "updateApiKey",
    "updateIdentity",
    "updateKey",
    "updatePolicy",
    "updateService",
    "withdrawChange",
];

/// The operations, and the members of each schema.
pub(super) fn all() -> Value {
    let schemas = crate::runtime::members().into_iter().chain(resources());
    let schemas: Map<_, _> =
        schemas.map(|(name, members)| (name.to_owned(), json!(members))).collect();
    json!({ "operations": OPERATIONS, "schemas": schemas })
}

fn resources() -> Vec<(&'static str, Vec<&'static str>)> {
    let api_key = read::<ApiKey>();
    vec![
        ("ApiKey", api_key.clone()),
        ("CreatedApiKey", [api_key.clone(), vec!["secret"]].concat()),
        // PUT takes the complete resource.
        ("ApiKeyChanges", [api_key, written(&ApiKeyChanges::default())].concat()),
        ("ApiKeyPage", read::<Page<ApiKey>>()),
        ("Approval", read::<Approval>()),
        ("AuditProof", read::<AuditProof>()),
        ("AuditRecord", read::<AuditRecord>()),
        ("AuditRecordPage", read::<Page<AuditRecord>>()),
        ("Change", read::<Change>()),
        ("ChangePage", read::<Page<Change>>()),
        ("Checkpoints", read::<ReportCheckpoints>()),
        ("Decision", written(&Decision { comment: None })),
        ("Emergency", read::<Emergency>()),
        ("EventPerson", read::<EventPerson>()),
        ("IdentityMatch", read::<IdentityMatch>()),
        ("ImportParameters", read::<ImportParameters>()),
        ("Jwk", read::<Jwk>()),
        ("Key", read::<Key>()),
        ("KeyChanges", [read::<Key>(), written(&KeyChanges::default())].concat()),
        ("KeyMaker", read::<KeyMaker>()),
        ("KeyPage", read::<Page<Key>>()),
        ("KeyRegister", read::<KeyRegister>()),
        ("KeyRegisterEntry", read::<KeyRegisterEntry>()),
        ("KeyRegisterFilter", read::<KeyRegisterFilter>()),
        ("KeyRegisterPolicy", read::<KeyRegisterPolicy>()),
        ("LogCheckpoint", read::<ReportCheckpoint>()),
        ("ManagementEvent", read::<ManagementEvent>()),
        ("ManagementEventPage", read::<Page<ManagementEvent>>()),
        ("NewApiKey", written(&NewApiKey::default())),
        ("NewFreeze", written(&NewFreeze { reason: "" })),
        (
            "NewImportParameters",
            written(&NewImportParameters { mechanism: &ImportMechanism::default() }),
        ),
        ("NewKey", written(&NewKey::default())),
        ("NewPerson", written(&NewPerson { subject: "", reason: "" })),
        ("NewPersonLock", written(&NewPersonLock { reason: "" })),
        ("NewPolicy", written(&NewPolicy::default())),
        ("NewService", written(&NewService::default())),
        ("NewWorkloadIdentity", written(&NewWorkloadIdentity::default())),
        ("Person", read::<Person>()),
        ("PersonPage", read::<Page<Person>>()),
        ("Policy", read::<Policy>()),
        ("PolicyChanges", [read::<Policy>(), written(&PolicyChanges::default())].concat()),
        ("PolicyPage", read::<Page<Policy>>()),
        ("PolicyRestoration", written(&PolicyChanges::default())),
        ("PrivateJwk", written(&PrivateJwk::default())),
        ("ProposedChange", read::<Change>()),
        ("Proposer", read::<Proposer>()),
        ("Service", read::<Service>()),
        ("ServiceChanges", [read::<Service>(), written(&ServiceChanges::default())].concat()),
        ("ServicePage", read::<Page<Service>>()),
        ("TokenObject", written(&TokenObject::default())),
        ("Unfreeze", written(&Unfreeze { reason: None })),
        ("WorkloadIdentity", read::<WorkloadIdentity>()),
        (
            "WorkloadIdentityChanges",
            [read::<WorkloadIdentity>(), written(&WorkloadIdentityChanges::default())].concat(),
        ),
        ("WorkloadIdentityPage", read::<Page<WorkloadIdentity>>()),
        ("WrappedKey", written(&WrappedKey::default())),
    ]
}

/// The members that a type reads.
pub(crate) fn read<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    match T::deserialize(Fields) {
        Ok(_) => Vec::new(),
        Err(Found(fields)) => fields,
    }
}

/// The members that a value writes, or leaves out because they are absent.
pub(crate) fn written(value: &impl Serialize) -> Vec<&'static str> {
    match value.serialize(Names) {
        Ok(fields) | Err(Found(fields)) => fields,
    }
}

/// The fields of a struct.
#[derive(Debug)]
struct Found(Vec<&'static str>);

impl fmt::Display for Found {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("fields")
    }
}

impl std::error::Error for Found {}

impl serde::de::Error for Found {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(Vec::new())
    }
}

impl serde::ser::Error for Found {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(Vec::new())
    }
}

/// Reads nothing: its error has the fields of the struct.
struct Fields;

impl<'de> Deserializer<'de> for Fields {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Found> {
        Err(Found(Vec::new()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Found> {
        Err(Found(fields.to_vec()))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Declares how values that are no struct are written: not at all.
macro_rules! no_struct {
    ($($name:ident($($type:ty),*) -> $ok:ty,)*) => {
        $(
            fn $name(self, $(_: $type),*) -> Result<$ok, Found> {
                Err(Found(Vec::new()))
            }
        )*
    };
}

/// Writes nothing but the names of the fields of a struct.
struct Names;

impl Serializer for Names {
    type Ok = Vec<&'static str>;
    type Error = Found;
    type SerializeSeq = Impossible<Self::Ok, Found>;
    type SerializeTuple = Impossible<Self::Ok, Found>;
    type SerializeTupleStruct = Impossible<Self::Ok, Found>;
    type SerializeTupleVariant = Impossible<Self::Ok, Found>;
    type SerializeMap = Impossible<Self::Ok, Found>;
    type SerializeStruct = StructNames;
    type SerializeStructVariant = Impossible<Self::Ok, Found>;

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<StructNames, Found> {
        Ok(StructNames(Vec::new()))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Self::Ok, Found> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Self::Ok, Found> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Self::Ok, Found> {
        Err(Found(Vec::new()))
    }

    no_struct! {
        serialize_bool(bool) -> Self::Ok,
        serialize_i8(i8) -> Self::Ok,
        serialize_i16(i16) -> Self::Ok,
        serialize_i32(i32) -> Self::Ok,
        serialize_i64(i64) -> Self::Ok,
        serialize_u8(u8) -> Self::Ok,
        serialize_u16(u16) -> Self::Ok,
        serialize_u32(u32) -> Self::Ok,
        serialize_u64(u64) -> Self::Ok,
        serialize_f32(f32) -> Self::Ok,
        serialize_f64(f64) -> Self::Ok,
        serialize_char(char) -> Self::Ok,
        serialize_str(&str) -> Self::Ok,
        serialize_bytes(&[u8]) -> Self::Ok,
        serialize_none() -> Self::Ok,
        serialize_unit() -> Self::Ok,
        serialize_unit_struct(&'static str) -> Self::Ok,
        serialize_unit_variant(&'static str, u32, &'static str) -> Self::Ok,
        serialize_seq(Option<usize>) -> Self::SerializeSeq,
        serialize_tuple(usize) -> Self::SerializeTuple,
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant,
        serialize_map(Option<usize>) -> Self::SerializeMap,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant,
    }
}

struct StructNames(Vec<&'static str>);

impl SerializeStruct for StructNames {
    type Ok = Vec<&'static str>;
    type Error = Found;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        _: &T,
    ) -> Result<(), Found> {
        self.0.push(name);
        Ok(())
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), Found> {
        self.0.push(name);
        Ok(())
    }

    fn end(self) -> Result<Self::Ok, Found> {
        Ok(self.0)
    }
}
