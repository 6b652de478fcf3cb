//! No operation waits while a worker is free.

use faulty_token::Fault;
use hsm::{Config, Token};

use super::{Operation, WORKER, undisturbed};
use crate::support::{in_child_processes, status, wait_until};

const WORKERS: usize = 5;
const TOO_MANY: usize = 2;

#[test]
fn every_worker_runs_an_operation_concurrently() {
    in_child_processes(|fixture| async move {
        let config = Config { workers: WORKERS, ..undisturbed(&fixture) };
        let token = Token::open(config).await.unwrap();
        for operation in Operation::each(&token).await {
            operation.run(&token).await.unwrap();
            let inside = || fixture.faults.calls(operation.function);
            let before = inside();
            let held = Fault::Hang.on(operation.function).thread(WORKER);
            fixture.faults.rules(&[held]);
            let running: Vec<_> = (0..WORKERS + TOO_MANY)
                .map(|_| {
                    let (token, operation) = (token.clone(), operation.clone());
                    tokio::spawn(async move { operation.run(&token).await })
                })
                .collect();
            wait_until("every worker is in a call", || inside() == before + WORKERS).await;
            wait_until("the other operations wait", || status(&token, "one").queued == TOO_MANY)
                .await;
            assert_eq!(inside(), before + WORKERS);
            fixture.faults.rules(&[]);
            for operation in running {
                operation.await.unwrap().unwrap();
            }
        }
        token.close().await;
    });
}
