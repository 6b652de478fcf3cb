//! `sealward doctor` with a working token and with invalid settings.

use std::path::Path;

use serde_json::json;

use crate::ledger::HttpsCollector;
use testkit::{
    Authority, Behavior, OidcProvider, OwnPort, SigningKey, TokenIssuer, softhsm_module,
};
use testkit::{LABEL, Process, Site};

#[tokio::test]
async fn a_working_token_passes_with_warnings_about_its_weaknesses() {
    let site = Site::new().await;
    let report = site.run(&["doctor"]).success().stdout;
    for expected in [
        "Token \"sealward\"",
        "decrypt  RSA-OAEP-256",
        "works by fallback: raw RSA",
        "RSA_OAEP_SHA1_AES_KWP",
        "Operations per second",
        "its RSA-OAEP has SHA-1 only",
    ] {
        let joined: String = report.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected: String = expected.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(&expected), "{expected:?} is not in\n{report}");
    }
}

#[tokio::test]
async fn a_token_that_does_not_support_the_configuration_fails() {
    let site = Site::new().await;
    let ended = site.run_with(&["doctor", "--json"], "SEALWARD_HSM_ALLOW_RAW_RSA", "false");
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_ne!(report["tokens"][0]["broken"], serde_json::json!([]), "{report}");
    ended.failure(1, &["sealward", "does not support the configuration"]);
}

#[tokio::test]
async fn a_token_that_cannot_be_opened_has_a_report_without_names() {
    let site = Site::new().await;
    let pin = site.pin_file();
    let tokens = site.tokens("/etc/hostname", LABEL, pin.to_str().expect("text"));
    let ended = site.run_with(&["doctor", "--report"], "SEALWARD_HSM_TOKENS", &tokens);
    assert!(ended.stdout.contains("failed: the file is not a PKCS#11 module"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("/etc/hostname"), "{}", ended.stdout);
    ended.failure(1, &["hsm.tokens.module", "is not a PKCS#11 module"]);
}

#[tokio::test]
async fn a_record_of_calls_is_written_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;

    let site = Site::new().await;
    let file = site.file("calls");
    let path = file.to_str().expect("text");
    site.run(&["doctor", "--skip-trials", "--trace", path]).success();
    let record = std::fs::read_to_string(&file).expect("the record");
    assert!(record.contains(" C_Login ") && record.contains("pin=[not shown]"), "{record}");
    let pin = std::fs::read_to_string(site.pin_file()).expect("the PIN");
    assert!(!record.contains(pin.trim()) && !record.contains(LABEL), "{record}");
    let mode = std::fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn errors_of_a_token_name_the_setting_and_the_remedy() {
    let site = Site::new().await;
    let module = softhsm_module();
    let module = module.to_str().expect("a path of text");
    let pin = site.pin_file();
    let pin = pin.to_str().expect("a path of text");
    let wrong_pin = site.settings().with_file_name("wrong-pin");
    std::fs::write(&wrong_pin, "not the PIN\n").expect("write a PIN");
    let wrong_pin = wrong_pin.to_str().expect("a path of text");

    let cases: [(&str, &str, &str, i32, &[&str]); 5] = [
        ("/no/module.so", LABEL, pin, 1, &["hsm.tokens.module", "/no/module.so"]),
        ("/etc/hostname", LABEL, pin, 1, &["hsm.tokens.module", "is not a PKCS#11 module"]),
        (module, "other", pin, 1, &["hsm.tokens.label", "\"other\"", LABEL]),
        (module, LABEL, wrong_pin, 78, &["hsm.tokens.pin", LABEL, "tried once"]),
        (module, LABEL, "/no/pin", 78, &["hsm.tokens[0].pin", "/no/pin"]),
    ];
    for (module, label, pin, code, expected) in cases {
        let tokens = site.tokens(module, label, pin);
        site.run_with(&["doctor"], "SEALWARD_HSM_TOKENS", &tokens).failure(code, expected);
    }
}

#[tokio::test]
async fn extractable_keys_are_reported() {
    let site = Site::new().await;
    let adopt = "WITH billing AS (
                     INSERT INTO services (id, name, tier, created_at, updated_at)
                     VALUES (gen_random_uuid(), 'billing', 'standard', now(), now()) RETURNING id)
                 INSERT INTO keys (id, service_id, name, version, usage, algorithm, origin, status, token_label,
                                   extractable, created_at, updated_at)
                 SELECT gen_random_uuid(), id, 'vendor', 1, 'data', 'AES-256', 'adopted', 'retired',
                        'a vendor''s key', true, now(), now()
                   FROM billing";
    let mut database = site.connect().await;
    sqlx::query(adopt).execute(&mut database).await.expect("a key");
    // It fails, because no token holds this key.
    let report = site.run(&["doctor", "--skip-trials"]).stdout;
    assert!(report.contains("(vendor) can leave its token"), "{report}");
    let report = site.doctor();
    assert_eq!(report["records"]["extractable"].as_array().expect("a list").len(), 1);
}

