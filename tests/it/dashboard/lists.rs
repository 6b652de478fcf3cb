//! Lists: search, filters, pages and exports of the audit log.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::json;

use super::Browser;
use super::sample::{Names, Sample, partner_key};
use testkit::{Answer, World};

/// The rows of the table of a page. Empty without a table.
fn rows(page: &str) -> Vec<&str> {
    let table = page.split("<tbody").nth(1).unwrap_or_default();
    let table = table.split("</tbody>").next().unwrap_or_default();
    table.split("<tr").skip(1).collect()
}

#[tokio::test]
async fn every_list_applies_its_filters() {
    let sample = Sample::new(Names::Typical).await;
    let mut browser = Browser::signed_in(&sample.world).await;
    let of = |filter: &str, id: &str| format!("{filter}={id}");
    let cases: [(String, &str, &str); 24] = [
        ("services?nameContains=BILL".into(), "billing", "payments"),
        ("policies?text=lega".into(), "LEGACY", "BILLING"),
        ("policies?text=Telemetry+d".into(), "TELEMETRY", "LEGACY"),
        ("policies?status=inactive".into(), "LEGACY", "PARTNER"),
        ("policies?deleted=true".into(), "INVOICES", "BILLING"),
        (of("policies?destinationServiceId", &sample.partner), "PARTNER", "BILLING"),
        ("keys?nameContains=CARD".into(), "card numbers", "receipts"),
        ("keys?use=sig".into(), "receipts", "card numbers"),
        ("keys?status=retired".into(), "billing 2025", "billing 2026"),
        (of("keys?serviceId", &sample.partner), &sample.partner_key, "receipts"),
        ("api-keys?nameContains=STAG".into(), "in staging", "in production"),
        ("api-keys?type=test".into(), "in staging", "in production"),
        ("api-keys?status=revoked".into(), "laptop", "in production"),
        (of("api-keys?serviceId", &sample.billing), "in production", "in staging"),
        ("audit?operationType=hash".into(), "hash", "encrypt"),
        ("audit?status=404".into(), "404 ", "500 "),
        ("audit?outcome=refused".into(), "404 ", "500 "),
        ("audit?outcome=failed".into(), "500 ", "404 "),
        ("audit?policyNumber=LEGACY".into(), "LEGACY", "BILLING"),
        (of("audit?keyId", &sample.key), "BILLING", "LEGACY"),
        (of("audit?applicationId", &sample.partner), "", "payments"),
        ("audit?from=2030-01-31T12:00".into(), "", "payments"),
        ("events?action=revoke".into(), "laptop", "in production"),
        (of("events?resourceId", &sample.key), "billing 2026", "receipts"),
    ];
    for (filter, shown, hidden) in cases {
        let page = browser.get(&format!("/dashboard/{filter}")).await.ok().body;
        let rows = rows(&page).concat();
        assert_eq!(rows.is_empty(), shown.is_empty(), "{filter}: {rows}");
        assert!(rows.contains(shown), "{filter} shows no {shown}: {rows}");
        assert!(!rows.contains(hidden), "{filter} shows {hidden}: {rows}");
    }
}

#[tokio::test]
async fn payloads_that_were_not_protected_are_marked() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    alice.protect(json!("secret")).await.ok();
    let mut browser = Browser::signed_in(&world).await;
    for (mode, outcome, badge) in [
        ("passthrough", "passed_through", "200 passed_<wbr>through"),
        ("drop", "dropped", "200 dropped"),
    ] {
        let change = json!({ "status": "inactive", "failureMode": mode });
        world.change_policy(&destination, change).await;
        alice.protect(json!("secret")).await.ok();
        let badge = format!("<span class=\"badge warn\"><span>{badge}</span>");
        let place = format!("/dashboard/audit?outcome={outcome}");
        let page = browser.get(&place).await.ok().body;
        let [row] = rows(&page)[..] else { panic!("not one row: {page}") };
        assert!(row.contains(&badge), "{row}");
    }
    let page = browser.get("/dashboard/audit?outcome=done").await.ok().body;
    let [row] = rows(&page)[..] else { panic!("not one row: {page}") };
    assert!(row.contains("<span>200</span>"), "{row}");
}

/// Creates one more resource of each kind than a page has rows.
async fn fill_lists(world: &World) {
    let caller = world.application("caller").await;
    let service = world.service("destination").await;
    for number in 0..=50 {
        let name = format!("number {number}");
        for (collection, body) in [
            ("services", json!({})),
            ("policies", json!({ "destinationServiceId": service, "allowedServiceIds": ["*"] })),
            ("keys", json!({ "serviceId": service, "publicKey": partner_key() })),
            ("api-keys", json!({ "type": "live", "serviceId": service })),
        ] {
            let mut body = body;
            body["name"] = json!(name);
            let collection = format!("/admin/{collection}");
            world.admin().post(&collection, body).await.created();
        }
        let hash = json!({ "data": number, "algorithm": "SHA-256" });
        caller.operate("hash", hash).await.ok();
    }
}

/// The target of the first link with this text.
fn link(page: &Answer, words: &str) -> Option<String> {
    let (before, _) = page.body.split_once(&format!("\">{words}</a>"))?;
    let (_, place) = before.rsplit_once("href=\"")?;
    Some(place.replace("&amp;", "&"))
}

