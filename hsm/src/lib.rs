//! PKCS#11 tokens behind a queue with deadlines: the only code of Sealward that knows PKCS#11.
//!
//! [`Token`] is the whole face: one cloneable handle over one or several tokens that hold the
//! same keys. Every operation is async, typed and bounded by a deadline; the C library is only
//! ever called on threads of this crate. Of cryptoki nothing shows outside.
//!
//! How a token that is not well is dealt with (each rule is tested):
//!
//! | what happens | what is done |
//! |---|---|
//! | the session is dead, the login lost, an operation left in the middle | a new session, one login under a lock, the operation once more |
//! | a code that a bad input and a broken device share | never retried, never failed over; the canary is asked, and not waited for |
//! | the canary fails twice in a row | the breaker opens: everything fails at once with `TokenOut` |
//! | the breaker is open | the prober tries at once, then after 1 s doubling to 30 s; it initialises the module anew when nobody is inside it |
//! | a key is not found | it is `KeyMissing` only if the token proves to be there and the login held throughout |
//! | a handle is dead | the key is found again, once |
//! | a call hangs | its thread is given up and replaced; past `hang_budget` [`Token::fatal`] resolves |
//! | it lacks OAEP with a hash | a trial shows it when the token is reached ([`Token::opens`]); its answers are never taken for bad input |
//! | a key is being made | reads go on as the token allows; what waits for it is late, not out |
//! | the PIN is refused, or may not be tried again | it is not tried again by this process |
//! | one of several tokens is out, busy or lacks the key | another one does it, unless a write has begun |
//!
//! The way of an operation: [`Token`] makes a closure of it, the pool chooses a token for it, the
//! queue of that token's device bounds it, a worker runs it on its session, and the answer comes
//! back by a oneshot. Beside the workers each token has a keeper, which runs the canary and brings
//! the token back; and one overseer notices threads that do not return from the library. What is
//! done with keys lies in `keys`, `crypt`, `import` and `probe`: functions over a session, which
//! know nothing of threads.
//!
//! ```no_run
//! # async fn example(pin: secrecy::SecretString) -> Result<(), Box<dyn std::error::Error>> {
//! use hsm::{Config, GenerateKey, KeyAlgorithm, OaepHash, Purpose, Token, TokenConfig, TokenSelect};
//!
//! let token = Token::open(Config::new(vec![TokenConfig {
//!     module: "/usr/lib/softhsm/libsofthsm2.so".into(),
//!     select: TokenSelect::Label("sealward".to_owned()),
//!     pin,
//! }]))
//! .await?;
//! let made = token
//!     .generate(GenerateKey {
//!         id: vec![1, 2, 3],
//!         label: "billing".to_owned(),
//!         algorithm: KeyAlgorithm::Rsa3072,
//!         purpose: Purpose::Envelope,
//!     })
//!     .await?;
//! # let wrapped = vec![];
//! let content_key = token.decrypt_oaep(&made.key, OaepHash::Sha256, &wrapped).await?;
//! # Ok(()) }
//! ```

#![warn(missing_docs)]

mod alarm;
mod breaker;
mod canary;
mod config;
mod crew;
mod crypt;
mod device;
mod error;
mod handles;
mod import;
mod interest;
mod job;
mod keeper;
mod keys;
mod login;
mod module;
mod oaep;
mod observer;
mod open_error;
mod opening;
mod overseer;
mod pool;
mod probe;
mod proof;
mod queue;
mod raw;
mod seat;
mod seating;
mod session;
mod single;
mod status;
mod tally;
mod token;
mod trial;
mod turn;
mod worker;
mod wrap;

#[cfg(test)]
mod tests;

pub use config::{Config, TokenConfig, TokenSelect};
pub use crypt::{GcmSealed, OaepHash, OaepWay, OaepWays, SignatureScheme};
pub use error::{ErrorKind, HsmError};
pub use import::{
    ImportError, ImportKey, ImportMechanism, ImportWrapped, Imported, KeyMaterial, RsaMaterial,
};
pub use interest::Interest;
pub use keys::{
    AdoptError, Adopted, Curve, FoundKey, GenerateKey, Generated, KeyAlgorithm, KeyClass, KeyKind,
    KeyName, KeyRef, Presence, PublicKey, Purpose, TokenObject, Usages, Weakness,
};
pub use observer::Observer;
pub use open_error::OpenError;
pub use probe::{ModuleFacts, ProbeReport, Probed, Speed, TokenFacts, Works};
pub use status::{Counters, Fatal, Status, TokenState, TokenStatus};
pub use token::Token;
pub use wrap::{WrapError, wrap_for_import};
