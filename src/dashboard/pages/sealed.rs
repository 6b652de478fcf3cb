//! The tamper-evident logs on the pages of audit records and management events.

use std::fmt::Display;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use uuid::Uuid;

use crate::error::PageError;
use crate::extract::PageContext;
use crate::view::shell::Section;
use crate::view::words::{Tone, badge, count, isolated, moment_and_distance};
use engine::ledger::{Log, LogStatus, ProofError, SealState, WitnessStatus, prove};
use engine::management::ReadAudit;

/// The latest checkpoint of a log and its witnesses.
pub(super) fn checkpoint(cx: &PageContext, log: Log) -> Markup {
    let status = &cx.dashboard.seal_status;
    if status.state() == SealState::Unknown {
        return html! { p.faint { "It is unknown whether records are sealed: the sealer has not reported for some time." } };
    }
    let logs = status.logs();
    let log = logs.iter().find(|it| it.log == log);
    let signed = log.and_then(|log| Some((log, log.checkpoint_at?)));
    html! {
        @match signed {
            Some((log, at)) => {
                p.faint {
                    "The latest signed checkpoint covers "
                    (records(log.checkpoint_size)) ": " (moment_and_distance(at, cx.now()))
                }
                @for witness in &log.witnesses { p.faint { (cosignature(cx, log, witness)) } }
            }
            None => p.faint { "Records are not sealed: run sealward audit init." }
        }
    }
}

fn cosignature(cx: &PageContext, log: &LogStatus, witness: &WitnessStatus) -> Markup {
    html! {
        "Witness " (isolated(&witness.name)) ": "
        @match witness.cosigned_at {
            Some(_) if witness.size == log.checkpoint_size => "cosigned this checkpoint",
            Some(at) => { "cosigned " (records(witness.size)) ", " (moment_and_distance(at, cx.now())) }
            None => "has not cosigned a checkpoint",
        }
        @if let Some(failure) = &witness.failure { ". Failed: " (isolated(failure)) }
    }
}

fn records(number: u64) -> Markup {
    html! { (count(i64::try_from(number).unwrap_or(i64::MAX))) " records" }
}

/// The position of a record in its log, and whether the record was changed since.
pub(super) fn index(log_index: Option<i64>, changed: bool) -> Markup {
    html! {
        @match log_index {
            Some(index) if changed => { (count(index)) " " (badge(Tone::Bad, "changed after it was sealed")) }
            Some(index) => (count(index)),
            None => span.faint { "not sealed yet" },
        }
    }
}

/// The button that downloads the proof of a sealed record.
pub(super) fn button(
    section: Section,
    id: &impl Display,
    log_index: Option<i64>,
    changed: bool,
) -> Markup {
    html! {
        @if log_index.is_some() && !changed {
            div.actions { a.button href={ (section.place()) "/" (id) "/proof.txt" } { "Download proof" } }
        }
    }
}

/// The proof that a record is in its log, as a file.
pub(super) async fn download(
    cx: &PageContext,
    log: Log,
    record: Uuid,
    id: &impl Display,
) -> Result<Response, PageError> {
    cx.authorize::<ReadAudit>()?;
    let proof = prove(cx.context.pool(), log, record).await;
    let proof = proof.map_err(|error| match error {
        ProofError::Missing | ProofError::NotSealed | ProofError::Changed => PageError::NotFound,
        ProofError::Database(error) => error.into(),
    })?;
    let disposition = format!("attachment; filename=\"{id}.tlog-proof\"");
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, proof.to_text()).into_response())
}
