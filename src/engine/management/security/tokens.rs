//! Tokens that are lost and found.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use hsm::{Token, TokenState};

use super::SecurityLog;
use crate::jobs::Pulse;
use crate::management::{Action, Actor, Event};

/// The interval at which the states of the tokens are compared.
const INTERVAL: Duration = Duration::from_millis(250);

/// The last recorded state of each token, by its label.
pub type RecordedStates = HashMap<String, Action>;

impl SecurityLog {
    /// Records when a token is lost or found and when its PIN is refused. Tokens count as working at
    /// the start. A state that cannot be recorded is recorded as soon as the database answers. `recorded`
    /// remains when this starts again.
    pub async fn follow_tokens(
        self,
        token: Token,
        recorded: &mut RecordedStates,
        pulse: Pulse,
    ) -> Infallible {
        let actor = Actor::system("token monitor");
        loop {
            for status in token.status().tokens {
                pulse.alive();
                let (state, reason) = match status.state {
                    TokenState::Serving => (Action::TokenFound, None),
                    TokenState::Out { reason } => (Action::TokenLost, Some(reason)),
                    TokenState::PinRefused { reason } => (Action::PinRefused, Some(reason)),
                    TokenState::Closed => continue,
                };
                let before = recorded.get(&status.label);
                if *before.unwrap_or(&Action::TokenFound) == state {
                    continue;
                }
                let event = Event::of_token(state, &status.label, reason.as_deref());
                match self.record(&actor, event).await {
                    Ok(()) => drop(recorded.insert(status.label, state)),
                    Err(error) => {
                        tracing::debug!(%error, "the state of a token could not be recorded yet");
                    }
                }
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }
}
