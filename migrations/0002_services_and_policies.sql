-- The applications, and the policies under which their payloads are protected.

-- Every instance caches services, policies, keys and credentials. Each of these tables has a trigger that sends
-- its name on the channel `catalog`, so that no change, by hand or by the service, leaves a cache out of date.
-- Inserts send it too, because instances remember for a second that a row is missing. A session that listens and
-- ends no transaction can fill the queue of notifications, and a full queue fails each transaction that notifies: before
-- that, nothing is sent, and no instance uses its caches any more.
CREATE FUNCTION tell_catalog() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('catalog', TG_TABLE_NAME) WHERE pg_notification_queue_usage() < 0.5;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tell_catalog() IS 'Notifies all instances that their cached rows of this table are out of date.';

CREATE TABLE services (
    id                  uuid PRIMARY KEY,
    name                text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    description         text CHECK (octet_length(description) <= 65536),
    status              text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'frozen')),
    tier                text NOT NULL CHECK (tier IN ('standard', 'professional', 'enterprise')),
    requests_per_second integer CHECK (requests_per_second > 0),
    burst               integer CHECK (burst > 0),
    publish_keys        boolean NOT NULL DEFAULT false,
    revision            bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal                bytea CHECK (octet_length(seal) <= 64),
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    deleted_at          timestamptz,
    CONSTRAINT services_limits_are_for_enterprise CHECK (
        (tier = 'enterprise') = (requests_per_second IS NOT NULL)
        AND (tier = 'enterprise') = (burst IS NOT NULL)
    ),
    -- The calendar of the service ends before that of Postgres. A row that it cannot read would hide the others.
    CONSTRAINT services_times_can_be_read CHECK (
        least(created_at, updated_at, deleted_at) >= '1970-01-01'
        AND greatest(created_at, updated_at, deleted_at) < '9999-01-01'
    )
);

CREATE UNIQUE INDEX services_name_is_unique ON services (name) WHERE deleted_at IS NULL;

CREATE TRIGGER services_tell_catalog
    AFTER INSERT OR UPDATE OR DELETE ON services
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

COMMENT ON TABLE services IS 'Applications that send requests, or for which payloads are protected. Most do both.';
COMMENT ON COLUMN services.id IS 'The UUID of the TypeID svc_….';
COMMENT ON COLUMN services.name IS 'The name, 1 to 100 characters. No two services have the same name, except deleted ones.';
COMMENT ON COLUMN services.description IS 'The description for people; null for none.';
COMMENT ON COLUMN services.status IS 'Whether the service is in use, or everything of it is refused.';
COMMENT ON COLUMN services.tier IS 'The rate limit: standard, professional, or enterprise with its own limit.';
COMMENT ON COLUMN services.requests_per_second IS 'The refill rate of the bucket; null unless the tier is enterprise.';
COMMENT ON COLUMN services.burst IS 'The size of the bucket; null unless the tier is enterprise.';
COMMENT ON COLUMN services.publish_keys IS 'Whether its public keys are at /.well-known/jwks.';
COMMENT ON COLUMN services.revision IS 'Grows by one with each change; the ETag.';
COMMENT ON COLUMN services.seal IS 'The MAC of the row under the row key; a row without one does not count.';
COMMENT ON COLUMN services.created_at IS 'The creation time.';
COMMENT ON COLUMN services.updated_at IS 'The time of the last change.';
COMMENT ON COLUMN services.deleted_at IS 'The time of the deletion; null before. The row stays, because audit records refer to it.';

-- One row at most. Before the first freeze there is none.
CREATE TABLE emergency (
    id        uuid PRIMARY KEY CHECK (id = '00000000-0000-0000-0000-000000000001'),
    status    text NOT NULL CHECK (status IN ('active', 'frozen')),
    reason    text CHECK (char_length(reason) BETWEEN 1 AND 500),
    frozen_at timestamptz CHECK (frozen_at >= '1970-01-01' AND frozen_at < '9999-01-01'),
    frozen_by text CHECK (char_length(frozen_by) <= 500),
    revision  bigint NOT NULL CHECK (revision > 0),
    seal      bytea CHECK (octet_length(seal) <= 64)
);

CREATE TRIGGER emergency_tells_catalog
    AFTER INSERT OR UPDATE OR DELETE ON emergency
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

COMMENT ON TABLE emergency IS 'The switch that freezes all services at once.';
COMMENT ON COLUMN emergency.id IS 'Always the same: there is one switch.';
COMMENT ON COLUMN emergency.status IS 'Whether everything is frozen.';
COMMENT ON COLUMN emergency.reason IS 'Why everything was frozen, or why that ended; null for none.';
COMMENT ON COLUMN emergency.frozen_at IS 'Since when everything is frozen; null while it is not.';
COMMENT ON COLUMN emergency.frozen_by IS 'Who froze everything; null while it is not.';
COMMENT ON COLUMN emergency.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN emergency.seal IS 'The MAC of the row under the row key; a row without one does not count, and everything is frozen.';

