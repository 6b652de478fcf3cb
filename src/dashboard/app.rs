//! The state that all pages share.

use std::ops::Deref;
use std::sync::Arc;

use crate::keys::Vault;
use crate::web::Resources;

/// Everything a page may use. Clones share it.
#[derive(Clone, Debug)]
pub struct Dashboard(Arc<Parts>);

/// The parts of a [`Dashboard`].
#[derive(Debug)]
pub struct Parts {
    /// What the dashboard shares with the API.
    pub resources: Arc<Resources>,
    /// Makes keys in the tokens.
    pub vault: Vault,
}

impl Dashboard {
    /// Shares `parts` among pages.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Dashboard {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Deref for Parts {
    type Target = Resources;

    fn deref(&self) -> &Resources {
        &self.resources
    }
}
