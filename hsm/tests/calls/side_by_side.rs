//! Nothing in this crate makes one operation wait for another while a worker is free.

use faulty_token::Fault;
use hsm::{Config, Token};

use super::{Operation, WORKER, undisturbed};
use crate::support::{alone_on_both, status, until};

const WORKERS: usize = 5;
const TOO_MANY: usize = 2;

#[test]
fn every_worker_runs_an_operation_concurrently() {
    alone_on_both(|rig| async move {
        let config = Config {
            workers: WORKERS,
            ..undisturbed(&rig)
        };
        let token = Token::open(config).await.unwrap();
        for operation in Operation::each(&token).await {
            operation.run(&token).await.unwrap();
            let inside = || rig.faults.calls(operation.function);
            let before = inside();
            let held = Fault::Hang.on(operation.function).thread(WORKER);
            rig.faults.rules(&[held]);
            let running: Vec<_> = (0..WORKERS + TOO_MANY)
                .map(|_| {
                    let (token, operation) = (token.clone(), operation.clone());
                    tokio::spawn(async move { operation.run(&token).await })
                })
                .collect();
            until("every worker is inside", || inside() == before + WORKERS).await;
            until("the others wait", || {
                status(&token, "one").queued == TOO_MANY
            })
            .await;
            assert_eq!(inside(), before + WORKERS);
            rig.faults.rules(&[]);
            for operation in running {
                operation.await.unwrap().unwrap();
            }
        }
        token.close().await;
    });
}
