//! How a key in a token is named.

use std::fmt;

/// A private or secret key in a token. The tokens of one [`Token`](crate::Token) hold the same
/// key under the same name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyRef {
    /// The attribute it is found by.
    pub name: KeyName,
    /// Which half or kind it is, for several objects may share a name.
    pub class: KeyClass,
}

/// The attribute a key is found by.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum KeyName {
    /// `CKA_ID`, as every key made here has one.
    Id(Vec<u8>),
    /// `CKA_LABEL`, for a key whose maker set no id.
    Label(String),
}

/// Whether a key is the private half of a pair or a secret key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyClass {
    /// The private half of a pair.
    Private,
    /// A secret key.
    Secret,
}

impl KeyRef {
    /// The private key with this `CKA_ID`.
    pub fn private(id: impl Into<Vec<u8>>) -> Self {
        Self {
            name: KeyName::Id(id.into()),
            class: KeyClass::Private,
        }
    }

    /// The secret key with this `CKA_ID`.
    pub fn secret(id: impl Into<Vec<u8>>) -> Self {
        Self {
            name: KeyName::Id(id.into()),
            class: KeyClass::Secret,
        }
    }
}

impl fmt::Debug for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => {
                f.write_str("id ")?;
                id.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Label(label) => write!(f, "label {label:?}"),
        }
    }
}
