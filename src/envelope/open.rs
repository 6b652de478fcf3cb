//! Opening an envelope with a private key that is elsewhere: the question, and what follows it.
//!
//! Nothing here tells one cryptographic failure from another. What is wrong before the private key
//! is asked (a wrapped key of the wrong length, a point off the curve) marks the envelope as
//! spoiled, and the key is asked all the same, about something of the right form. What is wrong
//! after it puts a random content key in the place of the one that was hoped for (RFC 7516, section
//! 11.5), and the content is deciphered with that.

use std::fmt;

use subtle::{Choice, ConditionallySelectable as _};
use zeroize::Zeroizing;

use super::agreement::{self, LONGEST_KEY, Parties, WRAP_OVERHEAD};
use super::content::{self, ContentKey, IV_LEN, TAG_LEN};
use super::context::{Context, ContextTag};
use super::header::{Agreement, Wrapping};
use super::parse::Envelope;
use super::public_key::{EcPublicKey, PublicKey, RsaPublicKey, point_on};
use crate::algorithms::OaepHash;
use crate::clock::Entropy;
use crate::json::Text;
use crate::problem::{Code, Problem, Problems};
use crate::wiped::Wiped;

/// An envelope that waits for the answer of one private key.
#[derive(Debug)]
pub struct Opening {
    envelope: Envelope,
    /// What is asked about: the wrapped key or the ephemeral point, or what stands in for it.
    asked: Vec<u8>,
    /// A stand-in is asked about, so no answer can be right.
    spoiled: bool,
}

/// What the private key must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question<'a> {
    /// Decrypt with RSA-OAEP and an empty label; the answer is the content key.
    Decrypt {
        hash: OaepHash,
        wrapped_key: &'a [u8],
    },
    /// Agree with a peer, an uncompressed point of the key's own curve; the answer is the x
    /// coordinate of the shared point, leading zeros kept.
    Agree { peer: &'a [u8] },
}

/// The envelope does not open, for whatever reason there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the envelope does not open")]
pub struct Unopenable;

/// What was in an envelope: one JSON value. Wipes itself.
pub struct Plaintext(Wiped<Vec<u8>>);

impl Envelope {
    /// Prepares the question to the private half of `key`.
    ///
    /// A key of the other family than `alg` needs is a problem of the envelope's.
    pub fn for_key(self, entropy: &Entropy, key: &PublicKey) -> Result<Opening, Problems> {
        let (asked, spoiled) = match (&self.header.wrapping, key) {
            (Wrapping::Oaep(_), PublicKey::Rsa(key)) => {
                wrapped_key_or_stand_in(entropy, key, &self.encrypted_key)
            }
            (Wrapping::Agreement(agreement), PublicKey::Ec(key)) => {
                point_or_stand_in(key, agreement)
            }
            (Wrapping::Oaep(_), PublicKey::Ec(_)) | (Wrapping::Agreement(_), PublicKey::Rsa(_)) => {
                let message = "must fit the key of the envelope";
                return Err(Problem::new("protected.alg", Code::Conflict, message).into());
            }
        };
        Ok(Opening {
            envelope: self,
            asked,
            spoiled,
        })
    }
}

impl Opening {
    /// What the private key must do.
    #[must_use]
    pub fn question(&self) -> Question<'_> {
        match self.envelope.header.wrapping {
            Wrapping::Oaep(hash) => Question::Decrypt {
                hash,
                wrapped_key: &self.asked,
            },
            Wrapping::Agreement(_) => Question::Agree { peer: &self.asked },
        }
    }

    /// Goes on with the private key's answer; `None` says that it refused the question.
    ///
    /// That the key could not be asked at all is no answer, and must not come here.
    ///
    /// The context must be that of the envelope; without one the envelope must have none.
    pub fn open(
        self,
        entropy: &Entropy,
        answer: Option<&[u8]>,
        context: Option<&Context>,
    ) -> Result<Plaintext, Unopenable> {
        let (content, authentic) = self.decipher(entropy, answer, context);
        // Reading stops where a text is no JSON. Only authentic content of the right context is read:
        // a wrong context costs what a wrong tag costs.
        if authentic && Text::parse(&content).is_ok() {
            Ok(Plaintext(content))
        } else {
            Err(Unopenable)
        }
    }

    /// The deciphered content, and whether it is authentic and of this context.
    fn decipher(
        self,
        entropy: &Entropy,
        answer: Option<&[u8]>,
        context: Option<&Context>,
    ) -> (Wiped<Vec<u8>>, bool) {
        let Self {
            envelope, spoiled, ..
        } = self;
        let enc = envelope.header.enc;
        let iv = envelope.iv.as_slice().try_into().ok();
        let tag = envelope.tag.as_slice().try_into().ok();
        let lengths_fit = iv.is_some() && tag.is_some();

        let candidate = match &envelope.header.wrapping {
            Wrapping::Oaep(_) => answer.map(|key| Zeroizing::new(key.to_vec())),
            Wrapping::Agreement(agreement) => unwrap_agreed(
                entropy,
                agreement,
                answer,
                &envelope.encrypted_key,
                enc.key_len(),
            ),
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
    /// The bytes that were sealed, to the letter.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plaintext([redacted])")
    }
}

/// A number below every modulus of its length stands in for what the key cannot have made.
fn wrapped_key_or_stand_in(
    entropy: &Entropy,
    key: &RsaPublicKey,
    wrapped_key: &[u8],
) -> (Vec<u8>, bool) {
    let mut stand_in = vec![0; key.ciphertext_len()];
    entropy.fill(stand_in.get_mut(1..).unwrap_or_default());
    if key.may_have_made(wrapped_key) {
        (wrapped_key.to_vec(), false)
    } else {
        (stand_in, true)
    }
}

/// Another point stands in for one that is not on the curve of the key.
fn point_or_stand_in(key: &EcPublicKey, agreement: &Agreement) -> (Vec<u8>, bool) {
    let on_curve = point_on(key.curve, &agreement.point).is_some();
    if on_curve && agreement.curve == key.curve {
        return (agreement.point.clone(), false);
    }
    (key.stand_in.clone(), true)
}

/// The content key under AES key wrap. Without an answer, or with a wrapped key of a length that
/// cannot be, the same work is done on random bytes, which does not authenticate.
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
    let wrapped_key = if wrapped_key.len() == no_key.len() {
        wrapped_key
    } else {
        &no_key
    };
    let parties = Parties {
        apu: &agreement.apu,
        apv: &agreement.apv,
    };
    agreement::unwrap(agreement.alg, &parties, secret, wrapped_key)
}

/// The candidate where it is usable, else a random key; chosen without a branch on either's bytes.
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
