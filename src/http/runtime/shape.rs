//! What the bodies of the runtime API look like, for the document alone: requests are read and
//! answers are written text by text, so that payloads stay as they are.
#![expect(dead_code, reason = "only what they say of themselves is used")]

use serde_json::Value;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::ids::KeyId;
use crate::policy::PolicyNumber;
use crate::protection::{Cipher, Hash, Scheme};
use crate::request_tag::RequestTag;

/// A payload to protect.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProtectRequest {
    /// Any JSON value. It comes back exactly as it is written here.
    #[schema(required = true)]
    payload: Value,
    /// The policy to protect it under; left out, the one that the API key is bound to.
    #[schema(nullable = false)]
    policy_number: Option<PolicyNumber>,
}

/// A protected payload; or what the failure mode of an inactive policy makes of it.
#[derive(ToSchema)]
#[serde(untagged)]
pub(super) enum ProtectedPayload {
    Protected(Protected),
    PassedThrough(PassedThrough),
    Dropped(Dropped),
}

/// The payload is protected.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Protected {
    request_id: RequestTag,
    message_type: MessageType,
    #[schema(min_items = 1, max_items = 1)]
    operations: Vec<Encrypt>,
    jwe: Jwe,
}

/// The policy is not active, and the payload is given back as it was.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PassedThrough {
    request_id: RequestTag,
    message_type: MessageType,
    #[schema(max_items = 0)]
    operations: Vec<Encrypt>,
    /// The payload, unprotected.
    #[schema(required = true)]
    payload: Value,
    /// Says so.
    warning: String,
}

/// The policy is not active, and the payload was thrown away.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Dropped {
    request_id: RequestTag,
    message_type: MessageType,
    #[schema(max_items = 0)]
    operations: Vec<Encrypt>,
    /// True.
    dropped: bool,
    /// Says so.
    message: String,
}

#[derive(ToSchema)]
pub(super) enum MessageType {
    ProtectedPayload,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Encrypt {
    Encrypt,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Decrypt {
    Decrypt,
}

/// An envelope: a JWE (RFC 7516) in flattened JSON. Clients treat it as opaque.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Jwe {
    /// The JOSE header.
    #[schema(pattern = "^[A-Za-z0-9_-]+$")]
    protected: String,
    /// The content key, wrapped.
    #[schema(pattern = "^[A-Za-z0-9_-]*$")]
    encrypted_key: String,
    /// The initialization vector.
    #[schema(pattern = "^[A-Za-z0-9_-]*$")]
    iv: String,
    /// The payload, encrypted.
    #[schema(pattern = "^[A-Za-z0-9_-]*$")]
    ciphertext: String,
    /// The authentication tag.
    #[schema(pattern = "^[A-Za-z0-9_-]*$")]
    tag: String,
}

/// An envelope to open, in one form or the other.
#[derive(ToSchema)]
#[serde(untagged)]
pub(super) enum UnprotectRequest {
    Envelope(EnvelopeRequest),
    Legacy(LegacyRequest),
}

/// An envelope as `/protect` gave it.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EnvelopeRequest {
    jwe: Jwe,
    /// The policy to open it under; left out, the one that the API key is bound to.
    #[schema(nullable = false)]
    policy_number: Option<PolicyNumber>,
}

/// An envelope in its legacy form.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LegacyRequest {
    /// The envelope's JSON, or its compact serialization, in base64url; or the compact
    /// serialization as it is.
    protected_payload: String,
    /// The policy to open it under; left out, the one that the API key is bound to.
    #[schema(nullable = false)]
    policy_number: Option<PolicyNumber>,
}

/// What was protected.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Unprotected {
    request_id: RequestTag,
    #[schema(min_items = 1, max_items = 1)]
    operations: Vec<Decrypt>,
    /// The payload, exactly as it was written.
    #[schema(required = true)]
    payload: Value,
}

/// An operation and what it is done to.
#[derive(ToSchema)]
#[serde(tag = "operation", content = "payload", rename_all = "lowercase")]
pub(super) enum OperationRequest {
    Encrypt(EncryptPayload),
    Decrypt(DecryptPayload),
    Sign(SignPayload),
    Verify(VerifyPayload),
    Hash(HashPayload),
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EncryptPayload {
    /// Any JSON value. It comes back exactly as it is written here.
    #[schema(required = true)]
    data: Value,
    algorithm: Cipher,
    /// Left out: the key that fits and was activated last.
    #[schema(nullable = false)]
    key_id: Option<KeyId>,
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DecryptPayload {
    #[schema(content_encoding = "base64")]
    ciphertext: String,
    #[schema(content_encoding = "base64")]
    iv: String,
    #[schema(content_encoding = "base64")]
    tag: String,
    algorithm: Cipher,
    key_id: KeyId,
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignPayload {
    /// A string, whose UTF-8 bytes are signed; or any other JSON value, of which the bytes of its
    /// canonical form (RFC 8785) are.
    #[schema(required = true)]
    data: Value,
    algorithm: Scheme,
    /// Left out: the key that fits and was activated last.
    #[schema(nullable = false)]
    key_id: Option<KeyId>,
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VerifyPayload {
    /// As it was signed.
    #[schema(required = true)]
    data: Value,
    #[schema(content_encoding = "base64")]
    signature: String,
    algorithm: Scheme,
    key_id: KeyId,
}

#[derive(ToSchema)]
pub(super) struct HashPayload {
    /// Hashed as it would be signed.
    #[schema(required = true)]
    data: Value,
    algorithm: Hash,
}

/// What an operation gave.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OperationAnswer {
    request_id: RequestTag,
    result: OperationResult,
    timestamp: Timestamp,
}

/// By operation: `encrypt`, `decrypt`, `sign`, `verify`, `hash`.
#[derive(ToSchema)]
#[serde(untagged)]
pub(super) enum OperationResult {
    Encrypted(Encrypted),
    Decrypted(Decrypted),
    Signed(Signed),
    Verified(Verified),
    Hashed(Hashed),
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Encrypted {
    #[schema(content_encoding = "base64")]
    ciphertext: String,
    #[schema(content_encoding = "base64")]
    iv: String,
    #[schema(content_encoding = "base64")]
    tag: String,
    algorithm: Cipher,
    key_id: KeyId,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Decrypted {
    /// The data, exactly as it was written.
    #[schema(required = true)]
    data: Value,
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Signed {
    #[schema(content_encoding = "base64")]
    signature: String,
    algorithm: Scheme,
    key_id: KeyId,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Verified {
    /// Whether the signature is good.
    valid: bool,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Hashed {
    #[schema(content_encoding = "base64")]
    hash: String,
    algorithm: Hash,
}
