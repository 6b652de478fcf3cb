//! A realistic world with resources of every kind in every state.

use std::time::Duration;

use engine::change_kind::ChangeKind;
use engine::ids::{KeyId, ServiceId};
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};

use testkit::{PATIENCE, PROTECT, World, within};

/// The names of the resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Typical,
    /// Names of the maximum length with hostile text.
    Hostile,
}

/// Hostile text: markup, quotes, a change of the text direction and a four-byte character.
pub(super) const HOSTILE_TEXT: &str = "<script>alert(1)</script>\"'&\u{1F4A9}";

/// The IDs of the resources.
pub(super) struct Sample {
    pub(super) world: World,
    pub(super) billing: String,
    pub(super) partner: String,
    pub(super) key: String,
    pub(super) deleted_key: String,
    pub(super) partner_key: String,
    pub(super) policy: String,
    pub(super) passing: String,
    pub(super) dropping: String,
    pub(super) deleted_policy: String,
    pub(super) api_key: String,
    pub(super) revoked_api_key: String,
    pub(super) person: String,
    pub(super) locked_person: String,
    /// A pending change.
    pub(super) change: String,
}

/// An empty world with a manual clock.
pub(super) async fn empty() -> World {
    let time: Timestamp = "2026-05-12T10:42:30Z".parse().expect("a time");
    World::at(Clock::held_at(time), Stage::Development).await
}

impl Sample {
    pub(super) async fn new(names: Names) -> Self {
        let world = empty().await;
        let admin = Admin { world: &world, names };
        let billing = admin.service("billing", "professional").await;
        let payments = admin.service("payments", "standard").await;
        let archive = admin.service("archive", "standard").await;
        let partner = admin.service("partner", "standard").await;

        let previous = admin.key(&billing, "billing 2025", "P-256", "enc").await;
        let key = admin.key(&billing, "billing 2026", "P-256", "enc").await;
        let signing = admin.key(&payments, "receipts", "Ed25519", "sig").await;
        let data = admin.key(&billing, "card numbers", "AES-256", "data").await;
        let deleted_key = admin.key(&archive, "archive", "P-256", "enc").await;
        let partner_key = admin.public_key(&partner).await;
        admin.change("keys", &key, json!({ "expiresAt": "2026-06-01T00:00:00Z" })).await;
        admin.change("keys", &signing, json!({ "status": "disabled" })).await;
        world.admin().delete(&format!("/admin/keys/{deleted_key}")).await.gone();

        let policy = admin
            .policy("BILLING", &billing, json!({ "allowedServiceIds": [billing, payments] }))
            .await;
        let off = json!({ "status": "inactive", "failureMode": "passthrough" });
        let passing = admin.policy("LEGACY", &billing, off).await;
        let off = json!({ "status": "inactive", "failureMode": "drop" });
        let dropping = admin.policy("TELEMETRY", &payments, off).await;
        admin.policy("ARCHIVE", &archive, json!({})).await;
        let destination_managed = json!({ "keyOwnership": "destination_managed" });
        admin.policy("PARTNER", &partner, destination_managed).await;
        let narrow = json!({ "allowedServiceIds": [billing], "allowedOperations": ["protect"] });
        let deleted_policy = admin.policy("INVOICES", &billing, narrow).await;
        // The order of events at the same time is random.
        world.clock.advance(Duration::from_secs(7));
        world.admin().delete(&format!("/admin/policies/{deleted_policy}")).await.gone();

        let bound = json!({ "type": "live", "serviceId": billing, "policyNumber": "BILLING",
            "allowedOperations": ["protect", "unprotect"], "allowedCidrs": ["10.20.0.0/16", "2001:db8::/32"] });
        let api_key = admin.api_key("billing in production", bound).await;
        let caller = json!({ "type": "test", "serviceId": payments, "policyNumber": "BILLING",
            "expiresAt": "2026-05-20T00:00:00Z" });
        let caller = admin.api_key("payments in staging", caller).await;
        let revoked = json!({ "type": "live", "serviceId": archive });
        let revoked_api_key = admin.api_key("archive, lost laptop", revoked).await.0;
        let path = format!("/admin/api-keys/{revoked_api_key}");
        world.admin().delete(&path).await.gone();

        let matching = json!({ "issuer": admin.name("https://issuer.example/"),
            "subject": admin.name("job"), "claims": { admin.name("/realm/name"): "shop", "level": 3 } });
        let workload =
            json!({ "serviceId": billing, "policyNumber": "BILLING", "match": matching });
        admin.create("identities", "billing on Kubernetes", workload).await;
        let person = admin.person("ada").await;
        let path = format!("/admin/people/{person}/unlock");
        world.admin().post_nothing(&path).await.ok();
        let owner = json!({ "type": "admin", "person": admin.name("ada") });
        admin.api_key("laptop of ada", owner).await;
        let locked_person = admin.person("bob").await;
        let strict = world.requiring(&[ChangeKind::PolicyOpen], 1).await;
        let wider = json!({ "allowedServiceIds": ["*"] });
        let path = format!("/admin/policies/{policy}");
        let change = strict.admin().patch(&path, wider).await.text("id");
        drop(strict);

        traffic(&world, &[&billing, &payments], &[&key, &previous, &data]).await;
        call(&world, &caller.1).await;
        // The manual clock skipped rounds of the jobs.
        within(PATIENCE, async || {
            let missing = world.jobs().missing();
            missing.iter().for_each(|job| world.jobs().pulse(*job).alive());
            missing.is_empty()
        })
        .await;
        Self {
            billing,
            partner,
            key,
            deleted_key,
            partner_key,
            policy,
            passing,
            dropping,
            deleted_policy,
            api_key: api_key.0,
            revoked_api_key,
            person,
            locked_person,
            change,
            world,
        }
    }
}

