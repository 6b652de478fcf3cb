//! Which of the tokens does an operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};
use tokio::time::timeout_at;

use crate::device::Device;
use crate::job::{Job, Kind};
use crate::opening;
use crate::overseer::Overseer;
use crate::session::Session;
use crate::{Config, ErrorKind, Fatal, HsmError, KeyRef, OpenError, TokenState};

pub(crate) struct Pool {
    devices: Vec<Arc<Device>>,
    turn: AtomicUsize,
    deadline: Duration,
    generate_deadline: Duration,
    fatal: watch::Receiver<Option<Fatal>>,
    _overseer: Overseer,
}

/// What an operation on each token gave, in the order of the configuration.
pub(crate) type Each<T> = Vec<(Arc<Device>, Result<T, HsmError>)>;

impl Pool {
    /// Opens every token; see [`Token::open`](crate::Token::open).
    pub(crate) async fn open(config: Config) -> Result<Self, OpenError> {
        let devices = opening::open(&config).await?;
        let (fatal, told) = watch::channel(None);
        let overseer = Overseer::start(devices.clone(), config.deadline, config.hang_budget, fatal);
        Ok(Self {
            devices,
            turn: AtomicUsize::new(0),
            deadline: config.deadline,
            generate_deadline: config.generate_deadline.max(config.deadline),
            fatal: told,
            _overseer: overseer,
        })
    }

    pub(crate) fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// Lets what is queued finish, then closes all sessions.
    pub(crate) async fn close(&self) {
        opening::close(&self.devices, self.deadline).await;
    }

    pub(crate) async fn fatal(&self) -> Fatal {
        let mut told = self.fatal.clone();
        let fatal = told
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|fatal| fatal.clone());
        match fatal {
            Some(fatal) => fatal,
            None => std::future::pending().await,
        }
    }

    /// Reads with a key, on a token that works and holds it. Goes over to the next token only
    /// where the first is known to be out, to be busy or not to hold the key.
    pub(crate) async fn with_key<T, F>(&self, key: &KeyRef, work: F) -> Result<T, HsmError>
    where
        T: Send + 'static,
        F: FnMut(&Session) -> Result<T, HsmError> + Clone + Send + 'static,
    {
        self.with_key_on(key, |_| true, work).await
    }

    /// The same, leaving out tokens that are not able to, unless all are.
    pub(crate) async fn with_key_on<T, F>(
        &self,
        key: &KeyRef,
        is_able: impl Fn(&Device) -> bool,
        work: F,
    ) -> Result<T, HsmError>
    where
        T: Send + 'static,
        F: FnMut(&Session) -> Result<T, HsmError> + Clone + Send + 'static,
    {
        let all_serve = self.devices.iter().all(|device| device.is_serving());
        let mut holders: Vec<_> = self
            .in_turn()
            .filter(|device| !device.handles.lacks(key))
            .cloned()
            .collect();
        if holders.is_empty() && all_serve {
            return Err(HsmError::new(
                ErrorKind::KeyMissing,
                "not found a moment ago",
            ));
        }
        if !all_serve || holders.iter().any(|device| is_able(device)) {
            holders.retain(|device| is_able(device));
        }
        self.first_of(holders, Kind::Read, work).await
    }

    /// Reads on any token that works.
    pub(crate) async fn anywhere<T, F>(&self, work: F) -> Result<T, HsmError>
    where
        T: Send + 'static,
        F: FnMut(&Session) -> Result<T, HsmError> + Clone + Send + 'static,
    {
        let devices: Vec<_> = self.in_turn().cloned().collect();
        self.first_of(devices, Kind::Read, work).await
    }

    /// Writes to one token that works: to the next one only where it was not begun.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, HsmError>
    where
        T: Send + 'static,
        F: FnMut(&Session) -> Result<T, HsmError> + Clone + Send + 'static,
    {
        let devices: Vec<_> = self.in_turn().cloned().collect();
        self.first_of(devices, Kind::Write, work).await
    }

    /// Writes to the token that holds a key, to the first one where there are several.
    pub(crate) async fn write_beside<T, F>(&self, key: &KeyRef, work: F) -> Result<T, HsmError>
    where
        T: Send + 'static,
        F: FnMut(&Session) -> Result<T, HsmError> + Clone + Send + 'static,
    {
        let wanted = key.clone();
        let hold = move |session: &Session| session.look_up(&wanted).map(|_| ());
        let mut verdict = HsmError::new(ErrorKind::TokenOut, "no token works");
        for (device, holds) in self.on_each(Kind::Read, hold).await {
            match holds {
                Ok(()) => return self.first_of(vec![device], Kind::Write, work).await,
                Err(error) => verdict = error,
            }
        }
        Err(verdict)
    }

    /// Does something on every token, those that are out included as failures.
    pub(crate) async fn on_each<T, F>(&self, kind: Kind, work: F) -> Each<T>
    where
        T: Send + 'static,
        F: FnMut(&Session) -> Result<T, HsmError> + Clone + Send + 'static,
    {
        let until = Instant::now() + self.patience(kind);
        let submitted: Vec<_> = self
            .devices
            .iter()
            .map(|device| {
                (
                    Arc::clone(device),
                    submit(device, kind, until, work.clone()),
                )
            })
            .collect();
        let mut results = Vec::new();
        for (device, submitted) in submitted {
            let result = match submitted {
                Ok(answer) => wait(answer, until).await,
                Err(error) => Err(error),
            };
            results.push((device, result));
        }
        results
    }

    async fn first_of<T, F>(
        &self,
        devices: Vec<Arc<Device>>,
        kind: Kind,
        work: F,
    ) -> Result<T, HsmError>
    where
        T: Send + 'static,
        F: FnMut(&Session) -> Result<T, HsmError> + Clone + Send + 'static,
    {
        let until = Instant::now() + self.patience(kind);
        let mut verdict: Option<HsmError> = None;
        let mut work = Some(work);
        let mut left = devices.len();
        for device in devices {
            left -= 1;
            // The last one gets the work itself, so that secrets in it are not copied needlessly.
            let Some(work) = (if left == 0 { work.take() } else { work.clone() }) else {
                break;
            };
            let (begun, result) = match submit(&device, kind, until, work) {
                Ok(answer) => (true, wait(answer, until).await),
                Err(error) => (false, Err(error)),
            };
            match result {
                Err(error) if goes_over(&error) && !(begun && kind == Kind::Write) => {
                    verdict = Some(worse(verdict, error));
                }
                result => return result,
            }
        }
        let mut verdict = verdict.unwrap_or_else(|| self.out());
        // A token that is out may hold the key that the others miss.
        if verdict.kind() == ErrorKind::KeyMissing
            && self.devices.iter().any(|device| !device.is_serving())
        {
            verdict = verdict.sorted(ErrorKind::TokenOut);
        }
        Err(verdict)
    }

    /// The tokens that work, beginning with another one each time.
    fn in_turn(&self) -> impl Iterator<Item = &Arc<Device>> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed) % self.devices.len().max(1);
        let (before, from) = self.devices.split_at(first);
        from.iter()
            .chain(before)
            .filter(|device| device.is_serving())
    }

    /// Why no token was even asked.
    fn out(&self) -> HsmError {
        let states: Vec<_> = self
            .devices
            .iter()
            .map(|device| format!("{:?} is {:?}", device.label(), device.state()))
            .collect();
        HsmError::new(ErrorKind::TokenOut, states.join(", "))
    }

    fn patience(&self, kind: Kind) -> Duration {
        match kind {
            Kind::Read => self.deadline,
            Kind::Write => self.generate_deadline,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let devices = std::mem::take(&mut self.devices);
        devices.iter().for_each(|device| device.close());
        // The last one to go finalizes the module, which may take its time.
        drop(thread::Builder::new().spawn(move || drop(devices)));
    }
}

