//! Who gets a share, and when. `holdings.rs` tests how much.

use std::pin::Pin;

use futures_util::future::join_all;
use futures_util::poll;

use super::*;

type Waiting = Pin<Box<dyn Future<Output = Grant<u32>>>>;

fn shares(total: usize, limit: OwnerLimit, queue: usize) -> Shares<u32> {
    Shares::new(Sharing::new(total, limit, queue))
}

/// A request that waits.
async fn waiting(shares: &Shares<u32>, owner: u32, amount: usize) -> Waiting {
    let shares = shares.clone();
    let mut waiting: Waiting = Box::pin(async move { shares.take(Some(owner), amount).await });
    assert!(poll!(&mut waiting).is_pending());
    waiting
}

/// All that an owner gets, one by one.
fn greedy(shares: &Shares<u32>, owner: u32) -> Vec<Share<u32>> {
    std::iter::from_fn(|| shares.try_take(Some(owner), 1)).collect()
}

#[tokio::test]
async fn requests_of_an_owner_are_served_in_their_order() {
    let shares = shares(64, OwnerLimit::HalfOfRest, UNBOUNDED);
    let mut all = greedy(&shares, 1);
    let mut large = waiting(&shares, 1, 2).await;
    let mut small = waiting(&shares, 1, 1).await;
    all.pop();
    assert!(poll!(&mut large).is_pending());
    assert!(poll!(&mut small).is_pending());
    all.pop();
    let large = large.await.unwrap();
    assert!(poll!(&mut small).is_pending());
    drop(large);
    assert!(small.await.is_ok());
}

#[tokio::test]
async fn an_owner_at_its_limit_delays_no_other() {
    let shares = shares(64, OwnerLimit::HalfOfRest, UNBOUNDED);
    let all = greedy(&shares, 1);
    let mut first = waiting(&shares, 1, 1).await;
    let other = shares.take(Some(2), 16).await.unwrap();
    assert!(poll!(&mut first).is_pending());
    drop((all, other));
    assert!(first.await.is_ok());
}

#[tokio::test]
async fn small_requests_do_not_overtake_a_large_one() {
    let shares = shares(2, OwnerLimit::Total, UNBOUNDED);
    let (one, other) = (shares.try_take(Some(1), 1), shares.try_take(Some(1), 1));
    let mut large = waiting(&shares, 2, 2).await;
    drop(one);
    let mut small = waiting(&shares, 3, 1).await;
    drop(other);
    let large = large.as_mut().await.unwrap();
    assert!(poll!(&mut small).is_pending());
    drop(large);
    assert!(small.await.is_ok());
}

#[tokio::test]
async fn a_burst_delays_its_own_owner_first() {
    let shares = shares(2, OwnerLimit::Total, UNBOUNDED);
    let (running, order) = (shares.try_take(Some(1), 2), Mutex::new(Vec::new()));
    let (all, served) = (&shares, &order);
    let requests = [1, 1, 1, 1, 2, 2].map(|owner| async move {
        let _share = all.take(Some(owner), 2).await.unwrap();
        served.lock().unwrap().push(owner);
    });
    tokio::join!(join_all(requests), async { drop(running) });
    assert_eq!(order.into_inner().unwrap(), [1, 2, 1, 2, 1, 1]);
}

#[tokio::test]
async fn waiting_requests_are_bounded() {
    let shares = shares(2, OwnerLimit::Total, 4);
    let running = shares.take(Some(1), 2).await.unwrap();
    let mut burst = Vec::new();
    for _ in 0..4 {
        burst.push(waiting(&shares, 1, 2).await);
    }
    assert_eq!(shares.take(Some(1), 2).await.unwrap_err(), QueueFull);
    let other = waiting(&shares, 2, 2).await;
    let newest = burst.pop().unwrap();
    assert_eq!(newest.await.unwrap_err(), QueueFull);
    assert_eq!(shares.queued(), 4);
    // An urgent request waits beyond the bound, and is served first.
    let mut urgent = Box::pin(shares.take_first(Some(1), 2));
    assert!(poll!(&mut urgent).is_pending());
    assert_eq!(shares.queued(), 5);
    drop(running);
    drop(urgent.await.unwrap());
    drop(burst.remove(0).await.unwrap());
    drop(other.await.unwrap());
}

#[tokio::test]
async fn a_request_that_goes_leaves_the_queue_and_lets_the_next_pass() {
    let shares = shares(2, OwnerLimit::Total, UNBOUNDED);
    let running = shares.try_take(Some(1), 1).unwrap();
    let large = waiting(&shares, 2, 2).await;
    let small = waiting(&shares, 2, 1).await;
    drop(large);
    let small = small.await.unwrap();
    assert_eq!(shares.queued(), 0);
    let gone = waiting(&shares, 2, 1).await;
    // It is served, and goes before it notices.
    drop(running);
    drop(gone);
    drop(small);
    assert_eq!(shares.free(), 2);
}

#[test]
fn a_share_can_shrink() {
    let shares = shares(64, OwnerLimit::HalfOfRest, UNBOUNDED);
    let mut share = shares.try_take(Some(1), 32).unwrap();
    share.shrink(1);
    assert_eq!(shares.free(), 63);
    share.shrink(2);
    drop(share);
    assert_eq!(shares.free(), 64);
}
