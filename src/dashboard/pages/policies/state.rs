//! Whether a policy protects, and what it does otherwise: shown, chosen, and asked about before it
//! changes, because one of the answers lets plaintext out.

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

/// The state in a word, in the colour of its consequences.
pub(in crate::dashboard) fn state(status: Status, failure_mode: FailureMode) -> Markup {
    match Verdict::of(status, failure_mode) {
        Verdict::Protect => badge(Tone::Good, "active"),
        Verdict::Refuse => badge(Tone::Idle, "inactive, refuses"),
        Verdict::PassThrough => badge(Tone::Bad, "inactive, emits plaintext"),
        Verdict::Drop => badge(Tone::Warn, "inactive, drops"),
    }
}

/// What has to be said first about a policy.
pub(super) fn warning(policy: &Policy) -> Markup {
    html! {
        @match (policy.status, policy.failure_mode) {
            (Status::Inactive, FailureMode::Passthrough) => p.notice.bad {
                strong { "Payloads leave unprotected." }
                "This policy is inactive and passes payloads through: callers get their plaintext back in a successful answer."
            },
            (Status::Active, FailureMode::Passthrough) => p.notice.warn {
                "Should this policy be made inactive, payloads would leave unprotected: its failure mode is passthrough."
            },
            (Status::Inactive, FailureMode::Drop) => p.notice.warn {
                "This policy is inactive and drops payloads: callers get a successful answer, and the payload is gone."
            },
            _ => {},
        }
    }
}

/// The choice of another state.
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
                    Choice { value: "inactive", label: "Inactive", hint: "The failure mode says what happens instead. What was protected stays readable." },
                ]))
                (fields.radios(Field { name: "failureMode", label: "While it is inactive", ..Field::default() }, &[
                    Choice { value: "error", label: "Refuse", hint: "Requests to protect get an error." },
                    Choice { value: "passthrough", label: "Pass through", hint: "Dangerous: the plaintext goes back, unprotected." },
                    Choice { value: "drop", label: "Drop", hint: "The payload is thrown away." },
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

/// What a state means, in sentences.
fn meaning(status: Status, mode: FailureMode) -> &'static [&'static str] {
    const READABLE: &str = "What was protected stays readable: unprotecting goes on.";
    match (status, mode) {
        (Status::Active, FailureMode::Error) => &["Payloads are protected from now on."],
        (Status::Active, FailureMode::Passthrough) => &[
            "Payloads are protected from now on.",
            "Should the policy be made inactive, payloads would leave UNPROTECTED, as plaintext in a successful answer.",
        ],
        (Status::Active, FailureMode::Drop) => &[
            "Payloads are protected from now on.",
            "Should the policy be made inactive, payloads would be thrown away.",
        ],
        (Status::Inactive, FailureMode::Error) => &[
            "Every request to protect under this policy is refused with 403 POLICY_NOT_ACTIVE.",
            READABLE,
        ],
        (Status::Inactive, FailureMode::Passthrough) => &[
            "Payloads leave UNPROTECTED: each request is answered with 200 and the plaintext, with a warning that callers may overlook.",
            "Applications that store or send what they get will store or send plaintext.",
            READABLE,
        ],
        (Status::Inactive, FailureMode::Drop) => &[
            "Payloads are thrown away: each request is answered with 200, and nothing comes back.",
            "Applications that do not look at the answer lose data.",
            READABLE,
        ],
    }
}

fn consent(before: Status, status: Status, mode: FailureMode) -> &'static str {
    match Verdict::of(status, mode) {
        Verdict::Protect if before == status => "Change failure mode",
        Verdict::Protect => "Make active",
        Verdict::Refuse => "Make inactive and refuse",
        Verdict::PassThrough => "Make inactive and emit plaintext",
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
