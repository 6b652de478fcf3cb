//! Requests of `/operations`.

use std::borrow::Cow;

use formats::algorithms::{Cipher, Hash, SignatureScheme};
use utoipa::openapi::schema::{
    AdditionalProperties, Discriminator, ObjectBuilder, OneOfBuilder, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::member::{
    AssociatedData, ENCODING, Encoding, Message, Plaintext, base64_required, is_base64,
};
use super::signature::{SignatureFormat, curve};
use crate::audit::OperationType;
use crate::ids::KeyId;
use crate::protection::body::{Base64, Described, Reference, Schemas, borrowed_request, reference};
use crate::protection::{Call, Refusal, UnreadableBody};
use formats::json::{Members, Text};
use formats::problem::{Code, Problem, Problems};

/// An operation and its payload.
#[derive(Debug)]
pub enum OperationRequest<'a> {
    /// Encrypts data.
    Encrypt(EncryptPayload<'a>),
    /// Decrypts a ciphertext.
    Decrypt(DecryptPayload<'a>),
    /// Signs data.
    Sign(SignPayload<'a>),
    /// Verifies a signature.
    Verify(VerifyPayload<'a>),
    /// Hashes data.
    Hash(HashPayload<'a>),
}

borrowed_request! {
    /// Data to encrypt.
    EncryptPayload<'a> {
        /// Any JSON value, or bytes in base64. `decrypt` returns exactly this text, or these bytes.
        data "data": Plaintext<'a>,
        /// `base64`: `data` is base64, and its bytes are encrypted. Default: `json`.
        _encoding "encoding": Option<Encoding>,
        /// Associated data with at most 4,096 bytes, which `decrypt` needs again.
        aad "aad": Option<AssociatedData>,
        algorithm "algorithm": Cipher,
        /// Default: the matching key with the latest activation.
        key_id "keyId": Option<Reference<'a, KeyId>>,
    }
}

borrowed_request! {
    /// The result of `encrypt`, to decrypt.
    DecryptPayload<'a> {
        ciphertext "ciphertext": Base64<Vec<u8>>,
        iv "iv": Base64<Vec<u8>>,
        tag "tag": Base64<Vec<u8>>,
        /// `base64`: the response contains the plaintext in base64. Default: `json`.
        encoding "encoding": Option<Encoding>,
        /// The associated data of `encrypt`.
        aad "aad": Option<AssociatedData>,
        algorithm "algorithm": Cipher,
        key_id "keyId": Reference<'a, KeyId>,
    }
}

borrowed_request! {
    /// Data to sign.
    SignPayload<'a> {
        /// A string, whose UTF-8 bytes are signed; or another JSON value, which is signed in its
        /// canonical form (RFC 8785); or bytes in base64.
        data "data": Message<'a>,
        /// `base64`: `data` is base64, and its bytes are signed. Default: `json`.
        _encoding "encoding": Option<Encoding>,
        /// Whether `data` is the digest of the message, of the algorithm's length, in base64.
        /// Default: false. Supported for RSA and ECDSA.
        prehashed "prehashed": Option<bool>,
        /// The format of an ECDSA signature. Default: `p1363`.
        signature_format "signatureFormat": Option<SignatureFormat>,
        algorithm "algorithm": SignatureScheme,
        /// Default: the matching key with the latest activation.
        key_id "keyId": Option<Reference<'a, KeyId>>,
    }
}

borrowed_request! {
    /// A signature to verify.
    VerifyPayload<'a> {
        /// The signed data.
        data "data": Message<'a>,
        /// `base64`: `data` is base64, and its bytes are verified. Default: `json`.
        _encoding "encoding": Option<Encoding>,
        /// Whether `data` is the digest of the message, of the algorithm's length, in base64.
        /// Default: false. Supported for RSA and ECDSA.
        prehashed "prehashed": Option<bool>,
        /// The format of an ECDSA signature. Default: `p1363`.
        signature_format "signatureFormat": Option<SignatureFormat>,
        signature "signature": Base64<Vec<u8>>,
        algorithm "algorithm": SignatureScheme,
        key_id "keyId": Reference<'a, KeyId>,
    }
}

borrowed_request! {
    /// Data to hash.
    HashPayload<'a> {
        /// A string, whose UTF-8 bytes are hashed; or another JSON value, which is hashed in its
        /// canonical form (RFC 8785); or bytes in base64.
        data "data": Message<'a>,
        /// `base64`: `data` is base64, and its bytes are hashed. Default: `json`.
        _encoding "encoding": Option<Encoding>,
        algorithm "algorithm": Hash,
    }
}

