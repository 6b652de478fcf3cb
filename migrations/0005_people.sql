-- People who authenticate with OpenID Connect, and sessions of the dashboard.

CREATE TABLE people (
    id              uuid PRIMARY KEY,
    issuer          text CHECK (octet_length(issuer) BETWEEN 1 AND 4096),
    subject         text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 128),
    name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 500),
    roles           text[] NOT NULL,
    locked_at       timestamptz,
    locked_by       text CHECK (char_length(locked_by) BETWEEN 1 AND 500),
    lock_reason     text CHECK (char_length(lock_reason) BETWEEN 1 AND 500),
    tokens_from     timestamptz,
    issued_at       timestamptz,
    is_confirmed    boolean NOT NULL,
    by_id_token     boolean NOT NULL,
    by_access_token boolean NOT NULL,
    last_seen_at    timestamptz,
    revision        bigint NOT NULL CHECK (revision > 0),
    seal            bytea CHECK (octet_length(seal) <= 64),
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    CONSTRAINT people_are_unique UNIQUE NULLS NOT DISTINCT (issuer, subject),
    CONSTRAINT people_roles_are_known CHECK (
        roles <@ ARRAY['owner', 'custodian', 'policy-admin', 'auditor'] AND cardinality(roles) <= 1000
    ),
    CONSTRAINT people_locks_have_times CHECK (
        locked_at IS NOT NULL OR num_nonnulls(locked_by, lock_reason) = 0
    ),
    CONSTRAINT people_times_can_be_read CHECK (
        least(locked_at, tokens_from, issued_at, last_seen_at, created_at, updated_at) >= '1970-01-01'
        AND greatest(locked_at, tokens_from, issued_at, last_seen_at, created_at, updated_at) < '9999-01-01'
    )
);

CREATE INDEX people_by_subject ON people (subject);

-- The service never deletes a person.
REVOKE DELETE ON people FROM sealward_application;

COMMENT ON TABLE people IS 'People who authenticated with OpenID Connect, whom an admin key names, or who were locked before.';
COMMENT ON COLUMN people.id IS 'The UUID of the TypeID per_….';
COMMENT ON COLUMN people.issuer IS 'The issuer of their tokens; null for a person of admin keys without OpenID Connect.';
COMMENT ON COLUMN people.subject IS 'The subject of their tokens, and the person of their admin keys. Providers can give one person several subjects: one in ID tokens and others in access tokens.';
COMMENT ON COLUMN people.name IS 'The name in the last token; the subject before.';
COMMENT ON COLUMN people.roles IS 'The roles by the groups in the last token; empty if no group has a role.';
COMMENT ON COLUMN people.locked_at IS 'The time of the lock; null if the person is not locked. An entry locked of the table revisions also locks the person.';
COMMENT ON COLUMN people.locked_by IS 'The name of the administrator who locked the person; null if the person is not locked.';
COMMENT ON COLUMN people.lock_reason IS 'The reason of the lock; null if the person is not locked.';
COMMENT ON COLUMN people.tokens_from IS 'The time of the last lock that has ended, before which no access token was issued that is accepted; null without one.';
COMMENT ON COLUMN people.issued_at IS 'The time at which the last token was issued; null if no token said so. An older token changes no roles.';
COMMENT ON COLUMN people.is_confirmed IS 'Whether the subject is that of their ID tokens. Access tokens with another subject identify no person in approvals.';
COMMENT ON COLUMN people.by_id_token IS 'Whether an ID token had this subject: the person signed in to the dashboard.';
COMMENT ON COLUMN people.by_access_token IS 'Whether an access token for the management API had this subject.';
COMMENT ON COLUMN people.last_seen_at IS 'The time of the last token; null before the first.';
COMMENT ON COLUMN people.revision IS 'Grows by one with each change; the ETag.';
COMMENT ON COLUMN people.seal IS 'The MAC of the row under the row key; a row without one does not count.';
COMMENT ON COLUMN people.created_at IS 'The creation time.';
COMMENT ON COLUMN people.updated_at IS 'The time of the last change.';

