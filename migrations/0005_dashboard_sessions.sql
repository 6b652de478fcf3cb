-- Administrators who are signed in to the dashboard.

CREATE TABLE dashboard_sessions (
    digest     bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    api_key_id uuid NOT NULL REFERENCES api_keys (id),
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL
);

CREATE INDEX dashboard_sessions_by_last_sight ON dashboard_sessions (seen_at);

COMMENT ON TABLE dashboard_sessions IS 'Sessions of the dashboard. A row that is too old is as good as none, and is swept away at a later sign-in.';
COMMENT ON COLUMN dashboard_sessions.digest IS 'SHA-256 of the secret in the browser''s cookie, which has 256 random bits and needs no salt.';
COMMENT ON COLUMN dashboard_sessions.api_key_id IS 'The admin key that signed in. The session is good for as long as the key is.';
COMMENT ON COLUMN dashboard_sessions.started_at IS 'When it began; it ends 12 hours later whatever happens.';
COMMENT ON COLUMN dashboard_sessions.seen_at IS 'When its browser last asked for something; 15 minutes later it ends.';
