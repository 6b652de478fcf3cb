//! PKCS#11 tokens behind a queue with deadlines. No other crate of Sealward uses PKCS#11.
//!
//! [`Token`] is the interface: one cloneable handle for one or several tokens that hold the same
//! keys. Every operation is async, typed and has a deadline. The C library is only called on
//! threads of this crate, and no type of cryptoki is public.
//!
//! How failures of a token are handled (each rule is tested):
//!
//! | event | reaction |
//! |---|---|
//! | the session is dead, the login lost, an operation still active | a new session, one login under a lock, the operation once more |
//! | a code that bad inputs and broken devices share | no retry and no failover; a canary is requested, and the operation does not wait for it |
//! | the canary fails twice in a row | the breaker opens: every operation fails at once with `TokenOut` |
//! | the breaker is open | the monitor tries at once, then after 1 s doubling to 30 s, to bring the token back; it restarts the module when no call is inside it |
//! | a call fails before it sees the input, or because the key lacks a usage or the token a mechanism | it is `Unusable`, an error in the log; another token takes the operation unless the code is ambiguous |
//! | a key is not found | it is `KeyMissing` only if the token proves to work and the login lasted throughout |
//! | a handle is dead | the key is searched again, once |
//! | a call hangs | its thread is abandoned, and replaced while the token serves; past `hang_budget` [`Token::fatal`] resolves |
//! | a thread panics | the panic is logged, and another thread replaces it, at most once a second; a panic of the monitor opens the breaker |
//! | a token hangs for long | each monitor waits twice as long as the one before it, so that a stall costs few threads |
//! | a token refuses a session to a worker | the worker takes no work and asks again every second |
//! | a token refuses an optional attribute, with any code | the key is made without it, which is remembered |
//! | a token makes unwrapped keys weaker than asked | they are protected afterwards and read back |
//! | a token makes a key and has no operation for it | the key is destroyed; [`HsmError::lacks_ability`] is true |
//! | no token answers at the start | [`Token::open_when_reached`] succeeds, and each serves as soon as it answers |
//! | the token lacks OAEP with a hash | a trial shows it when the token is reached ([`Token::opens`]); answers of such a token never count as bad input |
//! | a token derives no secret by a method, or not the same one twice | the next method makes the internal key |
//! | a key is being generated | reads continue as far as the token allows; operations that wait for it are late, the token is not out |
//! | the PIN is refused, or the token reports wrong PINs | it is not tried again by this process; the token's warning and the [`PinMemory`] also stop the next process |
//! | the caller excludes a token ([`Token::exclude`]) | it is out for every operation, and the monitor does not restart it |
//! | one of several tokens is out, busy or lacks the key | another one takes the operation, unless a write has begun |
//! | one caller sends a burst | the lanes of the queue take turns, so that it delays its own operations first |
//!
//! The modules and their layers. A module imports only modules of lower layers:
//!
//! | layer | modules | content |
//! |------:|---------|---------|
//! | 13 | `token` | the public handle |
//! | 12 | `dispatch` | the choice of a token |
//! | 11 | `opening` | start and end |
//! | 10 | `threads` | queue, jobs, workers, monitor and supervisor |
//! | 9 | `pool`, `probe` | opening and checking sessions, and the breaker; what a token can do |
//! | 8 | `health`, `import` | the canary key and the OAEP trial; key material from outside |
//! | 7 | `keys` | making, finding and destroying keys |
//! | 6 | `crypt` | operations with keys: functions over a session |
//! | 5 | `session` | a session and what it needs to run an operation |
//! | 4 | `config` | the configuration |
//! | 3 | `open_error`, `pkcs11` | why no token opened; the calls into a module, and their record |
//! | 2 | `error`, `hybrid` | errors; the two halves of a hybrid key |
//! | 1 | `caller`, `key`, `status` | who waits for an operation; keys and their names; states of tokens |
//! | 0 | `attribute_values`, `counters`, `group`, `pin_memory`, `purpose` | the words of the other layers |
//!
//! ```no_run
//! # async fn example(pin: secrecy::SecretString) -> Result<(), Box<dyn std::error::Error>> {
//! use formats::algorithms::{Algorithm, OaepHash};
//! use hsm::{Config, NewKey, Purpose, Token, TokenConfig, TokenSelect};
//!
//! let token = Token::open(Config::new(vec![TokenConfig {
//!     module: "/usr/lib/softhsm/libsofthsm2.so".into(),
//!     select: TokenSelect::Label("sealward".to_owned()),
//!     pin,
//!     module_parameters: None,
//!     retry_pin: false,
//! }]))
//! .await?;
//! let made = token
//!     .generate(NewKey {
//!         id: vec![1, 2, 3],
//!         label: "billing".to_owned(),
//!         algorithm: Algorithm::Rsa3072,
//!         purpose: Purpose::Envelope,
//!     })
//!     .await?;
//! # let wrapped = vec![];
//! let content_key = token.decrypt_oaep(&made.key, OaepHash::Sha256, &wrapped).await?;
//! # Ok(()) }
//! ```

#![warn(missing_docs)]

mod attribute_values;
mod caller;
mod config;
mod counters;
mod crypt;
mod dispatch;
mod error;
mod group;
mod health;
mod hybrid;
mod import;
mod key;
mod keys;
mod open_error;
mod opening;
mod pin_memory;
mod pkcs11;
mod pool;
mod probe;
mod purpose;
mod session;
mod status;
mod threads;
mod token;

#[cfg(test)]
mod tests;

pub use caller::{Caller, CancelGuard};
pub use config::{Config, Observer, TokenConfig, TokenSelect};
pub use counters::Counters;
pub use crypt::{GcmSealed, SecretMethod};
pub use error::{ErrorKind, HsmError};
pub use import::{
    ImportError, ImportKey, ImportWrapped, Imported, KeyMaterial, WrapError, wrap_for_import,
};
pub use key::{KeyClass, KeyName, KeyRef, NewKey, RecordedKey};
pub use keys::{
    AdoptError, Adopted, FoundKey, Generated, InternalSecret, KeyKind, Presence, TokenObject,
    Usages, Weakness,
};
pub use open_error::OpenError;
pub use pin_memory::{PinAttempt, PinMemory};
pub use pkcs11::Trace;
pub use probe::{ModuleFacts, ProbeReport, Probed, Speed, TokenFacts, Works};
pub use purpose::Purpose;
pub use status::{Fatal, OaepMethod, OaepSupport, TokenState, TokenStatus, TokenStatuses};
pub use token::Token;
