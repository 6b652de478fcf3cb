//! The function table. Every call is recorded, modified if a rule applies, and forwarded.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{mem, process};

use cryptoki_sys::{
    CK_BBOOL, CK_FUNCTION_LIST, CK_FUNCTION_LIST_PTR_PTR, CK_MECHANISM, CK_NOTIFY, CK_RV,
    CK_SESSION_HANDLE, CK_SLOT_ID, CK_TOKEN_INFO, CK_ULONG, CK_VERSION, CKF_CLOCK_ON_TOKEN,
    CKR_ARGUMENTS_BAD, CKR_FUNCTION_NOT_SUPPORTED, CKR_GENERAL_ERROR, CKR_OK, CKR_SESSION_COUNT,
};

use crate::Fault;
use crate::behind::Behind;
use crate::template;
use crate::watch;

/// What the next varied output differs by.
static VARIATION: AtomicU8 = AtomicU8::new(1);

/// Held while a session is opened under a limit.
static OPENING: Mutex<()> = Mutex::new(());

/// A function of PKCS#11.
trait Function {
    const NAME: &'static str;
    const PLACE: Place;

    /// The address of this function in the other module.
    fn behind(list: &CK_FUNCTION_LIST) -> Option<*const c_void>;
}

/// How the first argument of a function identifies the token.
enum Place {
    Nowhere,
    Slot,
    Session,
    /// A session. The second argument points to a mechanism.
    Mechanism,
}

/// The functions by their index. Their argument types are those of the fields of the table.
macro_rules! functions {
    ($($place:ident { $($name:ident)* })*) => {
        $($(
            struct $name;
            impl Function for $name {
                const NAME: &'static str = stringify!($name);
                const PLACE: Place = Place::$place;
                fn behind(list: &CK_FUNCTION_LIST) -> Option<*const c_void> {
                    list.$name.map(|function| function as *const c_void)
                }
            }
        )*)*

        static TABLE: CK_FUNCTION_LIST = CK_FUNCTION_LIST {
            version: CK_VERSION { major: 2, minor: 40 },
            C_GetFunctionList: Some(C_GetFunctionList),
            $($($name: Some(<$name as Hook<_>>::HOOK),)*)*
        };
    };
}

functions! {
    Nowhere {
        C_Initialize C_Finalize C_GetInfo C_GetSlotList C_WaitForSlotEvent
    }
    Slot {
        C_GetSlotInfo C_GetTokenInfo C_GetMechanismList C_GetMechanismInfo C_InitToken
        C_OpenSession C_CloseAllSessions
    }
    Session {
        C_InitPIN C_SetPIN C_Login C_Logout
        C_CloseSession C_GetSessionInfo C_GetOperationState C_SetOperationState
        C_CreateObject C_CopyObject C_DestroyObject C_GetObjectSize
        C_GetAttributeValue C_SetAttributeValue
        C_FindObjectsInit C_FindObjects C_FindObjectsFinal
        C_Encrypt C_EncryptUpdate C_EncryptFinal
        C_Decrypt C_DecryptUpdate C_DecryptFinal
        C_Digest C_DigestUpdate C_DigestKey C_DigestFinal
        C_Sign C_SignUpdate C_SignFinal C_SignRecover
        C_Verify C_VerifyUpdate C_VerifyFinal C_VerifyRecover
        C_DigestEncryptUpdate C_DecryptDigestUpdate C_SignEncryptUpdate C_DecryptVerifyUpdate
        C_SeedRandom C_GenerateRandom C_GetFunctionStatus C_CancelFunction
    }
    Mechanism {
        C_EncryptInit C_DecryptInit C_DigestInit
        C_SignInit C_SignRecoverInit C_VerifyInit C_VerifyRecoverInit
        C_GenerateKey C_GenerateKeyPair C_WrapKey C_UnwrapKey C_DeriveKey
    }
}

/// The only function that a PKCS#11 module must export.
///
/// # Safety
///
/// As in PKCS#11: the argument is null or has room for a pointer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn C_GetFunctionList(list: CK_FUNCTION_LIST_PTR_PTR) -> CK_RV {
    if list.is_null() {
        return CKR_ARGUMENTS_BAD;
    }
    let rule = watch::folder().and_then(|folder| folder.meet("C_GetFunctionList", "-", None));
    if let Some(Fault::Return(code)) = rule.map(|rule| rule.fault) {
        return code as CK_RV;
    }
    // SAFETY: not null, and the caller guarantees the rest. The table is only read.
    unsafe { *list = (&raw const TABLE).cast_mut() };
    CKR_OK
}

/// The table entry of a function of type `Pointer`.
trait Hook<Pointer> {
    const HOOK: Pointer;
}

macro_rules! hook {
    ($($argument:ident: $type:ident),*) => {
        impl<F: Function, $($type: Word),*> Hook<unsafe extern "C" fn($($type),*) -> CK_RV> for F {
            const HOOK: unsafe extern "C" fn($($type),*) -> CK_RV = {
                unsafe extern "C" fn hook<F: Function, $($type: Word),*>(
                    $($argument: $type),*
                ) -> CK_RV {
                    pass::<F>(&[$($argument.word()),*], |address| {
                        // SAFETY: the address is that of the same function, and its type is
                        // the type of the field of the table.
                        let function = unsafe {
                            mem::transmute::<*const c_void, unsafe extern "C" fn($($type),*) -> CK_RV>(
                                address,
                            )
                        };
                        // SAFETY: the caller guarantees the arguments.
                        unsafe { function($($argument),*) }
                    })
                }
                hook::<F, $($type),*>
            };
        }
    };
}

