//! Keys.

use serde::{Deserialize, Serialize};

use super::request::request;
use super::resource::post;
use super::{Editable, Resource, Resources};
use crate::Secret;
use crate::error::Error;
use crate::open_set::open_set;

open_set! {
    /// What a key is for.
    KeyUse {
        Enc = "enc",
        Sig = "sig",
        Data = "data",
    }
}

open_set! {
    /// The algorithms of keys.
    KeyAlgorithm {
        Rsa2048 = "RSA-2048",
        Rsa3072 = "RSA-3072",
        Rsa4096 = "RSA-4096",
        P256 = "P-256",
        P384 = "P-384",
        P521 = "P-521",
        Ed25519 = "Ed25519",
        MlDsa44 = "ML-DSA-44",
        MlDsa65 = "ML-DSA-65",
        MlDsa87 = "ML-DSA-87",
        MlKem768 = "ML-KEM-768",
        MlKem1024 = "ML-KEM-1024",
        P256MlKem768 = "P-256+ML-KEM-768",
        Aes256 = "AES-256",
        Aes128 = "AES-128",
        HmacSha256 = "HMAC-SHA256",
    }
}

open_set! {
    /// Where a key comes from.
    KeyOrigin {
        Generated = "generated",
        Imported = "imported",
        Adopted = "adopted",
    }
}

open_set! {
    /// The state of a key.
    KeyStatus {
        Active = "active",
        Retired = "retired",
        Disabled = "disabled",
        PendingDestruction = "pending_destruction",
        Destroyed = "destroyed",
    }
}

open_set! {
    /// How a key is wrapped for its import.
    #[derive(Default)]
    ImportMechanism {
        #[default]
        RsaOaepSha256AesKwp = "RSA_OAEP_SHA256_AES_KWP",
        RsaOaepSha1AesKwp = "RSA_OAEP_SHA1_AES_KWP",
    }
}

/// A key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// The ID.
    pub id: String,
    /// The service that owns it.
    pub service_id: String,
    /// The name.
    pub name: String,
    /// Its number among the keys of its service and name. `None` for keys for envelopes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The `kid` in envelopes.
    pub partner_kid: Option<String>,
    /// What it is for.
    pub r#use: KeyUse,
    /// The algorithm.
    pub algorithm: KeyAlgorithm,
    /// Where it comes from.
    pub origin: KeyOrigin,
    /// Whether the token holds its private or secret half.
    pub has_private: bool,
    /// Whether the token would give it out.
    pub extractable: Option<bool>,
    /// The state.
    pub status: KeyStatus,
    /// The public half.
    pub public_key: Option<Jwk>,
    /// The thumbprint of the public half (RFC 7638).
    pub thumbprint: Option<String>,
    /// When it expires.
    pub expires_at: Option<String>,
    /// The days after which it has a successor.
    pub rotation_days: Option<u32>,
    /// When it was last activated.
    pub activated_at: Option<String>,
    /// When it is destroyed.
    pub destroy_at: Option<String>,
    /// When it was created.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// Whether its row in the database counts; only in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal_valid: Option<bool>,
}

/// A public key as a JWK.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jwk {
    /// The type.
    pub kty: String,
    /// The JOSE algorithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// The ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// The curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// The x coordinate, or an Ed25519 key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// The y coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// The modulus of an RSA key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    /// The exponent of an RSA key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    /// A key of another type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#pub: Option<String>,
}

request! {
    /// A private key as a JWK.
    PrivateJwk {
        /// The type.
        kty: String,
        /// The private exponent or scalar.
        d: Secret,
        ;
        /// The JOSE algorithm.
        alg: String,
        /// The ID.
        kid: String,
        /// The curve.
        crv: String,
        /// The x coordinate.
        x: String,
        /// The y coordinate.
        y: String,
        /// The modulus of an RSA key.
        n: String,
        /// The public exponent of an RSA key.
        e: String,
        /// The first prime of an RSA key.
        p: Secret,
        /// The second prime of an RSA key.
        q: Secret,
        /// `d` modulo the first prime less one.
        dp: Secret,
        /// `d` modulo the second prime less one.
        dq: Secret,
        /// The inverse of the second prime.
        qi: Secret,
        /// The public half of a key of another type.
        r#pub: String,
    }
}

