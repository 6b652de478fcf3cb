//! Makes the changes of a plan as an administrator.

use std::time::Duration;

use tokio::time::sleep;

use super::administrator::Administrator;
use super::fixtures::{Fixtures, PolicyRole, envelope_key};
use super::history::{Moment, State};
use super::plan::{AdminChange, Step};
use super::run_log::{Of, RunLog};

/// How long clients continue to use a revoked API key.
const LINGERS: Duration = Duration::from_millis(1_500);

/// Makes the changes. Clients continue to use a revoked API key for some time.
pub async fn by_administrator(
    admin: &mut Administrator,
    fixtures: &Fixtures,
    run_log: &RunLog,
    steps: &[Step<AdminChange>],
    until: Moment,
) {
    for step in steps {
        sleep(step.after).await;
        let began = run_log.now();
        if began > until {
            return;
        }
        match step.what {
            AdminChange::RevokeApiKey(which) => revoke(admin, fixtures, run_log, which).await,
            AdminChange::TogglePolicy(which) => {
                toggle_policy(admin, fixtures, run_log, which).await
            }
            AdminChange::ReplacePolicy => replace_policy(admin, fixtures, run_log).await,
            AdminChange::ToggleKey(which) => toggle_key(admin, fixtures, run_log, which).await,
            AdminChange::NewEnvelopeKey(which) => {
                let (service, algorithm, _) = fixtures.lock().destinations[which % 2].clone();
                admin.create("/admin/keys", &envelope_key(&service, algorithm)).await;
            }
        }
        run_log.event(began, format!("change {:?}", step.what));
    }
}

async fn revoke(admin: &mut Administrator, fixtures: &Fixtures, run_log: &RunLog, number: usize) {
    let (which, id, application) = {
        let state = fixtures.lock();
        let used = state.api_keys.iter().enumerate();
        let used: Vec<_> = used.filter(|(_, key)| key.used_until.is_none()).collect();
        let (which, key) = used[number % used.len()];
        (which, key.id.clone(), key.application)
    };
    let change = run_log.changing(Of::ApiKey(which), State::Refusing);
    if let Some(result) = admin.delete(&format!("/admin/api-keys/{id}")).await {
        run_log.changed(Of::ApiKey(which), change, result.by);
    }
    fixtures.lock().api_keys[which].used_until = Some(run_log.now() + LINGERS);
    fixtures.new_api_key(admin, run_log, application).await;
}

async fn toggle_policy(
    admin: &mut Administrator,
    fixtures: &Fixtures,
    run_log: &RunLog,
    number: usize,
) {
    let found = {
        let state = fixtures.lock();
        let all = state.policies.iter().enumerate();
        let toggled: Vec<_> =
            all.filter(|(_, policy)| policy.role == PolicyRole::Toggled).collect();
        let (which, policy) = toggled[number % toggled.len()];
        (which, policy.id.clone())
    };
    let (which, id) = found;
    let targets = [
        (State::Active, "active", "error"),
        (State::Refusing, "inactive", "error"),
        (State::PassingThrough, "inactive", "passthrough"),
        (State::Dropping, "inactive", "drop"),
    ];
    let (state, status, mode) = targets[number / 7 % targets.len()];
    let body = serde_json::json!({ "status": status, "failureMode": mode });
    let change = run_log.changing(Of::Policy(which), state);
    if let Some(result) = admin.put(&format!("/admin/policies/{id}"), &body).await {
        run_log.changed(Of::Policy(which), change, result.by);
    }
}

async fn replace_policy(admin: &mut Administrator, fixtures: &Fixtures, run_log: &RunLog) {
    let found = {
        let state = fixtures.lock();
        let mut all = state.policies.iter().enumerate();
        let old = all.find(|(_, policy)| policy.role == PolicyRole::Replaced);
        old.map(|(which, policy)| (which, policy.id.clone(), policy.destination))
    };
    // The previous replacement failed.
    let Some((which, id, destination)) = found else {
        return fixtures.new_policy(admin, run_log, 0, PolicyRole::Replaced).await;
    };
    let change = run_log.changing(Of::Policy(which), State::Gone);
    if let Some(result) = admin.delete(&format!("/admin/policies/{id}")).await {
        run_log.changed(Of::Policy(which), change, result.by);
    }
    fixtures.lock().policies[which].role = PolicyRole::Deleted;
    fixtures.new_policy(admin, run_log, destination, PolicyRole::Replaced).await;
}

async fn toggle_key(
    admin: &mut Administrator,
    fixtures: &Fixtures,
    run_log: &RunLog,
    number: usize,
) {
    let (which, id) = {
        let state = fixtures.lock();
        let all = state.keys.iter().enumerate();
        let toggled: Vec<_> = all.filter(|(_, key)| key.is_toggled).collect();
        let (which, key) = toggled[number % toggled.len()];
        (which, key.id.clone())
    };
    let now = run_log.lock().history.keys[which].changes.last().map(|change| change.to);
    let (state, status) = match now {
        Some(State::Refusing) => (State::Active, "active"),
        _ => (State::Refusing, "disabled"),
    };
    let body = serde_json::json!({ "status": status });
    let change = run_log.changing(Of::Key(which), state);
    if let Some(result) = admin.put(&format!("/admin/keys/{id}"), &body).await {
        run_log.changed(Of::Key(which), change, result.by);
    }
}
