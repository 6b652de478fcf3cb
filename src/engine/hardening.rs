//! Restrictions of the process, applied before it has threads or secrets.

use std::sync::OnceLock;

use rustix::io::{Errno, Result};
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{disable_transparent_huge_pages, set_no_new_privs};

/// The restrictions that the system did not allow.
static REFUSED: OnceLock<Vec<(Errno, &str)>> = OnceLock::new();

/// Disables core dumps and debuggers, gives up new privileges, and keeps memory out of swap. Huge pages
/// would lock, and use, far more memory than the process touches.
///
/// Call it before the process has other threads: some restrictions apply to one thread and those that
/// it starts. The service also starts if the system refuses some of them; see [`report`].
pub fn harden() {
    let nothing = Rlimit { current: Some(0), maximum: Some(0) };
    // Locking only touched pages needs far less than the runtime maps.
    let locked = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let steps: [(Result<()>, &str); 5] = [
        (
            setrlimit(Resource::Core, nothing),
            "core dumps cannot be disabled: set LimitCORE=0 for this service",
        ),
        (
            set_dumpable_behavior(DumpableBehavior::NotDumpable),
            "other processes of this user may read the memory of this one",
        ),
        (
            disable_transparent_huge_pages(true),
            "huge pages cannot be disabled: the process may use more memory",
        ),
        (
            set_no_new_privs(true),
            "no_new_privs cannot be set: set NoNewPrivileges=yes for this service",
        ),
        (
            mlockall(locked),
            "memory may be swapped to disk: set LimitMEMLOCK=infinity for this service",
        ),
    ];
    let refused = steps.into_iter().filter_map(|(done, message)| Some((done.err()?, message)));
    let _ = REFUSED.set(refused.collect());
}

/// Logs the restrictions that the system refused. Call it once the log has started.
pub fn report() {
    for (error, message) in REFUSED.get().into_iter().flatten() {
        tracing::warn!(%error, "{message}");
    }
}
