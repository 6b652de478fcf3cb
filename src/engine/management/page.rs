//! Pagination of lists.
//!
//! A cursor contains the ID of the last item of a page. IDs grow with time, so creations and deletions
//! between two pages neither repeat nor skip items.

mod parameters;

use std::fmt;
use std::num::NonZeroU8;
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Serialize, Serializer};
use uuid::Uuid;

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The items, in the order of the list.
    pub items: Vec<T>,
    /// The start of the next page; none on the last one.
    pub next_cursor: Option<Cursor>,
}

/// The requested page of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageRequest {
    /// The maximum number of items.
    pub limit: Limit,
    /// The last item of the previous page; none for the first page.
    pub after: Option<Cursor>,
}

/// The maximum number of items on a page: 1 to 200.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(NonZeroU8);

/// A place in a list. Clients treat it as opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, utoipa::ToSchema)]
#[schema(value_type = String, description = "A position in a list. Clients treat it as opaque.", pattern = "^[A-Za-z0-9_-]{22}$", examples("AZzJv4h8cAC5v1w2nX7pTw"))]
pub struct Cursor(Uuid);

impl Limit {
    const DEFAULT: u8 = 50;
    const MOST: u8 = 200;

    /// A limit of `items`, if that is 1 to 200.
    pub fn new(items: u64) -> Option<Self> {
        let items = u8::try_from(items).ok()?;
        (items <= Self::MOST).then(|| NonZeroU8::new(items).map(Self)).flatten()
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(NonZeroU8::new(Self::DEFAULT).unwrap_or(NonZeroU8::MIN))
    }
}

impl PageRequest {
    /// The ID after which the page starts.
    pub fn after(&self) -> Option<Uuid> {
        self.after.map(|cursor| cursor.0)
    }

    /// The number of rows to read: one more than the page shows, to know whether another page follows.
    pub fn rows(&self) -> i64 {
        i64::from(self.limit.0.get()) + 1
    }
}

impl<T> Page<T> {
    /// The page with these rows, which were read for `request`.
    pub fn of(request: PageRequest, mut rows: Vec<T>, id: impl Fn(&T) -> Uuid) -> Self {
        let shown = usize::from(request.limit.0.get());
        let is_last = rows.len() <= shown;
        rows.truncate(shown);
        let last = rows.last().map(|row| Cursor(id(row)));
        Self { items: rows, next_cursor: last.filter(|_| !is_last) }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The text is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor")]
pub struct NotACursor;

impl FromStr for Cursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| NotACursor)?;
        Uuid::from_slice(&bytes).map(Self).map_err(|_| NotACursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(limit: u64, rows: usize) -> Page<u128> {
        let request = PageRequest { limit: Limit::new(limit).unwrap(), after: None };
        Page::of(request, (1..).take(rows).collect(), |row| Uuid::from_u128(*row))
    }

    #[test]
    fn a_page_links_to_the_next_page_if_there_is_one() {
        assert_eq!(page(3, 0).next_cursor, None);
        assert_eq!(page(3, 3).next_cursor, None);
        let full = page(3, 4);
        assert_eq!(full.items, [1, 2, 3]);
        assert_eq!(full.next_cursor, Some(Cursor(Uuid::from_u128(3))));
    }

    #[test]
    fn a_cursor_round_trips() {
        let cursor = Cursor(Uuid::from_u128(7));
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for bad in ["", "x", "AAAA", "=", "ä"] {
            assert_eq!(bad.parse::<Cursor>(), Err(NotACursor), "{bad}");
        }
    }

    #[test]
    fn a_limit_is_1_to_200() {
        assert!(Limit::new(0).is_none());
        assert!(Limit::new(1).is_some());
        assert!(Limit::new(200).is_some());
        assert!(Limit::new(201).is_none());
        assert!(Limit::new(256).is_none());
    }
}
