//! The software token kryoptic as a loadable PKCS#11 module: the second token of the
//! test suite, so that the code does not depend on SoftHSM2. It
//! supports RSA-OAEP with SHA-2, key wrapping with padding and post-quantum keys, and returns
//! other errors.
//!
//! Only tests load it, and it is not shipped. Therefore it has a separate workspace. Do not use
//! versions before 1.5.3, which have the GPL.
//!
//! It contains only the functions that a module must export. They return the function tables.
#![allow(non_snake_case, reason = "these names are PKCS#11's")]

use kryoptic_lib::fns::general::{fn_get_function_list, fn_get_interface, fn_get_interface_list};
use kryoptic_lib::pkcs11::{
    CK_FLAGS, CK_FUNCTION_LIST_PTR_PTR, CK_INTERFACE_PTR, CK_INTERFACE_PTR_PTR, CK_RV,
    CK_ULONG_PTR, CK_UTF8CHAR_PTR, CK_VERSION_PTR,
};

#[unsafe(no_mangle)]
pub extern "C" fn C_GetFunctionList(list: CK_FUNCTION_LIST_PTR_PTR) -> CK_RV {
    fn_get_function_list(list)
}

#[unsafe(no_mangle)]
pub extern "C" fn C_GetInterfaceList(list: CK_INTERFACE_PTR, count: CK_ULONG_PTR) -> CK_RV {
    fn_get_interface_list(list, count)
}

#[unsafe(no_mangle)]
pub extern "C" fn C_GetInterface(
    name: CK_UTF8CHAR_PTR,
    version: CK_VERSION_PTR,
    interface: CK_INTERFACE_PTR_PTR,
    flags: CK_FLAGS,
) -> CK_RV {
    fn_get_interface(name, version, interface, flags)
}
