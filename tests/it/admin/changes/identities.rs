//! Matches of identities that are given up.

use engine::change_kind::ChangeKind;
use serde_json::{Value, json};

use super::{Office, approve, proposed, status};
use testkit::Client;

const IDENTITIES: &str = "/admin/identities";

/// An identity that matches this, created without approval. Returns its path.
async fn identity(office: &Office, service: &str, matching: &Value) -> String {
    let body = json!({ "name": "n", "serviceId": service, "match": matching });
    let created = office.open.admin().post(IDENTITIES, body).await.created();
    created.header("location").to_owned()
}

/// Deletes the identity without approval, if it is still there.
async fn remove(office: &Office, path: &str) {
    let gone = office.open.admin().delete(path).await;
    assert!(matches!(gone.status.as_u16(), 204 | 404), "{}", gone.body);
}

fn token(members: Value) -> Value {
    let Value::Object(mut rule) = members else {
        panic!("no object: {members}");
    };
    rule.insert("issuer".to_owned(), json!("https://issuer.example"));
    Value::Object(rule)
}

fn spiffe(name: &str) -> Value {
    json!({ "spiffeId": format!("spiffe://example.org/{name}") })
}

fn certificate(number: u8) -> Value {
    json!({ "certificateSha256": format!("{number:064x}") })
}

#[tokio::test]
async fn giving_up_a_match_is_proposed_if_another_identity_can_overlap_it() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("shop").await;
    let cart = token(json!({ "subject": "cart" }));
    let shop = token(json!({ "claims": { "team": "shop" } }));
    let table = [
        (cart.clone(), cart.clone(), true),
        (cart.clone(), token(json!({ "subject": "till" })), false),
        (cart.clone(), shop.clone(), true),
        (shop.clone(), cart.clone(), true),
        // The claim of a token can be an array with both.
        (shop.clone(), token(json!({ "claims": { "team": "bank" } })), true),
        (
            token(json!({ "subject": "cart", "claims": { "team": "shop" } })),
            token(json!({ "subject": "till", "claims": { "team": "shop" } })),
            false,
        ),
        (shop.clone(), token(json!({ "claims": { "env": "test" } })), true),
        (cart.clone(), json!({ "issuer": "https://other.example", "subject": "cart" }), false),
        (cart.clone(), spiffe("cart"), false),
        (spiffe("cart"), spiffe("till"), false),
        (spiffe("cart"), certificate(1), true),
        (certificate(1), spiffe("cart"), true),
        (certificate(1), certificate(1), true),
        (certificate(1), certificate(2), false),
    ];
    for (own, other, overlaps) in table {
        for disabled in [false, true] {
            let note = format!("{own} {other} {disabled}");
            let path = identity(&office, &service, &own).await;
            let rival = identity(&office, &service, &other).await;
            if disabled {
                ada.patch(&rival, json!({ "status": "disabled" })).await.ok();
            }
            let answer = ada.delete(&path).await;
            if overlaps {
                assert_eq!(proposed(&answer)["action"], json!(["credential.open"]), "{note}");
                // Disabling does not give up anything.
                ada.patch(&path, json!({ "status": "disabled" })).await.ok();
            } else {
                assert_eq!(answer.status, 204, "{note}");
            }
            for path in [&path, &rival] {
                remove(&office, path).await;
            }
        }
    }
}

#[tokio::test]
async fn narrowing_a_match_is_proposed_if_another_identity_can_overlap_it() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("shop").await;
    let broad = token(json!({ "claims": { "team": "shop" } }));
    let narrow =
        json!({ "match": token(json!({ "subject": "cart", "claims": { "team": "shop" } })) });
    let narrowed = async |path: &str| {
        [ada.put(path, narrow.clone()).await, ada.patch(path, narrow.clone()).await]
    };
    let path = identity(&office, &service, &broad).await;
    for answer in narrowed(&path).await {
        answer.ok();
    }
    remove(&office, &path).await;
    let rival = identity(&office, &service, &token(json!({ "subject": "till" }))).await;
    let path = identity(&office, &service, &broad).await;
    for answer in narrowed(&path).await {
        assert_eq!(proposed(&answer)["action"], json!(["credential.open"]));
    }
    let renamed = json!({ "name": "other", "allowedOperations": ["sign"], "match": broad });
    ada.patch(&path, renamed).await.ok();
    // A deleted identity matches nothing.
    remove(&office, &rival).await;
    for answer in narrowed(&path).await {
        answer.ok();
    }
}

#[tokio::test]
async fn an_approved_deletion_of_an_identity_is_made() {
    let office = Office::requiring(&[ChangeKind::CredentialOpen], 1).await;
    let [ada, bob] = office.two_owners().await;
    let service = office.open.service("shop").await;
    let cart = token(json!({ "subject": "cart" }));
    let blocking = identity(&office, &service, &cart).await;
    ada.patch(&blocking, json!({ "status": "disabled" })).await.ok();
    let rival = identity(&office, &service, &cart).await;
    let change = proposed(&ada.delete(&blocking).await);
    assert_eq!(change["summary"], "Delete the identity \u{201c}n\u{201d}");
    assert_eq!(change["after"], json!(null));
    office.open.admin().get(&blocking).await.ok();
    approve(&bob, &change).await.ok();
    assert_eq!(status(&ada, &change).await, "applied");
    ada.get(&blocking).await.refused(404, "IDENTITY_NOT_FOUND");
    // The other one has no rival any more.
    ada.delete(&rival).await.gone();
}

/// An identity that somebody hid in the database could come back.
#[tokio::test]
async fn an_identity_whose_row_does_not_count_can_overlap_any_other() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("shop").await;
    let path = identity(&office, &service, &token(json!({ "subject": "cart" }))).await;
    let hidden = identity(&office, &service, &token(json!({ "subject": "till" }))).await;
    let delete = async |client: &Client<'_>| client.delete(&path).await;
    for sql in [
        "UPDATE identities SET seal = NULL WHERE match->>'subject' = 'till'",
        "DELETE FROM identities WHERE match->>'subject' = 'till'",
    ] {
        sqlx::query(sql).execute(&office.open.pool).await.expect("a change");
        proposed(&delete(&ada).await);
    }
    office.open.admin().get(&hidden).await.refused(404, "IDENTITY_NOT_FOUND");
}
