//! The alerts and the dashboard in deploy/ use existing metrics and labels.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use axum::body::Body;
use axum::http::Request;
use formats::clock::Timestamp;
use serde_json::Value;
use tower::ServiceExt as _;

use super::site::Site;
use testkit::{Answer, Exposition, World};

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All metrics after one request, with their labels.
async fn metrics() -> Exposition {
    let world = World::new().await;
    world.anonymous().get("/livez").await.ok();
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let tls = Site::new().tls().unwrap();
    let listening = world.metrics(Some(tls)).await;
    let response = listening.oneshot(request).await.unwrap();
    let page = Answer::of(response).await.ok().body;
    // The textfile collector of the node exporter adds the metric of drills.
    let drills = engine::drill::metric(Timestamp::from_millis(0));
    let end = page.find("# EOF").expect("the end");
    Exposition::parse(&format!("{}{drills}{}", &page[..end], &page[end..]))
}

/// Checks a PromQL expression: balanced brackets, and names and labels that
/// exist.
fn assert_valid(page: &Exposition, expression: &str) {
    let mut open = Vec::new();
    for character in expression.chars() {
        match character {
            '(' | '[' | '{' => open.push(character),
            ')' | ']' | '}' => {
                let pair = (open.pop(), character);
                let fits = matches!(pair, (Some('('), ')') | (Some('['), ']') | (Some('{'), '}'));
                assert!(fits, "{expression}");
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "{expression}");

    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut labels = BTreeSet::from(["instance", "job", "exported_job", "le"]);
    let names = expression
        .split(|character: char| !is_word(character))
        .filter(|word| word.starts_with("sealward_") || word.starts_with("process_"));
    for name in names {
        let family = page.families.iter().find(|(family, about)| {
            let rest = name.strip_prefix(family.as_str());
            match about.kind.as_str() {
                "counter" => rest == Some("_total"),
                "histogram" => {
                    rest.is_some_and(|rest| ["_bucket", "_sum", "_count"].contains(&rest))
                }
                _ => rest == Some(""),
            }
        });
        let (family, _) = family.unwrap_or_else(|| panic!("there is no {name}: {expression}"));
        labels.extend(page.lines_of(family).1);
    }
    let chosen = expression.split('{').skip(1).flat_map(|rest| {
        let inside = rest.split('}').next().unwrap_or_default();
        let label = |part: &str| part.split(['=', '!']).next().unwrap_or_default().to_owned();
        inside.split(',').map(label).collect::<Vec<_>>()
    });
    let summed = ["by (", "on ("].into_iter().flat_map(|word| {
        expression.split(word).skip(1).flat_map(|rest| {
            let inside = rest.split(')').next().unwrap_or_default();
            inside.split(',').map(|label| label.trim().to_owned())
        })
    });
    for label in chosen.chain(summed) {
        assert!(labels.contains(label.as_str()), "no label {label}: {expression}");
    }
}

#[tokio::test]
async fn every_alert_uses_existing_metrics() {
    let page = metrics().await;
    let text = file("prometheus/alerts.yaml");
    let alerts: Vec<_> = text.split("\n      - alert: ").skip(1).collect();
    assert!(alerts.len() > 10, "the file contains no alerts");
    let mut names = BTreeSet::new();
    for alert in alerts {
        let name = alert.lines().next().unwrap_or_default();
        assert!(names.insert(name), "{name} is defined twice");
        let expression = alert.split("        expr: ").nth(1).expect("an expression");
        let end = ["\n        for: ", "\n        labels: "]
            .iter()
            .filter_map(|next| expression.find(next))
            .min();
        let expression = &expression[..end.expect("something after it")];
        let folded: Vec<_> = expression.trim_start_matches(">-").split_whitespace().collect();
        assert_valid(&page, &folded.join(" "));
        let severities =
            ["critical", "warning", "info"].map(|name| format!("{{ severity: {name} }}"));
        assert!(severities.iter().any(|severity| alert.contains(severity)), "{name}");
        for part in ["summary: \"", "action: \""] {
            assert!(alert.contains(part), "{name} has no {part}");
        }
    }
}

#[tokio::test]
async fn every_panel_uses_existing_metrics() {
    let page = metrics().await;
    let dashboard: Value = serde_json::from_str(&file("grafana/sealward.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut places = BTreeSet::new();
    let mut shown = String::new();
    for panel in panels {
        let place = &panel["gridPos"];
        assert!(places.insert((place["x"].as_u64(), place["y"].as_u64())), "{panel}");
        assert!(panel["title"].as_str().is_some_and(|title| !title.is_empty()));
        for target in panel["targets"].as_array().into_iter().flatten() {
            let expression = target["expr"].as_str().unwrap();
            assert_valid(&page, expression);
            shown += expression;
            shown += "\n";
        }
    }
    // The dashboard shows every metric with few exceptions.
    let unshown = ["key_searches", "sessions_opened", "logins", "state_age"];
    for name in page.families.keys() {
        let is_shown = shown.contains(name.as_str());
        let is_exempt = unshown.iter().any(|word| name.contains(word));
        assert!(is_shown || is_exempt, "{name} is on no panel");
    }
}
