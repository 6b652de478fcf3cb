//! Lists, page by page.

use std::collections::VecDeque;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Client;
use crate::error::{Error, Invalid};
use crate::transport::Call;

/// The items of a list. It requests the next page when it needs it.
#[derive(Debug)]
pub struct Pager<'a, T> {
    client: &'a Client,
    path: &'static str,
    filter: Result<Value, Invalid>,
    items: VecDeque<T>,
    next: Next,
}

#[derive(Debug)]
enum Next {
    First,
    Cursor(String),
    Nothing,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page<T> {
    items: Vec<T>,
    next_cursor: Option<String>,
}

#[derive(Serialize)]
struct Cursor<'a> {
    cursor: &'a str,
}

impl<'a, T: DeserializeOwned> Pager<'a, T> {
    pub(super) fn new(client: &'a Client, path: &'static str, filter: &impl Serialize) -> Self {
        let filter = serde_json::to_value(filter).map_err(|_| Invalid::Value);
        Self { client, path, filter, items: VecDeque::new(), next: Next::First }
    }

    /// The next item; none after the last one.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Ok(Some(item));
            }
            let call = Call::get(self.path).query(self.filter.as_ref().map_err(|it| *it)?)?;
            let call = match &self.next {
                Next::First => call,
                Next::Cursor(cursor) => call.query(&Cursor { cursor })?,
                Next::Nothing => return Ok(None),
            };
            let page: Page<T> = self.client.answer(call).await?.parse()?;
            self.items = page.items.into();
            self.next = page.next_cursor.map_or(Next::Nothing, Next::Cursor);
        }
    }

    /// All items that are left.
    pub async fn all(mut self) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        while let Some(item) = self.next().await? {
            all.push(item);
        }
        Ok(all)
    }
}
