//! The table of everything this crate asks of a token.

use super::{Probed, Works};
use crate::import::unwrap::{Unwrapper, Way};
use crate::import::{self, ImportError};
use crate::keys::{self, TemporaryKey};
use crate::proof;
use crate::session::Session;
use crate::{
    Curve, ErrorKind, HsmError, ImportMechanism, KeyAlgorithm, OaepHash, OaepWay, PublicKey,
    Purpose, SignatureScheme,
};

/// What an import is called whose material comes from this process.
pub(super) const MATERIAL: &str = "plaintext";

/// One key of every kind that can come from elsewhere.
const IMPORTED: [(KeyAlgorithm, Purpose); 7] = [
    (KeyAlgorithm::Rsa2048, Purpose::Sign),
    (KeyAlgorithm::P256, Purpose::Sign),
    (KeyAlgorithm::P384, Purpose::Sign),
    (KeyAlgorithm::P521, Purpose::Sign),
    (KeyAlgorithm::Ed25519, Purpose::Sign),
    (KeyAlgorithm::Aes256, Purpose::Data),
    (KeyAlgorithm::HmacSha256, Purpose::Sign),
];

/// Makes a key of every kind and does with it what such keys are for.
pub(super) fn operations(session: &Session) -> Result<Vec<Probed>, HsmError> {
    let mut table = Vec::new();
    for (algorithm, purpose) in [
        (KeyAlgorithm::Rsa2048, Purpose::Envelope),
        (KeyAlgorithm::Rsa2048, Purpose::Sign),
        (KeyAlgorithm::Rsa3072, Purpose::Envelope),
        (KeyAlgorithm::Rsa4096, Purpose::Import),
        (KeyAlgorithm::P256, Purpose::Envelope),
        (KeyAlgorithm::P256, Purpose::Sign),
        (KeyAlgorithm::P384, Purpose::Envelope),
        (KeyAlgorithm::P384, Purpose::Sign),
        (KeyAlgorithm::P521, Purpose::Envelope),
        (KeyAlgorithm::P521, Purpose::Sign),
        (KeyAlgorithm::Ed25519, Purpose::Sign),
        (KeyAlgorithm::Aes128, Purpose::Data),
        (KeyAlgorithm::Aes256, Purpose::Data),
        (KeyAlgorithm::HmacSha256, Purpose::Sign),
    ] {
        let made = keys::temporary(session, algorithm, purpose);
        let known = |probed: &Probed| {
            (probed.operation, probed.algorithm) == ("generate", algorithm.name())
        };
        if !table.iter().any(known) {
            let made = made.as_ref().map(|_| true).map_err(Clone::clone);
            table.push(row("generate", algorithm.name(), made)?);
        }
        if let Ok(key) = made {
            table.extend(uses(session, &key, algorithm, purpose)?);
        }
    }
    let mut bytes = [0; 32];
    let random = session.raw().generate_random_slice(&mut bytes);
    let random = random.map(|()| bytes != [0; 32]).map_err(HsmError::from);
    table.push(row("random", "bytes", random)?);
    Ok(table)
}

/// Everything a key of this kind is used for.
fn uses(
    session: &Session,
    key: &TemporaryKey<'_>,
    algorithm: KeyAlgorithm,
    purpose: Purpose,
) -> Result<Vec<Probed>, HsmError> {
    let handle = key.guarded.handle();
    match (&key.public, purpose) {
        (Some(public @ PublicKey::Rsa { .. }), Purpose::Envelope)
            if algorithm == KeyAlgorithm::Rsa2048 =>
        {
            let tried = OaepHash::ALL.map(|hash| {
                let decrypts = proof::decrypts(session, handle, public, hash);
                let mut tried = row("decrypt", oaep(hash), decrypts)?;
                let raw = session.device().oaep.way(hash) == OaepWay::RawRsa;
                if raw && tried.works == Works::Yes {
                    tried.works =
                        Works::ByFallback("raw RSA, the padding taken off in this process");
                }
                Ok(tried)
            });
            tried.into_iter().collect()
        }
        (Some(PublicKey::Ec { curve, point }), Purpose::Envelope) => {
            let agrees = proof::agrees(session, handle, *curve, point);
            Ok(vec![row("derive", ecdh(*curve), agrees)?])
        }
        (Some(public), Purpose::Sign) => schemes(public)
            .iter()
            .map(|scheme| {
                let signs = proof::signs(session, handle, public, *scheme);
                row("sign", scheme.name(), signs)
            })
            .collect(),
        (None, Purpose::Data) => {
            let opens = proof::opens_what_it_sealed(session, handle);
            let name = match algorithm {
                KeyAlgorithm::Aes128 => "AES-128-GCM",
                _ => "AES-256-GCM",
            };
            Ok(vec![row("encrypt, decrypt", name, opens)?])
        }
        (None, Purpose::Sign) => {
            let macs = proof::macs_alike(session, handle);
            Ok(vec![row("sign", "HMAC-SHA256", macs)?])
        }
        _ => Ok(vec![]),
    }
}

