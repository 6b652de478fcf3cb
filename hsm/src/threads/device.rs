//! One configured token: its connection, its breaker, its queue and its threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::queue::Queue;
use super::registry::Registry;
use crate::pool::Breaker;
use crate::session::{Module, TokenConnection};
use crate::{
    Config, ErrorKind, HsmError, Observer, OpenError, TokenConfig, TokenState, TokenStatus,
};

pub(crate) struct Device {
    pub(crate) connection: Arc<TokenConnection>,
    pub(crate) queue: Queue,
    pub(crate) threads: Registry,
    breaker: Breaker,
    /// Why the caller excluded the token, and since when.
    exclusion: Mutex<Option<(String, Instant)>>,
    observer: Option<Arc<dyn Observer>>,
}

impl Device {
    pub(crate) fn new(module: Arc<Module>, token: TokenConfig, config: &Config) -> Self {
        Self {
            connection: Arc::new(TokenConnection::new(module, token, config)),
            queue: Queue::new(config.queue.max(1)),
            threads: Registry::default(),
            breaker: Breaker::new(),
            exclusion: Mutex::new(None),
            observer: config.observer.clone(),
        }
    }

    pub(crate) fn label(&self) -> &str {
        self.connection.label()
    }

    /// The state by the canary.
    pub(crate) fn state(&self) -> TokenState {
        self.breaker.state()
    }

    /// Whether the canary works.
    pub(crate) fn is_serving(&self) -> bool {
        self.breaker.is_serving()
    }

    /// Whether operations may use the token.
    pub(crate) fn is_in_use(&self) -> bool {
        self.is_serving() && self.exclusion().is_none()
    }

    /// The state as operations see it. A token that works and is excluded is out.
    pub(crate) fn shown_state(&self) -> TokenState {
        match (self.state(), self.exclusion().as_ref()) {
            (TokenState::Serving, Some((reason, _))) => TokenState::Out { reason: reason.clone() },
            (state, _) => state,
        }
    }

    /// Excludes the token for this reason, or admits it.
    pub(crate) fn exclude(&self, reason: Option<String>) {
        let mut exclusion = self.exclusion();
        match (&mut *exclusion, reason) {
            (Some((known, _)), Some(reason)) => *known = reason,
            (excluded @ None, Some(reason)) => {
                tracing::error!(token = self.label(), reason, "the token is excluded");
                *excluded = Some((reason, Instant::now()));
            }
            (excluded, None) => {
                if excluded.take().is_some() {
                    tracing::info!(token = self.label(), "the token is admitted again");
                }
            }
        }
    }

    fn exclusion(&self) -> MutexGuard<'_, Option<(String, Instant)>> {
        self.exclusion.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The canary succeeded. Returns whether the token was out and now serves.
    pub(super) fn serve(&self, canary: Duration) -> bool {
        let was_out = self.breaker.close(canary, || self.queue.open());
        if was_out {
            tracing::info!(token = self.label(), "the token is available");
        }
        was_out
    }

    /// The canary failed: the token is not used until the monitor has brought it back.
    pub(crate) fn trip(&self, reason: &str) {
        if self.breaker.open(reason) {
            tracing::error!(token = self.label(), reason, "the token is unavailable");
            self.connection.counters.outages.increment();
            self.stop_serving();
        }
    }

    /// The PIN was refused: only an operator brings the token back.
    pub(crate) fn refuse_pin(&self, refusal: &OpenError) {
        tracing::error!(token = self.label(), %refusal, "the token refused the PIN");
        self.breaker.refuse_pin(refusal.to_string());
        self.stop_serving();
    }

    /// Ends the threads once the queue is empty.
    pub(crate) fn close(&self) {
        self.breaker.retire();
        self.queue.close();
        self.connection.canary.close();
    }

    fn stop_serving(&self) {
        self.connection.next_generation();
        for job in self.queue.shut() {
            let out = HsmError::new(ErrorKind::TokenOut, "the token went out during the wait");
            job.answer(Err(out.on(self.label())));
        }
    }

    pub(super) fn observe(&self, queued: Duration, ran: Duration) {
        if let Some(observer) = &self.observer {
            observer.operation(self.label(), queued, ran);
        }
    }

    pub(crate) fn status(&self) -> TokenStatus {
        let (state, since, canary) = self.breaker.status();
        let excluded = self.exclusion().as_ref().map(|(_, at)| at.elapsed());
        let since = match (&state, excluded) {
            (TokenState::Serving, Some(excluded)) => excluded,
            _ => since,
        };
        let identity = self.connection.identity();
        TokenStatus {
            label: self.label().to_owned(),
            serial: identity.map(|identity| identity.serial.clone()),
            state: self.shown_state(),
            excluded: excluded.is_some(),
            since,
            workers: self.threads.able_workers(),
            workers_configured: self.connection.limits.workers,
            hung: self.threads.hung(),
            sessions: self.connection.sessions(),
            queued: self.queue.len(),
            canary,
            oaep: self.connection.oaep(),
            counters: self.connection.counters.read(),
        }
    }
}
