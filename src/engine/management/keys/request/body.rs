//! The bodies of requests that create and change keys.

use std::borrow::Cow;
use std::fmt;

use formats::algorithms::ImportMechanism;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use zeroize::Zeroizing;

use super::jwk_members;
use crate::ids::{ImportKeyId, ServiceId};
use crate::keys::{KeyVersion, RotationDays, Usage};
use crate::request;
use crate::resource::{
    FieldInput, Member, Name, Printable, RequestBody as _, Value, object, string, wrong_type,
};
use formats::binary::from_base64;
use formats::clock::Timestamp;
use formats::json::{Text, ValueKind};
use formats::material::{Algorithm, Jwk, PrivateJwk};
use formats::problem::{Code, Problem, Problems};

request! {
    /// A key to generate, import or adopt. Exactly one member is its source.
    pub struct KeyRequest: Key {
        /// The service that owns the key.
        "Service" service_id: ServiceId;
        /// Identifies the key to people. The default is the algorithm and the use.
        "Name" name: Name, optional;
        /// The only use that the token allows. The default follows from the algorithm.
        "Use" r#use: Usage, optional;
        /// The algorithm. An imported key shows its own.
        "Algorithm" algorithm: Algorithm, optional;
        /// Activates the key immediately. The active envelope key of the same service and family then
        /// becomes retired. If false, the new key is retired.
        "Activate now" activate: bool = true;
        /// The time after which the key no longer protects, encrypts or signs; null for none.
        "Expires" expires_at: Option<Timestamp> = None;
        /// The number of days after activation at which a successor replaces the key; null for no
        /// rotation. Only supported for keys that the token generates.
        "Rotation in days" rotation_days: Option<RotationDays> = None;
        /// The identifier that partners use for the key: the `kid` of its envelopes. Unique among the
        /// keys of the service. The default is the `kid` of an imported JWK; null for the identifier of
        /// the key.
        "Partner key ID (kid)" partner_kid: Option<Printable>, optional;
        /// The number of the key among the keys of its service and name. It must be higher than all before.
        /// Only supported for keys for signatures or data that are imported or adopted. The default is the
        /// next number.
        "Version" version: KeyVersion, optional;
        /// Source: the token generates the key.
        "Generate" generate: bool, optional;
        /// Source, or the public key of a wrapped key or token object: PEM or a JWK.
        "Public key" public_key: KeyText, optional;
        /// Source: a key wrapped for the token.
        "Wrapped key" wrapped_key: Option<WrappedKeyRequest>, optional;
        /// Source: a private key in plaintext, as PEM or a JWK.
        "Private key" private_key: PrivateText, optional;
        /// The passphrase of an encrypted private key.
        "Passphrase" passphrase: SecretText, optional;
        /// Source: a secret key in plaintext, in base64.
        "Secret key" secret_key: SecretText, optional;
        /// Source: a key that exists in the token.
        "Token object" token_object: Option<TokenObjectRequest>, optional;
    }
}

request! {
    /// A key wrapped for the token.
    pub struct WrappedKeyRequest: WrappedKey {
        /// The import key that wraps it.
        "Import key ID" import_key_id: ImportKeyId;
        /// The mechanism that wraps it.
        "Mechanism" mechanism: ImportMechanism;
        /// The wrapped key in base64.
        "Wrapped key" ciphertext: Base64;
    }
}

request! {
    /// The attribute that names a key in the token: exactly one of the two.
    pub struct TokenObjectRequest: TokenObject {
        /// `CKA_ID` in hex.
        "CKA_ID" cka_id: String, optional;
        /// `CKA_LABEL`.
        "CKA_LABEL" label: String, optional;
    }
}

/// The JSON text of a key in PEM or as a JWK, which may be a secret.
#[derive(Clone)]
pub struct KeyText(pub(super) Zeroizing<String>);

/// A [`KeyText`] that is a secret.
#[derive(Clone, Debug)]
pub struct PrivateText(pub(super) KeyText);

/// A string that is a secret.
#[derive(Clone)]
pub struct SecretText(pub(super) Zeroizing<String>);

/// Bytes in base64.
#[derive(Clone, Debug)]
pub struct Base64(pub(super) Vec<u8>);

impl KeyRequest {
    /// Whether it has key material in plaintext.
    pub(in crate::management::keys) fn is_in_plaintext(&self) -> bool {
        !self.private_key.is_absent()
            || !self.secret_key.is_absent()
            || !self.passphrase.is_absent()
    }
}

impl KeyText {
    /// Whether it is a JWK. Otherwise it is PEM.
    pub(super) fn is_jwk(&self) -> bool {
        self.0.starts_with('{')
    }
}

impl Value for Base64 {
    const INPUT: FieldInput = FieldInput::Paragraph;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |text| {
            let bytes = from_base64(&text).map(Self);
            bytes.map_err(|_| Problem::of_body(Code::Format, "must be base64"))
        })
    }
}

impl Value for KeyText {
    const INPUT: FieldInput = FieldInput::PublicKey;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        if let Err(problem) = jwk_members::check(text) {
            problems.note(problem.inside(field));
            return Member::Wrong;
        }
        key_text(text, field, problems)
    }
}

fn key_text(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<KeyText> {
    match text.kind() {
        ValueKind::String | ValueKind::Object => {
            Member::Given(KeyText(Zeroizing::new(text.as_str().to_owned())))
        }
        ValueKind::Null | ValueKind::Boolean | ValueKind::Number | ValueKind::Array => {
            wrong_type(field, "a string or an object", problems)
        }
    }
}

impl Value for PrivateText {
    const INPUT: FieldInput = FieldInput::PrivateKey;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        key_text(text, field, problems).map(Self)
    }
}

impl Value for SecretText {
    const INPUT: FieldInput = FieldInput::Secret;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |secret| Ok(Self(Zeroizing::new(secret))))
    }
}

impl Value for WrappedKeyRequest {
    const INPUT: FieldInput = FieldInput::Object(Self::FIELDS);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        object(text, field, problems, Some)
    }
}

impl Value for TokenObjectRequest {
    const INPUT: FieldInput = FieldInput::Object(Self::FIELDS);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        object(text, field, problems, Some)
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl PartialSchema for KeyText {
    fn schema() -> RefOr<Schema> {
        pem_or::<Jwk>()
    }
}

impl ToSchema for KeyText {
    fn name() -> Cow<'static, str> {
        "PemOrJwk".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Jwk::name().into_owned(), Jwk::schema()));
    }
}

impl PartialSchema for PrivateText {
    fn schema() -> RefOr<Schema> {
        pem_or::<PrivateJwk>()
    }
}

impl ToSchema for PrivateText {
    fn name() -> Cow<'static, str> {
        "PemOrPrivateJwk".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((PrivateJwk::name().into_owned(), PrivateJwk::schema()));
    }
}

fn pem_or<J: ToSchema>() -> RefOr<Schema> {
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::String))
        .item(Ref::from_schema_name(J::name()))
        .into()
}

impl PartialSchema for SecretText {
    fn schema() -> RefOr<Schema> {
        String::schema()
    }
}

impl ToSchema for SecretText {
    fn name() -> Cow<'static, str> {
        "Secret".into()
    }
}

impl PartialSchema for Base64 {
    fn schema() -> RefOr<Schema> {
        String::schema()
    }
}

impl ToSchema for Base64 {
    fn name() -> Cow<'static, str> {
        "Base64Text".into()
    }
}
