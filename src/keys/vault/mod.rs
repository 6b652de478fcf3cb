//! Objects in the token: made for a record that follows, and destroyed.
//!
//! An object comes first, its record after. What is about to be made is written down before the
//! token is asked, and crossed out in the transaction that records the key: whatever a crash leaves
//! in a token has either its record or its intent, and without a record nothing uses it.

mod adopt;
pub(super) mod store;

use std::sync::Arc;

use arc_swap::ArcSwap;
use hsm::{
    ErrorKind, GenerateKey, HsmError, ImportError, ImportKey, ImportWrapped, KeyClass, KeyMaterial,
    KeyName, KeyRef, Purpose,
};
use sqlx::PgPool;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::import_key::{ImportKeyRecord, Mechanism};
use super::{Comparison, Usage, token_terms};
use crate::clock::{Clock, Entropy};
use crate::ids::{ImportKeyId, KeyId, ServiceId};
use crate::material::{Algorithm, PrivateKey, PublicKey, SecretKey};
use crate::problem::{Code, Problem};

pub use self::adopt::Described;

/// The tokens, and what is under way in them.
#[derive(Clone, Debug)]
pub struct Vault {
    pub(super) token: hsm::Token,
    pub(super) pool: PgPool,
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
    /// What the last comparison of tokens and records found.
    pub(super) latest: Arc<ArcSwap<Comparison>>,
}

/// The secret half of a key, in the token and not yet recorded.
#[derive(Debug)]
#[must_use = "it is in the token: record it, or have the vault discard it"]
pub struct Made {
    /// The identifier the key will have.
    pub id: KeyId,
    /// What kind of key it is.
    pub algorithm: Algorithm,
    /// How the tokens name it.
    pub name: KeyName,
    /// Its public half; none for secret keys.
    pub public: Option<PublicKey>,
}

