//! The login of the service calls the function that gives positions to segments.

use sqlx::AssertSqlSafe;

use super::attacks::{FORGED_ALONE, code};
use super::fixture::Written;

/// The segments of the log of operations that have no positions.
const WAITING: &str = "(SELECT array_agg(s.id ORDER BY s.id) FROM audit_log_segments s
    WHERE s.log = 1 AND NOT EXISTS (
        SELECT FROM audit_log_positions p WHERE p.log = 1 AND p.segment = s.id))";

impl Written {
    /// A log of one record, and a segment that has no position yet.
    async fn with_waiting_segment() -> Self {
        let written = Self::new().await;
        let (segment, leaves) = written.write_segment().await;
        written.position(segment, &leaves, None).await;
        written.write(1).await;
        written
    }

    /// Calls the function of the owner with the login of the service. The call names the head of the log of operations
    /// and all waiting segments, which fill no tile, except for these arguments.
    async fn seal_with(&self, other: &[(&str, &str)]) -> Result<Option<i64>, String> {
        let arguments = [
            ("which", "1::smallint"),
            ("old_origin", "origin"),
            ("old_size", "size"),
            ("old_root", "root"),
            ("new_root", "sha256('a new root')"),
            ("sealed", WAITING),
            ("levels", "'{}'"),
            ("places", "'{}'"),
            ("node_hashes", "'{}'"),
        ];
        let arguments = arguments.map(|(name, usual)| {
            let other = other.iter().find(|(other, _)| *other == name);
            format!("{name} => {}", other.map_or(usual, |(_, value)| *value))
        });
        let call = format!(
            "SELECT seal_audit_segments({}) FROM audit_log_heads WHERE log = 1",
            arguments.join(", ")
        );
        let size: sqlx::Result<Option<i64>> =
            sqlx::query_scalar(AssertSqlSafe(call)).fetch_one(&self.kept.pool).await;
        size.map_err(|error| code(&error))
    }

    /// Asserts the answer to a call with these arguments, and that it changes nothing.
    async fn assert_not_sealed(&self, other: &[(&str, &str)], answer: Result<Option<i64>, &str>) {
        let before = self.logs().await;
        assert_eq!(self.seal_with(other).await, answer.map_err(str::to_owned), "{other:?}");
        assert_eq!(self.logs().await, before, "{other:?}");
    }

    /// The heads, positions and nodes of the logs.
    async fn logs(&self) -> String {
        let logs = "SELECT concat_ws(' ',
            (SELECT json_agg(h ORDER BY log) FROM audit_log_heads h),
            (SELECT json_agg(p ORDER BY log, base) FROM audit_log_positions p),
            (SELECT json_agg(n ORDER BY log, level, place) FROM audit_log_nodes n))";
        sqlx::query_scalar(logs).fetch_one(&self.kept.owner).await.expect(logs)
    }
}

/// What the functions of the owner refuse.
const INVALID: &str = "SW005";

/// Before the call, another one moved the head, or `audit init` gave the log another origin.
#[tokio::test]
async fn a_call_for_another_head_changes_nothing() {
    let written = Written::with_waiting_segment().await;
    // Those of the empty log.
    let (size, root) = (("old_size", "0"), ("old_root", "sha256('')"));
    let origin = ("old_origin", "'example.com/another'");
    for other in [&[size][..], &[root], &[size, root], &[origin]] {
        written.assert_not_sealed(other, Ok(None)).await;
    }
    assert_eq!(written.seal_with(&[]).await, Ok(Some(2)));
}

