//! The two tokens of the tests: SoftHSM2 and kryoptic.
//!
//! Both libraries read the path of their token from the environment once per process, and a login
//! applies to the process. Tests that do not affect the token share one per process, the
//! [`SharedToken`]. Other tests run [`in_child_process`] with a [`Fixture`].

mod child_process;
pub(crate) mod foreign;
mod shared_token;
mod token_folder;

pub(crate) use child_process::{
    Fixture, generate_key, in_child_process, in_child_processes, is_out, seal, status, wait_until,
};
pub(crate) use shared_token::{SharedToken, id, kryoptic, softhsm};
pub(crate) use token_folder::Kind;

/// Declares each test once per token: beside other tests, or `alone` on it, if the test writes to the token past
/// the crate. SoftHSM2 can fail a call while another thread writes.
macro_rules! on_both_tokens {
    (alone: $($test:ident),* $(,)?) => { on_both_tokens! { @ alone $($test)* } };
    (@ $turn:ident $($test:ident)*) => {
        mod softhsm {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                let shared = $crate::support::softhsm().await;
                let _turn = shared.$turn().await;
                super::$test(shared).await;
            })*
        }
        mod kryoptic {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                let shared = $crate::support::kryoptic().await;
                let _turn = shared.$turn().await;
                super::$test(shared).await;
            })*
        }
    };
    ($($test:ident),* $(,)?) => { on_both_tokens! { @ beside_others $($test)* } };
}
