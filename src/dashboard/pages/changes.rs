//! Changes that need the approval of other people: the list, one change, and the decisions.

use axum::response::Response;
use maud::{Markup, html};

use super::keys::rules;
use crate::error::PageError;
use crate::extract::{Addressed, PageContext, PathSegments, Query, Submitted, done};
use crate::form::Body;
use crate::view::difference;
use crate::view::filters::Filters;
use crate::view::list::{Listing, facts, table};
use crate::view::notice::Notice;
use crate::view::shell::{Section, token};
use crate::view::words::{Tone, badge, isolated, moment, moment_and_distance, seal_mark};
use engine::change_kind::ChangeKind;
use engine::ids::ChangeId;
use engine::management::changes::{
    self, ChangeFilter, ChangeStatus, Choice, Proposal, Proposer, TokenAccess,
};
use formats::closed_set;

const SECTION: Section = Section::Changes;

closed_set! {
    /// A decision, as the path of its form names it.
    pub(in crate) enum Decision: "DecisionForm" {
        Approve = "approve",
        Reject = "reject",
        Withdraw = "withdraw",
    }
}

pub(crate) async fn list(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    let mut filters = Filters::of(query);
    let filter = ChangeFilter {
        status: filters.one_of("status", "Status"),
        action: filters.one_of("action", "Kind"),
    };
    let page = changes::list(&cx.context, &filter, filters.page()).await?;
    let listing = Listing {
        section: SECTION,
        columns: &["Change", "Kind", "Status", "Proposed by", "Proposed", "Approvals"],
        no_match: "No change matches",
        nothing: "No changes yet",
        why: "A change appears here if the settings require the approval of other people.",
        action: None,
    };
    let content = html! {
        div.head { h1 { "Changes" } }
        p.lead { "Changes that need the approval of other people. Nothing happens before the last approval." }
        (warnings(&cx).await?)
        (listing.render(&filters, &page, row))
    };
    Ok(cx.page(SECTION, "Changes", &content))
}

pub(crate) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<ChangeId>,
) -> Result<Markup, PageError> {
    let change = changes::read(&cx.context, id).await?;
    let content = html! {
        (SECTION.crumbs())
        div.head { h1 { (isolated(&change.summary)) } (status(change.status)) }
        p.lead { (consequence(change.status)) }
        section.card {
            (facts([
                ("ID", html! { code { (change.id) } }),
                ("Kind", kinds(&change.action)),
                ("Resource", resource(&change)),
                ("Proposed by", proposer(&change.proposed_by)),
                ("Proposed", moment(change.proposed_at)),
                ("Expires", moment_and_distance(change.expires_at, cx.now())),
                ("Approvals", approvals(&change)),
            ]))
        }
        @if !change.approvals.is_empty() || change.rejection.is_some() {
            section.card aria-labelledby="decisions" {
                h2 #decisions { "Decisions" }
                (table("Decisions", &["Person", "Decision", "Time", "Comment"], decisions(&change)))
            }
        }
        (difference::card(change.before.as_ref(), change.after.as_ref()))
        @if change.status == ChangeStatus::Pending { (decide_card(&cx, &change).await?) }
    };
    Ok(cx.page(SECTION, &change.summary, &content))
}

pub(crate) async fn decide(
    cx: PageContext,
    PathSegments((id, decision)): PathSegments<(String, String)>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    let decision = decision.parse().map_err(|_| PageError::NotFound)?;
    let request = Body::default().set_some("comment", form.some("comment"));
    let notice = match decision {
        Decision::Approve => {
            let token = TokenAccess { vault: cx.dashboard.vault.clone(), rules: rules(&cx) };
            changes::approve(&cx.context, token, id, request.into_new()?).await?;
            Notice::Approved
        }
        Decision::Reject => {
            changes::reject(&cx.context, id, request.into_new()?).await?;
            Notice::Rejected
        }
        Decision::Withdraw => {
            changes::withdraw(&cx.context, id).await?;
            Notice::Withdrawn
        }
    };
    Ok(done(&place(id), notice))
}

/// A warning for each kind of change with too few people.
pub(crate) async fn warnings(cx: &PageContext) -> Result<Markup, PageError> {
    let required = &cx.dashboard.engine.settings.approvals;
    let found = changes::shortage(&cx.dashboard.engine.database, cx.now(), required).await?;
    Ok(html! {
        @for shortage in found {
            p.notice.warn {
                "Changes of the kind " code { (shortage.kind) } " need " (shortage.needed)
                " people with the role, and " (shortage.people)
                " can be found. Create admin keys with a person, or no change can be approved."
            }
        }
    })
}

