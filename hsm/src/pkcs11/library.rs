//! Calls that concern a whole module: start and end, slots, tokens and sessions.

use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use cryptoki::context::Function;
use cryptoki_sys::{
    CK_C_INITIALIZE_ARGS, CK_FLAGS, CK_INFO, CK_SLOT_ID, CK_TOKEN_INFO, CK_TRUE, CK_ULONG,
    CKF_OS_LOCKING_OK, CKF_RW_SESSION, CKF_SERIAL_SESSION,
};

use super::functions::{CannotLoad, Functions, function};
use super::information::{LibraryInfo, TokenInfo};
use super::session::RawSession;
use super::trace::Trace;
use crate::HsmError;

/// A loaded module.
pub(crate) struct Library {
    functions: Arc<Functions>,
    /// What `C_Initialize` receives, for modules that read no other configuration.
    parameters: Option<CString>,
}

/// The number of a slot. It changes between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(CK_SLOT_ID);

/// The arguments of `C_Initialize`, with the member that NSS has after those of PKCS#11.
#[repr(C)]
struct InitializeArguments {
    standard: CK_C_INITIALIZE_ARGS,
    after: *mut c_void,
}

impl Library {
    /// Loads a module without a call to it.
    pub(crate) fn load(
        path: &Path,
        parameters: Option<&str>,
        trace: Option<Arc<Trace>>,
    ) -> Result<Self, CannotLoad> {
        let parameters = parameters.map(CString::new).transpose();
        let parameters =
            parameters.map_err(|_| CannotLoad("its parameters contain a NUL".to_owned()))?;
        Ok(Self { functions: Arc::new(Functions::load(path, trace)?), parameters })
    }

    pub(crate) fn initialize(&self) -> Result<(), HsmError> {
        let initialize = function!(self.functions, C_Initialize, Initialize)?;
        let parameters = self.parameters.as_ref();
        let mut arguments = InitializeArguments {
            standard: CK_C_INITIALIZE_ARGS {
                CreateMutex: None,
                DestroyMutex: None,
                LockMutex: None,
                UnlockMutex: None,
                flags: CKF_OS_LOCKING_OK,
                pReserved: parameters
                    .map_or_else(ptr::null_mut, |text| text.as_ptr().cast_mut().cast()),
            },
            after: ptr::null_mut(),
        };
        let began = self.functions.begin();
        // SAFETY: the arguments outlive the call, and the parameters are only read.
        let code = unsafe { initialize((&raw mut arguments).cast()) };
        self.functions.end(began, Function::Initialize, code, || {
            format!("flags=OS_LOCKING_OK parameters={}", parameters.is_some())
        })
    }

    pub(crate) fn finalize(&self) -> Result<(), HsmError> {
        let finalize = function!(self.functions, C_Finalize, Finalize)?;
        let began = self.functions.begin();
        // SAFETY: the argument is reserved.
        let code = unsafe { finalize(ptr::null_mut()) };
        self.functions.end(began, Function::Finalize, code, String::new)
    }

    pub(crate) fn info(&self) -> Result<LibraryInfo, HsmError> {
        let get = function!(self.functions, C_GetInfo, GetInfo)?;
        let mut info = MaybeUninit::<CK_INFO>::zeroed();
        let began = self.functions.begin();
        // SAFETY: the argument has room for the structure.
        let code = unsafe { get(info.as_mut_ptr()) };
        // SAFETY: zeroes are a valid structure, and the module may have written others.
        let info = LibraryInfo::of(&unsafe { info.assume_init() });
        self.functions.end(began, Function::GetInfo, code, || format!("-> {info:?}"))?;
        Ok(info)
    }

    /// The slots that hold a token.
    pub(crate) fn slots(&self) -> Result<Vec<Slot>, HsmError> {
        let list = function!(self.functions, C_GetSlotList, GetSlotList)?;
        let call = |slots: *mut CK_SLOT_ID, mut count: CK_ULONG| {
            let began = self.functions.begin();
            // SAFETY: there is room for `count` numbers, or the pointer is null.
            let code = unsafe { list(CK_TRUE, slots, &raw mut count) };
            let ended = self.functions.end(began, Function::GetSlotList, code, || {
                format!("present numbers={} -> count={count}", !slots.is_null())
            });
            ended.map(|()| count)
        };
        let count = call(ptr::null_mut(), 0)?;
        let mut slots = vec![0; usize::try_from(count).unwrap_or_default()];
        if slots.is_empty() {
            return Ok(Vec::new());
        }
        let written = call(slots.as_mut_ptr(), count)?;
        slots.truncate(usize::try_from(written).unwrap_or_default());
        Ok(slots.into_iter().map(Slot).collect())
    }

    /// The information of the token in this slot.
    pub(crate) fn token_info(&self, slot: Slot) -> Result<TokenInfo, HsmError> {
        let get = function!(self.functions, C_GetTokenInfo, GetTokenInfo)?;
        let mut info = MaybeUninit::<CK_TOKEN_INFO>::zeroed();
        let began = self.functions.begin();
        // SAFETY: the second argument has room for the structure.
        let code = unsafe { get(slot.0, info.as_mut_ptr()) };
        // SAFETY: zeroes are a valid structure, and the module may have written others.
        let info = TokenInfo::of(&unsafe { info.assume_init() });
        self.functions.end(began, Function::GetTokenInfo, code, || {
            format!("slot={slot} -> {}", info.shape())
        })?;
        Ok(info)
    }

    /// Opens a read-write session.
    pub(crate) fn open_session(&self, slot: Slot) -> Result<RawSession, HsmError> {
        const FLAGS: CK_FLAGS = CKF_SERIAL_SESSION | CKF_RW_SESSION;
        let open = function!(self.functions, C_OpenSession, OpenSession)?;
        let mut session = 0;
        let began = self.functions.begin();
        // SAFETY: no notifications; the last argument has room for a number.
        let code = unsafe { open(slot.0, FLAGS, ptr::null_mut(), None, &raw mut session) };
        self.functions.end(began, Function::OpenSession, code, || {
            format!("slot={slot} flags=SERIAL,RW -> session={session}")
        })?;
        Ok(RawSession::new(Arc::clone(&self.functions), session))
    }
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
