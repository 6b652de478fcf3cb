//! One short run, of a seed that is another each time and is told where a promise is broken.

use std::time::Duration;

use super::plan::Plan;
use super::run::{Size, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_promise_holds_while_everything_fails() {
    let size = Size {
        faults: Duration::from_secs(9),
        instances: 2,
        workers: 4,
    };
    let plan = Plan::of(rand::random::<u32>().into(), size.faults, size.instances);
    let ran = run(&plan, size).await;
    let violations: Vec<_> = ran.violations.iter().map(ToString::to_string).collect();
    assert!(
        violations.is_empty(),
        "{}\n{plan}{}{}\n{}",
        violations.join("\n"),
        ran.events,
        ran.figures,
        ran.complaints.join("\n"),
    );
}
