//! Signatures and MACs.

use std::borrow::Cow;

use formats::algorithms::SignatureScheme;
use formats::material::Algorithm;
use formats::problem::{Code, Problem};

use super::scheme::{MACS, SIGNING, Signed, scheme};
use super::{NamedResult, RsaPadding, SignedInput, SigningWish};
use crate::keys::{KeyError, KeyVersion, PermittedKey};
use crate::policy::{Permit, to};
use crate::protection::operate::{SignatureFormat, curve, p1363, to_der};
use crate::protection::{Call, Protection, Refusal};

/// The padding of RSA signatures unless a request names another one.
const USUAL: RsaPadding = RsaPadding::Pss { salt: None };

impl Protection {
    pub(super) async fn sign_by_name(
        &self,
        call: &mut Call,
        permit: &Permit<to::Sign>,
        name: &str,
        version: Option<KeyVersion>,
        input: &SignedInput,
        wish: &SigningWish,
    ) -> Result<NamedResult, Refusal> {
        let key = self.choose_by_name(call, permit, name, version, fitting(wish)).await?;
        let version = key.version().ok_or(Refusal::KeyNotFound)?;
        let padding = wish.padding.unwrap_or(USUAL);
        let scheme = scheme_of(key.algorithm(), wish, padding)?;
        check_salt(scheme, padding)?;
        if scheme.digest_len().is_some_and(|length| length != wish.hash.digest_len()) {
            // The name of the scheme has another hash.
            self.dependencies.floor.check(wish.hash)?;
        }
        let signed = Signed::of(scheme, wish.hash, input)?;
        let signature = key.sign(scheme, signed.as_input()).await;
        let signature = signature.map_err(|error| refused(error, key.algorithm()))?;
        let signature = match (wish.format, curve(scheme)) {
            (SignatureFormat::Der, Some(_)) => to_der(&signature),
            (SignatureFormat::Der | SignatureFormat::P1363, _) => signature,
        };
        Ok(NamedResult::Signed { version, is_mac: wish.is_mac, signature })
    }

    #[expect(clippy::too_many_arguments, reason = "they are the members of one operation")]
    pub(super) async fn verify_by_name(
        &self,
        call: &mut Call,
        permit: &Permit<to::Verify>,
        name: &str,
        version: KeyVersion,
        input: &SignedInput,
        wish: &SigningWish,
        signature: &[u8],
    ) -> Result<NamedResult, Refusal> {
        let key = self.choose_by_name(call, permit, name, Some(version), fitting(wish)).await?;
        let paddings = match wish.padding {
            Some(padding) => vec![padding],
            None if is_rsa(key.algorithm()) => vec![USUAL, RsaPadding::Pkcs1v15],
            None => vec![USUAL],
        };
        for padding in paddings {
            if self.verifies(&key, input, wish, padding, signature).await? {
                return Ok(NamedResult::Verified(true));
            }
        }
        Ok(NamedResult::Verified(false))
    }

    async fn verifies(
        &self,
        key: &PermittedKey<'_, Permit<to::Verify>>,
        input: &SignedInput,
        wish: &SigningWish,
        padding: RsaPadding,
        signature: &[u8],
    ) -> Result<bool, Refusal> {
        let scheme = scheme_of(key.algorithm(), wish, padding)?;
        let signed = Signed::of(scheme, wish.hash, input)?;
        if let (RsaPadding::Pss { salt }, true) = (padding, is_rsa(key.algorithm())) {
            return Ok(key.verify_pss(scheme, signed.as_input(), salt, signature));
        }
        let signature: Option<Cow<'_, [u8]>> = p1363(scheme, Some(wish.format), signature);
        match signature {
            Some(signature) => {
                let verified = key.verify(scheme, signed.as_input(), &signature).await;
                verified.map_err(|error| refused(error, key.algorithm()))
            }
            None => {
                let message = "supplied signature is invalid";
                Err(Problem::of_body(Code::Format, message).into())
            }
        }
    }
}

fn fitting(wish: &SigningWish) -> &'static [Algorithm] {
    if wish.is_mac { &MACS } else { &SIGNING }
}

fn scheme_of(
    algorithm: Algorithm,
    wish: &SigningWish,
    padding: RsaPadding,
) -> Result<SignatureScheme, Refusal> {
    scheme(algorithm, wish.hash, padding).ok_or(Refusal::Unsupported(algorithm))
}

/// A salt that is made here has the length of the hash.
fn check_salt(scheme: SignatureScheme, padding: RsaPadding) -> Result<(), Problem> {
    match padding {
        RsaPadding::Pss { salt: Some(salt) } if scheme.digest_len() != Some(salt) => {
            let message = format!("requested salt length {salt} is invalid");
            Err(Problem::of_body(Code::Unsupported, message))
        }
        RsaPadding::Pss { .. } | RsaPadding::Pkcs1v15 => Ok(()),
    }
}

const fn is_rsa(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Rsa2048 | Algorithm::Rsa3072 | Algorithm::Rsa4096)
}

/// A token that lacks the mechanism does not support the operation with the key.
fn refused(error: KeyError, algorithm: Algorithm) -> Refusal {
    match &error {
        KeyError::Token(failure) if failure.lacks_mechanism() => Refusal::Unsupported(algorithm),
        KeyError::NoPrivateHalf
        | KeyError::NotCounted(_)
        | KeyError::BelowFloor(_)
        | KeyError::Token(_) => error.into(),
    }
}
