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

/// Declares each test once per token.
macro_rules! on_both_tokens {
    ($($test:ident),* $(,)?) => {
        mod softhsm {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                super::$test($crate::support::softhsm().await).await;
            })*
        }
        mod kryoptic {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                super::$test($crate::support::kryoptic().await).await;
            })*
        }
    };
}
