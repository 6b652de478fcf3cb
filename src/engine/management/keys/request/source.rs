//! The source of a new key.

use crate::keys::{DescribedKey, Usage, Wrapped};
use formats::material::{Algorithm, PrivateKey, PublicKey, SecretKey};

/// The source of a new key.
pub(in crate::management::keys) enum KeySource {
    Generated { usage: Usage, algorithm: Algorithm },
    Public { usage: Usage, key: PublicKey },
    Wrapped { usage: Usage, wrapped: Wrapped },
    Private { usage: Usage, key: Box<PrivateKey> },
    Secret { usage: Usage, algorithm: Algorithm, key: SecretKey },
    TokenObject(DescribedKey),
}
