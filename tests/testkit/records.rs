//! Rows of the audit log.

/// The expression of an identifier for a record with the time `ts`, in whole milliseconds.
pub const RECORD_ID: &str = "(lpad(to_hex(round(extract(epoch FROM ts) * 1000)::bigint), 12, '0')
     || '70008' || substr(md5(random()::text), 1, 15))::uuid";

/// A statement that inserts this many records of a time, which is an SQL expression.
pub fn insert_records(count: usize, request_id: &str, time: &str) -> String {
    format!(
        "INSERT INTO crypto_operations_audit
             (id, ts, request_id, payload_size_bytes, response_status, response_time_ms, outcome)
         SELECT {RECORD_ID}, ts, '{request_id}', 0, 200, 1.3, 'done'
           FROM date_trunc('milliseconds', {time}) AS ts, generate_series(1, {count})"
    )
}
