//! The row of a key.

use hsm::KeyName;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::db::undecodable;
use crate::ids::KeyId;
use crate::keys::Key;
use crate::keys::vault::store::forget_intent;
use crate::resource::Columns;
use formats::material::PublicKey;

const TABLE: &str = "keys";

impl FromRow<'_, PgRow> for Key {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: KeyId = row.try_get("id")?;
        let public: Option<&[u8]> = row.try_get("public_key")?;
        let public = public.map(PublicKey::from_spki).transpose();
        let public = public
            .map_err(|problem| undecodable(format!("public key of {id}: {}", problem.message)))?;
        let token_id: Option<Vec<u8>> = row.try_get("token_id")?;
        let token_label: Option<String> = row.try_get("token_label")?;
        Ok(Self {
            id,
            partner_kid: row.try_get("partner_kid")?,
            service_id: row.try_get("service_id")?,
            name: row.try_get("name")?,
            usage: row.try_get("usage")?,
            algorithm: row.try_get("algorithm")?,
            origin: row.try_get("origin")?,
            status: row.try_get("status")?,
            token_name: token_id
                .map(KeyName::Id)
                .or(token_label.map(KeyName::Label)),
            extractable: row.try_get("extractable")?,
            public,
            hpke_revision: row.try_get("hpke_revision")?,
            expires_at: row.try_get("expires_at")?,
            rotation_days: row.try_get("rotation_days")?,
            succeeds: row.try_get("succeeds")?,
            retire_at: row.try_get("retire_at")?,
            activated_at: row.try_get("activated_at")?,
            destroy_at: row.try_get("destroy_at")?,
            revision: row.try_get("revision")?,
            created_at: row.try_get("created_at")?,
            updated_at: row.try_get("updated_at")?,
        })
    }
}

/// Records a new key and removes its intent. Returns whether the intent existed: without it, another job
/// may have destroyed the object that was made for the key.
pub async fn insert(connection: &mut PgConnection, key: &Key) -> sqlx::Result<bool> {
    let (token_id, token_label) = token_columns(key);
    let columns = mutable_columns(key)
        .with("id", key.id)
        .with("partner_kid", key.partner_kid.clone())
        .with("service_id", key.service_id)
        .with("usage", key.usage)
        .with("algorithm", key.algorithm)
        .with("origin", key.origin)
        .with("token_id", token_id)
        .with("token_label", token_label)
        .with("extractable", key.extractable)
        .with("public_key", key.public.as_ref().map(PublicKey::to_spki))
        .with("thumbprint", key.public.as_ref().map(PublicKey::thumbprint))
        .with("hpke_revision", key.hpke_revision)
        .with("created_at", key.created_at);
    columns.insert(connection, TABLE).await?;
    forget_intent(connection, key.id.uuid()).await
}

/// Updates the mutable columns of a key.
pub async fn update(connection: &mut PgConnection, key: &Key) -> sqlx::Result<()> {
    let columns = mutable_columns(key);
    columns.update(connection, TABLE, key.id.uuid()).await
}

fn mutable_columns(key: &Key) -> Columns {
    Columns::default()
        .with("name", &key.name)
        .with("status", key.status)
        .with("expires_at", key.expires_at)
        .with("rotation_days", key.rotation_days)
        .with("succeeds", key.succeeds)
        .with("retire_at", key.retire_at)
        .with("activated_at", key.activated_at)
        .with("destroy_at", key.destroy_at)
        .with("revision", key.revision)
        .with("updated_at", key.updated_at)
}

fn token_columns(key: &Key) -> (Option<Vec<u8>>, Option<String>) {
    match key.token_name.clone() {
        Some(KeyName::Id(id)) => (Some(id), None),
        Some(KeyName::Label(label)) => (None, Some(label)),
        Some(KeyName::Internal(_)) | None => (None, None),
    }
}