/// Why nothing was made.
#[derive(Debug, thiserror::Error)]
pub enum NotMade {
    /// What was handed in cannot become such a key.
    #[error("{}", .0.message)]
    Problem(Problem),
    /// The token did not do it.
    #[error(transparent)]
    Token(#[from] HsmError),
    /// The database did not take the intent.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// For whom a key is made, and what for.
#[derive(Clone, Copy, Debug)]
pub struct Destiny {
    /// The service it will belong to.
    pub service_id: ServiceId,
    /// What it will be used for.
    pub usage: Usage,
}

/// A key wrapped for the token, as it came.
#[derive(Debug)]
pub struct Wrapped {
    /// What it was wrapped with.
    pub import_key: ImportKeyId,
    /// How.
    pub mechanism: Mechanism,
    /// The wrapped key.
    pub ciphertext: Vec<u8>,
    /// What kind of key it is.
    pub algorithm: Algorithm,
    /// Its public half, where it was given.
    pub public: Option<PublicKey>,
}

impl Vault {
    /// The vault of these tokens.
    #[must_use]
    pub fn new(token: hsm::Token, pool: PgPool, clock: Clock, entropy: Entropy) -> Self {
        Self {
            token,
            pool,
            clock,
            entropy,
            latest: Arc::default(),
        }
    }

    /// What the last comparison of tokens and records found here.
    #[must_use]
    pub fn latest(&self) -> Arc<Comparison> {
        self.latest.load_full()
    }

    /// The tokens themselves.
    #[must_use]
    pub fn token(&self) -> &hsm::Token {
        &self.token
    }

    /// Has the token make a key.
    ///
    /// # Errors
    /// When the token or the database does not do it.
    pub async fn generate(&self, destiny: Destiny, algorithm: Algorithm) -> Result<Made, NotMade> {
        let id = self.intend(destiny.service_id).await?;
        let made = self.token.generate(GenerateKey {
            id: id.uuid().as_bytes().to_vec(),
            label: id.to_string(),
            algorithm: token_terms::algorithm(algorithm),
            purpose: destiny.usage.purpose(),
        });
        let made = self.or_forget(id.uuid(), made.await).await?;
        self.made(id, algorithm, made.key, made.public).await
    }

    /// Puts a private key in plaintext into the token.
    ///
    /// # Errors
    /// When the token or the database does not do it.
    pub async fn import_private(
        &self,
        destiny: Destiny,
        key: &PrivateKey,
    ) -> Result<Made, NotMade> {
        self.import(destiny, key.algorithm(), token_terms::material(key))
            .await
    }

    /// Puts a secret key in plaintext into the token.
    ///
    /// # Errors
    /// When the token or the database does not do it.
    pub async fn import_secret(
        &self,
        destiny: Destiny,
        algorithm: Algorithm,
        key: &SecretKey,
    ) -> Result<Made, NotMade> {
        let bytes = Zeroizing::new(key.bytes().to_vec());
        self.import(destiny, algorithm, KeyMaterial::Secret(bytes))
            .await
    }

    async fn import(
        &self,
        destiny: Destiny,
        algorithm: Algorithm,
        material: KeyMaterial,
    ) -> Result<Made, NotMade> {
        let id = self.intend(destiny.service_id).await?;
        let made = self.token.import(ImportKey {
            id: id.uuid().as_bytes().to_vec(),
            label: id.to_string(),
            algorithm: token_terms::algorithm(algorithm),
            purpose: destiny.usage.purpose(),
            material,
        });
        let made = made.await.map_err(|error| not_imported("", error));
        let made = self.or_forget(id.uuid(), made).await?;
        self.made(id, algorithm, made.key, made.public).await
    }

    /// Has the token unwrap a key. One of the import key's attempts is spent, whatever comes of it.
    ///
    /// # Errors
    /// When the import key takes no more, when the wrapped key is not what it should be, or when
    /// the token or the database does not do it.
    pub async fn import_wrapped(
        &self,
        destiny: Destiny,
        wrapped: Wrapped,
    ) -> Result<Made, NotMade> {
        let attempted =
            ImportKeyRecord::attempt(&self.pool, wrapped.import_key, self.clock.now()).await?;
        let record = attempted.ok_or_else(|| {
            NotMade::Problem(Problem::new(
                "wrappedKey.importKeyId",
                Code::Unknown,
                "there is no such import key, or it has expired, been used or been tried too often",
            ))
        })?;
        if record.mechanism != wrapped.mechanism {
            return Err(NotMade::Problem(Problem::new(
                "wrappedKey.mechanism",
                Code::Conflict,
                "the import key was made for the other mechanism",
            )));
        }
        let id = self.intend(destiny.service_id).await?;
        let made = self.token.import_wrapped(ImportWrapped {
            id: id.uuid().as_bytes().to_vec(),
            label: id.to_string(),
            algorithm: token_terms::algorithm(wrapped.algorithm),
            purpose: destiny.usage.purpose(),
            import_key: KeyRef::private(*wrapped.import_key.uuid().as_bytes()),
            mechanism: wrapped.mechanism.token_term(),
            wrapped: wrapped.ciphertext,
            public: wrapped.public.as_ref().map(token_terms::public),
        });
        let made = made
            .await
            .map_err(|error| not_imported("wrappedKey", error));
        let made = self.or_forget(id.uuid(), made).await?;
        self.made(id, wrapped.algorithm, made.key, made.public)
            .await
    }

    /// Makes the wrapping key of an import.
    ///
    /// # Errors
    /// When the token lacks the mechanism, or the token or the database does not do it.
    pub async fn make_import_key(
        &self,
        mechanism: Mechanism,
    ) -> Result<(ImportKeyId, PublicKey), NotMade> {
        if !self
            .token
            .import_mechanisms()
            .await?
            .contains(&mechanism.token_term())
        {
            return Err(NotMade::Problem(Problem::new(
                "mechanism",
                Code::Unsupported,
                "the token lacks this mechanism",
            )));
        }
        let id = ImportKeyId::new(&self.clock, &self.entropy);
        let now = self.clock.now();
        store::intend(&self.pool, id.uuid(), store::Purpose::ImportKey, now).await?;
        let made = self.token.generate(GenerateKey {
            id: id.uuid().as_bytes().to_vec(),
            label: id.to_string(),
            algorithm: hsm::KeyAlgorithm::Rsa4096,
            purpose: Purpose::Import,
        });
        let made = self.or_forget(id.uuid(), made.await).await?;
        let public = made.public.map(token_terms::public_of);
        match public {
            Some(Ok(public)) => Ok((id, public)),
            Some(Err(problem)) => Err(NotMade::Problem(problem)),
            None => Err(NotMade::Problem(no_public_half())),
        }
    }

    /// Takes a key out of the token again that no record will name. What cannot be taken out now
    /// is found by the reconciler.
    pub async fn discard(&self, made: Made) {
        let key = made.token_key();
        // An adopted key was there before, and stays.
        if made.name != KeyName::Id(made.id.uuid().as_bytes().to_vec()) {
            return;
        }
        if let Err(error) = self.destroy(&key).await {
            tracing::warn!(key = %made.id, ?error, "a key that is not recorded stays in the token");
            return;
        }
        if let Err(error) = store::forget_intent(&self.pool, made.id.uuid()).await {
            tracing::warn!(key = %made.id, %error, "an intent is left for the reconciler");
        }
    }

    /// Destroys a key on every token. One that is on none of them is destroyed already.
    ///
    /// # Errors
    /// When a token does not do it.
    pub async fn destroy(&self, key: &KeyRef) -> Result<(), HsmError> {
        match self.token.destroy(key).await {
            Err(error) if error.kind() == ErrorKind::KeyMissing => Ok(()),
            outcome => outcome,
        }
    }

    async fn intend(&self, service: ServiceId) -> sqlx::Result<KeyId> {
        let id = KeyId::new(&self.clock, &self.entropy);
        let now = self.clock.now();
        store::intend(&self.pool, id.uuid(), store::Purpose::Key(service), now).await?;
        Ok(id)
    }

    /// Crosses the intent out where the token certainly made nothing. Where that is not certain it
    /// stays, and the reconciler looks.
    async fn or_forget<T, E: Into<NotMade>>(
        &self,
        id: Uuid,
        made: Result<T, E>,
    ) -> Result<T, NotMade> {
        let error: NotMade = match made {
            Ok(made) => return Ok(made),
            Err(error) => error.into(),
        };
        let certain = match &error {
            NotMade::Problem(_) | NotMade::Database(_) => true,
            NotMade::Token(error) => match error.kind() {
                ErrorKind::BadInput | ErrorKind::KeyMissing | ErrorKind::Busy => true,
                ErrorKind::TokenOut | ErrorKind::Late | ErrorKind::Refused => false,
            },
        };
        if certain {
            store::forget_intent(&self.pool, id).await?;
        }
        Err(error)
    }

    async fn made(
        &self,
        id: KeyId,
        algorithm: Algorithm,
        key: KeyRef,
        public: Option<hsm::PublicKey>,
    ) -> Result<Made, NotMade> {
        let made = Made {
            id,
            algorithm,
            name: key.name,
            public: None,
        };
        let public = match public.map(token_terms::public_of) {
            Some(Ok(public)) => Some(public),
            None if algorithm.is_secret() => None,
            Some(Err(_)) | None => {
                self.discard(made).await;
                return Err(NotMade::Problem(no_public_half()));
            }
        };
        Ok(Made { public, ..made })
    }
}

impl Made {
    /// The key in the token.
    #[must_use]
    pub fn token_key(&self) -> KeyRef {
        let class = if self.algorithm.is_secret() {
            KeyClass::Secret
        } else {
            KeyClass::Private
        };
        KeyRef {
            name: self.name.clone(),
            class,
        }
    }
}

fn not_imported(member: &str, error: ImportError) -> NotMade {
    let (code, told) = match error {
        ImportError::Token(error) => return NotMade::Token(error),
        ImportError::Unsupported(_) => (
            Code::Unsupported,
            "the token cannot take in a key of this kind in this way",
        ),
        ImportError::Malformed(told) => (Code::Format, told),
        ImportError::NotUnwrapped => (
            Code::Format,
            "the token cannot unwrap this into such a key with this import key",
        ),
        ImportError::Mismatch => return unlike_half(),
        ImportError::Weaker(_) => (
            Code::Unsupported,
            "the token would keep this key weaker than it must",
        ),
    };
    NotMade::Problem(Problem::new(member, code, told))
}

fn unlike_half() -> NotMade {
    NotMade::Problem(Problem::new(
        "publicKey",
        Code::Conflict,
        "this is the public half of another key",
    ))
}

fn no_public_half() -> Problem {
    Problem::of_body(
        Code::Unsupported,
        "the token gave no usable public half of this key",
    )
}
