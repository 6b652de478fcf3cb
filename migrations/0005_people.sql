-- People who authenticate with OpenID Connect, and sessions of the dashboard.

CREATE TABLE people (
    id              uuid PRIMARY KEY,
    issuer          text NOT NULL CHECK (issuer <> ''),
    subject         text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 128),
    name            text NOT NULL CHECK (name <> ''),
    roles           text[] NOT NULL,
    issued_at       timestamptz,
    is_confirmed    boolean NOT NULL,
    by_id_token     boolean NOT NULL,
    by_access_token boolean NOT NULL,
    revision        bigint NOT NULL CHECK (revision > 0),
    seal            bytea,
    CONSTRAINT people_are_unique UNIQUE (issuer, subject),
    CONSTRAINT people_roles_are_known CHECK (
        roles <@ ARRAY['owner', 'custodian', 'policy-admin', 'auditor']
    ),
    CONSTRAINT people_are_known_by_a_token CHECK (by_id_token OR by_access_token)
);

-- The service never deletes a person.
REVOKE DELETE ON people FROM sealward_application;

COMMENT ON TABLE people IS 'People who authenticated with OpenID Connect.';
COMMENT ON COLUMN people.id IS 'The UUID of the TypeID per_….';
COMMENT ON COLUMN people.issuer IS 'The issuer of their tokens.';
COMMENT ON COLUMN people.subject IS 'The subject of their tokens. Providers can give one person several subjects: one in ID tokens and others in access tokens.';
COMMENT ON COLUMN people.name IS 'The name in the last token.';
COMMENT ON COLUMN people.roles IS 'The roles by the groups in the last token; empty if no group has a role.';
COMMENT ON COLUMN people.issued_at IS 'The time at which the last token was issued; null if no token said so. An older token changes no roles.';
COMMENT ON COLUMN people.is_confirmed IS 'Whether the subject is that of their ID tokens. Access tokens with another subject identify no person in approvals.';
COMMENT ON COLUMN people.by_id_token IS 'Whether an ID token had this subject: the person signed in to the dashboard.';
COMMENT ON COLUMN people.by_access_token IS 'Whether an access token for the management API had this subject.';
COMMENT ON COLUMN people.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN people.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE dashboard_sessions (
    id         uuid PRIMARY KEY,
    digest     bytea NOT NULL CHECK (octet_length(digest) = 32),
    api_key_id uuid REFERENCES api_keys (id),
    person_id  uuid REFERENCES people (id),
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL DEFAULT '-infinity',
    revision   bigint NOT NULL CHECK (revision > 0),
    seal       bytea,
    CONSTRAINT dashboard_sessions_digest_is_unique UNIQUE (digest),
    CONSTRAINT dashboard_sessions_have_one_administrator CHECK (num_nonnulls(api_key_id, person_id) = 1)
);

CREATE INDEX dashboard_sessions_by_last_sight ON dashboard_sessions (seen_at);

COMMENT ON TABLE dashboard_sessions IS 'Sessions of the dashboard. A later sign-in deletes those that have ended.';
COMMENT ON COLUMN dashboard_sessions.id IS 'The first 16 bytes of the digest.';
COMMENT ON COLUMN dashboard_sessions.digest IS 'SHA-256 of the secret in the cookie, which has 256 random bits and needs no salt.';
COMMENT ON COLUMN dashboard_sessions.api_key_id IS 'The admin key that signed in; null for a person. The session is valid as long as the key is.';
COMMENT ON COLUMN dashboard_sessions.person_id IS 'The person who signed in; null for an admin key. The session is valid as long as the person has roles.';
COMMENT ON COLUMN dashboard_sessions.started_at IS 'The time of the sign-in. The session ends 12 hours later.';
COMMENT ON COLUMN dashboard_sessions.seen_at IS 'The time of the last request. The session ends 15 minutes later.';
COMMENT ON COLUMN dashboard_sessions.revision IS 'Always 1: a session never changes.';
COMMENT ON COLUMN dashboard_sessions.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE finished_sign_ins (
    state_digest bytea PRIMARY KEY CHECK (octet_length(state_digest) = 32),
    finished_at  timestamptz NOT NULL
);

CREATE INDEX finished_sign_ins_by_time ON finished_sign_ins (finished_at);

COMMENT ON TABLE finished_sign_ins IS 'Sign-ins with OpenID Connect for which a code was exchanged, so that none is exchanged again. A later sign-in deletes old rows.';
COMMENT ON COLUMN finished_sign_ins.state_digest IS 'SHA-256 of the state parameter.';
COMMENT ON COLUMN finished_sign_ins.finished_at IS 'The time of the exchange.';
