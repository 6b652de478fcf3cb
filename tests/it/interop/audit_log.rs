//! The audit log is verified by the packages of Go's checksum database.

use std::fs;
use std::process::Command;

use engine::ledger::Log;
use sqlx::AssertSqlSafe;

use super::peer::home;
use crate::ledger::{covered, hash, key, sealed_world};
use testkit::{Scratch, insert_records};

#[tokio::test(flavor = "multi_thread")]
async fn go_verifies_checkpoints_records_and_consistency() {
    let world = sealed_world().await;
    hash(&world, 3).await;
    covered(&world, Log::Operations, 3).await;
    let path = "/admin/audit/log/operations/checkpoint";
    let old = world.admin().get(path).await.ok().body;
    let many = AssertSqlSafe(insert_records(600, "many", "now()"));
    sqlx::query(many).execute(&world.pool).await.unwrap();
    let size = covered(&world, Log::Operations, 603).await.size;
    let folder = Scratch::new();
    let file = folder.path().join("old");
    fs::write(&file, old).unwrap();
    let address = world.served(None).await;
    let arguments = [
        format!("http://{address}/admin/audit/log/operations"),
        world.admin_key().to_owned(),
        key(&world, Log::Operations).await.to_string(),
        file.display().to_string(),
    ];
    let verified = tokio::task::spawn_blocking(move || {
        let program = home().join("tlog-peer");
        Command::new(program).args(arguments).output().unwrap()
    });
    let verified = verified.await.unwrap();
    assert!(verified.status.success(), "{verified:?}");
    assert_eq!(verified.stdout, format!("{size} records\n").into_bytes());
}