struct Admin<'w> {
    world: &'w World,
    names: Names,
}

impl Admin<'_> {
    fn name(&self, name: &str) -> String {
        match self.names {
            Names::Typical => name.to_owned(),
            Names::Hostile => {
                let name = format!("{HOSTILE_TEXT}{name}");
                let missing = 100 - name.chars().count();
                name + &"x".repeat(missing)
            }
        }
    }

    async fn create(&self, collection: &str, name: &str, mut body: Value) -> (String, Value) {
        body["name"] = json!(self.name(name));
        self.world.clock.advance(Duration::from_secs(7));
        let path = format!("/admin/{collection}");
        let created = self.world.admin().post(&path, body).await.created();
        (created.text("id"), created.json())
    }

    /// A person who is locked.
    async fn person(&self, subject: &str) -> String {
        let body = json!({ "subject": self.name(subject), "reason": self.name("On leave") });
        self.world.clock.advance(Duration::from_secs(7));
        self.world.admin().post("/admin/people", body).await.created().text("id")
    }

    async fn change(&self, collection: &str, id: &str, change: Value) {
        let path = format!("/admin/{collection}/{id}");
        self.world.admin().put(&path, change).await.ok();
    }

    async fn service(&self, name: &str, tier: &str) -> String {
        let description = self.name("Runs in the east region");
        let body = json!({ "tier": tier, "description": description, "publishKeys": true });
        self.create("services", name, body).await.0
    }

    async fn key(&self, service: &str, name: &str, algorithm: &str, usage: &str) -> String {
        let body =
            json!({ "serviceId": service, "algorithm": algorithm, "use": usage, "generate": true });
        self.create("keys", name, body).await.0
    }

    async fn public_key(&self, service: &str) -> String {
        let body = json!({ "serviceId": service, "publicKey": partner_key() });
        self.create("keys", "partner", body).await.0
    }

    async fn policy(&self, number: &str, destination: &str, mut body: Value) -> String {
        body["policyNumber"] = json!(number);
        body["destinationServiceId"] = json!(destination);
        body["alg"] = json!("ECDH-ES+A256KW");
        if body["allowedServiceIds"].is_null() {
            body["allowedServiceIds"] = json!(["*"]);
        }
        body["description"] = json!(self.name("Agreed with the auditors"));
        let name = format!("{} data", number.to_lowercase());
        self.create("policies", &name, body).await.0
    }

    /// Creates an API key and returns its ID and its secret.
    async fn api_key(&self, name: &str, body: Value) -> (String, String) {
        let (id, created) = self.create("api-keys", name, body).await;
        let secret = created["secret"].as_str().expect("a key");
        (id, secret.to_owned())
    }
}

