//! A rolling replacement of instances under load, as in an upgrade.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::db;

use testkit::{NEXT, PATIENCE, with_migration, within};
use testkit::{Process, Site};

/// Long enough for the balancer, which checks readiness before each new connection.
const DELAY: &str = "3s";

/// A load balancer with its list of instances.
#[derive(Clone, Default)]
struct Balancer(Arc<Mutex<Vec<String>>>);

impl Balancer {
    fn add(&self, address: &str) {
        self.0.lock().unwrap().push(address.to_owned());
    }

    /// Opens a connection to a ready instance.
    fn connect(&self) -> Connection {
        loop {
            for address in self.0.lock().unwrap().clone() {
                if is_ready(&address) {
                    return Connection::to(&address);
                }
            }
        }
    }
}

/// Whether the readiness probe of an instance succeeds.
fn is_ready(address: &str) -> bool {
    let Ok(stream) = TcpStream::connect(address) else {
        return false;
    };
    let mut connection = Connection { stream: BufReader::new(stream) };
    matches!(connection.ask("/readyz", ""), Some((200, _)))
}

/// A persistent connection.
struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    fn to(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("a ready instance accepts connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        Self { stream: BufReader::new(stream) }
    }

    /// The status of the response and whether the connection stays open. `None` without a
    /// response.
    fn ask(&mut self, path: &str, authorization: &str) -> Option<(u16, bool)> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: it\r\n{authorization}\r\n");
        self.stream.get_mut().write_all(request.as_bytes()).ok()?;
        let mut status = String::new();
        self.stream.read_line(&mut status).ok()?;
        let status = status.split(' ').nth(1)?.parse().ok()?;
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).ok()?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) => headers.insert(name.to_lowercase(), value.to_owned()),
                None => break,
            };
        }
        let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
        self.stream.read_exact(&mut body).ok()?;
        let stays = headers.get("connection").is_none_or(|value| value != "close");
        Some((status, stays))
    }
}

/// Clients that send requests without pauses, and their results.
struct Load {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU32>,
    moved: Arc<AtomicU32>,
    clients: Vec<JoinHandle<Vec<String>>>,
}

impl Load {
    fn start(balancer: &Balancer, key: &str, clients: usize) -> Self {
        let mut load = Self {
            stop: Arc::default(),
            answered: Arc::default(),
            moved: Arc::default(),
            clients: Vec::new(),
        };
        let authorization = format!("Authorization: Bearer {key}\r\n");
        for _ in 0..clients {
            let (stop, answered, moved) =
                (load.stop.clone(), load.answered.clone(), load.moved.clone());
            let (balancer, authorization) = (balancer.clone(), authorization.clone());
            load.clients.push(thread::spawn(move || {
                let mut failed = Vec::new();
                let mut connection = balancer.connect();
                while !stop.load(Ordering::Relaxed) {
                    match connection.ask("/admin/services", &authorization) {
                        Some((200, stays)) => {
                            answered.fetch_add(1, Ordering::Relaxed);
                            if !stays {
                                moved.fetch_add(1, Ordering::Relaxed);
                                connection = balancer.connect();
                            }
                        }
                        // The request exceeded the rate limit, which is not a failure.
                        Some((429, true)) => {}
                        Some((429, false)) => connection = balancer.connect(),
                        other => {
                            failed.push(format!("{other:?}"));
                            connection = balancer.connect();
                        }
                    }
                }
                failed
            }));
        }
        load
    }

    /// Waits until more requests are answered.
    async fn wait_for_responses(&self) {
        let before = self.answered.load(Ordering::Relaxed);
        within(PATIENCE, async || {
            tokio::time::sleep(Duration::from_millis(10)).await;
            self.answered.load(Ordering::Relaxed) > before + 50
        })
        .await;
    }

    /// Stops the clients and returns the number of moved connections and the failures.
    fn end(self) -> (u32, Vec<String>) {
        self.stop.store(true, Ordering::Relaxed);
        let failed = self.clients.into_iter().flat_map(|client| client.join().expect("a client"));
        let failed = failed.collect();
        (self.moved.load(Ordering::Relaxed), failed)
    }
}

/// As the migration of a release: the instances of both releases run at the same time.
async fn migrate(site: &Site) {
    let migrator = with_migration(
        "ALTER TABLE services ADD COLUMN note text; CREATE TABLE notes (note text PRIMARY KEY);",
        false,
    );
    let mut owner = site.connect().await;
    let applied = db::apply(&migrator, &mut owner, PATIENCE).await;
    assert_eq!(applied.expect("a migration"), [NEXT]);
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_are_replaced_without_one_failed_request() {
    let site = Site::new().await;
    let delay = [("SEALWARD_HTTP_DRAIN_DELAY", DELAY)];
    let balancer = Balancer::default();
    let start = async || {
        let instance = Process::start_with(&site, &delay).await;
        balancer.add(instance.address());
        instance
    };
    let mut instances = [start().await, start().await];
    let load = Load::start(&balancer, site.admin_key(), 4);
    load.wait_for_responses().await;
    migrate(&site).await;
    for _ in 0..2 {
        load.wait_for_responses().await;
        let newer = start().await;
        let older = std::mem::replace(&mut instances[0], newer);
        instances.rotate_left(1);
        let address = older.address().to_owned();
        let ended = tokio::task::spawn_blocking(move || older.terminate());
        // The instance first reports that it is not ready, and still answers requests.
        within(PATIENCE, async || !is_ready(&address)).await;
        load.wait_for_responses().await;
        assert_eq!(ended.await.expect("its end"), Some(0));
    }
    load.wait_for_responses().await;
    let (moved, failed) = load.end();
    assert_eq!(failed, [""; 0], "no request failed");
    assert!(moved > 0, "the instances must close connections");
}
