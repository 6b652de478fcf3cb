//! Services by name.

use std::collections::HashMap;

use maud::{Markup, html};

use super::shell::Section;
use super::words::isolated;
use engine::ids::ServiceId;

/// The name of a service, linked to its page.
pub(crate) fn service(id: ServiceId, names: &HashMap<ServiceId, String>) -> Markup {
    html! {
        a href={ (Section::Services.place()) "/" (id) } {
            @match names.get(&id) {
                Some(name) => (isolated(name)),
                None => (id),
            }
        }
    }
}
