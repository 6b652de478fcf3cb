//! The states of a key and the transitions between them.

use crate::closed_set::ClosedSet;
use formats::closed_set;

closed_set! {
    /// The state of a key.
    pub enum KeyStatus: "KeyStatus" {
        /// It can be used for all operations.
        Active = "active",
        /// It only unprotects, decrypts and verifies.
        Retired = "retired",
        /// It cannot be used until an administrator enables it.
        Disabled = "disabled",
        /// It cannot be used and is scheduled for destruction.
        PendingDestruction = "pending_destruction",
        /// The token no longer has it. The record remains.
        Destroyed = "destroyed",
    }
}

impl ClosedSet for KeyStatus {}

/// The cause of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An administrator sets the status.
    Set,
    /// Another key of the same service and family becomes active.
    Rotation,
    /// An administrator deletes the key.
    Deletion,
    /// The destruction delay has passed.
    Delay,
}

/// All permitted transitions.
const TRANSITIONS: [(KeyStatus, Cause, KeyStatus); 12] = {
    use Cause::{Delay, Deletion, Rotation, Set};
    use KeyStatus::{Active, Destroyed, Disabled, PendingDestruction, Retired};
    [
        (Active, Set, Retired),
        (Active, Set, Disabled),
        (Active, Rotation, Retired),
        (Active, Deletion, PendingDestruction),
        (Retired, Set, Active),
        (Retired, Set, Disabled),
        (Retired, Deletion, PendingDestruction),
        (Disabled, Set, Active),
        (Disabled, Set, Retired),
        (Disabled, Deletion, PendingDestruction),
        (PendingDestruction, Set, Disabled),
        (PendingDestruction, Delay, Destroyed),
    ]
};

/// The transition is not permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key that is {} cannot become {}", .from.words(), .to.words())]
pub struct NoTransition {
    /// The current state.
    pub from: KeyStatus,
    /// The requested state.
    pub to: KeyStatus,
}

impl KeyStatus {
    /// Checks that `cause` permits the transition to another state.
    pub(crate) fn become_by(self, cause: Cause, to: Self) -> Result<(), NoTransition> {
        if TRANSITIONS.contains(&(self, cause, to)) {
            Ok(())
        } else {
            Err(NoTransition { from: self, to })
        }
    }

    /// Whether it protects, encrypts and signs.
    pub const fn does(self) -> bool {
        matches!(self, Self::Active)
    }

    /// Whether it unprotects, decrypts and verifies.
    pub(crate) const fn undoes(self) -> bool {
        matches!(self, Self::Active | Self::Retired)
    }

    /// The state as part of a sentence.
    const fn words(self) -> &'static str {
        match self {
            Self::PendingDestruction => "pending destruction",
            Self::Active | Self::Retired | Self::Disabled | Self::Destroyed => self.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specified life cycle: a state, and the states that each cause leads to.
    const LIFE: &str = "
        active              set:      retired disabled
        active              rotation: retired
        active              deletion: pending_destruction
        retired             set:      active disabled
        retired             deletion: pending_destruction
        disabled            set:      active retired
        disabled            deletion: pending_destruction
        pending_destruction set:      disabled
        pending_destruction delay:    destroyed
    ";

    #[test]
    fn every_state_transition_matches_the_contract() {
        let causes = [
            ("set:", Cause::Set),
            ("rotation:", Cause::Rotation),
            ("deletion:", Cause::Deletion),
            ("delay:", Cause::Delay),
        ];
        for from in KeyStatus::ALL {
            for (word, cause) in causes {
                let reached: Vec<&str> = LIFE
                    .lines()
                    .map(|line| line.split_whitespace().collect::<Vec<_>>())
                    .find(|words| words.starts_with(&[from.name(), word]))
                    .map(|words| words.into_iter().skip(2).collect())
                    .unwrap_or_default();
                for to in KeyStatus::ALL {
                    assert_eq!(
                        from.become_by(cause, to).is_ok(),
                        reached.contains(&to.name()),
                        "{from:?} {cause:?} {to:?}"
                    );
                }
            }
        }
    }
}