#[tokio::test]
async fn every_list_has_pages() {
    let world = World::new().await;
    fill_lists(&world).await;
    let mut browser = Browser::signed_in(&world).await;
    for place in [
        "services?nameContains=",
        "policies?status=active",
        "keys?use=enc",
        "api-keys?status=active",
        "audit?operationType=hash",
        "events?action=create",
    ] {
        let named = |page: &Answer| -> Vec<String> {
            let rows = rows(&page.body).into_iter();
            let first = |row: &str| {
                let (_, link) = row.split_once("href=\"")?;
                Some(link.split_once('"')?.0.to_owned())
            };
            rows.filter_map(first).collect()
        };
        let first = browser.get(&format!("/dashboard/{place}")).await.ok();
        assert_eq!(named(&first).len(), 50, "{place}");
        assert_eq!(link(&first, "First page"), None, "{place}");
        let next = link(&first, "Next page").expect("a second page");
        let second = browser.get(&next).await.ok();
        assert!(!named(&second).is_empty(), "{place}");
        let [before, after] = [&first, &second].map(|page| BTreeSet::from_iter(named(page)));
        assert!(before.is_disjoint(&after), "{place}");
        let back = link(&second, "First page").expect("a link to the first page");
        assert_eq!(named(&browser.get(&back).await.ok()), named(&first));
        let (_, filter) = place.split_once('?').expect("a filter");
        let kept = filter.ends_with('=') || (next.contains(filter) && back.contains(filter));
        assert!(kept, "{next} and {back} keep {filter}");
    }
}

#[tokio::test]
async fn audit_exports_match_the_list() {
    let sample = Sample::new(Names::Typical).await;
    let mut browser = Browser::signed_in(&sample.world).await;
    let page = browser.get("/dashboard/audit?operationType=decrypt").await;
    for (words, media, name) in [
        ("Export CSV", "text/csv; charset=utf-8", "audit.csv"),
        ("Export NDJSON", "application/x-ndjson", "audit.ndjson"),
    ] {
        let place = link(&page, words).expect("an export");
        let file = browser.get(&place).await.ok();
        assert_eq!(file.header("content-type"), media);
        let attached = format!("attachment; filename=\"{name}\"");
        assert_eq!(file.header("content-disposition"), attached);
        let lines: Vec<&str> = file.body.lines().collect();
        let records = lines.iter().filter(|line| line.contains("decrypt")).count();
        let head = usize::from(media.starts_with("text/csv"));
        assert_eq!((records, lines.len()), (1, 1 + head), "{}", file.body);
    }
    let wrong = browser.get("/dashboard/audit/export.csv?status=x").await;
    assert_eq!(wrong.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_key_page_shows_its_use_and_events() {
    let sample = Sample::new(Names::Typical).await;
    let mut browser = Browser::signed_in(&sample.world).await;
    let place = format!("/dashboard/keys/{}", sample.key);
    let key = browser.get(&place).await.ok().body;
    let detail = |name: &str| {
        let (_, rest) = key.split_once(&format!("<dt>{name}</dt>")).expect(name);
        rest.split("</dd>").next().expect("a value").to_owned()
    };
    let uses = "SELECT to_char(sum(protections + openings), 'FM999,999,999') FROM key_use_days WHERE key_id = $1";
    let id: engine::ids::KeyId = sample.key.parse().expect("an id");
    let ever: String =
        sqlx::query_scalar(uses).bind(id).fetch_one(&sample.world.pool).await.expect("its uses");
    assert!(detail("Total").contains(&format!(">{ever}<")), "{ever}");
    assert!(detail("Last used").contains("2026-05-12"));

    let events = "/admin/audit/management?resourceType=key&action=update";
    let events = sample.world.admin().get(events).await.ok().json();
    let retired = events["items"].as_array().expect("events").iter();
    let mut retired = retired.filter(|event| event["after"]["status"] == "retired");
    let event = retired.next().expect("a retirement event")["id"].as_str();
    let place = format!("/dashboard/events/{}", event.expect("an id"));
    let event = browser.get(&place).await.ok().body;
    for change in ["<del><bdi>active</bdi></del>", "<ins><bdi>retired</bdi></ins>"] {
        assert!(event.contains(change), "{event}");
    }
}

#[tokio::test]
async fn a_resource_whose_row_does_not_count_is_marked() {
    let sample = Sample::new(Names::Typical).await;
    let mut browser = Browser::signed_in(&sample.world).await;
    for (list, table) in [
        ("services", "services"),
        ("policies", "policies"),
        ("keys", "keys"),
        ("identities", "identities"),
        // The key of the session is an admin key.
        ("api-keys?type=live", "api_keys"),
    ] {
        let page = async |browser: &mut Browser<'_>| {
            browser.get(&format!("/dashboard/{list}")).await.ok().body
        };
        assert!(!page(&mut browser).await.contains("row does not count"), "{list}");
        let sql = format!(
            "UPDATE {table} SET seal = NULL WHERE id <> ALL (SELECT id FROM api_keys WHERE type = 'admin')"
        );
        sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&sample.world.pool).await.expect("a change");
        let shown = page(&mut browser).await;
        let marked = rows(&shown).into_iter().filter(|row| row.contains("row does not count"));
        assert_eq!(marked.count(), rows(&shown).len(), "{list}");
    }
}
