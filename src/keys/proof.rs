//! Proof that a private key in the token and a public key belong together: the one does what the
//! other undoes.

use aws_lc_rs::agreement::{self, PrivateKey, UnparsedPublicKey};
use aws_lc_rs::signature;
use hsm::{ErrorKind, HsmError, KeyRef, SignatureScheme, Token};

use super::Usage;
use crate::material::{Curve, PublicKey, PublicParts};

/// What is signed for proof.
const MESSAGE: &[u8] = b"sealward: these halves belong together";

/// Asks the token to do what only the other half of `public` can.
pub(super) async fn belong_together(
    token: &Token,
    key: &KeyRef,
    usage: Usage,
    public: &PublicKey,
) -> Result<bool, HsmError> {
    let outcome = match (usage, public.parts()) {
        (Usage::Enc, PublicParts::Ec { curve, point }) => agrees(token, key, *curve, point).await,
        (Usage::Sig, _) => signs(token, key, public).await,
        // Of an RSA key the token always has the public half, and data keys have none.
        (Usage::Enc | Usage::Data, _) => Ok(false),
    };
    match outcome {
        Err(error) if error.kind() == ErrorKind::BadInput => Ok(false),
        outcome => outcome,
    }
}

async fn agrees(token: &Token, key: &KeyRef, curve: Curve, point: &[u8]) -> Result<bool, HsmError> {
    let algorithm = match curve {
        Curve::P256 => &agreement::ECDH_P256,
        Curve::P384 => &agreement::ECDH_P384,
        Curve::P521 => &agreement::ECDH_P521,
    };
    let Ok((peer, own)) = PrivateKey::generate(algorithm)
        .and_then(|peer| peer.compute_public_key().map(|own| (peer, own)))
    else {
        return Ok(false);
    };
    let theirs = token.derive_ecdh(key, own.as_ref()).await?;
    let same = agreement::agree(
        &peer,
        UnparsedPublicKey::new(algorithm, point),
        false,
        |ours| Ok(ours == theirs.as_slice()),
    );
    Ok(same.unwrap_or(false))
}

async fn signs(token: &Token, key: &KeyRef, public: &PublicKey) -> Result<bool, HsmError> {
    use signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ECDSA_P521_SHA512_FIXED, ED25519,
        RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
    };
    let spki;
    let (scheme, algorithm, half): (_, &dyn VerificationAlgorithm, _) = match public.parts() {
        PublicParts::Rsa { .. } => {
            spki = public.to_spki();
            let scheme = SignatureScheme::RsaPkcs1Sha256;
            (scheme, &RSA_PKCS1_2048_8192_SHA256, &spki)
        }
        PublicParts::Ec { curve, point } => match curve {
            Curve::P256 => (
                SignatureScheme::EcdsaSha256,
                &ECDSA_P256_SHA256_FIXED,
                point,
            ),
            Curve::P384 => (
                SignatureScheme::EcdsaSha384,
                &ECDSA_P384_SHA384_FIXED,
                point,
            ),
            Curve::P521 => (
                SignatureScheme::EcdsaSha512,
                &ECDSA_P521_SHA512_FIXED,
                point,
            ),
        },
        PublicParts::Ed25519 { point } => (SignatureScheme::Ed25519, &ED25519, point),
    };
    let signature = token.sign(key, scheme, MESSAGE).await?;
    Ok(UnparsedPublicKey::new(algorithm, half)
        .verify(MESSAGE, &signature)
        .is_ok())
}
