//! The public keys that verify notes (C2SP `signed-note`).

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1, ED25519, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};

use super::cosigned::cosigned_message;
use crate::algorithms::MlDsa;
use crate::binary::{from_base64, to_base64};

/// A key that verifies notes. Its text is `NAME+ID+BASE64`, the verifier key of C2SP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    kind: SignatureKind,
    public: Vec<u8>,
}

/// The signature type of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureKind {
    /// Ed25519. The public key is the point of 32 bytes.
    Ed25519,
    /// ECDSA on P-256 with SHA-256. The public key is a SubjectPublicKeyInfo, and the signature is in
    /// DER.
    EcdsaP256,
    /// Ed25519 over a checkpoint and a time (C2SP `tlog-cosignature`). The public key is the point of 32
    /// bytes, and the signature follows the time.
    Cosignature,
    /// ML-DSA-44 over a tree and a time (C2SP `tlog-cosignature`). The public key is that of FIPS 204, and
    /// the signature follows the time.
    MlDsaCosignature,
}

/// The text is not a verifier key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    #[error("must be a verifier key: NAME+ID+BASE64")]
    Format,
    #[error("must have a name without spaces and plus signs")]
    Name,
    #[error("must be an Ed25519, ECDSA P-256 or cosignature key")]
    Kind,
    #[error("must have the key ID of its name and public key")]
    Id,
}

impl VerifierKey {
    pub fn new(name: &str, kind: SignatureKind, public: &[u8]) -> Result<Self, InvalidKey> {
        if !is_key_name(name) {
            return Err(InvalidKey::Name);
        }
        Ok(Self { name: name.to_owned(), kind, public: public.to_vec() })
    }

    /// The name of the key: the origin of its log.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The signature type of the key.
    pub fn kind(&self) -> SignatureKind {
        self.kind
    }

    /// The number that distinguishes keys of one name.
    pub fn id(&self) -> u32 {
        let hash = match self.kind {
            SignatureKind::Ed25519
            | SignatureKind::Cosignature
            | SignatureKind::MlDsaCosignature => Sha256::new()
                .chain_update(&self.name)
                .chain_update([b'\n', self.kind.identifier()])
                .chain_update(&self.public),
            SignatureKind::EcdsaP256 => Sha256::new_with_prefix(&self.public),
        };
        let hash: [u8; 32] = hash.finalize().into();
        let [first, second, third, fourth, ..] = hash;
        u32::from_be_bytes([first, second, third, fourth])
    }

    /// Whether this is a signature of `text` by the key.
    pub fn verifies(&self, text: &str, signature: &[u8]) -> bool {
        let by_ed25519 = |text: &str, signature: &[u8]| {
            let key = UnparsedPublicKey::new(&ED25519, &self.public);
            key.verify(text.as_bytes(), signature).is_ok()
        };
        match self.kind {
            SignatureKind::Ed25519 => by_ed25519(text, signature),
            SignatureKind::EcdsaP256 => {
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.public);
                key.verify(text.as_bytes(), signature).is_ok()
            }
            SignatureKind::Cosignature => {
                timestamped(signature).is_some_and(|(time, signature)| {
                    by_ed25519(&format!("cosignature/v1\ntime {time}\n{text}"), signature)
                })
            }
            SignatureKind::MlDsaCosignature => {
                timestamped(signature).is_some_and(|(time, signature)| {
                    let checkpoint = text.parse().ok();
                    let message = checkpoint.and_then(|it| cosigned_message(&self.name, time, &it));
                    let key = UnparsedPublicKey::new(MlDsa::MlDsa44.verification(), &self.public);
                    message.is_some_and(|message| key.verify(&message, signature).is_ok())
                })
            }
        }
    }
}

impl SignatureKind {
    /// Whether its signatures are cosignatures.
    pub const fn is_cosignature(self) -> bool {
        matches!(self, Self::Cosignature | Self::MlDsaCosignature)
    }

    /// The byte that identifies the type.
    const fn identifier(self) -> u8 {
        match self {
            Self::Ed25519 => 1,
            Self::EcdsaP256 => 2,
            Self::Cosignature => 4,
            Self::MlDsaCosignature => 6,
        }
    }
}

/// The time of a cosignature, in seconds since 1970, and its signature.
pub(super) fn timestamped(cosignature: &[u8]) -> Option<(u64, &[u8])> {
    let (time, signature) = cosignature.split_first_chunk()?;
    let time = u64::from_be_bytes(*time);
    i64::try_from(time).is_ok().then_some((time, signature))
}

/// Whether `name` can be the name of a key.
pub(crate) fn is_key_name(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(|it: char| it.is_whitespace() || it.is_control() || it == '+')
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[self.kind.identifier()], self.public.as_slice()].concat();
        write!(f, "{}+{:08x}+{}", self.name, self.id(), to_base64(&key))
    }
}

impl FromStr for VerifierKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(InvalidKey::Format);
        };
        let key = from_base64(key).map_err(|_| InvalidKey::Format)?;
        let key = match key.split_first() {
            Some((1, point)) if point.len() == 32 => {
                Self::new(name, SignatureKind::Ed25519, point)?
            }
            Some((4, point)) if point.len() == 32 => {
                Self::new(name, SignatureKind::Cosignature, point)?
            }
            Some((6, public)) if public.len() == MlDsa::MlDsa44.public_len() => {
                Self::new(name, SignatureKind::MlDsaCosignature, public)?
            }
            Some((2, spki)) => Self::new(name, SignatureKind::EcdsaP256, spki)?,
            Some(_) => return Err(InvalidKey::Kind),
            None => return Err(InvalidKey::Format),
        };
        if format!("{:08x}", key.id()) == id { Ok(key) } else { Err(InvalidKey::Id) }
    }
}
