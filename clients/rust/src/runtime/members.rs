//! The members of the bodies of the runtime API, for the comparison with the OpenAPI document.

use super::batch::{BatchAnswer, Item};
use super::data_key::{DataKeyAnswer, DataKeyRequest};
use super::operations::bodies::{
    Decrypted, OperationAnswer, Signed, Verified, names_of_payloads as operation_payloads,
};
use super::protect::{ProtectRequest, ProtectedPayload};
use super::rewrap::{RewrapRequest, RewrappedPayload};
use super::unprotect::{UnprotectRequest, UnprotectedPayload};
use super::*;
use crate::conformance::known::{read, written};
use crate::transport::ErrorObject;
use crate::{Envelope, Payload, Problem, Scope};

/// The members of each schema.
pub(crate) fn members() -> Vec<(&'static str, Vec<&'static str>)> {
    let (payload, scope, target) = (Payload::bytes(b""), Scope::new(), Target::new());
    let protect = written(&ProtectRequest::new(&payload, &scope).unwrap());
    let unprotect = written(&UnprotectRequest::new(Sealed::Legacy(""), &scope));
    let rewrap = written(&RewrapRequest::new(Sealed::Legacy(""), &scope, &target));
    let data_key =
        DataKeyRequest { policy_number: None, context: None, algorithm: None, plaintext: None };
    let item = |members: Vec<&'static str>| [members, read::<Item>()].concat();
    let result = [
        read::<Ciphertext>(),
        read::<Signed>(),
        read::<Verified>(),
        read::<Digest>(),
        read::<Decrypted<'_>>(),
    ];
    let mut all = vec![
        ("CallerIdentity", read::<Caller>()),
        ("Credential", read::<CallerCredential>()),
        ("DataKey", read::<DataKeyAnswer>()),
        ("DataKeyRequest", written(&data_key)),
        ("EnvelopeHeaders", read::<EnvelopeHeaders>()),
        // The ephemeral key is kept as it is.
        ("EphemeralKey", vec!["crv", "kty", "x", "y"]),
        ("ErrorObject", read::<ErrorObject>()),
        ("ErrorResponse", vec!["error", "requestId"]),
        ("Health", read::<Health>()),
        ("HealthAudit", read::<HealthAudit>()),
        ("HealthChecks", read::<HealthChecks>()),
        ("HealthDatabase", read::<HealthDatabase>()),
        ("HealthHsm", read::<HealthHsm>()),
        ("HealthRateLimiter", read::<HealthPart>()),
        ("HealthRecords", read::<HealthPart>()),
        ("HealthToken", read::<HealthToken>()),
        ("Jwe", read::<Envelope>()),
        ("JwkSet", read::<JwkSet>()),
        ("OperationAnswer", read::<OperationAnswer<'_>>()),
        ("OperationResult", result.concat()),
        ("PolicySummary", read::<PolicySummary>()),
        ("Problem", read::<Problem>()),
        ("ProtectBatch", vec!["items"]),
        ("ProtectRequest", protect),
        ("ProtectedBatch", read::<BatchAnswer<'_>>()),
        ("ProtectedItem", item(read::<ProtectedPayload<'_>>())),
        ("ProtectedPayload", read::<ProtectedPayload<'_>>()),
        ("PublishedJwk", read::<PublishedJwk>()),
        ("RateLimit", read::<RateLimit>()),
        ("RewrapBatch", vec!["items"]),
        ("RewrapItem", rewrap.clone()),
        ("RewrapRequest", rewrap),
        ("RewrappedBatch", read::<BatchAnswer<'_>>()),
        ("RewrappedItem", item(read::<RewrappedPayload>())),
        ("RewrappedPayload", read::<RewrappedPayload>()),
        ("UnprotectBatch", vec!["items"]),
        ("UnprotectItem", unprotect.clone()),
        ("UnprotectRequest", unprotect),
        ("Unprotected", read::<UnprotectedPayload<'_>>()),
        ("UnprotectedBatch", read::<BatchAnswer<'_>>()),
        ("UnprotectedHeader", vec!["epk"]),
        ("UnprotectedItem", item(read::<UnprotectedPayload<'_>>())),
    ];
    for request in
        ["DecryptRequest", "EncryptRequest", "HashRequest", "SignRequest", "VerifyRequest"]
    {
        all.push((request, vec!["operation", "payload"]));
    }
    all.extend(operation_payloads());
    all
}
