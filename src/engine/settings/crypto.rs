//! Settings of the cryptographic floor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::floor::{AnyAlgorithm, Floor, MINIMUM_STRENGTHS};
use formats::similar::nearest;

/// The cryptographic floor.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Crypto {
    /// The minimum strength in bits as NIST SP 800-57 counts it: 112, 128 or 192.
    pub minimum_strength: u16,
    /// The names of algorithms that make nothing new, of keys, `alg`, `enc` and `/operations`, such as
    /// `RSA-OAEP`. A name forbids itself alone.
    pub forbidden: Vec<String>,
    /// Allows FIPS-approved algorithms only. Sealward is not a FIPS module.
    pub approved_only: bool,
}

impl Default for Crypto {
    fn default() -> Self {
        Self { minimum_strength: 112, forbidden: Vec::new(), approved_only: false }
    }
}

impl Crypto {
    /// The floor of these settings.
    pub fn floor(&self) -> Floor {
        let forbidden = self.forbidden.iter().flat_map(|name| AnyAlgorithm::named(name));
        Floor::new(self.minimum_strength, forbidden, self.approved_only)
    }

    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        if !MINIMUM_STRENGTHS.contains(&self.minimum_strength) {
            found.push("crypto.minimum_strength must be 112, 128 or 192".to_owned());
        }
        for name in &self.forbidden {
            if AnyAlgorithm::named(name).next().is_some() {
                continue;
            }
            let known = AnyAlgorithm::all().map(AnyAlgorithm::name);
            found.push(match nearest(name, known) {
                Some(near) => {
                    format!("unknown algorithm {name} in crypto.forbidden: did you mean {near}?")
                }
                None => format!("unknown algorithm {name} in crypto.forbidden"),
            });
        }
    }
}
