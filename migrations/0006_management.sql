-- The management log, changes that need approval, and requests that administrators can repeat.

CREATE TABLE management_events (
    id             uuid PRIMARY KEY,
    at             timestamptz NOT NULL,
    api_key_id     uuid REFERENCES api_keys (id),
    person_issuer  text,
    person_subject text,
    actor          text NOT NULL CHECK (actor <> ''),
    action         text NOT NULL CHECK (action <> ''),
    resource_type  text NOT NULL CHECK (resource_type <> ''),
    resource_id    uuid,
    before         jsonb,
    after          jsonb,
    change_id      uuid,
    approved_by    text[],
    read_digest    bytea CHECK (octet_length(read_digest) = 32),
    client_address inet,
    request_id     text,
    CONSTRAINT management_events_people_have_issuers CHECK (
        num_nonnulls(person_issuer, person_subject) IN (0, 2)
    ),
    -- What the service cannot read would hide the other events of a list.
    CONSTRAINT management_events_can_be_read CHECK (
        at >= '2000-01-01 00:00:00+00' AND at < '9999-01-01 00:00:00+00'
        -- The segments of later records have names after this.
        AND id < 'ffffffff-ffff-ffff-ffff-fffe00000000'
        AND array_position(approved_by, NULL) IS NULL
        AND coalesce(array_ndims(approved_by), 1) = 1 AND coalesce(array_lower(approved_by, 1), 1) = 1
        AND NOT jsonb_path_exists(jsonb_build_array(before, after), '$.**{100 to last}')
        AND NOT jsonb_path_exists(
            jsonb_build_array(before, after),
            '$.** ? (@.type() == "number" && (@ > 1.7e308 || @ < -1.7e308))'
        )
        -- A leaf of the Merkle log has at most 65,535 bytes, and JSON writes a character as six at most. Hashes replace
        -- long states.
        AND char_length(concat(
                person_issuer, person_subject, actor, action, resource_type, approved_by, request_id
            )) <= 10000
        -- Instances read many events at once.
        AND octet_length(before::text) <= 524288 AND octet_length(after::text) <= 524288
    )
);

CREATE INDEX management_events_by_resource ON management_events (resource_id, id);
CREATE UNIQUE INDEX management_events_read_digest ON management_events (read_digest)
    WHERE read_digest IS NOT NULL;

-- The service only adds events.
REVOKE UPDATE, DELETE ON management_events FROM sealward_application;

COMMENT ON TABLE management_events IS 'Changes by administrators, written in the transaction of the change, and security events.';
COMMENT ON COLUMN management_events.id IS 'The UUID of the TypeID evt_…, ordered by time.';
COMMENT ON COLUMN management_events.at IS 'The time.';
COMMENT ON COLUMN management_events.api_key_id IS 'The admin key; null for other actors.';
COMMENT ON COLUMN management_events.person_issuer IS 'The issuer of the person; null for other actors.';
COMMENT ON COLUMN management_events.person_subject IS 'The subject of the person; null for other actors.';
COMMENT ON COLUMN management_events.actor IS 'The name of the admin key or the person at the time, the command line, or the job.';
COMMENT ON COLUMN management_events.action IS 'The change, or the kind of the security event.';
COMMENT ON COLUMN management_events.resource_type IS 'The type of the resource, or the part of the service that a security event concerns.';
COMMENT ON COLUMN management_events.resource_id IS 'The resource; null for security events without one.';
COMMENT ON COLUMN management_events.before IS 'The resource before the change, without secrets; null if it was created.';
COMMENT ON COLUMN management_events.after IS 'The resource after the change, without secrets; null if it was deleted. Of a security event: its details.';
COMMENT ON COLUMN management_events.change_id IS 'The approved change that made this change; null if it needed no approval.';
COMMENT ON COLUMN management_events.approved_by IS 'The people who approved it; null if it needed no approval.';
COMMENT ON COLUMN management_events.read_digest IS 'Of a read of an audit log: a MAC of its API key, hour and filter, so that all instances together record the read once. Null for other events.';
COMMENT ON COLUMN management_events.client_address IS 'The address of the client; null for the command line and jobs.';
COMMENT ON COLUMN management_events.request_id IS 'The request ID; null for the command line and jobs.';

