//! Which optional attributes a token has accepted.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Purpose;
use formats::algorithms::Algorithm;

/// What a token has accepted since this process connected to it, so that later keys cost no rejected calls.
#[derive(Debug, Default)]
pub(crate) struct AcceptedAttributes(Mutex<HashMap<Circumstances, usize>>);

/// Keys for which a token accepts the same attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Circumstances {
    pub(crate) origin: Origin,
    pub(crate) algorithm: Algorithm,
    pub(crate) purpose: Purpose,
    /// Whether the key stays in the token.
    pub(crate) permanent: bool,
}

/// Where a key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    Generated,
    Imported,
}

impl AcceptedAttributes {
    /// The number of the accepted choice of attributes.
    pub(crate) fn choice(&self, of: Circumstances) -> Option<usize> {
        self.lock().get(&of).copied()
    }

    pub(crate) fn note(&self, of: Circumstances, choice: usize) {
        self.lock().insert(of, choice);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Circumstances, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
