-- Requests that administrators can send again: the answer of the first one is kept for a day.

CREATE TABLE idempotent_calls (
    caller      uuid NOT NULL,
    path        text NOT NULL,
    key         text NOT NULL,
    fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    attempt     uuid NOT NULL,
    begun_at    timestamptz NOT NULL,
    resource_type text,
    answer      jsonb,
    PRIMARY KEY (caller, path, key),
    CONSTRAINT idempotent_calls_name_what_they_answer CHECK (
        (answer IS NULL) = (resource_type IS NULL)
    )
);

CREATE INDEX idempotent_calls_by_age ON idempotent_calls (begun_at);

COMMENT ON TABLE idempotent_calls IS 'Requests with an Idempotency-Key. The answer is written in the transaction of the change.';
COMMENT ON COLUMN idempotent_calls.caller IS 'The API key of the administrator.';
COMMENT ON COLUMN idempotent_calls.path IS 'The path of the request.';
COMMENT ON COLUMN idempotent_calls.key IS 'The Idempotency-Key.';
COMMENT ON COLUMN idempotent_calls.fingerprint IS 'An HMAC of the body. Its key is made of the credential, which is not in the database.';
COMMENT ON COLUMN idempotent_calls.attempt IS 'Identifies the request that may write the answer.';
COMMENT ON COLUMN idempotent_calls.begun_at IS 'When the request began.';
COMMENT ON COLUMN idempotent_calls.resource_type IS 'The type of the resource that the request created; null before.';
COMMENT ON COLUMN idempotent_calls.answer IS 'The resource as the answer showed it, without secrets; null before.';
