//! The filters of a list, read from the query string and shown above the list.

use std::str::FromStr;

use maud::{Markup, html};
use serde::de::DeserializeOwned;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as ValueError, StrDeserializer};

use super::fields::Fields;
use crate::dashboard::form::{Form, moment};
use crate::management::{Cursor, PageRequest};
use crate::problem::{Code, Problem};

/// The filters of a query and their problems. An invalid filter yields an empty list.
pub(in crate::dashboard) struct Filters {
    query: Form,
    problems: Vec<Problem>,
}

impl Filters {
    pub(in crate::dashboard) fn of(query: Form) -> Self {
        Self {
            query,
            problems: Vec::new(),
        }
    }

    /// Free text.
    pub(in crate::dashboard) fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, "must not contain U+0000", |text| {
            (!text.contains('\0')).then(|| text.to_owned())
        })
    }

    /// A value that is parsed; `form` is the message for an invalid one.
    pub(in crate::dashboard) fn parsed<T: FromStr>(&mut self, name: &str, form: &str) -> Option<T> {
        self.read(name, form, |text| text.parse().ok())
    }

    /// A time in UTC in the format of browsers.
    pub(in crate::dashboard) fn moment<T: FromStr>(&mut self, name: &str) -> Option<T> {
        self.read(name, "must be a date and a time", |text| {
            moment(Some(text)).as_str()?.parse().ok()
        })
    }

    /// A value by its name in the API.
    pub(in crate::dashboard) fn named<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        self.read(name, "must be one of the listed values", |text| {
            let text: StrDeserializer<'_, ValueError> = text.into_deserializer();
            T::deserialize(text).ok()
        })
    }

    /// The requested page. An invalid cursor selects the first.
    pub(in crate::dashboard) fn page(&self) -> PageRequest {
        PageRequest {
            after: self
                .query
                .some("cursor")
                .and_then(|text| text.parse::<Cursor>().ok()),
            ..PageRequest::default()
        }
    }

    /// Whether all filters are valid.
    pub(in crate::dashboard) fn are_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Whether any filter is set.
    pub(in crate::dashboard) fn narrow(&self) -> bool {
        !self
            .query
            .clone()
            .without("cursor")
            .without("done")
            .query()
            .is_empty()
    }

    /// The query string.
    pub(in crate::dashboard) fn query(&self) -> &Form {
        &self.query
    }

    /// The form above the list.
    pub(in crate::dashboard) fn form(
        &self,
        place: &str,
        fields: impl FnOnce(&Fields<'_>) -> Markup,
    ) -> Markup {
        html! {
            form.filters method="get" action=(place) role="search" {
                (fields(&Fields::new(&self.query, &self.problems)))
                div.actions {
                    button type="submit" { "Filter" }
                    @if self.narrow() { a.button href=(place) { "Clear" } }
                }
            }
        }
    }

    fn read<T>(
        &mut self,
        name: &str,
        form: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.query.some(name)?;
        let value = read(text);
        if value.is_none() {
            self.problems
                .push(Problem::new(name, Code::Format, form.to_owned()));
        }
        value
    }
}

/// The options of a select: names and labels.
pub(in crate::dashboard) fn options<const N: usize>(
    values: [(&str, &str); N],
) -> impl Iterator<Item = (String, String)> {
    values
        .into_iter()
        .map(|(value, label)| (value.to_owned(), label.to_owned()))
}