fn submit<T, F>(
    device: &Device,
    kind: Kind,
    until: Instant,
    work: F,
) -> Result<oneshot::Receiver<Result<T, HsmError>>, HsmError>
where
    T: Send + 'static,
    F: FnMut(&Session) -> Result<T, HsmError> + Send + 'static,
{
    let (job, answer) = Job::new(kind, until, work);
    match device.queue.push(job) {
        Ok(()) => Ok(answer),
        Err((_, error)) => {
            if error.kind() == ErrorKind::Busy {
                device.tally.busy.one();
            }
            let told = match device.state() {
                TokenState::Out { reason } | TokenState::PinRefused { reason } => {
                    HsmError::new(error.kind(), reason)
                }
                TokenState::Serving | TokenState::Closed => error,
            };
            Err(told.on(device.label()))
        }
    }
}

async fn wait<T>(
    answer: oneshot::Receiver<Result<T, HsmError>>,
    until: Instant,
) -> Result<T, HsmError> {
    match timeout_at(until.into(), answer).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(HsmError::new(ErrorKind::TokenOut, "its worker has gone")),
        Err(_) => Err(HsmError::new(ErrorKind::Late, "the deadline passed")),
    }
}

/// Whether another token may do what this one did not.
fn goes_over(error: &HsmError) -> bool {
    match error.kind() {
        ErrorKind::KeyMissing | ErrorKind::TokenOut | ErrorKind::Busy => true,
        ErrorKind::BadInput | ErrorKind::Late | ErrorKind::Refused => false,
    }
}

/// Of two failures the one that says less: a key is only missing if every token misses it.
fn worse(known: Option<HsmError>, new: HsmError) -> HsmError {
    match known {
        Some(known) if known.kind() != ErrorKind::KeyMissing => known,
        _ => new,
    }
}
