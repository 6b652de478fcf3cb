//! Encrypted private keys (PBES2 of RFC 8018).

use std::fmt;

use pkcs5::EncryptionScheme;
use pkcs5::pbes2::Kdf;
use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::der::Decode as _;
use zeroize::Zeroizing;

use super::super::PrivateKey;
use crate::problem::{Code, Problem};

/// An encrypted private key. It is well formed, and its decryption has limited time and memory.
pub struct EncryptedKey(Zeroizing<Vec<u8>>);

/// About two seconds of work.
const MOST_ITERATIONS: u32 = 4_000_000;

/// The maximum memory of scrypt, in bytes. Files of openssl use 16 MiB.
const MOST_MEMORY: u64 = 64 * 1024 * 1024;

/// The maximum number of passes of scrypt over that memory.
const MOST_LANES: u16 = 4;

impl EncryptedKey {
    /// Reads an EncryptedPrivateKeyInfo in DER.
    pub(in crate::material) fn read(bytes: Zeroizing<Vec<u8>>) -> Result<Self, Problem> {
        let info = parse(&bytes)?;
        let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else {
            return Err(old_scheme());
        };
        let bearable = match &parameters.kdf {
            Kdf::Pbkdf2(kdf) => kdf.iteration_count <= MOST_ITERATIONS,
            Kdf::Scrypt(kdf) => {
                let least = kdf.block_size.min(kdf.parallelization);
                if kdf.cost_parameter < 2 || !kdf.cost_parameter.is_power_of_two() || least == 0 {
                    return Err(malformed());
                }
                let memory = u64::from(kdf.block_size).saturating_mul(128);
                memory.saturating_mul(kdf.cost_parameter) <= MOST_MEMORY
                    && kdf.parallelization <= MOST_LANES
            }
            _ => return Err(old_scheme()),
        };
        if bearable {
            Ok(Self(bytes))
        } else {
            Err(Problem::of_body(
                Code::Range,
                "must be encrypted with fewer iterations; or wrap the key",
            ))
        }
    }

    /// Decrypts the key. This takes as long as a password hash, so do not call it on an async thread.
    pub fn unlock(&self, passphrase: &str) -> Result<PrivateKey, Unlock> {
        let info = parse(&self.0).map_err(Unlock::Key)?;
        let opened = info.decrypt(passphrase).map_err(|error| {
            use pkcs5::Error::UnsupportedAlgorithm;
            if let pkcs8::Error::EncryptedPrivateKey(UnsupportedAlgorithm { .. }) = error {
                Unlock::Key(old_scheme())
            } else {
                Unlock::Passphrase
            }
        })?;
        super::decode(opened.as_bytes()).map_err(Unlock::Key)
    }
}

/// Why an encrypted key does not open.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unlock {
    /// The passphrase is wrong.
    #[error("the passphrase does not open this key")]
    Passphrase,
    /// The key is not supported, with the right or with any passphrase.
    #[error("{}", .0.message)]
    Key(Problem),
}

impl fmt::Debug for EncryptedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptedKey([redacted])")
    }
}

fn parse(bytes: &[u8]) -> Result<EncryptedPrivateKeyInfoRef<'_>, Problem> {
    EncryptedPrivateKeyInfoRef::from_der(bytes).map_err(|_| malformed())
}

fn malformed() -> Problem {
    Problem::of_body(
        Code::Format,
        "must be PKCS#8 encrypted by PBES2, as openssl pkcs8 -topk8 -v2 aes-256-cbc writes it",
    )
}

fn old_scheme() -> Problem {
    Problem::of_body(
        Code::Unsupported,
        "must be encrypted by PBES2 with AES: openssl pkcs8 -topk8 -v2 aes-256-cbc",
    )
}

#[cfg(test)]
mod tests {
    use pkcs5::pbes2::{EncryptionScheme as Cipher, Parameters, ScryptParams};
    use pkcs8::EncryptedPrivateKeyInfoOwned;
    use pkcs8::der::Encode as _;
    use pkcs8::der::asn1::OctetString;

    use super::*;

    fn read(cost_parameter: u64, block_size: u16, parallelization: u16) -> Option<Code> {
        let salt = b"saltsalt".as_slice().try_into().unwrap();
        let kdf =
            ScryptParams { salt, cost_parameter, block_size, parallelization, key_length: None };
        let encryption = Cipher::Aes256Cbc { iv: [0; 16] };
        let scheme = EncryptionScheme::Pbes2(Parameters { kdf: Kdf::Scrypt(kdf), encryption });
        let info = EncryptedPrivateKeyInfoOwned {
            encryption_algorithm: scheme,
            encrypted_data: OctetString::new(vec![0; 64]).unwrap(),
        };
        let read = EncryptedKey::read(info.to_der().unwrap().into());
        read.err().map(|problem| problem.code)
    }

    #[test]
    fn scrypt_has_parameters_of_its_standard_and_limited_work() {
        assert_eq!(read(16_384, 8, 1), None);
        for (cost, size, lanes) in [(0, 8, 1), (1, 8, 1), (3, 8, 1), (2, 0, 1), (2, 8, 0)] {
            assert_eq!(read(cost, size, lanes), Some(Code::Format), "{cost} {size} {lanes}");
        }
        for (cost, size, lanes) in [(1 << 20, 8, 1), (1 << 63, 8, 1), (2, u16::MAX, 5)] {
            assert_eq!(read(cost, size, lanes), Some(Code::Range), "{cost} {size} {lanes}");
        }
    }
}
