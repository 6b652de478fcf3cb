//! A PKCS#11 module that forwards every call to another module and injects faults on demand.
//!
//! The process that loads it names a folder in the environment variable [`FOLDER`]. There lie the
//! path of the other module, the rules in force, and a line for every call that was made. A test
//! arranges all of that with a [`Control`], also for a process other than its own:
//!
//! ```no_run
//! use faulty_token::{Control, Fault};
//!
//! let token = Control::new("/tmp/a-folder", "/usr/lib/softhsm/libsofthsm2.so");
//! token.rules(&[Fault::Return(0x30).on("C_Sign").calls(1..=3).thread("hsm-worker")]);
//! // …
//! assert_eq!(token.calls("C_Login"), 1);
//! ```
//!
//! Rules are read anew at every call, so a change holds from the next call on. Only the functions
//! of PKCS#11 2.40 are there.

#![allow(
    unsafe_code,
    reason = "a PKCS#11 module is a table of C functions over raw pointers"
)]
#![allow(
    non_camel_case_types,
    non_snake_case,
    reason = "PKCS#11 names its functions so"
)]

mod behind;
mod control;
mod forward;
mod rule;
mod watch;

pub use control::{Control, FOLDER};
pub use rule::{Fault, Rule};
