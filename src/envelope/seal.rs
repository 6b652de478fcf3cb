//! Making an envelope.

use aws_lc_rs::agreement::{PrivateKey, agree};

use super::agreement::{self, LONGEST_KEY, Parties};
use super::algorithm::{Alg, Enc, oaep};
use super::content::{self, ContentKey, IV_LEN};
use super::context::{Context, ContextTag};
use super::header::{self, HeaderMembers, Parts};
use super::public_key::{EcPublicKey, PublicKey, RsaPublicKey};
use crate::algorithms::OaepHash;
use crate::binary::append_base64url;
use crate::clock::Entropy;

/// Whom an envelope is for, and how it is made.
#[derive(Clone, Copy, Debug)]
pub struct Recipient<'a> {
    pub key: &'a PublicKey,
    pub kid: &'a str,
    pub alg: Alg,
    pub enc: Enc,
    /// The policy that also decides who may open the envelope; its `pol`.
    pub policy: Option<&'a str>,
    /// The context that the opener must repeat.
    pub context: Option<&'a Context>,
    /// The header members that the recipient expects.
    pub members: HeaderMembers<'a>,
}

/// Why no envelope could be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// `alg` is for the other family of keys.
    #[error("the key does not fit the algorithm")]
    Unfit,
    /// The key, large enough to be parsed, is of no use, or the plaintext is beyond the cipher.
    #[error("the key or the plaintext was refused by the cipher")]
    Refused,
}

/// Seals `plaintext` and writes the object with the five members at the end of `out`. Returns the `ctx`
/// of the envelope.
///
/// Content key and IV come from `entropy`. The padding seed of OAEP and the ephemeral key of ECDH
/// are drawn inside aws-lc, which takes none from outside; its generator is the one behind
/// [`Entropy`].
pub fn seal(
    entropy: &Entropy,
    recipient: Recipient<'_>,
    plaintext: &[u8],
    out: &mut String,
) -> Result<Option<ContextTag>, SealError> {
    let Recipient { key, alg, enc, .. } = recipient;
    let mut content_key = ContentKey::new([0; LONGEST_KEY]);
    entropy.fill(&mut *content_key);
    let wrapped_part = content_key.get(..enc.key_len()).ok_or(SealError::Refused)?;

    let context = recipient.context;
    let ctx = context.map(|_| ContextTag::of(&content_key, enc.key_len(), context));
    let header = |epk| {
        header::write(Parts {
            alg,
            enc,
            kid: recipient.kid,
            pol: recipient.policy,
            ctx,
            members: recipient.members,
            epk,
        })
    };
    let (protected, encrypted_key) = match (key, alg) {
        (PublicKey::Rsa(key), Alg::RsaOaep256 | Alg::RsaOaep) => {
            let hash = if alg == Alg::RsaOaep {
                OaepHash::Sha1
            } else {
                OaepHash::Sha256
            };
            (header(None), encrypt_key(key, hash, wrapped_part)?)
        }
        (PublicKey::Ec(key), Alg::EcdhEsA256Kw | Alg::EcdhEsA128Kw) => {
            let (point, encrypted_key) = agree_and_wrap(key, alg, wrapped_part)?;
            (header(Some((key.curve, &point))), encrypted_key)
        }
        _ => return Err(SealError::Unfit),
    };

    let iv: [u8; IV_LEN] = entropy.bytes();
    let (ciphertext, tag) =
        content::encrypt(enc, &content_key, &iv, protected.as_bytes(), plaintext)
            .ok_or(SealError::Refused)?;

    let bytes = encrypted_key.len() + ciphertext.len();
    out.reserve(protected.len() + bytes.div_ceil(3) * 4 + 128);
    out.push_str(r#"{"protected":""#);
    out.push_str(&protected);
    for (name, bytes) in [
        ("encrypted_key", encrypted_key.as_slice()),
        ("iv", &iv),
        ("ciphertext", &ciphertext),
        ("tag", &tag),
    ] {
        out.push_str(r#"",""#);
        out.push_str(name);
        out.push_str(r#"":""#);
        append_base64url(out, bytes);
    }
    out.push_str(r#""}"#);
    Ok(ctx)
}

fn encrypt_key(
    key: &RsaPublicKey,
    hash: OaepHash,
    content_key: &[u8],
) -> Result<Vec<u8>, SealError> {
    let mut encrypted = vec![0; key.ciphertext_len()];
    key.oaep
        .encrypt(oaep(hash), content_key, &mut encrypted, None)
        .map_err(|_| SealError::Refused)?;
    Ok(encrypted)
}

/// The ephemeral public point and the content key wrapped under what was agreed with it.
fn agree_and_wrap(
    key: &EcPublicKey,
    alg: Alg,
    content_key: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), SealError> {
    let ephemeral = PrivateKey::generate(key.curve.agreement()).map_err(|_| SealError::Refused)?;
    let point = ephemeral
        .compute_public_key()
        .map_err(|_| SealError::Refused)?;
    let parties = Parties { apu: &[], apv: &[] };
    let wrapped = agree(
        &ephemeral,
        key.parsed.clone(),
        SealError::Refused,
        |shared_secret| {
            agreement::wrap(alg, &parties, shared_secret, content_key).ok_or(SealError::Refused)
        },
    )?;
    Ok((point.as_ref().to_vec(), wrapped))
}
