//! The number of key searches and length queries.

use hsm::Token;

use super::{Operation, undisturbed};
use crate::support::in_child_processes;

#[test]
fn no_operation_repeats_a_key_search_or_queries_a_length() {
    in_child_processes(|fixture| async move {
        let token = Token::open(undisturbed(&fixture)).await.unwrap();
        for operation in Operation::each(&token).await {
            operation.run(&token).await.unwrap();
            let counted = || {
                ["C_FindObjectsInit", "C_OpenSession", operation.function]
                    .map(|function| fixture.faults.calls(function))
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
