//! What is asked of a token about keys, and what it shows of them.

use cryptoki::object::{Attribute, AttributeType, ObjectClass};

use super::{KeyAlgorithm, KeyClass, KeyName, KeyRef, PublicKey, Purpose};
use crate::HsmError;
use crate::canary::INTERNAL;
use crate::session::{Session, is_dead_handle};

/// The order for a new key. Both name attributes are set; the id is how it is found.
#[derive(Debug, Clone)]
pub struct GenerateKey {
    /// `CKA_ID`: not empty, and new in the token.
    pub id: Vec<u8>,
    /// `CKA_LABEL`, for people who look at the token with other tools.
    pub label: String,
    /// What kind of key to make.
    pub algorithm: KeyAlgorithm,
    /// What it may be used for.
    pub purpose: Purpose,
}

/// A key the token has just made.
#[derive(Debug, Clone)]
pub struct Generated {
    /// How it is named from now on.
    pub key: KeyRef,
    /// The public half; none for secret keys.
    pub public: Option<PublicKey>,
    /// The label of the token that made it. Other tokens have it once the vendor's tools copy it.
    pub token: String,
}

/// A key as the tokens show it.
#[derive(Debug, Clone)]
pub struct FoundKey {
    /// How it is named.
    pub key: KeyRef,
    /// What kind of key the token says it is.
    pub kind: KeyKind,
    /// What the token lets it do.
    pub usages: Usages,
    /// Which tokens hold it.
    pub presence: Vec<Presence>,
}

/// What kind of key a token says that it holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// One that this crate uses.
    Known(KeyAlgorithm),
    /// An AES key that came wrapped: some tokens do not tell how long those are, and nothing that
    /// is done with such a key shows it. Whoever imported it knows.
    AesOfUntoldLength,
    /// A kind or size that this crate does not use.
    #[default]
    Other,
}

/// Whether a token holds a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    /// The token's label.
    pub token: String,
    /// None while the token is out and has not been asked before.
    pub holds: Option<bool>,
}

/// One private or secret key object in a token, for whoever compares the token with records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenObject {
    /// The label of the token that holds it.
    pub token: String,
    /// By its id where it has one, else by its label.
    pub key: KeyRef,
    /// `CKA_LABEL`, possibly empty.
    pub label: String,
    /// Whether it is a key this crate keeps for itself, such as the canary's.
    pub internal: bool,
}

/// What a token lets a private or secret key do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usages {
    /// `CKA_DECRYPT`.
    pub decrypt: bool,
    /// `CKA_ENCRYPT`.
    pub encrypt: bool,
    /// `CKA_SIGN`.
    pub sign: bool,
    /// `CKA_DERIVE`.
    pub derive: bool,
    /// `CKA_UNWRAP`.
    pub unwrap: bool,
    /// `CKA_WRAP`.
    pub wrap: bool,
}

/// Every private and secret key object of one token.
pub(crate) fn inventory(session: &Session) -> Result<Vec<TokenObject>, HsmError> {
    let mut objects = Vec::new();
    for class in [KeyClass::Private, KeyClass::Secret] {
        let wanted = match class {
            KeyClass::Private => ObjectClass::PRIVATE_KEY,
            KeyClass::Secret => ObjectClass::SECRET_KEY,
        };
        for handle in session.find_proven(&[Attribute::Class(wanted), Attribute::Token(true)])? {
            let told = session
                .raw()
                .get_attributes(handle, &[AttributeType::Id, AttributeType::Label])
                .map_err(HsmError::from);
            let told = match told {
                // Somebody has destroyed it since it was found, if the token proves to be there:
                // when a login ends or a token goes away, handles die of keys that exist.
                Err(error) if is_dead_handle(&error) => {
                    session.prove()?;
                    continue;
                }
                told => told?,
            };
            let (mut id, mut label) = (Vec::new(), String::new());
            for attribute in told {
                match attribute {
                    Attribute::Id(told) => id = told,
                    Attribute::Label(told) => label = String::from_utf8_lossy(&told).into_owned(),
                    _ => {}
                }
            }
            let name = if id.is_empty() {
                KeyName::Label(label.clone())
            } else {
                KeyName::Id(id)
            };
            objects.push(TokenObject {
                token: session.device().label().to_owned(),
                key: KeyRef { name, class },
                internal: label.starts_with(INTERNAL),
                label,
            });
        }
    }
    Ok(objects)
}
