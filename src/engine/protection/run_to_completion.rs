//! Work that completes even if its caller is dropped.

use std::panic::AssertUnwindSafe;
use std::task::Poll;

use futures_util::{FutureExt as _, poll};
use hsm::CancelGuard;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

/// Runs `work` so that it is recorded whatever becomes of its caller. Work that waits continues in a task of
/// its own; work that does not wait needs none. When the caller is dropped, its token operations that still
/// wait in `lane` are cancelled. None if the work panics. The work is large, so the returned future has only a pointer to it.
pub(super) fn run_to_completion<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
    lane: u64,
    tasks: &TaskTracker,
) -> impl Future<Output = Option<T>> + Send {
    let waiting = CancelGuard::in_lane(lane);
    let work = AssertUnwindSafe(work).catch_unwind();
    let mut work = Box::pin(waiting.scope(work).in_current_span());
    async move {
        let _waiting = waiting;
        let done = match poll!(&mut work) {
            Poll::Ready(done) => done,
            Poll::Pending => tasks.spawn(work).await.ok()?,
        };
        done.ok()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn work_continues_without_its_caller() {
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let (sender, receiver) = oneshot::channel();
        let tasks = TaskTracker::new();
        let work = async move {
            may_go_on.await.unwrap();
            sender.send(7).unwrap();
        };
        let mut call = Box::pin(run_to_completion(work, 0, &tasks));
        assert!(poll!(&mut call).is_pending());
        drop(call);
        tasks.close();
        assert!(poll!(Box::pin(tasks.wait())).is_pending());
        go_on.send(()).unwrap();
        tasks.wait().await;
        assert_eq!(receiver.await, Ok(7));
    }

    #[tokio::test]
    async fn the_caller_gets_the_result() {
        let tasks = TaskTracker::new();
        assert_eq!(run_to_completion(async { 7 }, 0, &tasks).await, Some(7));
        let waiting = async {
            yield_now().await;
            7
        };
        assert_eq!(run_to_completion(waiting, 0, &tasks).await, Some(7));
    }

    #[tokio::test]
    async fn work_that_does_not_wait_has_no_task_of_its_own() {
        let here = tokio::spawn(async {
            let work = async { tokio::task::id() };
            let done = run_to_completion(work, 0, &TaskTracker::new()).await;
            assert_eq!(done, Some(tokio::task::id()));
        });
        here.await.unwrap();
    }

    #[tokio::test]
    async fn the_caller_learns_of_a_panic() {
        let at_once = async { panic!("on purpose") };
        let done: Option<()> = run_to_completion(at_once, 0, &TaskTracker::new()).await;
        assert_eq!(done, None);
        let later = async {
            yield_now().await;
            panic!("on purpose")
        };
        let done: Option<()> = run_to_completion(later, 0, &TaskTracker::new()).await;
        assert_eq!(done, None);
    }
}
