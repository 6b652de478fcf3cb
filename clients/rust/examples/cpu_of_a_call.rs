//! Measures the CPU time of a call of `protect` against that of a bare client of hyper, with 16 connections.
//!
//! The bare client encodes the same body and decodes the same answer. The server, whose CPU time does not count, runs in
//! another process: `cargo run --release -p sealward-client --example cpu_of_a_call`

#![allow(clippy::print_stdout, reason = "the result of this program")]

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use sealward_client::{Client, Credential, Payload, Scope};
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;

const CONNECTIONS: u32 = 16;
const CALLS: u32 = 40_000;
const ROUNDS: u32 = 6;
const KEY: &str = "sk_test_cpu";

type Failure = Box<dyn Error + Send + Sync>;
type Bare = Pool<HttpConnector, Full<Bytes>>;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/answering.py");
    let mut server = Command::new(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut url = String::new();
    let output = server.stdout.take().ok_or("no output")?;
    BufReader::new(output).read_line(&mut url)?;
    let url = url.trim().to_owned();

    let client = Client::builder(&url).credential(Credential::api_key(KEY)).build()?;
    let bare: Bare = Pool::builder(TokioExecutor::new()).build_http();
    for _ in 0..ROUNDS {
        let (pool, address, caller) = (bare.clone(), url.clone(), client.clone());
        let without = measured(move || call_bare(pool.clone(), address.clone())).await?;
        let with = measured(move || call(caller.clone())).await?;
        println!(
            "bare {without:.1} µs, client {with:.1} µs: {:+.1} %",
            100.0 * (with / without - 1.0)
        );
    }
    drop(server.stdin.take());
    server.wait()?;
    Ok(())
}

fn payload() -> serde_json::Value {
    json!({ "card": "4111 1111 1111 1111", "name": "A. Customer" })
}

async fn call(client: Client) -> Result<(), Failure> {
    client.protect(&Payload::json(&payload())?, &Scope::new()).await?;
    Ok(())
}

/// The members of an envelope.
#[derive(Deserialize)]
struct Jwe {
    #[serde(rename = "ciphertext")]
    _ciphertext: String,
    #[serde(rename = "encrypted_key")]
    _encrypted_key: String,
    #[serde(rename = "iv")]
    _iv: String,
    #[serde(rename = "protected")]
    _protected: String,
    #[serde(rename = "tag")]
    _tag: String,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "jwe")]
    _jwe: Jwe,
}

async fn call_bare(client: Bare, url: String) -> Result<(), Failure> {
    let body = serde_json::to_vec(&json!({ "payload": payload() }))?;
    let request = Request::post(format!("{url}/api/v1/protect"))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {KEY}"))
        .body(Full::new(Bytes::from(body)))?;
    let body = client.request(request).await?.into_body().collect().await?.to_bytes();
    serde_json::from_slice::<Answer>(&body)?;
    Ok(())
}

/// The microseconds of CPU time of a call.
async fn measured<F>(call: impl Fn() -> F + Clone + Send + 'static) -> Result<f64, Failure>
where
    F: Future<Output = Result<(), Failure>> + Send,
{
    let before = cpu_seconds()?;
    let mut workers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let call = call.clone();
        workers.spawn(async move {
            for _ in 0..CALLS / CONNECTIONS {
                call().await?;
            }
            Ok::<_, Failure>(())
        });
    }
    while let Some(ended) = workers.join_next().await {
        ended??;
    }
    Ok((cpu_seconds()? - before) * 1e6 / f64::from(CALLS))
}

/// The CPU time of this process, in the units of 10 ms of Linux.
fn cpu_seconds() -> Result<f64, Failure> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = text.rsplit_once(')').ok_or("an unknown form of /proc/self/stat")?;
    // The state is the third field; user and system time are fields 14 and 15.
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u32>);
    Ok(f64::from(ticks.sum::<Result<u32, _>>()?) / 100.0)
}