CREATE TABLE changes (
    id              uuid PRIMARY KEY,
    kinds           text[] NOT NULL CHECK (
        cardinality(kinds) BETWEEN 1 AND 100 AND octet_length(array_to_string(kinds, '')) <= 4096
    ),
    summary         text NOT NULL CHECK (char_length(summary) BETWEEN 1 AND 500),
    resource_type   text NOT NULL CHECK (char_length(resource_type) BETWEEN 1 AND 100),
    resource_id     uuid,
    target_id       uuid,
    target_revision bigint CHECK (target_revision >= 0),
    -- As in management_events.
    before          jsonb CHECK (octet_length(before::text) <= 524288),
    after           jsonb CHECK (octet_length(after::text) <= 524288),
    -- The body of the request as a string. Without spaces it is shorter, also if each character is escaped.
    call            jsonb NOT NULL CHECK (octet_length(call::text) <= 1048576),
    proposer_key    uuid REFERENCES api_keys (id),
    proposer_id     uuid REFERENCES people (id),
    proposer_person text CHECK (char_length(proposer_person) BETWEEN 1 AND 128),
    proposer_name   text NOT NULL CHECK (char_length(proposer_name) BETWEEN 1 AND 500),
    proposed_at     timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    status          text NOT NULL CHECK (
        status IN ('pending', 'applied', 'rejected', 'withdrawn', 'stale')
    ),
    required        integer NOT NULL CHECK (required > 0),
    approvals       jsonb NOT NULL DEFAULT '[]' CHECK (octet_length(approvals::text) <= 131072),
    approver_ids    uuid[] NOT NULL DEFAULT '{}' CHECK (cardinality(approver_ids) <= 100),
    rejection       jsonb CHECK (octet_length(rejection::text) <= 16384),
    revision        bigint NOT NULL CHECK (revision > 0),
    seal            bytea CHECK (octet_length(seal) <= 64),
    CONSTRAINT changes_target_has_revision CHECK ((target_id IS NULL) = (target_revision IS NULL)),
    CONSTRAINT changes_applied_name_their_resource CHECK (
        (status = 'applied') = (resource_id IS NOT NULL)
    ),
    CONSTRAINT changes_applied_are_approved CHECK (
        status <> 'applied' OR jsonb_array_length(approvals) >= required
    ),
    CONSTRAINT changes_approvals_name_their_approvers CHECK (
        jsonb_array_length(approvals) = cardinality(approver_ids)
    ),
    CONSTRAINT changes_times_can_be_read CHECK (
        least(proposed_at, expires_at) >= '1970-01-01' AND greatest(proposed_at, expires_at) < '9999-01-01'
    )
);

CREATE INDEX changes_pending ON changes (target_id) WHERE status = 'pending';

-- The service never deletes a change.
REVOKE DELETE ON changes FROM sealward_application;

