-- Sums of the audit records, so that charts and alerts do not scan them. What the service could not read, or not add up,
-- would stop its reports: so no number is more than 2^40, and a time is one of the calendar.

CREATE TABLE traffic_minutes (
    minute    timestamptz NOT NULL CHECK (minute >= '1970-01-01' AND minute < '9999-01-01'),
    -- As in crypto_operations_audit, whose records the login of the service writes.
    operation text NOT NULL CHECK (char_length(operation) <= 512),
    outcome   text NOT NULL CHECK (char_length(outcome) <= 512),
    bucket    smallint NOT NULL CHECK (bucket BETWEEN 0 AND 79),
    requests  bigint NOT NULL CHECK (requests BETWEEN 1 AND 1099511627776),
    PRIMARY KEY (minute, operation, outcome, bucket)
);

COMMENT ON TABLE traffic_minutes IS 'The requests of each minute by operation, result and response time. Kept for eight days.';
COMMENT ON COLUMN traffic_minutes.minute IS 'The beginning of the minute.';
COMMENT ON COLUMN traffic_minutes.operation IS 'The operation, as in crypto_operations_audit.';
COMMENT ON COLUMN traffic_minutes.outcome IS 'The error code; empty if the answer is no error.';
COMMENT ON COLUMN traffic_minutes.bucket IS 'The response time: bucket n begins at 0.05 ms times 2 to the power of n/4.';
COMMENT ON COLUMN traffic_minutes.requests IS 'The number of requests.';

CREATE TABLE service_minutes (
    minute         timestamptz NOT NULL CHECK (minute >= '1970-01-01' AND minute < '9999-01-01'),
    service_id uuid NOT NULL,
    requests       bigint NOT NULL CHECK (requests BETWEEN 1 AND 1099511627776),
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
    day               date NOT NULL CHECK (day >= '1970-01-01' AND day < '9999-01-01'),
    protections       bigint NOT NULL CHECK (protections BETWEEN 0 AND 1099511627776),
    openings          bigint NOT NULL CHECK (openings BETWEEN 0 AND 1099511627776),
    last_protected_at timestamptz,
    last_opened_at    timestamptz,
    PRIMARY KEY (key_id, day),
    CONSTRAINT key_use_days_have_uses CHECK (protections + openings > 0),
    CONSTRAINT key_use_days_date_their_uses CHECK (
        (protections > 0) = (last_protected_at IS NOT NULL) AND (openings > 0) = (last_opened_at IS NOT NULL)
    ),
    CONSTRAINT key_use_days_times_can_be_read CHECK (
        least(last_protected_at, last_opened_at) >= '1970-01-01'
        AND greatest(last_protected_at, last_opened_at) < '9999-01-01'
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
    day           date NOT NULL CHECK (day >= '1970-01-01' AND day < '9999-01-01'),
    service_id    uuid NOT NULL,
    policy_number text NOT NULL CHECK (char_length(policy_number) <= 512),
    openings      bigint NOT NULL CHECK (openings BETWEEN 1 AND 1099511627776),
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
    summed_up_to timestamptz CHECK (summed_up_to >= '1970-01-01' AND summed_up_to < '9999-01-01')
);

INSERT INTO traffic_progress DEFAULT VALUES;
REVOKE INSERT, DELETE ON traffic_progress FROM sealward_application;

COMMENT ON TABLE traffic_progress IS 'One row: the time up to which the audit records are summed. The instance that sums locks it.';
COMMENT ON COLUMN traffic_progress.sole IS 'Always true, so that there is one row.';
COMMENT ON COLUMN traffic_progress.summed_up_to IS 'Records before this time are in the sums; null before the first sum.';
