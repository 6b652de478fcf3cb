//! Payload size, number of resources, and number of audit records.

use sqlx::Executor as _;

use super::{SPAN, Table};
use crate::cases::KIB;
use crate::instance::Instance;
use crate::rounds::{Baselines, median_of_three};
use testkit::Site;

/// The numbers of resources of each kind.
const COUNTS: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];

/// The numbers of records in the partition of the current day.
const ROWS: [u32; 4] = [0, 100_000, 1_000_000, 10_000_000];

pub(super) async fn payload() -> Table {
    let mut table = Table::new("Payloads", "KiB");
    let site = Site::new().await;
    let baselines = Baselines::build(&site).await;
    let instance = Instance::start(&site).await;
    let processes = baselines.with(instance.process.id());
    for operation in ["protect RSA-2048", "unprotect RSA-2048", "hash SHA-256"] {
        for size in [1, 4, 16, 64, 256, 1_024] {
            let request = instance.request(operation, size * KIB);
            table.add(size, operation, median_of_three(processes, &request, 16, SPAN));
        }
    }
    table
}

/// `count` services, policies, API keys and keys.
pub(super) async fn rows() -> Table {
    let mut table = Table::new("Services, policies, API keys and keys", "Of each");
    let site = Site::new().await;
    let baselines = Baselines::build(&site).await;
    let instance = Instance::start(&site).await;
    let processes = baselines.with(instance.process.id());
    let mut database = site.connect().await;
    let mut there = 0;
    for count in COUNTS {
        let fill = FILL.replace("FROM_HERE", &(there + 1).to_string());
        let fill = fill.replace("TO_HERE", &count.to_string());
        let filled = database.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(fill)));
        filled.await.expect("more resources");
        site.run(&["rows", "reseal", "--yes"]).success();
        there = count;
        for operation in ["protect RSA-2048", "hash SHA-256", "sign P-256"] {
            let request = instance.request(operation, KIB);
            table.add(count, operation, median_of_three(processes, &request, 16, SPAN));
        }
    }
    table
}

/// Each service has its own policy, API key and public key.
const FILL: &str = "
    INSERT INTO services (id, name, tier, created_at, updated_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, 'filled ' || n, 'standard', now(), now()
      FROM generate_series(FROM_HERE, TO_HERE) AS n;
    INSERT INTO policies (id, policy_number, name, destination_service_id, key_ownership, alg, enc,
                          status, failure_mode, allowed_operations, created_at, updated_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, 'FILLED-' || n, 'filled', lpad(to_hex(n), 32, '0')::uuid,
           'destination_managed', 'RSA-OAEP-256', 'A256GCM', 'active', 'error',
           ARRAY['protect', 'unprotect'], now(), now()
      FROM generate_series(FROM_HERE, TO_HERE) AS n;
    INSERT INTO api_keys (id, name, type, service_id, policy_id, digest, last_four, created_at, updated_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, 'filled', 'live', lpad(to_hex(n), 32, '0')::uuid,
           lpad(to_hex(n), 32, '0')::uuid, sha256(n::text::bytea), 'zzzz', now(), now()
      FROM generate_series(FROM_HERE, TO_HERE) AS n;
    INSERT INTO keys (id, service_id, name, usage, algorithm, origin, status, public_key, thumbprint,
                      activated_at, created_at, updated_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(n), 32, '0')::uuid, 'filled', 'enc', 'RSA-2048',
           'imported', 'active', (SELECT public_key FROM keys WHERE algorithm = 'RSA-2048' AND usage = 'enc' LIMIT 1),
           'filled ' || n, now(), now(), now()
      FROM generate_series(FROM_HERE, TO_HERE) AS n;
    ANALYZE";

pub(super) async fn audit() -> Table {
    let mut table = Table::new("Audit records of the current day", "Records");
    let site = Site::new().await;
    let baselines = Baselines::build(&site).await;
    let instance = Instance::start(&site).await;
    let processes = baselines.with(instance.process.id());
    let mut database = site.connect().await;
    let mut there = 0;
    for count in ROWS {
        let fill = LINES.replace("FROM_HERE", &(there + 1).to_string());
        let fill = fill.replace("TO_HERE", &count.to_string());
        database.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(fill))).await.expect("more rows");
        // The measurement does not include the writes of the new rows.
        database.execute("CHECKPOINT").await.expect("a checkpoint");
        there = count;
        for operation in ["protect RSA-2048", "hash SHA-256"] {
            let request = instance.request(operation, KIB);
            table.add(count, operation, median_of_three(processes, &request, 16, SPAN));
        }
    }
    table
}

/// Rows of today before now, in the form that the service writes.
const LINES: &str = "
    INSERT INTO crypto_operations_audit
        (id, ts, request_id, application_id, api_key_id, operation_type, endpoint, policy_number, key_id,
         payload_size_bytes, response_status, response_time_ms, client_address, outcome)
    SELECT (lpad(to_hex((extract(epoch FROM ts) * 1000)::int8), 12, '0') || substr(md5(n::text), 1, 20))::uuid,
           ts, 'req_' || substr(md5((n * 7)::text), 1, 26), lpad('1', 32, '0')::uuid, lpad('2', 32, '0')::uuid,
           'encrypt', '/api/v1/protect', 'POL-000001', lpad('3', 32, '0')::uuid, 1024, 200, 1.5,
           '127.0.0.1', 'done'
      FROM (SELECT n, date_trunc('milliseconds', date_trunc('day', now(), 'UTC')
                      + (now() - date_trunc('day', now(), 'UTC')) * (n::float8 / 10000001)) AS ts
              FROM generate_series(FROM_HERE, TO_HERE) AS n) AS rows";
