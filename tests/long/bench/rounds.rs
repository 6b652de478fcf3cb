//! The rounds. Each round measures every case once, so that a temporary disturbance affects all cases.

use std::env;
use std::process::Command;
use std::time::Duration;

use engine::db::Pool;
use sqlx::ConnectOptions as _;

use crate::baseline::Baseline;
use crate::cpu;
use crate::generator::Request;
use crate::instance::Instance;
use crate::measure::{Case, Measured, Processes, Subject};
use testkit::{Database, softhsm_module};
use testkit::{LABEL, Site};

/// The processes that the service is compared with.
pub(crate) struct Baselines {
    echo: Baseline,
    echo_address: String,
    commit: Baseline,
    pub(crate) token: Baseline,
    postgres: u32,
    connection: Pool,
    // The database of the recorder; dropped after the recorder.
    _database: Database,
}

impl Baselines {
    pub(crate) async fn build(site: &Site) -> Self {
        let database = Database::new().await;
        let connection = database.pool();
        let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
            .fetch_one(&connection)
            .await
            .expect("a connection");
        let backend = u32::try_from(backend).expect("a process");
        let mut echo = Baseline::start(this_program().arg("echo"));
        Self {
            echo_address: echo.line(),
            echo,
            commit: Baseline::start(
                this_program().arg("recorder").arg(database.options().to_url_lossy().as_str()),
            ),
            token: token(site),
            postgres: cpu::parent_of(backend),
            connection,
            _database: database,
        }
    }

    /// The processes whose CPU time counts, for this process of the service.
    pub(crate) fn with(&self, service: u32) -> Processes {
        Processes { service, postgres: self.postgres }
    }

    /// A connection to Postgres that no measurement uses.
    pub(crate) fn database(&self) -> &Pool {
        &self.connection
    }

    /// Takes one measurement of one case.
    pub(crate) fn measure(
        &mut self,
        service: u32,
        case: &Case,
        request: Option<&Request>,
        span: Duration,
    ) -> Measured {
        let request = || request.expect("a request");
        match case.subject {
            Subject::Service(_) | Subject::OnKryoptic(_) => {
                let processes = self.with(service);
                processes.load(request(), case.at_once, span)
            }
            Subject::Echo => {
                let processes = self.with(self.echo.id());
                processes.load(request(), case.at_once, span)
            }
            Subject::Commit => {
                let processes = self.with(self.commit.id());
                processes.run(&mut self.commit, "commit", case.at_once, span)
            }
            Subject::Token(operation) => {
                let processes = self.with(self.token.id());
                processes.run(&mut self.token, operation, case.at_once, span)
            }
        }
    }

    /// The median rate at which the token alone decrypts with RSA-2048, in this number of sessions.
    pub(crate) fn token_alone(&mut self, sessions: usize, span: Duration) -> Measured {
        let processes = self.with(self.token.id());
        let mut once = || processes.run(&mut self.token, "rsa-2048-decrypt", sessions, span);
        Measured::median(&[once(), once(), once()])
    }

    fn request(&self, instance: &Instance, case: &Case) -> Option<Request> {
        match case.subject {
            Subject::Service(operation) | Subject::OnKryoptic(operation) => {
                Some(instance.request(operation, case.bytes))
            }
            Subject::Echo => Some(Request {
                url: format!("http://{}/", self.echo_address),
                key: None,
                body: Some("x".repeat(case.bytes)),
                items: 1,
            }),
            Subject::Commit | Subject::Token(_) => None,
        }
    }
}

/// Measures all cases in `rounds` rounds of `span` each, after a warm-up round.
pub(crate) fn measured(
    baselines: &mut Baselines,
    (instance, on_kryoptic): (&Instance, &Instance),
    cases: &[Case],
    rounds: usize,
    span: Duration,
) -> Vec<(Case, Measured)> {
    let instance_of = |case: &Case| match case.subject {
        Subject::OnKryoptic(_) => on_kryoptic,
        Subject::Service(_) | Subject::Echo | Subject::Commit | Subject::Token(_) => instance,
    };
    let requests: Vec<_> =
        cases.iter().map(|case| baselines.request(instance_of(case), case)).collect();
    let mut taken = vec![Vec::new(); cases.len()];
    for round in 0..=rounds {
        let span = if round == 0 { span / 2 } else { span };
        for ((case, request), taken) in cases.iter().zip(&requests).zip(&mut taken) {
            let service = instance_of(case).process.id();
            let measured = baselines.measure(service, case, request.as_ref(), span);
            if round > 0 {
                taken.push(measured);
            }
        }
        eprintln!("round {round} of {rounds}");
    }
    let medians = taken.iter().map(|rounds| Measured::median(rounds));
    cases.iter().copied().zip(medians).collect()
}

/// The median of three measurements of one request.
pub(crate) fn median_of_three(
    processes: Processes,
    request: &Request,
    connections: usize,
    span: Duration,
) -> Measured {
    let once = |span| processes.load(request, connections, span);
    once(span);
    Measured::median(&[once(span), once(span), once(span)])
}

fn token(site: &Site) -> Baseline {
    #[allow(clippy::disallowed_methods, reason = "tests/long/bench/run sets it")]
    let program = env::var_os("SEALWARD_BENCH_TOKEN")
        .expect("SEALWARD_BENCH_TOKEN; tests/long/bench/run sets it");
    let mut command = Command::new(program);
    command
        .arg(softhsm_module())
        .arg(LABEL)
        .arg(site.pin_file())
        .env("SOFTHSM2_CONF", site.file("token/softhsm2.conf"));
    Baseline::start(&mut command)
}

fn this_program() -> Command {
    Command::new(env::current_exe().expect("this program"))
}
