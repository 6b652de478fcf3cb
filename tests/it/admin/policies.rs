//! `/admin/policies`.

use serde_json::{Value, json};

use testkit::World;

#[tokio::test]
async fn a_policy_is_created_with_defaults_and_read_by_id_and_by_number() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let body = json!({ "name": "invoices", "destinationServiceId": service,
        "allowedServiceIds": ["*"] });
    let created = admin.post("/admin/policies", body).await.created();
    let expected = json!({
        "id": created.json()["id"],
        "policyNumber": "POL-000001",
        "name": "invoices",
        "description": null,
        "destinationServiceId": service,
        "keyOwnership": "service_managed",
        "alg": "RSA-OAEP-256",
        "enc": "A256GCM",
        "status": "active",
        "failureMode": "error",
        "allowedServiceIds": ["*"],
        "allowedOperations": ["protect", "unprotect", "rewrap"],
        "contextRequired": false,
        "requireBinding": false,
        "headers": null,
        "createdAt": created.json()["createdAt"],
        "updatedAt": created.json()["createdAt"],
    });
    assert_eq!(created.json(), expected);
    let by_id = admin.get(created.header("location")).await.ok();
    let by_number = admin.get("/admin/policies/POL-000001").await.ok();
    assert_eq!(by_id.json(), expected);
    assert_eq!(by_number.json(), expected);
}

#[tokio::test]
async fn generated_numbers_skip_explicit_numbers() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let with_number = |number: &str| {
        json!({ "name": "n", "destinationServiceId": service,
        "allowedServiceIds": [service], "policyNumber": number })
    };
    let path = "/admin/policies";
    admin.post(path, with_number("POL-000001")).await.created();
    admin.post(path, with_number("POL-000002")).await.created();
    assert_eq!(world.policy(&service).await, "POL-000003");
    let again = admin.post(path, with_number("POL-000002")).await;
    again.refused(409, "CONFLICT");
    let renamed = json!({ "policyNumber": "POL-000001" });
    let renamed = admin.put("/admin/policies/POL-000003", renamed).await;
    renamed.refused(409, "CONFLICT");
}

/// In a path or a request, such a number would stand for another policy, or for none.
#[tokio::test]
async fn a_number_that_reads_as_an_id_or_as_a_dot_segment_is_refused() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    world.policy(&service).await;
    for number in ["pol_01h455vb4pex5vsknk084sn02q", "pol_", ".", "..", "..."] {
        let body = json!({ "name": "n", "destinationServiceId": service,
            "allowedServiceIds": [service], "policyNumber": number });
        let refused = admin.post("/admin/policies", body).await;
        refused.invalid(&[("policyNumber", "format")]);
        let renamed = json!({ "policyNumber": number });
        let refused = admin.patch("/admin/policies/POL-000001", renamed).await;
        refused.invalid(&[("policyNumber", "format")]);
    }
    let renamed = json!({ "policyNumber": "a..pol_" });
    admin.patch("/admin/policies/POL-000001", renamed).await.ok();
}

#[tokio::test]
async fn all_errors_of_a_body_are_reported_at_once() {
    let world = World::new().await;
    let admin = world.admin();
    let body = json!({
        "policyNumber": "a/b", "description": "x".repeat(1_001), "keyOwnership": "mine",
        "destinationServiceId": "svc_01h455vb4pex5vsknk084sn02q", "alg": "RSA1_5", "enc": 5,
        "status": "sleeping", "failureMode": "Drop", "allowedServiceIds": ["x"],
        "allowedOperations": ["protect", "sign"], "more": 1,
    });
    admin.post("/admin/policies", body).await.invalid(&[
        ("policyNumber", "format"),
        ("name", "required"),
        ("description", "length"),
        ("keyOwnership", "unsupported"),
        ("destinationServiceId", "unknown"),
        ("alg", "unsupported"),
        ("enc", "type"),
        ("status", "unsupported"),
        ("failureMode", "unsupported"),
        ("allowedServiceIds[0]", "unknown"),
        ("allowedOperations[1]", "unsupported"),
        ("more", "unknown"),
    ]);
}

#[tokio::test]
async fn a_policy_requires_its_allowed_services() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let body = |allowed: Value| {
        let mut body = json!({ "name": "n", "destinationServiceId": service });
        if !allowed.is_boolean() {
            body["allowedServiceIds"] = allowed;
        }
        body
    };
    for (allowed, code) in [
        (json!(false), "required"),
        (json!(null), "required"),
        (json!([]), "length"),
        (json!(["*", service]), "conflict"),
        (json!([service, "*"]), "conflict"),
        (json!("*"), "type"),
    ] {
        let refused = admin.post("/admin/policies", body(allowed)).await;
        refused.invalid(&[("allowedServiceIds", code)]);
    }
    let created = admin.post("/admin/policies", body(json!(["*"]))).await;
    let path = format!("/admin/policies/{}", created.created().text("id"));
    let null = json!({ "allowedServiceIds": null });
    let kept = admin.put(&path, null.clone()).await.ok();
    assert_eq!(kept.json()["allowedServiceIds"], json!(["*"]));
    let refused = admin.patch(&path, null).await;
    refused.invalid(&[("allowedServiceIds", "type")]);
    let only = json!({ "allowedServiceIds": [service] });
    admin.put(&path, only).await.ok();
    let renamed = admin.put(&path, json!({ "name": "m" })).await.ok();
    assert_eq!(renamed.json()["allowedServiceIds"], json!([service]));
}

