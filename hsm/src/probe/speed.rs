//! The rates of the main operations, one after the other on one session.

use std::time::{Duration, Instant};

use super::report::Speed;
use crate::crypt::proof;
use crate::crypt::{ecdh, gcm, kem, oaep, sign};
use crate::keys;
use crate::session::Session;
use crate::{HsmError, Purpose};
use formats::algorithms::{Algorithm, Curve, OaepHash, PublicParts, SignatureScheme};

/// How long each operation is repeated.
const MOMENT: Duration = Duration::from_millis(200);

/// Operations that the token lacks are omitted.
pub(super) fn measure(session: &Session) -> Vec<Speed> {
    let mut speeds = Vec::new();
    for (operation, algorithm) in [
        ("RSA-2048 decrypt (OAEP)", Algorithm::Rsa2048),
        ("RSA-3072 decrypt (OAEP)", Algorithm::Rsa3072),
    ] {
        let Ok(key) = keys::temporary(session, algorithm, Purpose::Envelope) else {
            continue;
        };
        let Some(public) = &key.public else { continue };
        let Ok(ciphertext) = proof::encrypt(public, OaepHash::Sha1, &[7; 32]) else { continue };
        let handle = key.guarded.handle();
        speeds.extend(time(operation, || {
            oaep::decrypt(session, handle, OaepHash::Sha1, &ciphertext)
        }));
    }
    if let Ok(key) = keys::temporary(session, Algorithm::P256, Purpose::Envelope)
        && let Some(PublicParts::Ec { point, .. }) = &key.public
    {
        let handle = key.guarded.handle();
        speeds.extend(time("P-256 derive (ECDH)", || {
            ecdh::derive(session, handle, Curve::P256, point)
        }));
    }
    if let Ok(key) = keys::temporary(session, Algorithm::MlKem768, Purpose::Envelope)
        && let Some(PublicParts::Kem { kem, key: public }) = &key.public
        && let Ok((ciphertext, _)) = kem::encapsulate(kem.ml_kem(), public)
    {
        let handle = key.guarded.handle();
        speeds.extend(time("ML-KEM-768 decapsulate", || {
            kem::decapsulate(session, handle, kem.ml_kem(), &ciphertext)
        }));
    }
    for (operation, algorithm, scheme) in [
        ("RSA-2048 sign", Algorithm::Rsa2048, SignatureScheme::RsaSha256),
        ("P-256 sign", Algorithm::P256, SignatureScheme::EcdsaSha256),
        ("Ed25519 sign", Algorithm::Ed25519, SignatureScheme::Ed25519),
        ("ML-DSA-65 sign", Algorithm::MlDsa65, SignatureScheme::MlDsa65),
        ("HMAC-SHA256, 1 KiB", Algorithm::HmacSha256, SignatureScheme::HmacSha256),
    ] {
        if let Ok(key) = keys::temporary(session, algorithm, Purpose::Sign) {
            let prepared = sign::prepare(scheme, &[7; 1024]);
            let handle = key.guarded.handle();
            speeds.extend(time(operation, || sign::sign(session, handle, &prepared)));
        }
    }
    if let Ok(key) = keys::temporary(session, Algorithm::Aes256, Purpose::Data) {
        let handle = key.guarded.handle();
        speeds.extend(time("AES-256-GCM encrypt, 1 KiB", || {
            gcm::encrypt(session, handle, &[], &[7; 1024])
        }));
    }
    let mut bytes = [0; 32];
    speeds.extend(time("random, 32 bytes", || session.raw().fill_random(&mut bytes)));
    speeds
}

/// Repeats an operation; none if it fails.
fn time<T>(operation: &'static str, mut run: impl FnMut() -> Result<T, HsmError>) -> Option<Speed> {
    run().ok()?;
    let began = Instant::now();
    let mut count = 0_u32;
    while count == 0 || began.elapsed() < MOMENT {
        run().ok()?;
        count = count.saturating_add(1);
    }
    Some(Speed { operation, per_second: f64::from(count) / began.elapsed().as_secs_f64() })
}
