//! One configured token: its queue, its threads and its breaker.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cryptoki::slot::{Limit, TokenInfo};

use crate::alarm::Alarm;
use crate::breaker::Breaker;
use crate::crew::Crew;
use crate::crypt::oaep;
use crate::handles::Handles;
use crate::login::{ConnectError, Login};
use crate::module::Module;
use crate::queue::Queue;
use crate::session::Session;
use crate::tally::Tally;
use crate::{
    Config, ErrorKind, HsmError, Observer, OpenError, TokenConfig, TokenState, TokenStatus,
};
use crate::{canary, trial};

pub(crate) struct Device {
    pub(crate) bounds: Bounds,
    pub(crate) login: Login,
    pub(crate) queue: Queue,
    pub(crate) handles: Handles,
    pub(crate) tally: Tally,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) alarm: Alarm,
    pub(crate) oaep: oaep::Shown,
    wanted: String,
    identity: OnceLock<Identity>,
    pub(crate) breaker: Breaker,
    pub(crate) crew: Crew,
    sessions: AtomicUsize,
    left: AtomicBool,
}

/// The bounds of the configuration that hold for one token.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    pub(crate) workers: usize,
    pub(crate) deadline: Duration,
    pub(crate) generate_deadline: Duration,
    pub(crate) canary_interval: Duration,
    pub(crate) allow_raw_rsa: bool,
}

/// What is known of a token once it was reached.
#[derive(Debug)]
struct Identity {
    label: String,
    serial: String,
    needs_login: bool,
    workers: usize,
}

impl Device {
    pub(crate) fn new(module: Arc<Module>, token: TokenConfig, config: &Config) -> Self {
        let wanted = token.select.wanted().to_owned();
        Self {
            bounds: Bounds {
                workers: config.workers.max(1),
                deadline: config.deadline,
                generate_deadline: config.generate_deadline.max(config.deadline),
                canary_interval: config.canary_interval,
                allow_raw_rsa: config.allow_raw_rsa,
            },
            login: Login::new(module, token.select, token.pin),
            queue: Queue::new(config.queue.max(1)),
            handles: Handles::default(),
            tally: Tally::default(),
            observer: config.observer.clone(),
            alarm: Alarm::default(),
            oaep: oaep::Shown::default(),
            wanted,
            identity: OnceLock::new(),
            breaker: Breaker::new(),
            crew: Crew::default(),
            sessions: AtomicUsize::new(0),
            left: AtomicBool::new(false),
        }
    }

    /// The token's label, or what it is chosen by while it has never been reached.
    pub(crate) fn label(&self) -> &str {
        self.identity
            .get()
            .map_or(&self.wanted, |identity| &identity.label)
    }

    pub(crate) fn needs_login(&self) -> bool {
        self.identity
            .get()
            .is_none_or(|identity| identity.needs_login)
    }

    pub(crate) fn generation(&self) -> u64 {
        self.login.generation()
    }

    pub(crate) fn ask_canary(&self) {
        self.alarm.ring();
    }

    /// Reaches the token for the first time: everything that can be wrong with it or with its
    /// configuration shows here.
    pub(crate) fn reach(self: &Arc<Self>) -> Result<Session, OpenError> {
        let (_, info) = self
            .login
            .locate()
            .map_err(|error| error.at_open(&self.wanted))?;
        let token = info.label().to_owned();
        if info.write_protected() {
            return Err(OpenError::ReadOnly { token });
        }
        let workers = affordable_workers(&info, self.bounds.workers)?;
        let at_open = |error: ConnectError| error.at_open(&token);
        let session = self.connect().map_err(at_open)?;
        self.login.check_anchor(&self.tally).map_err(at_open)?;
        let broken = |source| OpenError::Broken {
            token: token.clone(),
            source,
        };
        canary::settle(&session).map_err(broken)?;
        trial::settle(&session).map_err(broken)?;
        trial::hold(&session).map_err(broken)?;
        self.identity.get_or_init(|| Identity {
            label: info.label().to_owned(),
            serial: info.serial_number().to_owned(),
            needs_login: info.login_required(),
            workers,
        });
        Ok(session)
    }

