//! The key that signs reports. Its private key is in the token.

mod store;

use hsm::{ErrorKind, HsmError, KeyRef, NewKey, Purpose, Token};
use sqlx::{PgConnection, PgExecutor};

use crate::db::Pool;
use crate::ids::KeyId;
use crate::resource::{self, Deprivable, Rows, fetch_whole};
use crate::revision::Revision;
use crate::row;
use formats::algorithms::{Algorithm, SignatureScheme};
use formats::clock::{Clock, Entropy, Timestamp};
use formats::material::PublicKey;

/// The algorithm of the key. Every JOSE library verifies its signatures, which are `ES256`.
const ALGORITHM: Algorithm = Algorithm::P256;

row! {
    /// A key that signs reports. The newest one signs.
    pub(crate) struct ReportKey(KeyId) in "report_keys", kept: true {
        /// The SubjectPublicKeyInfo in DER.
        public_key: Vec<u8>;
        /// The creation time.
        created_at: Timestamp;
    }
}

impl Deprivable for ReportKey {}

/// Why the key was not made.
#[derive(Debug, thiserror::Error)]
pub enum NotMade {
    /// The token failed.
    #[error("the token did not make a P-256 key for reports: {}", .0.report())]
    Token(#[from] HsmError),
    /// The token returned no public key.
    #[error("the token made a key for reports without a public key")]
    NoPublicKey,
    /// An older key would sign, or the rows are those of another token.
    #[error("a report key does not count: run `sealward rows reseal`, then `sealward init` again")]
    NotCounting,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Makes the key in the token, unless a token holds the one that signs. Returns whether it was made. The tokens
/// must have derived the row key.
pub async fn initialize(
    pool: &Pool,
    token: &Token,
    (clock, entropy): (&Clock, &Entropy),
) -> Result<bool, NotMade> {
    let mut transaction = pool.begin().await?;
    store::lock(&mut transaction).await?;
    let keys = fetch_whole::<ReportKey>(pool.rows_on(&mut transaction)).await?;
    if let Some(key) = newest_of(keys.ok_or(NotMade::NotCounting)?) {
        match token.find(&key.private()).await {
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == ErrorKind::KeyMissing => {}
            Err(error) => return Err(error.into()),
        }
    }
    let id = KeyId::new(clock, entropy);
    let name = id.uuid().as_bytes().to_vec();
    let made = token.generate(NewKey::internal(name, "reports", ALGORITHM, Purpose::Sign)).await?;
    let public = made.public.and_then(|public| PublicKey::new(public).ok());
    let public_key = public.ok_or(NotMade::NoPublicKey)?.to_spki();
    let key = ReportKey { id, public_key, created_at: clock.now(), revision: Revision::FIRST };
    resource::insert(pool.rows_on(&mut transaction), &key).await?;
    transaction.commit().await?;
    Ok(true)
}

/// The key that signs. None before `sealward init`, and while a key that was ever made does not count: an older one would
/// sign.
pub(crate) async fn newest(rows: Rows<&mut PgConnection>) -> sqlx::Result<Option<ReportKey>> {
    Ok(fetch_whole(rows).await?.and_then(newest_of))
}

fn newest_of(keys: Vec<ReportKey>) -> Option<ReportKey> {
    keys.into_iter().max_by_key(|key| (key.created_at, key.id))
}

/// All keys, the newest last.
pub(crate) async fn all(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<ReportKey>> {
    store::all(rows).await
}

impl ReportKey {
    /// The public key.
    pub(crate) fn public(&self) -> Option<PublicKey> {
        PublicKey::from_spki(&self.public_key).ok()
    }

    /// Signs a message in the token. The signature is r and s, concatenated.
    pub(crate) async fn sign(&self, token: &Token, message: &[u8]) -> Result<Vec<u8>, HsmError> {
        token.sign(&self.private(), SignatureScheme::EcdsaSha256, message).await
    }

    fn private(&self) -> KeyRef {
        KeyRef::internal(*self.id.uuid().as_bytes())
    }
}
