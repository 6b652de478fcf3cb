//! Every route refuses unknown members of its request, at every level, and unknown query parameters.

use axum::http::Method;
use serde_json::{Map, Value, json};
use testkit::conformance::document;
use testkit::{Client, Destination, World};

use super::routes::operations;

/// No request has this member or parameter.
const UNKNOWN: &str = "unexpected";

#[tokio::test]
async fn every_route_refuses_unknown_members_at_every_level() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let ids = ids(&world, &destination, &alice).await;
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (method, path, operation) in operations() {
        let client = client(&world, &alice, path);
        let method: Method = method.parse().expect("a method");
        let content = operation["requestBody"]["content"].as_object();
        for (media, body) in content.into_iter().flatten() {
            let mut bodies = Vec::new();
            gather(&body["schema"], "", &|body| body, &mut bodies);
            for (field, body) in bodies {
                seen += 1;
                let sent = body.to_string();
                let path = with_id(path, &ids);
                let answer = client.send_as(media, method.clone(), &path, &sent).await;
                let is_reported = reports(&answer.json(), reported_field(&field));
                if !is_reported {
                    wrong.push(format!("{method} {path} {field}: {sent} {}", answer.body));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen > 50, "{seen}");
}

#[tokio::test]
async fn every_list_refuses_unknown_parameters() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let ids = ids(&world, &destination, &alice).await;
    let mut wrong = Vec::new();
    for (method, path, operation) in operations() {
        let mut parameters = operation["parameters"].as_array().into_iter().flatten();
        if !parameters.any(|parameter| parameter["in"] == "query") {
            continue;
        }
        assert_eq!(method, "GET", "{path}");
        let client = client(&world, &alice, path);
        let answer = client.get(&format!("{}?{UNKNOWN}=1", with_id(path, &ids))).await;
        if answer.status != 400 || !reports(&answer.json(), UNKNOWN) {
            wrong.push(format!("{path}: {}", answer.body));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn client<'w>(world: &'w World, alice: &Client<'w>, path: &str) -> Client<'w> {
    match path.starts_with("/admin/") {
        true => world.admin(),
        false => alice.clone(),
    }
}

/// An identifier for each kind of path. The body of a decision is read before its change is found.
async fn ids(
    world: &World,
    destination: &Destination,
    alice: &Client<'_>,
) -> [(&'static str, String); 6] {
    let matching = json!({ "issuer": "https://issuer.example", "subject": "alice" });
    let identity = json!({ "name": "alice", "serviceId": destination.service, "match": matching });
    let identity = world.admin().post("/admin/identities", identity).await;
    [
        ("/api-keys/", alice.key_id.clone().expect("a key of its own")),
        ("/changes/", "chg_01h455vb4pex5vsknk084sn02q".to_owned()),
        ("/identities/", identity.created().text("id")),
        ("/keys/", destination.key.clone()),
        ("/policies/", destination.policy_id.clone()),
        ("/services/", destination.service.clone()),
    ]
}

fn with_id(path: &str, ids: &[(&str, String)]) -> String {
    let id = ids.iter().find(|(part, _)| path.contains(part));
    path.replace("{id}", id.map_or("", |(_, id)| id))
}

/// Items of a batch name their own members. An unprotected header with another member than `epk` is
/// refused as a whole.
fn reported_field(field: &str) -> &str {
    let field = field.strip_prefix("items[0].").unwrap_or(field);
    match field.strip_suffix(UNKNOWN).and_then(|it| it.strip_suffix('.')) {
        Some(header @ ("jwe.header" | "jwe.unprotected")) => header,
        _ => field,
    }
}

/// Gathers, for each object of the request without free members, the member to add and the body.
fn gather(
    schema: &'static Value,
    at: &str,
    body: &dyn Fn(Value) -> Value,
    found: &mut Vec<(String, Value)>,
) {
    let schema = resolved(schema);
    for alternative in schema["oneOf"].as_array().into_iter().flatten() {
        gather(alternative, at, body, found);
    }
    if schema["items"].is_object() {
        let item = |value| body(json!([value]));
        gather(&schema["items"], &format!("{at}[0]"), &item, found);
    }
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    let field = |name: &str| match at {
        "" => name.to_owned(),
        at => format!("{at}.{name}"),
    };
    let with = |name: &str, value: Value| {
        let mut object = constants(properties);
        object.insert(name.to_owned(), value);
        body(Value::Object(object))
    };
    if schema["additionalProperties"] == false {
        found.push((field(UNKNOWN), with(UNKNOWN, json!(1))));
    }
    for (name, member) in properties {
        gather(member, &field(name), &|value| with(name, value), found);
    }
}

/// The members that have one value, which selects the schema.
fn constants(properties: &Map<String, Value>) -> Map<String, Value> {
    let constants = properties.iter().filter_map(|(name, schema)| {
        let [value] = schema["enum"].as_array()?.as_slice() else {
            return None;
        };
        Some((name.clone(), value.clone()))
    });
    constants.collect()
}

/// Whether a response, or an item of it, has this problem.
fn reports(part: &Value, field: &str) -> bool {
    match part {
        Value::Object(members) => {
            members.get("field").is_some_and(|it| it == field)
                && members.get("code").is_some_and(|it| it == "unknown")
                || members.values().any(|member| reports(member, field))
        }
        Value::Array(items) => items.iter().any(|item| reports(item, field)),
        _ => false,
    }
}

fn resolved(part: &'static Value) -> &'static Value {
    let reference = part["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
    reference.map_or(part, |at| document().pointer(at).expect("a target"))
}
