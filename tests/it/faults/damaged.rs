//! The metrics do not show why an envelope does not open.

use std::collections::{BTreeMap, BTreeSet};

use formats::binary::{from_base64url, to_base64url};
use serde_json::{Value, json};

use super::fixture::create;
use testkit::{Client, Process, Site, epk, header_of, jwe};

/// The requests with the same fault.
const REQUESTS: usize = 10;

/// A change of the bytes of a member.
type Damage = fn(&mut Vec<u8>);

/// A destination and the API key of an application that may open its envelopes.
struct Destination<'p> {
    process: &'p Process,
    application: Client<'p>,
}

impl<'p> Destination<'p> {
    async fn new(process: &'p Process, algorithm: &str, alg: &str) -> Self {
        let service = create(process, "/admin/services", json!({})).await["id"].clone();
        let key = json!({ "serviceId": service, "algorithm": algorithm, "generate": true });
        create(process, "/admin/keys", key).await;
        let policy = json!({ "destinationServiceId": service, "alg": alg,
            "allowedServiceIds": [service] });
        let policy = create(process, "/admin/policies", policy).await;
        let key = json!({ "type": "live", "serviceId": service,
            "policyNumber": policy["policyNumber"] });
        let key = create(process, "/admin/api-keys", key).await;
        let application = process.client(key["secret"].as_str().expect("a secret"));
        Self { process, application }
    }

    async fn sealed(&self) -> Value {
        jwe(&self.application.protect(json!("secret")).await)
    }

    /// How much the metrics grow when an envelope does not open: the least growth of several requests,
    /// because the canary of the token, which runs once a second, counts too.
    async fn growth(&self, envelope: &Value) -> BTreeMap<String, f64> {
        let mut rounds = Vec::with_capacity(REQUESTS);
        for _ in 0..REQUESTS {
            rounds.push(self.grown_once(envelope).await);
        }
        let least = |(series, first): (String, f64)| {
            let others = rounds.iter().map(|round| round[&series]);
            (series.clone(), others.fold(first, f64::min))
        };
        rounds[0].clone().into_iter().map(least).collect()
    }

    async fn grown_once(&self, envelope: &Value) -> BTreeMap<String, f64> {
        let before = counts(self.process);
        let refused = self.application.unprotect(envelope).await;
        refused.refused(500, "INTERNAL_ERROR");
        let mut grown = counts(self.process);
        for (series, value) in &mut grown {
            *value -= before.get(series).copied().unwrap_or_default();
        }
        grown
    }
}

/// All samples that do not depend on time, memory, or the work of background jobs.
fn counts(process: &Process) -> BTreeMap<String, f64> {
    let page = process.metrics();
    let values = page.values().into_iter().filter(|((name, labels), _)| {
        let is_time = ["_seconds", "_seconds_sum"].iter().any(|end| name.ends_with(end));
        let is_part = name.ends_with("_seconds_bucket") && labels["le"] != "+Inf";
        let is_background = name.starts_with("process_")
            || ["sealward_changes_pending", "sealward_database_connections"].contains(name);
        !is_time && !is_part && !is_background
    });
    values.map(|((name, labels), value)| (format!("{name} {labels:?}"), value)).collect()
}

fn damaged(envelope: &Value, member: &str, damage: Damage) -> Value {
    let mut bytes = from_base64url(envelope[member].as_str().expect("text")).expect("base64url");
    damage(&mut bytes);
    let mut envelope = envelope.clone();
    envelope[member] = json!(to_base64url(&bytes));
    envelope
}

/// The envelope with a point that is not on the curve of the key.
fn off_the_curve(envelope: &Value) -> Value {
    let mut header = header_of(envelope);
    header["epk"] = epk(&[5; 64]);
    let mut envelope = envelope.clone();
    envelope["protected"] = json!(to_base64url(header.to_string().as_bytes()));
    envelope
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metrics_of_a_damaged_wrapped_key_are_those_of_a_wrong_tag() {
    let site = Site::on_kryoptic().await;
    let variables = [
        ("SEALWARD_METRICS_LISTEN", "127.0.0.1:0"),
        // Each worker searches for a key once.
        ("SEALWARD_HSM_WORKERS", "1"),
    ];
    let process = Process::start_with(&site, &variables).await;
    for (algorithm, alg) in [("RSA-2048", "RSA-OAEP-256"), ("P-256", "ECDH-ES+A256KW")] {
        let destination = Destination::new(&process, algorithm, alg).await;
        let sound = destination.sealed().await;
        let wrong_tag = damaged(&sound, "tag", |bytes| bytes[0] ^= 1);
        let wrapped_key = |damage| damaged(&sound, "encrypted_key", damage);
        let mut faults = vec![
            ("a changed bit", wrapped_key(|bytes| bytes[9] ^= 1)),
            ("zeros", wrapped_key(|bytes| bytes.fill(0))),
            ("a large number", wrapped_key(|bytes| bytes.fill(0xff))),
            ("a missing byte", wrapped_key(|bytes| _ = bytes.pop())),
            ("an additional byte", wrapped_key(|bytes| bytes.push(0))),
            ("no bytes", wrapped_key(Vec::clear)),
        ];
        if algorithm == "P-256" {
            faults.push(("a point off the curve", off_the_curve(&sound)));
        }
        // The first operation searches for the key.
        destination.growth(&wrong_tag).await;
        let expected = destination.growth(&wrong_tag).await;
        let of = |name: &str| -> f64 {
            let name = format!("{name} ");
            let series = expected.iter().filter(|(series, _)| series.starts_with(&name));
            series.map(|(_, grown)| grown).sum()
        };
        for (name, grown) in [
            ("sealward_http_requests_total", 1.0),
            ("sealward_token_operations_total", 1.0),
            ("sealward_token_failures_total", 0.0),
        ] {
            assert!((of(name) - grown).abs() < f64::EPSILON, "{name}");
        }
        for (what, envelope) in faults {
            let grown = destination.growth(&envelope).await;
            let differs = |series: &&String| grown.get(*series) != expected.get(*series);
            let different: BTreeSet<_> =
                { grown.keys().chain(expected.keys()) }.filter(differs).collect();
            assert!(different.is_empty(), "{alg}: {what}: {different:?}");
        }
    }
}
