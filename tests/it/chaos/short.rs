//! One short run with a random seed, which the test prints if a guarantee is violated.

use std::time::Duration;

use testkit::chaos::plan::Plan;
use testkit::chaos::run::{Size, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_guarantees_hold_under_combined_failures() {
    let size = Size { faults: Duration::from_secs(9), instances: 2, workers: 4 };
    let plan = Plan::of(rand::random::<u32>().into(), size.faults, size.instances);
    let ran = run(&plan, size).await;
    let violations: Vec<_> = ran.violations.iter().map(ToString::to_string).collect();
    assert!(
        violations.is_empty(),
        "{}\n{plan}{}{}\n{}",
        violations.join("\n"),
        ran.events,
        ran.figures,
        ran.warnings.join("\n"),
    );
}
