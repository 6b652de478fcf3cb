-- Sums of the audit records, so that charts and alerts do not scan them.

CREATE TABLE traffic_minutes (
    minute    timestamptz NOT NULL,
    -- As in crypto_operations_audit, whose records the login of the service writes.
    operation text NOT NULL CHECK (char_length(operation) <= 512),
    outcome   text NOT NULL CHECK (char_length(outcome) <= 512),
    bucket    smallint NOT NULL CHECK (bucket BETWEEN 0 AND 79),
    requests  bigint NOT NULL CHECK (requests > 0),
    PRIMARY KEY (minute, operation, outcome, bucket)
);

COMMENT ON TABLE traffic_minutes IS 'The requests of each minute by operation, result and response time. Kept for eight days.';
COMMENT ON COLUMN traffic_minutes.minute IS 'The beginning of the minute.';
COMMENT ON COLUMN traffic_minutes.operation IS 'The operation, as in crypto_operations_audit.';
COMMENT ON COLUMN traffic_minutes.outcome IS 'The error code; empty if the answer is no error.';
COMMENT ON COLUMN traffic_minutes.bucket IS 'The response time: bucket n begins at 0.05 ms times 2 to the power of n/4.';
COMMENT ON COLUMN traffic_minutes.requests IS 'The number of requests.';

CREATE TABLE service_minutes (
    minute         timestamptz NOT NULL,
    service_id uuid NOT NULL,
    requests       bigint NOT NULL CHECK (requests > 0),
    limited        bigint NOT NULL CHECK (limited BETWEEN 0 AND requests),
    PRIMARY KEY (minute, service_id)
);

COMMENT ON TABLE service_minutes IS 'The requests of each minute by service. Kept for eight days.';
COMMENT ON COLUMN service_minutes.minute IS 'The beginning of the minute.';
COMMENT ON COLUMN service_minutes.service_id IS 'The calling service.';
COMMENT ON COLUMN service_minutes.requests IS 'The number of requests.';
COMMENT ON COLUMN service_minutes.limited IS 'The number of requests that exceeded the rate limit.';

CREATE TABLE key_use_days (
    key_id            uuid NOT NULL,
    day               date NOT NULL,
    protections       bigint NOT NULL CHECK (protections >= 0),
    openings          bigint NOT NULL CHECK (openings >= 0),
    last_protected_at timestamptz,
    last_opened_at    timestamptz,
    PRIMARY KEY (key_id, day),
    CONSTRAINT key_use_days_have_uses CHECK (protections + openings > 0),
    CONSTRAINT key_use_days_date_their_uses CHECK (
        (protections > 0) = (last_protected_at IS NOT NULL) AND (openings > 0) = (last_opened_at IS NOT NULL)
    )
);

COMMENT ON TABLE key_use_days IS 'The uses of each key by day, which show whether a key can be deleted.';
COMMENT ON COLUMN key_use_days.key_id IS 'The key.';
COMMENT ON COLUMN key_use_days.day IS 'The day in UTC.';
COMMENT ON COLUMN key_use_days.protections IS 'The number of requests that protected, encrypted or signed with the key.';
COMMENT ON COLUMN key_use_days.openings IS 'The number of requests that opened, decrypted or verified with the key.';
COMMENT ON COLUMN key_use_days.last_protected_at IS 'The time of the last of the former; null for none.';
COMMENT ON COLUMN key_use_days.last_opened_at IS 'The time of the last of the latter; null for none.';

CREATE TABLE key_opening_days (
    key_id        uuid NOT NULL,
    day           date NOT NULL,
    service_id    uuid NOT NULL,
    policy_number text NOT NULL CHECK (char_length(policy_number) <= 512),
    openings      bigint NOT NULL CHECK (openings > 0),
    rewraps       bigint NOT NULL CHECK (rewraps BETWEEN 0 AND openings),
    PRIMARY KEY (key_id, day, service_id, policy_number)
);

COMMENT ON TABLE key_opening_days IS 'What each service opened with each key by day, which shows what still depends on a key. Kept for 31 days.';
COMMENT ON COLUMN key_opening_days.key_id IS 'The key.';
COMMENT ON COLUMN key_opening_days.day IS 'The day in UTC.';
COMMENT ON COLUMN key_opening_days.service_id IS 'The calling service.';
COMMENT ON COLUMN key_opening_days.policy_number IS 'The number of the policy at the time; empty for none.';
COMMENT ON COLUMN key_opening_days.openings IS 'The number of requests that opened, decrypted or verified with the key.';
COMMENT ON COLUMN key_opening_days.rewraps IS 'The number of those that made a new envelope or ciphertext in the same request.';

CREATE TABLE traffic_progress (
    sole         boolean PRIMARY KEY DEFAULT true CHECK (sole),
    summed_up_to timestamptz
);

INSERT INTO traffic_progress DEFAULT VALUES;
REVOKE INSERT, DELETE ON traffic_progress FROM sealward_application;

COMMENT ON TABLE traffic_progress IS 'One row: the time up to which the audit records are summed. The instance that sums locks it.';
COMMENT ON COLUMN traffic_progress.sole IS 'Always true, so that there is one row.';
COMMENT ON COLUMN traffic_progress.summed_up_to IS 'Records before this time are in the sums; null before the first sum.';
