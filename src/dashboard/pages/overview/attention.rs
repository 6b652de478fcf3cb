//! Warnings: risky states of policies, keys that expire soon, services near their rate limits.

use std::time::Duration;

use maud::{Markup, html};

use crate::error::PageError;
use crate::extract::PageContext;
use crate::pages::forwarding;
use crate::pages::keys::floor;
use crate::pages::policies::state::state;
use crate::view::words::{Tone, badge, count, distance, isolated};
use engine::audit::traffic::loads;
use engine::jobs::Job;
use engine::ledger::SealState;
use engine::management::dangers::{self, Dangers, Expiring};
use engine::management::services::{self, Service};
use engine::management::{Error, ResourceType};
use engine::policy::Verdict;
use formats::clock::Timestamp;

/// A key that expires within this time is listed.
const SOON: Duration = Duration::from_secs(30 * 24 * 60 * 60);

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The percentage of its rate limit from which a service is near the limit.
const NEAR: i64 = 80;

/// A service near its limit.
struct Busy {
    service: Service,
    /// Its busiest minute, in percent of its sustained rate.
    percent: i64,
    limited: i64,
}

pub(super) async fn attention(cx: &PageContext) -> Result<Markup, PageError> {
    let now = cx.now();
    let found = dangers::find(&cx.context, now.plus(SOON)).await?;
    let busy = busy(cx, now).await?;
    let overdue = cx.dashboard.vault.overdue().unwrap_or_default();
    let missing = cx.dashboard.engine.jobs.missing();
    let seal = sealing(cx);
    let not_forwarded = forwarding::warning(cx);
    let floor = floor::warnings(cx);
    Ok(html! {
        section.card aria-labelledby="attention" {
            h2 #attention { "Warnings" }
            @if nothing(&found) && busy.is_empty() && overdue == 0 && missing.is_empty() && seal.is_empty() && not_forwarded.is_none() && floor.is_empty() {
                p { (badge(Tone::Good, "none")) " " span.faint { "Every policy protects, and no key expires within 30 days." } }
            } @else {
                ul.dangers {
                    @for warning in &seal { (warning) }
                    @if let Some(warning) = &not_forwarded { (warning) }
                    @for warning in &floor { (warning) }
                    @for job in &missing { (not_running(*job)) }
                    @for service in &found.frozen {
                        li {
                            (badge(Tone::Bad, "frozen"))
                            p { a href={ "/dashboard/services/" (service.id) } { "Service " (isolated(&service.name)) } " is frozen: its operations are refused." }
                        }
                    }
                    (policies(&found))
                    @for service in &busy { (near(service)) }
                    @for key in &found.extractable_keys {
                        li {
                            (badge(Tone::Bad, "extractable"))
                            p {
                                a href={ "/dashboard/keys/" (key.id) } { "Key " (isolated(&key.name)) }
                                " can leave its token. Replace it by a generated key."
                            }
                        }
                    }
                    @for key in &found.expiring_keys { (ending("Key", "/dashboard/keys", now, key)) }
                    @for key in &found.expiring_api_keys { (ending("API key", "/dashboard/api-keys", now, key)) }
                    @if overdue > 0 {
                        li {
                            (badge(Tone::Warn, "rotation overdue"))
                            p {
                                @if overdue == 1 { "1 key" } @else { (overdue) " keys" }
                                " should have been replaced by a successor. The log names the key and the reason."
                            }
                        }
                    }
                    @if found.open_to_all > 0 {
                        li {
                            (badge(Tone::Warn, "open to all"))
                            p {
                                a href="/dashboard/policies?status=active" {
                                    @if found.open_to_all == 1 { "1 active policy" } @else { (count(found.open_to_all)) " active policies" }
                                }
                                " can be used by every service."
                            }
                        }
                    }
                }
            }
        }
    })
}

