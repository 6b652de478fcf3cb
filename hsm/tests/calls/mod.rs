//! The number of calls to a module, counted behind the faulty token: as few calls as possible, and
//! as many concurrent calls as workers.

mod lengths;
mod once;
mod side_by_side;
mod trial;

use std::time::Duration;

use crate::support::{Fixture, generate_key, seal};
use formats::algorithms::PublicParts;
use formats::algorithms::{Algorithm, OaepHash, SignatureScheme};
use hsm::{Config, HsmError, KeyRef, Purpose, Token};

/// The name of the worker threads.
const WORKER: &str = "hsm-worker";

/// A configuration with which only operations call the module.
fn undisturbed(fixture: &Fixture) -> Config {
    Config { canary_interval: Duration::from_secs(600), ..fixture.config() }
}

/// An operation with a key and its module function.
#[derive(Debug, Clone)]
struct Operation {
    function: &'static str,
    key: KeyRef,
    input: Vec<u8>,
}

impl Operation {
    /// One operation of every kind.
    async fn each(token: &Token) -> Vec<Self> {
        let rsa = generate_key(token, Algorithm::Rsa2048, Purpose::Envelope).await;
        let ec = generate_key(token, Algorithm::P256, Purpose::Envelope).await;
        let signing = generate_key(token, Algorithm::P256, Purpose::Sign).await;
        let aes = generate_key(token, Algorithm::Aes256, Purpose::Data).await;
        let Some(PublicParts::Ec { point, .. }) = &ec.public else {
            panic!("{ec:?}");
        };
        let operation = |function, key: &KeyRef, input| Self { function, key: key.clone(), input };
        vec![
            operation("C_Decrypt", &rsa.key, seal(&rsa, OaepHash::Sha256, &[7; 32])),
            operation("C_DeriveKey", &ec.key, point.clone()),
            operation("C_Sign", &signing.key, b"message".to_vec()),
            operation("C_Encrypt", &aes.key, b"text".to_vec()),
        ]
    }

    async fn run(&self, token: &Token) -> Result<(), HsmError> {
        let Self { key, input, .. } = self;
        match self.function {
            "C_Decrypt" => {
                let opened = token.decrypt_oaep(key, OaepHash::Sha256, input).await?;
                assert_eq!(*opened, [7; 32]);
            }
            "C_DeriveKey" => drop(token.derive_ecdh(key, input).await?),
            "C_Sign" => drop(token.sign(key, SignatureScheme::EcdsaSha256, input).await?),
            _ => drop(token.aes_gcm_encrypt(key, b"", input).await?),
        }
        Ok(())
    }
}
