//! The keys of the tokens: create, find, prove, adopt, import, destroy.

use std::sync::Arc;

use super::Token;
use crate::crypt::proof;
use crate::dispatch::Work;
use crate::session::Session;
use crate::threads::{Access, Device};
use crate::{
    AdoptError, Adopted, ErrorKind, FoundKey, Generated, HsmError, ImportError, ImportKey,
    ImportWrapped, Imported, KeyName, KeyRef, NewKey, Presence, Purpose, RecordedKey, TokenObject,
    import, keys,
};
use formats::algorithms::{Algorithm, ImportMechanism, PublicParts};

impl Token {
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
        let each = self
            .dispatcher
            .on_each(Access::Read, move |session| keys::inspect::facts_of_all(session, &wanted));
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
            presence.push(Presence { token: device.label().to_owned(), holds });
        }
        match (facts, failures.pop()) {
            (Some(facts), _) => {
                Ok(FoundKey { key: key.clone(), kind: facts.kind, usages: facts.usages, presence })
            }
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
        for (_, result) in self.dispatcher.on_each(Access::Read, keys::inventory).await {
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
        for (_, examined) in self.dispatcher.on_each(Access::Read, work).await {
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
        self.destroy_if(key, None).await
    }

    /// Destroys a key like [`destroy`](Self::destroy), unless its name now names another key.
    pub async fn destroy_recorded(
        &self,
        key: &KeyRef,
        recorded: RecordedKey,
    ) -> Result<(), HsmError> {
        self.destroy_if(key, Some(recorded)).await
    }

    async fn destroy_if(
        &self,
        key: &KeyRef,
        recorded: Option<RecordedKey>,
    ) -> Result<(), HsmError> {
        let wanted = key.clone();
        let work = move |session: &Session| keys::destroy(session, &wanted, recorded.as_ref());
        self.destroy_on_each(work).await
    }

    /// Runs a destruction on every token. It is `KeyMissing` if no token holds the key.
    pub(super) async fn destroy_on_each(&self, work: impl Work<()>) -> Result<(), HsmError> {
        let (mut destroyed, mut verdict) = (false, None);
        for (_, result) in self.dispatcher.on_each(Access::Write, work).await {
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
    pub async fn read_public(&self, key: &KeyRef) -> Result<PublicParts, HsmError> {
        let wanted = key.clone();
        let work = move |session: &Session| {
            let missing = || HsmError::refused("the token holds no public half of this key");
            let mut halves = Vec::new();
            for part in wanted.parts() {
                halves.push(session.with_key(&part, |handle| {
                    keys::public::of_private(session, handle, &wanted.name)?.ok_or_else(missing)
                })?);
            }
            keys::public::of_parts(&wanted, halves).ok_or_else(missing)
        };
        self.dispatcher.with_key(key, work).await
    }

    /// Whether a key is the private half of `public`, shown by an operation of each part that its purpose
    /// needs. False where keys cannot serve the purpose.
    pub async fn is_private_half(
        &self,
        key: &KeyRef,
        public: &PublicParts,
        purpose: Purpose,
    ) -> Result<bool, HsmError> {
        let (parts, publics) = (key.parts(), public.parts());
        if parts.len() != publics.len() {
            return Ok(false);
        }
        let work = move |session: &Session| {
            for (part, public) in parts.iter().zip(&publics) {
                // The cached handle can be that of a key which had this name before.
                let handle = session.look_up(part)?;
                if !proof::is_private_half(session, handle, public, purpose)? {
                    return Ok(false);
                }
            }
            Ok(true)
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
}
