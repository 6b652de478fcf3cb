//! The function list of a module, and what each call of it has in common.

use std::mem;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

use cryptoki::context::Function;
use cryptoki::error::{Error as Pkcs11Error, Rv, RvError};
use cryptoki_sys::{
    CK_C_DecapsulateKey, CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_2, CK_INTERFACE, CK_RV, CK_VERSION,
    Pkcs11,
};

use super::trace::Trace;
use crate::HsmError;

/// The functions of one module, fetched once.
pub(super) struct Functions {
    pub(super) list: CK_FUNCTION_LIST,
    /// Only lists of PKCS#11 3.2 have it.
    pub(super) decapsulate: CK_C_DecapsulateKey,
    trace: Option<Arc<Trace>>,
}

/// The file is not a PKCS#11 module.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CannotLoad(pub(super) String);

/// A function of the list by its name. A list without it fails like a function that is not supported.
macro_rules! function {
    ($functions:expr, $field:ident, $name:ident) => {
        $functions
            .list
            .$field
            .ok_or_else(|| $crate::pkcs11::functions::missing(cryptoki::context::Function::$name))
    };
}
pub(super) use function;

impl Functions {
    /// Loads a module and fetches its function list. The module stays loaded, because vendors' libraries
    /// start threads of their own.
    pub(super) fn load(path: &Path, trace: Option<Arc<Trace>>) -> Result<Self, CannotLoad> {
        // SAFETY: this runs the initializers of the configured library, which is trusted.
        let library =
            unsafe { Pkcs11::new(path) }.map_err(|error| CannotLoad(error.to_string()))?;
        let library = mem::ManuallyDrop::new(library);
        let (list, decapsulate) = match interface(&library, trace.as_deref()) {
            Some(found) => found,
            None => (function_list(&library, trace.as_deref())?, None),
        };
        Ok(Self { list, decapsulate, trace })
    }

    /// The beginning of a call, if calls are recorded.
    pub(super) fn begin(&self) -> Option<Instant> {
        begin(self.trace.as_deref())
    }

    /// The result of a call, which is recorded with the shape of its arguments.
    pub(super) fn end(
        &self,
        began: Option<Instant>,
        name: Function,
        code: CK_RV,
        shape: impl FnOnce() -> String,
    ) -> Result<(), HsmError> {
        end(self.trace.as_deref(), began, name, code, shape)
    }
}

/// The failure of a call that the module does not offer.
pub(super) fn missing(name: Function) -> HsmError {
    Pkcs11Error::Pkcs11(RvError::FunctionNotSupported, name).into()
}

fn begin(trace: Option<&Trace>) -> Option<Instant> {
    trace.map(|_| Instant::now())
}

fn end(
    trace: Option<&Trace>,
    began: Option<Instant>,
    name: Function,
    code: CK_RV,
    shape: impl FnOnce() -> String,
) -> Result<(), HsmError> {
    let result = Rv::from(code);
    if let (Some(trace), Some(began)) = (trace, began) {
        trace.record(began, name, code, result, &shape());
    }
    Ok(result.into_result(name)?)
}

/// The list of the default interface, which modules of PKCS#11 3.0 and later have.
fn interface(
    library: &Pkcs11,
    trace: Option<&Trace>,
) -> Option<(CK_FUNCTION_LIST, CK_C_DecapsulateKey)> {
    let get = *library.C_GetInterface.as_ref().ok()?;
    let mut interface: *mut CK_INTERFACE = ptr::null_mut();
    let began = begin(trace);
    // SAFETY: no name and no version ask for the default; the third argument has room for a pointer.
    let code = unsafe { get(ptr::null_mut(), ptr::null_mut(), &raw mut interface, 0) };
    let shape = || format!("default -> found={}", !interface.is_null());
    if end(trace, began, Function::GetInterface, code, shape).is_err() || interface.is_null() {
        return None;
    }
    // SAFETY: an interface and its list live as long as the module and are read-only. They are copied,
    // because not every module aligns them.
    let list = unsafe { interface.read_unaligned() }.pFunctionList;
    if list.is_null() {
        return None;
    }
    // SAFETY: every list begins with its version.
    let version = unsafe { list.cast::<CK_VERSION>().read_unaligned() };
    // SAFETY: the lists of later versions begin with the functions of this one.
    let functions = unsafe { list.cast::<CK_FUNCTION_LIST>().read_unaligned() };
    let has_decapsulate = (version.major, version.minor) >= (3, 2);
    let decapsulate = has_decapsulate.then(|| {
        // SAFETY: a list of this version has this type.
        unsafe { list.cast::<CK_FUNCTION_LIST_3_2>().read_unaligned() }.C_DecapsulateKey
    });
    Some((functions, decapsulate.flatten()))
}

fn function_list(library: &Pkcs11, trace: Option<&Trace>) -> Result<CK_FUNCTION_LIST, CannotLoad> {
    let get = library.C_GetFunctionList.as_ref();
    let get = *get.map_err(|_| CannotLoad("it does not export C_GetFunctionList".to_owned()))?;
    let mut list: *mut CK_FUNCTION_LIST = ptr::null_mut();
    let began = begin(trace);
    // SAFETY: the argument has room for a pointer.
    let code = unsafe { get(&raw mut list) };
    let shape = || format!("-> found={}", !list.is_null());
    if end(trace, began, Function::GetFunctionList, code, shape).is_err() || list.is_null() {
        return Err(CannotLoad(format!("C_GetFunctionList returned {:?}", Rv::from(code))));
    }
    // SAFETY: as for the list of an interface.
    Ok(unsafe { list.read_unaligned() })
}
