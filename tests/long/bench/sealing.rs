//! The price of the audit logs: the same requests without sealing, with sealing, and with sealing and forwarding, in turns.
//! The CPU time is that of the service and of Postgres with all its processes, until five seconds after the load: what is
//! written during the load is sealed and forwarded by then. The other two instances are paused meanwhile.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use engine::db::Pool;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::cases::KIB;
use crate::instance::Instance;
use crate::measure::Measured;
use crate::report::prices;
use crate::rounds::Baselines;
use testkit::{Authority, Site};

/// The request, and the number of connections.
const REQUEST: (&str, usize) = ("protect RSA-2048", 64);

/// The ratio of one pair is up to 10 % off.
const ROUNDS: usize = 15;

/// How long an instance works after its pause before it is measured.
const BEFORE: Duration = Duration::from_secs(1);

/// How long the CPU time after a load counts.
const AFTER: Duration = Duration::from_secs(5);

pub(crate) struct Sealing {
    pub(crate) off: Price,
    pub(crate) on: Price,
    pub(crate) forwarding: Price,
    /// The median ratios of on to off: CPU time, rate and p99.
    pub(crate) ratios: [f64; 3],
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
    let collector = Collector::start(&forwarding, &authority);
    forwarding.add_settings(&collector.settings);
    let instances = [
        Instance::start_unsealed(&off).await,
        Instance::start(&on).await,
        Instance::start(&forwarding).await,
    ];
    instances.iter().for_each(|instance| instance.process.signal(Signal::STOP));
    let mut taken = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        for (instance, taken) in instances.iter().zip(&mut taken) {
            instance.process.signal(Signal::CONT);
            tokio::time::sleep(BEFORE).await;
            let request = instance.request(REQUEST.0, KIB);
            let processes = baselines.with(instance.process.id());
            let before = written(baselines.database()).await;
            let measured = processes.load_and_after(&request, REQUEST.1, span, AFTER);
            let wal = written(baselines.database()).await - before;
            instance.process.signal(Signal::STOP);
            if round > 0 {
                let wal = wal / measured.answers().max(1) as f64;
                taken.push(Price { measured, wal });
            }
        }
    }
    instances.iter().for_each(|instance| instance.process.signal(Signal::CONT));
    let pairs = taken[1].iter().zip(&taken[0]);
    let pairs = pairs.map(|(on, off)| (&on.measured, &off.measured)).collect::<Vec<_>>();
    let ratio = |of: fn(&Measured) -> f64| middle(pairs.iter().map(|(on, off)| of(on) / of(off)));
    let ratios = [ratio(Measured::cpu), ratio(|it| it.rate), ratio(|it| it.p99)];
    let [off, on, forwarding] = taken.map(|taken| median(&taken));
    Sealing { off, on, forwarding, ratios }
}

/// Prints the prices.
pub(crate) async fn print(span: Duration) {
    let site = Site::new().await;
    let baselines = Baselines::build(&site).await;
    let sealing = measured(&baselines, span).await;
    let [cpu, rate, p99] = sealing.ratios;
    println!("{}", prices(&sealing));
    println!("sealing on / off: CPU {cpu:.3}, rate {rate:.3}, p99 {p99:.3}");
}

/// The bytes of write-ahead log that Postgres has written so far.
async fn written(database: &Pool) -> f64 {
    let sql = "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8";
    sqlx::query_scalar(sql).fetch_one(database).await.expect("a position")
}

fn median(taken: &[Price]) -> Price {
    let measured: Vec<Measured> = taken.iter().map(|it| it.measured.clone()).collect();
    Price { measured: Measured::median(&measured), wal: middle(taken.iter().map(|it| it.wal)) }
}

fn middle(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

impl Sealing {
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
