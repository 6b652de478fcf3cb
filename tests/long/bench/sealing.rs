//! The price of the audit logs: the same requests without sealing, with sealing, and with sealing and forwarding, in turns.
//! The CPU time is that of the service and of Postgres with all its processes, until five seconds after the load: what is
//! written during the load is sealed and forwarded by then.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use engine::db::Pool;
use serde_json::{Value, json};

use crate::cases::KIB;
use crate::instance::Instance;
use crate::measure::Measured;
use crate::rounds::Baselines;
use testkit::{Authority, Site};

/// The request, and the number of connections.
const REQUEST: (&str, usize) = ("protect RSA-2048", 64);

const ROUNDS: usize = 5;

/// How long the CPU time after a load counts.
const AFTER: Duration = Duration::from_secs(5);

pub(crate) struct Sealing {
    pub(crate) off: Price,
    pub(crate) on: Price,
    pub(crate) forwarding: Price,
}

#[derive(Clone)]
pub(crate) struct Price {
    pub(crate) measured: Measured,
    /// The bytes of write-ahead log for each request.
    pub(crate) wal: f64,
}

pub(crate) async fn measured(baselines: &Baselines, span: Duration) -> Sealing {
    let authority = Authority::new();
    let [off, on, forwarding] = [Site::new().await, Site::new().await, Site::new().await];
    for site in [&on, &forwarding] {
        site.run(&["audit", "init"]).success();
    }
    let collector = Collector::start(&forwarding, &authority);
    forwarding.add_settings(&collector.settings);
    let mut instances = Vec::new();
    for site in [&off, &on, &forwarding] {
        instances.push(Instance::start(site).await);
    }
    let mut taken = vec![Vec::new(); instances.len()];
    for round in 0..=ROUNDS {
        for (instance, taken) in instances.iter().zip(&mut taken) {
            let request = instance.request(REQUEST.0, KIB);
            let processes = baselines.with(instance.process.id());
            let before = written(baselines.database()).await;
            let measured = processes.load_and_after(&request, REQUEST.1, span, AFTER);
            let wal = written(baselines.database()).await - before;
            if round > 0 {
                let wal = wal / measured.answers().max(1) as f64;
                taken.push(Price { measured, wal });
            }
        }
    }
    let [off, on, forwarding] = [&taken[0], &taken[1], &taken[2]].map(|taken| median(taken));
    Sealing { off, on, forwarding }
}

/// The bytes of write-ahead log that Postgres has written so far.
async fn written(database: &Pool) -> f64 {
    let sql = "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8";
    sqlx::query_scalar(sql).fetch_one(database).await.expect("a position")
}

fn median(taken: &[Price]) -> Price {
    let measured: Vec<Measured> = taken.iter().map(|it| it.measured.clone()).collect();
    let mut wal: Vec<f64> = taken.iter().map(|it| it.wal).collect();
    wal.sort_by(f64::total_cmp);
    Price { measured: Measured::median(&measured), wal: wal[wal.len() / 2] }
}

impl Sealing {
    /// What sealing costs, as ratios: CPU time, rate and p99.
    pub(crate) fn ratios(&self) -> [f64; 3] {
        let (on, off) = (&self.on.measured, &self.off.measured);
        [on.cpu() / off.cpu(), on.rate / off.rate, on.p99 / off.p99]
    }

    /// The rows of the report: a name, and what was measured.
    pub(crate) fn rows(&self) -> [(&'static str, &Price); 3] {
        [("off", &self.off), ("on", &self.on), ("on, with forwarding", &self.forwarding)]
    }

    pub(crate) fn json(&self) -> Value {
        self.rows()
            .iter()
            .map(|(name, price)| {
                let (measured, wal) = (&price.measured, price.wal.round());
                let row = json!({
                    "ratePerSecond": measured.rate.round(),
                    "p50Us": measured.p50.round(),
                    "p99Us": measured.p99.round(),
                    "cpuUs": { "service": measured.service, "postgres": measured.postgres },
                    "walBytes": wal,
                });
                ((*name).to_owned(), row)
            })
            .collect()
    }
}

/// A syslog server that discards what it receives.
struct Collector {
    server: Child,
    settings: String,
}

impl Collector {
    fn start(site: &Site, authority: &Authority) -> Self {
        let [certificate, key] = authority.server("localhost").write(site.folder());
        let ca = site.write("collector-ca.pem", &authority.certificate());
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let server = Command::new("openssl")
            .args(["s_server", "-quiet", "-accept", &port.to_string(), "-cert"])
            .arg(certificate)
            .arg("-key")
            .arg(key)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl");
        let settings = format!(
            "[audit.forward]\nurl = \"syslog+tls://localhost:{port}\"\nca = \"{}\"\n",
            ca.display()
        );
        Self { server, settings }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
