//! `age-plugin-sealward` with a running service. The tests are its age client.

mod failures;
mod plugin;

use serde_json::json;
use testkit::{Destination, UNPROTECT};

use self::plugin::{Plugin, copy};
use super::client::Served;

const FILE_KEY: &[u8] = b"YELLOW SUBMARINE";

/// A service, and a user who can open all files.
struct Files {
    served: Served,
    api_key: String,
    plugin: Plugin,
}

impl Files {
    async fn new() -> Self {
        let served = Served::new().await;
        let api_key = served.world.application("alice").await.key.clone().expect("its key");
        Self { plugin: Plugin::of(&api_key), served, api_key }
    }

    /// A service with a policy.
    async fn with_policy() -> (Self, Destination) {
        let files = Self::new().await;
        let destination = files.served.world.some_destination().await;
        (files, destination)
    }

    /// What a command prints about a policy.
    fn print(&self, command: &str, policy: &str) -> String {
        let arguments = [command, "--url", &self.served.url(), "--policy", policy];
        self.plugin.run(&arguments).success().stdout
    }

    fn recipient(&self, destination: &Destination) -> String {
        self.print("recipient", &destination.policy).trim_end().to_owned()
    }

    fn identity(&self, destination: &Destination) -> String {
        let file = self.print("identity", &destination.policy);
        file.lines().last().expect("a line").to_owned()
    }

    /// The paths of the operations in the audit log.
    async fn recorded(&self) -> Vec<String> {
        let sql = "SELECT endpoint FROM crypto_operations_audit";
        let rows = sqlx::query_scalar(sql).fetch_all(&self.served.world.pool);
        rows.await.expect("the audit log")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_key_is_sealed_offline_and_each_opening_is_recorded() {
    let (files, destination) = Files::with_policy().await;
    let (recipient, identity) = (files.recipient(&destination), files.identity(&destination));
    // Whoever encrypts has neither an address nor a credential.
    let stanzas = Plugin::with(&[]).wrap(&[("add-recipient", &recipient)], FILE_KEY).unwrap();
    assert_eq!(stanzas.len(), 1);
    assert_eq!(stanzas[0].tag, "sealward");
    assert_eq!(stanzas[0].args, [destination.policy, destination.key]);
    assert_eq!(files.recorded().await, [""; 0]);

    for _ in 0..2 {
        let opened = files.plugin.unwrap(&[&identity], &stanzas).unwrap();
        assert_eq!(opened[0].body, FILE_KEY);
    }
    assert_eq!(files.recorded().await, [UNPROTECT, UNPROTECT]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_file_names_its_policy_and_its_recipient() {
    let (files, destination) = Files::with_policy().await;
    let file = files.print("identity", &destination.policy);
    let lines: Vec<&str> = file.lines().collect();
    assert!(lines[0].starts_with("# created: 20") && lines[0].ends_with('Z'), "{file}");
    assert_eq!(lines[1], format!("# policy: {} at {}", destination.policy, files.served.url()));
    assert_eq!(lines[2], format!("# recipient: {}", files.recipient(&destination)));
    assert!(lines[2].starts_with("# recipient: age1sealward1"), "{file}");
    assert!(lines[3].starts_with("AGE-PLUGIN-SEALWARD-1"), "{file}");
    assert_eq!(lines.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_algorithm_has_a_recipient() {
    let files = Files::new().await;
    for (key, alg, change) in [
        ("RSA-2048", "RSA-OAEP-256", json!({ "enc": "A128GCM" })),
        ("RSA-2048", "RSA-OAEP", json!({})),
        ("P-384", "ECDH-ES+A128KW", json!({ "enc": "A256GCM" })),
        ("P-521", "ECDH-ES+A256KW", json!({ "requireBinding": true })),
    ] {
        let destination = files.served.world.destination(alg, key, alg).await;
        files.served.world.change_policy(&destination, change).await;
        let recipient = files.recipient(&destination);
        let stanzas = files.plugin.wrap(&[("add-recipient", &recipient)], FILE_KEY).unwrap();
        let opened = files.plugin.unwrap(&[&files.identity(&destination)], &stanzas).unwrap();
        assert_eq!(opened[0].body, FILE_KEY, "{alg}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_rotation_old_and_new_files_open() {
    let (files, destination) = Files::with_policy().await;
    let (old, identity) = (files.recipient(&destination), files.identity(&destination));
    let before = files.plugin.wrap(&[("add-recipient", &old)], FILE_KEY).unwrap();
    let key = files.served.world.key(&destination.service, "enc", "P-256").await;
    let new = files.recipient(&destination);
    assert_ne!(old, new);
    assert_eq!(identity, files.identity(&destination), "an identity names no key");
    let after = files.plugin.wrap(&[("add-recipient", &new)], FILE_KEY).unwrap();
    assert_eq!(after[0].args[1], key);
    for stanzas in [before, after] {
        assert_eq!(files.plugin.unwrap(&[&identity], &stanzas).unwrap()[0].body, FILE_KEY);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_encrypts_with_the_newest_key() {
    let (files, destination) = Files::with_policy().await;
    let identity = files.identity(&destination);
    let key = files.served.world.key(&destination.service, "enc", "P-256").await;
    let stanzas = files.plugin.wrap(&[("add-identity", &identity)], FILE_KEY).unwrap();
    assert_eq!(stanzas[0].args[1], key);
    assert_eq!(files.plugin.unwrap(&[&identity], &stanzas).unwrap()[0].body, FILE_KEY);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_recipient_has_a_stanza_and_each_identity_finds_its_own() {
    let (files, one) = Files::with_policy().await;
    let other = files.served.world.destination("other", "P-384", "ECDH-ES+A256KW").await;
    let receivers = [&one, &other].map(|it| files.recipient(it));
    let receivers = receivers.each_ref().map(|it| ("add-recipient", it.as_str()));
    let stanzas = files.plugin.wrap(&receivers, FILE_KEY).unwrap();
    assert_eq!(stanzas.len(), 2);
    let identity = files.identity(&other);
    assert_eq!(files.plugin.unwrap(&[&identity], &stanzas).unwrap()[0].body, FILE_KEY);
    // Neither the stanza of another policy nor one of age is sent to the service.
    let mut foreign = copy(&stanzas[1]);
    foreign.tag = "X25519".to_owned();
    assert_eq!(files.plugin.unwrap(&[&identity], [&foreign, &stanzas[0]]).unwrap(), []);
    assert_eq!(files.recorded().await, [UNPROTECT]);
}
