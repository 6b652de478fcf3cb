//! `POST /api/v1/operations`.

pub(super) mod bodies;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use self::bodies::{
    DecryptPayload, Decrypted, Encoded, EncryptPayload, HashPayload, OperationAnswer,
    OperationRequest, SignPayload, Signed, Verified, VerifyPayload,
};
use crate::base64_bytes;
use crate::error::Error;
use crate::open_set::open_set;
use crate::transport::Call;
use crate::{Client, Payload};

open_set! {
    /// The algorithms of `encrypt` and `decrypt`.
    Cipher {
        Aes256Gcm = "AES-256-GCM",
        Aes128Gcm = "AES-128-GCM",
    }
}

open_set! {
    /// The algorithms of `sign` and `verify`.
    SignatureAlgorithm {
        RsaSha256 = "RSA-SHA256",
        RsaSha384 = "RSA-SHA384",
        RsaSha512 = "RSA-SHA512",
        RsaPssSha256 = "RSA-PSS-SHA256",
        RsaPssSha384 = "RSA-PSS-SHA384",
        RsaPssSha512 = "RSA-PSS-SHA512",
        EcdsaSha256 = "ECDSA-SHA256",
        EcdsaSha384 = "ECDSA-SHA384",
        EcdsaSha512 = "ECDSA-SHA512",
        Ed25519 = "Ed25519",
        MlDsa44 = "ML-DSA-44",
        MlDsa65 = "ML-DSA-65",
        MlDsa87 = "ML-DSA-87",
        HmacSha256 = "HMAC-SHA256",
    }
}

open_set! {
    /// The algorithms of `hash`.
    HashAlgorithm {
        Sha256 = "SHA-256",
        Sha384 = "SHA-384",
        Sha512 = "SHA-512",
    }
}

open_set! {
    /// The formats of ECDSA signatures.
    SignatureFormat {
        P1363 = "p1363",
        Der = "der",
    }
}

/// The input of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// A JSON value.
    Json(&'a Payload),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// How to encrypt. The default is AES-256-GCM with the key that was activated last.
#[derive(Clone, Debug, Default)]
pub struct Encrypt {
    /// The algorithm.
    pub algorithm: Option<Cipher>,
    /// The ID of the key.
    pub key_id: Option<String>,
    /// Additional authenticated data.
    pub aad: Option<Vec<u8>>,
}

/// An encrypted value. Store all members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ciphertext {
    /// The encrypted bytes.
    #[serde(with = "base64_bytes")]
    pub ciphertext: Vec<u8>,
    /// The initialization vector.
    #[serde(with = "base64_bytes")]
    pub iv: Vec<u8>,
    /// The authentication tag.
    #[serde(with = "base64_bytes")]
    pub tag: Vec<u8>,
    /// The algorithm.
    pub algorithm: Cipher,
    /// The ID of the key.
    pub key_id: String,
}

/// How to sign.
#[derive(Clone, Debug)]
pub struct Sign {
    /// The algorithm.
    pub algorithm: SignatureAlgorithm,
    /// The ID of the key; by default the one that was activated last.
    pub key_id: Option<String>,
    /// Whether the data is a digest.
    pub prehashed: bool,
    /// The format of an ECDSA signature; by default P1363.
    pub format: Option<SignatureFormat>,
}

impl Sign {
    /// With this algorithm and the key that was activated last.
    pub fn with(algorithm: SignatureAlgorithm) -> Self {
        Self { algorithm, key_id: None, prehashed: false, format: None }
    }
}

/// A signature and what is needed to verify it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The bytes of the signature.
    pub signature: Vec<u8>,
    /// The algorithm.
    pub algorithm: SignatureAlgorithm,
    /// The ID of the key.
    pub key_id: String,
    /// Whether the data is a digest.
    pub prehashed: bool,
    /// The format of an ECDSA signature; by default P1363.
    pub format: Option<SignatureFormat>,
}

