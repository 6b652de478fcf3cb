//! Lists: a table that becomes a stack of cards on a phone, and the way to the next page.

use maud::{Markup, html};

use crate::dashboard::form::Form;
use crate::management::Cursor;

/// A table. Each row has a cell for each column, the first of which names it.
pub(in crate::dashboard) fn table(
    caption: &str,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<Markup>>,
) -> Markup {
    // The roles say what a browser forgets once the stylesheet lays the parts out as cards.
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

/// The way on from a page of a list, and back to its beginning.
pub(in crate::dashboard) fn pager(place: &str, query: &Form, next: Option<Cursor>) -> Markup {
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

/// Says that there is nothing, and what would change that.
pub(in crate::dashboard) fn empty(title: &str, text: &str, action: Option<Markup>) -> Markup {
    html! {
        div.empty {
            h2 { (title) }
            p { (text) }
            @if let Some(action) = action { p { (action) } }
        }
    }
}

/// What is known of one thing: names and values.
pub(in crate::dashboard) fn facts(
    facts: impl IntoIterator<Item = (&'static str, Markup)>,
) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}
