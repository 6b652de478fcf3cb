//! Envelopes of Nimbus JOSE+JWT, which `tests/outside/nimbus/Nimbus.java` made. `./dev verify nimbus` exchanges
//! new ones.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE;
use serde_json::{Value, json};

use testkit::{UNPROTECT, World};

#[tokio::test]
async fn recorded_envelopes_of_nimbus_are_opened() {
    let world = World::new().await;
    let recorded = include_str!("nimbus.json");
    let recorded: Value = serde_json::from_str(recorded).unwrap();
    let mut outside = 0;
    for (place, case) in recorded["envelopes"].as_array().unwrap().iter().enumerate() {
        let service = world.service(&format!("partner {place}")).await;
        let key = json!({ "serviceId": service, "privateKey": case["privateKey"] });
        world.admin().post("/admin/keys", key).await.created();
        let policy = world.policy(&service).await;
        let alice = world.application(&format!("alice {place}")).bound_to(&policy);
        let alice = alice.await;

        let jwe = &case["jwe"];
        let mut forms = vec![json!({ "jwe": jwe })];
        forms.push(json!({ "protectedPayload": BASE64_URL_SAFE.encode(jwe.to_string()) }));
        if let Some(unprotected) = jwe.get("unprotected") {
            let mut moved = jwe.clone();
            moved["header"] = unprotected.clone();
            moved.as_object_mut().unwrap().remove("unprotected");
            forms.push(json!({ "jwe": moved }));
            outside += 1;
        }
        for form in forms {
            let opened = alice.post(UNPROTECT, form).await.ok();
            let payload = format!("\"payload\":{}}}", case["plaintext"].as_str().unwrap());
            assert!(opened.body.ends_with(&payload), "{}", opened.body);
        }
    }
    assert_eq!(outside, 3, "envelopes with epk outside of protected");
}
