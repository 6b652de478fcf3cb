//! The canonical form of a row.

use aws_lc_rs::digest;
use sqlx::Postgres;
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::PgArgumentBuffer;

/// The first form of the rows of a table.
pub(crate) const FIRST_FORM: u8 = 1;

/// The forms of the rows of a table. A later release adds columns as the next form. It reads all, and it writes
/// the form that the previous release reads, because its instances run until they are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forms {
    /// The newest form that this release reads.
    pub newest: u8,
    /// The form that it writes.
    pub written: u8,
}

/// The newest of these forms.
pub(crate) const fn newest_of_forms(forms: &[u8]) -> u8 {
    match forms {
        [] => FIRST_FORM,
        [first, rest @ ..] => {
            let later = newest_of_forms(rest);
            if *first > later { *first } else { later }
        }
    }
}

/// The columns of a row that decide something, as Postgres receives them: of each its name and its value, both
/// with their lengths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowForm(Vec<Column>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    /// The form that it came with.
    since: u8,
    is_default: bool,
    bytes: Vec<u8>,
}

impl RowForm {
    /// Adds a column that came with the form `since`. In rows of former forms it has its default.
    pub fn add<'q, T: Encode<'q, Postgres>>(
        &mut self,
        name: &str,
        value: &T,
        (since, is_default): (u8, bool),
    ) -> Result<(), BoxDynError> {
        let mut encoded = PgArgumentBuffer::default();
        let is_null = value.encode_by_ref(&mut encoded)?;
        let mut bytes = Vec::new();
        put(&mut bytes, name.as_bytes())?;
        match is_null {
            IsNull::Yes => bytes.push(0),
            IsNull::No => {
                bytes.push(1);
                put(&mut bytes, &encoded)?;
            }
        }
        self.0.push(Column { since, is_default, bytes });
        Ok(())
    }

    /// The digest of the columns in this form. None if a column that came later does not have its default.
    pub(super) fn digest(&self, form: u8) -> Option<Vec<u8>> {
        let columns = self.in_form(form)?;
        Some(digest::digest(&digest::SHA256, &columns).as_ref().to_vec())
    }

    /// The bytes of the row in this form. None if a column that came later does not have its default.
    pub(super) fn in_form(&self, form: u8) -> Option<Vec<u8>> {
        let (covered, later): (Vec<&Column>, _) =
            self.0.iter().partition(|column| column.since <= form);
        let bytes = covered.iter().flat_map(|column| &column.bytes).copied();
        later.iter().all(|column| column.is_default).then(|| bytes.collect())
    }
}

fn put(bytes: &mut Vec<u8>, part: &[u8]) -> Result<(), BoxDynError> {
    let length = u32::try_from(part.len())?;
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(part);
    Ok(())
}
