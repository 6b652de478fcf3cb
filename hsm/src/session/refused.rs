//! Which optional attributes a token has refused.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cryptoki::object::AttributeType;

use crate::Purpose;
use formats::algorithms::Algorithm;

/// What a token has refused since this process connected to it, so that later keys cost no rejected calls.
#[derive(Debug, Default)]
pub(crate) struct RefusedAttributes(Mutex<HashMap<Circumstances, Vec<AttributeType>>>);

/// Keys for which a token refuses the same attributes.
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

impl RefusedAttributes {
    /// The attributes that the token does not accept.
    pub(crate) fn of(&self, keys: Circumstances) -> Vec<AttributeType> {
        self.lock().get(&keys).cloned().unwrap_or_default()
    }

    /// The names of all attributes that the token did not accept for some key.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.lock().values().flatten().map(ToString::to_string).collect()
    }

    pub(crate) fn note(&self, keys: Circumstances, refused: impl Iterator<Item = AttributeType>) {
        self.lock().entry(keys).or_default().extend(refused);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Circumstances, Vec<AttributeType>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
