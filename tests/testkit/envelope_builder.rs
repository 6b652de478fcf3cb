//! An independent implementation that creates envelopes. Tests can make each part invalid while the
//! other parts remain consistent.

use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::digest;
use aws_lc_rs::kem::EncapsulationKey;
use aws_lc_rs::key_wrap::{AES_256, AesKek, KeyWrap as _};
use aws_lc_rs::rsa::{OAEP_SHA256_MGF1SHA256, OaepPublicEncryptingKey, PublicEncryptingKey};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use formats::json::Text;
use formats::material::{Kem, PublicKey, PublicParts};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Destination, World};

/// Builds an envelope, by default with the header of Sealward.
pub struct EnvelopeBuilder {
    public: PublicKey,
    pub header: Value,
    /// The member that holds `epk` instead of the header.
    pub epk_in: Option<&'static str>,
    pub content_key: Vec<u8>,
    pub iv: Vec<u8>,
    pub plaintext: Vec<u8>,
}

impl EnvelopeBuilder {
    /// For the RSA, P-256, ML-KEM or hybrid key of `destination`, as the management API returns it.
    pub async fn to(world: &World, destination: &Destination) -> Self {
        let path = format!("/admin/keys/{}", destination.key);
        let jwk = world.admin().get(&path).await.ok().json()["publicKey"].to_string();
        let public = PublicKey::from_jwk(Text::parse(jwk.as_bytes()).unwrap()).unwrap();
        let alg = match public.parts() {
            PublicParts::Rsa { .. } => "RSA-OAEP-256",
            PublicParts::Kem { kem, .. } => match kem {
                Kem::P256MlKem768 => "HPKE-8-KE",
                Kem::MlKem768 => "HPKE-12-KE",
                Kem::MlKem1024 => "HPKE-13-KE",
            },
            _ => "ECDH-ES+A256KW",
        };
        let header = json!({ "alg": alg, "enc": "A256GCM", "kid": destination.key, "cty": "json" });
        Self {
            public,
            header,
            epk_in: None,
            content_key: vec![7; 32],
            iv: vec![9; 12],
            plaintext: b"[1,2]".to_vec(),
        }
    }

    /// Uses another key than the one in the header.
    pub fn with_key_of(mut self, other: Self) -> Self {
        self.public = other.public;
        self
    }

    /// The envelope with its five members.
    pub fn envelope(mut self) -> Value {
        let encrypted_key = match self.public.parts() {
            PublicParts::Rsa { .. } => self.encrypted(),
            PublicParts::Kem { .. } => self.encapsulated(),
            _ => self.agreed(),
        };
        let outside = self.epk_in.map(|name| {
            let epk = self.header.as_object_mut().unwrap().remove("epk");
            (name, json!({ "epk": epk.unwrap() }))
        });
        let protected = BASE64URL.encode(self.header.to_string());
        let payload = Payload { msg: &self.plaintext, aad: protected.as_bytes() };
        // The content of a key with an invalid length does not matter: the receiver cannot use it.
        let sealed = match <[u8; 12]>::try_from(self.iv.as_slice()) {
            Ok(iv) if self.content_key.len() == 16 => {
                Aes128Gcm::new_from_slice(&self.content_key).unwrap().encrypt(&iv.into(), payload)
            }
            Ok(iv) => {
                let mut key = self.content_key.clone();
                key.resize(32, 0);
                Aes256Gcm::new_from_slice(&key).unwrap().encrypt(&iv.into(), payload)
            }
            Err(_) => Ok(vec![0; self.plaintext.len() + 16]),
        };
        let mut ciphertext = sealed.unwrap();
        let tag = ciphertext.split_off(ciphertext.len() - 16);
        let mut envelope = json!({
            "protected": protected,
            "encrypted_key": BASE64URL.encode(encrypted_key),
            "iv": BASE64URL.encode(&self.iv),
            "ciphertext": BASE64URL.encode(ciphertext),
            "tag": BASE64URL.encode(tag),
        });
        if let Some((name, header)) = outside {
            envelope[name] = header;
        }
        envelope
    }

    fn encrypted(&self) -> Vec<u8> {
        let key = PublicEncryptingKey::from_der(&self.public.to_spki()).unwrap();
        let key = OaepPublicEncryptingKey::new(key).unwrap();
        let mut wrapped = vec![0; key.ciphertext_size()];
        key.encrypt(&OAEP_SHA256_MGF1SHA256, &self.content_key, &mut wrapped, None).unwrap();
        wrapped
    }

