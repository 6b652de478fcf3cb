//! Retired days: their records leave the audit log, their hashes stay.

use engine::ledger::verify::{self, Trust, VerifiedLog};
use engine::ledger::{self, Log};
use sqlx::Row as _;

use super::fixture::{Kept, indexes};

const RETIRE: &str =
    "SELECT detach_audit_day(((now() - interval '2 days') AT TIME ZONE 'UTC')::date)::text";

#[tokio::test]
async fn a_day_is_retired_when_it_is_sealed_and_its_hashes_stay() {
    let kept = Kept::new().await;
    kept.record_old(2).await;
    let refused = sqlx::query(RETIRE).fetch_one(&kept.owner).await.unwrap_err();
    let code = refused.as_database_error().unwrap().code();
    assert_eq!(code.as_deref(), Some("SW002"));
    let ids: Vec<String> = sqlx::query_scalar("SELECT id::text FROM crypto_operations_audit")
        .fetch_all(&kept.owner)
        .await
        .unwrap();
    assert!(ids.iter().any(|id| refused.to_string().contains(id)), "{refused}");

    let sealer = kept.sealer().await;
    kept.covered(2).await;
    kept.record(1).await;
    kept.covered(3).await;
    sealer.stop().await;
    let retired = sqlx::query(RETIRE).fetch_one(&kept.owner).await.unwrap();
    assert!(retired.get::<Option<String>, _>(0).is_some());

    let lines = kept.export().await;
    assert_eq!(lines.len(), 3);
    for (index, line) in lines[..2].iter().enumerate() {
        assert!(line.starts_with(r#"{"leaf_hash":""#), "{line}");
        assert!(line.ends_with(&format!(r#","log_index":{index}}}"#)), "{line}");
    }
    let keys = ledger::keys(&kept.pool, Log::Operations).await.unwrap().unwrap();
    let mut trust = Trust::new(&keys[0].to_string()).unwrap();
    let note = ledger::checkpoint(&kept.pool, Log::Operations).await.unwrap();
    trust.add(&note.unwrap()).unwrap();
    let whole = VerifiedLog { covered: 3, retired: 2, ..VerifiedLog::default() };
    let text = lines.join("\n");
    let verified = verify::export(&trust, text.as_bytes(), None, &mut |_| ());
    assert_eq!(verified.unwrap(), whole);
    let verified = verify::database(&trust, &kept.pool, &mut |_| ()).await;
    assert_eq!(verified.unwrap(), whole);
}

#[tokio::test]
async fn a_row_removed_from_an_old_day_is_not_retired() {
    let kept = Kept::new().await;
    kept.record_old(3).await;
    let sealer = kept.sealer().await;
    kept.covered(3).await;
    sealer.stop().await;
    kept.execute(
        "DELETE FROM crypto_operations_audit r USING audit_log_index i
          WHERE i.record_id = r.id AND log_index = 1",
    )
    .await;
    assert_eq!(indexes(&kept.export().await), [0, 2]);
}
