//! The routes of the router and of the document are the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use axum::body::Body;
use axum::http::{Method, Request};
use sealward::server::Answers as _;
use serde_json::Value;

use testkit::conformance::document;
use testkit::{Answer, World};

/// All operations of the document with their methods and paths.
pub(crate) fn operations() -> impl Iterator<Item = (String, &'static String, &'static Value)> {
    let paths = document()["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, item)| {
        let item = item.as_object().expect("operations");
        item.iter().map(move |(method, operation)| (method.to_uppercase(), path, operation))
    })
}

#[tokio::test]
async fn each_path_supports_exactly_the_documented_methods() {
    let world = World::new().await;
    let paths: BTreeSet<_> = operations().map(|(_, path, _)| path).collect();
    for path in paths {
        let mut documented: BTreeSet<String> =
            operations().filter(|(_, of, _)| *of == path).map(|(method, ..)| method).collect();
        if documented.contains("GET") {
            documented.insert("HEAD".to_owned());
        }
        let refused = world.admin().send_text(Method::TRACE, path, "{}").await;
        let refused = refused.refused(405, "METHOD_NOT_ALLOWED");
        let alternatives = refused.header("allow").split(',');
        let alternatives: BTreeSet<_> =
            alternatives.map(|method| method.trim().to_owned()).collect();
        assert_eq!(alternatives, documented, "{path}");
    }
}

#[tokio::test]
async fn head_responses_have_a_length_and_no_body() {
    let world = World::new().await;
    let send = async |method, path| {
        let request = Request::builder().method(method).uri(path);
        let request = request.body(Body::empty()).unwrap();
        Answer::of(world.front().answer(request).await).await
    };
    for path in ["/livez", "/nowhere", "/admin/services", "/api/v1/protect"] {
        let (head, get) = (send("HEAD", path).await, send("GET", path).await);
        assert_eq!(head.status, get.status, "{path}");
        assert_eq!(head.body, "", "{path}");
        assert_eq!(head.header("content-length"), get.body.len().to_string(), "{path}");
    }
}

/// `Routes::at` documents its routes. No other function may add routes.
#[test]
fn every_route_has_a_description() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http");
    let undocumented: Vec<_> = files(&folder)
        .into_iter()
        .filter(|file| !file.ends_with("routes.rs"))
        .filter(|file| {
            let text = fs::read_to_string(file).expect("a source file");
            [".route(", ".route_service(", ".nest("].iter().any(|call| text.contains(call))
        })
        .collect();
    assert!(undocumented.is_empty(), "{undocumented:?}");
}

/// The handler accepts every documented filter. It refuses unknown ones with another code.
#[tokio::test]
async fn every_documented_query_parameter_is_accepted() {
    let world = World::new().await;
    for (method, path, operation) in operations() {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let names = parameters
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| parameter["name"].as_str().expect("a name"));
        for name in names {
            assert_eq!(method, "GET", "{path}");
            let answer = world.admin().get(&format!("{path}?{name}=%00")).await;
            // No parameter accepts U+0000, so the response shows whether the name is known.
            let details = answer.refused(400, "INVALID_REQUEST").json()["error"]["details"].clone();
            let details = details.as_array().expect("details");
            assert_eq!(details.len(), 1, "{path}: {details:?}");
            assert_eq!(details[0]["field"], name, "{path}");
            assert_ne!(details[0]["code"], "unknown", "{path}: {name}");
        }
    }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
