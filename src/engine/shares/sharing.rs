//! The amounts that owners share. docs/performance.md shows the same numbers in one table.

/// How owners share an amount.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    /// The amount.
    pub total: usize,
    /// The most that one owner has.
    pub limit: OwnerLimit,
    /// The most requests that wait.
    pub queue: usize,
}

/// The most that one owner has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerLimit {
    /// Everything. Owners that wait take turns.
    Total,
    /// This amount.
    AtMost(usize),
    /// Half of what the others leave, so that a part is always free for another owner.
    HalfOfRest,
}

impl Sharing {
    pub(super) const fn new(total: usize, limit: OwnerLimit, queue: usize) -> Self {
        Self { total, limit, queue }
    }
}

/// A queue without a limit of its own. The connections limit what waits there.
pub const UNBOUNDED: usize = usize::MAX;

/// The memory of large bodies in bytes, unless the largest body needs more.
pub const LARGE_BODIES: Sharing = Sharing::new(256 << 20, OwnerLimit::HalfOfRest, UNBOUNDED);

/// This number of the largest bodies fit into the memory of large bodies.
pub const LARGEST_BODIES: usize = 8;

/// The memory of small bodies in bytes.
pub const SMALL_BODIES: Sharing = Sharing::new(64 << 20, OwnerLimit::HalfOfRest, UNBOUNDED);

/// A body waits for memory for this part of the time limit of a request: a quarter.
pub const BODY_PATIENCE: u32 = 4;

/// Bodies without a valid credential, or over the rate limit, that are read at the same time.
pub const REFUSED_BODIES: Sharing = Sharing::new(256, OwnerLimit::AtMost(64), 0);

/// Bodies of log-ins to the Transit API that are read at the same time.
pub const LOG_INS: Sharing = Sharing::new(2_048, OwnerLimit::AtMost(64), 0);

/// Forms of visitors of the dashboard that are read at the same time. They are far smaller.
pub const FORMS: Sharing = Sharing::new(2_048, OwnerLimit::AtMost(64), 0);

/// Refused log-ins and renewals of the Transit API that wait. A network has at most these.
pub const HELD_REFUSALS: Sharing = Sharing::new(256, OwnerLimit::AtMost(8), 0);

/// Look-ups that use the database at the same time. Other work has the other connections.
pub const LOOK_UPS: Sharing = Sharing::new(2, OwnerLimit::Total, UNBOUNDED);

/// Processors for work on large bodies: at least these. Each work that waits holds a body.
pub const PROCESSORS: Sharing = Sharing::new(2, OwnerLimit::Total, 256);

/// Checks of keys to import at the same time: primality tests, and the derivation of a key from a passphrase, which
/// takes up to 64 MiB.
pub const KEY_CHECKS: Sharing = Sharing::new(2, OwnerLimit::AtMost(1), UNBOUNDED);

/// The connections of a listener.
pub fn connections(total: u32, of_address: u32) -> Sharing {
    let number = |it| usize::try_from(it).unwrap_or(usize::MAX);
    Sharing::new(number(total), OwnerLimit::AtMost(number(of_address)), UNBOUNDED)
}

/// Slow reads of the database at the same time. They have no owners, so a semaphore limits them.
pub const SLOW_READS: usize = 2;

/// Requests to the OpenID Connect provider at the same time. Each takes a thread, which other work needs too. A
/// network has at most these, so that its visitors do not keep others from signing in.
pub const PROVIDER_REQUESTS: Sharing = Sharing::new(16, OwnerLimit::AtMost(4), UNBOUNDED);
