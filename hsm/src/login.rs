//! Sessions that are logged in. Login is one for the process and a token: it is done under a
//! lock, once, and never undone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cryptoki::context::Function;
use cryptoki::error::{Error as Pkcs11Error, RvError};
use cryptoki::session::UserType;
use cryptoki::slot::{Slot, TokenInfo};
use secrecy::SecretString;

use crate::module::{Module, OpenSession};
use crate::tally::Tally;
use crate::turn::Turn;
use crate::{ErrorKind, HsmError, OpenError, TokenSelect};

/// The way to a logged-in session on one token.
pub(crate) struct Login {
    module: Arc<Module>,
    select: TokenSelect,
    pin: SecretString,
    /// Held by whoever logs in.
    turn: Turn,
    place: Mutex<Place>,
    /// Counts logins; sessions and handles of before are not trusted after.
    generation: AtomicU64,
}

#[derive(Default)]
struct Place {
    slot: Option<Slot>,
    /// Stays open, so that the last worker's session closing does not end the login.
    anchor: Option<OpenSession>,
    /// Why no login is tried any more.
    refused: Option<PinTrouble>,
}

/// Why the PIN must not be tried (again).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PinTrouble {
    Refused,
    LastTry,
    Locked,
    NotSet,
}

/// Why there is no logged-in session.
#[derive(Debug)]
pub(crate) enum ConnectError {
    Place(OpenError),
    Pin(PinTrouble),
    Call(HsmError),
}

impl Login {
    pub(crate) fn new(module: Arc<Module>, select: TokenSelect, pin: SecretString) -> Self {
        Self {
            module,
            select,
            pin,
            turn: Turn::default(),
            place: Mutex::default(),
            generation: AtomicU64::new(0),
        }
    }

    pub(crate) fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The present generation of sessions and handles.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// All sessions and handles of before are not trusted from now on.
    pub(crate) fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Why the PIN is not tried any more, if that is so.
    pub(crate) fn pin_trouble(&self) -> Option<PinTrouble> {
        self.place().refused
    }

    /// Forgets slot and anchor, so that all is found anew.
    pub(crate) fn let_go(&self) {
        let anchor = {
            let mut place = self.place();
            place.slot = None;
            place.anchor.take()
        };
        drop(anchor);
    }

    /// The slot of the token and what the token says of itself.
    pub(crate) fn locate(&self) -> Result<(Slot, TokenInfo), ConnectError> {
        let found = self
            .module
            .find_slot(&self.select)
            .map_err(ConnectError::Place)?;
        self.place().slot = Some(found.0);
        Ok(found)
    }

    /// What the token says of itself, where it was found last.
    pub(crate) fn token_info(&self) -> Result<TokenInfo, ConnectError> {
        let slot = self.place().slot;
        match slot {
            Some(slot) => self.module.token_info(slot).map_err(ConnectError::Call),
            None => Ok(self.locate()?.1),
        }
    }

    /// Opens a session and sees that the user is logged in. Answers whether it had to log in,
    /// which begins a generation.
    pub(crate) fn connect(
        &self,
        tally: &Tally,
        patience: Duration,
    ) -> Result<(OpenSession, bool), ConnectError> {
        if let Some(trouble) = self.pin_trouble() {
            return Err(ConnectError::Pin(trouble));
        }
        let slot = self.place().slot;
        let slot = match slot {
            Some(slot) => slot,
            None => self.locate()?.0,
        };
        let session = self.open(slot, tally)?;
        if session.is_logged_in()? {
            return Ok((session, false));
        }

        let Some(_turn) = self.turn.take(patience) else {
            let told = "somebody else's login does not end";
            return Err(HsmError::new(ErrorKind::TokenOut, told).into());
        };
        // Somebody may have logged in, or have been refused, while this thread waited.
        if let Some(trouble) = self.pin_trouble() {
            return Err(ConnectError::Pin(trouble));
        }
        let info = self.module.token_info(slot)?;
        if !info.login_required() || session.is_logged_in()? {
            self.drop_anchor(slot, tally)?;
            return Ok((session, false));
        }
        if let Err(trouble) = self.log_in(&session, &info, tally)? {
            self.place().refused = Some(trouble);
            return Err(ConnectError::Pin(trouble));
        }
        self.drop_anchor(slot, tally)?;
        Ok((session, true))
    }

