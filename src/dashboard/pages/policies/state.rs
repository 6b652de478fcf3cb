//! The status and the failure mode of a policy. A confirmation page precedes each change, because
//! passing payloads through returns plaintext.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::error::{PageError, refusal};
use crate::extract::{Addressed, PageContext, Query, Submitted, done, refused};
use crate::form::{Body, Form};
use crate::view::confirm::Question;
use crate::view::fields::Fields;
use crate::view::fields::declared::References;
use crate::view::fields::{body, form_of};
use crate::view::filters::Filters;
use crate::view::notice::Notice;
use crate::view::words::{Tone, badge, isolated};
use engine::management::policies::{self, Policy, PolicyName};
use engine::management::{Error, ManagePolicies};
use engine::policy::{PolicyRequest, PolicyStatus, Verdict};
use engine::resource::{Field, RequestBody as _};
use formats::problem::Problem;

/// The members of the state.
pub(super) const STATE: [&str; 2] = ["status", "failureMode"];

fn members() -> impl Iterator<Item = &'static Field> + Clone {
    let fields = PolicyRequest::FIELDS.iter();
    fields.filter(|field| STATE.contains(&field.name))
}

/// The state as a badge in the colour of its severity.
pub(crate) fn state(verdict: Verdict) -> Markup {
    match verdict {
        Verdict::Protect => badge(Tone::Good, "active"),
        Verdict::Refuse => badge(Tone::Idle, "inactive, refuses"),
        Verdict::PassThrough => badge(Tone::Bad, "inactive, returns plaintext"),
        Verdict::Drop => badge(Tone::Warn, "inactive, drops"),
    }
}

/// The warning about the state of a policy.
pub(super) fn warning(policy: &Policy) -> Markup {
    html! {
        @match policy.verdict() {
            Verdict::PassThrough => p.notice.bad {
                strong { "Payloads are returned unprotected." }
                "This policy is inactive and passes payloads through: callers get their plaintext in a successful response."
            },
            Verdict::Drop => p.notice.warn {
                "This policy is inactive and drops payloads: callers get a successful response without the payload."
            },
            Verdict::Protect if policy.fallback() == Verdict::PassThrough => p.notice.warn {
                "The failure mode is passthrough. If you make this policy inactive, payloads are returned unprotected."
            },
            Verdict::Protect | Verdict::Refuse => {},
        }
    }
}

/// The form to choose another state.
pub(super) fn choice(policy: &Policy) -> Markup {
    let form = form_of(policy, members());
    let fields = Fields::new(&form, &[]);
    html! {
        section.card aria-labelledby="state" {
            h2 #state { "State" }
            form.form method="get" action={ (place(policy.id)) "/state" } {
                @for member in members() { (fields.declared(member, &References::default())) }
                div.actions { button type="submit" { "Change state…" } }
            }
        }
    }
}

pub(crate) async fn confirm(
    cx: PageContext,
    Addressed(name): Addressed<PolicyName>,
    Query(query): Query,
) -> Result<Markup, PageError> {
    cx.authorize::<ManagePolicies>()?;
    question(&cx, &name, query, &[]).await
}

pub(crate) async fn change(
    cx: PageContext,
    Addressed(name): Addressed<PolicyName>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match changed(&cx, &name, &form).await {
        Ok(policy) => Ok(done(&place(policy.id), Notice::Saved)),
        Err(error) => Ok(refused(question(&cx, &name, form, &refusal(error)?).await?)),
    }
}

async fn changed(cx: &PageContext, name: &PolicyName, form: &Form) -> Result<Policy, Error> {
    let request = Body(body(form, members().copied(), false)).into_change()?;
    policies::update(&cx.authorize()?, name, &form.expected(), request).await
}

async fn question(
    cx: &PageContext,
    name: &PolicyName,
    wanted: Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let policy = policies::read(&cx.context, name).await?;
    let mut wanted = Filters::of(wanted);
    let [status, mode] = STATE;
    let status = wanted.one_of(status, "").unwrap_or(policy.status);
    let mode = wanted.one_of(mode, "").unwrap_or(policy.failure_mode);
    let verdict = Verdict::of(status, mode);
    let fallback = Verdict::of(PolicyStatus::Inactive, mode);
    let revision = policy.revision.to_string();
    let values = [status.name(), mode.name()];
    let fields = members().map(|member| member.name).zip(values);
    let fields: Vec<_> = fields.chain([("revision", revision.as_str())]).collect();
    let there = place(policy.id);
    let question = Question {
        title: "Change the state of this policy?",
        subject: html! {
            strong { (policy.policy_number.as_str()) } " (" (isolated(&policy.name)) ") is "
            (state(policy.verdict())) " and will be " (state(verdict)) "."
        },
        means: meaning(verdict, fallback),
        dangerous: verdict != Verdict::Protect || fallback == Verdict::PassThrough,
        yes: consent(policy.verdict(), verdict),
        action: &format!("{there}/state"),
        fields: &fields,
        back: &there,
    };
    Ok(cx.confirmation(SECTION, &question, problems))
}

/// The consequences of a state.
fn meaning(verdict: Verdict, fallback: Verdict) -> &'static [&'static str] {
    const PROTECTED: &str = "Payloads are protected from now on.";
    const READABLE: &str = "Existing envelopes remain readable: /unprotect works.";
    match verdict {
        Verdict::Protect => match fallback {
            Verdict::Protect | Verdict::Refuse => &[PROTECTED],
            Verdict::PassThrough => &[
                PROTECTED,
                "If the policy becomes inactive, payloads are returned UNPROTECTED in a successful response.",
            ],
            Verdict::Drop => {
                &[PROTECTED, "If the policy becomes inactive, payloads are discarded."]
            }
        },
        Verdict::Refuse => {
            &["Every /protect request with this policy gets 403 POLICY_NOT_ACTIVE.", READABLE]
        }
        Verdict::PassThrough => &[
            "Payloads are returned UNPROTECTED: each request gets 200 with the plaintext and a warning that callers can overlook.",
            "Applications that store or send the response store or send plaintext.",
            READABLE,
        ],
        Verdict::Drop => &[
            "Payloads are discarded: each request gets 200 without the payload.",
            "Applications that do not check the response lose data.",
            READABLE,
        ],
    }
}

fn consent(before: Verdict, after: Verdict) -> &'static str {
    match after {
        Verdict::Protect if before == after => "Change failure mode",
        Verdict::Protect => "Make active",
        Verdict::Refuse => "Make inactive and refuse",
        Verdict::PassThrough => "Make inactive and return plaintext",
        Verdict::Drop => "Make inactive and drop payloads",
    }
}