/// A public key in one of its forms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PublicKeySource {
    /// PEM: SubjectPublicKeyInfo or a certificate.
    Pem(String),
    /// A JWK.
    Jwk(Jwk),
}

/// A private key in one of its forms.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PrivateKeySource {
    /// PEM: PKCS#8, perhaps encrypted.
    Pem(Secret),
    /// A JWK.
    Jwk(Box<PrivateJwk>),
}

request! {
    /// A key that was wrapped for its import.
    WrappedKey {
        /// The wrapping key.
        import_key_id: String,
        /// How it was wrapped.
        mechanism: ImportMechanism,
        /// The wrapped key, base64-encoded.
        ciphertext: String,
        ;
    }
}

request! {
    /// An object that is in the token already. Exactly one member is present.
    TokenObject {
        ;
        /// `CKA_ID` in hexadecimal.
        cka_id: String,
        /// `CKA_LABEL`.
        label: String,
    }
}

request! {
    /// A new key. It has exactly one of `generate`, `public_key`, `wrapped_key`, `private_key`, `secret_key` and
    /// `token_object`; `public_key` can accompany the last four.
    NewKey {
        /// The service that owns it.
        service_id: String,
        ;
        /// The name.
        name: String,
        /// What it is for.
        r#use: KeyUse,
        /// The algorithm.
        algorithm: KeyAlgorithm,
        /// The `kid` in envelopes.
        partner_kid: String,
        /// Whether it becomes active; by default it does.
        activate: bool,
        /// When it expires.
        expires_at: String,
        /// The days after which it has a successor.
        rotation_days: u32,
        /// The number of an imported or adopted key among the keys of its service and name. The default is the next one.
        version: u64,
        /// The token generates the key.
        generate: bool,
        /// A public key.
        public_key: PublicKeySource,
        /// A wrapped key.
        wrapped_key: WrappedKey,
        /// A private key in plaintext.
        private_key: PrivateKeySource,
        /// The passphrase of the private key.
        passphrase: Secret,
        /// A secret key in plaintext, base64-encoded.
        secret_key: Secret,
        /// An object of the token.
        token_object: TokenObject,
    }
}

request! {
    /// A change of a key.
    KeyChanges {
        ;
        /// The name.
        name: String,
        /// The state.
        status: KeyStatus,
        /// When it expires. `Some(None)` removes the expiry.
        expires_at: Option<String>,
        /// The days after which it has a successor. `Some(None)` ends the rotation.
        rotation_days: Option<u32>,
    }
}

request! {
    /// Which keys a list contains.
    KeyFilter {
        ;
        /// The items of a page.
        limit: u32,
        /// The exact name.
        name: String,
        /// A part of the name.
        name_contains: String,
        /// The service that owns them.
        service_id: String,
        /// What they are for.
        r#use: KeyUse,
        /// The state.
        status: KeyStatus,
    }
}

#[derive(Serialize)]
pub(crate) struct NewImportParameters<'a> {
    pub(crate) mechanism: &'a ImportMechanism,
}

/// A wrapping key for one import.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportParameters {
    /// The ID of the wrapping key.
    pub import_key_id: String,
    /// How the key must be wrapped.
    pub mechanism: ImportMechanism,
    /// The wrapping key in PEM.
    pub public_key: String,
    /// Its SHA-256 in hexadecimal.
    pub public_key_sha256: String,
    /// When it expires.
    pub expires_at: String,
}

impl Resource for Key {
    const PATH: &'static str = "/admin/keys";
    type Filter = KeyFilter;
}

impl Editable for Key {
    type New = NewKey;
    type Created = Self;
    type Changes = KeyChanges;
}

impl Resources<'_, Key> {
    /// A wrapping key for the import of a key.
    pub async fn import_parameters(
        &self,
        mechanism: &ImportMechanism,
    ) -> Result<ImportParameters, Error> {
        let path = format!("{}/import-parameters", Key::PATH);
        let call = post(path, &NewImportParameters { mechanism })?;
        self.client().answer(call).await?.parse()
    }
}