/// Each operation with the name of its request's schema and the schema of its payload.
fn branches() -> [(OperationType, &'static str, RefOr<Schema>); 5] {
    use OperationType::{Decrypt, Encrypt, Hash, Sign, Verify};
    [
        (Encrypt, "EncryptRequest", reference::<EncryptPayload<'_>>()),
        (Decrypt, "DecryptRequest", reference::<DecryptPayload<'_>>()),
        (Sign, "SignRequest", reference::<SignPayload<'_>>()),
        (Verify, "VerifyRequest", reference::<VerifyPayload<'_>>()),
        (Hash, "HashRequest", reference::<HashPayload<'_>>()),
    ]
}

impl PartialSchema for OperationRequest<'_> {
    fn schema() -> RefOr<Schema> {
        let mapping = branches().map(|(operation, name, _)| {
            (operation.name(), Ref::from_schema_name(name).ref_location)
        });
        let one_of = OneOfBuilder::new()
            .description(Some("An operation and its payload."))
            .discriminator(Some(Discriminator::with_mapping("operation", mapping)));
        let one_of = branches()
            .into_iter()
            .fold(one_of, |one_of, (_, name, _)| one_of.item(Ref::from_schema_name(name)));
        RefOr::T(Schema::OneOf(one_of.build()))
    }
}

impl ToSchema for OperationRequest<'_> {
    fn name() -> Cow<'static, str> {
        "OperationRequest".into()
    }

    fn schemas(schemas: &mut Schemas) {
        for (operation, name, payload) in branches() {
            let operation = ObjectBuilder::new()
                .schema_type(Type::String)
                .enum_values(Some([operation.name()]));
            let branch = ObjectBuilder::new()
                .schema_type(Type::Object)
                .property("operation", operation)
                .required("operation")
                .property("payload", payload)
                .required("payload")
                .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
            schemas.push((name.to_owned(), branch.into()));
        }
        <EncryptPayload<'_> as Described>::schemas(schemas);
        <DecryptPayload<'_> as Described>::schemas(schemas);
        <SignPayload<'_> as Described>::schemas(schemas);
        <VerifyPayload<'_> as Described>::schemas(schemas);
        <HashPayload<'_> as Described>::schemas(schemas);
    }
}

const PAYLOAD: &str = "payload";

/// Reads a request, noting its operation and the size of its payload as soon as they are known. A body
/// that `is_large` is allowed for operations that open or verify only.
pub(super) fn read<'a>(
    call: &mut Call,
    text: Text<'a>,
    is_large: bool,
) -> Result<OperationRequest<'a>, Refusal> {
    let mut members = Members::exactly(text, &["operation", PAYLOAD]);
    let operation = members.required_string("operation").and_then(|name| {
        let operation = name.parse::<OperationType>().ok();
        if operation.is_none() {
            let message = "must be one of encrypt, decrypt, sign, verify, hash";
            members.note(Problem::new("operation", Code::Unsupported, message));
        }
        operation
    });
    if let Some(operation) = operation {
        call.note_operation(operation);
    }
    let has_room = matches!(operation, Some(OperationType::Decrypt | OperationType::Verify));
    if is_large && !has_room {
        return Err(UnreadableBody::TooLarge.into());
    }
    let payload = members.required(PAYLOAD);
    let request = operation.zip(payload).and_then(|(operation, payload)| {
        let request = read_payload(call, operation, payload);
        request.map_err(|problems| members.note_inside(PAYLOAD, problems)).ok()
    });
    Ok(members.finish(|| request)?)
}

fn read_payload<'a>(
    call: &mut Call,
    operation: OperationType,
    text: Text<'a>,
) -> Result<OperationRequest<'a>, Problems> {
    let names = match operation {
        OperationType::Encrypt => EncryptPayload::MEMBERS,
        OperationType::Decrypt => DecryptPayload::MEMBERS,
        OperationType::Sign => SignPayload::MEMBERS,
        OperationType::Verify => VerifyPayload::MEMBERS,
        OperationType::Hash => HashPayload::MEMBERS,
    };
    let mut members = Members::exactly(text, names);
    call.note_payload(members.get("data").or(members.get("ciphertext")));
    let from = &mut members;
    let request = match operation {
        OperationType::Encrypt => EncryptPayload::read(from).map(OperationRequest::Encrypt),
        OperationType::Decrypt => DecryptPayload::read(from).map(OperationRequest::Decrypt),
        OperationType::Sign => {
            let payload = SignPayload::read(from);
            check_signature(from, payload.as_ref().map(|payload| &payload.data));
            payload.map(OperationRequest::Sign)
        }
        OperationType::Verify => {
            let payload = VerifyPayload::read(from);
            check_signature(from, payload.as_ref().map(|payload| &payload.data));
            payload.map(OperationRequest::Verify)
        }
        OperationType::Hash => HashPayload::read(from).map(OperationRequest::Hash),
    };
    members.finish(|| request)
}

/// Notes members that do not fit the signature algorithm.
fn check_signature(members: &mut Members<'_>, data: Option<&Message<'_>>) {
    let scheme = members.optional("algorithm").and_then(Text::string);
    let scheme = scheme.and_then(|name| name.ok()?.parse::<SignatureScheme>().ok());
    if let Some(scheme) = scheme
        && members.optional("signatureFormat").is_some()
        && curve(scheme).is_none()
    {
        let message = format!("is supported only for ECDSA, not for {scheme}");
        members.note(Problem::new("signatureFormat", Code::Unsupported, message));
    }
    let prehashed = members.optional("prehashed").map(Text::as_str);
    if prehashed != Some("true") {
        return;
    }
    if !is_base64(members) {
        let is_given = members.optional(ENCODING).is_some();
        members.note(base64_required(is_given, "prehashed data is a digest"));
    }
    let Some(scheme) = scheme else { return };
    match scheme.digest_len() {
        Some(length) => {
            if is_base64(members) && data.is_some_and(|digest| digest.bytes().len() != length) {
                let message = format!("must be the base64 of a digest of {length} bytes");
                members.note(Problem::new("data", Code::Length, message));
            }
        }
        None => {
            let message = format!("is not supported for {scheme}, which signs the message itself");
            members.note(Problem::new("prehashed", Code::Unsupported, message));
        }
    }
}
