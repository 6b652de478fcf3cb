//! The threads of one token, and which of them hang inside the C library.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Worker,
    /// Runs the canary and brings the token back.
    Monitor,
}

/// The role of the thread that panics next.
#[cfg(test)]
pub(crate) static PANICS: Mutex<Option<Role>> = Mutex::new(None);

/// A thread that calls into the library. A hung thread is abandoned, and another replaces it.
#[derive(Debug)]
pub(crate) struct Thread {
    role: Role,
    state: Mutex<ThreadState>,
}

#[derive(Debug, Default)]
struct ThreadState {
    call: Option<LibraryCall>,
    abandoned: bool,
    lacks_session: bool,
}

/// A call into the library.
#[derive(Debug, Clone, Copy)]
struct LibraryCall {
    since: Instant,
    allowance: Duration,
    write: bool,
}

/// A thread that was abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Abandoned {
    pub(super) role: Role,
    /// Whether it was writing to the token.
    pub(super) write: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Registry {
    threads: Mutex<Vec<Arc<Thread>>>,
    /// How many threads run and are not abandoned.
    present: watch::Sender<usize>,
}

impl Thread {
    /// Makes a call into the library, which counts as hung after `allowance`.
    pub(super) fn call<T>(&self, allowance: Duration, write: bool, call: impl FnOnce() -> T) -> T {
        self.lock().call = Some(LibraryCall { since: Instant::now(), allowance, write });
        let result = call();
        self.lock().call = None;
        result
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// Whether it has this role and is not abandoned.
    fn is_running(&self, role: Role) -> bool {
        self.role == role && !self.is_abandoned()
    }

    /// Whether the thread was abandoned during a call and must end.
    pub(super) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }

    /// Notes whether the token refuses a session to this thread. Returns whether that is new.
    pub(super) fn note_session(&self, lacks_session: bool) -> bool {
        let mut state = self.lock();
        std::mem::replace(&mut state.lacks_session, lacks_session) != lacks_session
    }

    /// Whether it is a worker that can run operations, as far as is known.
    fn is_able(&self) -> bool {
        let state = self.lock();
        self.role == Role::Worker && !state.abandoned && !state.lacks_session
    }

    /// Abandons the thread if its call takes too long. For readers the time before `busy_until`
    /// does not count, because the token was busy with a write.
    fn abandon_if_hung(&self, busy_until: Option<Instant>) -> Option<Abandoned> {
        let mut state = self.lock();
        let call = state.call.filter(|_| !state.abandoned)?;
        let busy_until = busy_until.filter(|_| !call.write);
        let since = busy_until.map_or(call.since, |busy| busy.max(call.since));
        if since.elapsed() <= call.allowance {
            return None;
        }
        state.abandoned = true;
        Some(Abandoned { role: self.role, write: call.write })
    }

    /// Panics if a test told a thread of this role to.
    #[cfg(test)]
    pub(super) fn panic_if_told(&self) {
        let told = PANICS.lock().unwrap().take_if(|role| *role == self.role);
        assert_eq!(told, None, "a test ends the thread");
    }

    fn lock(&self) -> MutexGuard<'_, ThreadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registry {
    pub(super) fn add(&self, role: Role) -> Arc<Thread> {
        self.add_to(&mut self.lock(), role)
    }

    /// Adds a worker if fewer than `wanted` run.
    pub(super) fn add_missing_worker(&self, wanted: usize) -> Option<Arc<Thread>> {
        let mut threads = self.lock();
        let running = threads.iter().filter(|thread| thread.is_running(Role::Worker)).count();
        (running < wanted).then(|| self.add_to(&mut threads, Role::Worker))
    }

    fn add_to(&self, threads: &mut Vec<Arc<Thread>>, role: Role) -> Arc<Thread> {
        let thread = Arc::new(Thread { role, state: Mutex::default() });
        threads.push(Arc::clone(&thread));
        self.present.send_modify(|present| *present += 1);
        thread
    }

    /// Removes a thread that ends. The last one runs `last` before waiters are notified.
    pub(super) fn remove(&self, thread: &Arc<Thread>, last: impl FnOnce()) {
        let is_last = {
            let mut threads = self.lock();
            threads.retain(|other| !Arc::ptr_eq(other, thread));
            threads.is_empty()
        };
        if is_last {
            last();
        }
        if !thread.is_abandoned() {
            self.present.send_modify(|present| *present -= 1);
        }
    }

    /// Abandons the threads that hang.
    pub(super) fn abandon_hung(&self, busy_until: Option<Instant>) -> Vec<Abandoned> {
        let threads = self.lock().clone();
        let hung = threads.iter().filter_map(|thread| thread.abandon_if_hung(busy_until));
        let hung: Vec<_> = hung.collect();
        self.present.send_modify(|present| *present -= hung.len());
        hung
    }

    /// How many abandoned threads have not returned.
    pub(super) fn hung(&self) -> usize {
        self.count(Thread::is_abandoned)
    }

    pub(super) fn monitors(&self) -> usize {
        self.count(|thread| thread.is_running(Role::Monitor))
    }

    /// How many workers have a session or are opening one.
    pub(super) fn able_workers(&self) -> usize {
        self.count(Thread::is_able)
    }

    /// How many monitors hang.
    pub(super) fn hung_monitors(&self) -> usize {
        self.count(|thread| thread.role == Role::Monitor && thread.is_abandoned())
    }

    /// Watches how many threads run and are not abandoned.
    pub(crate) fn present(&self) -> watch::Receiver<usize> {
        self.present.subscribe()
    }

    fn count(&self, which: impl Fn(&Thread) -> bool) -> usize {
        self.lock().iter().filter(|thread| which(thread)).count()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Thread>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_thread_runs_the_last_step() {
        let registry = Registry::default();
        let (first, second) = (registry.add(Role::Worker), registry.add(Role::Monitor));
        registry.remove(&first, || panic!("another thread still runs"));
        let mut done = false;
        registry.remove(&second, || done = true);
        assert!(done);
        assert_eq!(*registry.present().borrow(), 0);
    }

    #[test]
    fn a_thread_outside_the_library_never_hangs() {
        let registry = Registry::default();
        let thread = registry.add(Role::Worker);
        assert_eq!(registry.abandon_hung(None), []);
        assert!(!thread.is_abandoned());
    }

    #[test]
    fn a_hung_thread_is_abandoned_once_and_is_not_a_worker() {
        let registry = Registry::default();
        let thread = registry.add(Role::Worker);
        thread.call(Duration::ZERO, true, || {
            let abandoned = Abandoned { role: Role::Worker, write: true };
            assert_eq!(registry.abandon_hung(None), [abandoned]);
            assert_eq!(registry.abandon_hung(None), []);
        });
        let counts = || {
            let present = *registry.present().borrow();
            (registry.count(|thread| thread.is_running(Role::Worker)), registry.hung(), present)
        };
        assert_eq!(counts(), (0, 1, 0));
        registry.remove(&thread, || {});
        assert_eq!(counts(), (0, 0, 0));
    }

    #[test]
    fn while_the_token_writes_only_the_writer_can_hang() {
        let registry = Registry::default();
        let (reader, writer) = (registry.add(Role::Monitor), registry.add(Role::Worker));
        let later = Some(Instant::now() + Duration::from_secs(60));
        reader.call(Duration::ZERO, false, || {
            writer.call(Duration::ZERO, true, || {
                let abandoned = Abandoned { role: Role::Worker, write: true };
                assert_eq!(registry.abandon_hung(later), [abandoned]);
            });
        });
    }
}
