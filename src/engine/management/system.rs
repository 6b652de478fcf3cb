//! The service itself as the author of changes.

use crate::catalog::Catalog;
use crate::db::Pool;
use crate::floor::Floor;
use formats::clock::{Clock, Entropy};

/// A job of the service, or a command on its machine. Its use cases take it instead of an
/// [`Authorized`](super::Authorized), which it does not give away.
///
/// ```compile_fail,E0624
/// use sealward_engine::management::{Authorized, ManageKeys, System};
///
/// fn mint(system: &System) -> Authorized<ManageKeys> {
///     system.authorize()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct System {
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
    pub(super) catalog: Catalog,
    pub(super) pool: Pool,
    pub(super) name: &'static str,
    pub(super) floor: Floor,
    /// The issuer of the people whom admin keys name.
    pub(super) people_issuer: Option<String>,
}

impl System {
    /// The part of the service that events call `name`.
    pub fn new(
        name: &'static str,
        clock: Clock,
        entropy: Entropy,
        catalog: Catalog,
        pool: Pool,
    ) -> Self {
        Self { clock, entropy, catalog, pool, name, floor: Floor::default(), people_issuer: None }
    }

    /// The same part, which makes keys by this floor.
    pub fn with_floor(self, floor: Floor) -> Self {
        Self { floor, ..self }
    }

    /// The same part, whose admin keys name people of this issuer.
    pub fn with_people_of(self, issuer: Option<String>) -> Self {
        Self { people_issuer: issuer, ..self }
    }
}
