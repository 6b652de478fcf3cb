//! Sessions, tokens and instances.

use std::thread;
use std::time::Duration;

use faulty_token::Fault;

use super::{SPAN, Table, replica};
use crate::cases::KIB;
use crate::cpu;
use crate::flush;
use crate::generator::{Request, load};
use crate::instance::Instance;
use crate::measure::Measured;
use crate::rounds::{Baselines, median_of_three};
use testkit::Site;

/// The delay of one call to a network HSM.
const LATENCY: Duration = Duration::from_millis(5);

pub(super) async fn workers() -> Table {
    let mut table = Table::new("Sessions on a software token", "hsm.workers");
    let site = Site::new().await;
    let baselines = Baselines::build(&site).await;
    let callers = Instance::start(&site).await.callers.clone();
    for workers in ["1", "2", "3", "4"] {
        let setting = [("SEALWARD_HSM_WORKERS", workers)];
        let instance = Instance::restart(&site, &callers, &setting).await;
        let processes = baselines.with(instance.process.id());
        for operation in ["unprotect RSA-2048", "unprotect P-256"] {
            let request = instance.request(operation, KIB);
            table.add(workers, operation, median_of_three(processes, &request, 16, SPAN));
        }
    }
    table
}

/// Tokens with the same keys, each with the default number of sessions.
pub(super) async fn tokens() -> Table {
    let mut table = Table::new("Software tokens with the same keys", "Tokens");
    let site = Site::new().await;
    let baselines = Baselines::build(&site).await;
    let callers = Instance::start(&site).await.callers.clone();
    for count in 1..=4 {
        if count > 1 {
            replica::add(&site, count);
        }
        let instance = Instance::restart(&site, &callers, &[]).await;
        let processes = baselines.with(instance.process.id());
        for operation in ["unprotect RSA-2048", "unprotect P-256"] {
            let request = instance.request(operation, KIB);
            table.add(count, operation, median_of_three(processes, &request, 16, SPAN));
        }
    }
    table
}

/// Decryption takes two calls, so one session performs at most 100 per second.
pub(super) async fn latency() -> Table {
    let mut table = Table::new("Sessions on a token with 5 ms latency per call", "hsm.workers");
    let site = Site::with_faults().await;
    let baselines = Baselines::build(&site).await;
    let callers = Instance::start(&site).await.callers.clone();
    for workers in ["1", "2", "4", "8", "16", "32", "64"] {
        let setting = [("SEALWARD_HSM_WORKERS", workers)];
        let instance = Instance::restart(&site, &callers, &setting).await;
        let request = instance.request("decrypt AES-256", KIB);
        let calls = ["C_DecryptInit", "C_Decrypt"];
        let slow = calls.map(|call| Fault::Delay(LATENCY).on(call));
        site.faults().rules(&slow);
        let processes = baselines.with(instance.process.id());
        let measured = median_of_three(processes, &request, 128, SPAN);
        site.faults().rules(&[]);
        table.add(workers, "decrypt AES-256", measured);
    }
    table
}

/// The same number of connections, to one instance or divided between two.
pub(super) async fn instances() -> Table {
    let mut table = Table::new("Instances on one Postgres", "Instances");
    let site = Site::new().await;
    let baselines = Baselines::build(&site).await;
    let one = Instance::start(&site).await;
    let two = Instance::restart(&site, &one.callers, &[]).await;
    for operation in ["protect RSA-2048", "unprotect RSA-2048"] {
        let requests = [&one, &two].map(|instance| instance.request(operation, KIB));
        let processes = baselines.with(one.process.id());
        table.add(1, operation, median_of_three(processes, &requests[0], 32, SPAN));
        let both = || together(&baselines, [&one, &two], &requests);
        both();
        table.add(2, operation, Measured::median(&[both(), both(), both()]));
    }
    table
}

/// Loads two instances in parallel.
fn together(baselines: &Baselines, instances: [&Instance; 2], requests: &[Request; 2]) -> Measured {
    let processes = instances.map(|instance| baselines.with(instance.process.id()));
    let used = || {
        let services = processes.map(|it| cpu::of_process(it.service));
        (services[0] + services[1], cpu::of_process_and_children(processes[0].postgres))
    };
    let flush = flush::time();
    let before = used();
    let loads = thread::scope(|scope| {
        let loads = requests.each_ref().map(|request| scope.spawn(|| load(request, 16, SPAN)));
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
