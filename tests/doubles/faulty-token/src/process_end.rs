//! The end of a test process.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Once;

unsafe extern "C" {
    fn on_exit(action: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// The destructors of PKCS#11 modules free what the threads of open tokens still use. From this call
/// on, the process ends without them.
pub fn skip_destructors() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: `end` lives as long as the process and does not use its argument.
        let registered = unsafe { on_exit(end, ptr::null_mut()) };
        assert_eq!(registered, 0, "an action at exit");
    });
}

extern "C" fn end(status: c_int, _argument: *mut c_void) {
    // SAFETY: it only ends the process.
    unsafe { _exit(status) }
}
