//! What clients do with their token.

use serde_json::{Value, json};

use super::{Site, Vault, data, refused};

#[tokio::test]
async fn a_renewal_tells_what_is_left() {
    let site = Site::new().await;
    let vault = site.vault();
    for body in [Some(json!({ "increment": 0 })), Some(json!({})), None] {
        let answer = match body {
            Some(body) => vault.write("auth/token/renew-self", body).await,
            None => vault.write_nothing("auth/token/renew-self").await,
        };
        let auth = answer.ok().json()["auth"].clone();
        assert_eq!(auth["client_token"], json!(site.token));
        assert_eq!((&auth["lease_duration"], &auth["renewable"]), (&json!(900), &json!(true)));
    }
}

#[tokio::test]
async fn a_look_up_shows_no_secret() {
    let site = Site::new().await;
    let vault = site.vault();
    let answers = [
        vault.read("auth/token/lookup-self").await,
        vault.write("auth/token/lookup-self", json!({})).await,
    ];
    for answer in answers {
        assert!(!answer.body.contains(&site.token), "{}", answer.body);
        let token = data(answer);
        assert_eq!(token["id"], json!(site.key_id));
        assert_eq!((&token["ttl"], &token["creation_ttl"]), (&json!(900), &json!(900)));
        for member in [
            "accessor",
            "display_name",
            "policies",
            "creation_time",
            "issue_time",
            "explicit_max_ttl",
            "num_uses",
            "orphan",
            "path",
            "entity_id",
            "renewable",
            "type",
        ] {
            assert_ne!(token[member], Value::Null, "{member}");
        }
    }
}

#[tokio::test]
async fn revoking_a_token_changes_nothing() {
    let site = Site::new().await;
    let vault = site.vault();
    vault.write_nothing("auth/token/revoke-self").await.gone();
    vault.read("auth/token/lookup-self").await.ok();
}

#[tokio::test]
async fn a_wrong_token_is_denied_everywhere() {
    let site = Site::new().await;
    for token in ["", "nonsense", "hvs.CAESIJ", "sk_live_0000"] {
        let vault = Vault::of(&site.world, token);
        for path in ["auth/token/lookup-self", "transit/keys?list=true"] {
            refused(&vault.read(path).await, 403, &["permission denied"]);
        }
        for path in ["auth/token/revoke-self", "transit/encrypt/a", "transit/random"] {
            let answer = vault.write(path, json!({ "plaintext": "" })).await;
            refused(&answer, 403, &["permission denied"]);
        }
    }
}
