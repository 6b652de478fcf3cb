//! Opens an envelope with a private key in the token: the question to the key, and the decryption.
//!
//! All cryptographic failures are indistinguishable. If a check before the private key fails (a
//! wrapped key of the wrong length, a point that is not on the curve), the envelope is marked as
//! spoiled, and the key still answers a well-formed substitute. If a check after the private key
//! fails, a random content key replaces the expected one (RFC 7516, section 11.5), and the content
//! is decrypted with it.

use std::fmt;

use subtle::{Choice, ConditionallySelectable as _};
use zeroize::Zeroizing;

use super::agreement::{self, LONGEST_KEY, Parties, WRAP_OVERHEAD};
use super::algorithm::{Enc, HpkeRevision};
use super::content::{self, ContentKey, IV_LEN, TAG_LEN};
use super::context::{Context, ContextTag};
use super::header::{Agreement, Wrapping};
use super::hpke::{self, SEAL_OVERHEAD};
use super::hybrid::{self, Points};
use super::parse::Envelope;
use super::public_key::{EcPublicKey, KemPublicKey, PublicKey, RsaPublicKey, point_on};
use crate::algorithms::{Kem, OaepHash};
use crate::clock::Entropy;
use crate::json::Text;
use crate::problem::{Code, Problem, Problems};
use crate::wiped::Wiped;

/// An envelope before the answer of its private key.
#[derive(Debug)]
pub struct Opening {
    envelope: Envelope,
    /// The wrapped key or the ephemeral point, or a substitute.
    asked: Vec<u8>,
    /// The parameters of HPKE; none for keys without it.
    hpke: Option<Hpke>,
    /// The question contains a substitute, so the envelope cannot open.
    spoiled: bool,
}

/// The parameters of HPKE that come from the key.
#[derive(Debug)]
struct Hpke {
    revision: HpkeRevision,
    kem: Kem,
    /// The point of a hybrid key; empty for ML-KEM alone.
    point: Vec<u8>,
}