hook!(a: A);
hook!(a: A, b: B);
hook!(a: A, b: B, c: C);
hook!(a: A, b: B, c: C, d: D);
hook!(a: A, b: B, c: C, d: D, e: E);
hook!(a: A, b: B, c: C, d: D, e: E, f: G);
hook!(a: A, b: B, c: C, d: D, e: E, f: G, g: H, h: I);

fn pass<F: Function>(arguments: &[usize], forward: impl FnOnce(*const c_void) -> CK_RV) -> CK_RV {
    let (Some(folder), Some(behind)) = (watch::folder(), Behind::loaded()) else {
        return CKR_GENERAL_ERROR;
    };
    let Some(address) = F::behind(behind.functions()) else {
        return CKR_FUNCTION_NOT_SUPPORTED;
    };
    let (first, last) = match arguments {
        [first, .., last] => (*first, *last),
        [only] => (*only, *only),
        [] => (0, 0),
    };
    let token = match F::PLACE {
        Place::Nowhere => None,
        Place::Slot => behind.token_in(first as CK_ULONG),
        Place::Session | Place::Mechanism => behind.token_of(first as CK_SESSION_HANDLE),
    };
    let mechanism = match (F::PLACE, arguments) {
        (Place::Mechanism, [_, mechanism, ..]) if *mechanism != 0 => {
            // SAFETY: not null, and the caller guarantees the rest.
            let mechanism = unsafe { (*(*mechanism as *const CK_MECHANISM)).mechanism };
            Some(mechanism)
        }
        _ => None,
    };
    let rule = folder.meet(F::NAME, token.as_deref().unwrap_or("-"), mechanism);
    let fault = rule.as_ref().map(|rule| rule.fault);
    match fault {
        Some(Fault::Return(code)) => return code as CK_RV,
        Some(Fault::RefuseAttribute(attribute)) => {
            let mut templates = template::all(F::NAME, arguments);
            if templates.any(|template| template.has(attribute as CK_ULONG)) {
                return CKR_GENERAL_ERROR;
            }
        }
        Some(Fault::Abort) => process::abort(),
        Some(Fault::Delay(time)) => watch::pause(time),
        Some(Fault::Hang) => rule.iter().for_each(|rule| folder.hang(rule)),
        Some(Fault::DropSessions) => behind.drop_sessions(first as CK_SESSION_HANDLE),
        Some(Fault::DropLogin) => behind.drop_login(first as CK_SESSION_HANDLE),
        Some(
            Fault::ThenReturn(_)
            | Fault::Length(_)
            | Fault::Vary
            | Fault::Loosen
            | Fault::SessionLimit(_)
            | Fault::OddTime
            | Fault::Flags(_)
            | Fault::NoFlags(_),
        )
        | None => {}
    }

    let _opening = match fault {
        Some(Fault::SessionLimit(limit)) => {
            // One session at a time is opened, so that the limit is exact.
            let opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
            if behind.sessions() as u64 >= limit {
                return CKR_SESSION_COUNT;
            }
            Some(opening)
        }
        _ => None,
    };
    let inside = behind.inside();
    let code = match fault {
        Some(Fault::Loosen) => template::loosened(F::NAME, arguments, || forward(address)),
        _ => forward(address),
    };
    drop(inside);
    if code != CKR_OK {
        return code;
    }
    match F::NAME {
        "C_Initialize" | "C_InitToken" => behind.forget(),
        "C_CloseSession" => behind.closed(first as CK_SESSION_HANDLE),
        "C_OpenSession" => {
            // SAFETY: the last argument points to the session handle that the token has just written.
            behind.opened(unsafe { *(last as *const CK_SESSION_HANDLE) }, first as CK_SLOT_ID)
        }
        _ => {}
    }
    match fault {
        Some(Fault::ThenReturn(code)) => return code as CK_RV,
        // SAFETY: for a function with an output, the last argument points to the length that the token
        // has just written. Rules apply this fault to no other function.
        Some(Fault::Length(length)) => unsafe { *(last as *mut CK_ULONG) = length as CK_ULONG },
        Some(Fault::Vary) => {
            if let [.., output, _] = arguments
                && *output != 0
            {
                // SAFETY: for a function with an output, the last argument but one points to the bytes
                // that the token has just written. Rules apply this fault to no other function.
                unsafe { *(*output as *mut u8) ^= VARIATION.fetch_add(1, Ordering::Relaxed) };
            }
        }
        Some(Fault::OddTime) if F::NAME == "C_GetTokenInfo" => {
            // SAFETY: the last argument points to the structure that the token has just written.
            let info = unsafe { &mut *(last as *mut CK_TOKEN_INFO) };
            info.flags |= CKF_CLOCK_ON_TOKEN;
            info.utcTime = *b"no time at all..";
        }
        Some(Fault::Flags(flags)) if F::NAME == "C_GetTokenInfo" => {
            // SAFETY: the last argument points to the structure that the token has just written.
            unsafe { (*(last as *mut CK_TOKEN_INFO)).flags |= flags as CK_ULONG };
        }
        Some(Fault::NoFlags(flags)) if F::NAME == "C_GetTokenInfo" => {
            // SAFETY: as above.
            unsafe { (*(last as *mut CK_TOKEN_INFO)).flags &= !(flags as CK_ULONG) };
        }
        _ => {}
    }
    CKR_OK
}

/// An argument. All PKCS#11 arguments fit in a machine word.
trait Word: Copy {
    fn word(self) -> usize;
}

impl Word for CK_ULONG {
    fn word(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }
}

impl Word for CK_BBOOL {
    fn word(self) -> usize {
        self.into()
    }
}

impl<T> Word for *mut T {
    fn word(self) -> usize {
        self as usize
    }
}

impl Word for CK_NOTIFY {
    fn word(self) -> usize {
        self.map_or(0, |function| function as usize)
    }
}
