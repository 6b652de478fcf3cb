//! The keys that sign checkpoints.

use formats::algorithms::SignatureScheme;
use hsm::{HsmError, KeyRef, Token};
use uuid::Uuid;

use formats::clock::Timestamp;
use formats::material::{MlDsa, PublicKey, PublicParts};
use formats::tlog::{
    Checkpoint, InvalidKey, InvalidNote, Note, Signature, SignatureKind, VerifierKey,
    cosigned_message,
};

/// A key pair whose private key is in the token.
#[derive(Clone, Debug)]
pub(super) struct SigningKey {
    id: Uuid,
    kind: SignatureKind,
    public: Vec<u8>,
}

/// Why a checkpoint was not signed.
#[derive(Debug, thiserror::Error)]
pub enum NotSigned {
    /// The token did not sign.
    #[error("the token did not sign: {0:?}")]
    Token(#[from] HsmError),
    /// The origin or the signature is not valid.
    #[error("the token made a signature that the public key does not verify")]
    Invalid,
}

impl SigningKey {
    /// The key with this `CKA_ID` and this SubjectPublicKeyInfo. None for other kinds of keys.
    pub(super) fn new(id: Uuid, spki: &[u8]) -> Option<Self> {
        let public = PublicKey::from_spki(spki).ok()?;
        let (kind, public) = match public.parts() {
            PublicParts::Ed25519 { point } => (SignatureKind::Ed25519, point.clone()),
            PublicParts::Ec { curve: formats::material::Curve::P256, .. } => {
                (SignatureKind::EcdsaP256, spki.to_vec())
            }
            PublicParts::MlDsa { set: MlDsa::MlDsa44, key } => {
                (SignatureKind::MlDsaCosignature, key.clone())
            }
            PublicParts::Rsa { .. }
            | PublicParts::Ec { .. }
            | PublicParts::MlDsa { .. }
            | PublicParts::Kem { .. } => {
                return None;
            }
        };
        Some(Self { id, kind, public })
    }

    /// Whether clients of public logs can verify its signatures.
    pub(super) fn is_ed25519(&self) -> bool {
        self.kind == SignatureKind::Ed25519
    }

    /// The public key of the log `origin`.
    pub(super) fn verifier(&self, origin: &str) -> Result<VerifierKey, InvalidKey> {
        VerifierKey::new(origin, self.kind, &self.public)
    }

    /// Signs a checkpoint in the token.
    pub(super) async fn sign(
        &self,
        token: &Token,
        checkpoint: &Checkpoint,
    ) -> Result<String, NotSigned> {
        let key = self.verifier(&checkpoint.origin).map_err(|_| NotSigned::Invalid)?;
        let text = checkpoint.to_string();
        let private = KeyRef::internal(*self.id.as_bytes());
        let bytes = match self.kind {
            SignatureKind::Ed25519 => {
                let scheme = SignatureScheme::Ed25519;
                token.sign(&private, scheme, text.as_bytes()).await?
            }
            SignatureKind::EcdsaP256 => {
                let scheme = SignatureScheme::EcdsaSha256;
                der(&token.sign(&private, scheme, text.as_bytes()).await?)
            }
            SignatureKind::Cosignature | SignatureKind::MlDsaCosignature => {
                return Err(NotSigned::Invalid);
            }
        };
        let signature = Signature { name: checkpoint.origin.clone(), key_id: key.id(), bytes };
        signed(Note::new(text, vec![signature]), &key)
    }

    /// Adds a cosignature with ML-DSA-44 to the note of a checkpoint.
    pub(super) async fn cosign(
        &self,
        token: &Token,
        (note, checkpoint): (&str, &Checkpoint),
        now: Timestamp,
    ) -> Result<String, NotSigned> {
        let key = self.verifier(&checkpoint.origin).map_err(|_| NotSigned::Invalid)?;
        let time = u64::try_from(now.as_millis() / 1_000).map_err(|_| NotSigned::Invalid)?;
        let message = cosigned_message(key.name(), time, checkpoint).ok_or(NotSigned::Invalid)?;
        let private = KeyRef::internal(*self.id.as_bytes());
        let signature = token.sign(&private, SignatureScheme::MlDsa44, &message);
        let signature = Signature {
            name: checkpoint.origin.clone(),
            key_id: key.id(),
            bytes: [&time.to_be_bytes()[..], &signature.await?].concat(),
        };
        let note: Note = note.parse().map_err(|_| NotSigned::Invalid)?;
        signed(note.with(signature), &key)
    }
}

/// The text of a note that `key` signed.
fn signed(note: Result<Note, InvalidNote>, key: &VerifierKey) -> Result<String, NotSigned> {
    let note = note.map_err(|_| NotSigned::Invalid)?;
    if note.is_signed_by(key) { Ok(note.to_string()) } else { Err(NotSigned::Invalid) }
}

/// The DER form of an ECDSA signature of r and s, concatenated. Both have at most 32 bytes, so all
/// lengths take one byte.
fn der(signature: &[u8]) -> Vec<u8> {
    let (r, s) = signature.split_at(signature.len() / 2);
    let numbers = [integer(r), integer(s)].concat();
    [&[0x30, short_len(&numbers)], numbers.as_slice()].concat()
}

fn integer(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let mut digits = number.get(zeros..).unwrap_or_default().to_vec();
    if digits.first().is_none_or(|first| *first >= 0x80) {
        digits.insert(0, 0);
    }
    [&[0x02, short_len(&digits)], digits.as_slice()].concat()
}

fn short_len(bytes: &[u8]) -> u8 {
    u8::try_from(bytes.len()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positive_and_minimal() {
        let signature = [&[0; 31][..], &[0x80], &[0; 30], &[1, 2]].concat();
        assert_eq!(der(&signature), [0x30, 8, 0x02, 2, 0, 0x80, 0x02, 2, 1, 2]);
        assert_eq!(der(&[0; 64]), [0x30, 6, 0x02, 1, 0, 0x02, 1, 0]);
    }
}