COMMENT ON TABLE changes IS 'Changes that need the approval of other people.';
COMMENT ON COLUMN changes.id IS 'The UUID of the TypeID chg_….';
COMMENT ON COLUMN changes.kinds IS 'The kinds of the change that need approval.';
COMMENT ON COLUMN changes.summary IS 'The change in one sentence.';
COMMENT ON COLUMN changes.resource_type IS 'The type of the resource.';
COMMENT ON COLUMN changes.resource_id IS 'The changed or created resource; null until the change is applied.';
COMMENT ON COLUMN changes.target_id IS 'The resource to change; null for a new one.';
COMMENT ON COLUMN changes.target_revision IS 'Its revision at the proposal; null for a new one. Another revision makes the change stale.';
COMMENT ON COLUMN changes.before IS 'The resource before the change, without secrets; null for a new one.';
COMMENT ON COLUMN changes.after IS 'The resource after the change, or the request for a key, without secrets.';
COMMENT ON COLUMN changes.call IS 'The use case with its input, which the last approval carries out. Of a new API key it contains the digest.';
COMMENT ON COLUMN changes.proposer_key IS 'The API key of the proposer; null for a person who signed in.';
COMMENT ON COLUMN changes.proposer_id IS 'The person who signed in and proposed the change; null for an API key.';
COMMENT ON COLUMN changes.proposer_person IS 'The person of the proposer; null if unknown.';
COMMENT ON COLUMN changes.proposer_name IS 'The name of the credential of the proposer at the time.';
COMMENT ON COLUMN changes.proposed_at IS 'The time of the proposal.';
COMMENT ON COLUMN changes.expires_at IS 'The time from which the change can no longer be approved.';
COMMENT ON COLUMN changes.status IS 'pending, applied, rejected, withdrawn or stale. A pending change expires by itself.';
COMMENT ON COLUMN changes.required IS 'The number of approvals that the change needs.';
COMMENT ON COLUMN changes.approvals IS 'The approvals: person, time and comment.';
COMMENT ON COLUMN changes.approver_ids IS 'The API keys or the people of the approvers, in the order of the approvals.';
COMMENT ON COLUMN changes.rejection IS 'The rejection: person, time and comment; null if it was not rejected.';
COMMENT ON COLUMN changes.revision IS 'Grows by one with each decision, which detects concurrent ones.';
COMMENT ON COLUMN changes.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE idempotent_calls (
    caller        uuid NOT NULL,
    path          text NOT NULL CHECK (octet_length(path) <= 1024),
    key           text NOT NULL CHECK (octet_length(key) <= 128),
    fingerprint   bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    attempt       uuid NOT NULL,
    begun_at      timestamptz NOT NULL CHECK (begun_at >= '1970-01-01' AND begun_at < '9999-01-01'),
    resource_type text CHECK (octet_length(resource_type) <= 100),
    answer        text CHECK (octet_length(answer) <= 2097152),
    changed_to    bigint CHECK (changed_to >= 0),
    mac           bytea CHECK (octet_length(mac) <= 64),
    PRIMARY KEY (caller, path, key),
    CONSTRAINT idempotent_calls_name_what_they_answer CHECK ((answer IS NULL) = (resource_type IS NULL))
);

CREATE INDEX idempotent_calls_by_age ON idempotent_calls (begun_at);

COMMENT ON TABLE idempotent_calls IS 'Requests with an Idempotency-Key. The transaction of the change writes the answer, which is kept for a day.';
COMMENT ON COLUMN idempotent_calls.caller IS 'The API key or the person.';
COMMENT ON COLUMN idempotent_calls.path IS 'The path of the request.';
COMMENT ON COLUMN idempotent_calls.key IS 'The Idempotency-Key.';
COMMENT ON COLUMN idempotent_calls.fingerprint IS 'An HMAC of the body. Its key is a secret of the caller, which is not in the database.';
COMMENT ON COLUMN idempotent_calls.attempt IS 'The request that may write the answer.';
COMMENT ON COLUMN idempotent_calls.begun_at IS 'The time at which the request began.';
COMMENT ON COLUMN idempotent_calls.resource_type IS 'The type of the resource that the request created or restored; null before.';
COMMENT ON COLUMN idempotent_calls.answer IS 'The text of the answer, without secrets; null before.';
COMMENT ON COLUMN idempotent_calls.changed_to IS 'The revision of the resource that the request changed; null if it created one.';
COMMENT ON COLUMN idempotent_calls.mac IS 'The MAC of the request and its answer under the row key; null before. An answer without a valid one is not sent.';
