//! Two baselines, as processes of this program: an echo server, and the audit recorder alone. The
//! third baseline, the token alone, is in `token.rs`.

use std::io::stdin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{process, thread};

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use engine::audit::Recorder;
use engine::jobs::{Board, Job};
use engine::settings::Audit;
use formats::clock::{Clock, Entropy};
use serde_json::json;
use sqlx::PgPool;
use testkit::protect_record;

/// Answers a POST with its body. Prints its address.
pub(crate) fn echo() {
    // The parent closes stdin to end this process.
    thread::spawn(|| {
        stdin().lines().for_each(drop);
        process::exit(0);
    });
    runtime().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", listener.local_addr().expect("an address"));
        let router = Router::new().route("/", post(async |body: Bytes| body));
        axum::serve(listener, router).await.expect("it serves");
    });
}

/// Commits records through the recorder, for each line `commit AT_ONCE MILLISECONDS` on stdin.
pub(crate) fn recorder(database: &str) {
    let runtime = runtime();
    let _inside = runtime.enter();
    let database = PgPool::connect_lazy(database).expect("an address of Postgres");
    let (clock, entropy) = (Clock::system(), Entropy::system());
    let (recorder, mut writer) =
        Recorder::open(clock.clone(), entropy, database.into(), &Audit::default());
    let pulse = Board::new(clock.clone()).pulse(Job::AuditWriter);
    tokio::spawn(async move { writer.run(pulse).await });
    for command in stdin().lines() {
        let command = command.expect("a command");
        let numbers: Vec<u64> = command.split(' ').filter_map(|it| it.parse().ok()).collect();
        let [at_once, millis] = numbers[..] else {
            panic!("an invalid command: {command}");
        };
        runtime.block_on(commit(&recorder, &clock, at_once, Duration::from_millis(millis)));
    }
}

async fn commit(recorder: &Recorder, clock: &Clock, at_once: u64, span: Duration) {
    let times = Arc::new(Mutex::new(Vec::new()));
    let began = Instant::now();
    let writers = (0..at_once).map(|_| {
        let (recorder, clock, times) = (recorder.clone(), clock.clone(), times.clone());
        tokio::spawn(async move {
            let mut own = Vec::new();
            while began.elapsed() < span {
                let handed = Instant::now();
                let pending = recorder.submit(protect_record(clock.monotonic())).expect("a place");
                pending.receipt().await.expect("a receipt");
                own.push(handed.elapsed());
            }
            times.lock().expect("the times").extend(own);
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("a writer");
    }
    let span = began.elapsed();
    let mut times = std::mem::take(&mut *times.lock().expect("the times"));
    times.sort_unstable();
    let percentile = |share: usize| times[(times.len() - 1) * share / 100].as_micros();
    let result = json!({
        "times": times.len(),
        "spanUs": span.as_micros(),
        "p50Us": percentile(50),
        "p99Us": percentile(99),
    });
    println!("{result}");
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Runtime::new().expect("a runtime")
}
