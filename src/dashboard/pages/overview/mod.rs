//! The overview: component states, warnings and charts.

mod attention;
mod charts;
mod states;

use maud::{Markup, html};

use crate::error::PageError;
use crate::extract::{PageContext, Query};
use crate::pages::{changes, emergency};
use crate::view::shell::Section;

pub(crate) async fn show(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    let content = html! {
        h1 { "Overview" }
        (emergency::warning(&cx).await?)
        (changes::warnings(&cx).await?)
        (states::states(&cx.dashboard).await)
        (attention::attention(&cx).await?)
        (charts::charts(&cx, query.text("range").parse().unwrap_or_default()).await?)
    };
    Ok(cx.page(Section::Overview, "Overview", &content))
}
