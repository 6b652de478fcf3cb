//! Metrics of the background jobs.

use std::fmt;

use super::page::{Page, flag, unix};
use engine::jobs::{Board, Job};

/// Metrics of the jobs that the settings need.
pub(super) fn jobs(page: &mut Page<'_>, board: &Board) -> fmt::Result {
    let named = |job: Job| vec![("job", job.name())];
    page.gauges(
        "sealward_job_up",
        "Whether a background job runs: on this instance or, for a job of one instance at a time, on any of them.",
        Job::ALL
            .into_iter()
            .filter_map(|job| Some((named(job), flag(board.is_up(job)?)))),
    )?;
    page.counters(
        "sealward_job_failures",
        "How often a background job of this instance ended or panicked and was started again.",
        Job::ALL.into_iter().filter_map(|job| Some((named(job), board.failures(job)?))),
    )?;
    page.gauges(
        "sealward_job_last_success_timestamp_seconds",
        "The last time that a background job of this instance succeeded, as a Unix time; absent before.",
        Job::ALL
            .into_iter()
            .filter_map(|job| Some((named(job), unix(board.succeeded_at(job)?)))),
    )
}
