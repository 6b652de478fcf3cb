//! The overview: how the service is, what to look at, and how things went.

mod attention;
mod charts;
mod states;

use maud::{Markup, html};

use crate::dashboard::desk::{Asked, Desk};
use crate::dashboard::fault::Fault;
use crate::dashboard::view::shell::Section;

pub(in crate::dashboard) async fn show(desk: Desk, Asked(query): Asked) -> Result<Markup, Fault> {
    let content = html! {
        h1 { "Overview" }
        (states::states(&desk.dashboard).await)
        (attention::attention(&desk).await?)
        (charts::charts(&desk, charts::Range::named(query.text("range"))).await?)
    };
    Ok(desk.page(Section::Overview, "Overview", &content))
}
