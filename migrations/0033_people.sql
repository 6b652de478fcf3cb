-- People sign in to the dashboard with OpenID Connect.
CREATE TABLE people (
    id         uuid PRIMARY KEY,
    issuer     text NOT NULL CHECK (issuer <> ''),
    subject    text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 128),
    name       text NOT NULL CHECK (name <> ''),
    roles      text[] NOT NULL,
    issued_at  timestamptz NOT NULL,
    CONSTRAINT people_are_unique UNIQUE (issuer, subject),
    CONSTRAINT people_roles_are_known CHECK (
        roles <@ ARRAY['owner', 'custodian', 'policy-admin', 'auditor']
    )
);

COMMENT ON TABLE people IS 'People who signed in with OpenID Connect.';
COMMENT ON COLUMN people.id IS 'The UUID of the TypeID per_….';
COMMENT ON COLUMN people.issuer IS 'The issuer of their ID tokens.';
COMMENT ON COLUMN people.subject IS 'The subject of their ID tokens.';
COMMENT ON COLUMN people.name IS 'Their name in the last token.';
COMMENT ON COLUMN people.roles IS 'Their roles by the groups in the last token; empty if no group has a role.';
COMMENT ON COLUMN people.issued_at IS 'When the last token was issued. An older token changes no roles.';

-- The service never deletes a person.
REVOKE DELETE ON people FROM sealward_application;

ALTER TABLE dashboard_sessions
    ALTER COLUMN api_key_id DROP NOT NULL,
    ADD COLUMN person_id uuid REFERENCES people (id),
    ADD CONSTRAINT dashboard_sessions_have_one_administrator CHECK (
        num_nonnulls(api_key_id, person_id) = 1
    );

COMMENT ON COLUMN dashboard_sessions.api_key_id IS 'The admin key that signed in; null for a person. The session is valid as long as the key is.';
COMMENT ON COLUMN dashboard_sessions.person_id IS 'The person who signed in; null for an admin key. The session is valid as long as the person has roles.';

ALTER TABLE changes
    ADD COLUMN proposer_id uuid REFERENCES people (id);

ALTER TABLE changes RENAME COLUMN approver_keys TO approver_ids;

COMMENT ON COLUMN changes.proposer_id IS 'The person who signed in and proposed the change; null for an API key.';
COMMENT ON COLUMN changes.approver_ids IS 'The API keys or the people of the approvers, in the order of the approvals.';

ALTER TABLE management_events
    ADD COLUMN person_issuer text,
    ADD COLUMN person_subject text,
    ADD CONSTRAINT management_events_people_have_issuers CHECK (
        num_nonnulls(person_issuer, person_subject) IN (0, 2)
    ) NOT VALID;

COMMENT ON COLUMN management_events.person_issuer IS 'The issuer of the person who signed in; null for other callers.';
COMMENT ON COLUMN management_events.person_subject IS 'The subject of that person; null for other callers.';
