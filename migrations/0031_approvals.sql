-- Changes that need the approval of other people.
CREATE TABLE changes (
    id              uuid PRIMARY KEY,
    kinds           text[] NOT NULL CHECK (cardinality(kinds) > 0),
    summary         text NOT NULL CHECK (summary <> ''),
    resource_type   text NOT NULL CHECK (resource_type <> ''),
    target_id       uuid,
    target_revision bigint,
    before          jsonb,
    after           jsonb,
    call            jsonb NOT NULL,
    proposer_key    uuid REFERENCES api_keys (id),
    proposer_person text CHECK (char_length(proposer_person) BETWEEN 1 AND 128),
    proposer_name   text NOT NULL CHECK (proposer_name <> ''),
    proposed_at     timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    required        integer NOT NULL CHECK (required > 0),
    approvals       jsonb NOT NULL DEFAULT '[]',
    approver_keys   uuid[] NOT NULL DEFAULT '{}',
    rejection       jsonb,
    status          text NOT NULL CHECK (
        status IN ('pending', 'applied', 'rejected', 'withdrawn', 'stale')
    ),
    resource_id     uuid,
    revision        bigint NOT NULL CHECK (revision > 0),
    CONSTRAINT changes_target_has_revision CHECK ((target_id IS NULL) = (target_revision IS NULL)),
    CONSTRAINT changes_applied_name_their_resource CHECK (
        (status = 'applied') = (resource_id IS NOT NULL)
    ),
    CONSTRAINT changes_applied_are_approved CHECK (
        status <> 'applied' OR jsonb_array_length(approvals) >= required
    ),
    CONSTRAINT changes_approvals_name_their_keys CHECK (
        jsonb_array_length(approvals) = cardinality(approver_keys)
    )
);

CREATE INDEX changes_pending ON changes (target_id) WHERE status = 'pending';

COMMENT ON TABLE changes IS 'Changes that need the approval of other people.';
COMMENT ON COLUMN changes.id IS 'The UUID of the TypeID chg_….';
COMMENT ON COLUMN changes.kinds IS 'The kinds of the change that need approval.';
COMMENT ON COLUMN changes.summary IS 'The change in one sentence.';
COMMENT ON COLUMN changes.resource_type IS 'The type of the resource.';
COMMENT ON COLUMN changes.target_id IS 'The resource to change; null for a new one.';
COMMENT ON COLUMN changes.target_revision IS 'Its revision at the proposal. Another revision makes the change stale.';
COMMENT ON COLUMN changes.before IS 'The resource before the change, without secrets; null for a new one.';
COMMENT ON COLUMN changes.after IS 'The resource after the change, or the request for a key, without secrets.';
COMMENT ON COLUMN changes.call IS 'The use case with its input, which the last approval carries out. Of a new API key it holds the digest.';
COMMENT ON COLUMN changes.proposer_key IS 'The API key of the proposer.';
COMMENT ON COLUMN changes.proposer_person IS 'The person of the proposer; null if unknown.';
COMMENT ON COLUMN changes.proposer_name IS 'The name of the credential of the proposer at the time.';
COMMENT ON COLUMN changes.proposed_at IS 'The time of the proposal.';
COMMENT ON COLUMN changes.expires_at IS 'The time after which the change can no longer be approved.';
COMMENT ON COLUMN changes.required IS 'The number of approvals that the change needs.';
COMMENT ON COLUMN changes.approvals IS 'The approvals: person, time and comment.';
COMMENT ON COLUMN changes.approver_keys IS 'The API keys of the approvers, in the order of the approvals; null for other credentials.';
COMMENT ON COLUMN changes.rejection IS 'The rejection: person, time and comment; null if it was not rejected.';
COMMENT ON COLUMN changes.status IS 'pending, applied, rejected, withdrawn or stale. A pending change expires by itself.';
COMMENT ON COLUMN changes.resource_id IS 'The changed or created resource; null until the change is applied.';
COMMENT ON COLUMN changes.revision IS 'Counts the decisions, for concurrent ones.';

-- The service never deletes a change.
REVOKE DELETE ON changes FROM sealward_application;

ALTER TABLE management_events
    ADD COLUMN change_id uuid,
    ADD COLUMN approved_by text[];

COMMENT ON COLUMN management_events.change_id IS 'The change whose approval made this change; null if it needed none.';
COMMENT ON COLUMN management_events.approved_by IS 'The people who approved it; null if it needed no approval.';

ALTER TABLE key_intents ADD COLUMN change_id uuid;

COMMENT ON COLUMN key_intents.change_id IS 'The approved change that makes the key; null for other keys. Its object is removed if the change fails.';
