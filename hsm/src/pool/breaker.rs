//! Whether a token is in use, and since when.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::TokenState;

#[derive(Debug)]
pub(crate) struct Breaker(Mutex<BreakerState>);

#[derive(Debug, Clone)]
struct BreakerState {
    state: TokenState,
    since: Instant,
    canary: Option<Duration>,
}

impl Breaker {
    /// An open breaker.
    pub(crate) fn new() -> Self {
        let reason = "not reached yet".to_owned();
        let state = TokenState::Out { reason };
        Self(Mutex::new(BreakerState { state, since: Instant::now(), canary: None }))
    }

    pub(crate) fn state(&self) -> TokenState {
        self.lock().state.clone()
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.lock().state == TokenState::Serving
    }

    /// The state, how long it has lasted, and how long the last canary took.
    pub(crate) fn status(&self) -> (TokenState, Duration, Option<Duration>) {
        let inner = self.lock();
        (inner.state.clone(), inner.since.elapsed(), inner.canary)
    }

    /// The canary succeeded. Returns whether this closed the breaker. It stays open for others
    /// until `admit` has returned.
    pub(crate) fn close(&self, canary: Duration, admit: impl FnOnce()) -> bool {
        let mut inner = self.lock();
        inner.canary = Some(canary);
        let was_out = matches!(inner.state, TokenState::Out { .. });
        if was_out {
            inner.set(TokenState::Serving);
            admit();
        }
        was_out
    }

    /// The canary failed. Returns whether this opened the breaker; a breaker that is open already
    /// takes the new reason.
    pub(crate) fn open(&self, why: &str) -> bool {
        let mut inner = self.lock();
        let reason = why.to_owned();
        match &mut inner.state {
            TokenState::Serving => {
                inner.set(TokenState::Out { reason });
                true
            }
            TokenState::Out { reason: former } => {
                *former = reason;
                false
            }
            TokenState::PinRefused { .. } | TokenState::Closed => false,
        }
    }

    /// The PIN was refused: no canary closes the breaker any more.
    pub(crate) fn refuse_pin(&self, reason: String) {
        let mut inner = self.lock();
        if inner.state != TokenState::Closed {
            inner.set(TokenState::PinRefused { reason });
        }
    }

    /// The process has closed the token.
    pub(crate) fn retire(&self) {
        self.lock().set(TokenState::Closed);
    }

    fn lock(&self) -> MutexGuard<'_, BreakerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BreakerState {
    fn set(&mut self, state: TokenState) {
        self.state = state;
        self.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canary_opens_and_closes_the_breaker() {
        let breaker = Breaker::new();
        assert!(!breaker.is_serving());
        let mut admissions = 0;
        assert!(breaker.close(Duration::ZERO, || admissions += 1));
        assert!(!breaker.close(Duration::ZERO, || admissions += 1), "it was closed already");
        assert_eq!(admissions, 1);
        assert!(breaker.open("first"));
        assert!(!breaker.open("second"), "it was open already");
        assert_eq!(breaker.state(), TokenState::Out { reason: "second".to_owned() });
    }

    #[test]
    fn a_refused_pin_and_a_closed_token_are_final() {
        let breaker = Breaker::new();
        breaker.refuse_pin("wrong".to_owned());
        assert!(!breaker.close(Duration::ZERO, || {}));
        breaker.retire();
        breaker.refuse_pin("wrong".to_owned());
        assert_eq!(breaker.state(), TokenState::Closed);
        assert!(!breaker.close(Duration::ZERO, || {}));
    }
}
