//! kryoptic, a PKCS#11 token in software, as a module that can be loaded: the second token of the
//! test suite, so that what is written against SoftHSM2 is not written for SoftHSM2 alone. It
//! knows RSA-OAEP with SHA-2, key wrapping with padding and post-quantum keys, and it fails in
//! other ways.
//!
//! Only tests load it, and nothing that is shipped contains it: hence a workspace of its own. Take
//! no version before 1.5.3, which are under the GPL.
//!
//! Here are only the names a module must export; all else hangs on the tables they hand out.
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
