//! The rounds: everything in turn, again and again, so that what disturbs the machine for a while
//! disturbs all of it alike.

use std::env;
use std::process::Command;
use std::time::Duration;

use sqlx::ConnectOptions as _;

use crate::cpu;
use crate::generator::{Protocol, Request};
use crate::helper::Helper;
use crate::measure::{Case, Measured, Processes, Subject};
use crate::place::Place;
use crate::process::{LABEL, Site};
use crate::support::{Database, softhsm_module};

/// What stands beside the service to compare it with.
pub(crate) struct Floors {
    echo: Helper,
    echo_address: String,
    commit: Helper,
    pub(crate) token: Helper,
    postgres: u32,
    // The recorder's, dropped after it.
    _database: Database,
}

impl Floors {
    pub(crate) async fn build(site: &Site) -> Self {
        let database = Database::new().await;
        let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
            .fetch_one(&database.pool())
            .await
            .expect("a connection");
        let backend = u32::try_from(backend).expect("a process");
        let mut echo = Helper::start(myself().arg("echo"));
        Self {
            echo_address: echo.line(),
            echo,
            commit: Helper::start(
                myself()
                    .arg("recorder")
                    .arg(database.options().to_url_lossy().as_str()),
            ),
            token: token(site),
            postgres: cpu::parent_of(backend),
            _database: database,
        }
    }

    /// The service beside which they stand, and the Postgres it works with.
    pub(crate) fn with(&self, service: u32) -> Processes {
        Processes {
            service,
            postgres: self.postgres,
        }
    }

    /// Measures one case once.
    pub(crate) fn measure(
        &mut self,
        service: u32,
        case: &Case,
        request: Option<&Request>,
        span: Duration,
    ) -> Measured {
        let request = || request.expect("a request");
        match case.subject {
            Subject::Service(_) => {
                let processes = self.with(service);
                processes.load(request(), case.protocol, case.at_once, span)
            }
            Subject::Echo => {
                let processes = self.with(self.echo.id());
                processes.load(request(), case.protocol, case.at_once, span)
            }
            Subject::Commit => {
                let processes = self.with(self.commit.id());
                processes.help(&mut self.commit, "commit", case.at_once, span)
            }
            Subject::Token(operation) => {
                let processes = self.with(self.token.id());
                processes.help(&mut self.token, operation, case.at_once, span)
            }
        }
    }

    fn request(&self, place: &Place, case: &Case) -> Option<Request> {
        match case.subject {
            Subject::Service(operation) => Some(place.request(operation, case.bytes)),
            Subject::Echo => Some(Request {
                url: format!("http://{}/", self.echo_address),
                key: None,
                body: Some("x".repeat(case.bytes)),
            }),
            Subject::Commit | Subject::Token(_) => None,
        }
    }
}

/// Measures all cases so often, each for so long, after a turn that does not count.
pub(crate) fn measured(
    floors: &mut Floors,
    place: &Place,
    cases: &[Case],
    rounds: usize,
    span: Duration,
) -> Vec<(Case, Measured)> {
    let service = place.process.id();
    let requests: Vec<_> = cases
        .iter()
        .map(|case| floors.request(place, case))
        .collect();
    let mut taken = vec![Vec::new(); cases.len()];
    for round in 0..=rounds {
        let span = if round == 0 { span / 2 } else { span };
        for ((case, request), taken) in cases.iter().zip(&requests).zip(&mut taken) {
            let measured = floors.measure(service, case, request.as_ref(), span);
            if round > 0 {
                taken.push(measured);
            }
        }
        eprintln!("round {round} of {rounds}");
    }
    let medians = taken.iter().map(|rounds| Measured::median(rounds));
    cases.iter().copied().zip(medians).collect()
}

/// One operation of the service, in the middle of three times.
pub(crate) fn thrice(
    processes: Processes,
    request: &Request,
    connections: usize,
    span: Duration,
) -> Measured {
    let once = |span| processes.load(request, Protocol::Http1, connections, span);
    once(span);
    Measured::median(&[once(span), once(span), once(span)])
}

fn token(site: &Site) -> Helper {
    #[allow(clippy::disallowed_methods, reason = "said by tests/bench/run")]
    let program = env::var_os("SEALWARD_BENCH_TOKEN").expect("tests/bench/run tells where it is");
    let mut command = Command::new(program);
    command
        .arg(softhsm_module())
        .arg(LABEL)
        .arg(site.pin_file())
        .env("SOFTHSM2_CONF", site.file("token/softhsm2.conf"));
    Helper::start(&mut command)
}

fn myself() -> Command {
    Command::new(env::current_exe().expect("this program"))
}
