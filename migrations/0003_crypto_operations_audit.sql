-- The trail of what was asked of the runtime API. Postgres keeps it in a partition for each day (UTC):
-- the day being written carries its primary key alone, a closed day every index that queries want.
CREATE TABLE crypto_operations_audit (
    id                 uuid NOT NULL,
    ts                 timestamptz NOT NULL,
    request_id         text NOT NULL,
    application_id     uuid,
    api_key_id         uuid,
    operation_type     text CHECK (operation_type IN ('encrypt', 'decrypt', 'sign', 'verify', 'hash')),
    endpoint           text,
    policy_number      text,
    key_id             uuid,
    payload_size_bytes bigint NOT NULL CHECK (payload_size_bytes >= 0),
    response_status    smallint NOT NULL,
    response_time_ms   real NOT NULL,
    error_code         text,
    error_message      text,
    client_address     inet,
    PRIMARY KEY (ts, id)
) PARTITION BY RANGE (ts);

COMMENT ON TABLE crypto_operations_audit IS 'One row for each answer decided by the runtime API, written before it leaves. Without foreign keys: a record outlives what it names.';
COMMENT ON COLUMN crypto_operations_audit.id IS 'The UUID inside the TypeID rec_…; its first 48 bits are ts, so that an id alone says where to go on reading.';
COMMENT ON COLUMN crypto_operations_audit.ts IS 'When the record was handed over, in whole milliseconds. A retry writes the same ts and id, so nothing is recorded twice.';
COMMENT ON COLUMN crypto_operations_audit.request_id IS 'The client''s name for its request, else one of ours. Need not be unique.';
COMMENT ON COLUMN crypto_operations_audit.application_id IS 'The calling service; null for a caller that is none, or that was not authenticated.';
COMMENT ON COLUMN crypto_operations_audit.api_key_id IS 'The API key it called with; null when not authenticated.';
COMMENT ON COLUMN crypto_operations_audit.operation_type IS 'encrypt, decrypt, sign, verify or hash; null where a request without authentication did not say.';
COMMENT ON COLUMN crypto_operations_audit.endpoint IS 'The path that was called; null in a count of requests without authentication.';
COMMENT ON COLUMN crypto_operations_audit.policy_number IS 'The policy it was decided under, by its number at the time.';
COMMENT ON COLUMN crypto_operations_audit.key_id IS 'The key that was used.';
COMMENT ON COLUMN crypto_operations_audit.payload_size_bytes IS 'Bytes of the payload as sent.';
COMMENT ON COLUMN crypto_operations_audit.response_status IS 'The HTTP status of the answer decided; not a proof that it was delivered.';
COMMENT ON COLUMN crypto_operations_audit.response_time_ms IS 'Milliseconds from the request''s arrival until the record was handed over.';
COMMENT ON COLUMN crypto_operations_audit.error_code IS 'The code of the answer, when it was an error.';
COMMENT ON COLUMN crypto_operations_audit.error_message IS 'What was wrong, in words, when the answer was an error.';
COMMENT ON COLUMN crypto_operations_audit.client_address IS 'Where the request came from.';

-- Made aside and attached: unlike CREATE TABLE … PARTITION OF, that lets inserts into other days go on.
CREATE FUNCTION make_audit_day(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    part text := 'crypto_operations_audit_' || to_char(day, 'YYYYMMDD');
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('crypto_operations_audit'));
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE crypto_operations_audit INCLUDING ALL)', part);
    EXECUTE format(
        'ALTER TABLE crypto_operations_audit ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        part, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC'
    );
END
$$;

COMMENT ON FUNCTION make_audit_day(date) IS 'Makes the partition of a day, unless it is there.';

CREATE FUNCTION close_audit_days(before date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    part text;
BEGIN
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'crypto_operations_audit'::regclass
          AND c.relname < 'crypto_operations_audit_' || to_char(before, 'YYYYMMDD')
          AND to_regclass(c.relname || '_request') IS NULL
        ORDER BY c.relname
    LOOP
        PERFORM pg_advisory_xact_lock(hashtext('crypto_operations_audit'));
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (application_id, ts, id)', part || '_application', part);
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (operation_type, ts, id)', part || '_operation', part);
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (response_status, ts, id)', part || '_status', part);
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (policy_number, ts, id)', part || '_policy', part);
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (key_id, ts, id)', part || '_key', part);
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (request_id, ts, id)', part || '_request', part);
    END LOOP;
END
$$;

COMMENT ON FUNCTION close_audit_days(date) IS 'Gives every day before the one named the indexes that queries want, unless it has them.';
