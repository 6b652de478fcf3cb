//! Work that completes even if its caller is dropped.

use std::pin::Pin;
use std::task::{Context, Poll};

use hsm::CancelGuard;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;
use tracing::instrument::Instrumented;

/// Work that continues in its own task when it is dropped, so that a started token operation is
/// recorded. Queued token operations that have not started are cancelled.
pub(super) struct RunToCompletion<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    work: Option<Pin<Box<Instrumented<F>>>>,
    waiting: Option<CancelGuard>,
    /// Tracks the tasks that continue such work.
    left: TaskTracker,
}

/// Wraps `work`. `left` tracks its task after the caller is dropped.
pub(super) fn run_to_completion<F>(
    work: F,
    lane: u64,
    left: &TaskTracker,
) -> RunToCompletion<impl Future<Output = F::Output> + Send + use<F>>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    let waiting = CancelGuard::in_lane(lane);
    let work = waiting.scope(work).in_current_span();
    RunToCompletion {
        work: Some(Box::pin(work)),
        waiting: Some(waiting),
        left: left.clone(),
    }
}

impl<F> Future for RunToCompletion<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(mut work) = self.work.take() else {
            // A completed future is not polled again.
            return Poll::Pending;
        };
        let polled = work.as_mut().poll(context);
        // Work that panicked does not continue.
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl<F> Drop for RunToCompletion<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn drop(&mut self) {
        self.waiting = None;
        // Without a runtime the process is exiting.
        if let Some(work) = self.work.take()
            && let Ok(runtime) = Handle::try_current()
        {
            self.left.spawn_on(work, &runtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use futures_util::{FutureExt as _, poll};
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn dropped_work_continues() {
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let (sender, receiver) = oneshot::channel();
        let left = TaskTracker::new();
        let work = async move {
            may_go_on.await.unwrap();
            sender.send(7).unwrap();
        };
        let mut work = Box::pin(run_to_completion(work, 0, &left));
        assert!(poll!(&mut work).is_pending());
        drop(work);
        left.close();
        assert!(poll!(Box::pin(left.wait())).is_pending());
        go_on.send(()).unwrap();
        left.wait().await;
        assert_eq!(receiver.await, Ok(7));
    }

    #[tokio::test]
    async fn completed_work_returns_its_result() {
        let left = TaskTracker::new();
        assert_eq!(run_to_completion(async { 7 }, 0, &left).await, 7);
        assert!(left.is_empty());
    }

    #[tokio::test]
    async fn panicked_work_does_not_continue() {
        let (sender, receiver) = oneshot::channel::<()>();
        let work = async move {
            let _sender = sender;
            panic!("on purpose");
        };
        let work = run_to_completion(work, 0, &TaskTracker::new());
        assert!(AssertUnwindSafe(work).catch_unwind().await.is_err());
        assert!(receiver.await.is_err());
    }

    #[test]
    fn without_a_runtime_work_is_dropped() {
        drop(run_to_completion(
            std::future::pending::<()>(),
            0,
            &TaskTracker::new(),
        ));
    }
}
