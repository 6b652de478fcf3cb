//! Workflows of an administrator, from the first service to the revocation of an API key.

use axum::http::StatusCode;
use serde_json::json;

use super::Browser;
use testkit::World;

#[tokio::test]
async fn an_administrator_creates_and_removes_an_application() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world).await;

    let service =
        browser.submit("/dashboard/services", &[("name", "billing"), ("tier", "standard")]).await;
    let service_id = service.rsplit('/').next().unwrap();
    let key = browser
        .submit(
            "/dashboard/keys",
            &[
                ("from", "generated"),
                ("serviceId", service_id),
                ("use", "enc"),
                ("algorithm", "RSA-2048"),
                ("activate", "yes"),
            ],
        )
        .await;
    let policy = browser
        .submit(
            "/dashboard/policies",
            &[
                ("name", "at rest"),
                ("destinationServiceId", service_id),
                ("keyOwnership", "service_managed"),
                ("alg", "RSA-OAEP-256"),
                ("enc", "A256GCM"),
                ("allowedOperations", "protect"),
                ("allowedOperations", "unprotect"),
                ("allowedServiceIds.scope", "some"),
                ("allowedServiceIds", service_id),
            ],
        )
        .await;
    // The interface (section 5) specifies these names.
    let keys = browser.get("/dashboard/api-keys").await.ok().body;
    assert!(keys.contains("<h1>API Keys</h1>") && keys.contains(">Create API Key</a>"));
    let form = browser.get("/dashboard/api-keys/new").await.ok().body;
    assert!(form.contains("<h1>Create API Key</h1>") && form.contains(">Create API Key</button>"));
    let created = browser
        .send(
            "/dashboard/api-keys",
            &[
                ("name", "billing in production"),
                ("type", "live"),
                ("serviceId", service_id),
                ("policyNumber", "POL-000001"),
                ("allowedOperations.scope", "all"),
            ],
        )
        .await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    let secret = created.body.split(">sk_live_").nth(1).unwrap();
    let secret = format!("sk_live_{}", secret.split('<').next().unwrap());

    let application = world.client(&secret);
    let protected = application.post("/api/v1/protect", json!({ "payload": [1, 2] })).await;
    let jwe = protected.ok().json()["jwe"].clone();
    let opened = application.post("/api/v1/unprotect", json!({ "jwe": jwe })).await;
    assert_eq!(opened.ok().json()["payload"], json!([1, 2]));

    let audit_log = browser.get("/dashboard/audit?operationType=decrypt").await.ok().body;
    assert!(audit_log.contains("POL-000001") && audit_log.contains("billing"));
    let record = audit_log.split("href=\"/dashboard/audit/rec_").nth(1).unwrap();
    let record = record.split('"').next().unwrap();
    let record = browser.get(&format!("/dashboard/audit/rec_{record}")).await.ok();
    assert!(record.body.contains("/api/v1/unprotect"));

    let list = browser.get("/dashboard/api-keys?nameContains=BILLING").await.ok().body;
    assert!(!list.contains(&secret), "the key is shown once");
    let id = list.split("href=\"/dashboard/api-keys/ak_").nth(1).unwrap();
    let place = format!("/dashboard/api-keys/ak_{}", id.split('"').next().unwrap());
    browser.submit(&format!("{place}/revoke"), &[]).await;
    let refused = application.post("/api/v1/protect", json!({ "payload": 1 })).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);

    let rotated = browser.submit(&format!("{key}/rotate"), &[]).await;
    assert_ne!(rotated, key);
    assert!(browser.get(&key).await.ok().body.contains("retired"));
    browser.submit(&format!("{key}/delete"), &[]).await;
    assert!(browser.get(&key).await.ok().body.contains("will be destroyed"));
    browser.submit(&format!("{key}/restore"), &[]).await;
    assert!(browser.get(&key).await.ok().body.contains("disabled"));

    let state = format!("{policy}/state?status=inactive&failureMode=passthrough");
    let confirmation = browser.get(&state).await.ok().body;
    assert!(confirmation.contains("Payloads are returned UNPROTECTED"));
    let answer = [("status", "inactive"), ("failureMode", "passthrough")];
    browser.submit(&format!("{policy}/state"), &answer).await;
    let overview = browser.get("/dashboard").await.ok().body;
    assert!(overview.contains("returns payloads unprotected"));

    let events = browser.get("/dashboard/events?resourceType=policy&action=update").await.ok();
    let event = events.body.split("href=\"/dashboard/events/evt_").nth(1).unwrap();
    let event = event.split('"').next().unwrap();
    let event = browser.get(&format!("/dashboard/events/evt_{event}")).await.ok().body;
    assert!(event.contains("failureMode") && event.contains("passthrough"));
}