#[tokio::test]
async fn what_the_audit_logs_lack_is_reported() {
    let site = Site::new().await;
    let text = site.run(&["doctor", "--skip-trials"]).success().stdout;
    for expected in ["run `sealward audit init`", "set audit.seal.anchor"] {
        assert!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
    let count =
        |report: serde_json::Value| report["auditLogs"]["warnings"].as_array().map(Vec::len);
    assert_eq!(count(site.doctor()), Some(2));
    site.run(&["audit", "init"]).success();
    assert_eq!(count(site.doctor()), Some(1));
    let anchor = site.file("anchor.json");
    let anchor = anchor.to_str().expect("a path of text");
    let arguments = ["doctor", "--skip-trials", "--json"];
    let anchored = site.run_with(&arguments, "SEALWARD_AUDIT_SEAL_ANCHOR", anchor);
    assert_eq!(anchored.json()["auditLogs"]["warnings"], json!([]));
}

#[tokio::test]
async fn a_collector_that_is_not_reachable_fails() {
    let site = Site::new().await;
    let reached = "SEALWARD_AUDIT_FORWARD_URL";
    let port = OwnPort::new();
    let url = format!("https://{}", port.address());
    let ended = site.run_with(&["doctor", "--skip-trials", "--json"], reached, &url);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let reason = report["collector"]["error"].as_str().expect("a reason");
    assert!(reason.starts_with("the collector is not reachable: "), "{reason}");
    ended.failure(1, &["audit.forward.url", "not reachable"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reachable_collector_passes() {
    let site = Site::new().await;
    let collector = HttpsCollector::start().await;
    let settings = collector.settings();
    let report = site
        .command(&["doctor", "--skip-trials", "--json"])
        .env("SEALWARD_AUDIT_FORWARD_URL", settings.url.expect("a URL"))
        .env("SEALWARD_AUDIT_FORWARD_CA", settings.ca.expect("a file"))
        .output()
        .expect("run the binary");
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
    assert_eq!(report["collector"], serde_json::json!({ "reachable": true }));
}

#[tokio::test(flavor = "multi_thread")]
async fn issuers_and_cas_of_workloads_are_checked() {
    let site = Site::new().await;
    let key = SigningKey::ec("one");
    let issuer = TokenIssuer::publishing(&[&key]).await;
    let settings = issuer.settings();
    let issuers = format!(
        "[{{ issuer = {:?}, audience = \"a\", ca = {:?} }}]",
        settings.issuer,
        settings.ca.expect("a file")
    );
    let authority = Authority::new();
    let ca = site.write("workloads.pem", &authority.certificate());
    let domains = |ca: &Path| format!("[{{ trust_domain = \"example.org\", ca = {ca:?} }}]");
    let doctor = |ca: &Path| {
        site.command(&["doctor", "--skip-trials", "--json"])
            .env("SEALWARD_AUTH_ISSUERS", &issuers)
            .env("SEALWARD_AUTH_SPIFFE", domains(ca))
            .env("SEALWARD_HTTP_TLS_CERTIFICATE", "certificate.pem")
            .env("SEALWARD_HTTP_TLS_KEY", "key.pem")
            .output()
            .expect("run the binary")
    };
    let checked = |ca: &Path| {
        let report: serde_json::Value = serde_json::from_slice(&doctor(ca).stdout).expect("JSON");
        report["credentials"].clone()
    };
    let found = checked(&ca);
    let expected = format!("signature keys of {}: 1", settings.issuer);
    assert_eq!(found[0]["setting"], "auth.issuers[0]");
    assert_eq!(found[0]["state"], serde_json::json!(expected));
    assert_eq!(found[1]["setting"], "auth.spiffe[0]");
    let state = found[1]["state"].as_str().expect("a state");
    assert!(state.starts_with("CAs in ") && state.contains(": 1, valid until "), "{state}");

    let expired = authority.expired_client().certificate;
    let expired = site.write("expired.pem", &expired);
    for (file, reason) in
        [(expired.as_path(), "has only expired CAs"), (Path::new("/no/ca.pem"), "cannot be read")]
    {
        let error = checked(file)[1]["error"].clone();
        let error = error.as_str().expect("a reason");
        assert!(error.contains(reason), "{error}");
    }
    assert!(!doctor(&expired).status.success());
    issuer.behave(Behavior::Broken);
    let error = checked(&ca)[0]["error"].clone();
    assert!(error.as_str().is_some_and(|it| it.contains("JWK Set")), "{error}");
}

#[tokio::test]
async fn the_report_for_an_issue_identifies_no_installation() {
    let site = Site::new().await;
    let whole = site.run(&["doctor", "--json"]).json();
    let report = site.run(&["doctor", "--report"]).success().stdout;
    assert!(report.starts_with("```text\nsealward  "), "{report}");
    assert!(report.ends_with("\n```\n"), "{report}");
    for expected in [
        "settings  environment = Development, hsm.workers = 4",
        "Token \"hsm.tokens[0]\"",
        "  module    libsofthsm2.so\n",
        "its RSA-OAEP has SHA-1 only",
        "Cannot work\n    none",
    ] {
        assert!(report.contains(expected), "{expected:?} is not in\n{report}");
    }
    let serial = whole["tokens"][0]["token"]["serial"].as_str();
    let folder = site.folder().to_str().expect("text");
    for hidden in [serial.expect("a serial number"), LABEL, folder, "postgres"] {
        let shown = report.replace("sealward  ", "");
        assert!(!shown.contains(hidden), "{hidden} is in\n{report}");
    }
}

#[tokio::test]
async fn the_report_of_a_failed_token_names_no_token() {
    let site = Site::new().await;
    let module = softhsm_module().display().to_string();
    let pin = site.pin_file().display().to_string();
    let one = |label| site.tokens(&module, label, &pin);
    let (here, away) = (one(LABEL), one("bank-production"));
    let both = format!("{}, {}", &here[..here.len() - 1], &away[1..]);
    let report = site.run_with(&["doctor", "--report"], "SEALWARD_HSM_TOKENS", &both);
    let report = report.stdout;
    assert!(report.contains("Token \"hsm.tokens[1]\" failed: "), "{report}");
    let shown = report.replace("sealward  ", "");
    for hidden in [LABEL, "bank-production", &module] {
        assert!(!shown.contains(hidden), "{hidden} is in\n{report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_and_the_people_are_checked() {
    let mut provider = OidcProvider::start();
    let site = Site::new().await;
    let ca = provider.admin("").oidc.ca.expect("a CA file");
    let settings = format!(
        "[approvals]\nrequired = [\"key.import\"]\n\
         [admin.oidc]\nissuer = \"{}\"\nclient_id = \"sealward\"\n\
         client_secret = {{ value = \"sealward-secret\" }}\n\
         redirect_uri = \"http://127.0.0.1/dashboard/sign-in/callback\"\nca = \"{}\"\n\
         [admin.oidc.roles]\nowner = [\"sealward-owners\"]\nauditor = [\"sealward-auditors\"]\n",
        provider.issuer(),
        ca.display(),
    );
    let settings = site.default_settings() + &settings;
    std::fs::write(site.settings(), settings).expect("write the settings");
    let named = ["--name", "laptop", "--person", "ada"];
    let create = ["api-key", "create", "--type", "admin"];
    site.run(&[&create[..], &named].concat()).success();

    let report = site.doctor();
    let warnings = [
        "admin.oidc.redirect_uri is http://: people sign in on this machine only",
        "admin.oidc.roles has no group for custodian, policy-admin",
        "admin keys name people who never signed in: ada. A person is the subject (sub) of the tokens",
    ];
    let expected = json!({ "issuer": provider.issuer(), "warnings": warnings });
    assert_eq!(report["openIdConnect"], expected);
    let shortage = |kind: &str| json!({ "kind": kind, "people": 1, "needed": 2 });
    let expected = json!([shortage("key.import"), shortage("api-key.admin")]);
    assert_eq!(report["approvals"]["tooFewPeople"], expected);
    let text = site.run(&["doctor", "--skip-trials"]).success().stdout;
    assert!(warnings.iter().all(|warning| text.contains(warning)), "{text}");

    provider.stop();
    let away = site.run(&["doctor", "--skip-trials"]);
    away.failure(1, &["admin.oidc.issuer: the provider is unavailable"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_floor_stops_or_would_stop_is_listed() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let destination = process.destination("shop", "P-256", "ECDH-ES+A256KW").await;
    let text = site.run(&["doctor", "--skip-trials"]).success().stdout;
    assert!(!text.contains("Cryptographic floor"), "{text}");

    let would = site.run(&["doctor", "--skip-trials", "--floor", "192"]).success().stdout;
    let key = format!("would stop  {} (enc P-256) of shop: P-256", destination.key);
    let policy = format!("would stop  the policy {}: ", destination.policy);
    for expected in [
        "minimum_strength = 192, forbidden = [], approved_only = false",
        &key,
        &policy,
        "keeps   the key of Sealward that wraps keys to import: RSA-4096, 128 bits",
    ] {
        assert!(would.contains(expected), "{expected:?} is not in\n{would}");
    }
    let nothing = site.run(&["doctor", "--skip-trials", "--floor", "128"]).success().stdout;
    assert!(nothing.contains("would stop  no active key and no active policy"), "{nothing}");
    site.run(&["doctor", "--floor", "100"]).failure(2, &["must be 112, 128 or 192"]);

    // The process has another floor than these settings.
    let name = "SEALWARD_CRYPTO_MINIMUM_STRENGTH";
    let ended = site.run_with(&["doctor", "--skip-trials", "--json"], name, "192").success();
    let floor = ended.json()["floor"].clone();
    assert_eq!(floor["differingInstances"], 1);
    assert_eq!(floor["stops"]["keys"][0]["id"], json!(destination.key));
    assert_eq!(floor["stops"]["policies"][0]["policyNumber"], json!(destination.policy));
}