CREATE TABLE dashboard_sessions (
    id          uuid PRIMARY KEY,
    digest      bytea NOT NULL CHECK (octet_length(digest) = 32),
    api_key_id  uuid REFERENCES api_keys (id),
    person_id   uuid REFERENCES people (id),
    at_provider text CHECK (octet_length(at_provider) <= 16384),
    checked_at  timestamptz NOT NULL,
    started_at  timestamptz NOT NULL,
    seen_at     timestamptz NOT NULL DEFAULT '2000-01-01',
    revision    bigint NOT NULL CHECK (revision > 0),
    seal        bytea CHECK (octet_length(seal) <= 64),
    CONSTRAINT dashboard_sessions_of_keys_have_no_provider CHECK (api_key_id IS NULL OR at_provider IS NULL),
    CONSTRAINT dashboard_sessions_digest_is_unique UNIQUE (digest),
    CONSTRAINT dashboard_sessions_have_one_administrator CHECK (num_nonnulls(api_key_id, person_id) = 1),
    CONSTRAINT dashboard_sessions_times_can_be_read CHECK (
        least(checked_at, started_at, seen_at) >= '1970-01-01'
        AND greatest(checked_at, started_at, seen_at) < '9999-01-01'
    )
);

CREATE INDEX dashboard_sessions_by_last_sight ON dashboard_sessions (seen_at);

COMMENT ON TABLE dashboard_sessions IS 'Sessions of the dashboard. A later sign-in deletes those that have ended.';
COMMENT ON COLUMN dashboard_sessions.id IS 'The first 16 bytes of the digest.';
COMMENT ON COLUMN dashboard_sessions.digest IS 'SHA-256 of the secret in the cookie, which has 256 random bits and needs no salt.';
COMMENT ON COLUMN dashboard_sessions.api_key_id IS 'The admin key that signed in; null for a person. The session is valid as long as the key is.';
COMMENT ON COLUMN dashboard_sessions.person_id IS 'The person who signed in; null for an admin key. The session is valid as long as the person has roles and is not locked.';
COMMENT ON COLUMN dashboard_sessions.at_provider IS 'The session of the person at the provider, which a logout can name; null if the ID token named none.';
COMMENT ON COLUMN dashboard_sessions.checked_at IS 'The time at which the provider confirmed the person, or of the sign-in with an admin key.';
COMMENT ON COLUMN dashboard_sessions.started_at IS 'The time of the sign-in. The session ends 12 hours later.';
COMMENT ON COLUMN dashboard_sessions.seen_at IS 'The time of the last request. The session ends 15 minutes later.';
COMMENT ON COLUMN dashboard_sessions.revision IS 'Always 1: a session never changes.';
COMMENT ON COLUMN dashboard_sessions.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE finished_sign_ins (
    state_digest bytea PRIMARY KEY CHECK (octet_length(state_digest) = 32),
    finished_at  timestamptz NOT NULL CHECK (finished_at >= '1970-01-01' AND finished_at < '9999-01-01')
);

CREATE INDEX finished_sign_ins_by_time ON finished_sign_ins (finished_at);

COMMENT ON TABLE finished_sign_ins IS 'Sign-ins with OpenID Connect for which a code was exchanged, so that none is exchanged again. A later sign-in deletes old rows.';
COMMENT ON COLUMN finished_sign_ins.state_digest IS 'SHA-256 of the state parameter.';
COMMENT ON COLUMN finished_sign_ins.finished_at IS 'The time of the exchange.';

CREATE TABLE finished_logouts (
    token_digest bytea PRIMARY KEY CHECK (octet_length(token_digest) = 32),
    finished_at  timestamptz NOT NULL CHECK (finished_at >= '1970-01-01' AND finished_at < '9999-01-01')
);

CREATE INDEX finished_logouts_by_time ON finished_logouts (finished_at);

COMMENT ON TABLE finished_logouts IS 'Logouts by the provider, so that the token of each counts once. A later logout deletes old rows.';
COMMENT ON COLUMN finished_logouts.token_digest IS 'SHA-256 of the identifier of the token.';
COMMENT ON COLUMN finished_logouts.finished_at IS 'The time of the logout.';