    /// Adds `ek` to the header if it is missing.
    fn encapsulated(&mut self) -> Vec<u8> {
        use shake::digest::{ExtendableOutput as _, Update as _};

        let PublicParts::Kem { kem, key } = self.public.parts() else {
            panic!("no key to encapsulate for");
        };
        let set = kem.ml_kem();
        let (key, point) = key.split_at(set.public_len());
        let key = EncapsulationKey::new(set.encapsulation(), key).unwrap();
        let (ek, secret) = key.encapsulate().unwrap();
        let (mut ek, mut secret) = (ek.as_ref().to_vec(), secret.as_ref().to_vec());
        let kem = match kem {
            Kem::MlKem768 => 0x41,
            Kem::MlKem1024 => 0x42,
            Kem::P256MlKem768 => {
                let own = PrivateKey::generate(&ECDH_P256).unwrap();
                let sender = own.compute_public_key().unwrap();
                let peer = UnparsedPublicKey::new(&ECDH_P256, point);
                let agreed = agree(&own, peer, (), |agreed| Ok(agreed.to_vec())).unwrap();
                let inputs = [&secret, &agreed, sender.as_ref(), point, b"MLKEM768-P256"];
                let combined = digest::digest(&digest::SHA3_256, &inputs.concat());
                secret = combined.as_ref().to_vec();
                ek.extend_from_slice(sender.as_ref());
                0x50
            }
        };
        if self.header.get("ek").is_none() {
            self.header["ek"] = json!(BASE64URL.encode(ek));
        }
        let enc = self.header["enc"].as_str().unwrap();
        let info = [b"JOSE-HPKE rcpt\xff", enc.as_bytes(), b"\xff"].concat();
        let schedule = [
            &b"\0\0\0\x20"[..],
            &secret,
            b"HPKE-v1HPKE\0",
            &[kem],
            b"\0\x11\0\x02\0\x06secret\0\x6c\0\0\0\0",
            &[u8::try_from(info.len()).unwrap()],
            &info,
        ];
        let mut derived = [0; 44];
        let mut hash = shake::Shake256::default();
        hash.update(&schedule.concat());
        hash.finalize_xof_into(&mut derived);
        let (key, nonce) = derived.split_at(32);
        let nonce = <[u8; 12]>::try_from(nonce).unwrap();
        let cipher = Aes256Gcm::new_from_slice(key).unwrap();
        cipher.encrypt(&nonce.into(), self.content_key.as_slice()).unwrap()
    }

    /// Adds `epk` to the header if it is missing.
    fn agreed(&mut self) -> Vec<u8> {
        let PublicParts::Ec { point, .. } = self.public.parts() else {
            panic!("no key to agree with");
        };
        let ephemeral = PrivateKey::generate(&ECDH_P256).unwrap();
        let own = ephemeral.compute_public_key().unwrap();
        if self.header.get("epk").is_none() {
            self.header["epk"] = epk(&own.as_ref()[1..]);
        }
        let peer = UnparsedPublicKey::new(&ECDH_P256, point);
        let kek = agree(&ephemeral, peer, (), |secret| Ok(concat_kdf(secret))).unwrap();
        let mut wrapped = vec![0; self.content_key.len() + 8];
        AesKek::new(&AES_256, &kek).unwrap().wrap(&self.content_key, &mut wrapped).unwrap();
        wrapped
    }
}

/// The member `epk` from x and y.
pub fn epk(coordinates: &[u8]) -> Value {
    let (x, y) = coordinates.split_at(32);
    json!({ "kty": "EC", "crv": "P-256", "x": BASE64URL.encode(x), "y": BASE64URL.encode(y) })
}

/// The Concat KDF of RFC 7518, section 4.6.2, for one round and without `apu` and `apv`.
fn concat_kdf(secret: &[u8]) -> [u8; 32] {
    let alg = b"ECDH-ES+A256KW";
    let mut hash = Sha256::new();
    hash.update(1_u32.to_be_bytes());
    hash.update(secret);
    hash.update(u32::try_from(alg.len()).unwrap().to_be_bytes());
    hash.update(alg);
    hash.update([0; 8]);
    hash.update(256_u32.to_be_bytes());
    hash.finalize().into()
}