/// A hash.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Digest {
    /// The bytes of the hash.
    #[serde(with = "base64_bytes")]
    pub hash: Vec<u8>,
    /// The algorithm.
    pub algorithm: HashAlgorithm,
}

impl Client {
    /// Encrypts a value in the token.
    pub async fn encrypt(&self, data: Data<'_>, how: &Encrypt) -> Result<Ciphertext, Error> {
        let (data, encoding) = Encoded::of(data)?;
        let payload = EncryptPayload {
            data,
            encoding,
            algorithm: how.algorithm.as_ref().unwrap_or(&Cipher::Aes256Gcm),
            key_id: how.key_id.as_deref(),
            aad: how.aad.clone(),
        };
        self.operate("encrypt", payload, |result| serde_json::from_str(result.get()).ok()).await
    }

    /// Decrypts a JSON value. A failure is final.
    pub async fn decrypt(
        &self,
        encrypted: &Ciphertext,
        aad: Option<&[u8]>,
    ) -> Result<Payload, Error> {
        let payload = DecryptPayload::of(encrypted, aad, None);
        self.operate("decrypt", payload, |result| {
            let decrypted: Decrypted<'_> = serde_json::from_str(result.get()).ok()?;
            Some(Payload::from_raw(decrypted.data))
        })
        .await
    }

    /// Decrypts bytes. A failure is final.
    pub async fn decrypt_bytes(
        &self,
        encrypted: &Ciphertext,
        aad: Option<&[u8]>,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let payload = DecryptPayload::of(encrypted, aad, Some("base64"));
        self.operate("decrypt", payload, |result| {
            let decrypted: Decrypted<'_> = serde_json::from_str(result.get()).ok()?;
            Payload::from_raw(decrypted.data).to_bytes().ok()
        })
        .await
    }

    /// Signs a value in the token.
    pub async fn sign(&self, data: Data<'_>, how: &Sign) -> Result<Signature, Error> {
        let (data, encoding) = Encoded::of(data)?;
        let payload = SignPayload {
            data,
            encoding,
            algorithm: &how.algorithm,
            key_id: how.key_id.as_deref(),
            prehashed: how.prehashed,
            signature_format: how.format.as_ref(),
        };
        let read = |result: &RawValue| serde_json::from_str::<Signed>(result.get()).ok();
        let signed = self.operate("sign", payload, read).await?;
        Ok(Signature {
            signature: signed.signature,
            algorithm: signed.algorithm,
            key_id: signed.key_id,
            prehashed: how.prehashed,
            format: how.format.clone(),
        })
    }

    /// Whether a signature is valid. Public keys can also do it [here](Client::verify_locally).
    pub async fn verify(&self, data: Data<'_>, signature: &Signature) -> Result<bool, Error> {
        let (data, encoding) = Encoded::of(data)?;
        let payload = VerifyPayload {
            data,
            encoding,
            signature: &signature.signature,
            algorithm: &signature.algorithm,
            key_id: &signature.key_id,
            prehashed: signature.prehashed,
            signature_format: signature.format.as_ref(),
        };
        let read = |result: &RawValue| serde_json::from_str::<Verified>(result.get()).ok();
        Ok(self.operate("verify", payload, read).await?.valid)
    }

    /// Hashes a value.
    pub async fn hash(&self, data: Data<'_>, algorithm: &HashAlgorithm) -> Result<Digest, Error> {
        let (data, encoding) = Encoded::of(data)?;
        let payload = HashPayload { data, encoding, algorithm };
        self.operate("hash", payload, |result| serde_json::from_str(result.get()).ok()).await
    }

    async fn operate<P: Serialize, T>(
        &self,
        operation: &'static str,
        payload: P,
        read: impl Fn(&RawValue) -> Option<T>,
    ) -> Result<T, Error> {
        let call = Call::post("/api/v1/operations", &OperationRequest { operation, payload })?;
        let answer = self.answer(call).await?;
        let operated: OperationAnswer<'_> = answer.parse()?;
        read(operated.result).ok_or_else(|| answer.unexpected())
    }
}
