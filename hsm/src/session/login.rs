//! Logged-in sessions. PKCS#11 has one login for each process and token: it is done under a lock,
//! once, and never undone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cryptoki::error::RvError;
use cryptoki_sys::{
    CKF_LOGIN_REQUIRED, CKF_USER_PIN_COUNT_LOW, CKF_USER_PIN_FINAL_TRY, CKF_USER_PIN_INITIALIZED,
    CKF_USER_PIN_LOCKED,
};

use super::module::{Module, OpenSession};
use super::timed_lock::TimedLock;
use crate::counters::LiveCounters;
use crate::pkcs11::{Slot, TokenInfo};
use crate::{ErrorKind, HsmError, OpenError, PinAttempt, PinMemory, TokenConfig};

/// Opens logged-in sessions on one token.
pub(crate) struct Login {
    module: Arc<Module>,
    token: TokenConfig,
    pin_memory: Option<Arc<dyn PinMemory>>,
    /// Held during a login.
    lock: TimedLock,
    place: Mutex<OpenSlot>,
    /// Counts logins. Sessions and handles of former generations are not used.
    generation: AtomicU64,
    /// Whether the token has accepted the PIN in this process.
    accepted: AtomicBool,
}

#[derive(Default)]
struct OpenSlot {
    slot: Option<Slot>,
    /// Stays open, so that the login survives the close of the last worker's session.
    anchor: Option<OpenSession>,
    /// Why no login is tried any more.
    refused: Option<PinRefusal>,
}

/// Why the PIN must not be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PinRefusal {
    Wrong,
    WrongBefore,
    CountLow,
    LastTry,
    Locked,
    NotSet,
}

/// Why there is no logged-in session.
#[derive(Debug)]
pub(crate) enum ConnectError {
    Place(OpenError),
    Pin(PinRefusal),
    Call(HsmError),
}

impl Login {
    pub(super) fn new(
        module: Arc<Module>,
        token: TokenConfig,
        pin_memory: Option<Arc<dyn PinMemory>>,
    ) -> Self {
        Self {
            module,
            token,
            pin_memory,
            lock: TimedLock::default(),
            place: Mutex::default(),
            generation: AtomicU64::new(0),
            accepted: AtomicBool::new(false),
        }
    }

    pub(crate) fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The present generation of sessions and handles.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Starts a generation of sessions and handles.
    pub(super) fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Forgets slot and anchor, so that both are looked up again.
    pub(crate) fn release(&self) {
        let anchor = {
            let mut place = self.place();
            place.slot = None;
            place.anchor.take()
        };
        drop(anchor);
    }

    /// Finds the slot of the token and reads the token's information.
    pub(crate) fn locate(&self) -> Result<(Slot, TokenInfo), ConnectError> {
        let found = self.module.find_slot(&self.token.select);
        let found = found.map_err(ConnectError::Place)?;
        self.place().slot = Some(found.0);
        Ok(found)
    }

    /// The token's information, read in the slot in which it was last found.
    pub(crate) fn token_info(&self) -> Result<TokenInfo, ConnectError> {
        let slot = self.place().slot;
        match slot {
            Some(slot) => Ok(self.module.token_info(slot)?),
            None => Ok(self.locate()?.1),
        }
    }

    /// Opens a session and makes sure that the user is logged in. Returns whether it had to log
    /// in, which starts a generation.
    pub(super) fn connect(
        &self,
        counters: &LiveCounters,
        patience: Duration,
    ) -> Result<(OpenSession, bool), ConnectError> {
        self.check_refusal()?;
        let slot = self.place().slot;
        let slot = match slot {
            Some(slot) => slot,
            None => self.locate()?.0,
        };
        let session = self.open(slot, counters)?;
        if session.raw().is_logged_in()? {
            return Ok((session, false));
        }

        let Some(_guard) = self.lock.take(patience) else {
            let detail = "the login of another thread does not end";
            return Err(HsmError::new(ErrorKind::TokenOut, detail).into());
        };
        // Another thread may have logged in, or have been refused, in the meantime.
        self.check_refusal()?;
        let info = self.module.token_info(slot)?;
        let must_log_in = info.has(CKF_LOGIN_REQUIRED) && !session.raw().is_logged_in()?;
        if must_log_in && let Err(refusal) = self.log_in(&session, &info, counters)? {
            self.place().refused = Some(refusal);
            return Err(ConnectError::Pin(refusal));
        }
        self.renew_anchor(slot, counters)?;
        Ok((session, must_log_in))
    }

    /// Makes sure that the anchor session is alive.
    pub(crate) fn check_anchor(&self, counters: &LiveCounters) -> Result<(), ConnectError> {
        let slot = self.place().slot;
        slot.map_or(Ok(()), |slot| self.renew_anchor(slot, counters))
    }

    fn renew_anchor(&self, slot: Slot, counters: &LiveCounters) -> Result<(), ConnectError> {
        // Taken out during the call, so that a hung call does not hold the lock.
        let anchor = self.place().anchor.take();
        let anchor = match anchor {
            Some(anchor) if anchor.raw().is_logged_in().is_ok() => anchor,
            _ => self.open(slot, counters)?,
        };
        let superseded = self.place().anchor.replace(anchor);
        drop(superseded);
        Ok(())
    }

    fn open(&self, slot: Slot, counters: &LiveCounters) -> Result<OpenSession, HsmError> {
        counters.sessions_opened.increment();
        self.module.open_session(slot)
    }

