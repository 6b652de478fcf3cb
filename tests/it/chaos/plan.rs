//! The order of faults that a seed determines.

use std::time::Duration;

use testkit::chaos::plan::Plan;

#[test]
fn a_seed_determines_the_plan() {
    let plan = |seed| Plan::of(seed, Duration::from_secs(60), 3).to_string();
    assert_eq!(plan(7), plan(7));
    assert_ne!(plan(7), plan(8));
}

#[test]
fn a_plan_contains_every_kind_of_fault() {
    let all: String =
        (0..20).map(|seed| Plan::of(seed, Duration::from_secs(60), 3).to_string()).collect();
    let kinds = "Frozen Stopped Crashed CutOff Silent Slow NotificationsCut Failing Away Hanging \
                 SessionsDropped LoginDropped Killed(2) Ended(0) Replaced Frozen(1) \
                 RevokeApiKey TogglePolicy ReplacePolicy ToggleKey NewEnvelopeKey";
    for kind in kinds.split(' ') {
        assert!(all.contains(kind), "{kind}");
    }
}
