//! What each role sees in the dashboard.

use axum::http::StatusCode;
use serde_json::json;

use super::Browser;
use testkit::World;

const NAVIGATION: [(&str, &str); 10] = [
    ("/dashboard", "owner custodian policy-admin auditor"),
    ("/dashboard/services", "owner custodian policy-admin auditor"),
    ("/dashboard/policies", "owner custodian policy-admin auditor"),
    ("/dashboard/keys", "owner custodian policy-admin auditor"),
    ("/dashboard/api-keys", "owner policy-admin"),
    ("/dashboard/identities", "owner policy-admin"),
    ("/dashboard/people", "owner auditor"),
    ("/dashboard/changes", "owner custodian policy-admin auditor"),
    ("/dashboard/audit", "owner auditor"),
    ("/dashboard/events", "owner auditor"),
];

/// The pages that begin a change, and the pages that link to them.
const FORMS: [(&str, &str, &str); 14] = [
    ("/dashboard/services", "/dashboard/services/new", "owner policy-admin"),
    ("SERVICE", "SERVICE/edit", "owner policy-admin"),
    ("SERVICE", "SERVICE/delete", "owner policy-admin"),
    ("/dashboard/policies", "/dashboard/policies/new", "owner policy-admin"),
    ("POLICY", "POLICY/edit", "owner policy-admin"),
    ("POLICY", "POLICY/delete", "owner policy-admin"),
    ("POLICY", "POLICY/state", "owner policy-admin"),
    ("/dashboard/policies?deleted=true", "DELETED/restore", "owner policy-admin"),
    ("/dashboard/keys", "/dashboard/keys/new", "owner custodian"),
    ("/dashboard/keys", "/dashboard/keys/import", "owner custodian"),
    ("/dashboard/api-keys", "/dashboard/api-keys/new", "owner policy-admin"),
    ("/dashboard/identities", "/dashboard/identities/new", "owner policy-admin"),
    ("/dashboard/people", "/dashboard/people/new", "owner"),
    ("PERSON", "PERSON/lock", "owner"),
];

const ROLES: [&str; 4] = ["owner", "custodian", "policy-admin", "auditor"];

async fn signed_in<'w>(world: &'w World, role: &str) -> Browser<'w> {
    let key = world.administrator(&[role]).await.key.expect("a key");
    let mut browser = Browser::new(world);
    let answer = browser.sign_in(&key).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{role}");
    browser
}

fn has(roles: &str, role: &str) -> bool {
    roles.split(' ').any(|it| it == role)
}

#[tokio::test]
async fn the_navigation_shows_the_pages_of_the_role() {
    let world = World::new().await;
    for role in ROLES {
        let mut browser = signed_in(&world, role).await;
        let start = browser.get("/dashboard").await.ok().body;
        assert!(start.contains(&format!(">{role}</span>")), "{role}");
        for (page, roles) in NAVIGATION {
            let link = format!("<li><a href=\"{page}\"");
            assert_eq!(start.contains(&link), has(roles, role), "{role}: {page}");
            let expected = if has(roles, role) { 200 } else { 403 };
            assert_eq!(browser.get(page).await.status, expected, "{role}: {page}");
        }
    }
}

#[tokio::test]
async fn pages_offer_only_the_changes_of_the_role() {
    let world = World::new().await;
    let service = world.service("billing").await;
    let number = world.policy(&service).await;
    let policy = world.admin().get(&format!("/admin/policies/{number}")).await;
    let policy = policy.ok().text("id");
    let number = world.policy(&service).await;
    let deleted = world.admin().get(&format!("/admin/policies/{number}")).await.ok().text("id");
    world.admin().delete(&format!("/admin/policies/{number}")).await.gone();
    let body = json!({ "name": "n", "type": "admin", "person": "ada" });
    world.admin().post("/admin/api-keys", body).await.created();
    let people = world.admin().get("/admin/people").await.ok().json();
    let person = people["items"][0]["id"].as_str().expect("a person").to_owned();
    let path = |text: &str| {
        let text = text.replace("PERSON", &format!("/dashboard/people/{person}"));
        let text = text.replace("SERVICE", &format!("/dashboard/services/{service}"));
        let text = text.replace("DELETED", &format!("/dashboard/policies/{deleted}"));
        text.replace("POLICY", &format!("/dashboard/policies/{policy}"))
    };
    for role in ROLES {
        let mut browser = signed_in(&world, role).await;
        for (page, form, roles) in FORMS {
            let (page, form) = (path(page), path(form));
            let expected = has(roles, role);
            let shown = browser.get(&page).await.body;
            assert_eq!(shown.contains(&format!("\"{form}\"")), expected, "{role}: {form}");
            let status = browser.get(&form).await.status;
            assert_eq!(status, if expected { 200 } else { 403 }, "{role}: {form}");
        }
    }
}

#[tokio::test]
async fn forms_without_the_role_are_refused_and_recorded() {
    let world = World::new().await;
    let mut auditor = signed_in(&world, "auditor").await;
    auditor.get("/dashboard/services").await.ok();
    for (path, fields) in [
        ("/dashboard/services", vec![("name", "x"), ("tier", "standard")]),
        ("/dashboard/policies", vec![("name", "x")]),
        ("/dashboard/keys", vec![("from", "generated")]),
        ("/dashboard/api-keys", vec![("name", "x"), ("type", "admin"), ("roles", "owner")]),
    ] {
        let refused = auditor.send(path, &fields).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path}");
        assert!(refused.body.contains("Your roles do not allow this"), "{path}");
    }
    let events = world.admin().get("/admin/audit/management?action=refuse").await;
    let events = events.ok().json();
    assert_eq!(events["items"].as_array().expect("items").len(), 4);
}

#[tokio::test]
async fn only_owners_create_admin_keys() {
    let world = World::new().await;
    let mut policy_admin = signed_in(&world, "policy-admin").await;
    let form = policy_admin.get("/dashboard/api-keys/new").await.ok().body;
    for hidden in ["value=\"admin\"", "name=\"roles\"", "name=\"person\""] {
        assert!(!form.contains(hidden), "{hidden}");
    }
    let refused = policy_admin
        .send("/dashboard/api-keys", &[("name", "x"), ("type", "admin"), ("roles", "owner")])
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);

    let mut owner = signed_in(&world, "owner").await;
    owner.get("/dashboard/api-keys/new").await.ok();
    let form = [("name", "vault"), ("type", "admin"), ("person", "Ada")];
    let refused = owner.send("/dashboard/api-keys", &form).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("must have at least one role"));
    let form = [&form[..], &[("roles", "custodian")]].concat();
    let created = owner.send("/dashboard/api-keys", &form).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    let listed = world.admin().get("/admin/api-keys?name=vault").await.ok();
    let key = &listed.json()["items"][0];
    assert_eq!(key["roles"], json!(["custodian"]));
    assert_eq!(key["person"], json!("Ada"));
    let id = key["id"].as_str().expect("an id");
    let place = format!("/dashboard/api-keys/{id}");
    let refused = policy_admin.get(&place).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let shown = owner.get(&place).await.ok().body;
    assert!(shown.contains("custodian") && shown.contains("Ada"));
}