/// Failures of the tamper-evident logs, each with the way out.
fn sealing(cx: &PageContext) -> Vec<Markup> {
    let status = &cx.dashboard.seal_status;
    let mut warnings = Vec::new();
    match status.state() {
        SealState::Failed(reason) => warnings.push(html! {
            li {
                (badge(Tone::Bad, "not sealed"))
                p {
                    "New audit records get no signed checkpoint: " (isolated(&reason))
                    ". Remove the cause. Sealward then seals and signs all records that wait."
                }
            }
        }),
        SealState::NotInitialized => warnings.push(html! {
            li {
                (badge(Tone::Warn, "not sealed"))
                p { "Audit records are not tamper-evident yet. Run " code { "sealward audit init" } " once on a host of the service." }
            }
        }),
        SealState::Unknown => warnings.push(html! {
            li {
                (badge(Tone::Warn, "unknown"))
                p { "It is unknown whether audit records are sealed: the sealer of this instance has not reported for some time." }
            }
        }),
        SealState::Starting | SealState::Standby | SealState::Sealing => {}
    }
    for log in status.logs() {
        for witness in &log.witnesses {
            if let Some(failure) = &witness.failure {
                warnings.push(html! {
                    li {
                        (badge(Tone::Warn, "not cosigned"))
                        p {
                            "The witness " (isolated(&witness.name)) " does not cosign the " (log.log.name())
                            " log: " (isolated(failure)) ". Sealing continues."
                        }
                    }
                });
            }
        }
    }
    warnings
}

/// What a job keeps current is unknown while it does not run.
fn not_running(job: Job) -> Markup {
    html! {
        li {
            (badge(Tone::Warn, "unknown"))
            p {
                "The background job " code { (job) } " does not run. Sealward starts it again. The log has the reason."
            }
        }
    }
}

fn nothing(found: &Dangers) -> bool {
    found.frozen.is_empty()
        && found.policies.is_empty()
        && found.keyless.is_empty()
        && found.open_to_all == 0
        && found.extractable_keys.is_empty()
        && found.expiring_keys.is_empty()
        && found.expiring_api_keys.is_empty()
}

fn policies(found: &Dangers) -> Markup {
    html! {
        @for policy in &found.policies {
            li {
                @if policy.verdict() == Verdict::Protect {
                    (badge(Tone::Warn, "passes through when inactive"))
                } @else {
                    (state(policy.verdict()))
                }
                p {
                    a href={ "/dashboard/policies/" (policy.id) } { "Policy " (policy.policy_number.as_str()) }
                    (match policy.verdict() {
                        Verdict::PassThrough => " returns payloads unprotected.",
                        Verdict::Drop => " discards payloads.",
                        Verdict::Refuse => " refuses to protect.",
                        Verdict::Protect => " returns payloads unprotected if it becomes inactive.",
                    })
                }
            }
        }
        @for policy in &found.keyless {
            li {
                (badge(Tone::Bad, "no key"))
                p {
                    a href={ "/dashboard/policies/" (policy.id) } { "Policy " (policy.policy_number) }
                    " cannot protect: "
                    a href={ "/dashboard/keys/new?serviceId=" (policy.destination_service_id) } { (isolated(&policy.destination)) }
                    " has no active key for it."
                }
            }
        }
    }
}

fn near(busy: &Busy) -> Markup {
    html! {
        li {
            @if busy.limited > 0 { (badge(Tone::Bad, "over its limit")) } @else { (badge(Tone::Warn, "near its limit")) }
            p {
                a href={ "/dashboard/services/" (busy.service.id) } { (isolated(&busy.service.name)) }
                " reached " (busy.percent) " % of its rate in the last hour"
                @if busy.limited > 0 { ", and " (count(busy.limited)) " of its requests were refused" }
                "."
            }
        }
    }
}

fn ending<I: std::fmt::Display>(
    what: &str,
    place: &str,
    now: Timestamp,
    item: &Expiring<I>,
) -> Markup {
    let is_over = item.expires_at <= now;
    html! {
        li {
            @if is_over { (badge(Tone::Bad, "expired")) } @else { (badge(Tone::Warn, "expires")) }
            p {
                a href={ (place) "/" (item.id) } { (what) " " (isolated(&item.name)) }
                @if is_over { " expired " (distance(now, item.expires_at)) "." }
                @else { " expires " (distance(now, item.expires_at)) "." }
            }
        }
    }
}

/// The services that came near their limits in the last hour.
async fn busy(cx: &PageContext, now: Timestamp) -> Result<Vec<Busy>, PageError> {
    let mut busy = Vec::new();
    for load in loads(cx.context.pool(), now.minus(HOUR)).await? {
        let service = match services::read(&cx.context, load.service).await {
            Ok(service) => service,
            Err(Error::Missing(ResourceType::Service)) => continue,
            Err(error) => return Err(error.into()),
        };
        let a_minute = i64::from(service.rate_limit.requests_per_second.get()) * 60;
        let percent = load.busiest * 100 / a_minute.max(1);
        if percent >= NEAR || load.limited > 0 {
            busy.push(Busy { service, percent, limited: load.limited });
        }
    }
    Ok(busy)
}
