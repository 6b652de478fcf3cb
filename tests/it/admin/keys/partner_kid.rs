//! `partnerKid`: the identifier that partners use for a key.

use serde_json::{Value, json};

use testkit::{World, header_of, jwe, rewrite};

/// The P-256 key of RFC 7517, appendix A.1.
fn jwk() -> Value {
    json!({
        "kty": "EC", "crv": "P-256",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    })
}

#[tokio::test]
async fn a_partner_kid_is_stated_or_taken_from_the_jwk() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("partner").await;
    let mut with_kid = jwk();
    with_kid["kid"] = json!("visa-MLE-123");
    for (members, expected) in [
        (json!({ "publicKey": jwk() }), json!(null)),
        (json!({ "publicKey": with_kid }), json!("visa-MLE-123")),
        (json!({ "publicKey": with_kid, "partnerKid": "a b~" }), json!("a b~")),
        (json!({ "publicKey": with_kid, "partnerKid": null }), json!(null)),
        (json!({ "generate": true, "algorithm": "P-256", "partnerKid": "2026" }), json!("2026")),
    ] {
        let mut body = members;
        body["serviceId"] = json!(service);
        body["activate"] = json!(false);
        let made = admin.post("/admin/keys", body).await.created();
        assert_eq!(made.json()["partnerKid"], expected);
        // It is fixed, and may be stated as it is.
        let path = made.header("location");
        admin.put(path, json!({ "partnerKid": expected })).await.ok();
        let refused = admin.patch(path, json!({ "partnerKid": "other" })).await;
        refused.invalid(&[("partnerKid", "conflict")]);
    }
}

#[tokio::test]
async fn a_partner_kid_has_a_form() {
    let world = World::new().await;
    let service = world.service("partner").await;
    let with = async |member: &str, kid: Value| {
        let mut body = json!({ "serviceId": service, "publicKey": jwk() });
        match member {
            "partnerKid" => body["partnerKid"] = kid,
            _ => body["publicKey"]["kid"] = kid,
        }
        world.admin().post("/admin/keys", body).await
    };
    for member in ["partnerKid", "publicKey.kid"] {
        for (kid, code) in [
            (json!(""), "length"),
            (json!("x".repeat(129)), "length"),
            (json!("grün"), "format"),
            (json!("a\tb"), "format"),
            (json!("key_01h455vb4pex5vsknk084sn02q"), "format"),
            (json!("key_"), "format"),
            (json!(5), "type"),
        ] {
            with(member, kid).await.invalid(&[(member, code)]);
        }
        with(member, json!(format!("{member}{}", "~".repeat(128 - member.len())))).await.created();
    }
}

#[tokio::test]
async fn a_partner_kid_names_one_key_of_a_service() {
    let world = World::new().await;
    let admin = world.admin();
    let body = |service: &str| {
        json!({ "serviceId": service, "algorithm": "AES-256", "generate": true,
            "partnerKid": "ours" })
    };
    let [service, other] = [world.service("one").await, world.service("other").await];
    let made = admin.post("/admin/keys", body(&service)).await.created();
    admin.post("/admin/keys", body(&other)).await.created();
    let refused = admin.post("/admin/keys", body(&service)).await;
    refused.refused(409, "CONFLICT");
    // A deleted key can still be restored, so its identifier is free only once it is destroyed.
    admin.delete(made.header("location")).await.gone();
    let refused = admin.post("/admin/keys", body(&service)).await;
    refused.refused(409, "CONFLICT");
    let destroyed = "UPDATE keys SET status = 'destroyed' WHERE status = 'pending_destruction'";
    rewrite(&world.pool, destroyed).await;
    admin.post("/admin/keys", body(&service)).await.created();
}

#[tokio::test]
async fn envelopes_and_key_sets_name_a_key_by_its_partner_kid() {
    let world = World::new().await;
    let admin = world.admin();
    let destination = world.some_destination().await;
    let publish = json!({ "publishKeys": true });
    let service = format!("/admin/services/{}", destination.service);
    admin.patch(&service, publish).await.ok();
    let generate = |kid: &str| {
        json!({ "serviceId": destination.service, "algorithm": "P-256", "generate": true,
            "partnerKid": kid })
    };
    admin.post("/admin/keys", generate("first")).await.created();
    let shop = world.application("shop").bound_to(&destination.policy).await;
    let envelope = jwe(&shop.protect(json!("card")).await);
    assert_eq!(header_of(&envelope)["kid"], "first");
    let path = format!("/.well-known/jwks/{}", destination.service);
    let kids = world.anonymous().get(&path).await.ok().json();
    assert_eq!(kids["keys"][0]["kid"], "first");

    // The key is retired now. Without its identifier the active key would fail to open the envelope.
    admin.post("/admin/keys", generate("second")).await.created();
    let opened = shop.unprotect(&envelope).await.ok();
    assert_eq!(opened.json()["payload"], "card");
    let next = jwe(&shop.protect(json!("card")).await);
    assert_eq!(header_of(&next)["kid"], "second");
    shop.unprotect(&next).await.ok();
}
