//! A module that returns an impossible result length.

use faulty_token::Fault;
use hsm::{ErrorKind, Token, TokenState};

use super::{Operation, WORKER, undisturbed};
use crate::support::{in_child_processes, status};

#[test]
fn an_absurd_length_fails_one_operation_and_not_the_process() {
    in_child_processes(|fixture| async move {
        let token = Token::open(undisturbed(&fixture)).await.unwrap();
        let has_length = |operation: &Operation| operation.function != "C_DeriveKey";
        let operations = Operation::each(&token).await.into_iter();
        for operation in operations.filter(has_length) {
            // Larger than the buffer, than any memory, and than any number of bytes.
            for length in [1 << 16, 1 << 47, u64::MAX] {
                let absurd = Fault::Length(length).on(operation.function).thread(WORKER);
                fixture.faults.rules(&[absurd]);
                let error = operation.run(&token).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Refused, "{operation:?} {length}");
                fixture.faults.rules(&[]);
                operation.run(&token).await.unwrap();
            }
        }
        let status = status(&token, "one");
        assert_eq!((status.state, status.hung), (TokenState::Serving, 0));
        token.close().await;
    });
}
