//! Requests of `/operations`.

use std::borrow::Cow;
use std::fmt;

use hsm::SignatureScheme;
use utoipa::openapi::schema::{
    AdditionalProperties, Discriminator, ObjectBuilder, OneOfBuilder, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::algorithm::{Cipher, Hash};
use crate::audit::OperationType;
use crate::canonical::{self, NotCanonical};
use crate::ids::KeyId;
use crate::json::{Members, Text};
use crate::problem::{Code, Problem, Problems};
use crate::protection::Call;
use crate::protection::body::{
    Base64, Described, ReadMember, Reference, Schemas, reference, request,
};

/// An operation and its payload.
#[derive(Debug)]
pub(crate) enum OperationRequest<'a> {
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

request! {
    /// Data to encrypt.
    EncryptPayload<'a> {
        /// Any JSON value. `decrypt` returns exactly this text.
        data "data": Text<'a>,
        algorithm "algorithm": Cipher,
        /// Default: the matching key with the latest activation.
        key_id "keyId": Option<Reference<'a, KeyId>>,
    }
}

request! {
    /// The result of `encrypt`, to decrypt.
    DecryptPayload<'a> {
        ciphertext "ciphertext": Base64<Vec<u8>>,
        iv "iv": Base64<Vec<u8>>,
        tag "tag": Base64<Vec<u8>>,
        algorithm "algorithm": Cipher,
        key_id "keyId": Reference<'a, KeyId>,
    }
}

request! {
    /// Data to sign.
    SignPayload<'a> {
        /// A string, whose UTF-8 bytes are signed; or another JSON value, which is signed in its
        /// canonical form (RFC 8785).
        data "data": Message<'a>,
        algorithm "algorithm": SignatureScheme,
        /// Default: the matching key with the latest activation.
        key_id "keyId": Option<Reference<'a, KeyId>>,
    }
}

request! {
    /// A signature to verify.
    VerifyPayload<'a> {
        /// The signed data.
        data "data": Message<'a>,
        signature "signature": Base64<Vec<u8>>,
        algorithm "algorithm": SignatureScheme,
        key_id "keyId": Reference<'a, KeyId>,
    }
}

request! {
    /// Data to hash.
    HashPayload<'a> {
        /// A string, whose UTF-8 bytes are hashed; or another JSON value, which is hashed in its
        /// canonical form (RFC 8785).
        data "data": Message<'a>,
        algorithm "algorithm": Hash,
    }
}

/// The bytes that are signed or hashed.
pub(in crate::protection) struct Message<'a>(pub(super) Cow<'a, [u8]>);

impl<'a> ReadMember<'a> for Message<'a> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        let message = canonical::bytes(members.required(name)?);
        if let Err(error) = &message {
            let code = match error {
                NotCanonical::DuplicateName => Code::Conflict,
                NotCanonical::LoneSurrogate | NotCanonical::Number => Code::Format,
            };
            members.note(Problem::new(name, code, error.to_string()));
        }
        message.ok().map(Self)
    }
}

impl Described for Message<'_> {
    fn schema() -> RefOr<Schema> {
        <Text<'_> as Described>::schema()
    }
}

impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message({} bytes)", self.0.len())
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
        let one_of = branches().into_iter().fold(one_of, |one_of, (_, name, _)| {
            one_of.item(Ref::from_schema_name(name))
        });
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

/// Reads a request, noting its operation and the size of its payload as soon as they are known.
pub(super) fn read<'a>(call: &mut Call, text: Text<'a>) -> Result<OperationRequest<'a>, Problems> {
    let mut members = Members::exactly(text, &["operation", PAYLOAD]);
    let operation = members.required_string("operation").and_then(|name| {
        let operation = name.parse::<OperationType>().ok();
        if operation.is_none() {
            let message = "must be one of encrypt, decrypt, sign, verify, hash";
            members.note(Problem::new("operation", Code::Unsupported, message));
        }
        operation
    });
    let payload = members.required(PAYLOAD);
    let request = operation.zip(payload).and_then(|(operation, payload)| {
        call.note_operation(operation);
        match read_payload(call, operation, payload) {
            Ok(request) => Some(request),
            Err(problems) => {
                members.note_inside(PAYLOAD, problems);
                None
            }
        }
    });
    members.finish(|| request)
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
        OperationType::Sign => SignPayload::read(from).map(OperationRequest::Sign),
        OperationType::Verify => VerifyPayload::read(from).map(OperationRequest::Verify),
        OperationType::Hash => HashPayload::read(from).map(OperationRequest::Hash),
    };
    members.finish(|| request)
}
