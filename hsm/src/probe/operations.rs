//! The table of every operation that this crate uses.

use super::report::{Probed, Works};
use crate::crypt::proof;
use crate::import;
use crate::import::unwrap::{Method, Unwrapper};
use crate::keys::{self, TemporaryKey};
use crate::session::Session;
use crate::{HsmError, OaepMethod, Purpose};
use formats::algorithms::{
    Algorithm, Curve, ImportMechanism, MlDsa, OaepHash, PublicParts, SignatureScheme,
};

/// The name of imports with key material from this process.
pub(super) const MATERIAL: &str = "plaintext";

/// One key of every kind that can be imported.
const IMPORTED: [(Algorithm, Purpose); 7] = [
    (Algorithm::Rsa2048, Purpose::Sign),
    (Algorithm::P256, Purpose::Sign),
    (Algorithm::P384, Purpose::Sign),
    (Algorithm::P521, Purpose::Sign),
    (Algorithm::Ed25519, Purpose::Sign),
    (Algorithm::Aes256, Purpose::Data),
    (Algorithm::HmacSha256, Purpose::Sign),
];

/// Generates a key of every kind and uses it for its purpose.
pub(super) fn operations(session: &Session) -> Vec<Probed> {
    let mut table: Vec<Probed> = Vec::new();
    for (algorithm, purpose) in [
        (Algorithm::Rsa2048, Purpose::Envelope),
        (Algorithm::Rsa2048, Purpose::Sign),
        (Algorithm::Rsa3072, Purpose::Envelope),
        (Algorithm::Rsa4096, Purpose::Import),
        (Algorithm::P256, Purpose::Envelope),
        (Algorithm::P256, Purpose::Sign),
        (Algorithm::P384, Purpose::Envelope),
        (Algorithm::P384, Purpose::Sign),
        (Algorithm::P521, Purpose::Envelope),
        (Algorithm::P521, Purpose::Sign),
        (Algorithm::Ed25519, Purpose::Sign),
        (Algorithm::MlDsa44, Purpose::Sign),
        (Algorithm::MlDsa65, Purpose::Sign),
        (Algorithm::MlDsa87, Purpose::Sign),
        (Algorithm::MlKem768, Purpose::Envelope),
        (Algorithm::MlKem1024, Purpose::Envelope),
        (Algorithm::Aes128, Purpose::Data),
        (Algorithm::Aes256, Purpose::Data),
        (Algorithm::HmacSha256, Purpose::Sign),
    ] {
        let made = keys::temporary(session, algorithm, purpose);
        let generates =
            row("generate", algorithm.name(), made.as_ref().map(|_| true).map_err(Clone::clone));
        let known = table.iter_mut().find(|probed: &&mut Probed| {
            (probed.operation, probed.algorithm) == ("generate", algorithm.name())
        });
        match (known, &made, algorithm.curve()) {
            (None, ..) => table.push(generates),
            // The token makes such keys, but not for the former purpose.
            (Some(known), Ok(_), Some(curve)) if !known.works.at_all() => {
                let lacks = std::mem::replace(&mut known.works, Works::Yes);
                let algorithm = ecdh(curve);
                table.push(Probed { operation: "derive", algorithm, works: lacks });
            }
            (Some(_), ..) => {}
        }
        if let Ok(key) = made {
            table.extend(uses(session, &key, algorithm, purpose));
        }
    }
    let hybrid = Algorithm::P256MlKem768;
    table.push(row("decapsulate", hybrid.name(), opens_in_parts(session, hybrid)));
    let mut bytes = [0; 32];
    let random = session.raw().fill_random(&mut bytes);
    let random = random.map(|()| bytes != [0; 32]);
    table.push(row("random", "bytes", random));
    table
}

