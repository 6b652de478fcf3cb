//! The part of a key that the choice and the operations need.

use hsm::KeyRef;

use super::{Key, KeyStatus, KeyVersion, Usage};
use crate::ids::{KeyId, ServiceId};
use crate::operation::Operation;
use formats::clock::Timestamp;
use formats::envelope;
use formats::material::{Algorithm, PublicParts};

/// The part of a key that operations need.
#[derive(Debug)]
pub(super) struct Usable {
    pub(super) id: KeyId,
    /// The `kid` of its envelopes.
    pub(super) kid: String,
    pub(super) service_id: ServiceId,
    /// None of `enc` keys.
    pub(super) version: Option<KeyVersion>,
    pub(super) usage: Usage,
    pub(super) algorithm: Algorithm,
    pub(super) status: KeyStatus,
    pub(super) expires_at: Option<Timestamp>,
    /// The private or secret key in the tokens; none for a public key only.
    pub(super) private: Option<KeyRef>,
    /// The public key as SubjectPublicKeyInfo in DER; empty for secret keys.
    pub(super) spki: Vec<u8>,
    /// The public key, parsed for envelopes; for `enc` keys only.
    pub(super) envelope: Option<envelope::PublicKey>,
}

impl Usable {
    pub(super) fn of(key: &Key) -> Self {
        let spki = key.public_key.as_ref().map(|key| key.to_spki());
        let spki = spki.unwrap_or_default();
        let revision = key.hpke_revision;
        Self {
            id: key.id,
            kid: key.kid(),
            service_id: key.service_id,
            version: key.version,
            usage: key.usage,
            algorithm: key.algorithm,
            status: key.status,
            expires_at: key.expires_at,
            private: key.token_key(),
            envelope: key.public_key.as_ref().filter(|_| key.usage == Usage::Enc).and_then(
                |public| match public.parts() {
                    PublicParts::Kem { kem, key } => {
                        envelope::PublicKey::of_kem(revision?, *kem, key).ok()
                    }
                    PublicParts::Rsa { .. }
                    | PublicParts::Ec { .. }
                    | PublicParts::Ed25519 { .. }
                    | PublicParts::MlDsa { .. } => envelope::PublicKey::from_spki(&spki).ok(),
                },
            ),
            spki,
        }
    }

    /// Whether it supports `operation` and has one of the algorithms `fitting`.
    pub(super) fn fits(&self, operation: Operation, fitting: &[Algorithm]) -> bool {
        let usage = match operation {
            Operation::Encrypt | Operation::Decrypt => Usage::Data,
            Operation::Sign | Operation::Verify => Usage::Sig,
            Operation::Protect | Operation::Unprotect | Operation::Rewrap => Usage::Enc,
            Operation::Hash => return false,
        };
        // The public key verifies without the token.
        let has_half = self.private.is_some() || operation == Operation::Verify;
        self.usage == usage && has_half && fitting.contains(&self.algorithm)
    }

    /// Whether its expiry is past.
    pub(super) fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether it has expired for `operation`. An expired key still decrypts and verifies.
    pub(super) fn is_too_old(&self, operation: Operation, now: Timestamp) -> bool {
        match operation {
            Operation::Protect | Operation::Encrypt | Operation::Sign => self.is_expired(now),
            Operation::Unprotect
            | Operation::Rewrap
            | Operation::Decrypt
            | Operation::Verify
            | Operation::Hash => false,
        }
    }

    /// Whether it can receive envelopes with an `alg` for `family`.
    pub(super) fn seals(&self, family: envelope::Family) -> bool {
        let public = self.envelope.as_ref();
        public.is_some_and(|public| public.family() == family)
    }
}