/// The operation of the private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question<'a> {
    /// Decrypt with RSA-OAEP and an empty label; the answer is the content key.
    Decrypt { hash: OaepHash, wrapped_key: &'a [u8] },
    /// Agree with a peer, an uncompressed point on the curve of the key; the answer is the x
    /// coordinate of the shared point with leading zeros.
    Agree { peer: &'a [u8] },
    /// Decapsulate a ciphertext of the right length, with a point on the curve for a hybrid; the answer is
    /// the secret of ML-KEM, followed by that of ECDH for a hybrid.
    Decapsulate { kem: Kem, ciphertext: &'a [u8] },
}

/// The envelope does not open. All causes have this error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the envelope does not open")]
pub struct Unopenable;

/// The plaintext of an envelope: one JSON value. It is wiped when dropped.
pub struct Plaintext(Wiped<Vec<u8>>);

impl Envelope {
    /// Prepares the question to the private key of `key`.
    ///
    /// A key of another family than `alg` is a problem of the envelope.
    pub fn for_key(self, entropy: &Entropy, key: &PublicKey) -> Result<Opening, Problems> {
        let (asked, spoiled) = match (&self.header.wrapping, key) {
            (Wrapping::Oaep(_), PublicKey::Rsa(key)) => {
                wrapped_key_or_substitute(entropy, key, &self.encrypted_key)
            }
            (Wrapping::Agreement(agreement), PublicKey::Ec(key)) => {
                point_or_substitute(key, agreement)
            }
            (Wrapping::Encapsulation(encapsulation), PublicKey::Kem(key))
                if encapsulation.kem == key.kem =>
            {
                ciphertext_or_substitute(entropy, key, &encapsulation.ek)
            }
            (Wrapping::Oaep(_), PublicKey::Ec(_) | PublicKey::Kem(_))
            | (Wrapping::Agreement(_), PublicKey::Rsa(_) | PublicKey::Kem(_))
            | (Wrapping::Encapsulation(_), _) => {
                let message = "must fit the key of the policy's destination: is policyNumber the policy of the \
                     envelope?";
                return Err(Problem::new("protected.alg", Code::Conflict, message).into());
            }
        };
        let hpke = match key {
            PublicKey::Kem(key) => Some(Hpke {
                revision: key.revision,
                kem: key.kem,
                point: key.ec.as_ref().map_or(Vec::new(), |part| part.point.clone()),
            }),
            PublicKey::Rsa(_) | PublicKey::Ec(_) => None,
        };
        Ok(Opening { envelope: self, asked, hpke, spoiled })
    }
}

impl Opening {
    /// The operation of the private key.
    pub fn question(&self) -> Question<'_> {
        match &self.envelope.header.wrapping {
            Wrapping::Oaep(hash) => Question::Decrypt { hash: *hash, wrapped_key: &self.asked },
            Wrapping::Encapsulation(encapsulation) => {
                Question::Decapsulate { kem: encapsulation.kem, ciphertext: &self.asked }
            }
            Wrapping::Agreement(_) => Question::Agree { peer: &self.asked },
        }
    }

    /// The number of bytes to decrypt.
    pub fn size(&self) -> usize {
        self.envelope.ciphertext.len()
    }

    /// Opens the envelope with the answer of the private key. `None` means that the key refused the
    /// question.
    ///
    /// If the key was unavailable, do not call this function.
    ///
    /// The context must match the context of the envelope. Without a context, the envelope must
    /// have none.
    pub fn open(
        self,
        entropy: &Entropy,
        answer: Option<&[u8]>,
        context: Option<&Context>,
    ) -> Result<Plaintext, Unopenable> {
        let (content, authentic) = self.decipher(entropy, answer, context);
        // Parsing stops at the first error, so its duration varies. Only authentic content with the
        // right context is parsed, so that a wrong context takes as long as a wrong tag.
        if authentic && Text::parse(&content).is_ok() {
            Ok(Plaintext(content))
        } else {
            Err(Unopenable)
        }
    }

    /// The decrypted content, and whether it is authentic and has this context.
    fn decipher(
        self,
        entropy: &Entropy,
        answer: Option<&[u8]>,
        context: Option<&Context>,
    ) -> (Wiped<Vec<u8>>, bool) {
        let Self { envelope, asked, hpke, spoiled } = self;
        let enc = envelope.header.enc;
        let iv = envelope.iv.as_slice().try_into().ok();
        let tag = envelope.tag.as_slice().try_into().ok();
        let lengths_fit = iv.is_some() && tag.is_some();

        let candidate = match &envelope.header.wrapping {
            Wrapping::Oaep(_) => answer.map(|key| Zeroizing::new(key.to_vec())),
            Wrapping::Agreement(agreement) => {
                unwrap_agreed(entropy, agreement, answer, &envelope.encrypted_key, enc.key_len())
            }
            Wrapping::Encapsulation(_) => hpke.and_then(|hpke| {
                unwrap_encapsulated(entropy, &hpke, enc, &asked, answer, &envelope.encrypted_key)
            }),
        };
        let usable = candidate
            .as_ref()
            .is_some_and(|key| key.len() == enc.key_len() && lengths_fit && !spoiled);
        let content_key = candidate_or_random(entropy, candidate.as_deref(), usable);
        let tag_of_context = ContextTag::of(&content_key, enc.key_len(), context);
        let ctx = envelope.header.ctx;
        let of_context = ctx.fits(tag_of_context, context.is_some());

        let aad = envelope.protected.as_bytes();
        let mut content = Wiped::new(envelope.ciphertext);
        let (iv, tag) = (iv.unwrap_or([0; IV_LEN]), tag.unwrap_or([0; TAG_LEN]));
        let authentic = content::decrypt(enc, &content_key, &iv, aad, &mut content, &tag);
        let authentic = Choice::from(u8::from(authentic)) & of_context;
        (content, authentic.into())
    }
}

impl Plaintext {
    /// The exact sealed bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plaintext([redacted])")
    }
}

/// A substitute for a wrapped key that the key cannot decrypt: a number below every modulus of its
/// length.
fn wrapped_key_or_substitute(
    entropy: &Entropy,
    key: &RsaPublicKey,
    wrapped_key: &[u8],
) -> (Vec<u8>, bool) {
    let mut substitute = vec![0; key.ciphertext_len()];
    entropy.fill(substitute.get_mut(1..).unwrap_or_default());
    if key.can_have_produced(wrapped_key) {
        (wrapped_key.to_vec(), false)
    } else {
        (substitute, true)
    }
}