CREATE SEQUENCE policy_numbers AS bigint;
COMMENT ON SEQUENCE policy_numbers IS 'The number in POL-000001, for policies that are created without a policy number.';

CREATE TABLE policies (
    id                     uuid PRIMARY KEY,
    policy_number          text NOT NULL CHECK (policy_number ~ '^[A-Za-z0-9._-]{1,64}$'),
    name                   text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    description            text CHECK (octet_length(description) <= 65536),
    destination_service_id uuid NOT NULL REFERENCES services (id),
    key_ownership          text NOT NULL CHECK (key_ownership IN ('service_managed', 'destination_managed')),
    alg                    text NOT NULL CHECK (alg IN (
        'RSA-OAEP', 'RSA-OAEP-256', 'ECDH-ES+A128KW', 'ECDH-ES+A256KW', 'HPKE-8-KE', 'HPKE-12-KE', 'HPKE-13-KE'
    )),
    enc                    text NOT NULL CHECK (enc IN ('A128GCM', 'A256GCM')),
    headers                jsonb CHECK (octet_length(headers::text) <= 4096),
    context_required       boolean NOT NULL DEFAULT false,
    require_binding        boolean NOT NULL DEFAULT false,
    allowed_service_ids    uuid[] CHECK (
        array_position(allowed_service_ids, NULL) IS NULL AND cardinality(allowed_service_ids) <= 1000
    ),
    allowed_operations     text[] NOT NULL CHECK (
        allowed_operations <@ ARRAY['protect', 'unprotect', 'rewrap'] AND cardinality(allowed_operations) <= 1000
    ),
    status                 text NOT NULL CHECK (status IN ('active', 'inactive')),
    failure_mode           text NOT NULL CHECK (failure_mode IN ('error', 'passthrough', 'drop')),
    revision               bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal                   bytea CHECK (octet_length(seal) <= 64),
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    deleted_at             timestamptz,
    CONSTRAINT policies_bind_in_the_token CHECK (
        key_ownership = 'service_managed' OR NOT (context_required OR require_binding)
    ),
    CONSTRAINT policies_have_headers_for_destinations CHECK (
        key_ownership = 'destination_managed' OR headers IS NULL
    ),
    CONSTRAINT policies_times_can_be_read CHECK (
        least(created_at, updated_at, deleted_at) >= '1970-01-01'
        AND greatest(created_at, updated_at, deleted_at) < '9999-01-01'
    )
);

CREATE UNIQUE INDEX policies_number_is_unique ON policies (policy_number) WHERE deleted_at IS NULL;
CREATE INDEX policies_by_destination ON policies (destination_service_id) WHERE deleted_at IS NULL;

CREATE TRIGGER policies_tell_catalog
    AFTER INSERT OR UPDATE OR DELETE ON policies
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

COMMENT ON TABLE policies IS 'How payloads for a destination service are protected, and who may do what with them.';
COMMENT ON COLUMN policies.id IS 'The UUID of the TypeID pol_….';
COMMENT ON COLUMN policies.policy_number IS 'The name in requests. No two policies have the same one, except deleted ones.';
COMMENT ON COLUMN policies.name IS 'The name for people, 1 to 100 characters.';
COMMENT ON COLUMN policies.description IS 'The description for people; null for none.';
COMMENT ON COLUMN policies.destination_service_id IS 'The service whose key protects.';
COMMENT ON COLUMN policies.key_ownership IS 'Whether the private key is in the token of Sealward, or only at the destination.';
COMMENT ON COLUMN policies.alg IS 'The JOSE algorithm that wraps the content key.';
COMMENT ON COLUMN policies.enc IS 'The JOSE algorithm that encrypts the content.';
COMMENT ON COLUMN policies.headers IS 'The header members typ, iat and cty of envelopes; null for the default.';
COMMENT ON COLUMN policies.context_required IS 'Whether protecting requires a context.';
COMMENT ON COLUMN policies.require_binding IS 'Whether envelopes without a known policy are refused.';
COMMENT ON COLUMN policies.allowed_service_ids IS 'The services that may use the policy; null for all.';
COMMENT ON COLUMN policies.allowed_operations IS 'The operations that the policy allows.';
COMMENT ON COLUMN policies.status IS 'Whether the policy protects. An inactive policy still unprotects.';
COMMENT ON COLUMN policies.failure_mode IS 'The answer to protect requests while the policy is inactive.';
COMMENT ON COLUMN policies.revision IS 'Grows by one with each change; the ETag.';
COMMENT ON COLUMN policies.seal IS 'The MAC of the row under the row key; a row without one does not count.';
COMMENT ON COLUMN policies.created_at IS 'The creation time.';
COMMENT ON COLUMN policies.updated_at IS 'The time of the last change.';
COMMENT ON COLUMN policies.deleted_at IS 'The time of the deletion; null before. The row stays, because envelopes and audit records refer to it.';