#[tokio::test]
async fn a_deleted_service_cannot_be_referred_to() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let other = world.service("other").await;
    admin.delete(&format!("/admin/services/{other}")).await.gone();
    let body = json!({
        "name": "n", "destinationServiceId": service, "allowedServiceIds": [service, other],
    });
    let refused = admin.post("/admin/policies", body).await;
    refused.invalid(&[("allowedServiceIds[1]", "unknown")]);
}

#[tokio::test]
async fn a_response_can_be_put_back_and_absent_members_stay() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let whole = json!({
        "name": "n", "policyNumber": "invoices", "destinationServiceId": service,
        "keyOwnership": "destination_managed", "alg": "ECDH-ES+A128KW", "enc": "A128GCM",
        "status": "inactive", "failureMode": "drop", "allowedServiceIds": [service],
        "allowedOperations": ["protect"], "description": "d",
    });
    let created = admin.post("/admin/policies", whole).await.created();
    let same = admin.put("/admin/policies/invoices", created.json()).await.ok();
    assert_eq!(same.json(), created.json());
    let change = json!({ "status": "active", "allowedServiceIds": ["*"] });
    let changed = admin.put("/admin/policies/invoices", change).await.ok();
    let mut expected = created.json();
    expected["status"] = json!("active");
    expected["allowedServiceIds"] = json!(["*"]);
    expected["updatedAt"] = changed.json()["updatedAt"].clone();
    assert_eq!(changed.json(), expected);
}

#[tokio::test]
async fn a_policy_that_an_api_key_is_bound_to_cannot_be_deleted() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let number = world.policy(&service).await;
    let application = world.application("shop").bound_to(&number).await;
    let path = format!("/admin/policies/{number}");
    let refused = admin.delete(&path).await.refused(409, "CONFLICT");
    assert!(refused.message().contains("API key \"shop\" (ak_"));
    world.revoke(&application).await;
    admin.delete(&path).await.gone();
    admin.get(&path).await.refused(404, "POLICY_NOT_FOUND");
}

#[tokio::test]
async fn a_list_is_filtered_by_status_and_destination() {
    let world = World::new().await;
    let admin = world.admin();
    let (billing, other) = (world.service("billing").await, world.service("other").await);
    let first = world.policy(&billing).await;
    let second = world.policy(&other).await;
    let inactive = json!({ "status": "inactive" });
    admin.put(&format!("/admin/policies/{first}"), inactive).await.ok();
    let numbers = async |query: &str| {
        let list = admin.get(&format!("/admin/policies?{query}")).await.ok();
        let list = list.json()["items"].clone();
        let items = list.as_array().unwrap().iter();
        items.map(|item| item["policyNumber"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(numbers("").await, [first.clone(), second.clone()]);
    assert_eq!(numbers("status=inactive").await, [first]);
    let of_other = format!("destinationServiceId={other}");
    assert_eq!(numbers(&of_other).await, [second]);
    let refused = admin.get("/admin/policies?status=unknown").await;
    refused.invalid(&[("status", "unsupported")]);
}

#[tokio::test]
async fn only_policies_of_destination_managed_keys_have_headers() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("partner").await;
    let policy = |ownership: &str, headers: Value| {
        json!({ "name": "n", "destinationServiceId": service, "allowedServiceIds": ["*"],
            "keyOwnership": ownership, "headers": headers })
    };
    let all = json!({ "typ": "JOSE", "iat": true, "cty": "json" });
    let refused = policy("service_managed", all.clone());
    let refused = admin.post("/admin/policies", refused).await;
    refused.invalid(&[("headers", "unsupported")]);
    let accepted = policy("service_managed", json!(null));
    admin.post("/admin/policies", accepted).await.created();
    for (headers, problems) in [
        (json!("JOSE"), &[("headers", "type")][..]),
        (
            json!({ "typ": "", "iat": 1, "cty": "JWT", "alg": "none" }),
            &[
                ("headers.typ", "length"),
                ("headers.iat", "type"),
                ("headers.cty", "unsupported"),
                ("headers.alg", "unknown"),
            ],
        ),
        (json!({ "typ": "grün" }), &[("headers.typ", "format")]),
    ] {
        let refused = policy("destination_managed", headers);
        admin.post("/admin/policies", refused).await.invalid(problems);
    }

    let made = policy("destination_managed", all.clone());
    let made = admin.post("/admin/policies", made).await.created();
    assert_eq!(made.json()["headers"], all);
    let path = made.header("location");
    let to_service = json!({ "keyOwnership": "service_managed" });
    let refused = admin.patch(path, to_service).await;
    refused.invalid(&[("headers", "unsupported")]);
    // The object is replaced and not merged.
    let part = admin.patch(path, json!({ "headers": { "iat": true } })).await.ok();
    let expected = json!({ "typ": null, "iat": true, "cty": null });
    assert_eq!(part.json()["headers"], expected);
    let kept = admin.put(path, json!({ "name": "m" })).await.ok();
    assert_eq!(kept.json()["headers"], expected);
    let none = json!({ "headers": null, "keyOwnership": "service_managed" });
    let none = admin.patch(path, none).await.ok();
    assert_eq!(none.json()["headers"], json!(null));
}
