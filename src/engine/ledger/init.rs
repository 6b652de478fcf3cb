//! `sealward audit init`: makes the signing key and begins the logs.

use formats::algorithms::Algorithm;
use hsm::{ErrorKind, Generated, HsmError, NewKey, Purpose, Token};
use sqlx::PgConnection;
use uuid::Uuid;

use super::foreign::{foreign, trusted_size};
use super::positioned::check_growth;
use super::seal_error::SealError;
use super::store;
use super::{Log, LogCosigner, LogKey, key::SigningKey};
use crate::db::Pool;
use crate::ids::KeyId;
use crate::management::security::record_initialization;
use crate::resource::{self, Rows};
use formats::clock::{Clock, Entropy, Timestamp};
use formats::material::PublicKey;
use formats::tlog::VerifierKey;

/// What `audit init` renews.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    /// Whether a new key signs from now on. Earlier checkpoints keep their signatures.
    pub key: bool,
    /// Whether the logs get new origins. Their trees continue.
    pub origin: bool,
    /// Whether checkpoints get a cosignature with ML-DSA-44, whose key is made if there is none.
    pub post_quantum: bool,
}

/// The logs after `audit init`.
#[derive(Clone, Debug)]
pub struct Initialized {
    /// Whether something changed.
    pub changed: bool,
    /// The public key of each log.
    pub keys: Vec<VerifierKey>,
    /// The segments that no instance wrote, and that the logs keep under their new origins.
    pub foreign: Vec<Uuid>,
    /// The logs whose origin was changed in the database, and which have the sealed one again.
    pub restored: Vec<Log>,
}