    /// How many workers the token has sessions for; none as long as it has not been reached.
    pub(crate) fn affordable_workers(&self) -> usize {
        self.identity.get().map_or(0, |identity| identity.workers)
    }

    pub(crate) fn was_reached(&self) -> bool {
        self.identity.get().is_some()
    }

    /// A logged-in session of the present generation.
    pub(crate) fn connect(self: &Arc<Self>) -> Result<Session, ConnectError> {
        let before = self.generation();
        let (open, logged_in) = self.login.connect(&self.tally, self.bounds.deadline / 2)?;
        let mut generation = before;
        if logged_in {
            generation = self.generation();
            self.handles.renew(generation);
        }
        self.sessions.fetch_add(1, Ordering::Relaxed);
        Ok(Session::new(open, Arc::clone(self), generation))
    }

    pub(crate) fn session_closed(&self) {
        self.sessions.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn state(&self) -> TokenState {
        self.breaker.state()
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.breaker.is_serving()
    }

    /// The canary sang: the token serves, if it was out.
    pub(crate) fn serve(self: &Arc<Self>, canary: Duration) {
        if self.breaker.close(canary) {
            tracing::info!(token = self.label(), "the token serves");
            self.queue.open();
            self.fill_worker_seats();
        }
    }

    /// The canary failed: nothing is asked of the token until the prober has brought it back.
    pub(crate) fn trip(&self, reason: &str) {
        if self.breaker.open(reason) {
            tracing::error!(token = self.label(), reason, "the token is out");
            self.tally.outages.one();
            self.next_generation();
            self.refuse_queued();
        }
    }

    /// The token does not take the PIN: nothing brings it back but a person.
    pub(crate) fn give_up(&self, refusal: &OpenError) {
        tracing::error!(token = self.label(), %refusal, "the token does not take the PIN");
        self.breaker.refuse_pin(refusal.to_string());
        self.next_generation();
        self.refuse_queued();
    }

    /// Lets the threads go once what is queued is worked off.
    pub(crate) fn close(&self) {
        self.breaker.retire();
        self.queue.close();
        self.alarm.close();
    }

    fn next_generation(&self) {
        self.handles.renew(self.login.next_generation());
    }

    fn refuse_queued(&self) {
        for job in self.queue.shut() {
            let out = HsmError::new(ErrorKind::TokenOut, "it went out while this waited");
            job.answer(Err(out.on(self.label())));
        }
    }

    /// Lets go of the token and, once, of its module.
    pub(crate) fn leave_module(&self) {
        self.login.let_go();
        if !self.left.swap(true, Ordering::SeqCst) {
            self.login.module().leave();
        }
    }

    /// How the token is, for whoever asks from outside.
    pub(crate) fn status(&self) -> TokenStatus {
        let (state, since, canary) = self.breaker.told();
        TokenStatus {
            label: self.label().to_owned(),
            serial: self.identity.get().map(|identity| identity.serial.clone()),
            state,
            since,
            workers: self.crew.workers(),
            hung: self.crew.hung(),
            sessions: self.sessions.load(Ordering::Relaxed),
            queued: self.queue.len(),
            canary,
            oaep: self.oaep.ways(),
            counters: self.tally.read(),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.leave_module();
    }
}

/// How many workers the token has sessions for, beside the anchor and the keeper.
fn affordable_workers(info: &TokenInfo, wanted: usize) -> Result<usize, OpenError> {
    let bound = |limit: Limit| match limit {
        Limit::Max(most) => most,
        Limit::Unavailable | Limit::Infinite => u64::MAX,
    };
    let allowed = bound(info.max_session_count()).min(bound(info.max_rw_session_count()));
    let taken = info
        .session_count()
        .unwrap_or(0)
        .max(info.rw_session_count().unwrap_or(0));
    let free = allowed.saturating_sub(taken);
    let beside = 2;
    match usize::try_from(free.saturating_sub(beside))
        .unwrap_or(usize::MAX)
        .min(wanted)
    {
        0 => Err(OpenError::TooFewSessions {
            token: info.label().to_owned(),
            allowed,
            free,
            needed: beside + 1,
        }),
        workers => Ok(workers),
    }
}
