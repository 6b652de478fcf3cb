//! A PKCS#11 module that forwards every call to another module and injects faults on demand.
//!
//! The process that loads it names a folder in the environment variable [`FOLDER`]. The folder contains
//! the path of the other module, the current rules and a line per call. A test manages the folder with a
//! [`Control`], also for another process:
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
//! [`make_keys`] makes keys in a token without Sealward. [`skip_destructors`] ends a test process safely.
//!
//! Each call reads the rules, so a change applies to the next call. The module supports the functions
//! of PKCS#11 2.40.

#![allow(unsafe_code, reason = "a PKCS#11 module is a table of C functions over raw pointers")]
#![allow(non_camel_case_types, non_snake_case, reason = "the names of PKCS#11 functions")]

mod behind;
mod control;
mod forward;
mod process_end;
mod rule;
mod template;
mod vendor;
mod watch;

pub use control::{Control, FOLDER};
pub use process_end::skip_destructors;
pub use rule::{Fault, Rule};
pub use vendor::{VendorKey, make_keys};
