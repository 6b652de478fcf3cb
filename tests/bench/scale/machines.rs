//! What an operator adds: sessions, and instances.

use std::thread;
use std::time::Duration;

use faulty_token::Fault;

use super::{SPAN, Table, replica};
use crate::cases::KIB;
use crate::cpu;
use crate::flush;
use crate::generator::{Protocol, Request, load};
use crate::measure::Measured;
use crate::place::Place;
use crate::process::Site;
use crate::rounds::{Floors, thrice};

/// What a network and a device behind it take for one call.
const LATENCY: Duration = Duration::from_millis(5);

pub(super) async fn workers() -> Table {
    let mut table = Table::new("Sessions on a token in software", "hsm.workers");
    let site = Site::new().await;
    let floors = Floors::build(&site).await;
    let callers = Place::arrange(&site).await.callers.clone();
    for workers in ["1", "2", "3", "4"] {
        let setting = [("SEALWARD_HSM_WORKERS", workers)];
        let place = Place::again(&site, &callers, &setting).await;
        let processes = floors.with(place.process.id());
        for operation in ["unprotect RSA-2048", "unprotect P-256"] {
            let request = place.request(operation, KIB);
            table.add(workers, operation, thrice(processes, &request, 16, SPAN));
        }
    }
    table
}

/// Tokens with the same keys, each with the sessions that there are by default.
pub(super) async fn tokens() -> Table {
    let mut table = Table::new("Tokens in software with the same keys", "tokens");
    let site = Site::new().await;
    let floors = Floors::build(&site).await;
    let callers = Place::arrange(&site).await.callers.clone();
    for count in 1..=4 {
        if count > 1 {
            replica::add(&site, count);
        }
        let place = Place::again(&site, &callers, &[]).await;
        let processes = floors.with(place.process.id());
        for operation in ["unprotect RSA-2048", "unprotect P-256"] {
            let request = place.request(operation, KIB);
            table.add(count, operation, thrice(processes, &request, 16, SPAN));
        }
    }
    table
}

/// Decryption is two calls, so one session can do a hundred a second.
pub(super) async fn latency() -> Table {
    let mut table = Table::new(
        "Sessions on a token with 5 ms latency a call",
        "hsm.workers",
    );
    let site = Site::with_faults().await;
    let floors = Floors::build(&site).await;
    let callers = Place::arrange(&site).await.callers.clone();
    for workers in ["1", "2", "4", "8", "16", "32", "64"] {
        let setting = [("SEALWARD_HSM_WORKERS", workers)];
        let place = Place::again(&site, &callers, &setting).await;
        let request = place.request("decrypt AES-256", KIB);
        let calls = ["C_DecryptInit", "C_Decrypt"];
        let slow = calls.map(|call| Fault::Delay(LATENCY).on(call));
        site.faults().rules(&slow);
        let processes = floors.with(place.process.id());
        let measured = thrice(processes, &request, 128, SPAN);
        site.faults().rules(&[]);
        table.add(workers, "decrypt AES-256", measured);
    }
    table
}

/// As many connections in all, to one instance or half of them to each of two.
pub(super) async fn instances() -> Table {
    let mut table = Table::new("Instances behind one Postgres", "instances");
    let site = Site::new().await;
    let floors = Floors::build(&site).await;
    let one = Place::arrange(&site).await;
    let two = Place::again(&site, &one.callers, &[]).await;
    for operation in ["protect RSA-2048", "unprotect RSA-2048"] {
        let requests = [&one, &two].map(|place| place.request(operation, KIB));
        let processes = floors.with(one.process.id());
        table.add(1, operation, thrice(processes, &requests[0], 32, SPAN));
        let both = || together(&floors, [&one, &two], &requests);
        both();
        table.add(2, operation, Measured::median(&[both(), both(), both()]));
    }
    table
}

/// Loads two instances at the same time.
fn together(floors: &Floors, places: [&Place; 2], requests: &[Request; 2]) -> Measured {
    let processes = places.map(|place| floors.with(place.process.id()));
    let used = || {
        let services = processes.map(|it| cpu::of_process(it.service));
        (
            services[0] + services[1],
            cpu::of_family(processes[0].postgres),
        )
    };
    let flush = flush::time();
    let before = used();
    let loads = thread::scope(|scope| {
        let loads = requests
            .each_ref()
            .map(|request| scope.spawn(|| load(request, Protocol::Http1, 16, SPAN)));
        loads.map(|load| load.join().expect("a load"))
    });
    let after = used();
    let answers = (loads[0].answers + loads[1].answers) as f64;
    let each = |before: Duration, after: Duration| (after - before).as_secs_f64() * 1e6 / answers;
    let [one, two] = loads;
    Measured {
        rate: one.rate + two.rate,
        p50: one.p50.max(two.p50).as_secs_f64() * 1e6,
        p99: one.p99.max(two.p99).as_secs_f64() * 1e6,
        service: each(before.0, after.0),
        postgres: each(before.1, after.1),
        flush: flush.as_secs_f64() * 1e6,
        ..Measured::default()
    }
}
