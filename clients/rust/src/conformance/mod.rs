//! The cases of `clients/conformance`, which all client libraries run against one scripted server.
//!
//! `SEALWARD_OPENAPI` names a file with the OpenAPI document. With it, the server also checks the known members.
//! `SEALWARD_WORLD` names a file of `clients/conformance/world.py`. With it, the cases against a real service run too.

mod calls;
pub(crate) mod known;
mod outcome;
mod server;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::outcome::Report;
use self::server::{Server, Session};
use crate::{Builder, CacheLimits, Client, Credential, Error};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_case_passes() {
    let server = Arc::new(Server::start().await);
    let cases = server.get("cases").await;
    let mut parts = vec!["runtime", "management"];
    assert_eq!(cases["languages"]["rust"], json!(parts));
    if server.has_world {
        parts.extend(["live", "live-management"]);
    }
    let due = cases["cases"].as_array().unwrap().iter();
    let due = due.filter(|case| parts.contains(&case["part"].as_str().unwrap()));
    let at_once = Arc::new(Semaphore::new(8));
    let mut running = JoinSet::new();
    for case in due.cloned() {
        let (server, at_once) = (Arc::clone(&server), Arc::clone(&at_once));
        running.spawn(async move {
            let _permit = at_once.acquire().await.unwrap();
            run(&server, case["name"].as_str().unwrap()).await;
        });
    }
    running.join_all().await;
    if server.has_document {
        server.post("known/rust", &known::all()).await;
    }
    let report = server.get("report/rust").await;
    assert_eq!(report["passed"], true, "{report:#}");
    assert!(report["count"].as_u64() > Some(100), "{report:#}");
}

async fn run(server: &Server, name: &str) {
    let session = server.begin(name).await;
    let case = &session.case;
    let mut report = Report::default();
    match make(case, &session) {
        Ok(client) => {
            report.show(&client);
            for step in case["steps"].as_array().unwrap() {
                perform(&client, step, &session, &mut report).await;
            }
        }
        Err(error) => report.add(Duration::ZERO, Err(error)),
    }
    server.finish(&session, &report.into_json()).await;
}

async fn perform(client: &Client, step: &Value, session: &Session, report: &mut Report) {
    if let Some(text) = step["write"].as_str() {
        session.write_credential(text);
        return;
    }
    let mut arguments = step["arguments"].clone();
    for (name, from) in step["use"].as_object().into_iter().flatten() {
        arguments[name] = report.result(from);
    }
    let mut calls = JoinSet::new();
    for _ in 0..step["concurrent"].as_u64().unwrap_or(1) {
        let (client, step, arguments) = (client.clone(), step.clone(), arguments.clone());
        let parent = session.case["client"]["traceparent"].as_str().map(ToOwned::to_owned);
        calls.spawn(async move {
            let began = Instant::now();
            let call = calls::call(&client, step["call"].as_str().unwrap(), &arguments);
            let result = in_span(parent.as_deref(), call).await;
            (began.elapsed(), result)
        });
    }
    for (elapsed, result) in calls.join_all().await {
        report.add(elapsed, result);
    }
}

fn make(case: &Value, session: &Session) -> Result<Client, Error> {
    let settings = &case["client"];
    if let Some(variables) = settings["environment"].as_object() {
        return Client::from_variables(|name| {
            let text = variables.get(name)?.as_str()?;
            Some(session.fill_in(text))
        });
    }
    let credential = &settings["credential"];
    let mut builder = Builder::new(&session.url);
    if let Some(key) = credential["apiKey"].as_str() {
        builder = builder.credential(Credential::api_key(key));
    }
    if let Some(text) = credential["apiKeyFile"].as_str().or(credential["tokenFile"].as_str()) {
        session.write_credential(text);
        builder = builder.credential(Credential::file(session.credential_file()));
    }
    if credential["certificate"] == true {
        builder = builder.certificate(&session.certificate, &session.certificate_key);
    }
    if case["tls"] == true && !settings.as_object().unwrap().contains_key("caFile") {
        builder = builder.authorities(&session.authority);
    }
    if settings["allowPlaintext"] == true {
        builder = builder.allow_plaintext();
    }
    let seconds = |name: &str| settings[name].as_f64().map(Duration::from_secs_f64);
    if let Some(deadline) = seconds("deadlineSeconds") {
        builder = builder.deadline(deadline);
    }
    if let Some(attempts) = settings["maxAttempts"].as_u64() {
        builder = builder.max_attempts(attempts.try_into().unwrap());
    }
    if let Some(pause) = seconds("maxRetryAfterSeconds") {
        builder = builder.max_retry_after(pause);
    }
    if let Some(cache) = settings["dataKeyCache"].as_object() {
        builder = builder.cache_data_keys(CacheLimits {
            max_age: Duration::from_secs_f64(cache["maxAgeSeconds"].as_f64().unwrap()),
            max_messages: cache["maxMessages"].as_u64().unwrap(),
            max_bytes: cache["maxBytes"].as_u64().unwrap(),
        });
    }
    builder.build()
}

/// Runs a call in a span of OpenTelemetry with these IDs.
async fn in_span<T>(parent: Option<&str>, call: impl Future<Output = T>) -> T {
    use opentelemetry::Context;
    use opentelemetry::context::FutureExt as _;
    use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId};

    let Some(parent) = parent else {
        return call.await;
    };
    let ids: Vec<_> = parent.split('-').collect();
    let span = SpanContext::new(
        TraceId::from_hex(ids[1]).unwrap(),
        SpanId::from_hex(ids[2]).unwrap(),
        TraceFlags::SAMPLED,
        true,
        opentelemetry::trace::TraceState::default(),
    );
    call.with_context(Context::new().with_remote_span_context(span)).await
}
