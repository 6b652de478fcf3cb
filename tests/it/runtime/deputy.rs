//! The confused deputy: three applications, three services, all operations. Nobody reaches what is
//! another's, whichever way they name it.

use serde_json::{Value, json};

use crate::support::{Destination, Person, UNPROTECT, World, jwe};

/// A service's keys, and what was made with them.
struct House<'w> {
    owner: Person<'w>,
    destination: Destination,
    jwe: Value,
    sealed: Value,
    signed: Value,
}

async fn house<'w>(world: &'w World, name: &str) -> House<'w> {
    let destination = world.destination(name, "P-256", "ECDH-ES+A256KW").await;
    let owner = world
        .application(&format!("owner of {name}"))
        .bound_to(&destination.policy)
        .await;
    let change = json!({ "allowedServiceIds": [owner.service] });
    world.change_policy(&destination, change).await;
    let service = owner.service.clone().unwrap();
    world.key(&service, "data", "AES-256").await;
    world.key(&service, "sig", "Ed25519").await;
    let jwe = jwe(&owner.protect(json!(name)).await);
    let order = json!({ "data": name, "algorithm": "AES-256-GCM" });
    let sealed = owner.operate("encrypt", order).await.ok().json()["result"].clone();
    let order = json!({ "data": name, "algorithm": "Ed25519" });
    let signed = owner.operate("sign", order).await.ok().json()["result"].clone();
    House {
        owner,
        destination,
        jwe,
        sealed,
        signed,
    }
}

#[tokio::test]
async fn nobody_reaches_what_is_anothers() {
    let world = World::new().await;
    let houses = [
        house(&world, "one").await,
        house(&world, "two").await,
        house(&world, "three").await,
    ];
    let mut grid = String::new();
    for (who, guest) in houses.iter().enumerate() {
        for (whose, host) in houses.iter().enumerate() {
            let asked = ask(&guest.owner, host).await;
            grid.push_str(&format!(
                "application {} at service {}:",
                who + 1,
                whose + 1
            ));
            for (operation, outcome) in asked {
                grid.push_str(&format!(" {operation} {outcome};"));
            }
            grid.push('\n');
        }
    }
    insta::assert_snapshot!(grid);
}

/// Every operation on what is the host's.
async fn ask(guest: &Person<'_>, host: &House<'_>) -> Vec<(&'static str, String)> {
    let policy = &host.destination.policy;
    let unprotect = json!({ "jwe": host.jwe, "policyNumber": policy });
    let key = |of: &Value| of["keyId"].clone();
    let encrypt = json!({ "data": 1, "algorithm": "AES-256-GCM", "keyId": key(&host.sealed) });
    let sign = json!({ "data": 1, "algorithm": "Ed25519", "keyId": key(&host.signed) });
    let mut verify = host.signed.clone();
    verify["data"] = json!("x");
    // The envelope key is nobody's to name.
    let misused = json!({ "data": 1, "algorithm": "ECDSA-SHA256", "keyId": host.destination.key });
    let answers = [
        ("protect", guest.protect_under(policy, json!(1)).await),
        ("unprotect", guest.post(UNPROTECT, unprotect).await),
        (
            "unprotect under own policy",
            guest.unprotect(&host.jwe).await,
        ),
        ("encrypt", guest.operate("encrypt", encrypt).await),
        (
            "decrypt",
            guest.operate("decrypt", host.sealed.clone()).await,
        ),
        ("sign", guest.operate("sign", sign).await),
        ("verify", guest.operate("verify", verify).await),
        (
            "sign with the envelope key",
            guest.operate("sign", misused).await,
        ),
    ];
    let outcome = |answer: &crate::support::Answer| {
        let code = answer.json()["error"]["code"].as_str().map(str::to_owned);
        code.unwrap_or_else(|| answer.status.as_u16().to_string())
    };
    answers
        .iter()
        .map(|(operation, answer)| (*operation, outcome(answer)))
        .collect()
}
