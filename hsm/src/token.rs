//! The public handle.

use std::fmt;
use std::sync::Arc;

use cryptoki::object::ObjectHandle;
use zeroize::Zeroizing;

use crate::crypt::{ecdh, gcm, oaep, proof, sign};
use crate::dispatch::Dispatcher;
use crate::session::Session;
use crate::threads::{Device, Kind};
use crate::{
    AdoptError, Adopted, Algorithm, Config, ErrorKind, Family, Fatal, FoundKey, GcmSealed,
    Generated, HsmError, ImportError, ImportKey, ImportMechanism, ImportWrapped, Imported, KeyKind,
    KeyName, KeyRef, NewKey, OaepHash, OaepMethod, OpenError, Presence, ProbeReport, PublicKey,
    Purpose, RecordedKey, SignatureScheme, Status, TokenObject, import, keys, probe,
};

/// One or several tokens that hold the same keys. Cheap to clone; all clones share one state.
///
/// Operations go round robin over the tokens that serve and hold the key. They fail over to the
/// next token if a token goes out before they begin. An operation whose future is dropped in the
/// queue does not run.
#[derive(Clone)]
pub struct Token {
    pub(crate) dispatcher: Arc<Dispatcher>,
}

impl Token {
    /// Loads the modules, selects the tokens, logs in to each exactly once and starts its workers.
    ///
    /// If one of several tokens cannot be reached, the others serve and its monitor brings it back
    /// later. A refused PIN always fails.
    pub async fn open(config: Config) -> Result<Self, OpenError> {
        Ok(Self {
            dispatcher: Arc::new(Dispatcher::open(config).await?),
        })
    }

    /// Finishes the queued operations within the deadline, then closes every session and finalizes
    /// the modules. Await this before the process ends, because some libraries crash in their exit
    /// handlers while they are in use.
    pub async fn close(&self) {
        self.dispatcher.close().await;
    }

    /// Resolves when the process should drain and exit non-zero; otherwise never.
    pub async fn fatal(&self) -> Fatal {
        self.dispatcher.fatal().await
    }

    /// The state of every token. Makes no call to a token.
    pub fn status(&self) -> Status {
        Status {
            tokens: self
                .dispatcher
                .devices()
                .iter()
                .map(|device| device.status())
                .collect(),
        }
    }

    /// Whether the trial has shown that every token decrypts RSA-OAEP with this hash. Tokens that
    /// were never reached do not count. Makes no call to a token.
    pub fn opens(&self, hash: OaepHash) -> bool {
        let devices = self.dispatcher.devices().iter();
        let mut connections = devices.map(|device| &device.connection);
        connections.all(|token| token.identity().is_none() || token.oaep().of(hash).works())
    }

    // Keys.

    /// Generates a key: sensitive, non-extractable, with exactly the usages of its purpose. A key
    /// that turns out weaker is destroyed and refused.
    pub async fn generate(&self, key: NewKey) -> Result<Generated, HsmError> {
        let mut begun = false;
        let work = move |session: &Session| keys::generate(session, &key, &mut begun);
        self.dispatcher.write(work).await
    }

