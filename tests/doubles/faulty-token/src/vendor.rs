//! Keys as the tools of a vendor make them, with attributes that Sealward does not choose.

use std::path::Path;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::Error;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::Attribute;
use cryptoki::session::UserType;

/// An AES-256 key for data.
#[derive(Clone, Copy, Debug)]
pub struct VendorKey<'a> {
    /// Its label.
    pub label: &'a str,
    /// Whether the token keeps its value secret.
    pub sensitive: bool,
    /// Whether it can leave the token.
    pub extractable: bool,
}

/// Makes keys in the token with this label. No other code of this process must use the module.
///
/// # Errors
/// The module or the token fails, or there is no such token.
pub fn make_keys(
    module: &Path,
    token: &str,
    pin: &str,
    keys: &[VendorKey<'_>],
) -> Result<(), Error> {
    let context = Pkcs11::new(module)?;
    context.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))?;
    for slot in context.get_slots_with_token()? {
        if context.get_token_info(slot)?.label() != token {
            continue;
        }
        let session = context.open_rw_session(slot)?;
        session.login(UserType::User, Some(&pin.to_owned().into()))?;
        for key in keys {
            let template = [
                Attribute::Token(true),
                Attribute::Private(true),
                Attribute::Sensitive(key.sensitive),
                Attribute::Extractable(key.extractable),
                Attribute::Encrypt(true),
                Attribute::Decrypt(true),
                Attribute::Id(key.label.as_bytes().to_vec()),
                Attribute::Label(key.label.as_bytes().to_vec()),
                Attribute::ValueLen(32.into()),
            ];
            session.generate_key(&Mechanism::AesKeyGen, &template)?;
        }
    }
    context.finalize()
}
