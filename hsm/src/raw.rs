//! The two mechanisms that cryptoki 0.12 cannot name: `CKM_AES_KEY_WRAP_KWP` (0x210B, AES key
//! wrap with padding as PKCS#11 v3.0 has it) and `CKM_RSA_AES_KEY_WRAP` (0x1054).
//!
//! Everything else about these calls cryptoki can do: it takes a mechanism with any parameters
//! as "vendor defined". Only the number is missing, because `MechanismType` is a private number
//! that is only made from those it knows. Going around cryptoki (a function list of our own, loaded
//! from the same library, and every attribute laid out for C by hand) would be many unsafe lines
//! and a path to each worker; this is a single one, and a change of the type's layout stops
//! the build here instead of misbehaving there.

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
pub(crate) fn aes_kwp() -> Mechanism<'static> {
    Mechanism::VendorDefined(VendorDefinedMechanism::new::<()>(KWP, None))
}

/// What `CKM_RSA_AES_KEY_WRAP` is given: `CK_RSA_AES_KEY_WRAP_PARAMS`, with a reference where C
/// has a pointer.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct RsaAesKeyWrap<'a> {
    aes_key_bits: CK_ULONG,
    oaep: &'a PkcsOaepParams<'a>,
}

impl<'a> RsaAesKeyWrap<'a> {
    /// An AES-256 key under RSA-OAEP, and the wrapped key under it with [`aes_kwp`].
    pub(crate) fn with_aes_256(oaep: &'a PkcsOaepParams<'a>) -> Self {
        Self {
            aes_key_bits: 256,
            oaep,
        }
    }

    pub(crate) fn mechanism(&self) -> Mechanism<'_> {
        Mechanism::VendorDefined(VendorDefinedMechanism::new(RSA_AES_KEY_WRAP, Some(self)))
    }
}

#[allow(
    unsafe_code,
    reason = "cryptoki has no constructor for numbers it does not know"
)]
const fn mechanism_type(number: CK_MECHANISM_TYPE) -> MechanismType {
    // SAFETY: `MechanismType` is `repr(transparent)` over one `CK_MECHANISM_TYPE`, of which every
    // value is allowed: `MechanismType::new_vendor_defined` makes it from numbers that only the
    // caller knows. That the layout still is so is checked below when this is compiled.
    unsafe { std::mem::transmute(number) }
}

#[allow(
    unsafe_code,
    reason = "the number inside a mechanism type is private; this reads it for a check at compile time"
)]
const _: () = {
    // SAFETY: the sizes are compared by the compiler, and a number has no invalid values.
    let known: CK_MECHANISM_TYPE = unsafe { std::mem::transmute(MechanismType::RSA_PKCS_OAEP) };
    assert!(
        known == CKM_RSA_PKCS_OAEP,
        "cryptoki lays out mechanism types differently"
    );
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
