//! People in the database.

use sqlx::PgConnection;

use super::{Person, Profile};
use crate::db::Pool;
use crate::ids::PersonId;
use crate::resource::{self, Rows, Stored as _, select};
use crate::seals::What;

/// Records the profile of a token. None if the row of the person does not count.
pub(super) async fn record(
    database: &Pool,
    id: PersonId,
    profile: &Profile,
) -> sqlx::Result<Option<Person>> {
    let mut transaction = database.begin().await?;
    let mut rows = database.rows_on(&mut transaction);
    let mut known = lock(rows.again(), profile).await?;
    if known.is_none() {
        let new = Person::new(id, profile);
        if resource::insert_new(rows.again(), &new).await? {
            transaction.commit().await?;
            return Ok(Some(new));
        }
        // Another token of the person was first, or the row does not count.
        known = lock(rows.again(), profile).await?;
    }
    let Some(known) = known else {
        return Ok(None);
    };
    let after = known.clone().described(profile);
    if after == known {
        return Ok(Some(known));
    }
    let after = after.rewritten();
    resource::update(rows, &after, What::Changed).await?;
    transaction.commit().await?;
    Ok(Some(after))
}

async fn lock(rows: Rows<&mut PgConnection>, profile: &Profile) -> sqlx::Result<Option<Person>> {
    let found = select("WHERE issuer = $1 AND subject = $2");
    found.bind(&profile.issuer).bind(&profile.subject).lock(rows).await
}

pub(super) async fn read(database: &Pool, id: PersonId) -> sqlx::Result<Option<Person>> {
    select("WHERE id = $1").bind(id).fetch_optional(database.rows()).await
}