/// Why the logs were not initialized.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The token has no key that signs.
    #[error("the token did not make an Ed25519 or P-256 key: {}", .0.report())]
    Token(#[from] HsmError),
    /// The token has no key that cosigns.
    #[error("the token did not make an ML-DSA-44 key for audit.seal.post_quantum: {}", .0.report())]
    Cosigner(HsmError),
    /// The token returned another kind of key.
    #[error("the token made a key that does not sign checkpoints")]
    Key,
    /// The row of a key or of an origin does not count.
    #[error(transparent)]
    Rows(#[from] SealError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Makes what is missing: a signing key, and the heads of the logs under `origin`. Puts the sealed origins of logs back.
///
/// # Errors
/// The token or the database fails. It can run again.
pub async fn initialize(
    pool: &Pool,
    token: &Token,
    (clock, entropy): (&Clock, &Entropy),
    origin: &str,
    renewal: Renewal,
) -> Result<Initialized, InitError> {
    let mut transaction = pool.begin().await?;
    store::lock_init(&mut transaction).await?;
    let now = clock.now();
    let signing =
        store::whole_keys(pool.rows_on(&mut transaction)).await?.ok_or(SealError::Rows)?;
    let before = keys(pool.rows_on(&mut transaction)).await?;
    let restored = restore_origins(pool, &mut transaction).await?;
    let mut changed = !restored.is_empty();
    // Not every token has ML-DSA, and one without it makes nothing.
    let cosigners = store::cosigners(pool.rows_on(&mut transaction)).await?;
    if renewal.post_quantum && (cosigners.is_empty() || renewal.key) {
        let id = KeyId::new(clock, entropy);
        let spki = make_cosigner(token, id.uuid()).await?;
        resource::insert(pool.rows_on(&mut transaction), &LogCosigner::new(id, spki, now)).await?;
        changed = true;
    }
    if signing.is_empty() || renewal.key {
        let id = KeyId::new(clock, entropy);
        let spki = make_key(token, id.uuid()).await?;
        resource::insert(pool.rows_on(&mut transaction), &LogKey::new(id, spki, now)).await?;
        changed = true;
    }
    let origins =
        (format!("{origin}/"), renewal.origin.then(|| format!("{origin}/{}/", compact(now))));
    let foreign = put_origins(pool, &mut transaction, origins).await?;
    changed |= foreign.is_some();
    let foreign = foreign.unwrap_or_default();
    let keys = keys(pool.rows_on(&mut transaction)).await?;
    if changed {
        let texts = |keys: &[VerifierKey]| keys.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (before, after) = (texts(&before), texts(&keys));
        record_initialization(
            pool.rows_on(&mut transaction),
            (clock, entropy),
            &before,
            &after,
            &foreign,
        )
        .await?;
    }
    transaction.commit().await?;
    Ok(Initialized { changed, keys, foreign, restored })
}

/// Gives each log its sealed origin again, if the login of the service has changed it. Returns these logs.
async fn restore_origins(pool: &Pool, connection: &mut PgConnection) -> sqlx::Result<Vec<Log>> {
    let mut restored = Vec::new();
    for log in Log::ALL {
        let head = store::head(&mut *connection, log).await?;
        let sealed = store::origin(pool.rows_on(&mut *connection), log).await?;
        if let Some((head, sealed)) = head.zip(sealed)
            && head.origin != sealed.origin
        {
            store::restore_origin(&mut *connection, log, &sealed.origin).await?;
            restored.push(log);
        }
    }
    Ok(restored)
}

/// Begins the logs that do not exist under the first prefix, and continues the others under the second one, if their
/// segments lead to each node and to the head: whoever gives positions to other segments computes these. Returns the
/// segments that no instance wrote; none if no log got an origin.
async fn put_origins(
    pool: &Pool,
    connection: &mut PgConnection,
    (first, next): (String, Option<String>),
) -> Result<Option<Vec<Uuid>>, InitError> {
    let mut accepted = None;
    for log in Log::ALL {
        let sealed = store::origin(pool.rows_on(&mut *connection), log).await?;
        let (prefix, size) = match (store::lock_head(&mut *connection, log).await?, &next) {
            (Some(_), None) if sealed.is_some() => continue,
            (None, next) => (next.as_ref().unwrap_or(&first), 0),
            (Some(head), None) if head.size == 0 => (&first, 0),
            (Some(_), None) => return Err(SealError::NoOrigin(log).into()),
            (Some(head), Some(next)) => {
                let trusted = trusted_size(pool.rows_on(&mut *connection), log, &head).await?;
                check_growth(&mut *connection, (log, &head), trusted, |_| true).await?;
                (next, head.size)
            }
        };
        let name = format!("{prefix}{log}");
        let of_log = foreign(pool.rows_on(&mut *connection), log).await?;
        accepted.get_or_insert_with(Vec::new).extend_from_slice(&of_log.all);
        store::put_origin(&mut *connection, log, &name).await?;
        let rows = pool.rows_on(&mut *connection);
        store::keep_origin(rows, log, (name, size), of_log).await?;
    }
    Ok(accepted)
}

/// The public keys that sign and cosign each log now, under its sealed origin: a head can have any other one.
async fn keys(mut rows: Rows<&mut PgConnection>) -> Result<Vec<VerifierKey>, InitError> {
    let signing = store::keys(rows.again()).await?;
    let cosigning = store::cosigners(rows.again()).await?;
    let mut verifiers = Vec::new();
    for key in [signing.first(), cosigning.first()].into_iter().flatten() {
        for log in Log::ALL {
            if let Some(sealed) = store::origin(rows.again(), log).await? {
                verifiers.push(key.verifier(&sealed.origin).map_err(|_| InitError::Key)?);
            }
        }
    }
    Ok(verifiers)
}

/// Makes a key pair in the token, Ed25519 if the token supports it.
async fn make_key(token: &Token, id: Uuid) -> Result<Vec<u8>, InitError> {
    let made = match generate(token, id, Algorithm::Ed25519).await {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Refused | ErrorKind::BadInput | ErrorKind::Unusable
            ) =>
        {
            generate(token, id, Algorithm::P256).await?
        }
        made => made?,
    };
    checked(id, made)
}

/// Makes an ML-DSA-44 key pair in the token.
async fn make_cosigner(token: &Token, id: Uuid) -> Result<Vec<u8>, InitError> {
    let made = generate(token, id, Algorithm::MlDsa44).await;
    checked(id, made.map_err(InitError::Cosigner)?)
}

async fn generate(token: &Token, id: Uuid, algorithm: Algorithm) -> Result<Generated, HsmError> {
    let id = id.as_bytes().to_vec();
    let key = NewKey::internal(id, "audit log", algorithm, Purpose::Sign);
    token.generate(key).await
}

/// The SubjectPublicKeyInfo of a key that signs or cosigns checkpoints.
fn checked(id: Uuid, made: Generated) -> Result<Vec<u8>, InitError> {
    let public = made.public.and_then(|public| PublicKey::new(public).ok());
    let spki = public.ok_or(InitError::Key)?.to_spki();
    SigningKey::new(id, &spki).ok_or(InitError::Key)?;
    Ok(spki)
}

/// A time without separators, such as `20260131T120000Z`.
fn compact(now: Timestamp) -> String {
    let digits = now.to_string();
    let whole = digits.split('.').next().unwrap_or_default();
    format!("{}Z", whole.replace(['-', ':'], ""))
}
