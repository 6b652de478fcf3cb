//! Every management route with every member: what allows more is proposed, and all else is done.

mod api_keys;
mod frozen;
mod identities;
mod keys;
mod people;
mod policies;

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::Value;

use super::Office;
use crate::openapi::operations;
use testkit::{Answer, Client};

/// A request that changes a resource: the members before, the change, and whether it allows more.
type Row = (Value, Value, bool);

/// The writing routes that the tests of this file cover.
const COVERED: [&str; 22] = [
    "PUT /admin/services/{id}",
    "PATCH /admin/services/{id}",
    "POST /admin/emergency/unfreeze",
    "POST /admin/policies",
    "PUT /admin/policies/{id}",
    "PATCH /admin/policies/{id}",
    "DELETE /admin/policies/{id}",
    "POST /admin/policies/{id}/restore",
    "POST /admin/keys",
    "PUT /admin/keys/{id}",
    "PATCH /admin/keys/{id}",
    "DELETE /admin/keys/{id}",
    "POST /admin/api-keys",
    "PUT /admin/api-keys/{id}",
    "PATCH /admin/api-keys/{id}",
    "DELETE /admin/api-keys/{id}",
    "POST /admin/keys/import-parameters",
    "POST /admin/identities",
    "PUT /admin/identities/{id}",
    "PATCH /admin/identities/{id}",
    "DELETE /admin/identities/{id}",
    "POST /admin/people/{id}/unlock",
];

/// The writing routes that open nothing, of resources whose other changes can need approval.
const EXEMPT: [&str; 5] = [
    "POST /admin/services",
    "DELETE /admin/services/{id}",
    "POST /admin/emergency/freeze",
    "POST /admin/people",
    "POST /admin/people/{id}/lock",
];

#[test]
fn every_writing_route_is_covered_or_exempt() {
    let proposing = operations().filter(|(.., route)| route["responses"]["202"].is_object());
    let collections: BTreeSet<_> = proposing.map(|(_, path, _)| collection(path)).collect();
    let writing = operations()
        .filter(|(method, path, _)| method != "GET" && collections.contains(collection(path)));
    let found: BTreeSet<_> = writing.map(|(method, path, _)| format!("{method} {path}")).collect();
    let known = COVERED.iter().chain(&EXEMPT).map(|route| (*route).to_owned());
    assert_eq!(found, known.collect());
}

/// The start of a path that names the collection, such as `/admin/keys`.
fn collection(path: &str) -> &str {
    let end = path.match_indices('/').nth(2).map_or(path.len(), |(end, _)| end);
    &path[..end]
}

fn merged(body: &Value, members: &Value) -> Value {
    let mut merged = body.clone();
    let members = members.as_object().expect("an object").clone();
    merged.as_object_mut().expect("an object").extend(members);
    merged
}

/// Makes each change with PUT and PATCH of a new resource.
async fn check_changes(
    office: &Office,
    client: &Client<'_>,
    place: &str,
    body: Value,
    rows: &[Row],
) {
    for (before, change, opens) in rows {
        for method in [Method::PUT, Method::PATCH] {
            let request = merged(&body, before);
            let created = office.open.admin().post(place, request).await.created();
            let path = created.header("location");
            let answer = if method == Method::PUT {
                client.put(path, change.clone()).await
            } else {
                client.patch(path, change.clone()).await
            };
            let note = format!("{method} {place} {before} {change}: {}", answer.body);
            check(&answer, *opens, &note);
            if *opens {
                let read = client.get(path).await.ok().json();
                let mut shown = created.json();
                shown.as_object_mut().expect("an object").remove("secret");
                assert_eq!(read, shown, "{note}");
            }
        }
    }
}

#[track_caller]
fn check(answer: &Answer, opens: bool, note: &str) {
    let expected = if opens { 202 } else { 200 };
    assert_eq!(answer.status, expected, "{note}");
}
