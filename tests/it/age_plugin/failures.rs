//! What a person reads if it does not work: one line, without secrets.

use std::time::{Duration, Instant};

use age_core::format::Stanza;
use serde_json::json;
use testkit::{Destination, Proxy};

use super::plugin::{Answer, Plugin, copy};
use super::{FILE_KEY, Files};

/// Asserts one message with these texts, in one line and without the API key.
#[track_caller]
fn assert_says(answer: Answer, expected: &[&str], secret: &str) {
    let errors = answer.expect_err("an error");
    let [message] = errors.as_slice() else { panic!("{errors:?}") };
    for text in expected {
        assert!(message.contains(text), "{text:?} is not in {message:?}");
    }
    assert!(!message.contains('\n') && !message.contains(secret), "{message:?}");
}

impl Files {
    /// An identity, and the stanza of a file that it opens.
    fn file(&self, destination: &Destination) -> (String, Vec<Stanza>) {
        let recipient = self.recipient(destination);
        let stanzas = self.plugin.wrap(&[("add-recipient", &recipient)], FILE_KEY).unwrap();
        (self.identity(destination), stanzas)
    }

    /// An envelope of the policy, which is no file key.
    async fn envelope_of_a_card(&self, destination: &Destination) -> Vec<u8> {
        let alice = self.served.world.client(&self.api_key);
        let made = alice.protect_under(&destination.policy, json!("a card")).await;
        let members = testkit::jwe(&made);
        let member = |name: &str| format!("\"{name}\":{}", members[name]);
        let names = ["protected", "encrypted_key", "iv", "ciphertext", "tag"];
        format!("{{{}}}", names.map(member).join(",")).into_bytes()
    }