#[tokio::test]
async fn an_invalid_form_keeps_its_input_and_shows_problems() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world).await;
    let fields = [
        ("name", ""),
        ("description", "kept \"as\" it is <b>"),
        ("tier", "enterprise"),
        ("rateLimit.requestsPerSecond", "many"),
        ("rateLimit.burst", "0"),
    ];
    let refused = browser.send("/dashboard/services", &fields).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    for part in [
        "id=\"name-problem\"",
        "id=\"rateLimit.requestsPerSecond-problem\"",
        "must be a whole number",
        "kept &quot;as&quot; it is &lt;b&gt;",
        "value=\"many\"",
    ] {
        assert!(refused.body.contains(part), "{part}: {}", refused.body);
    }
    let fields = [("type", "live"), ("allowedOperations.scope", "all")];
    let refused = browser.send("/dashboard/api-keys", &fields).await;
    let positions =
        ["#name", "#serviceId"].map(|place| refused.body.find(&format!("href=\"{place}\"")));
    assert!(positions[0].is_some() && positions[0] < positions[1], "in order: {positions:?}");
    world.service("billing").await;
    let taken = [("name", "billing"), ("tier", "standard")];
    let refused = browser.send("/dashboard/services", &taken).await;
    assert!(refused.body.contains("nother service has the name"));
}

#[tokio::test]
async fn a_policy_form_has_no_default_for_its_services() {
    let world = World::new().await;
    let service = world.service("billing").await;
    let mut browser = Browser::signed_in(&world).await;
    let form = browser.get("/dashboard/policies/new").await.ok().body;
    let choices: Vec<&str> = form
        .split("<input")
        .filter(|tag| tag.contains("name=\"allowedServiceIds.scope\""))
        .filter_map(|tag| tag.split('>').next())
        .collect();
    assert_eq!(choices.len(), 2, "{form}");
    assert!(choices.iter().all(|tag| !tag.contains("checked")), "{choices:?}");
    let fields = [
        ("name", "open"),
        ("destinationServiceId", service.as_str()),
        ("keyOwnership", "service_managed"),
        ("alg", "RSA-OAEP-256"),
        ("enc", "A256GCM"),
        ("allowedOperations", "protect"),
    ];
    let refused = browser.send("/dashboard/policies", &fields).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let problem = "id=\"allowedServiceIds-problem\"";
    assert!(refused.body.contains(problem), "{}", refused.body);
    let open = [fields.as_slice(), &[("allowedServiceIds.scope", "all")]].concat();
    browser.submit("/dashboard/policies", &open).await;
}

