-- The audit records of the runtime API, in one partition for each day (UTC). `sealward_application` can add and
-- read them. Each index costs each request microseconds, so the day being written has only those that its
-- queries need. The other indexes are created when the day is closed.

CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Columns of fixed length come first, so that a row has no padding.
-- The lengths of the texts bound the leaf of a record in its Merkle log: a longer record could not be sealed, and its day
-- not be retired. Indexes of closed days and sums have some of them, which must fit. A type is checked without cost;
-- Postgres would parse the text of a CHECK in each statement.
CREATE TABLE crypto_operations_audit (
    id                 uuid NOT NULL,
    ts                 timestamptz NOT NULL,
    payload_size_bytes bigint NOT NULL CHECK (payload_size_bytes >= 0),
    response_time_ms   real NOT NULL,
    response_status    smallint NOT NULL,
    item               smallint,
    application_id     uuid,
    api_key_id         uuid,
    identity_id        uuid,
    key_id             uuid,
    request_id         varchar(512) NOT NULL,
    operation_type     text CHECK (operation_type IN ('encrypt', 'decrypt', 'sign', 'verify', 'hash')),
    endpoint           varchar(512),
    policy_number      varchar(512),
    ctx                varchar(512),
    outcome            varchar(512) NOT NULL,
    error_code         varchar(512),
    error_message      varchar(512),
    token_subject      varchar(512),
    client_address     inet,
    PRIMARY KEY (ts, id),
    -- The service looks for a record by both. A second row with the same identifier and another time could take
    -- its place in the Merkle log and hide records from lists.
    CONSTRAINT crypto_operations_audit_id_has_time CHECK (
        substr(uuid_send(id), 1, 6) = substr(int8send(round(date_part('epoch', ts) * 1000)::bigint), 3)
        AND ts = date_trunc('milliseconds', ts)
    )
) PARTITION BY RANGE (ts);

CREATE INDEX crypto_operations_audit_by_request ON crypto_operations_audit (request_id, ts, id);

-- Bloom filters of the values of a few pages: they cost nearly no WAL. A column with more values in so few pages has
-- more false positives.
CREATE INDEX crypto_operations_audit_by_value ON crypto_operations_audit USING brin (
    application_id uuid_bloom_ops (n_distinct_per_range = 256),
    operation_type text_bloom_ops (n_distinct_per_range = 16),
    response_status int2_bloom_ops (n_distinct_per_range = 32),
    policy_number text_bloom_ops (n_distinct_per_range = 256),
    key_id uuid_bloom_ops (n_distinct_per_range = 256)
) WITH (pages_per_range = 32, autosummarize = on);

REVOKE UPDATE, DELETE ON crypto_operations_audit FROM sealward_application;

COMMENT ON TABLE crypto_operations_audit IS 'One row for each answer of the runtime API, committed before the answer is sent. There are no foreign keys, because a record outlives the rows that it refers to.';
COMMENT ON COLUMN crypto_operations_audit.id IS 'The UUID of the TypeID rec_…. Its first 48 bits are ts, so that lists can continue after an ID.';
COMMENT ON COLUMN crypto_operations_audit.ts IS 'The time at which the record was complete, in whole milliseconds. A repeated insert has the same ts and id, so that no record is stored twice.';
COMMENT ON COLUMN crypto_operations_audit.payload_size_bytes IS 'The size of the payload as sent.';
COMMENT ON COLUMN crypto_operations_audit.response_time_ms IS 'The milliseconds from the arrival of the request to the complete record.';
COMMENT ON COLUMN crypto_operations_audit.response_status IS 'The HTTP status of the answer. It does not prove that the client received the answer.';
COMMENT ON COLUMN crypto_operations_audit.item IS 'The position in a batch, from 0; null for other requests.';
COMMENT ON COLUMN crypto_operations_audit.application_id IS 'The calling service; null for administrators and unauthenticated requests.';
COMMENT ON COLUMN crypto_operations_audit.api_key_id IS 'The API key; null for identities and unauthenticated requests.';
COMMENT ON COLUMN crypto_operations_audit.identity_id IS 'The workload identity; null for API keys and unauthenticated requests.';
COMMENT ON COLUMN crypto_operations_audit.key_id IS 'The key that the operation used or selected; null for none.';
COMMENT ON COLUMN crypto_operations_audit.request_id IS 'The request ID of the client, or else one of Sealward. It need not be unique.';
COMMENT ON COLUMN crypto_operations_audit.operation_type IS 'The operation; null for an unauthenticated request that did not state it.';
COMMENT ON COLUMN crypto_operations_audit.endpoint IS 'The path; null for a row that counts unauthenticated requests.';
COMMENT ON COLUMN crypto_operations_audit.policy_number IS 'The number of the policy at the time; null for none.';
COMMENT ON COLUMN crypto_operations_audit.ctx IS 'The ctx of the envelope: a MAC of its context. The context itself is not recorded.';
COMMENT ON COLUMN crypto_operations_audit.outcome IS 'The outcome: done, passed_through, dropped, failed or refused.';
COMMENT ON COLUMN crypto_operations_audit.error_code IS 'The error code of the answer; null if it is no error.';
COMMENT ON COLUMN crypto_operations_audit.error_message IS 'The message of the error; null if the answer is no error.';
COMMENT ON COLUMN crypto_operations_audit.token_subject IS 'The first 256 characters of the subject of the token or of the SPIFFE ID, or the SHA-256 of the certificate; null for API keys.';
COMMENT ON COLUMN crypto_operations_audit.client_address IS 'The address of the client.';
COMMENT ON INDEX crypto_operations_audit_by_value IS 'Finds the pages of an open day that can have rare values. A GIN index of the same columns replaces it when the day is closed.';

CREATE TABLE audit_retention (
    is_only      boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    minimum_days integer NOT NULL CHECK (minimum_days BETWEEN 1 AND 36500)
);

INSERT INTO audit_retention (minimum_days) VALUES (90);

-- Only the owner can change it: the login that retires days must not be able to retire recent ones.
REVOKE INSERT, UPDATE, DELETE ON audit_retention FROM sealward_application;
GRANT SELECT ON audit_retention TO sealward_retention;

COMMENT ON TABLE audit_retention IS 'One row: the minimum retention of audit records.';
COMMENT ON COLUMN audit_retention.is_only IS 'Always true, so that there is one row.';
COMMENT ON COLUMN audit_retention.minimum_days IS 'The number of whole days that detach_audit_day and drop_audit_day keep.';
