//! Hashes, which need no key.

use aws_lc_rs::digest::{self, Digest};

use crate::floor::{Breach, Floor};
use crate::policy::{Permit, to};
use formats::algorithms::Hash;

/// The hash of `message`, if the floor allows the algorithm.
///
/// ```
/// use formats::algorithms::Hash;
/// use sealward_engine::floor::{Breach, Floor};
/// use sealward_engine::policy::{Permit, to};
/// use sealward_engine::protection::hash;
///
/// fn hashed(permit: &Permit<to::Hash>, floor: Floor) -> Result<(), Breach> {
///     hash(permit, floor, Hash::Sha256, b"message").map(drop)
/// }
/// ```
///
/// Nothing is hashed without a permit:
///
/// ```compile_fail,E0061
/// use formats::algorithms::Hash;
/// use sealward_engine::floor::Floor;
/// use sealward_engine::protection::hash;
///
/// fn hashed(floor: Floor) {
///     hash(floor, Hash::Sha256, b"message");
/// }
/// ```
pub fn hash(
    _permit: &Permit<to::Hash>,
    floor: Floor,
    algorithm: Hash,
    message: &[u8],
) -> Result<Digest, Breach> {
    floor.check(algorithm)?;
    Ok(digest::digest(algorithm.algorithm(), message))
}
