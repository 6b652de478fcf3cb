//! What the process does to itself before it reads its first secret, so that secrets stay in it.

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::set_no_new_privs;

/// Forbids core dumps and debuggers, gives up gaining privileges, and keeps memory out of swap.
///
/// None of it can fail in a way that should keep the service from starting: what the system does
/// not allow is told, with its remedy.
pub fn harden() {
    let nothing = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    if let Err(error) = setrlimit(Resource::Core, nothing) {
        tracing::warn!(%error, "core dumps cannot be disabled: set LimitCORE=0 for this service");
    }
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "other processes of this user may read the memory of this one");
    }
    if let Err(error) = set_no_new_privs(true) {
        tracing::warn!(%error, "no_new_privs cannot be set: set NoNewPrivileges=yes for this service");
    }
    // Only what is touched is locked: reserving all that a runtime maps would need far more.
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    if let Err(error) = mlockall(flags) {
        tracing::warn!(%error, "memory may be swapped to disk: set LimitMEMLOCK=infinity for this service");
    }
}
