//! Services by their names: shown with the way to them, and chosen from.

use std::collections::HashMap;

use maud::{Markup, html};

use super::shell::Section;
use super::words::said;
use crate::ids::ServiceId;

/// A service by its name, with the way to it.
pub(in crate::dashboard) fn service(id: ServiceId, names: &HashMap<ServiceId, String>) -> Markup {
    html! {
        a href={ (Section::Services.place()) "/" (id) } {
            @match names.get(&id) {
                Some(name) => (said(name)),
                None => (id),
            }
        }
    }
}

/// Services, to be chosen from.
pub(in crate::dashboard) fn chosen(
    services: &[(ServiceId, String)],
) -> impl Iterator<Item = (String, String)> {
    services
        .iter()
        .map(|(id, name)| (id.to_string(), name.clone()))
}