    fn check_refusal(&self) -> Result<(), ConnectError> {
        let refused = self.place().refused;
        refused.map_or(Ok(()), |refusal| Err(ConnectError::Pin(refusal)))
    }

    /// Logs in, unless the token reports that a wrong PIN could lock it, or has refused this PIN.
    fn log_in(
        &self,
        session: &OpenSession,
        info: &TokenInfo,
        counters: &LiveCounters,
    ) -> Result<Result<(), PinRefusal>, HsmError> {
        if info.has(CKF_USER_PIN_LOCKED) {
            return Ok(Err(PinRefusal::Locked));
        }
        if info.has(CKF_USER_PIN_FINAL_TRY) {
            return Ok(Err(PinRefusal::LastTry));
        }
        if !info.has(CKF_USER_PIN_INITIALIZED) {
            return Ok(Err(PinRefusal::NotSet));
        }
        // A PIN that this process has used before is not the wrong one.
        let was_accepted = self.accepted.load(Ordering::Relaxed);
        let may_retry = self.token.retry_pin || was_accepted;
        let attempt = match was_accepted {
            true => None,
            false => self.begin_attempt(info).transpose()?,
        };
        if attempt.as_ref().is_some_and(|attempt| attempt.is_refused) && !may_retry {
            return Ok(Err(PinRefusal::WrongBefore));
        }
        // A warning that follows from another PIN does not concern a corrected one.
        let is_corrected = attempt.as_ref().is_some_and(|attempt| attempt.refused_another);
        if info.has(CKF_USER_PIN_COUNT_LOW) && !may_retry && !is_corrected {
            return Ok(Err(PinRefusal::CountLow));
        }
        counters.logins.increment();
        self.next_generation();
        let refused = match session.raw().login(&self.token.pin) {
            Err(error) if error.code() != Some(RvError::UserAlreadyLoggedIn) => Some(error),
            _ => None,
        };
        let Some(error) = refused else {
            self.accepted.store(true, Ordering::Relaxed);
            if let Some(attempt) = attempt {
                (attempt.record)(true);
            }
            return Ok(Ok(()));
        };
        match error.code().and_then(PinRefusal::of) {
            Some(refusal) => {
                if refusal == PinRefusal::Wrong {
                    self.remember_refusal(attempt, info);
                }
                Ok(Err(refusal))
            }
            None => Err(error),
        }
    }

    fn begin_attempt(&self, info: &TokenInfo) -> Option<Result<PinAttempt, HsmError>> {
        let memory = self.pin_memory.as_ref()?;
        let attempt = memory.begin(&info.label, &info.serial, &self.token.pin);
        Some(attempt.map_err(|reason| {
            let detail = format!("no login: cannot read whether the PIN was refused: {reason}");
            HsmError::new(ErrorKind::TokenOut, detail)
        }))
    }

    /// Records that the token refused the PIN. A process whose PIN the token accepted before has not
    /// begun an attempt, so that its logins do not depend on the memory.
    fn remember_refusal(&self, attempt: Option<PinAttempt>, info: &TokenInfo) {
        match attempt.map(Ok).or_else(|| self.begin_attempt(info)) {
            Some(Ok(attempt)) => (attempt.record)(false),
            Some(Err(error)) => {
                tracing::error!(
                    ?error,
                    "the refused PIN is not recorded: the next process tries it again"
                );
            }
            None => {}
        }
    }

    fn place(&self) -> MutexGuard<'_, OpenSlot> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PinRefusal {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "few of the return codes of PKCS#11 refuse a PIN"
    )]
    fn of(code: RvError) -> Option<Self> {
        match code {
            RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange => Some(Self::Wrong),
            RvError::PinLocked => Some(Self::Locked),
            RvError::PinExpired | RvError::UserPinNotInitialized => Some(Self::NotSet),
            _ => None,
        }
    }

    pub(crate) fn on(self, token: &str) -> OpenError {
        let token = token.to_owned();
        match self {
            Self::Wrong => OpenError::PinRefused { token },
            Self::WrongBefore => OpenError::PinRefusedBefore { token },
            Self::CountLow => OpenError::PinCountLow { token },
            Self::LastTry => OpenError::PinLastTry { token },
            Self::Locked => OpenError::PinLocked { token },
            Self::NotSet => OpenError::PinNotSet { token },
        }
    }
}

impl From<HsmError> for ConnectError {
    fn from(error: HsmError) -> Self {
        Self::Call(error)
    }
}

impl ConnectError {
    /// As a failure to open the token.
    pub(crate) fn at_open(self, token: &str) -> OpenError {
        match self {
            Self::Place(error) => error,
            Self::Pin(refusal) => refusal.on(token),
            Self::Call(source) => OpenError::Broken { token: token.to_owned(), source },
        }
    }

    /// As a failure of an operation that got no session.
    pub(crate) fn at_work(self) -> HsmError {
        match self {
            Self::Place(error) => HsmError::new(ErrorKind::TokenOut, error.to_string()),
            Self::Pin(refusal) => {
                HsmError::new(ErrorKind::TokenOut, format!("no login: {refusal:?}"))
            }
            Self::Call(error) if error.kind() == ErrorKind::Busy => error,
            Self::Call(error) => error.with_kind(ErrorKind::TokenOut),
        }
    }
}
