//! Processes that die in the middle of something.

use faulty_token::Fault;
use hsm::{Algorithm, ErrorKind, KeyRef, NewKey, Purpose};

use super::{WORKER, hmac_key};
use crate::support::alone;

const ID: &[u8] = b"made by a process that dies";

#[test]
fn a_process_that_dies_before_key_generation_leaves_nothing() {
    alone(|rig| async move {
        if rig.is_doomed() {
            return die_at("C_GenerateKeyPair", &rig).await;
        }
        assert!(!rig.doom().success(), "it did not die");
        rig.faults.rules(&[]);
        let token = rig.open().await;
        hmac_key(&token).await;
        let error = token.find(&KeyRef::private(ID)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::KeyMissing);
        token.generate(order()).await.unwrap();
        token.close().await;
    });
}

#[test]
fn a_process_that_dies_after_key_generation_leaves_one_key_that_is_found_and_destroyed() {
    alone(|rig| async move {
        if rig.is_doomed() {
            // What was made is read back at once.
            return die_at("C_GetAttributeValue", &rig).await;
        }
        assert!(!rig.doom().success(), "it did not die");
        rig.faults.rules(&[]);
        let token = rig.open().await;
        hmac_key(&token).await;
        let key = KeyRef::private(ID);
        let objects = token.inventory().await.unwrap();
        assert!(
            objects
                .iter()
                .any(|object| object.key == key && !object.internal)
        );
        let error = token.generate(order()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        token.destroy(&key).await.unwrap();
        token.generate(order()).await.unwrap();
        token.close().await;
    });
}

async fn die_at(function: &str, rig: &crate::support::Rig) {
    let token = rig.open().await;
    rig.faults
        .rules(&[Fault::Abort.on(function).thread(WORKER)]);
    token.generate(order()).await.unwrap();
    std::process::exit(0);
}

fn order() -> NewKey {
    NewKey {
        id: ID.to_vec(),
        label: "for tests".to_owned(),
        algorithm: Algorithm::P256,
        purpose: Purpose::Envelope,
    }
}
