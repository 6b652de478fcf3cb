//! The private or secret key of a record.

use hsm::KeyName;
use serde::{Serialize, Serializer};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use super::KeyStatus;
use crate::resource::{ColumnGroup, Columns};

/// The private or secret key of a record. The API shows whether the token has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateHalf {
    /// Its name in the tokens; none for a public key only. A destroyed key keeps its name.
    pub token_name: Option<KeyName>,
    pub(super) is_destroyed: bool,
}

impl PrivateHalf {
    /// Whether the token has it.
    pub(crate) fn is_present(&self) -> bool {
        self.token_name.is_some() && !self.is_destroyed
    }
}

impl ColumnGroup for PrivateHalf {
    const COLUMNS: &'static [&'static str] = &["token_id", "token_label"];

    fn write(&self, columns: &mut Columns) {
        let (id, label) = match self.token_name.clone() {
            Some(KeyName::Id(id)) => (Some(id), None),
            Some(KeyName::Label(label)) => (None, Some(label)),
            Some(KeyName::Internal(_)) | None => (None, None),
        };
        columns.set("token_id", id);
        columns.set("token_label", label);
    }
}

/// The status is a member of the key.
impl FromRow<'_, PgRow> for PrivateHalf {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: Option<Vec<u8>> = row.try_get("token_id")?;
        let label: Option<String> = row.try_get("token_label")?;
        let status: KeyStatus = row.try_get("status")?;
        Ok(Self {
            token_name: id.map(KeyName::Id).or(label.map(KeyName::Label)),
            is_destroyed: status == KeyStatus::Destroyed,
        })
    }
}

impl Serialize for PrivateHalf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.is_present().serialize(serializer)
    }
}
