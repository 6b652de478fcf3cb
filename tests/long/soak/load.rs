//! Clients that send requests at a fixed rate, or as fast as responses arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use testkit::chaos::run::FREE;
use testkit::chaos::worker::Worker;

/// The number of requests per connection.
const REQUESTS_PER_CONNECTION: u32 = 500;

/// The shortest possible interval.
const NO_PAUSE: Duration = Duration::from_micros(1);

pub(crate) struct Load {
    clients: JoinSet<()>,
    answered: Arc<AtomicU32>,
    stop: Arc<AtomicBool>,
}

impl Load {
    /// Starts the clients with a total rate, or without a limit.
    pub(crate) fn start(workers: Vec<Worker>, per_second: Option<f64>) -> Self {
        let mut load =
            Self { clients: JoinSet::new(), answered: Arc::default(), stop: Arc::default() };
        let number = f64::from(u32::try_from(workers.len()).expect("a few"));
        let pause = per_second.map_or(NO_PAUSE, |rate| Duration::from_secs_f64(number / rate));
        for worker in workers {
            let (stop, answered) = (load.stop.clone(), load.answered.clone());
            load.clients.spawn(send_requests(worker, pause, stop, answered));
        }
        load
    }

    /// Runs for `span`, and returns the number of responses.
    pub(crate) async fn last(self, span: Duration) -> u32 {
        sleep(span).await;
        let answered = self.answered.load(Ordering::Relaxed);
        self.end().await;
        answered
    }

    /// Stops the clients, which closes their connections.
    pub(crate) async fn end(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        while self.clients.join_next().await.is_some() {}
    }
}

async fn send_requests(
    mut worker: Worker,
    pause: Duration,
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU32>,
) {
    let mut ticks = interval(pause);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for number in 1_u32.. {
        ticks.tick().await;
        if stop.load(Ordering::Relaxed) {
            return;
        }
        if worker.send_random(&FREE).await.is_some() {
            answered.fetch_add(1, Ordering::Relaxed);
        }
        if number % REQUESTS_PER_CONNECTION == 0 {
            worker.client.close_connections();
        }
    }
}
