//! Keys are looked for once, and lengths never.

use hsm::Token;

use super::{Operation, undisturbed};
use crate::support::alone_on_both;

#[test]
fn no_operation_repeats_a_key_search_or_queries_a_length() {
    alone_on_both(|rig| async move {
        let token = Token::open(undisturbed(&rig)).await.unwrap();
        for operation in Operation::each(&token).await {
            operation.run(&token).await.unwrap();
            let counted = || {
                ["C_FindObjectsInit", "C_OpenSession", operation.function]
                    .map(|function| rig.faults.calls(function))
            };
            let [finds, sessions, calls] = counted();
            for _ in 0..20 {
                operation.run(&token).await.unwrap();
            }
            assert_eq!(counted(), [finds, sessions, calls + 20], "{operation:?}");
        }
        token.close().await;
    });
}
