//! Closed sets that requests, filters and resources read by name.

use formats::algorithms::{Algorithm, Cipher, Hash, ImportMechanism, SignatureScheme};
use formats::closed_set::NamedValue;
use formats::envelope::{Alg, Enc};

/// A set that requests, filters and resources read by name. Each such set implements it, because the
/// compiler must know that no other type, such as a string, is one.
pub(crate) trait ClosedSet: NamedValue {}

impl ClosedSet for Alg {}
impl ClosedSet for Algorithm {}
impl ClosedSet for Cipher {}
impl ClosedSet for Enc {}
impl ClosedSet for Hash {}
impl ClosedSet for ImportMechanism {}
impl ClosedSet for SignatureScheme {}
