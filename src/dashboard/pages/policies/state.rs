//! The status and the failure mode of a policy. A confirmation page precedes each change, because
//! `passthrough` returns plaintext.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::dashboard::error::{PageError, refusal};
use crate::dashboard::extract::{Addressed, PageContext, Query, Submitted, done, refused};
use crate::dashboard::form::{Body, Form};
use crate::dashboard::view::confirm::Question;
use crate::dashboard::view::fields::{Choice, Field, Fields};
use crate::dashboard::view::filters::Filters;
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::words::{Tone, badge, isolated};
use crate::management::Error;
use crate::management::policies::{self, Name, Policy};
use crate::policy::{FailureMode, PolicyRequest, Status, Verdict};
use crate::problem::Problem;

/// The state as a badge in the colour of its severity.
pub(in crate::dashboard) fn state(status: Status, failure_mode: FailureMode) -> Markup {
    match Verdict::of(status, failure_mode) {
        Verdict::Protect => badge(Tone::Good, "active"),
        Verdict::Refuse => badge(Tone::Idle, "inactive, refuses"),
        Verdict::PassThrough => badge(Tone::Bad, "inactive, returns plaintext"),
        Verdict::Drop => badge(Tone::Warn, "inactive, drops"),
    }
}

/// The warning about the state of a policy.
pub(super) fn warning(policy: &Policy) -> Markup {
    html! {
        @match (policy.status, policy.failure_mode) {
            (Status::Inactive, FailureMode::Passthrough) => p.notice.bad {
                strong { "Payloads are returned unprotected." }
                "This policy is inactive and passes payloads through: callers get their plaintext in a successful response."
            },
            (Status::Active, FailureMode::Passthrough) => p.notice.warn {
                "The failure mode is passthrough. If you make this policy inactive, payloads are returned unprotected."
            },
            (Status::Inactive, FailureMode::Drop) => p.notice.warn {
                "This policy is inactive and drops payloads: callers get a successful response without the payload."
            },
            _ => {},
        }
    }
}

/// The form to choose another state.
pub(super) fn choice(policy: &Policy) -> Markup {
    let form = Form::default()
        .with("status", status_name(policy.status))
        .with("failureMode", mode_name(policy.failure_mode));
    let fields = Fields::new(&form, &[]);
    html! {
        section.card aria-labelledby="state" {
            h2 #state { "State" }
            form.form method="get" action={ (place(policy.id)) "/state" } {
                (fields.radios(Field { name: "status", label: "Status", ..Field::default() }, &[
                    Choice { value: "active", label: "Active", hint: "Payloads are protected." },
                    Choice { value: "inactive", label: "Inactive", hint: "The failure mode applies. Existing envelopes remain readable." },
                ]))
                (fields.radios(Field { name: "failureMode", label: "Failure mode", ..Field::default() }, &[
                    Choice { value: "error", label: "Refuse", hint: "Requests get an error." },
                    Choice { value: "passthrough", label: "Pass through", hint: "Dangerous: responses contain the unprotected plaintext." },
                    Choice { value: "drop", label: "Drop", hint: "The payload is discarded." },
                ]))
                div.actions { button type="submit" { "Change state…" } }
            }
        }
    }
}

pub(in crate::dashboard) async fn confirm(
    cx: PageContext,
    Addressed(name): Addressed<Name>,
    Query(query): Query,
) -> Result<Markup, PageError> {
    question(&cx, &name, query, &[]).await
}

pub(in crate::dashboard) async fn change(
    cx: PageContext,
    Addressed(name): Addressed<Name>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match changed(&cx, &name, &form).await {
        Ok(policy) => Ok(done(&place(policy.id), Notice::Saved)),
        Err(error) => Ok(refused(question(&cx, &name, form, &refusal(error)?).await?)),
    }
}

async fn changed(cx: &PageContext, name: &Name, form: &Form) -> Result<Policy, Error> {
    let proposal = Body::default()
        .set("status", form.text("status"))
        .set("failureMode", form.text("failureMode"))
        .into_change::<PolicyRequest>()?;
    policies::update(&cx.context, name, &form.expected(), proposal).await
}

async fn question(
    cx: &PageContext,
    name: &Name,
    wanted: Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let policy = policies::read(&cx.context, name).await?;
    let mut wanted = Filters::of(wanted);
    let status = wanted.named("status").unwrap_or(policy.status);
    let mode = wanted.named("failureMode").unwrap_or(policy.failure_mode);
    let there = place(policy.id);
    let question = Question {
        title: "Change the state of this policy?",
        subject: html! {
            strong { (policy.policy_number.as_str()) } " (" (isolated(&policy.name)) ") is "
            (state(policy.status, policy.failure_mode)) " and will be " (state(status, mode)) "."
        },
        means: meaning(status, mode),
        dangerous: mode == FailureMode::Passthrough || status == Status::Inactive,
        yes: consent(policy.status, status, mode),
        action: &format!("{there}/state"),
        fields: &[
            ("status", status_name(status)),
            ("failureMode", mode_name(mode)),
            ("revision", &policy.revision.to_string()),
        ],
        back: &there,
    };
    Ok(cx.confirmation(SECTION, &question, problems))
}

/// The consequences of a state.
fn meaning(status: Status, mode: FailureMode) -> &'static [&'static str] {
    const READABLE: &str = "Existing envelopes remain readable: /unprotect works.";
    match (status, mode) {
        (Status::Active, FailureMode::Error) => &["Payloads are protected from now on."],
        (Status::Active, FailureMode::Passthrough) => &[
            "Payloads are protected from now on.",
            "If the policy becomes inactive, payloads are returned UNPROTECTED in a successful response.",
        ],
        (Status::Active, FailureMode::Drop) => &[
            "Payloads are protected from now on.",
            "If the policy becomes inactive, payloads are discarded.",
        ],
        (Status::Inactive, FailureMode::Error) => &[
            "Every /protect request with this policy gets 403 POLICY_NOT_ACTIVE.",
            READABLE,
        ],
        (Status::Inactive, FailureMode::Passthrough) => &[
            "Payloads are returned UNPROTECTED: each request gets 200 with the plaintext and a warning that callers can overlook.",
            "Applications that store or send the response store or send plaintext.",
            READABLE,
        ],
        (Status::Inactive, FailureMode::Drop) => &[
            "Payloads are discarded: each request gets 200 without the payload.",
            "Applications that do not check the response lose data.",
            READABLE,
        ],
    }
}

fn consent(before: Status, status: Status, mode: FailureMode) -> &'static str {
    match Verdict::of(status, mode) {
        Verdict::Protect if before == status => "Change failure mode",
        Verdict::Protect => "Make active",
        Verdict::Refuse => "Make inactive and refuse",
        Verdict::PassThrough => "Make inactive and return plaintext",
        Verdict::Drop => "Make inactive and drop payloads",
    }
}

const fn status_name(status: Status) -> &'static str {
    match status {
        Status::Active => "active",
        Status::Inactive => "inactive",
    }
}

const fn mode_name(mode: FailureMode) -> &'static str {
    match mode {
        FailureMode::Error => "error",
        FailureMode::Passthrough => "passthrough",
        FailureMode::Drop => "drop",
    }
}
