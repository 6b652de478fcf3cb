//! Services by name: links and select options.

use std::collections::HashMap;

use maud::{Markup, html};

use super::shell::Section;
use super::words::isolated;
use crate::ids::ServiceId;

/// The name of a service, linked to its page.
pub(in crate::dashboard) fn service(id: ServiceId, names: &HashMap<ServiceId, String>) -> Markup {
    html! {
        a href={ (Section::Services.place()) "/" (id) } {
            @match names.get(&id) {
                Some(name) => (isolated(name)),
                None => (id),
            }
        }
    }
}

/// Services as options of a select.
pub(in crate::dashboard) fn chosen(
    services: &[(ServiceId, String)],
) -> impl Iterator<Item = (String, String)> {
    services
        .iter()
        .map(|(id, name)| (id.to_string(), name.clone()))
}