/// A substitute for a point that is not on the curve of the key.
fn point_or_substitute(key: &EcPublicKey, agreement: &Agreement) -> (Vec<u8>, bool) {
    let on_curve = point_on(key.curve, &agreement.point).is_some();
    if on_curve && agreement.curve == key.curve {
        return (agreement.point.clone(), false);
    }
    (key.substitute.clone(), true)
}

/// The content key from AES key wrap. Without an answer, or with a wrapped key of an impossible
/// length, it does the same work with random bytes, which are not authentic.
fn unwrap_agreed(
    entropy: &Entropy,
    agreement: &Agreement,
    answer: Option<&[u8]>,
    wrapped_key: &[u8],
    key_len: usize,
) -> Option<Zeroizing<Vec<u8>>> {
    let mut no_secret = Zeroizing::new(vec![0; agreement.curve.coordinate_len()]);
    entropy.fill(&mut no_secret);
    let mut no_key = vec![0; key_len + WRAP_OVERHEAD];
    entropy.fill(&mut no_key);
    let secret = answer.unwrap_or(&no_secret);
    let wrapped_key = if wrapped_key.len() == no_key.len() { wrapped_key } else { &no_key };
    let parties = Parties { apu: &agreement.apu, apv: &agreement.apv };
    agreement::unwrap(agreement.alg, &parties, secret, wrapped_key)
}

/// A substitute for a ciphertext of a wrong length, and for a point that is not on the curve of the key.
/// Every other string of the right length is a ciphertext.
fn ciphertext_or_substitute(entropy: &Entropy, key: &KemPublicKey, ek: &[u8]) -> (Vec<u8>, bool) {
    let mut substitute = vec![0; key.kem.ml_kem().ciphertext_len()];
    entropy.fill(&mut substitute);
    let split = key.kem.split_ciphertext(ek);
    let (ciphertext, point) = split.unwrap_or((&substitute, &[]));
    let (point, on_curve) = match &key.ec {
        Some(part) if point_on(part.key.curve, point).is_some() => (point, true),
        Some(part) => (part.key.substitute.as_slice(), false),
        None => (point, true),
    };
    let spoiled = split.is_none() || !on_curve;
    ([ciphertext, point].concat(), spoiled)
}

/// The content key from HPKE. Without an answer, or with a wrapped key of an impossible length, it does
/// the same work with random bytes, which are not authentic.
fn unwrap_encapsulated(
    entropy: &Entropy,
    hpke: &Hpke,
    enc: Enc,
    asked: &[u8],
    answer: Option<&[u8]>,
    wrapped_key: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let mut no_secrets = Zeroizing::new(vec![0; hpke.kem.secrets_len()]);
    entropy.fill(&mut no_secrets);
    let mut no_key = vec![0; enc.key_len() + SEAL_OVERHEAD];
    entropy.fill(&mut no_key);
    let wrapped_key = if wrapped_key.len() == no_key.len() { wrapped_key } else { &no_key };
    let (_, sender) = hpke.kem.split_ciphertext(asked)?;
    let points = Points { sender, recipient: &hpke.point };
    let secret = hybrid::combine(hpke.kem, answer.unwrap_or(&no_secrets), points)?;
    hpke::unwrap(hpke.revision, hpke.kem, enc, &*secret, wrapped_key)
}

/// The candidate if it is usable, otherwise a random key. The selection has no branch on their bytes.
fn candidate_or_random(entropy: &Entropy, candidate: Option<&Vec<u8>>, usable: bool) -> ContentKey {
    let mut key = ContentKey::new([0; LONGEST_KEY]);
    entropy.fill(&mut *key);
    let usable = Choice::from(u8::from(usable));
    let candidate = candidate.map(Vec::as_slice).unwrap_or_default();
    for (byte, wanted) in key.iter_mut().zip(candidate) {
        byte.conditional_assign(wanted, usable);
    }
    key
}

#[cfg(test)]
mod tests;
