//! The columns of a row.

use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, Encode, Postgres, Type};

use crate::seals::{FIRST_FORM, RowForm};

/// The column of a member with this name in the code.
pub(super) fn column_name(name: &'static str) -> &'static str {
    name.trim_start_matches("r#")
}

/// Columns with their values, for one statement, and the form in which they are sealed.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<&'static str>,
    arguments: PgArguments,
    form: RowForm,
    error: Option<sqlx::Error>,
}

impl Columns {
    /// Sets a column that decides something.
    pub fn set<T: Type<Postgres> + for<'q> Encode<'q, Postgres>>(
        &mut self,
        name: &'static str,
        value: T,
    ) {
        self.set_since((FIRST_FORM, false), name, value);
    }

    /// Sets a column that decides something and that came with a later form of the row, and whether it has its
    /// default.
    pub(crate) fn set_since<T: Type<Postgres> + for<'q> Encode<'q, Postgres>>(
        &mut self,
        since: (u8, bool),
        name: &'static str,
        value: T,
    ) {
        if let Err(error) = self.form.add(column_name(name), &value, since) {
            self.error = Some(sqlx::Error::Encode(error));
        }
        self.set_unsealed(name, value);
    }

    /// Sets a column that the seal does not cover.
    pub(super) fn set_unsealed<T: Type<Postgres> + for<'q> Encode<'q, Postgres>>(
        &mut self,
        name: &'static str,
        value: T,
    ) {
        self.names.push(column_name(name));
        if let Err(error) = self.arguments.add(value) {
            self.error = Some(sqlx::Error::Encode(error));
        }
    }

    /// The form in which these columns are sealed.
    pub(super) fn form(&self) -> sqlx::Result<&RowForm> {
        match &self.error {
            Some(_) => Err(sqlx::Error::Encode("a column of the row has no form".into())),
            None => Ok(&self.form),
        }
    }

    /// The names and the values.
    pub(super) fn finish(self) -> sqlx::Result<(Vec<&'static str>, PgArguments)> {
        match self.error {
            Some(error) => Err(error),
            None => Ok((self.names, self.arguments)),
        }
    }
}
