//! Columns of a database that contain envelopes.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::runtime::Sealed;
use crate::{Client, Envelope, Payload, Scope};

/// A column whose values are in envelopes. The context of its envelopes is `{table, column}`, so that a value of another
/// column does not open.
///
/// ```
/// use sealward_client::Column;
///
/// const IBAN: Column = Column::new("customers", "iban");
/// ```
///
/// With the feature `sqlx`, an [`Envelope`] is a value of a text column.
#[derive(Clone, Debug)]
pub struct Column {
    table: Cow<'static, str>,
    column: Cow<'static, str>,
    policy: Option<Cow<'static, str>>,
}

impl Column {
    /// The column of a table, with the policy of the credential.
    pub const fn new(table: &'static str, column: &'static str) -> Self {
        Self { table: Cow::Borrowed(table), column: Cow::Borrowed(column), policy: None }
    }

    /// The column with another policy.
    pub const fn with_policy(
        table: &'static str,
        column: &'static str,
        policy: &'static str,
    ) -> Self {
        Self {
            table: Cow::Borrowed(table),
            column: Cow::Borrowed(column),
            policy: Some(Cow::Borrowed(policy)),
        }
    }

    /// The policy and the context of its envelopes.
    pub fn scope(&self) -> Scope {
        let context = [("table", self.table.as_ref()), ("column", self.column.as_ref())];
        let scope = Scope::new().context(context);
        match &self.policy {
            Some(number) => scope.policy(number.as_ref()),
            None => scope,
        }
    }

    /// Protects a value of the column.
    pub async fn seal<T: Serialize + ?Sized>(
        &self,
        client: &Client,
        value: &T,
    ) -> Result<Envelope, Error> {
        Ok(client.protect(&Payload::json(value)?, &self.scope()).await?.envelope)
    }

    /// Opens a value of the column.
    pub async fn open<T: DeserializeOwned>(
        &self,
        client: &Client,
        envelope: &Envelope,
    ) -> Result<T, Error> {
        client.unprotect(envelope, &self.scope()).await?.payload.parse()
    }

    /// Opens values of the column in batches. The first one that does not open is the error.
    pub async fn open_all<'a, T: DeserializeOwned>(
        &self,
        client: &Client,
        envelopes: impl IntoIterator<Item = &'a Envelope>,
    ) -> Result<Vec<T>, Error> {
        let scope = self.scope();
        let items = envelopes.into_iter().map(|envelope| (Sealed::Envelope(envelope), &scope));
        let opened = client.unprotect_batch(items).await?;
        opened.into_iter().map(|opened| opened?.payload.parse()).collect()
    }
}
