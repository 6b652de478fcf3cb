//! Background jobs that end: each is counted, reported by health and readiness, and started again.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use engine::db;
use engine::jobs::fault::End;
use engine::jobs::{Absence, Instances, Job};
use engine::settings::{Database, Forward, Oidc};
use formats::clock::{Clock, Timestamp};
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tower::ServiceExt as _;

use testkit::{Answer, Exposition, PATIENCE, SigningKey, TokenIssuer, Valkey, World, within};

const HEALTH: &str = "/api/v1/health";

/// An instance whose settings need every job.
struct Instance {
    world: World,
    // Must be dropped last.
    _needed: (TokenIssuer, Valkey),
}

impl Instance {
    async fn start() -> Self {
        let issuer = TokenIssuer::publishing(&[&SigningKey::ec("key")]).await;
        let valkey = Valkey::start().await;
        let secret = serde_json::from_value(json!({ "value": "sealward-secret" }));
        let oidc = Oidc {
            issuer: Some("https://127.0.0.1:9".to_owned()),
            client_id: "sealward".to_owned(),
            client_secret: Some(secret.expect("a secret")),
            redirect_uri: Some("https://127.0.0.1/dashboard/sign-in/callback".to_owned()),
            ..Oidc::default()
        };
        let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
        let mut world = World::with_dependencies(clock, issuer.auth(), oidc, &valkey).await;
        world.forward(&Forward {
            url: Some("https://127.0.0.1:9".to_owned()),
            ..Forward::default()
        });
        world.reload(None);
        let servers = twice(&world);
        let servers = db::servers(&servers, None).expect("a URL");
        let primary = db::connect(servers, &Database::default()).await;
        world.follow(primary.expect("a primary"));
        // After three periods, a job of one instance is missing without a leader.
        world.clock.advance(Job::AuditDays.spec().patience());
        world.clock.advance(Duration::from_millis(1));
        let instance = Self { world, _needed: (issuer, valkey) };
        within(PATIENCE, async || instance.health().await == "ok").await;
        instance
    }

    async fn metric(&self, name: &str, job: Job) -> f64 {
        let request = Request::get("/metrics").body(Body::empty()).unwrap();
        let metrics = self.world.metrics(None).await;
        let page = Answer::of(metrics.oneshot(request).await.unwrap()).await;
        Exposition::parse(&page.ok().body).sum(name, &[("job", job.name())])
    }

    async fn failures(&self, job: Job) -> f64 {
        self.metric("sealward_job_failures_total", job).await
    }

    async fn is_up(&self, job: Job) -> bool {
        self.metric("sealward_job_up", job).await > 0.0
    }

    async fn health(&self) -> String {
        let health = self.world.admin().get(HEALTH).await;
        health.json()["status"].as_str().expect("a state").to_owned()
    }

    async fn readiness(&self) -> u16 {
        self.world.anonymous().get("/readyz").await.status.as_u16()
    }

    /// Has the instances miss a job that no instance has, as after three periods.
    async fn forget_leader(&self, job: Job) {
        self.mark_leader(job, -86_400).await;
    }

    /// Has an instance have led a job at this distance from now.
    async fn mark_leader(&self, job: Job, seconds: i32) {
        let pool = &self.world.pool;
        let at = "SELECT date_trunc('milliseconds', clock_timestamp() + $1 * interval '1 second')";
        let at: Timestamp =
            sqlx::query_scalar(at).bind(seconds).fetch_one(pool).await.expect("a time");
        let key = pool.seals().current().expect("the row key");
        let mark = "UPDATE job_leaders SET led_at = $2, mac = $3 WHERE job = $1";
        let mark = sqlx::query(mark).bind(job).bind(at).bind(key.authenticate_mark(job.name(), at));
        let marked = mark.execute(pool).await.expect("an update");
        assert_eq!(marked.rows_affected(), 1, "{job}");
    }

    /// Ends a job each time that it starts, and waits until it has ended so.
    async fn end(&self, job: Job, end: End) {
        self.world.jobs().arm(job, end);
        let before = self.failures(job).await;
        within(PATIENCE, async || self.failures(job).await > before).await;
    }
}

/// The server of the database under two names.
fn twice(world: &World) -> Database {
    let url = world.as_application().to_url_lossy().to_string();
    let (before, host) = url.split_once('@').expect("a login");
    let (host, after) = host.split_once('/').expect("a database");
    Database { url: format!("{before}@{host},{host}/{after}"), ..Database::default() }
}

