//! Metrics of audit records, audit logs and forwarding.

use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::EncodeMetric as _;
use prometheus_client::metrics::MetricType;

use super::page::{Page, count, exact, flag, seconds};
use engine::ledger::forward::ForwardState;
use engine::ledger::{LogStatus, SealState};
use sealward_http::AppState;

/// Metrics of the audit.
pub(super) fn audit(page: &mut Page<'_>, app: &AppState) -> fmt::Result {
    records(page, app)?;
    logs(page, app)?;
    forwarding(page, app)
}

fn records(page: &mut Page<'_>, app: &AppState) -> fmt::Result {
    let recorder = &app.engine.recorder;
    page.gauge(
        "sealward_audit_up",
        "Whether audit records can be committed; absent if unknown.",
        recorder.is_healthy().map(flag),
    )?;
    page.gauge(
        "sealward_audit_queue_records",
        "Audit records that wait for a batch.",
        count(recorder.queued()),
    )?;
    page.gauge(
        "sealward_audit_queue_limit_records",
        "Maximum number of audit records that wait.",
        count(app.engine.settings.audit.queue),
    )?;
    page.metric(
        "sealward_audit_commit_duration_seconds",
        "Time from the submission of an audit record to its commit.",
        MetricType::Histogram,
        |encoder| recorder.commit_durations().encode(encoder),
    )?;
    page.metric(
        "sealward_audit_batch_records",
        "Audit records per commit.",
        MetricType::Histogram,
        |encoder| recorder.batch_sizes().encode(encoder),
    )?;
    page.counters(
        "sealward_payloads_passed_through",
        "Payloads returned unprotected because their policy was inactive with the failure mode passthrough.",
        [(vec![], recorder.passed_through())],
    )
}

fn logs(page: &mut Page<'_>, app: &AppState) -> fmt::Result {
    let (present, logs) = (app.seal_status.state(), app.seal_status.logs());
    page.gauges(
        "sealward_audit_log_state",
        "1 for the state of sealing on this instance: starting, not_initialized, standby, sealing, failed or unknown.",
        SealState::NAMES.map(|state| (vec![("state", state)], flag(state == present.name()))),
    )?;
    let now = app.engine.clock.now();
    let each = |value: fn(&LogStatus) -> u64| {
        logs.iter().map(move |it| (vec![("log", it.log.name())], exact(value(it))))
    };
    page.gauges(
        "sealward_audit_log_size_records",
        "Sealed audit records, by log; absent before sealward audit init, or if unknown.",
        each(|log| log.size),
    )?;
    page.gauges(
        "sealward_audit_log_unsealed_records",
        "Audit records that are not sealed yet, up to 100,000, by log; absent before sealward audit init, or if unknown.",
        each(|log| log.unsealed),
    )?;
    page.gauges(
        "sealward_audit_log_checkpoint_size_records",
        "Audit records that the latest checkpoint covers, by log; absent before sealward audit init, or if unknown.",
        each(|log| log.checkpoint_size),
    )?;
    page.gauges(
        "sealward_audit_log_checkpoint_age_seconds",
        "Time since this instance verified the latest checkpoint, or started, by log; absent before sealward audit init, or if unknown.",
        logs.iter().map(|it| (vec![("log", it.log.name())], seconds(now.since(it.waits_since)))),
    )?;
    page.counters(
        "sealward_audit_log_stragglers",
        "Audit records without a segment that this instance sealed, by log.",
        app.seal_status.stragglers().map(|(log, count)| (vec![("log", log.name())], count)),
    )?;
    let witnesses = || {
        let all = logs.iter();
        all.flat_map(|log| log.witnesses.iter().map(move |witness| (log, witness)))
    };
    page.gauges(
        "sealward_audit_log_witness_up",
        "Whether the witness cosigned the latest checkpoint that it received, by log and witness.",
        witnesses().map(|(log, witness)| {
            let up = witness.cosigned_at.is_some() && witness.failure.is_none();
            (vec![("log", log.log.name()), ("witness", &witness.name)], flag(up))
        }),
    )?;
    page.gauges(
        "sealward_audit_log_witness_lag_records",
        "Records of the latest checkpoint that the witness has not cosigned, by log and witness.",
        witnesses().map(|(log, witness)| {
            let lag = log.checkpoint_size.saturating_sub(witness.size);
            (vec![("log", log.log.name()), ("witness", &witness.name)], exact(lag))
        }),
    )
}

fn forwarding(page: &mut Page<'_>, app: &AppState) -> fmt::Result {
    let status = &app.forward_status;
    let (present, lags) = (status.state(), status.lags());
    page.gauges(
        "sealward_audit_forward_state",
        "1 for the state of forwarding on this instance: off, standby, forwarding, failed or unknown.",
        ForwardState::NAMES.map(|state| (vec![("state", state)], flag(state == present.name()))),
    )?;
    page.gauges(
        "sealward_audit_forward_lag_records",
        "Sealed audit records that were not sent to the collector yet, by log; absent without forwarding, or if unknown.",
        lags.iter()
            .map(|it| (vec![("log", it.log.name())], exact(it.entries))),
    )?;
    let now = app.engine.clock.now();
    page.gauges(
        "sealward_audit_forward_lag_age_seconds",
        "Age of the first audit record that was not sent to the collector yet, by log, or 0; absent without forwarding, or if unknown.",
        lags.iter().map(|it| {
            let age = it.oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
            (vec![("log", it.log.name())], seconds(age))
        }),
    )?;
    page.counters(
        "sealward_audit_forward_omitted",
        "Audit records that the collector refused as too long, so that it has only their hash.",
        [(vec![], status.omitted())],
    )
}
