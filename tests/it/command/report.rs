//! `sealward report` with a running service.

use std::fs;

use serde_json::{Value, json};

use testkit::{Exit, Process, Site, openssl};

/// A running process with audit logs and a key for reports.
struct Office {
    process: Process,
    site: Site,
}

impl Office {
    async fn new() -> Self {
        let site = Site::new().await;
        site.run(&["init"]).success();
        site.run(&["audit", "init"]).success();
        let process = Process::start(&site).await;
        site.write("admin", site.admin_key());
        Self { process, site }
    }

    /// Runs `sealward report` with the connection.
    fn report(&self, arguments: &[&str]) -> Exit {
        let url = self.process.url("");
        let connection = ["--url", &url, "--admin-key-file", &self.path("admin")];
        self.site.run(&[&["report"], arguments, &connection].concat())
    }

    fn verify(&self, arguments: &[&str]) -> Exit {
        self.site.run(&[&["report", "verify"], arguments].concat())
    }

    fn path(&self, name: &str) -> String {
        self.site.file(name).to_str().expect("a path").to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_fetched_and_verified_offline() {
    let office = Office::new().await;
    let service = office.process.service("billing").await;
    let key = office.process.key(&service, "enc", "RSA-2048").await;
    let jwks = office.report(&["jwks"]).success().stdout;
    let trusted = office.site.write("jwks", &jwks);
    let trusted = ["--keys", trusted.to_str().expect("a path")];

    let (json, csv, cbom) =
        (office.path("keys.json"), office.path("keys.csv"), office.path("cbom"));
    let written = office.report(&["keys", "--output", &json, "--strength-below", "128"]).success();
    assert_eq!(written.stdout, format!("{json}\n{json}.jws\n"));
    office.report(&["keys", "--output", &csv, "--csv", "--algorithm", "RSA-2048"]).success();
    office.report(&["cbom", "--output", &cbom]).success();
    let report: Value = serde_json::from_slice(&fs::read(&json).expect("a file")).expect("JSON");
    assert_eq!(report["keys"][0]["keyId"], json!(key));
    assert!(fs::read_to_string(&csv).expect("a file").contains(&key));

    // Nothing else is needed.
    drop(office.process);
    for (file, contains) in [
        (&json, "; it contains the keys with strengthBelow=128, with their uses until "),
        (&csv, "; it contains the keys with algorithm=RSA-2048, with"),
        (&cbom, "; it contains all keys, with"),
    ] {
        let verified = office.site.run(&[&["report", "verify", file], &trusted[..]].concat());
        let line = verified.success();
        let kid = serde_json::from_str::<Value>(&jwks).expect("JSON")["keys"][0]["kid"].clone();
        let expected = format!(
            "OK: the report is unchanged; the key {} signed it at ",
            kid.as_str().expect("a thumbprint")
        );
        assert!(line.line().starts_with(&expected), "{}", line.line());
        assert!(line.line().contains(contains), "{}", line.line());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_was_changed_or_that_another_key_signed_is_refused() {
    let office = Office::new().await;
    let (file, keys) = (office.path("keys.json"), office.path("jwks"));
    office.report(&["keys", "--output", &file]).success();
    fs::write(&keys, office.report(&["jwks"]).success().stdout).expect("write the keys");
    office.verify(&[&file, "--keys", &keys]).success();

    let body = fs::read(&file).expect("the report");
    for place in [0, body.len() / 2, body.len() - 1] {
        let mut changed = body.clone();
        changed[place] ^= 1;
        fs::write(&file, changed).expect("write the report");
        let expected = ["the report is not the one that was signed"];
        office.verify(&[&file, "--keys", &keys]).failure(1, &expected);
    }
    fs::write(&file, [&body[..], b"\n"].concat()).expect("write the report");
    office.verify(&[&file, "--keys", &keys]).failure(1, &["the report is not the one"]);
    fs::write(&file, &body).expect("write the report");

    let public = office.path("public");
    fs::write(&public, openssl::public(&openssl::private("P-256"))).expect("write a key");
    office.verify(&[&file, "--keys", &public]).failure(1, &["none of the keys is the one"]);
    fs::write(&keys, "{}").expect("write the keys");
    office.verify(&[&file, "--keys", &keys]).failure(2, &["must be a JWK Set, a JWK or a PEM"]);
    office.verify(&[&office.path("none"), "--keys", &public]).failure(2, &["none"]);
    fs::write(format!("{file}.jws"), "not a signature").expect("write the signature");
    office.verify(&[&file, "--keys", &public]).failure(1, &["is not a detached JWS of a report"]);
}