/// Whether the token holds all parts of a key at the same time, under one id, and each of them works.
fn opens_in_parts(session: &Session, algorithm: Algorithm) -> Result<bool, HsmError> {
    let parts = algorithm.parts().into_iter();
    let made = parts.map(|part| keys::temporary(session, part, Purpose::Envelope));
    for key in made.collect::<Result<Vec<_>, _>>()? {
        let (handle, public) = (key.guarded.handle(), key.public.as_ref());
        let Some(public) = public else {
            return Ok(false);
        };
        if !proof::is_private_half(session, handle, public, Purpose::Envelope)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Every operation with keys of this kind.
fn uses(
    session: &Session,
    key: &TemporaryKey<'_>,
    algorithm: Algorithm,
    purpose: Purpose,
) -> Vec<Probed> {
    let handle = key.guarded.handle();
    match (&key.public, purpose) {
        (Some(public @ PublicParts::Rsa { .. }), Purpose::Envelope)
            if algorithm == Algorithm::Rsa2048 =>
        {
            let tried = OaepHash::ALL.map(|hash| {
                let decrypts = proof::decrypts(session, handle, public, hash);
                let mut probed = row("decrypt", hash.name(), decrypts);
                let raw = session.connection().oaep().of(hash) == OaepMethod::RawRsa;
                if raw && probed.works == Works::Yes {
                    probed.works =
                        Works::ByFallback("raw RSA, the padding removed in this process");
                }
                probed
            });
            tried.to_vec()
        }
        (Some(PublicParts::Ec { curve, point }), Purpose::Envelope) => {
            let agrees = proof::agrees(session, handle, *curve, point);
            vec![row("derive", ecdh(*curve), agrees)]
        }
        (Some(PublicParts::Kem { kem, key }), Purpose::Envelope) => {
            let decapsulates = proof::decapsulates(session, handle, kem.ml_kem(), key);
            vec![row("decapsulate", kem.name(), decapsulates)]
        }
        (Some(public), Purpose::Sign) => schemes(public)
            .iter()
            .map(|scheme| {
                let signs = proof::signs(session, handle, public, *scheme);
                let mut probed = row("sign", scheme.name(), signs);
                if probed.works == Works::Yes && !proof::signs_digests(session, handle, *scheme) {
                    probed.works =
                        Works::ByFallback("the token hashes the message, and signs no digests");
                }
                probed
            })
            .collect(),
        (None, Purpose::Data) => {
            let opens = proof::decrypts_own_ciphertext(session, handle);
            let name = if algorithm == Algorithm::Aes128 { "AES-128-GCM" } else { "AES-256-GCM" };
            vec![row("encrypt, decrypt", name, opens)]
        }
        (None, Purpose::Sign) => {
            let macs = proof::repeats_mac(session, handle);
            vec![row("sign", "HMAC-SHA256", macs)]
        }
        _ => vec![],
    }
}

/// Which keys can be imported, as material and wrapped by each mechanism.
pub(super) fn imports(session: &Session) -> Vec<Probed> {
    let material = IMPORTED.map(|(algorithm, purpose)| {
        let works = verdict(import::is_supported(session, algorithm, purpose), |()| Works::Yes);
        Probed { operation: MATERIAL, algorithm: algorithm.name(), works }
    });
    let mut table = material.to_vec();
    let import_key = keys::temporary(session, Algorithm::Rsa2048, Purpose::Import);
    for mechanism in ImportMechanism::ALL {
        let probed = |algorithm, works| Probed { operation: mechanism.name(), algorithm, works };
        let found = import_key.as_ref().map_err(Clone::clone).and_then(|key| {
            import::separate(Unwrapper::find(session, key.guarded.handle(), mechanism))
        });
        let unwrapper = match found {
            Ok(Ok(unwrapper)) => unwrapper,
            Ok(Err(error)) => {
                table.push(probed("any key", Works::Missing(error.to_string())));
                continue;
            }
            Err(error) => {
                table.push(probed("any key", Works::Missing(format!("{error:?}"))));
                continue;
            }
        };
        for (algorithm, purpose) in IMPORTED {
            let unwraps = import::unwraps(session, &unwrapper, algorithm, purpose);
            let works = verdict(unwraps, |()| match unwrapper.method() {
                Method::OneStep => Works::Yes,
                Method::TwoSteps => Works::ByFallback("two steps, the second by KWP"),
                Method::TwoStepsPad => {
                    Works::ByFallback("two steps, the second by CKM_AES_KEY_WRAP_PAD")
                }
            });
            table.push(probed(algorithm.name(), works));
        }
    }
    table
}

/// The result of a trial of an import.
fn verdict(tried: import::Outcome<()>, works: impl FnOnce(()) -> Works) -> Works {
    match tried {
        Ok(Ok(())) => works(()),
        Ok(Err(error)) => Works::Missing(error.to_string()),
        Err(error) => Works::Missing(format!("{error:?}")),
    }
}

/// One row. No failure ends the probe: a token may hang up on one operation and have all others.
fn row(operation: &'static str, algorithm: &'static str, tried: Result<bool, HsmError>) -> Probed {
    let works = match tried {
        Ok(true) => Works::Yes,
        Ok(false) => Works::Missing("the result is wrong".to_owned()),
        Err(error) => Works::Missing(format!("{error:?}")),
    };
    Probed { operation, algorithm, works }
}

fn schemes(public: &PublicParts) -> &'static [SignatureScheme] {
    use SignatureScheme as S;
    match public {
        PublicParts::Rsa { .. } => &[
            S::RsaSha256,
            S::RsaSha384,
            S::RsaSha512,
            S::RsaPssSha256,
            S::RsaPssSha384,
            S::RsaPssSha512,
        ],
        PublicParts::Ec { curve, .. } => match curve {
            Curve::P256 => &[S::EcdsaSha256],
            Curve::P384 => &[S::EcdsaSha384],
            Curve::P521 => &[S::EcdsaSha512],
        },
        PublicParts::Ed25519 { .. } => &[S::Ed25519],
        PublicParts::MlDsa { set, .. } => match set {
            MlDsa::MlDsa44 => &[S::MlDsa44],
            MlDsa::MlDsa65 => &[S::MlDsa65],
            MlDsa::MlDsa87 => &[S::MlDsa87],
        },
        PublicParts::Kem { .. } => &[],
    }
}

fn ecdh(curve: Curve) -> &'static str {
    match curve {
        Curve::P256 => "ECDH P-256",
        Curve::P384 => "ECDH P-384",
        Curve::P521 => "ECDH P-521",
    }
}
