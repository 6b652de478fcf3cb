//! The two tokens that everything is tested on, SoftHSM2 and kryoptic.
//!
//! Both libraries read where their token lies from the environment, once a process, and a login is
//! one for the process. So tests that leave the token as it is share one in their process, the
//! [`Bench`]; a test that hurts it runs [alone], in a process of its own, with a [`Rig`].

mod bench;
pub(crate) mod foreign;
mod home;
mod rig;

pub(crate) use bench::{Bench, id, kryoptic, softhsm};
pub(crate) use home::Kind;
pub(crate) use rig::{Rig, alone, alone_on_both, is_out, make, seal, status, until};

/// Makes every named test one of each token.
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
