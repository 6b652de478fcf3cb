//! Long checks of keys to import, which share processors and memory.

use std::sync::mpsc;

use engine::keys::Vault;
use formats::clock::{Clock, Entropy};
use futures_util::FutureExt as _;
use testkit::{World, token};
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_has_one_check_at_a_time_which_outlives_its_request() {
    let world = World::new().await;
    let vault = Vault::new(token().await, world.pool.clone(), Clock::system(), Entropy::system());
    let [one, other] = [1, 2].map(|it| Some(Uuid::from_u128(it)));
    let (end, ended) = mpsc::channel();
    let (begin, begun) = tokio::sync::oneshot::channel();
    let mut long = Box::pin(vault.check(one, move || {
        let _ = begin.send(());
        ended.recv()
    }));
    assert!((&mut long).now_or_never().is_none());
    begun.await.expect("a check");
    // The client leaves.
    drop(long);
    assert!(vault.check(one, || ()).now_or_never().is_none());
    assert_eq!(vault.check(other, || 5).await, Some(5));
    end.send(()).expect("a check that waits");
    assert_eq!(vault.check(one, || 6).await, Some(6));
}
