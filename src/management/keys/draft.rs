//! What clients say of a key, new or changed.

use utoipa::ToSchema;
use utoipa::openapi::Schema;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use zeroize::Zeroizing;

use crate::clock::Timestamp;
use crate::ids::{ImportKeyId, ServiceId};
use crate::keys::{Mechanism, Status, Usage};
use crate::management::{Draft, Member, Reader};
use crate::material::Algorithm;

/// The members of a key that clients may change.
#[derive(Clone, Debug, Default, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Key)]
pub struct KeyDraft {
    /// 1 to 100 characters.
    #[schema(value_type = String, min_length = 1, max_length = 100, required = false)]
    pub name: Member<String>,
    /// Where it is to be in its life.
    #[schema(value_type = Status, required = false)]
    pub status: Member<String>,
    /// Until when it is to be used; null for no end.
    #[schema(value_type = Option<Timestamp>)]
    pub expires_at: Member<Option<String>>,
}

impl Draft for KeyDraft {
    const MEMBERS: &'static [&'static str] = &["name", "status", "expiresAt"];
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "serviceId",
        "use",
        "algorithm",
        "origin",
        "hasPrivate",
        "publicKey",
        "thumbprint",
        "activatedAt",
        "destroyAt",
        "createdAt",
        "updatedAt",
    ];
    const VOLATILE: &'static [&'static str] = &["updatedAt"];

    fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            name: reader.string("name"),
            status: reader.string("status"),
            expires_at: reader.nullable_string("expiresAt"),
        }
    }
}

/// A key that is to be. Exactly one source says where it comes from.
#[derive(Clone, Default, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Key)]
pub struct NewKeyDraft {
    /// The service it will belong to.
    #[schema(value_type = ServiceId)]
    pub service_id: Member<String>,
    /// 1 to 100 characters; left out, it says what kind of key it is.
    #[schema(value_type = String, min_length = 1, max_length = 100, required = false)]
    pub name: Member<String>,
    /// `enc`, `sig` or `data`.
    #[schema(value_type = Usage, rename = "use", required = false)]
    pub usage: Member<String>,
    /// What kind of key it is.
    #[schema(value_type = Algorithm, required = false)]
    pub algorithm: Member<String>,
    /// Whether it is active from the beginning.
    #[schema(value_type = bool, required = false)]
    pub activate: Member<bool>,
    /// Until when it is to be used; null for no end.
    #[schema(value_type = Option<Timestamp>)]
    pub expires_at: Member<Option<String>>,
    /// Source: the token makes it.
    #[schema(value_type = bool, required = false)]
    pub generate: Member<bool>,
    /// Source, or the public half of one: PEM as a JSON string, or a JWK.
    #[schema(schema_with = pem_or_jwk, required = false)]
    pub public_key: Member<Zeroizing<String>>,
    /// Source: wrapped for the token.
    #[schema(value_type = Option<WrappedKeyDraft>)]
    pub wrapped_key: Member<Option<WrappedKeyDraft>>,
    /// Source: PEM as a JSON string, or a JWK.
    #[schema(schema_with = pem_or_jwk, required = false)]
    pub private_key: Member<Zeroizing<String>>,
    /// What opens an encrypted private key.
    #[schema(value_type = String, required = false)]
    pub passphrase: Member<Zeroizing<String>>,
    /// Source: base64.
    #[schema(value_type = String, required = false)]
    pub secret_key: Member<Zeroizing<String>>,
    /// Source: it is in the token already.
    #[schema(value_type = Option<TokenObjectDraft>)]
    pub token_object: Member<Option<TokenObjectDraft>>,
}

impl std::fmt::Debug for NewKeyDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewKeyDraft([redacted])")
    }
}

/// The members of a wrapped key.
#[derive(Clone, Debug, Default, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WrappedKey)]
pub struct WrappedKeyDraft {
    /// What it was wrapped with.
    #[schema(value_type = ImportKeyId)]
    pub import_key_id: Member<String>,
    /// How.
    #[schema(value_type = Mechanism)]
    pub mechanism: Member<String>,
    /// Base64.
    #[schema(value_type = String)]
    pub ciphertext: Member<String>,
}

/// How the token names a key; one of the two.
#[derive(Clone, Debug, Default, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = TokenObject)]
pub struct TokenObjectDraft {
    /// `CKA_ID` in hex.
    #[schema(value_type = String, pattern = "^([0-9A-Fa-f]{2}){1,255}$", required = false)]
    pub cka_id: Member<String>,
    /// `CKA_LABEL`.
    #[schema(value_type = String, min_length = 1, required = false)]
    pub label: Member<String>,
}

impl Draft for NewKeyDraft {
    const MEMBERS: &'static [&'static str] = &[
        "serviceId",
        "name",
        "use",
        "algorithm",
        "activate",
        "expiresAt",
        "generate",
        "publicKey",
        "wrappedKey",
        "privateKey",
        "passphrase",
        "secretKey",
        "tokenObject",
    ];
    const READ_ONLY: &'static [&'static str] = &[];
    const VOLATILE: &'static [&'static str] = &[];

    fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            service_id: reader.string("serviceId"),
            name: reader.string("name"),
            usage: reader.string("use"),
            algorithm: reader.string("algorithm"),
            activate: reader.boolean("activate"),
            expires_at: reader.nullable_string("expiresAt"),
            generate: reader.boolean("generate"),
            public_key: reader.string_or_object("publicKey"),
            wrapped_key: reader.nullable_object(
                "wrappedKey",
                &["importKeyId", "mechanism", "ciphertext"],
                |reader| WrappedKeyDraft {
                    import_key_id: reader.string("importKeyId"),
                    mechanism: reader.string("mechanism"),
                    ciphertext: reader.string("ciphertext"),
                },
            ),
            private_key: reader.string_or_object("privateKey"),
            passphrase: reader.secret("passphrase"),
            secret_key: reader.secret("secretKey"),
            token_object: reader.nullable_object("tokenObject", &["ckaId", "label"], |reader| {
                TokenObjectDraft {
                    cka_id: reader.string("ckaId"),
                    label: reader.string("label"),
                }
            }),
        }
    }
}

fn pem_or_jwk() -> Schema {
    utoipa::openapi::schema::OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::String))
        .item(ObjectBuilder::new().schema_type(Type::Object))
        .into()
}
