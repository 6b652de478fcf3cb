//! The layout of every page: head, navigation, account.

use maud::{DOCTYPE, Markup, html};

use super::notice::Notice;
use crate::assets;
use crate::viewer::{TOKEN, Viewer};
use engine::auth::Role;
use engine::management::{
    ManageApiKeys, ManageIdentities, ReadAudit, ReadPeople, ReadResources, Right as _,
};
use formats::closed_set;

closed_set! {
    /// The parts of the dashboard, as the navigation lists them.
    pub(in crate) enum Section: "Section" {
        Overview = "Overview",
        Services = "Services",
        Policies = "Policies",
        Keys = "Keys",
        ApiKeys = "API Keys",
        Identities = "Identities",
        People = "People",
        Changes = "Changes",
        Audit = "Audit",
        Events = "Management events",
    }
}

impl Section {
    /// The path of its first page.
    pub(crate) const fn place(self) -> &'static str {
        match self {
            Self::Overview => "/dashboard",
            Self::Services => "/dashboard/services",
            Self::Policies => "/dashboard/policies",
            Self::Keys => "/dashboard/keys",
            Self::ApiKeys => "/dashboard/api-keys",
            Self::Identities => "/dashboard/identities",
            Self::People => "/dashboard/people",
            Self::Changes => "/dashboard/changes",
            Self::Audit => "/dashboard/audit",
            Self::Events => "/dashboard/events",
        }
    }

    /// The roles that see it.
    const fn roles(self) -> &'static [Role] {
        match self {
            Self::Overview | Self::Services | Self::Policies | Self::Keys | Self::Changes => {
                ReadResources::ROLES
            }
            Self::ApiKeys => ManageApiKeys::ROLES,
            Self::Identities => ManageIdentities::ROLES,
            Self::People => ReadPeople::ROLES,
            Self::Audit | Self::Events => ReadAudit::ROLES,
        }
    }

    /// The link back to it, on the pages below it.
    pub(crate) fn crumbs(self) -> Markup {
        html! { p.crumbs { a href=(self.place()) { (self.name()) } } }
    }
}

/// A page for someone who is signed in.
pub(crate) fn page(
    viewer: &Viewer,
    section: Option<Section>,
    title: &str,
    content: &Markup,
) -> Markup {
    page_with(viewer, section, title, PageStatus::default(), content)
}

/// What a page shows beside its content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PageStatus {
    /// The result of the last change.
    pub(crate) notice: Option<Notice>,
    /// The number of pending changes.
    pub(crate) pending: i64,
}

/// The same with the result of the last change and the number of pending changes.
pub(crate) fn page_with(
    viewer: &Viewer,
    section: Option<Section>,
    title: &str,
    status: PageStatus,
    content: &Markup,
) -> Markup {
    let roles = viewer.administrator.roles();
    let names: Vec<_> = roles.iter().map(Role::name).collect();
    document(
        title,
        &html! {
            a.skip href="#content" { "Skip to content" }
            div.frame {
                header.side {
                    a.brand href="/dashboard" { (logo()) span { "Sealward" } }
                    nav aria-label="Main" {
                        ul {
                            @for other in Section::ALL.into_iter().filter(|it| roles.meet(it.roles())) {
                                li {
                                    a href=(other.place())
                                        aria-current=[(section == Some(other)).then_some("page")] {
                                        (other.name())
                                        @if other == Section::Changes && status.pending > 0 {
                                            " " span.badge.warn { (status.pending) span.unseen { " pending" } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                    form.account method="post" action="/dashboard/sign-out" {
                        (token(viewer))
                        p { span.faint { "Signed in as" } br; bdi { (viewer.administrator.name()) } br; span.faint { (names.join(", ")) } }
                        button.quiet type="submit" { "Sign out" }
                    }
                }
                main #content tabindex="-1" {
                    @if let Some(notice) = status.notice {
                        p.notice.good role="status" { (notice.text()) }
                    }
                    (content)
                    footer.faint {
                        "Sealward " (env!("CARGO_PKG_VERSION")) " · all times are UTC"
                    }
                }
            }
        },
    )
}

/// A page for a browser that is not signed in.
pub(crate) fn bare(title: &str, content: &Markup) -> Markup {
    document(title, &html! { main.bare #content { (content) } })
}

/// The hidden field with the form token.
pub(crate) fn token(viewer: &Viewer) -> Markup {
    html! { input type="hidden" name=(TOKEN) value=(viewer.secret.form_token()); }
}

pub(crate) fn logo() -> Markup {
    html! { img src=(assets::icon_address()) alt="" width="28" height="28"; }
}

fn document(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (title) " · Sealward" }
                link rel="icon" href=(assets::icon_address()) type="image/svg+xml";
                link rel="stylesheet" href=(assets::style_address());
            }
            body { (body) }
        }
    }
}
