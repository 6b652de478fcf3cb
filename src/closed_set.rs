//! Closed sets of named values. `hsm` declares those of keys; the macro is the same.

pub use hsm::closed_set::{NamedValue, NotOneOf};
use hsm::{Algorithm, ImportMechanism, SignatureScheme};

/// A set that requests, filters and resources read by name.
pub trait ClosedSet: NamedValue {}

impl ClosedSet for Algorithm {}
impl ClosedSet for ImportMechanism {}
impl ClosedSet for SignatureScheme {}

/// Declares an enum whose values have names, as [`hsm::closed_set!`] does.
#[macro_export]
macro_rules! closed_set {
    ($(#[$($attribute:tt)*])* $vis:vis enum $set:ident: $schema:literal { $($values:tt)* }) => {
        ::hsm::closed_set! {
            $(#[$($attribute)*])*
            $vis enum $set: $schema { $($values)* }
        }

        impl $crate::closed_set::ClosedSet for $set {}
    };
}
