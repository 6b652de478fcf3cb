//! A forwarder that the test runs itself, with a clock that the test advances.

use std::path::PathBuf;

use engine::db::Pool;
use engine::ledger::forward::{Collector, ForwardState, ForwardStatus, Forwarder};
use engine::settings::{Environment, Forward, Span};
use formats::clock::{Clock, Timestamp};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::ledger::fixture::{Kept, OwnSealer};
use testkit::{PATIENCE, pulse, within};

/// Records that a sealer seals and that forwarders send.
pub(super) struct Forwarded {
    pub(super) kept: Kept,
    pub(super) clock: Clock,
    // Ends with the runtime of the test.
    _sealer: OwnSealer,
}

/// A forwarder with the database of [`Forwarded`].
pub(super) struct OwnForwarder {
    pub(super) status: ForwardStatus,
    job: JoinHandle<()>,
}

impl Forwarded {
    pub(super) async fn new() -> Self {
        let kept = Kept::new().await;
        Self {
            _sealer: kept.sealer().await,
            kept,
            clock: Clock::held_at(Timestamp::from_millis(1_000_000_000)),
        }
    }

    /// Records that are sealed and have a checkpoint. `total` counts the earlier ones, too.
    pub(super) async fn record(&self, count: usize, total: u64) {
        self.kept.record(count).await;
        self.kept.covered(total).await;
    }

    pub(super) fn forwarder(&self, settings: &Forward) -> OwnForwarder {
        OwnForwarder::start(self.kept.pool.clone(), self.clock.clone(), settings)
    }

    /// The numbers of sent and of confirmed entries of the log of operations.
    pub(super) async fn position(&self, target: &str) -> (i64, i64) {
        let position = "SELECT sent, confirmed FROM audit_forward_positions
                         WHERE log = 1 AND target = $1";
        let found = sqlx::query_as(position).bind(target);
        let found = found.fetch_optional(&self.kept.owner).await.unwrap();
        found.unwrap_or_default()
    }

    /// Waits for a position of the target `collector`.
    pub(super) async fn reaches(&self, expected: (i64, i64)) {
        within(PATIENCE, async || self.position("collector").await == expected).await;
    }
}

impl OwnForwarder {
    pub(super) fn start(pool: Pool, clock: Clock, settings: &Forward) -> Self {
        let collector = Collector::new(settings, &Environment::default());
        let collector = collector.expect("usable files").expect("a URL");
        let status = ForwardStatus::new(Clock::system(), settings.interval.0);
        let mut forwarder = Forwarder::new(pool, clock, collector, settings, status.clone());
        let job = tokio::spawn(async move { match forwarder.run(pulse()).await {} });
        Self { status, job }
    }

    pub(super) async fn state(&self, is_expected: impl Fn(&ForwardState) -> bool) -> ForwardState {
        within(PATIENCE, async || is_expected(&self.status.state())).await;
        self.status.state()
    }

    pub(super) async fn failed(&self) -> String {
        match self.state(|it| matches!(it, ForwardState::Failed(_))).await {
            ForwardState::Failed(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn stop(self) {
        self.job.abort();
        let _ = self.job.await;
    }
}

/// Settings that look for entries often, and wait long, as a loaded machine can delay responses.
pub(super) fn settings(url: String, ca: PathBuf) -> Forward {
    Forward {
        url: Some(url),
        ca: Some(ca),
        interval: Span::millis(20),
        timeout: Span::seconds(60),
        ..Forward::default()
    }
}

/// The positions of these lines.
pub(super) fn indexes(lines: &[String]) -> Vec<u64> {
    let index = |line: &String| {
        let line: Value = serde_json::from_str(line).expect(line);
        line["log_index"].as_u64().expect("an index")
    };
    lines.iter().map(index).collect()
}
