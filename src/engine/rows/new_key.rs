//! Another generation of the row key.
//!
//! Each step can be repeated: after a crash, the next run continues with the generation that exists.

use hsm::{ErrorKind, HsmError, InternalSecret, Token};
use sqlx::PgConnection;

use super::kinds::each_kind;
use super::store;
use crate::db::Pool;
use crate::ids::EventId;
use crate::management::{Actor, Event, insert_event};
use crate::resource::{Rows, Stored as _, renew};
use crate::seals::{NoRowKey, NotDerived, complete, endorse, next_generation, renew_kept};
use crate::segments;
use formats::clock::{Clock, Entropy};

/// What a new generation changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// The generation that seals.
    pub generation: u32,
    /// The number of rows that were sealed again.
    pub rows: u64,
}

/// Why the row key was not renewed.
#[derive(Debug, thiserror::Error)]
pub enum NotRenewed {
    /// The tokens have no row key.
    #[error(transparent)]
    NotDerived(#[from] NotDerived),
    /// A token is out.
    #[error("every token must answer: {}", .0.report())]
    Token(#[from] HsmError),
    /// Other tokens lack the new internal key.
    #[error(
        "copy the internal key of generation {generation} to {} with the vendor's tools, and run the command \
         again", tokens.join(", ")
    )]
    NotCopied {
        /// The generation.
        generation: u32,
        /// The labels of the tokens.
        tokens: Vec<String>,
    },
    /// The database failed.
    #[error("cannot read or write the rows: {0}")]
    Database(#[from] sqlx::Error),
}

/// Makes another generation of the internal key, unless a former run has made it, seals all rows that count
/// under it, and destroys the generations before.
///
/// # Errors
/// A token is out or lacks the new generation, or the database fails. All rows count as before.
pub async fn new_key(
    pool: &Pool,
    token: &Token,
    (clock, entropy): (&Clock, &Entropy),
) -> Result<Renewed, NotRenewed> {
    let mut lock = pool.begin().await?;
    store::lock_internal_keys(&mut lock).await?;
    let seals = pool.seals();
    seals.open(token).await?;
    let key = seals.current().ok_or(NoRowKey).map_err(sqlx::Error::from)?;
    // With several generations, a former run was interrupted.
    if key.before(key.newest()).is_empty() {
        let next = next_generation(&mut *lock, key.newest()).await?;
        token.make_internal_secret(next).await?;
        seals.open(token).await?;
    }
    let key = seals.current().ok_or(NoRowKey).map_err(sqlx::Error::from)?;
    let generation = key.newest();
    check_is_on_each(token, generation).await?;
    if let Some(endorsement) = key.endorse_newest() {
        let mut transaction = pool.begin().await?;
        endorse(&mut transaction, &endorsement).await?;
        transaction.commit().await?;
        seals.open(token).await?;
    }
    // From here on, no instance seals under the generations before.
    let mut connection = pool.acquire().await?;
    let (mut rows, key) = (0, seals.current().ok_or(NoRowKey).map_err(sqlx::Error::from)?);
    loop {
        let segments = segments::renew(&mut connection, &key).await?;
        match renew_all(pool.rows_on(&mut connection)).await? {
            0 if segments == 0 => break,
            renewed => rows += renewed,
        }
    }
    each_kind!(R => renew_kept(&mut connection, &key, R::TABLE).await?);
    complete(&mut *connection, generation).await?;
    let (id, now) = (EventId::new(clock, entropy), clock.now());
    let event = Event::row_key_renewed(generation);
    let written = pool.rows_on(&mut connection);
    insert_event(written, id, now, &Actor::system("cli"), event, None).await?;
    for before in key.before(generation) {
        match token.destroy_internal_secret(before).await {
            Err(error) if error.kind() != ErrorKind::KeyMissing => return Err(error.into()),
            Err(_) | Ok(()) => {}
        }
    }
    seals.open(token).await?;
    lock.commit().await?;
    Ok(Renewed { generation, rows })
}

async fn renew_all(mut rows: Rows<&mut PgConnection>) -> sqlx::Result<u64> {
    let mut renewed = 0;
    each_kind!(R => renewed += renew::<R>(rows.again()).await?);
    Ok(renewed)
}

/// A token without the generation could not verify a row once the others are destroyed.
async fn check_is_on_each(token: &Token, generation: u32) -> Result<(), NotRenewed> {
    let mut tokens = Vec::new();
    for (label, secrets) in token.internal_secrets().await {
        let has = |secret: &InternalSecret| secret.generation == generation;
        if !secrets?.iter().any(has) {
            tokens.push(label);
        }
    }
    match tokens.is_empty() {
        true => Ok(()),
        false => Err(NotRenewed::NotCopied { generation, tokens }),
    }
}