    /// Looks a key up on every token.
    pub async fn find(&self, key: &KeyRef) -> Result<FoundKey, HsmError> {
        let wanted = key.clone();
        let each = self.dispatcher.on_each(Kind::Read, move |session| {
            let handle = session.look_up(&wanted)?;
            keys::inspect::facts(session, handle)
        });
        let (mut facts, mut presence, mut failures) = (None, Vec::new(), Vec::new());
        for (device, result) in each.await {
            let holds = match result {
                Ok(found) => {
                    facts.get_or_insert(found);
                    Some(true)
                }
                Err(error) if error.kind() == ErrorKind::KeyMissing => Some(false),
                Err(error) => {
                    failures.push(error);
                    device.connection.handles.presence(key)
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
            (None, None) => Err(HsmError::key_missing()),
        }
    }

    /// Which tokens hold a key, as far as former searches have shown. Makes no call to a token.
    pub fn presence(&self, key: &KeyRef) -> Vec<Presence> {
        let known = |device: &Arc<Device>| Presence {
            token: device.label().to_owned(),
            holds: device.connection.handles.presence(key),
        };
        self.dispatcher.devices().iter().map(known).collect()
    }

    /// Every private and secret key object of every token. Fails if one token cannot be read,
    /// because an incomplete inventory would show keys as missing.
    pub async fn inventory(&self) -> Result<Vec<TokenObject>, HsmError> {
        let mut objects = Vec::new();
        for (_, result) in self.dispatcher.on_each(Kind::Read, keys::inventory).await {
            objects.extend(result?);
        }
        Ok(objects)
    }

    /// Adopts a key that the token holds already: exactly one, not internal, fit for its purpose,
    /// and of the expected algorithm if one is given. The length of an AES key is not verified if
    /// the token does not report it. Weaknesses are reported, not refused: those of every token, so
    /// adoption fails while one of the tokens is out.
    pub async fn adopt(
        &self,
        name: KeyName,
        purpose: Purpose,
        expected: Option<Algorithm>,
    ) -> Result<Adopted, AdoptError> {
        let requested = name.clone();
        let work = move |session: &Session| keys::adopt(session, &name, purpose, expected);
        let mut adopted: Option<Adopted> = None;
        for (_, examined) in self.dispatcher.on_each(Kind::Read, work).await {
            let found = match examined {
                Ok(outcome) => outcome?,
                Err(error) if error.kind() == ErrorKind::KeyMissing => continue,
                Err(error) => return Err(error.into()),
            };
            adopted = Some(match adopted {
                Some(before) => before.merge(found, &requested)?,
                None => found,
            });
        }
        adopted.ok_or(AdoptError::Missing)
    }

    /// Destroys a key and its public half on every token. Other objects with the same id or label
    /// stay. Fails while one of the tokens is out, and is `KeyMissing` if none holds the key.
    pub async fn destroy(&self, key: &KeyRef) -> Result<(), HsmError> {
        let wanted = key.clone();
        self.destroy_by(move |session| keys::destroy(session, &wanted))
            .await
    }

    /// Destroys a key like [`destroy`](Self::destroy), unless its name now names another key.
    pub async fn destroy_recorded(
        &self,
        key: &KeyRef,
        recorded: RecordedKey,
    ) -> Result<(), HsmError> {
        let wanted = key.clone();
        self.destroy_by(move |session| {
            let check = |handle| is_recorded(session, handle, &recorded);
            if session.with_key(&wanted, check)? {
                keys::destroy(session, &wanted)
            } else {
                let detail = format!("{:?} is not the recorded key", wanted.name);
                Err(HsmError::refused(detail))
            }
        })
        .await
    }

    async fn destroy_by(
        &self,
        work: impl Fn(&Session) -> Result<(), HsmError> + Clone + Send + 'static,
    ) -> Result<(), HsmError> {
        let (mut destroyed, mut verdict) = (false, None);
        for (_, result) in self.dispatcher.on_each(Kind::Write, work).await {
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

    /// The public half of a private key, from its public object or, for RSA, from the private key.
    pub async fn read_public(&self, key: &KeyRef) -> Result<PublicKey, HsmError> {
        let wanted = key.clone();
        let work = move |session: &Session| {
            session.with_key(&wanted, |handle| {
                keys::public::of_private(session, handle, &wanted.name)?
                    .ok_or_else(|| HsmError::refused("the token holds no public half of this key"))
            })
        };
        self.dispatcher.with_key(key, work).await
    }

    /// Whether a key is the private half of `public`, shown by an operation that its purpose needs.
    /// False where keys cannot serve the purpose.
    pub async fn is_private_half(
        &self,
        key: &KeyRef,
        public: &PublicKey,
        purpose: Purpose,
    ) -> Result<bool, HsmError> {
        let (wanted, public) = (key.clone(), public.clone());
        let work = move |session: &Session| {
            session.with_key(&wanted, |handle| {
                proof::is_private_half(session, handle, &public, purpose)
            })
        };
        match self.dispatcher.with_key(key, work).await {
            Err(error) if error.kind() == ErrorKind::BadInput => Ok(false),
            proven => proven,
        }
    }

    /// Puts key material into a token. It is proven as a session object before it stays.
    pub async fn import(&self, request: ImportKey) -> Result<Imported, ImportError> {
        let mut begun = false;
        let work = move |session: &Session| import::create(session, &request, &mut begun);
        self.dispatcher.write(work).await?
    }

    /// Unwraps a key inside the token that holds its import key. It is proven as a session object
    /// before it stays.
    pub async fn import_wrapped(&self, request: ImportWrapped) -> Result<Imported, ImportError> {
        let import_key = request.import_key.clone();
        let mut begun = false;
        let work = move |session: &Session| import::unwrap(session, &request, &mut begun);
        self.dispatcher.write_beside(&import_key, work).await?
    }

    /// The mechanisms by which a token can unwrap keys, tried with a temporary key. Takes as long
    /// as generating an RSA key.
    pub async fn import_mechanisms(&self) -> Result<Vec<ImportMechanism>, HsmError> {
        self.dispatcher.write(import::mechanisms).await
    }

    /// Tries and measures every operation on every token. Keeps one worker of each busy for
    /// seconds: for a diagnostic command, not for a health check.
    pub async fn probe(&self) -> Vec<(String, Result<ProbeReport, HsmError>)> {
        let each = self.dispatcher.on_each(Kind::Write, probe::probe).await;
        let named = |(device, report): (Arc<Device>, _)| (device.label().to_owned(), report);
        each.into_iter().map(named).collect()
    }

    // Operations with a key.

    /// Unwraps a content key with RSA-OAEP (no label). Every cryptographic failure is `BadInput`.
    /// Where the tokens lack OAEP with this hash, every input is `Refused`.
    pub async fn decrypt_oaep(
        &self,
        key: &KeyRef,
        hash: OaepHash,
        wrapped: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let (wanted, wrapped) = (key.clone(), wrapped.to_vec());
        let work = move |session: &Session| oaep::decrypt(session, &wanted, hash, &wrapped);
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
        let work = move |session: &Session| ecdh::derive(session, &wanted, curve, &point);
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
        let work = move |session: &Session| gcm::encrypt(session, &wanted, &aad, &plaintext);
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
        let iv = iv
            .try_into()
            .map_err(|_| HsmError::bad_input("the IV must have 12 bytes"))?;
        if tag.len() != gcm::TAG {
            return Err(HsmError::bad_input("the tag must have 16 bytes"));
        }
        let (wanted, aad, sealed) = (key.clone(), aad.to_vec(), [ciphertext, tag].concat());
        let work = move |session: &Session| gcm::decrypt(session, &wanted, iv, &aad, &sealed);
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
        let work = move |session: &Session| sign::sign(session, &wanted, scheme, &prepared);
        self.dispatcher.with_key(key, work).await
    }

    /// Signs a message with this digest. A digest of the wrong length and a scheme that signs messages
    /// are `BadInput`.
    pub async fn sign_digest(
        &self,
        key: &KeyRef,
        scheme: SignatureScheme,
        digest: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        let (wanted, prepared) = (key.clone(), sign::prepare_digest(scheme, digest)?);
        let work = move |session: &Session| sign::sign(session, &wanted, scheme, &prepared);
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
            session.raw().generate_random_slice(&mut bytes)?;
            Ok(bytes)
        };
        self.dispatcher.anywhere(work).await
    }
}

/// Whether the object is the recorded key. Secret keys of one kind cannot be told apart.
fn is_recorded(
    session: &Session,
    key: ObjectHandle,
    recorded: &RecordedKey,
) -> Result<bool, HsmError> {
    let is_same_kind = match keys::inspect::facts(session, key)?.kind {
        KeyKind::Known(algorithm) => algorithm == recorded.algorithm,
        KeyKind::AesOfUnknownLength => recorded.algorithm.family() == Family::Aes,
        KeyKind::Other => false,
    };
    let Some(public) = recorded.public.as_ref().filter(|_| is_same_kind) else {
        return Ok(is_same_kind);
    };
    match proof::is_private_half(session, key, public, recorded.purpose) {
        Err(error) if error.kind() == ErrorKind::BadInput => Ok(false),
        proven => proven,
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<_> = self
            .dispatcher
            .devices()
            .iter()
            .map(|device| device.label())
            .collect();
        f.debug_tuple("Token").field(&labels).finish()
    }
}
