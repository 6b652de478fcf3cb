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
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (method, path, operation) in operations() {
        let client = client(&world, &alice, path);
        let method: Method = method.parse().expect("a method");
        let Some(content) = operation["requestBody"]["content"].as_object() else {
            continue;
        };
        let path = with_id(&world, &destination, path, operation).await;
        for (media, body) in content {
            let mut bodies = Vec::new();
            gather(&body["schema"], "", &|body| body, &mut bodies);
            for (field, body) in bodies {
                seen += 1;
                let sent = body.to_string();
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
    let mut wrong = Vec::new();
    for (method, path, operation) in operations() {
        let mut parameters = operation["parameters"].as_array().into_iter().flatten();
        if !parameters.any(|parameter| parameter["in"] == "query") {
            continue;
        }
        assert_eq!(method, "GET", "{path}");
        let client = client(&world, &alice, path);
        let path = with_id(&world, &destination, path, operation).await;
        let answer = client.get(&format!("{path}?{UNKNOWN}=1")).await;
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

/// The path with the identifier of a resource: the first of its list, or a new one as in the example of
/// the document. A change is proposed by others, but the body of a decision is read before its change is
/// found, so an identifier suffices.
async fn with_id(
    world: &World,
    destination: &Destination,
    path: &str,
    operation: &'static Value,
) -> String {
    let Some((list, _)) = path.split_once("/{id}") else {
        return path.to_owned();
    };
    let listed = world.admin().get(list).await.ok().json();
    let id = match listed["items"][0]["id"].as_str() {
        Some(id) => id.to_owned(),
        None => match new_resource(list, &destination.service, &destination.policy) {
            Some(new) => world.admin().post(list, new).await.created().text("id"),
            None => example_id(operation),
        },
    };
    path.replace("{id}", &id)
}

/// The example of the body that creates a resource in this list, for this service and this policy.
pub(crate) fn new_resource(list: &str, service: &str, policy: &str) -> Option<Value> {
    let schema = &document()["paths"][list]["post"]["requestBody"]["content"]["application/json"];
    let mut body = resolved(&schema["schema"])["examples"].get(0)?.clone();
    for (name, value) in
        [("serviceId", service), ("destinationServiceId", service), ("policyNumber", policy)]
    {
        if let Some(member) = body.get_mut(name) {
            *member = json!(value);
        }
    }
    Some(body)
}

fn example_id(operation: &'static Value) -> String {
    let mut parameters = operation["parameters"].as_array().into_iter().flatten();
    let id = parameters.find(|parameter| parameter["name"] == "id").expect("an id");
    let example = resolved(&id["schema"])["examples"][0].as_str();
    example.expect("an example").to_owned()
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