#[tokio::test]
async fn everything_is_frozen_and_unfrozen() {
    const PLACE: &str = "/dashboard/emergency";
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    let mut browser = Browser::signed_in(&world).await;
    let services = browser.get("/dashboard/services").await.ok().body;
    assert!(services.contains(&format!("href=\"{PLACE}\"")), "{services}");
    let refused = browser.send(&format!("{PLACE}/freeze"), &[("reason", "")]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let stolen = [("reason", "a stolen laptop")];
    assert_eq!(browser.submit(&format!("{PLACE}/freeze"), &stolen).await, PLACE);
    application.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
    for path in ["/dashboard", "/dashboard/services"] {
        let page = browser.get(path).await.ok().body;
        assert!(page.contains("Everything is frozen."), "{page}");
    }
    let page = browser.get(&format!("{PLACE}?done=frozen")).await.ok().body;
    assert!(page.contains("a stolen laptop") && page.contains("Unfreeze everything"), "{page}");
    assert_eq!(browser.submit(&format!("{PLACE}/unfreeze"), &[]).await, PLACE);
    application.protect(json!(1)).await.ok();
    let service = format!("/dashboard/services/{}", application.service.as_ref().unwrap());
    let frozen = [("name", "alice"), ("tier", "standard"), ("status", "frozen")];
    assert_eq!(browser.submit(&format!("{service}/edit"), &frozen).await, service);
    application.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
    let overview = browser.get("/dashboard").await.ok().body;
    assert!(overview.contains("is frozen: its operations are refused"), "{overview}");
    // Others see the state and no form.
    let auditor = world.administrator(&["auditor"]).await;
    let mut reader = Browser::new(&world);
    reader.sign_in(auditor.key.as_ref().unwrap()).await;
    let page = reader.get(PLACE).await.ok().body;
    assert!(!page.contains("Freeze everything"), "{page}");
}

#[tokio::test]
async fn a_deleted_policy_is_restored() {
    let world = World::new().await;
    let (service, other) = (world.service("billing").await, world.service("other").await);
    let body = json!({ "name": "invoices", "policyNumber": "N", "destinationServiceId": service,
        "allowedServiceIds": [service], "allowedOperations": ["protect"] });
    let create = async || world.admin().post("/admin/policies", body.clone()).await.created();
    let id = create().await.text("id");
    let mut browser = Browser::signed_in(&world).await;
    let place = format!("/dashboard/policies/{id}");
    let question = browser.get(&format!("{place}/delete")).await.ok().body;
    for truth in ["still decides who can open its envelopes", "You can restore it"] {
        assert!(question.contains(truth), "{question}");
    }
    assert!(!question.contains("cannot be restored"), "{question}");
    let list = browser.submit(&format!("{place}/delete"), &[]).await;
    let restore = format!("{place}/restore");
    let button = format!("href=\"{restore}\"");
    assert!(!browser.get(&list).await.ok().body.contains(&id));
    let deleted = browser.get("/dashboard/policies?deleted=true").await.ok().body;
    assert!(deleted.contains(&button), "{deleted}");

    create().await;
    let form = browser.get(&restore).await.ok().body;
    assert!(form.contains("value=\"N\"") && form.contains("It will be inactive"), "{form}");
    let wider = [
        ("allowedServiceIds.scope", "some"),
        ("allowedServiceIds", service.as_str()),
        ("allowedServiceIds", other.as_str()),
        ("allowedOperations", "protect"),
        ("allowedOperations", "unprotect"),
    ];
    let taken = [wider.as_slice(), &[("policyNumber", "N")]].concat();
    let refused = browser.send(&restore, &taken).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("Another policy has the number N"), "{}", refused.body);
    let stale = [wider.as_slice(), &[("policyNumber", "M"), ("revision", "1")]].concat();
    let refused = browser.send(&restore, &stale).await;
    assert!(refused.body.contains("The resource changed after you opened the page"));
    let free = [wider.as_slice(), &[("policyNumber", "M")]].concat();
    assert_eq!(browser.submit(&restore, &free).await, place);
    let page = browser.get(&format!("{place}?done=policy_restored")).await.ok().body;
    assert!(page.contains("The policy is restored and inactive."), "{page}");
    let policy = world.admin().get(&format!("/admin/policies/{id}")).await.ok().json();
    assert_eq!(policy["policyNumber"], "M");
    assert_eq!(policy["status"], "inactive");
    assert_eq!(policy["allowedServiceIds"], json!([service, other]));
    assert_eq!(policy["allowedOperations"], json!(["protect", "unprotect"]));
    assert_eq!(browser.get(&restore).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_concurrent_change_is_refused() {
    let world = World::new().await;
    let id = world.service("billing").await;
    let mut browser = Browser::signed_in(&world).await;
    let body = json!({ "name": "invoices" });
    world.admin().put(&format!("/admin/services/{id}"), body).await.ok();
    let stale = [("revision", "1"), ("name", "accounts"), ("tier", "standard")];
    let refused = browser.send(&format!("/dashboard/services/{id}/edit"), &stale).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("The resource changed after you opened the page"));
}

#[tokio::test]
async fn an_identity_is_created_and_changed_with_its_claims() {
    let world = World::new().await;
    let service = world.service("shop").await;
    let mut browser = Browser::signed_in(&world).await;
    browser.get("/dashboard/identities/new").await.ok();
    let created = browser
        .send(
            "/dashboard/identities",
            &[
                ("name", "cart"),
                ("serviceId", &service),
                ("status", "active"),
                ("allowedOperations.scope", "all"),
                ("match.issuer", "https://issuer.example"),
                ("match.claims", r#"{ "/a/b": "c", "level": 3 }"#),
            ],
        )
        .await;
    assert_eq!(created.status, StatusCode::SEE_OTHER, "{}", created.body);
    let read = async || {
        let list = world.admin().get("/admin/identities").await.ok().json();
        list["items"][0].clone()
    };
    let identity = read().await;
    let matching =
        json!({ "issuer": "https://issuer.example", "claims": { "/a/b": "c", "level": 3 } });
    assert_eq!(identity["match"], matching);
    let place = format!("/dashboard/identities/{}", identity["id"].as_str().unwrap());
    let form = browser.get(&format!("{place}/edit")).await.ok().body;
    assert!(form.contains("{&quot;/a/b&quot;:&quot;c&quot;,&quot;level&quot;:3}"), "{form}");
    let changed = browser
        .send(
            &format!("{place}/edit"),
            &[
                ("name", "cart"),
                ("status", "disabled"),
                ("allowedOperations.scope", "all"),
                ("match.issuer", "https://issuer.example"),
                ("match.subject", "job"),
            ],
        )
        .await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.body);
    let identity = read().await;
    assert_eq!(identity["match"], json!({ "issuer": "https://issuer.example", "subject": "job" }));
    assert_eq!(identity["status"], "disabled");
    let spiffe_id = "spiffe://example.org/shop/cart";
    let changed = browser
        .send(
            &format!("{place}/edit"),
            &[
                ("name", "cart"),
                ("status", "active"),
                ("allowedOperations.scope", "all"),
                ("match.spiffeId", spiffe_id),
            ],
        )
        .await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.body);
    assert_eq!(read().await["match"], json!({ "spiffeId": spiffe_id }));
    for page in [place, "/dashboard/identities".to_owned()] {
        let page = browser.get(&page).await.ok().body;
        assert!(page.contains(spiffe_id), "{page}");
    }
}
