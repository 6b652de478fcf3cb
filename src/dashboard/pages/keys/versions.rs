//! The versions of the name of a key, on its page.

use maud::{Markup, html};

use super::{expiry, place, status};
use crate::extract::PageContext;
use crate::view::list::table;
use crate::view::words::{moment, seal_mark};
use engine::keys::Key;
use engine::management::{Error, keys};

/// The maximum number of versions.
const SHOWN: i64 = 20;

/// The versions of the name of a key; nothing for a key for envelopes.
pub(super) async fn versions(cx: &PageContext, key: &Key) -> Result<Markup, Error> {
    if key.version.is_none() {
        return Ok(html! {});
    }
    let versions = keys::versions(&cx.context, key, SHOWN).await?;
    let now = cx.now();
    let rows = versions.iter().map(|it| {
        let number = it.version.map(|version| version.to_string()).unwrap_or_default();
        vec![
            html! {
                @if it.id == key.id { strong { (number) } }
                @else { a href=(place(it.id)) { (number) } }
                (seal_mark(it.seal_valid))
            },
            status(it.status),
            expiry(it, now),
            moment(it.created_at),
        ]
    });
    Ok(html! {
        section.card aria-labelledby="versions" {
            h2 #versions { "Versions" }
            p.faint { "The keys of the service with this name, the highest " (SHOWN) " versions. The highest one that is active and has not expired encrypts or signs under the name." }
            (table("Versions", &["Version", "Status", "Expires", "Created"], rows))
        }
    })
}
