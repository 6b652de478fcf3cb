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
                ["C_FindObjectsInit", "C_GetTokenInfo", "C_OpenSession", operation.function]
                    .map(|function| fixture.faults.calls(function))
            };
            let [finds, canaries, sessions, calls] = counted();
            for _ in 0..20 {
                operation.run(&token).await.unwrap();
            }
            let [found, run, opened, called] = counted();
            assert_eq!([opened, called], [sessions, calls + 20], "{operation:?}");
            // A second after an operation, a canary asks for the token and finds its key. One can be between both.
            assert!(found - finds <= run - canaries + 1, "{operation:?}");
        }
        token.close().await;
    });
}
