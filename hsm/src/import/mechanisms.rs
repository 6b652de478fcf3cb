//! The two mechanisms that cryptoki 0.12 cannot name: `CKM_AES_KEY_WRAP_KWP` (0x210B, the AES key
//! wrap with padding of PKCS#11 v3.0) and `CKM_RSA_AES_KEY_WRAP` (0x1054).
//!
//! cryptoki accepts a mechanism with any parameters as "vendor defined", but it has no constructor
//! for the number: `MechanismType` wraps a private number. One unsafe conversion supplies it, and
//! the build fails if the layout of the type changes.

use std::mem::offset_of;

use cryptoki::mechanism::rsa::PkcsOaepParams;
use cryptoki::mechanism::vendor_defined::VendorDefinedMechanism;
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki_sys::{
    CK_MECHANISM_TYPE, CK_RSA_AES_KEY_WRAP_PARAMS, CK_RSA_PKCS_OAEP_PARAMS, CK_ULONG,
    CKM_AES_KEY_WRAP_KWP, CKM_RSA_AES_KEY_WRAP, CKM_RSA_PKCS_OAEP,
};

const KWP: MechanismType = mechanism_type(CKM_AES_KEY_WRAP_KWP);
const RSA_AES_KEY_WRAP: MechanismType = mechanism_type(CKM_RSA_AES_KEY_WRAP);

/// AES key wrap with padding, RFC 5649.
pub(super) fn aes_kwp() -> Mechanism<'static> {
    Mechanism::VendorDefined(VendorDefinedMechanism::new::<()>(KWP, None))
}

/// The parameters of `CKM_RSA_AES_KEY_WRAP`: `CK_RSA_AES_KEY_WRAP_PARAMS` with a reference instead
/// of a pointer.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RsaAesKeyWrap<'a> {
    aes_key_bits: CK_ULONG,
    oaep: &'a PkcsOaepParams<'a>,
}

impl<'a> RsaAesKeyWrap<'a> {
    /// An AES-256 key under RSA-OAEP, and the key under the AES key with [`aes_kwp`].
    pub(super) fn with_aes_256(oaep: &'a PkcsOaepParams<'a>) -> Self {
        Self { aes_key_bits: 256, oaep }
    }

    pub(super) fn mechanism(&self) -> Mechanism<'_> {
        Mechanism::VendorDefined(VendorDefinedMechanism::new(RSA_AES_KEY_WRAP, Some(self)))
    }
}

#[allow(unsafe_code, reason = "cryptoki has no constructor for numbers it does not know")]
const fn mechanism_type(number: CK_MECHANISM_TYPE) -> MechanismType {
    // SAFETY: `MechanismType` is `repr(transparent)` over one `CK_MECHANISM_TYPE`, and every value
    // is valid: `MechanismType::new_vendor_defined` takes numbers from its caller. The layout is
    // checked below at compile time.
    unsafe { std::mem::transmute(number) }
}

#[allow(
    unsafe_code,
    reason = "the number in a mechanism type is private; a check at compile time reads it"
)]
const _: () = {
    // SAFETY: the compiler compares the sizes, and a number has no invalid values.
    let known: CK_MECHANISM_TYPE = unsafe { std::mem::transmute(MechanismType::RSA_PKCS_OAEP) };
    assert!(known == CKM_RSA_PKCS_OAEP, "cryptoki lays out mechanism types differently");
    assert!(size_of::<RsaAesKeyWrap<'_>>() == size_of::<CK_RSA_AES_KEY_WRAP_PARAMS>());
    assert!(
        offset_of!(RsaAesKeyWrap<'_>, aes_key_bits)
            == offset_of!(CK_RSA_AES_KEY_WRAP_PARAMS, ulAESKeyBits)
    );
    assert!(
        offset_of!(RsaAesKeyWrap<'_>, oaep) == offset_of!(CK_RSA_AES_KEY_WRAP_PARAMS, pOAEPParams)
    );
    assert!(size_of::<PkcsOaepParams<'_>>() == size_of::<CK_RSA_PKCS_OAEP_PARAMS>());
};