#[tokio::test]
async fn a_job_that_ends_is_counted_and_reported_and_starts_again() {
    let instance = Instance::start().await;
    for job in Job::ALL {
        let spec = job.spec();
        assert!(instance.is_up(job).await, "{job}");
        assert!(instance.failures(job).await < 1.0, "{job}");
        for end in [End::Panic, End::Return] {
            instance.end(job, end).await;
        }
        if spec.instances() == Instances::One {
            instance.forget_leader(job).await;
        }
        within(PATIENCE, async || !instance.is_up(job).await).await;
        assert_eq!(instance.health().await, "degraded", "{job}");
        let ready = match spec.absence() {
            Absence::NotReady => 503,
            Absence::Degraded => 200,
        };
        assert_eq!(instance.readiness().await, ready, "{job}");

        instance.world.jobs().disarm(job);
        within(PATIENCE, async || instance.is_up(job).await).await;
        within(PATIENCE, async || {
            instance.health().await == "ok" && instance.readiness().await == 200
        })
        .await;
    }
}

#[tokio::test]
async fn another_instance_takes_over_a_job_of_one_instance() {
    let instance = Instance::start().await;
    let other = instance.world.another().await;
    // Only one instance forwards here, and a comparison of public keys begins once a minute.
    let is_shared = |job: &Job| {
        job.spec().instances() == Instances::One && ![Job::Forwarder, Job::PublicKeys].contains(job)
    };
    for job in Job::ALL.into_iter().filter(is_shared) {
        instance.end(job, End::Panic).await;
        instance.forget_leader(job).await;
        // The other instance marks it.
        let led =
            "SELECT led_at > clock_timestamp() - interval '1 hour' FROM job_leaders WHERE job = $1";
        within(PATIENCE, async || {
            let led = sqlx::query_scalar(led).bind(job);
            led.fetch_one(&instance.world.pool).await.expect("a leader")
        })
        .await;
        within(PATIENCE, async || instance.is_up(job).await).await;
        assert_eq!(other.jobs().missing(), [], "{job}");
        instance.world.jobs().disarm(job);
    }
}

/// The login of the service can take the lock of a job, and write the mark of a leader.
#[tokio::test]
async fn a_mark_that_no_instance_wrote_does_not_hide_that_a_job_is_missing() {
    let instance = Instance::start().await;
    let login = instance.world.as_application();
    let mut attacker = login.connect().await.expect("a connection");
    let lock = "SELECT pg_advisory_lock(hashtextextended('sealward job ' || $1, 0))";
    instance.end(Job::Sealer, End::Return).await;
    sqlx::query(lock).bind(Job::Sealer).execute(&mut attacker).await.expect("the lock");
    instance.world.jobs().disarm(Job::Sealer);
    instance.forget_leader(Job::Sealer).await;
    within(PATIENCE, async || !instance.is_up(Job::Sealer).await).await;

    let [forged, removed] = ["mac", "NULL"].map(|mac| {
        format!(
            "UPDATE job_leaders SET led_at = clock_timestamp(), mac = {mac} WHERE job = 'sealer'"
        )
    });
    let other = Job::TrafficSums;
    instance.end(other, End::Return).await;
    for mark in [forged, removed] {
        sqlx::query(AssertSqlSafe(mark)).execute(&mut attacker).await.expect("a mark");
        // The instance has noted one read of all marks when it shows what the next one found.
        for (seconds, is_up) in [(-86_400, false), (0, true)] {
            instance.mark_leader(other, seconds).await;
            within(PATIENCE, async || instance.is_up(other).await == is_up).await;
        }
        assert!(!instance.is_up(Job::Sealer).await);
    }
    attacker.close().await.expect("an end");
    within(PATIENCE, async || instance.is_up(Job::Sealer).await).await;
}

#[tokio::test]
async fn a_leader_from_the_future_does_not_hide_that_a_job_is_missing() {
    let instance = Instance::start().await;
    let (missing, other) = (Job::Sealer, Job::TrafficSums);
    for job in [missing, other] {
        instance.end(job, End::Return).await;
        instance.forget_leader(job).await;
        within(PATIENCE, async || !instance.is_up(job).await).await;
    }
    instance.mark_leader(missing, 86_400).await;
    // The instance has noted one read of all leaders when it shows what the next one found.
    instance.mark_leader(other, 0).await;
    within(PATIENCE, async || instance.is_up(other).await).await;
    instance.forget_leader(other).await;
    within(PATIENCE, async || !instance.is_up(other).await).await;
    assert!(!instance.is_up(missing).await);
    assert_eq!(instance.health().await, "degraded");
    assert!(instance.world.jobs().missing().contains(&missing));
}
