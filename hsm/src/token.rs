//! The handle that the service holds.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::crypt::{ecdh, gcm, oaep, sign};
use crate::device::Device;
use crate::import;
use crate::job::Kind;
use crate::keys;
use crate::pool::Pool;
use crate::probe;
use crate::session::Session;

use crate::{
    AdoptError, Adopted, Config, ErrorKind, Fatal, FoundKey, GcmSealed, GenerateKey, Generated,
    HsmError, ImportError, ImportKey, ImportMechanism, ImportWrapped, Imported, KeyAlgorithm,
    KeyName, KeyRef, OaepHash, OaepWay, OpenError, Presence, ProbeReport, PublicKey, Purpose,
    SignatureScheme, Status, TokenObject,
};

/// One or several tokens holding the same keys. Cheap to clone; all clones are one.
///
/// Operations go round robin over the tokens that work and hold the key, and over to the next
/// one when a token is found out before it began. A future that is dropped while its operation
/// waits in the queue costs the token nothing.
#[derive(Clone)]
pub struct Token {
    pub(crate) pool: Arc<Pool>,
}

impl Token {
    /// Loads the modules, chooses the tokens, logs in to each exactly once and starts its workers.
    ///
    /// Where several tokens are configured and one of them cannot be reached, the others serve
    /// and a prober brings it in later; a refused PIN always fails.
    pub async fn open(config: Config) -> Result<Self, OpenError> {
        Ok(Self {
            pool: Arc::new(Pool::open(config).await?),
        })
    }

    /// Lets what is queued finish, within the deadline, then closes every session and finalizes
    /// the modules. To be awaited before the process ends: some libraries crash in their exit
    /// handlers when they are still in use.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Resolves when the process should drain and exit non-zero. Otherwise it never does.
    pub async fn fatal(&self) -> Fatal {
        self.pool.fatal().await
    }

    /// How every token is. Asks nothing of the tokens.
    pub fn status(&self) -> Status {
        Status {
            tokens: self
                .pool
                .devices()
                .iter()
                .map(|device| device.status())
                .collect(),
        }
    }

    /// Whether every token that has been reached opens what RSA-OAEP seals with this hash, as a
    /// trial has shown: a key may be made in any of them. Asks nothing of the tokens.
    pub fn opens(&self, hash: OaepHash) -> bool {
        let mut reached = self
            .pool
            .devices()
            .iter()
            .filter(|device| device.was_reached());
        reached.all(|device| device.oaep.way(hash).opens())
    }

    // Keys.

    /// Makes a key: sensitive, non-extractable, with exactly the usages of its purpose. What the
    /// token made is read back, and destroyed and refused when it is weaker.
    pub async fn generate(&self, order: GenerateKey) -> Result<Generated, HsmError> {
        let mut begun = false;
        let work = move |session: &Session| keys::generate(session, &order, &mut begun);
        self.pool.write(work).await
    }

    /// Looks a key up on every token.
    pub async fn find(&self, key: &KeyRef) -> Result<FoundKey, HsmError> {
        let wanted = key.clone();
        let each = self.pool.on_each(Kind::Read, move |session| {
            let handle = session.look_up(&wanted)?;
            keys::inspect::facts(session, handle)
        });
        let (mut facts, mut presence, mut failures) = (None, Vec::new(), Vec::new());
        for (device, result) in each.await {
            let holds = match result {
                Ok(told) => {
                    facts.get_or_insert(told);
                    Some(true)
                }
                Err(error) if error.kind() == ErrorKind::KeyMissing => Some(false),
                Err(error) => {
                    failures.push(error);
                    device.handles.presence(key)
                }
            };
            presence.push(Presence {
                token: device.label().to_owned(),
                holds,
            });
        }
        match (facts, failures.pop()) {
            (Some(facts), _) => Ok(FoundKey {
                key: key.clone(),
                kind: facts.kind,
                usages: facts.usages,
                presence,
            }),
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(HsmError::new(ErrorKind::KeyMissing, "not found")),
        }
    }

    /// Which tokens hold a key, as far as it is known without asking them.
    pub fn presence(&self, key: &KeyRef) -> Vec<Presence> {
        let known = |device: &Arc<Device>| Presence {
            token: device.label().to_owned(),
            holds: device.handles.presence(key),
        };
        self.pool.devices().iter().map(known).collect()
    }

    /// Every private and secret key object of every token. Fails when one of them cannot be read:
    /// what is missing in half an inventory is not missing.
    pub async fn inventory(&self) -> Result<Vec<TokenObject>, HsmError> {
        let mut objects = Vec::new();
        for (_, result) in self.pool.on_each(Kind::Read, keys::inventory).await {
            objects.extend(result?);
        }
        Ok(objects)
    }

    /// Takes over a key that is in the token already: exactly one, not internal, fit for its
    /// purpose, and of the kind it is said to be, where that is said. Only the length of an AES key
    /// that the token does not tell is taken on trust. Weaknesses are reported, not refused.
    pub async fn adopt(
        &self,
        name: KeyName,
        purpose: Purpose,
        said: Option<KeyAlgorithm>,
    ) -> Result<Adopted, AdoptError> {
        let work = move |session: &Session| keys::adopt(session, &name, purpose, said);
        match self.pool.anywhere(work).await {
            Ok(outcome) => outcome,
            Err(error) if error.kind() == ErrorKind::KeyMissing => Err(AdoptError::Missing),
            Err(error) => Err(error.into()),
        }
    }

