//! The states of a key, and every way from one to another.

use crate::closed_set;

closed_set! {
    /// The state of a key.
    pub enum Status: "KeyStatus" {
        /// It does everything.
        Active = "active",
        /// It unprotects, decrypts and verifies only.
        Retired = "retired",
        /// It does nothing until an administrator enables it.
        Disabled = "disabled",
        /// It does nothing and is going to be destroyed.
        PendingDestruction = "pending_destruction",
        /// The token does not hold it any more; the record stays.
        Destroyed = "destroyed",
    }
}

/// What moves a key from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An administrator sets the status.
    Set,
    /// Another key of the same service and family becomes active.
    Rotation,
    /// An administrator deletes the key.
    Deletion,
    /// The delay of destruction has run out.
    Delay,
}

/// Every transition there is: what is not here is refused.
const TRANSITIONS: [(Status, Cause, Status); 12] = {
    use Cause::{Delay, Deletion, Rotation, Set};
    use Status::{Active, Destroyed, Disabled, PendingDestruction, Retired};
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

/// A key cannot come from the one state to the other this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key that is {} cannot become {}", .from.words(), .to.words())]
pub struct NoTransition {
    /// The state it is in.
    pub from: Status,
    /// The state it was to come to.
    pub to: Status,
}

impl Status {
    /// Checks that `cause` moves a key in this state to another.
    pub fn become_by(self, cause: Cause, to: Self) -> Result<(), NoTransition> {
        if TRANSITIONS.contains(&(self, cause, to)) {
            Ok(())
        } else {
            Err(NoTransition { from: self, to })
        }
    }

    /// Whether it protects, encrypts and signs.
    #[must_use]
    pub const fn does(self) -> bool {
        matches!(self, Self::Active)
    }

    /// Whether it unprotects, decrypts and verifies.
    #[must_use]
    pub const fn undoes(self) -> bool {
        matches!(self, Self::Active | Self::Retired)
    }

    /// The state in a sentence.
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

    /// The life cycle as the contract writes it: from, and what may be reached by each cause.
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
    fn every_pair_of_states_is_as_the_contract_has_it() {
        let causes = [
            ("set:", Cause::Set),
            ("rotation:", Cause::Rotation),
            ("deletion:", Cause::Deletion),
            ("delay:", Cause::Delay),
        ];
        for from in Status::ALL {
            for (word, cause) in causes {
                let reached: Vec<&str> = LIFE
                    .lines()
                    .map(|line| line.split_whitespace().collect::<Vec<_>>())
                    .find(|words| words.starts_with(&[from.name(), word]))
                    .map(|words| words.into_iter().skip(2).collect())
                    .unwrap_or_default();
                for to in Status::ALL {
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
