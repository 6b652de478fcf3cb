//! Chooses the token of an operation.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::timeout_at;

use crate::caller::Caller;
use crate::opening::{self, Requirement};
use crate::session::Session;
use crate::threads::{Access, Device, Job, PROBED_KEYS, Supervisor, supervise};
use crate::{Config, ErrorKind, Fatal, HsmError, KeyRef, OpenError, TokenState};

pub(crate) struct Dispatcher {
    devices: Vec<Arc<Device>>,
    turn: AtomicUsize,
    deadline: Duration,
    generate_deadline: Duration,
    supervisor: Supervisor,
}

/// An operation: a function over a session. It may run more than once.
pub(crate) trait Work<T>:
    FnMut(&Session) -> Result<T, HsmError> + Clone + Send + 'static
{
}

impl<T, F: FnMut(&Session) -> Result<T, HsmError> + Clone + Send + 'static> Work<T> for F {}

/// The results of an operation on every token, in the order of the configuration.
pub(crate) type Each<T> = Vec<(Arc<Device>, Result<T, HsmError>)>;

type Reply<T> = oneshot::Receiver<Result<T, HsmError>>;

impl Dispatcher {
    /// Opens every token; see [`Token::open`](crate::Token::open).
    pub(crate) async fn open(config: Config, requirement: Requirement) -> Result<Self, OpenError> {
        let devices = opening::open(&config, requirement).await?;
        Ok(Self {
            supervisor: supervise(devices.clone(), &config),
            devices,
            turn: AtomicUsize::new(0),
            deadline: config.deadline,
            generate_deadline: config.generate_deadline.max(config.deadline),
        })
    }

    pub(crate) fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// Finishes the queued operations, then closes all sessions.
    pub(crate) async fn close(&self) {
        opening::close(&self.devices, self.deadline).await;
    }

    pub(crate) async fn fatal(&self) -> Fatal {
        let mut reports = self.supervisor.fatal.clone();
        let report = reports.wait_for(Option::is_some).await;
        let fatal = report.ok().and_then(|fatal| fatal.clone());
        match fatal {
            Some(fatal) => fatal,
            None => std::future::pending().await,
        }
    }