/// How keys of what kind can come in: as material, and by what mechanism wrapped.
pub(super) fn imports(session: &Session) -> Result<Vec<Probed>, HsmError> {
    let mut table = Vec::new();
    for (algorithm, purpose) in IMPORTED {
        let works = match import::takes(session, algorithm, purpose) {
            Ok(Ok(())) => Works::Yes,
            Ok(Err(error)) => Works::Missing(error.to_string()),
            Err(error) if error.kind() == ErrorKind::TokenOut => return Err(error),
            Err(error) => Works::Missing(format!("{error:?}")),
        };
        table.push(Probed {
            operation: MATERIAL,
            algorithm: algorithm.name(),
            works,
        });
    }
    let import_key = keys::temporary(session, KeyAlgorithm::Rsa2048, Purpose::Import)?;
    for mechanism in ImportMechanism::ALL {
        let found = Unwrapper::find(session, import_key.guarded.handle(), mechanism);
        let unwrapper = match import::told_apart(found)? {
            Ok(unwrapper) => unwrapper,
            Err(lack) => {
                table.push(Probed {
                    operation: mechanism.name(),
                    algorithm: "any key",
                    works: Works::Missing(lack.to_string()),
                });
                continue;
            }
        };
        for (algorithm, _) in IMPORTED {
            let unwraps: Result<bool, ImportError> = unwrapper.unwraps_kind(algorithm);
            let works = match (import::told_apart(unwraps)?, unwrapper.way()) {
                (Ok(true), Way::OneStep) => Works::Yes,
                (Ok(true), Way::TwoSteps) => Works::ByFallback("two steps, the second by KWP"),
                (Ok(true), Way::TwoStepsPad) => {
                    Works::ByFallback("two steps, the second by CKM_AES_KEY_WRAP_PAD")
                }
                (Ok(false), _) => Works::Missing("such keys do not unwrap".to_owned()),
                (Err(error), _) => Works::Missing(error.to_string()),
            };
            table.push(Probed {
                operation: mechanism.name(),
                algorithm: algorithm.name(),
                works,
            });
        }
    }
    Ok(table)
}

/// One row. Only a token that is out stops the probe; every other failure is what it looks for.
fn row(
    operation: &'static str,
    algorithm: &'static str,
    tried: Result<bool, HsmError>,
) -> Result<Probed, HsmError> {
    let works = match tried {
        Ok(true) => Works::Yes,
        Ok(false) => Works::Missing("the result is wrong".to_owned()),
        Err(error) if error.kind() == ErrorKind::TokenOut => return Err(error),
        Err(error) => Works::Missing(format!("{error:?}")),
    };
    Ok(Probed {
        operation,
        algorithm,
        works,
    })
}

fn schemes(public: &PublicKey) -> &'static [SignatureScheme] {
    use SignatureScheme as S;
    match public {
        PublicKey::Rsa { .. } => &[
            S::RsaPkcs1Sha256,
            S::RsaPkcs1Sha384,
            S::RsaPkcs1Sha512,
            S::RsaPssSha256,
            S::RsaPssSha384,
            S::RsaPssSha512,
        ],
        PublicKey::Ec { curve, .. } => match curve {
            Curve::P256 => &[S::EcdsaSha256],
            Curve::P384 => &[S::EcdsaSha384],
            Curve::P521 => &[S::EcdsaSha512],
        },
        PublicKey::Ed25519 { .. } => &[S::Ed25519],
    }
}

pub(super) fn oaep(hash: OaepHash) -> &'static str {
    match hash {
        OaepHash::Sha1 => "RSA-OAEP",
        OaepHash::Sha256 => "RSA-OAEP-256",
    }
}

fn ecdh(curve: Curve) -> &'static str {
    match curve {
        Curve::P256 => "ECDH P-256",
        Curve::P384 => "ECDH P-384",
        Curve::P521 => "ECDH P-521",
    }
}

impl KeyAlgorithm {
    /// As people and the API call it.
    fn name(self) -> &'static str {
        match self {
            Self::Rsa2048 => "RSA-2048",
            Self::Rsa3072 => "RSA-3072",
            Self::Rsa4096 => "RSA-4096",
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
            Self::Ed25519 => "Ed25519",
            Self::Aes128 => "AES-128",
            Self::Aes256 => "AES-256",
            Self::HmacSha256 => "HMAC-SHA256",
        }
    }
}

impl SignatureScheme {
    /// As the API calls it.
    fn name(self) -> &'static str {
        match self {
            Self::RsaPkcs1Sha256 => "RSA-SHA256",
            Self::RsaPkcs1Sha384 => "RSA-SHA384",
            Self::RsaPkcs1Sha512 => "RSA-SHA512",
            Self::RsaPssSha256 => "RSA-PSS-SHA256",
            Self::RsaPssSha384 => "RSA-PSS-SHA384",
            Self::RsaPssSha512 => "RSA-PSS-SHA512",
            Self::EcdsaSha256 => "ECDSA-SHA256",
            Self::EcdsaSha384 => "ECDSA-SHA384",
            Self::EcdsaSha512 => "ECDSA-SHA512",
            Self::Ed25519 => "Ed25519",
            Self::HmacSha256 => "HMAC-SHA256",
        }
    }
}
