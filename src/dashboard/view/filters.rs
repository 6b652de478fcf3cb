//! The filters of a list, read from the query string and shown above the list.

use std::str::FromStr;

use maud::{Markup, html};

use super::fields::{Field, Fields};
use super::words::{isolated, words};
use crate::form::{Form, moment};
use engine::ids::ServiceId;
use engine::management::{Cursor, PageRequest};
use formats::closed_set::NamedValue;
use formats::problem::{Code, Problem};

/// The parameters of a list that are no filters.
const PAGE: [&str; 2] = ["cursor", "done"];

/// The label of a filter that is not set.
const ANY: &str = "Any";

/// The filters of a query and their problems. An invalid filter yields an empty list.
pub(crate) struct Filters {
    query: Form,
    problems: Vec<Problem>,
    shown: Vec<ShownFilter>,
}

/// A filter in the form above the list.
struct ShownFilter {
    name: &'static str,
    label: &'static str,
    input: Input,
}

enum Input {
    /// A line with this type of input.
    Line(&'static str),
    /// A choice of values with their labels, and the label of no choice.
    Choice(&'static str, Vec<(String, String)>),
}

impl Filters {
    pub(crate) fn of(query: Form) -> Self {
        Self { query, problems: Vec::new(), shown: Vec::new() }
    }

    /// Free text to search for.
    pub(crate) fn search(&mut self, name: &'static str, label: &'static str) -> Option<String> {
        self.read(name, label, Input::Line("search"), text)
    }

    /// Free text.
    pub(crate) fn text(&mut self, name: &'static str, label: &'static str) -> Option<String> {
        self.read(name, label, Input::Line("text"), text)
    }

    /// A value that is parsed; `rule` is the message for an invalid one.
    pub(crate) fn parsed<T: FromStr>(
        &mut self,
        name: &'static str,
        label: &'static str,
        rule: &str,
    ) -> Option<T> {
        self.read(name, label, Input::Line("text"), |text| {
            text.parse().map_err(|_| rule.to_owned())
        })
    }

    /// One of these services.
    pub(crate) fn service(
        &mut self,
        name: &'static str,
        label: &'static str,
        services: &[(ServiceId, String)],
    ) -> Option<ServiceId> {
        let services = services.iter().map(|(id, name)| (id.to_string(), name.clone()));
        self.read(name, label, Input::Choice(ANY, services.collect()), |text| {
            text.parse().map_err(|_| "must be the ID of a service".to_owned())
        })
    }

    /// A time in UTC in the format of browsers.
    pub(crate) fn moment<T: FromStr>(
        &mut self,
        name: &'static str,
        label: &'static str,
    ) -> Option<T> {
        self.read(name, label, Input::Line("datetime-local"), |text| {
            let time = moment(text);
            let time = time.as_str().and_then(|time| time.parse().ok());
            time.ok_or_else(|| "must be a date and a time".to_owned())
        })
    }

    /// A value of a closed set.
    pub(crate) fn one_of<T: NamedValue>(
        &mut self,
        name: &'static str,
        label: &'static str,
    ) -> Option<T> {
        let options = T::NAMES.iter().map(|name| ((*name).to_owned(), words(name)));
        self.read(name, label, Input::Choice(ANY, options.collect()), |text| {
            T::named(text).map_err(|error| error.to_string())
        })
    }

    /// Whether to show something else: `other` instead of `usual`.
    pub(crate) fn flag(
        &mut self,
        name: &'static str,
        label: &'static str,
        [usual, other]: [&'static str; 2],
    ) -> bool {
        let options = vec![("true".to_owned(), other.to_owned())];
        let read = self.read(name, label, Input::Choice(usual, options), |text| {
            text.parse().map_err(|_| "must be true or false".to_owned())
        });
        read.unwrap_or_default()
    }

    /// The requested page. An invalid cursor selects the first.
    pub(crate) fn page(&self) -> PageRequest {
        PageRequest {
            after: self.query.some("cursor").and_then(|text| text.parse::<Cursor>().ok()),
            ..PageRequest::default()
        }
    }

    /// Whether all filters are valid, once all are read. A parameter that is no filter is a problem: a
    /// misspelt filter would show more than the administrator asked for.
    pub(crate) fn are_valid(&self) -> bool {
        self.problems.is_empty() && self.unknown().is_empty()
    }

    /// Whether any filter is set.
    pub(crate) fn narrow(&self) -> bool {
        let filters = PAGE.iter().fold(self.query.clone(), |query, name| query.without(name));
        !filters.query().is_empty()
    }

    /// The query string.
    pub(crate) fn query(&self) -> &Form {
        &self.query
    }

    /// The form above the list.
    pub(crate) fn form(&self, place: &str) -> Markup {
        let fields = Fields::new(&self.query, &self.problems);
        html! {
            @for problem in self.unknown() {
                p.notice.bad role="alert" { (isolated(&problem.field)) ": " (problem.message) }
            }
            form.filters method="get" action=(place) role="search" {
                @for ShownFilter { name, label, input } in &self.shown {
                    @let field = Field { name, label, ..Field::default() };
                    @match input {
                        Input::Line(kind) => (fields.line(kind, field)),
                        Input::Choice(none, options) => (fields.select(field, Some(none), options.iter().cloned())),
                    }
                }
                div.actions {
                    button type="submit" { "Filter" }
                    @if self.narrow() { a.button href=(place) { "Clear" } }
                }
            }
        }
    }

    /// The problems of parameters that are no filters.
    fn unknown(&self) -> Vec<Problem> {
        let is_known = |name: &str| {
            PAGE.contains(&name) || self.shown.iter().any(|filter| filter.name == name)
        };
        let unknown = self.query.names().filter(|name| !is_known(name));
        unknown.map(Problem::unknown_parameter).collect()
    }

    fn read<T>(
        &mut self,
        name: &'static str,
        label: &'static str,
        input: Input,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.shown.push(ShownFilter { name, label, input });
        if self.query.all(name).nth(1).is_some() {
            self.problems.push(Problem::repeated(name));
            return None;
        }
        let value = read(self.query.some(name)?);
        let noted = |rule| self.problems.push(Problem::new(name, Code::Format, rule));
        value.map_err(noted).ok()
    }
}

fn text(text: &str) -> Result<String, String> {
    if text.contains('\0') {
        return Err("must not contain U+0000".to_owned());
    }
    Ok(text.to_owned())
}
