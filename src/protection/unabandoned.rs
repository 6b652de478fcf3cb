//! Work that comes to its end even if whoever waits for it goes away.

use std::pin::Pin;
use std::task::{Context, Poll};

use hsm::CancelGuard;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;
use tracing::instrument::Instrumented;

/// Work that goes on in a task of its own once it is dropped: what a token was asked for is
/// recorded. What it was not asked for by then, it is not asked any more.
pub(super) struct Unabandoned<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    work: Option<Pin<Box<Instrumented<F>>>>,
    waiting: Option<CancelGuard>,
    /// Of the tasks that such work has been given.
    left: TaskTracker,
}

/// The same work, as somebody waits for it; `left` counts it in once nobody does.
pub(super) fn unabandoned<F>(
    work: F,
    lane: u64,
    left: &TaskTracker,
) -> Unabandoned<impl Future<Output = F::Output> + Send + use<F>>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    let waiting = CancelGuard::in_lane(lane);
    let work = waiting.scope(work).in_current_span();
    Unabandoned {
        work: Some(Box::pin(work)),
        waiting: Some(waiting),
        left: left.clone(),
    }
}

impl<F> Future for Unabandoned<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(mut work) = self.work.take() else {
            // A future is not polled again after its end.
            return Poll::Pending;
        };
        let polled = work.as_mut().poll(context);
        // What panics is not put back either: it has no end to come to.
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl<F> Drop for Unabandoned<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn drop(&mut self) {
        self.waiting = None;
        // Where there is no runtime any more, the process has come to its end.
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
    async fn what_is_dropped_half_done_goes_on() {
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let (say, said) = oneshot::channel();
        let left = TaskTracker::new();
        let work = async move {
            may_go_on.await.unwrap();
            say.send(7).unwrap();
        };
        let mut work = Box::pin(unabandoned(work, 0, &left));
        assert!(poll!(&mut work).is_pending());
        drop(work);
        left.close();
        assert!(poll!(Box::pin(left.wait())).is_pending());
        go_on.send(()).unwrap();
        left.wait().await;
        assert_eq!(said.await, Ok(7));
    }

    #[tokio::test]
    async fn what_is_done_gives_what_came_of_it() {
        let left = TaskTracker::new();
        assert_eq!(unabandoned(async { 7 }, 0, &left).await, 7);
        assert!(left.is_empty());
    }

    #[tokio::test]
    async fn what_panicked_is_over() {
        let (say, said) = oneshot::channel::<()>();
        let work = async move {
            let _say = say;
            panic!("on purpose");
        };
        let work = unabandoned(work, 0, &TaskTracker::new());
        assert!(AssertUnwindSafe(work).catch_unwind().await.is_err());
        assert!(said.await.is_err());
    }

    #[test]
    fn without_a_runtime_it_ends() {
        drop(unabandoned(
            std::future::pending::<()>(),
            0,
            &TaskTracker::new(),
        ));
    }
}
