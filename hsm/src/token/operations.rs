//! Operations with a key. A refusal that no input causes is [`Unusable`](crate::ErrorKind::Unusable).

use zeroize::Zeroizing;

use super::Token;
use crate::crypt::{ecdh, gcm, kem, oaep, sign};
use crate::session::Session;
use crate::threads::Device;
use crate::{GcmSealed, HsmError, KeyRef, OaepMethod};
use formats::algorithms::{Kem, OaepHash, SignatureScheme};

impl Token {
    /// Unwraps a content key with RSA-OAEP (no label). Every cryptographic failure is `BadInput`.
    /// Where the tokens lack OAEP with this hash, every input is `Unusable`.
    pub async fn decrypt_oaep(
        &self,
        key: &KeyRef,
        hash: OaepHash,
        wrapped: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let (wanted, wrapped) = (key.clone(), wrapped.to_vec());
        let work = move |session: &Session| {
            oaep::decrypt(session, &wanted, hash, &wrapped).map_err(HsmError::blaming_key)
        };
        let is_able =
            |device: &Device| device.connection.oaep().of(hash) != OaepMethod::Unsupported;
        self.dispatcher.with_key_on(key, is_able, work).await
    }

    /// The shared secret of ECDH (the x coordinate, leading zeros kept) with a peer's uncompressed
    /// point. A point that is not on the key's curve is `BadInput`.
    pub async fn derive_ecdh(
        &self,
        key: &KeyRef,
        peer_point: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let curve = ecdh::curve_of(peer_point)?;
        let (wanted, point) = (key.clone(), peer_point.to_vec());
        let work = move |session: &Session| {
            ecdh::derive(session, &wanted, curve, &point).map_err(HsmError::blaming_key)
        };
        self.dispatcher.with_key(key, work).await
    }

    /// The shared secrets of a ciphertext: of ML-KEM, and then of ECDH if the encapsulation has it. A
    /// ciphertext of the wrong length and a point that is not on the curve are `BadInput`; every other one
    /// has secrets (implicit rejection). The operations of a hybrid key are on the same token.
    pub async fn decapsulate(
        &self,
        key: &KeyRef,
        kem: Kem,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        if let (Some(curve), Some((_, point))) = (kem.curve(), kem.split_ciphertext(ciphertext))
            && ecdh::curve_of(point)? != curve
        {
            return Err(HsmError::bad_input("the point is on another curve"));
        }
        let (wanted, ciphertext) = (key.clone(), ciphertext.to_vec());
        let work = move |session: &Session| {
            kem::secrets(session, &wanted, kem, &ciphertext).map_err(HsmError::blaming_key)
        };
        self.dispatcher.with_key(key, work).await
    }

    /// Encrypts with AES-GCM under a fresh IV.
    pub async fn aes_gcm_encrypt(
        &self,
        key: &KeyRef,
        aad: &[u8],
        plaintext: &[u8],
    ) -> Result<GcmSealed, HsmError> {
        let (wanted, aad) = (key.clone(), aad.to_vec());
        let plaintext = Zeroizing::new(plaintext.to_vec());
        let work = move |session: &Session| {
            gcm::encrypt(session, &wanted, &aad, &plaintext).map_err(HsmError::blaming_key)
        };
        self.dispatcher.with_key(key, work).await
    }

    /// Decrypts with AES-GCM. An IV that has not 12 bytes, a tag that has not 16 bytes, and a
    /// ciphertext that does not authenticate are `BadInput`.
    pub async fn aes_gcm_decrypt(
        &self,
        key: &KeyRef,
        iv: &[u8],
        aad: &[u8],
        ciphertext: &[u8],
        tag: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let iv = iv.try_into().map_err(|_| HsmError::bad_input("the IV must have 12 bytes"))?;
        if tag.len() != gcm::TAG {
            return Err(HsmError::bad_input("the tag must have 16 bytes"));
        }
        let (wanted, aad, sealed) = (key.clone(), aad.to_vec(), [ciphertext, tag].concat());
        let work = move |session: &Session| {
            gcm::decrypt(session, &wanted, iv, &aad, &sealed).map_err(HsmError::blaming_key)
        };
        self.dispatcher.with_key(key, work).await
    }

    /// Signs a message. ECDSA signatures are r and s, concatenated.
    pub async fn sign(
        &self,
        key: &KeyRef,
        scheme: SignatureScheme,
        message: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        let (wanted, prepared) = (key.clone(), sign::prepare(scheme, message));
        let work = move |session: &Session| {
            sign::sign(session, &wanted, &prepared).map_err(HsmError::blaming_key)
        };
        self.dispatcher.with_key(key, work).await
    }

    /// Signs a message with this digest. A digest of the wrong length, a scheme that signs messages, and a token
    /// that signs only what it has hashed are `BadInput`.
    pub async fn sign_digest(
        &self,
        key: &KeyRef,
        scheme: SignatureScheme,
        digest: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        let (wanted, prepared) = (key.clone(), sign::prepare_digest(scheme, digest)?);
        let work = move |session: &Session| {
            sign::sign(session, &wanted, &prepared).map_err(HsmError::blaming_key)
        };
        self.dispatcher.with_key(key, work).await
    }

    /// The HMAC-SHA-256 of a message. Compare it in constant time.
    pub async fn hmac(&self, key: &KeyRef, message: &[u8]) -> Result<Vec<u8>, HsmError> {
        self.sign(key, SignatureScheme::HmacSha256, message).await
    }

    /// Random bytes from a token.
    pub async fn random(&self, length: usize) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let work = move |session: &Session| {
            let mut bytes = Zeroizing::new(vec![0; length]);
            session.raw().fill_random(&mut bytes)?;
            Ok(bytes)
        };
        self.dispatcher.anywhere(work).await
    }
}