#[tokio::test]
async fn a_segment_gets_one_position_and_only_in_its_own_log() {
    const NOT_UNIQUE: &str = "23505";
    let written = Written::with_waiting_segment().await;
    let of_management = FORGED_ALONE.replace("VALUES (1,", "VALUES (2,");
    written.as_service(&of_management).await.expect("a segment");
    let positioned = "(SELECT array_agg(segment) FROM audit_log_positions)";
    for (segments, refused) in [
        ("(SELECT array_agg(id) FROM audit_log_segments WHERE log = 2)".to_owned(), INVALID),
        (format!("{WAITING} || {WAITING}"), INVALID),
        (format!("array_append({WAITING}, NULL)"), INVALID),
        ("ARRAY[NULL::uuid]".to_owned(), INVALID),
        ("NULL".to_owned(), INVALID),
        ("'{}'".to_owned(), INVALID),
        (positioned.to_owned(), NOT_UNIQUE),
        (format!("{WAITING} || {positioned}"), NOT_UNIQUE),
    ] {
        written.assert_not_sealed(&[("sealed", segments.as_str())], Err(refused)).await;
    }
    assert_eq!(written.seal_with(&[]).await, Ok(Some(2)));
}

const NODE: &str = "ARRAY[sha256('a node')]";

#[tokio::test]
async fn nodes_of_tiles_that_the_log_does_not_fill_are_refused() {
    let written = Written::new().await;
    written.write(1).await;
    for (levels, places) in
        [("'{1}'", "'{0}'"), ("'{7}'", "'{5}'"), ("'{0}'", "'{0}'"), ("'{1}'", "'{NULL}'")]
    {
        let nodes = [("levels", levels), ("places", places), ("node_hashes", NODE)];
        written.assert_not_sealed(&nodes, Err(INVALID)).await;
    }
}

#[tokio::test]
async fn a_tile_that_the_log_fills_needs_its_node() {
    const IS_NULL: &str = "23502";
    let written = Written::new().await;
    written.write(256).await;
    for (levels, places, hashes, refused) in [
        ("'{}'", "'{}'", "'{}'", INVALID),
        ("'{1}'", "'{1}'", NODE, INVALID),
        ("'{2}'", "'{0}'", NODE, INVALID),
        ("'{NULL}'", "'{0}'", NODE, INVALID),
        ("'{1}'", "'{NULL}'", NODE, INVALID),
        ("'{1}'", "'{0}'", "'{}'", IS_NULL),
        ("'{1}'", "'{0}'", "'{NULL}'", IS_NULL),
    ] {
        let nodes = [("levels", levels), ("places", places), ("node_hashes", hashes)];
        written.assert_not_sealed(&nodes, Err(refused)).await;
    }
    let node = [("levels", "'{1}'"), ("places", "'{0}'"), ("node_hashes", NODE)];
    assert_eq!(written.seal_with(&node).await, Ok(Some(256)));
}

#[tokio::test]
async fn a_segment_that_is_no_segment_gets_no_position() {
    let written = Written::new().await;
    let before = written.logs().await;
    let hash = "decode(repeat('11', 32), 'hex')";
    let id = "'01900000-0000-7000-8000-000000000001'::uuid";
    for (name, ids, hashes) in [
        (id, "'{}'::uuid[]".to_owned(), "''".to_owned()),
        (id, format!("ARRAY[{id}]"), format!("{hash} || {hash}")),
        (id, format!("ARRAY[[{id}]]"), hash.to_owned()),
        (
            "'01900000-0101-7000-8000-000000000001'",
            format!("ARRAY[{id}, {id}]"),
            format!("{hash} || {hash}"),
        ),
        ("'018fffff-ffff-7000-8000-000000000001'", format!("ARRAY[{id}]"), hash.to_owned()),
    ] {
        let insert =
            format!("INSERT INTO audit_log_segments VALUES (1, {name}, {ids}, {hashes}, '')");
        written.as_service(&insert).await.expect(&insert);
        assert_eq!(written.seal_with(&[]).await, Err(INVALID.to_owned()), "{insert}");
        written.kept.execute("DELETE FROM audit_log_segments").await;
    }
    let unknown = [("sealed", "ARRAY[gen_random_uuid()]")];
    assert_eq!(written.seal_with(&unknown).await, Err(INVALID.to_owned()));
    assert_eq!(written.logs().await, before);
}