    /// Destroys a key and its public half on every token. Where one of them is out it fails, to
    /// be tried again; a key that is on none of them is `KeyMissing`.
    pub async fn destroy(&self, key: &KeyRef) -> Result<(), HsmError> {
        let wanted = key.clone();
        let work = move |session: &Session| keys::destroy(session, &wanted);
        let (mut destroyed, mut verdict) = (false, None);
        for (_, result) in self.pool.on_each(Kind::Write, work).await {
            match result {
                Ok(()) => destroyed = true,
                Err(error) if error.kind() == ErrorKind::KeyMissing => {
                    verdict.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        match verdict {
            Some(missing) if !destroyed => Err(missing),
            _ => Ok(()),
        }
    }

    /// The public half of a private key, from its public object or, for RSA, from the private one.
    pub async fn read_public(&self, key: &KeyRef) -> Result<PublicKey, HsmError> {
        let wanted = key.clone();
        let work = move |session: &Session| {
            session.with_key(&wanted, |handle| {
                keys::public::of_private(session, handle, &wanted.name)?
                    .ok_or_else(|| HsmError::refused("the token has no public half of this key"))
            })
        };
        self.pool.with_key(key, work).await
    }

    /// Puts key material into a token. It is proven as a session object before it stays.
    pub async fn import(&self, order: ImportKey) -> Result<Imported, ImportError> {
        let mut begun = false;
        let work = move |session: &Session| import::create(session, &order, &mut begun);
        self.pool.write(work).await?
    }

    /// Unwraps a key inside the token that holds its import key: first as a session object, which
    /// is proven against its public half, and only then to stay.
    pub async fn import_wrapped(&self, order: ImportWrapped) -> Result<Imported, ImportError> {
        let import_key = order.import_key.clone();
        let mut begun = false;
        let work = move |session: &Session| import::unwrap(session, &order, &mut begun);
        self.pool.write_beside(&import_key, work).await?
    }

    /// By which mechanisms a token can unwrap keys, found by trying with a temporary key. Takes as
    /// long as making an RSA key.
    pub async fn import_mechanisms(&self) -> Result<Vec<ImportMechanism>, HsmError> {
        self.pool.write(import::mechanisms).await
    }

    /// Tries on every token everything that is ever asked of one, and measures it. Keeps one
    /// worker of each busy for seconds; for an integrator's doctor, not for a health check.
    pub async fn probe(&self) -> Vec<(String, Result<ProbeReport, HsmError>)> {
        let each = self.pool.on_each(Kind::Write, probe::probe).await;
        let named = |(device, report): (Arc<Device>, _)| (device.label().to_owned(), report);
        each.into_iter().map(named).collect()
    }

    // Operations with a key.

    /// Unwraps a content key with RSA-OAEP (no label). Whatever fails cryptographically is
    /// `BadInput`; where the tokens lack OAEP with this hash, whatever is sent is `Refused`.
    pub async fn decrypt_oaep(
        &self,
        key: &KeyRef,
        hash: OaepHash,
        wrapped: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let (wanted, wrapped) = (key.clone(), wrapped.to_vec());
        let work = move |session: &Session| oaep::decrypt(session, &wanted, hash, &wrapped);
        let is_able = |device: &Device| device.oaep.way(hash) != OaepWay::Lacking;
        self.pool.with_key_on(key, is_able, work).await
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
        let work = move |session: &Session| ecdh::derive(session, &wanted, curve, &point);
        self.pool.with_key(key, work).await
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
        let work = move |session: &Session| gcm::encrypt(session, &wanted, &aad, &plaintext);
        self.pool.with_key(key, work).await
    }

    /// Decrypts with AES-GCM. An IV that is not 12 bytes, a tag that is not 16, and a ciphertext
    /// that does not authenticate are `BadInput`.
    pub async fn aes_gcm_decrypt(
        &self,
        key: &KeyRef,
        iv: &[u8],
        aad: &[u8],
        ciphertext: &[u8],
        tag: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let iv = iv
            .try_into()
            .map_err(|_| HsmError::bad_input("the IV is not 12 bytes"))?;
        if tag.len() != gcm::TAG {
            return Err(HsmError::bad_input("the tag is not 16 bytes"));
        }
        let (wanted, aad, sealed) = (key.clone(), aad.to_vec(), [ciphertext, tag].concat());
        let work = move |session: &Session| gcm::decrypt(session, &wanted, iv, &aad, &sealed);
        self.pool.with_key(key, work).await
    }

    /// Signs a message. ECDSA signatures are r and s concatenated; HMAC is a signature too.
    pub async fn sign(
        &self,
        key: &KeyRef,
        scheme: SignatureScheme,
        message: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        let (wanted, prepared) = (key.clone(), sign::prepare(scheme, message));
        let work = move |session: &Session| sign::sign(session, &wanted, scheme, &prepared);
        self.pool.with_key(key, work).await
    }

    /// The HMAC-SHA-256 of a message, also for checking one: compare in constant time.
    pub async fn hmac(&self, key: &KeyRef, message: &[u8]) -> Result<Vec<u8>, HsmError> {
        self.sign(key, SignatureScheme::HmacSha256, message).await
    }

    /// Random bytes from a token's generator.
    pub async fn random(&self, length: usize) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let work = move |session: &Session| {
            let mut bytes = Zeroizing::new(vec![0; length]);
            session.raw().generate_random_slice(&mut bytes)?;
            Ok(bytes)
        };
        self.pool.anywhere(work).await
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<_> = self
            .pool
            .devices()
            .iter()
            .map(|device| device.label())
            .collect();
        f.debug_tuple("Token").field(&labels).finish()
    }
}