    /// Reads with a key, on a token that serves and holds it. Fails over to the next token only if
    /// the first is known to be out, to be busy, to lack the key or not to use it.
    pub(crate) async fn with_key<T: Send + 'static>(
        &self,
        key: &KeyRef,
        work: impl Work<T>,
    ) -> Result<T, HsmError> {
        self.with_key_on(key, |_| true, work).await
    }

    /// The same without tokens that are unable, unless all of them are.
    pub(crate) async fn with_key_on<T: Send + 'static>(
        &self,
        key: &KeyRef,
        is_able: impl Fn(&Device) -> bool,
        work: impl Work<T>,
    ) -> Result<T, HsmError> {
        let all_serve = self.devices.iter().all(|device| device.is_in_use());
        let mut holders = self.serving();
        holders.retain(|device| !device.connection.handles.lacks(key));
        if holders.is_empty() && all_serve {
            return Err(HsmError::key_missing());
        }
        if !all_serve || holders.iter().any(|device| is_able(device)) {
            holders.retain(|device| is_able(device));
        }
        self.first_of(holders, Access::Read, work).await
    }

    /// Reads on any token that serves.
    pub(crate) async fn anywhere<T: Send + 'static>(
        &self,
        work: impl Work<T>,
    ) -> Result<T, HsmError> {
        self.first_of(self.serving(), Access::Read, work).await
    }

    /// Writes to one token that serves. Fails over only if the write was not begun.
    pub(crate) async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, HsmError> {
        self.first_of(self.serving(), Access::Write, work).await
    }

    /// Writes to the first token that holds a key.
    pub(crate) async fn write_beside<T: Send + 'static>(
        &self,
        key: &KeyRef,
        work: impl Work<T>,
    ) -> Result<T, HsmError> {
        let wanted = key.clone();
        let look_up = move |session: &Session| session.look_up(&wanted).map(|_| ());
        let mut verdict = HsmError::new(ErrorKind::TokenOut, "no token works");
        for (device, holds) in self.on_each(Access::Read, look_up).await {
            match holds {
                Ok(()) => return self.first_of(vec![device], Access::Write, work).await,
                Err(error) => verdict = error,
            }
        }
        Err(verdict)
    }

    /// Runs an operation on every token. Tokens that are out or excluded fail.
    pub(crate) async fn on_each<T: Send + 'static>(
        &self,
        kind: Access,
        work: impl Work<T>,
    ) -> Each<T> {
        self.on_those(kind, work, |device| match device.shown_state() {
            TokenState::Out { reason } if device.is_serving() => {
                Err(HsmError::new(ErrorKind::TokenOut, reason).on(device.label()))
            }
            TokenState::Out { .. }
            | TokenState::Serving
            | TokenState::PinRefused { .. }
            | TokenState::Closed => Ok(()),
        })
        .await
    }

    /// Runs an operation on every token, also on excluded ones. Tokens that are out fail.
    pub(crate) async fn on_each_working<T: Send + 'static>(
        &self,
        kind: Access,
        work: impl Work<T>,
    ) -> Each<T> {
        self.on_those(kind, work, |_| Ok(())).await
    }

    async fn on_those<T: Send + 'static>(
        &self,
        kind: Access,
        work: impl Work<T>,
        admit: impl Fn(&Device) -> Result<(), HsmError>,
    ) -> Each<T> {
        let until = Instant::now() + self.patience(kind);
        let submit = |device: &Arc<Device>| {
            admit(device).and_then(|()| submit(device, kind, until, work.clone()))
        };
        let submitted: Vec<_> = self.devices.iter().map(submit).collect();
        let mut results = Vec::new();
        for (device, submitted) in self.devices.iter().zip(submitted) {
            let result = match submitted {
                Ok(answer) => wait(answer, until).await,
                Err(error) => Err(error),
            };
            results.push((Arc::clone(device), result));
        }
        results
    }

    async fn first_of<T: Send + 'static>(
        &self,
        devices: Vec<Arc<Device>>,
        kind: Access,
        work: impl Work<T>,
    ) -> Result<T, HsmError> {
        let until = Instant::now() + self.patience(kind);
        let mut verdict: Option<HsmError> = None;
        let mut work = Some(work);
        let mut left = devices.len();
        for device in devices {
            left -= 1;
            // The last token gets the work itself, so that secrets in it are not copied.
            let Some(work) = (if left == 0 { work.take() } else { work.clone() }) else {
                break;
            };
            let (begun, result) = match submit(&device, kind, until, work) {
                Ok(answer) => (true, wait(answer, until).await),
                Err(error) => (false, Err(error)),
            };
            match result {
                Err(error) if fails_over(&error) && !(begun && kind == Access::Write) => {
                    // A key is only missing if every token lacks it.
                    let former = verdict.filter(|former| former.kind() != ErrorKind::KeyMissing);
                    verdict = Some(former.unwrap_or(error));
                }
                result => return result,
            }
        }
        let verdict = verdict.unwrap_or_else(|| self.none_serves());
        // A token that is out may hold the key that the others lack.
        let some_out = self.devices.iter().any(|device| !device.is_in_use());
        Err(match verdict.kind() {
            ErrorKind::KeyMissing if some_out => verdict.with_kind(ErrorKind::TokenOut),
            ErrorKind::KeyMissing
            | ErrorKind::BadInput
            | ErrorKind::TokenOut
            | ErrorKind::Busy
            | ErrorKind::Late
            | ErrorKind::Unusable
            | ErrorKind::Refused => verdict,
        })
    }

    /// The tokens that serve, starting with another one each time.
    fn serving(&self) -> Vec<Arc<Device>> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed) % self.devices.len().max(1);
        let (before, from) = self.devices.split_at(first);
        let all = from.iter().chain(before);
        all.filter(|device| device.is_in_use()).cloned().collect()
    }

    fn none_serves(&self) -> HsmError {
        let state =
            |device: &Arc<Device>| format!("{:?} is {:?}", device.label(), device.shown_state());
        let states: Vec<_> = self.devices.iter().map(state).collect();
        HsmError::new(ErrorKind::TokenOut, states.join(", "))
    }

    fn patience(&self, kind: Access) -> Duration {
        match kind {
            Access::Read => self.deadline,
            Access::Write => self.generate_deadline,
            Access::Probe => self.generate_deadline * PROBED_KEYS,
        }
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        let devices = std::mem::take(&mut self.devices);
        devices.iter().for_each(|device| device.close());
        // The last reference finalizes the module, which may take long.
        drop(thread::Builder::new().spawn(move || drop(devices)));
    }
}

fn submit<T: Send + 'static>(
    device: &Arc<Device>,
    kind: Access,
    until: Instant,
    work: impl Work<T>,
) -> Result<Reply<T>, HsmError> {
    let (job, answer) = Job::new(kind, until, work);
    let error = match device.queue.push(job) {
        Ok(displaced) => {
            if let Some(displaced) = displaced {
                device.connection.counters.busy.increment();
                displaced.answer(Err(HsmError::queue_full().on(device.label())));
            }
            return Ok(answer);
        }
        Err(error) => error,
    };
    if error.kind() == ErrorKind::Busy {
        device.connection.counters.busy.increment();
    }
    let error = match device.shown_state() {
        TokenState::Out { reason } | TokenState::PinRefused { reason } => {
            HsmError::new(error.kind(), reason)
        }
        TokenState::Serving | TokenState::Closed => error,
    };
    Err(error.on(device.label()))
}

async fn wait<T>(mut answer: Reply<T>, until: Instant) -> Result<T, HsmError> {
    match timeout_at(until.into(), &mut answer).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(HsmError::new(ErrorKind::TokenOut, "the worker has ended")),
        Err(_) => {
            // The answer may wait for another operation of its group that hangs.
            Caller::current().send_answers();
            let late = |_| Err(HsmError::new(ErrorKind::Late, "the deadline passed"));
            answer.try_recv().unwrap_or_else(late)
        }
    }
}

/// Whether another token may succeed after this failure.
fn fails_over(error: &HsmError) -> bool {
    match error.kind() {
        ErrorKind::KeyMissing | ErrorKind::TokenOut | ErrorKind::Busy => true,
        // A broken device returns the ambiguous codes too, and its canary decides.
        ErrorKind::Unusable => !error.is_ambiguous(),
        ErrorKind::BadInput | ErrorKind::Late | ErrorKind::Refused => false,
    }
}