    /// Touches the anchor session, and drops another where it has gone.
    pub(crate) fn check_anchor(&self, tally: &Tally) -> Result<(), ConnectError> {
        let slot = self.place().slot;
        match slot {
            Some(slot) => self.drop_anchor(slot, tally),
            None => Ok(()),
        }
    }

    fn drop_anchor(&self, slot: Slot, tally: &Tally) -> Result<(), ConnectError> {
        // Taken out while it is asked, so that a hung call does not hold the lock.
        let anchor = self.place().anchor.take();
        let anchor = match anchor {
            Some(anchor) if anchor.raw().get_session_info().is_ok() => anchor,
            _ => self.open(slot, tally)?,
        };
        let superseded = self.place().anchor.replace(anchor);
        drop(superseded);
        Ok(())
    }

    fn open(&self, slot: Slot, tally: &Tally) -> Result<OpenSession, HsmError> {
        tally.sessions_opened.one();
        self.module.open_session(slot)
    }

    /// One login, and only where the token does not warn of it.
    fn log_in(
        &self,
        session: &OpenSession,
        info: &TokenInfo,
        tally: &Tally,
    ) -> Result<Result<(), PinTrouble>, HsmError> {
        if info.user_pin_locked() {
            return Ok(Err(PinTrouble::Locked));
        }
        if info.user_pin_final_try() {
            return Ok(Err(PinTrouble::LastTry));
        }
        if !info.user_pin_initialized() {
            return Ok(Err(PinTrouble::NotSet));
        }
        if info.user_pin_count_low() {
            tracing::warn!(
                token = info.label(),
                "a wrong PIN was tried on this token before"
            );
        }
        tally.logins.one();
        self.next_generation();
        match session.raw().login(UserType::User, Some(&self.pin)) {
            Ok(()) | Err(Pkcs11Error::Pkcs11(RvError::UserAlreadyLoggedIn, Function::Login)) => {
                Ok(Ok(()))
            }
            Err(Pkcs11Error::Pkcs11(code, Function::Login)) => match code {
                RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange => {
                    Ok(Err(PinTrouble::Refused))
                }
                RvError::PinLocked => Ok(Err(PinTrouble::Locked)),
                RvError::PinExpired | RvError::UserPinNotInitialized => Ok(Err(PinTrouble::NotSet)),
                _ => Err(Pkcs11Error::Pkcs11(code, Function::Login).into()),
            },
            Err(other) => Err(other.into()),
        }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PinTrouble {
    pub(crate) fn on(self, token: &str) -> OpenError {
        let token = token.to_owned();
        match self {
            Self::Refused => OpenError::PinRefused { token },
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
    /// As the failure of opening the token.
    pub(crate) fn at_open(self, token: &str) -> OpenError {
        match self {
            Self::Place(error) => error,
            Self::Pin(trouble) => trouble.on(token),
            Self::Call(source) => OpenError::Broken {
                token: token.to_owned(),
                source,
            },
        }
    }

    /// As the failure of an operation: there is no session to run it on.
    pub(crate) fn at_work(self) -> HsmError {
        match self {
            Self::Place(error) => HsmError::new(ErrorKind::TokenOut, error.to_string()),
            Self::Pin(trouble) => {
                HsmError::new(ErrorKind::TokenOut, format!("no login: {trouble:?}"))
            }
            Self::Call(error) if error.kind() == ErrorKind::Busy => error,
            Self::Call(error) => error.sorted(ErrorKind::TokenOut),
        }
    }
}
