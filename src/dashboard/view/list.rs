//! Lists: a table that becomes cards on small screens, and its pages.

use maud::{Markup, html};

use super::filters::Filters;
use super::shell::Section;
use crate::form::Form;
use engine::management::{Cursor, Page};

/// A table. Each row has one cell per column; the first names the row.
pub(crate) fn table(
    caption: &str,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<Markup>>,
) -> Markup {
    // Browsers drop the table semantics when the stylesheet shows cards; the roles keep them.
    html! {
        table.list role="table" {
            caption.unseen { (caption) }
            thead role="rowgroup" {
                tr role="row" {
                    @for column in columns { th role="columnheader" scope="col" { (column) } }
                }
            }
            tbody role="rowgroup" {
                @for row in rows {
                    tr role="row" {
                        @for (column, cell) in columns.iter().zip(row) {
                            td role="cell" data-label=(column) { div { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

/// A list of the dashboard: its columns, and its texts without rows.
pub(crate) struct Listing<'a> {
    pub(crate) section: Section,
    pub(crate) columns: &'a [&'a str],
    /// The text if the filters match nothing.
    pub(crate) no_match: &'a str,
    /// The title and text of an empty list.
    pub(crate) nothing: &'a str,
    pub(crate) why: &'a str,
    pub(crate) action: Option<Markup>,
}

impl Listing<'_> {
    /// One page: filters, rows or a text, and links to other pages.
    pub(crate) fn render<T>(
        self,
        filters: &Filters,
        page: &Page<T>,
        row: impl Fn(&T) -> Vec<Markup>,
    ) -> Markup {
        let place = self.section.place();
        html! {
            (filters.form(place))
            @if !filters.are_valid() || page.items.is_empty() && filters.narrow() {
                (empty(self.no_match, "Widen the filters above.", None))
            } @else if page.items.is_empty() {
                (empty(self.nothing, self.why, self.action))
            } @else {
                (table(self.section.name(), self.columns, page.items.iter().map(row)))
            }
            (pager(place, filters.query(), page.next_cursor))
        }
    }
}

/// The links to the next and the first page.
fn pager(place: &str, query: &Form, next: Option<Cursor>) -> Markup {
    let first = query.clone().without("cursor").without("done");
    let is_first = query.some("cursor").is_none();
    if is_first && next.is_none() {
        return html! {};
    }
    let address = |form: &Form| format!("{place}?{}", form.query());
    html! {
        nav.pager aria-label="Pages" {
            @if !is_first { a.button href=(address(&first)) { "First page" } }
            @if let Some(next) = next {
                a.button href=(address(&first.clone().with("cursor", next.to_string()))) { "Next page" }
            }
        }
    }
}

/// The text of an empty list, with an action.
pub(crate) fn empty(title: &str, text: &str, action: Option<Markup>) -> Markup {
    html! {
        div.empty {
            h2 { (title) }
            p { (text) }
            @if let Some(action) = action { p { (action) } }
        }
    }
}

/// The properties of a resource: names and values.
pub(crate) fn facts(facts: impl IntoIterator<Item = (&'static str, Markup)>) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}
