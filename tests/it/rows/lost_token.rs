//! After the loss of a token without a backup, another one seals.

use std::fs;

use testkit::{LABEL, PATIENCE, Process, Site, within};

/// Under a generation with the same number, genuine segments would seem forged, and an operator would remove them.
#[tokio::test(flavor = "multi_thread")]
async fn signed_positions_stay_although_nobody_can_verify_their_segments() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let process = Process::start(&site).await;
    process.service("first").await;
    let mut database = site.connect().await;
    let signed = "SELECT size > 0 AND checkpoint_size = size FROM audit_log_heads WHERE log = 2";
    within(PATIENCE, async || {
        sqlx::query_scalar(signed).fetch_one(&mut site.connect().await).await.expect("a head")
    })
    .await;
    process.terminate();

    // What an origin accepts needs no signature.
    let accept = "SET ROLE sealward_application; UPDATE audit_log_origins SET accepted = 1
                   WHERE id = '00000000-0000-0000-0000-000000000002'; RESET ROLE";
    sqlx::raw_sql(accept).execute(&mut database).await.expect("a change");
    fs::remove_dir_all(site.file("token/tokens")).expect("a token");
    site.add_softhsm(LABEL);
    site.run(&["init"]).success();
    site.run(&["rows", "reseal", "--yes"]).success();
    let generations = "SELECT DISTINCT get_byte(seal, 4) FROM services";
    let generations: Vec<i32> =
        sqlx::query_scalar(generations).fetch_all(&mut database).await.expect("the seals");
    assert_eq!(generations, [2]);
    let accepted = "SELECT sum(accepted)::bigint FROM audit_log_origins";
    let accepted: i64 =
        sqlx::query_scalar(accepted).fetch_one(&mut database).await.expect("the origins");
    assert_eq!(accepted, 0);
    let positions = "SELECT count(*) FROM audit_log_positions";
    let before: i64 = sqlx::query_scalar(positions).fetch_one(&mut database).await.expect("a log");
    let lose = "SET ROLE sealward_application;
        UPDATE audit_log_heads SET checkpoint = NULL, checkpoint_size = 0, checkpoint_at = NULL";
    sqlx::raw_sql(lose).execute(&mut database).await.expect("a loss");
    site.run(&["rows", "remove-segments"]).failure(1, &["a row key that no token has"]);
    let after: i64 = sqlx::query_scalar(positions).fetch_one(&mut database).await.expect("a log");
    assert_eq!(after, before);
}