    #[track_caller]
    fn assert_both_say(&self, identity: &str, stanzas: &[Stanza], expected: &[&str]) {
        let sealed = self.plugin.wrap(&[("add-identity", identity)], FILE_KEY);
        assert_says(sealed, expected, &self.api_key);
        assert_says(self.plugin.unwrap(&[identity], stanzas), expected, &self.api_key);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_credential_is_one_line() {
    let (files, destination) = Files::with_policy().await;
    let (identity, stanzas) = files.file(&destination);
    let url = files.served.url();
    let place = format!("{url}, policy {}: 401 AUTHENTICATION_FAILED", destination.policy);

    let bob = files.served.world.application("bob").await;
    let api_key = bob.key.as_deref().unwrap();
    let plugin = Plugin::of(api_key);
    assert!(plugin.unwrap(&[&identity], &stanzas).is_ok());
    files.served.world.revoke(&bob).await;
    let sealed = plugin.wrap(&[("add-identity", &identity)], FILE_KEY);
    assert_says(sealed, &[&place, "(request req_"], api_key);
    assert_says(plugin.unwrap(&[&identity], &stanzas), &[&place], api_key);
    let other = Plugin::of("sk_test_wrong");
    assert_says(other.unwrap(&[&identity], &stanzas), &[&place], "sk_test_wrong");

    for (variables, expected) in [
        (vec![], "set SEALWARD_API_KEY, SEALWARD_API_KEY_FILE or SEALWARD_TOKEN_FILE"),
        (vec![("SEALWARD_API_KEY_FILE", "key")], "SEALWARD_API_KEY_FILE must be an absolute path"),
        (vec![("SEALWARD_API_KEY_FILE", "/absent")], "cannot read the credential in /absent"),
        (vec![("SEALWARD_API_KEY", "x"), ("SEALWARD_TOKEN_FILE", "/x")], "only one of"),
    ] {
        let plugin = Plugin::with(&variables);
        assert_says(plugin.unwrap(&[&identity], &stanzas), &[expected], &files.api_key);
        let command = ["identity", "--url", &url, "--policy", "P"];
        plugin.run(&command).failure(78, &[expected]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_does_not_open_is_one_line() {
    let (files, destination) = Files::with_policy().await;
    let (identity, stanzas) = files.file(&destination);
    let world = &files.served.world;
    let freeze = |status| {
        let path = format!("/admin/services/{}", destination.service);
        async move { world.admin().put(&path, json!({ "status": status })).await.ok() }
    };
    freeze("frozen").await;
    let sealed = files.plugin.wrap(&[("add-identity", &identity)], FILE_KEY);
    assert_says(sealed, &["the destination of the policy is frozen"], &files.api_key);
    let opened = files.plugin.unwrap(&[&identity], &stanzas);
    assert_says(opened, &["403 SERVICE_FROZEN"], &files.api_key);
    freeze("active").await;

    world.change_policy(&destination, json!({ "contextRequired": true })).await;
    let sealed = files.plugin.wrap(&[("add-identity", &identity)], FILE_KEY);
    assert_says(sealed, &["the policy requires a context"], &files.api_key);
    assert!(files.plugin.unwrap(&[&identity], &stanzas).is_ok(), "existing files open");
    world.change_policy(&destination, json!({ "contextRequired": false })).await;

    world.change_policy(&destination, json!({ "allowedServiceIds": [destination.service] })).await;
    let opened = files.plugin.unwrap(&[&identity], &stanzas);
    assert_says(opened, &["403 OPERATION_NOT_ALLOWED"], &files.api_key);
    world.change_policy(&destination, json!({ "allowedServiceIds": ["*"] })).await;
    assert_eq!(files.plugin.unwrap(&[&identity], &stanzas).unwrap()[0].body, FILE_KEY);

    let path = format!("/admin/policies/{}", destination.policy_id);
    world.admin().delete(&path).await;
    files.assert_both_say(&identity, &stanzas, &["404 POLICY_NOT_FOUND"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destroyed_or_disabled_key_is_one_line() {
    let (files, destination) = Files::with_policy().await;
    let (identity, stanzas) = files.file(&destination);
    files.served.world.change_key(&destination.key, json!({ "status": "disabled" })).await;
    let opened = files.plugin.unwrap(&[&identity], &stanzas);
    assert_says(opened, &["DESTINATION_KEY_NOT_FOUND"], &files.api_key);
    let sealed = files.plugin.wrap(&[("add-identity", &identity)], FILE_KEY);
    assert_says(sealed, &["there is no key that fits"], &files.api_key);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_who_holds_the_key_has_no_recipient() {
    let (files, destination) = Files::with_policy().await;
    let change = json!({ "keyOwnership": "destination_managed" });
    files.served.world.change_policy(&destination, change).await;
    let command = ["recipient", "--url", &files.served.url(), "--policy", &destination.policy];
    files.plugin.run(&command).failure(1, &["Sealward does not hold the private key"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_stanza_is_one_line_and_another_one_still_opens() {
    let (files, destination) = Files::with_policy().await;
    let (identity, stanzas) = files.file(&destination);
    let change = |change: &dyn Fn(&mut Stanza)| {
        let mut changed = copy(&stanzas[0]);
        change(&mut changed);
        changed
    };
    let truncated = change(&|it| it.body.truncate(100));
    let unnamed = change(&|it| it.args.truncate(1));
    // A letter of the ciphertext, which ends before the tag.
    let altered = change(&|it| {
        let text = String::from_utf8(it.body.clone()).unwrap();
        let place = text.find("\"ciphertext\":\"").unwrap() + 14;
        it.body[place] = if it.body[place] == b'A' { b'B' } else { b'A' };
    });
    for (damaged, expected) in [
        (truncated, "the file is damaged"),
        (unnamed, "the file is damaged"),
        (altered, "cannot be decrypted, and repeating does not help"),
    ] {
        let alone = files.plugin.unwrap(&[&identity], [&damaged]);
        assert_says(alone, &[expected], &files.api_key);
        let both = files.plugin.unwrap(&[&identity], [&damaged, &stanzas[0]]);
        assert_eq!(both.unwrap()[0].body, FILE_KEY);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_of_something_else_is_no_file_key() {
    let (files, destination) = Files::with_policy().await;
    let (identity, mut stanzas) = files.file(&destination);
    stanzas[0].body = files.envelope_of_a_card(&destination).await;
    let opened = files.plugin.unwrap(&[&identity], &stanzas);
    assert_says(opened, &["the envelope contains no file key"], "a card");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_many_stanzas_makes_16_requests() {
    let (files, destination) = Files::with_policy().await;
    let (identity, mut stanzas) = files.file(&destination);
    stanzas[0].body = files.envelope_of_a_card(&destination).await;
    stanzas.extend((0..40).map(|_| copy(&stanzas[0])).collect::<Vec<_>>());
    let errors = files.plugin.unwrap(&[&identity], &stanzas).unwrap_err();
    assert_eq!(errors.len(), 17);
    assert!(errors[16].contains("more than 16 stanzas"), "{errors:?}");

    let malformed: Vec<_> =
        (0..40).map(|_| Stanza { args: Vec::new(), ..copy(&stanzas[0]) }).collect();
    let errors = files.plugin.unwrap(&[&identity], &malformed).unwrap_err();
    assert_eq!(errors.len(), 17);
}

#[tokio::test(flavor = "multi_thread")]
async fn stanzas_for_other_policies_do_not_count() {
    let (files, destination) = Files::with_policy().await;
    let (identity, stanzas) = files.file(&destination);
    let mut other = copy(&stanzas[0]);
    other.args[0] = "OTHER".to_owned();
    let many = std::iter::repeat_n(&other, 40).chain(&stanzas);
    assert_eq!(files.plugin.unwrap(&[&identity], many).unwrap()[0].body, FILE_KEY);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_of_another_service_does_not_get_the_credential() {
    let (files, destination) = Files::with_policy().await;
    let (identity, stanzas) = files.file(&destination);
    let url = files.served.url();
    let of = |service: &str| {
        Plugin::with(&[("SEALWARD_API_KEY", &files.api_key), ("SEALWARD_URL", service)])
    };
    let place = format!("{url}, policy {}: SEALWARD_URL is another service", destination.policy);
    let plugin = of("https://sealward.example.com");
    assert_says(plugin.unwrap(&[&identity], &stanzas), &[&place], &files.api_key);
    let sealed = plugin.wrap(&[("add-identity", &identity)], FILE_KEY);
    assert_says(sealed, &[&place], &files.api_key);
    // A person names the service in the option.
    plugin.run(&["identity", "--url", &url, "--policy", &destination.policy]).success();

    let plugin = of(&format!("{url}/"));
    assert_eq!(plugin.unwrap(&[&identity], &stanzas).unwrap()[0].body, FILE_KEY);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_service_is_one_line_and_asked_once() {
    let (files, destination) = Files::with_policy().await;
    let (_, mut stanzas) = files.file(&destination);
    stanzas.push(copy(&stanzas[0]));
    let (port, proxy) = Proxy::for_address(files.served.address).await;
    let url = format!("http://127.0.0.1:{port}");
    let command = ["identity", "--url", &url, "--policy", &destination.policy];
    let file = files.plugin.run(&command).success().stdout;
    let identity = file.lines().last().unwrap();
    let place = format!("{url}, policy {}: ", destination.policy);

    proxy.stall();
    let began = Instant::now();
    let errors = files.plugin.unwrap(&[identity], &stanzas).unwrap_err();
    // Each of the two stanzas says so, and only the first waited: for 10 s, or until the service closed the
    // connection, on which nothing arrived.
    let reasons =
        ["no answer within 10 s", "cannot reach Sealward at "].map(|it| format!("{place}{it}"));
    assert!(reasons.iter().any(|reason| errors[0].starts_with(reason)), "{errors:?}");
    assert_eq!(errors, [errors[0].clone(), errors[0].clone()]);
    assert!(began.elapsed() < Duration::from_secs(18), "{:?}", began.elapsed());

    drop(proxy);
    let errors = files.plugin.unwrap(&[identity], &stanzas[..1]).unwrap_err();
    assert!(errors[0].starts_with(&format!("{place}cannot reach Sealward at ")), "{errors:?}");
    files.plugin.run(&command).failure(1, &[&place, "refused"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_recipient_or_identity_is_one_line() {
    let plugin = Plugin::with(&[]);
    // The byte 2, which is no version.
    for (command, text, expected) in [
        ("add-recipient", "age1sealward1qgy7jsjm", "this is not a recipient of this version"),
        (
            "add-identity",
            "AGE-PLUGIN-SEALWARD-1QG9X5RUV",
            "this is not an identity of this version",
        ),
        ("add-recipient", "age1other1qgp2z35k", "this is not a recipient of this version"),
    ] {
        assert_says(plugin.wrap(&[(command, text)], FILE_KEY), &[expected], "no secret");
    }
    let command = ["identity", "--url", "http://example.com", "--policy", "P"];
    let plugin = Plugin::of("sk_test_x");
    plugin.run(&command).failure(78, &["must begin with https://, except for this machine"]);
    let command = ["identity", "--url", "https://a:b@example.com", "--policy", "P"];
    plugin.run(&command).failure(78, &["no user or password"]);
    let command = ["identity", "--url", "https://example.com", "--policy", "a b"];
    plugin.run(&command).failure(78, &["the policy number must have 1 to 64"]);
    let unknown = ["--age-plugin", "unknown-v1"];
    plugin.run(&unknown).failure(1, &["cannot communicate with age: unknown plugin state machine"]);
}
