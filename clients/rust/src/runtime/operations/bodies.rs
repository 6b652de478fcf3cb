//! The bodies of operations.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Cipher, Ciphertext, Data, HashAlgorithm, SignatureAlgorithm, SignatureFormat};
use crate::base64_bytes;
use crate::error::Error;

#[derive(Serialize)]
pub(in crate::runtime) struct OperationRequest<P> {
    pub(super) operation: &'static str,
    pub(super) payload: P,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::runtime) struct OperationAnswer<'a> {
    #[expect(dead_code, reason = "the results of operations carry no ID")]
    request_id: String,
    #[serde(borrow)]
    pub(super) result: &'a RawValue,
    #[expect(dead_code, reason = "the time of the answer")]
    timestamp: String,
}

/// `data` with its `encoding`.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Encoded<'a> {
    Json(&'a RawValue),
    Base64(#[serde(with = "base64_bytes")] &'a [u8]),
}

impl<'a> Encoded<'a> {
    pub(super) fn of(data: Data<'a>) -> Result<(Self, Option<&'static str>), Error> {
        Ok(match data {
            Data::Json(payload) => (Self::Json(payload.as_raw()?), None),
            Data::Bytes(bytes) => (Self::Base64(bytes), Some("base64")),
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::runtime) struct EncryptPayload<'a> {
    pub(super) data: Encoded<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<&'static str>,
    pub(super) algorithm: &'a Cipher,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none", with = "base64_bytes::optional")]
    pub(super) aad: Option<Vec<u8>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::runtime) struct DecryptPayload<'a> {
    #[serde(with = "base64_bytes")]
    pub(super) ciphertext: &'a [u8],
    #[serde(with = "base64_bytes")]
    pub(super) iv: &'a [u8],
    #[serde(with = "base64_bytes")]
    pub(super) tag: &'a [u8],
    pub(super) algorithm: &'a Cipher,
    pub(super) key_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none", with = "base64_bytes::optional")]
    pub(super) aad: Option<Vec<u8>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::runtime) struct SignPayload<'a> {
    pub(super) data: Encoded<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<&'static str>,
    pub(super) algorithm: &'a SignatureAlgorithm,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key_id: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) prehashed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature_format: Option<&'a SignatureFormat>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::runtime) struct VerifyPayload<'a> {
    pub(super) data: Encoded<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<&'static str>,
    #[serde(with = "base64_bytes")]
    pub(super) signature: &'a [u8],
    pub(super) algorithm: &'a SignatureAlgorithm,
    pub(super) key_id: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) prehashed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature_format: Option<&'a SignatureFormat>,
}

#[derive(Serialize)]
pub(in crate::runtime) struct HashPayload<'a> {
    pub(super) data: Encoded<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<&'static str>,
    pub(super) algorithm: &'a HashAlgorithm,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::runtime) struct Signed {
    #[serde(with = "base64_bytes")]
    pub(super) signature: Vec<u8>,
    pub(super) algorithm: SignatureAlgorithm,
    pub(super) key_id: String,
}

#[derive(Deserialize)]
pub(in crate::runtime) struct Verified {
    pub(super) valid: bool,
}

#[derive(Deserialize)]
pub(in crate::runtime) struct Decrypted<'a> {
    #[serde(borrow)]
    pub(super) data: &'a RawValue,
}

impl<'a> DecryptPayload<'a> {
    pub(super) fn of(
        from: &'a Ciphertext,
        aad: Option<&[u8]>,
        encoding: Option<&'static str>,
    ) -> Self {
        Self {
            ciphertext: &from.ciphertext,
            iv: &from.iv,
            tag: &from.tag,
            algorithm: &from.algorithm,
            key_id: &from.key_id,
            encoding,
            aad: aad.map(ToOwned::to_owned),
        }
    }
}

#[cfg(test)]
pub(in crate::runtime) fn names_of_payloads() -> [(&'static str, Vec<&'static str>); 5] {
    use crate::conformance::known::written;

    let (algorithm, empty) = (SignatureAlgorithm::Ed25519, [].as_slice());
    let data = || Encoded::Base64(empty);
    let encrypt = EncryptPayload {
        data: data(),
        encoding: None,
        algorithm: &Cipher::Aes256Gcm,
        key_id: None,
        aad: None,
    };
    let encrypted = Ciphertext {
        ciphertext: Vec::new(),
        iv: Vec::new(),
        tag: Vec::new(),
        algorithm: Cipher::Aes256Gcm,
        key_id: String::new(),
    };
    let sign = SignPayload {
        data: data(),
        encoding: None,
        algorithm: &algorithm,
        key_id: None,
        prehashed: false,
        signature_format: None,
    };
    let verify = VerifyPayload {
        data: data(),
        encoding: None,
        signature: empty,
        algorithm: &algorithm,
        key_id: "",
        prehashed: false,
        signature_format: None,
    };
    let hash = HashPayload { data: data(), encoding: None, algorithm: &HashAlgorithm::Sha256 };
    [
        ("DecryptPayload", written(&DecryptPayload::of(&encrypted, None, None))),
        ("EncryptPayload", written(&encrypt)),
        ("HashPayload", written(&hash)),
        ("SignPayload", written(&sign)),
        ("VerifyPayload", written(&verify)),
    ]
}
