//! Certificates that a trusted proxy forwards in `Client-Cert` (RFC 9440).

use rcgen::ExtendedKeyUsagePurpose;
use serde_json::json;

use super::{CART, Site, caller, unauthenticated};
use testkit::Authority;

#[tokio::test]
async fn a_pinned_proxy_forwards_the_certificate_of_its_client() {
    let site = Site::new().await;
    let workload = site.identity(json!({ "spiffeId": CART })).await;
    let client = site.clients.client();
    let matching = json!({ "certificateSha256": client.sha256() });
    let pinned = site.identity(matching).await;
    let svid = site.one.workload(&[CART]).header();
    let client = client.header();
    for (header, id) in
        [(svid.clone(), &workload), (client, &pinned), (format!("  {svid} "), &workload)]
    {
        let answer = site.ask_by_proxy(&[("client-cert", &header)]).await.ok();
        assert_eq!(caller(&answer), *id);
    }
    unauthenticated(site.ask_by_proxy(&[]).await);
}

#[tokio::test]
async fn intermediate_certificates_are_forwarded_in_a_list() {
    let site = Site::new().await;
    site.identity(json!({ "spiffeId": CART })).await;
    let first = site.one.intermediate();
    let second = first.intermediate();
    let own = second.workload(&[CART]).header();
    let chain = [second.header(), first.header()];
    let list = chain.join(", ");
    let own = ("client-cert", own.as_str());
    let one = [own, ("client-cert-chain", list.as_str())];
    site.ask_by_proxy(&one).await.ok();
    let lines =
        [own, ("client-cert-chain", chain[0].as_str()), ("client-cert-chain", chain[1].as_str())];
    site.ask_by_proxy(&lines).await.ok();
    unauthenticated(site.ask_by_proxy(&[own]).await);
    for malformed in ["", "x", &chain[0].replace(':', ""), &format!("{list},")] {
        let headers = [own, ("client-cert-chain", malformed)];
        unauthenticated(site.ask_by_proxy(&headers).await);
    }
}

#[tokio::test]
async fn the_header_of_another_client_is_ignored() {
    let site = Site::new().await;
    site.identity(json!({ "spiffeId": CART })).await;
    let forged = site.one.workload(&[CART]).header();
    let client = site.clients.client();
    unauthenticated(site.ask(&client, &[("client-cert", &forged)]).await);
    // The client is who its own certificate says.
    let matching = json!({ "certificateSha256": client.sha256() });
    let id = site.identity(matching).await;
    for header in [forged.as_str(), "malformed"] {
        let answer = site.ask(&client, &[("client-cert", header)]).await.ok();
        assert_eq!(caller(&answer), id, "{header}");
    }
    // Without TLS there is no certificate.
    let plain = site.world.anonymous().with("client-cert", &forged);
    unauthenticated(plain.get(super::CALLER).await);
}

#[tokio::test]
async fn a_malformed_or_repeated_header_is_refused() {
    let site = Site::new().await;
    site.identity(json!({ "spiffeId": CART })).await;
    let good = site.one.workload(&[CART]).header();
    let inner = good.trim_matches(':');
    site.ask_by_proxy(&[("client-cert", &good)]).await.ok();
    for malformed in [
        "",
        "::",
        ":AAAA:",
        inner,
        &format!(":{inner}"),
        &format!(":{inner}:;a=1"),
        &format!("{good}, {good}"),
        &format!(":{}:", &inner[..inner.len() - 8]),
        &format!(":{}:", inner.replace('+', "-").replace('/', "_").replacen("MI", "M_", 1)),
        "\"text\"",
    ] {
        unauthenticated(site.ask_by_proxy(&[("client-cert", malformed)]).await);
    }
    let repeated = [("client-cert", good.as_str()), ("client-cert", good.as_str())];
    unauthenticated(site.ask_by_proxy(&repeated).await);
    // Another credential does not make it right.
    let application = site.world.application("other").await;
    let bearer = format!("Bearer {}", application.key.as_deref().unwrap());
    let bearer = ("authorization", bearer.as_str());
    site.ask_by_proxy(&[bearer]).await.ok();
    let both = [bearer, ("client-cert", "malformed")];
    unauthenticated(site.ask_by_proxy(&both).await);
}

#[tokio::test]
async fn a_forwarded_certificate_is_verified_here() {
    let site = Site::new().await;
    site.identity(json!({ "spiffeId": CART })).await;
    let revoked = site.one.workload(&[CART]);
    let header = revoked.header();
    site.ask_by_proxy(&[("client-cert", &header)]).await.ok();
    site.revoke(&[], &[&revoked]);
    let wrong = [
        ("revoked", revoked),
        (
            "expired",
            site.one.workload_with(&[CART], |params| {
                params.not_after = rcgen::date_time_ymd(2020, 1, 1);
            }),
        ),
        (
            "not valid yet",
            site.one.workload_with(&[CART], |params| {
                params.not_before = rcgen::date_time_ymd(2090, 1, 1);
                params.not_after = rcgen::date_time_ymd(2091, 1, 1);
            }),
        ),
        (
            "for servers",
            site.one.workload_with(&[CART], |params| {
                params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            }),
        ),
        ("of another CA", Authority::new().workload(&[CART])),
        ("of another trust domain", site.two.workload(&[CART])),
    ];
    for (name, issued) in wrong {
        let header = issued.header();
        let answer = site.ask_by_proxy(&[("client-cert", &header)]).await;
        assert_eq!(answer.status, 401, "{name}");
        unauthenticated(answer);
    }
    let kept = site.one.workload(&[CART]).header();
    site.ask_by_proxy(&[("client-cert", &kept)]).await.ok();
}

#[tokio::test]
async fn the_certificate_of_a_proxy_is_no_credential() {
    let site = Site::new().await;
    let matching = json!({ "certificateSha256": site.proxy.sha256() });
    site.identity(matching).await;
    unauthenticated(site.ask_by_proxy(&[]).await);
    // A proxy can forward the certificate of another proxy by mistake.
    let forwarded = site.proxy.header();
    unauthenticated(site.ask_by_proxy(&[("client-cert", &forwarded)]).await);
    let application = site
        .world
        .application("billing")
        .with("certificateSha256", json!(site.proxy.sha256()))
        .await;
    let bearer = format!("Bearer {}", application.key.as_deref().unwrap());
    unauthenticated(site.ask_by_proxy(&[("authorization", &bearer)]).await);
}

#[tokio::test]
async fn a_pinned_proxy_outside_the_trusted_networks_is_ignored() {
    let elsewhere = vec!["192.0.2.0/24".parse().unwrap()];
    let site = Site::with(|_, http| http.trusted_proxies = elsewhere).await;
    site.identity(json!({ "spiffeId": CART })).await;
    let header = site.one.workload(&[CART]).header();
    unauthenticated(site.ask_by_proxy(&[("client-cert", &header)]).await);
}