/// The decisions that the viewer can make, or the reason that there are none.
async fn decide_card(cx: &PageContext, change: &Proposal) -> Result<Markup, PageError> {
    let is_own = match changes::choice(&cx.context, change).await? {
        Choice::Withdraw => true,
        Choice::Decide => false,
        Choice::Neither(reason) => {
            return Ok(html! { p.notice { "You cannot decide about this change: " (reason) "." } });
        }
    };
    let action = |decision: Decision| format!("{}/{decision}", place(change.id));
    Ok(html! {
        section.card.confirm aria-labelledby="decide" {
            h2 #decide { "Decide" }
            form method="post" action=(action(Decision::Approve)) {
                (token(&cx.viewer))
                div.field {
                    label for="comment" { "Comment" }
                    p.hint #comment-hint { "The reason of your decision, for other people. Optional." }
                    textarea #comment name="comment" rows="3" maxlength="1000" aria-describedby="comment-hint" {}
                }
                div.actions {
                    @if is_own {
                        button.danger type="submit" formaction=(action(Decision::Withdraw)) { "Withdraw" }
                    } @else {
                        button.main type="submit" { "Approve" }
                        button.danger type="submit" formaction=(action(Decision::Reject)) { "Reject" }
                    }
                    a.button href=(SECTION.place()) { "Back" }
                }
            }
        }
    })
}

fn row(change: &Proposal) -> Vec<Markup> {
    vec![
        html! { a href=(place(change.id)) { (isolated(&change.summary)) } (seal_mark(change.seal_valid)) },
        kinds(&change.action),
        status(change.status),
        proposer(&change.proposed_by),
        moment(change.proposed_at),
        approvals(change),
    ]
}

fn decisions(change: &Proposal) -> Vec<Vec<Markup>> {
    let approvals = change.approvals.iter().map(|approval| (approval, "approved"));
    let rejection = change.rejection.iter().map(|rejection| (rejection, "rejected"));
    let all = approvals.chain(rejection).map(|(decision, word)| {
        vec![
            isolated(&decision.person),
            html! { (word) },
            moment(decision.at),
            html! { @if let Some(comment) = &decision.comment { (isolated(comment)) } @else { span.faint { "none" } } },
        ]
    });
    all.collect()
}

fn kinds(kinds: &[ChangeKind]) -> Markup {
    html! { @for kind in kinds { code { (kind) } " " } }
}

fn approvals(change: &Proposal) -> Markup {
    html! { span.number { (change.approvals.len()) " of " (change.required) } }
}

fn proposer(proposer: &Proposer) -> Markup {
    html! {
        @match (&proposer.person, proposer.api_key_id) {
            (Some(person), Some(_)) => { (isolated(person)) br; span.faint { "API key " (isolated(&proposer.name)) } }
            (Some(person), None) => { (isolated(&proposer.name)) br; span.faint { (isolated(person)) } }
            (None, Some(_)) => { "API key " (isolated(&proposer.name)) br; span.faint { "no person" } }
            (None, None) => { (isolated(&proposer.name)) br; span.faint { "no person" } }
        }
    }
}

fn resource(change: &Proposal) -> Markup {
    html! {
        (change.resource_type)
        @if let Some(id) = &change.resource_id { " " code { (id) } }
    }
}

fn status(status: ChangeStatus) -> Markup {
    let tone = match status {
        ChangeStatus::Pending => Tone::Warn,
        ChangeStatus::Applied => Tone::Good,
        ChangeStatus::Rejected | ChangeStatus::Withdrawn | ChangeStatus::Expired => Tone::Idle,
        ChangeStatus::Stale => Tone::Bad,
    };
    badge(tone, status.name())
}

fn consequence(status: ChangeStatus) -> &'static str {
    match status {
        ChangeStatus::Pending => {
            "Nothing has happened yet. The last approval makes the change in the name of its proposer."
        }
        ChangeStatus::Applied => "The change was approved and made.",
        ChangeStatus::Rejected => "The change was rejected and is not made.",
        ChangeStatus::Withdrawn => "The proposer withdrew the change.",
        ChangeStatus::Expired => "The change was not approved in time.",
        ChangeStatus::Stale => {
            "The change can no longer be made. Propose it again if it is still needed."
        }
    }
}

fn place(id: ChangeId) -> String {
    format!("{}/{id}", SECTION.place())
}