/// Sends valid and invalid requests of every kind for the audit log.
async fn call(world: &World, key: &str) {
    let application = world.client(key);
    let later = || world.clock.advance(Duration::from_millis(1_370));
    let card = json!({ "card": "4111 1111 1111 1111" });
    let envelope = application.protect(card).await.ok().json()["jwe"].clone();
    later();
    application.unprotect(&envelope).await.ok();
    later();
    application.protect_under("NOWHERE", json!(1)).await.refused(404, "POLICY_NOT_FOUND");
    later();
    application.protect_under("LEGACY", json!([1, 2])).await.ok();
    later();
    let digest = json!({ "data": "a receipt", "algorithm": "SHA-256" });
    application.operate("hash", digest).await.ok();
    later();
    let hostile = application.clone().with("x-request-id", "<b>R</b> & \"R\"");
    hostile.post(PROTECT, json!({})).await.refused(400, "INVALID_REQUEST");
    later();
    application.protect_under("ARCHIVE", json!(1)).await.refused(500, "DESTINATION_KEY_NOT_FOUND");
    // The manual clock did not advance during the requests.
    let took =
        "UPDATE crypto_operations_audit SET response_time_ms = 0.9 + payload_size_bytes / 97.0";
    let result = sqlx::query(took).execute(&world.pool).await;
    result.expect("set response times");
}

/// A week of traffic with days and nights, 15 minutes of errors and a service near its limit.
async fn traffic(world: &World, services: &[&String], keys: &[&String]) {
    let now = world.clock.now();
    let sql = "
        WITH minutes AS (
            SELECT minute, 240 + 200 * sin(extract(epoch FROM minute) / 13750.99 - 1.6)
                               + 40 * sin(extract(epoch FROM minute) / 313) AS rate
              FROM generate_series($1::timestamptz - interval '7 days', $1, '1 minute') AS minute
        ), shares (operation, outcome, bucket, share) AS (VALUES
            ('encrypt', '', 19, 0.42), ('encrypt', '', 22, 0.31), ('decrypt', '', 26, 0.18),
            ('decrypt', '', 29, 0.06), ('decrypt', '', 34, 0.015), ('sign', '', 27, 0.01),
            ('encrypt', 'INVALID_REQUEST', 17, 0.006), ('encrypt', 'POLICY_NOT_ACTIVE', 18, 0.004))
        INSERT INTO traffic_minutes
        SELECT date_trunc('minute', minute), operation, outcome, bucket, ceil(rate * share)
          FROM minutes CROSS JOIN shares WHERE rate * share > 0.2
         UNION ALL
        SELECT date_trunc('minute', minute), 'encrypt', 'RATE_LIMIT_EXCEEDED', 12, ceil(rate / 3)
          FROM minutes WHERE minute BETWEEN $1 - interval '32 minutes' AND $1 - interval '20 minutes'";
    let now_at = |sql: &'static str| sqlx::query(sql).bind(now);
    now_at(sql).execute(&world.pool).await.expect("a week");
    let summed = "UPDATE traffic_progress SET summed_up_to = date_trunc('minute', $1::timestamptz)";
    now_at(summed).execute(&world.pool).await.expect("sums");
    let busy = "INSERT INTO service_minutes VALUES
        (date_trunc('minute', $1::timestamptz - interval '25 minutes'), $2, $3, $4)";
    for (service, busiest, limited) in [(services[0], 25_900_i64, 0_i64), (services[1], 6_400, 812)]
    {
        let service: ServiceId = service.parse().expect("a service");
        let result = now_at(busy).bind(service).bind(busiest).bind(limited);
        result.execute(&world.pool).await.expect("a busy minute");
    }
    let used = "INSERT INTO key_use_days
        SELECT $2, day, 20000, 21000 - 300 * extract(day FROM day), day + interval '8 hours', day + interval '9 hours'
          FROM generate_series(date_trunc('day', $1::timestamptz) - interval '90 days',
                               $1 - $3 * interval '40 days', '1 day') AS day";
    for (place, key) in (0_i32..).zip(keys) {
        let key: KeyId = key.parse().expect("a key");
        let result = now_at(used).bind(key).bind(place);
        result.execute(&world.pool).await.expect("uses");
    }
    let opened = "INSERT INTO key_opening_days
        SELECT $2, day, $3, $4, 400 - 12 * place, CASE WHEN place > 20 THEN 40 ELSE 0 END
          FROM generate_series(0, 29) AS place, LATERAL (SELECT ($1::timestamptz AT TIME ZONE 'UTC')::date - 29 + place AS day) AS days";
    for (key, policy) in keys.iter().zip(["BILLING", "LEGACY", ""]) {
        let key: KeyId = key.parse().expect("a key");
        for service in services {
            let service: ServiceId = service.parse().expect("a service");
            let result = now_at(opened).bind(key).bind(service).bind(policy);
            result.execute(&world.pool).await.expect("openings");
        }
    }
}

/// The public P-256 key of a partner.
pub(super) fn partner_key() -> Value {
    json!({ "kty": "EC", "crv": "P-256",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM" })
}
