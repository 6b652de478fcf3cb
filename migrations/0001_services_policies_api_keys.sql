-- Who calls, for whom data is protected, and on what terms; and the record of every change to that.

CREATE TABLE services (
    id                  uuid PRIMARY KEY,
    name                text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    description         text,
    tier                text NOT NULL CHECK (tier IN ('standard', 'professional', 'enterprise')),
    requests_per_second integer CHECK (requests_per_second > 0),
    burst               integer CHECK (burst > 0),
    publish_keys        boolean NOT NULL DEFAULT false,
    revision            bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    deleted_at          timestamptz,
    CONSTRAINT services_limits_are_for_enterprise CHECK (
        (tier = 'enterprise') = (requests_per_second IS NOT NULL)
        AND (tier = 'enterprise') = (burst IS NOT NULL)
    )
);

CREATE UNIQUE INDEX services_name_is_unique ON services (name) WHERE deleted_at IS NULL;

COMMENT ON TABLE services IS 'An application that calls, or that data is protected for; most are both.';
COMMENT ON COLUMN services.id IS 'The UUID inside the TypeID svc_…';
COMMENT ON COLUMN services.name IS 'Unique among the living, 1 to 100 characters.';
COMMENT ON COLUMN services.description IS 'For people; null when none was given.';
COMMENT ON COLUMN services.tier IS 'Sets the rate limit: standard, professional, or enterprise with limits of its own.';
COMMENT ON COLUMN services.requests_per_second IS 'The refill rate of the bucket; given for enterprise only.';
COMMENT ON COLUMN services.burst IS 'The size of the bucket; given for enterprise only.';
COMMENT ON COLUMN services.publish_keys IS 'Whether its public keys are served under /.well-known/jwks.';
COMMENT ON COLUMN services.revision IS 'Grows by one with every change; the ETag.';
COMMENT ON COLUMN services.created_at IS 'When it was made.';
COMMENT ON COLUMN services.updated_at IS 'When it was last changed.';
COMMENT ON COLUMN services.deleted_at IS 'Set on a tombstone, which stays so that old audit records still name it.';

CREATE SEQUENCE policy_numbers AS bigint;
COMMENT ON SEQUENCE policy_numbers IS 'The number in POL-000001, for policies made without a number of their own.';

CREATE TABLE policies (
    id                     uuid PRIMARY KEY,
    policy_number          text NOT NULL CHECK (policy_number ~ '^[A-Za-z0-9._-]{1,64}$'),
    name                   text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    description            text,
    destination_service_id uuid NOT NULL REFERENCES services (id),
    key_ownership          text NOT NULL CHECK (key_ownership IN ('service_managed', 'destination_managed')),
    alg                    text NOT NULL CHECK (alg IN ('RSA-OAEP', 'RSA-OAEP-256', 'ECDH-ES+A128KW', 'ECDH-ES+A256KW')),
    enc                    text NOT NULL CHECK (enc IN ('A128GCM', 'A256GCM')),
    status                 text NOT NULL CHECK (status IN ('active', 'inactive')),
    failure_mode           text NOT NULL CHECK (failure_mode IN ('error', 'passthrough', 'drop')),
    allowed_service_ids    uuid[] CHECK (array_position(allowed_service_ids, NULL) IS NULL),
    allowed_operations     text[] NOT NULL CHECK (allowed_operations <@ ARRAY['protect', 'unprotect']),
    revision               bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    deleted_at             timestamptz
);

CREATE UNIQUE INDEX policies_number_is_unique ON policies (policy_number) WHERE deleted_at IS NULL;
CREATE INDEX policies_by_destination ON policies (destination_service_id) WHERE deleted_at IS NULL;

COMMENT ON TABLE policies IS 'How payloads are protected for a destination service, and for whom.';
COMMENT ON COLUMN policies.id IS 'The UUID inside the TypeID pol_…';
COMMENT ON COLUMN policies.policy_number IS 'What callers name it by; unique among the living.';
COMMENT ON COLUMN policies.name IS 'For people, 1 to 100 characters.';
COMMENT ON COLUMN policies.description IS 'For people; null when none was given.';
COMMENT ON COLUMN policies.destination_service_id IS 'The service whose key protects.';
COMMENT ON COLUMN policies.key_ownership IS 'Who holds the private key: this service''s token, or the destination alone.';
COMMENT ON COLUMN policies.alg IS 'The JOSE algorithm that wraps the content key.';
COMMENT ON COLUMN policies.enc IS 'The JOSE algorithm that encrypts the content.';
COMMENT ON COLUMN policies.status IS 'Whether it protects; unprotecting goes on when it is inactive.';
COMMENT ON COLUMN policies.failure_mode IS 'What protecting does while it is inactive.';
COMMENT ON COLUMN policies.allowed_service_ids IS 'The services that may use it; null for all.';
COMMENT ON COLUMN policies.allowed_operations IS 'What may be done under it.';
COMMENT ON COLUMN policies.revision IS 'Grows by one with every change; the ETag.';
COMMENT ON COLUMN policies.created_at IS 'When it was made.';
COMMENT ON COLUMN policies.updated_at IS 'When it was last changed.';
COMMENT ON COLUMN policies.deleted_at IS 'Set on a tombstone, which stays so that old audit records still name it.';

CREATE TABLE api_keys (
    id                 uuid PRIMARY KEY,
    name               text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    type               text NOT NULL CHECK (type IN ('live', 'test', 'admin')),
    service_id         uuid REFERENCES services (id),
    policy_id          uuid REFERENCES policies (id),
    allowed_operations text[] CHECK (
        allowed_operations <@ ARRAY['protect', 'unprotect', 'encrypt', 'decrypt', 'sign', 'verify', 'hash']
    ),
    allowed_cidrs      cidr[] CHECK (array_position(allowed_cidrs, NULL) IS NULL),
    digest             bytea NOT NULL CHECK (octet_length(digest) = 32),
    last_four          text NOT NULL CHECK (char_length(last_four) = 4),
    expires_at         timestamptz,
    revoked_at         timestamptz,
    last_used_at       timestamptz,
    revision           bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    CONSTRAINT api_keys_admins_belong_to_no_service CHECK ((type = 'admin') = (service_id IS NULL)),
    CONSTRAINT api_keys_admins_are_bound_to_no_policy CHECK (type <> 'admin' OR policy_id IS NULL)
);

CREATE UNIQUE INDEX api_keys_digest_is_unique ON api_keys (digest);
CREATE INDEX api_keys_by_service ON api_keys (service_id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_by_policy ON api_keys (policy_id) WHERE revoked_at IS NULL;

COMMENT ON TABLE api_keys IS 'Credentials, of which only a digest is kept. A revoked one stays, so that old records still name it.';
COMMENT ON COLUMN api_keys.id IS 'The UUID inside the TypeID ak_…';
COMMENT ON COLUMN api_keys.name IS 'For people, 1 to 100 characters.';
COMMENT ON COLUMN api_keys.type IS 'The prefix of the key: live and test call the runtime API, admin the management API.';
COMMENT ON COLUMN api_keys.service_id IS 'The calling service; null for admin keys.';
COMMENT ON COLUMN api_keys.policy_id IS 'The policy that is used when a request names none.';
COMMENT ON COLUMN api_keys.allowed_operations IS 'What the key may be used for; null for everything its type may.';
COMMENT ON COLUMN api_keys.allowed_cidrs IS 'Where it may be used from; null for anywhere.';
COMMENT ON COLUMN api_keys.digest IS 'SHA-256 of the whole key, which has 256 random bits and needs no salt.';
COMMENT ON COLUMN api_keys.last_four IS 'The last four characters, by which people tell keys apart.';
COMMENT ON COLUMN api_keys.expires_at IS 'From when it is refused; null for never.';
COMMENT ON COLUMN api_keys.revoked_at IS 'When it was revoked; null while it is not.';
COMMENT ON COLUMN api_keys.last_used_at IS 'When it last authenticated, some seconds late: written in batches.';
COMMENT ON COLUMN api_keys.revision IS 'Grows by one with every change; the ETag. Being used is no change.';
COMMENT ON COLUMN api_keys.created_at IS 'When it was made.';
COMMENT ON COLUMN api_keys.updated_at IS 'When it was last changed.';

CREATE TABLE management_events (
    id             uuid PRIMARY KEY,
    at             timestamptz NOT NULL,
    api_key_id     uuid REFERENCES api_keys (id),
    actor          text NOT NULL CHECK (actor <> ''),
    action         text NOT NULL CHECK (action <> ''),
    resource_type  text NOT NULL CHECK (resource_type <> ''),
    resource_id    uuid NOT NULL,
    before         jsonb,
    after          jsonb,
    client_address inet,
    request_id     text
);

CREATE INDEX management_events_by_resource ON management_events (resource_id, id);

COMMENT ON TABLE management_events IS 'Every change an administrator made, written in the transaction of the change.';
COMMENT ON COLUMN management_events.id IS 'The UUID inside the TypeID evt_…, ordered by time.';
COMMENT ON COLUMN management_events.at IS 'When.';
COMMENT ON COLUMN management_events.api_key_id IS 'Which admin key; null for the command line and for jobs.';
COMMENT ON COLUMN management_events.actor IS 'The name of that key at the time, or what else acted.';
COMMENT ON COLUMN management_events.action IS 'What was done: create, update, delete, revoke and the like.';
COMMENT ON COLUMN management_events.resource_type IS 'To what kind of thing: service, policy, key, api_key.';
COMMENT ON COLUMN management_events.resource_id IS 'To which.';
COMMENT ON COLUMN management_events.before IS 'The resource as the API showed it before, without secrets; null when it was made.';
COMMENT ON COLUMN management_events.after IS 'The same afterwards; null when it is gone.';
COMMENT ON COLUMN management_events.client_address IS 'Where the request came from; null for the command line and for jobs.';
COMMENT ON COLUMN management_events.request_id IS 'The request that made the change, as its client names it.';

-- Every instance caches callers, policies and public keys, and drops what a notice on the channel
-- `catalog` names. A trigger sends it, so that no change can forget to, one made by hand included.
-- A table joins with a trigger of its own; its name is the payload. What is absent is not cached, so
-- inserts need no notice where nothing cached depends on them.
CREATE FUNCTION tell_catalog() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('catalog', TG_TABLE_NAME);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tell_catalog() IS 'Tells every instance that what it has cached of this table is out of date.';

CREATE TRIGGER services_tell_catalog
    AFTER UPDATE OR DELETE ON services
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

CREATE TRIGGER policies_tell_catalog
    AFTER UPDATE OR DELETE ON policies
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

-- Without `last_used_at`: being used changes nothing that is cached.
CREATE TRIGGER api_keys_tell_catalog
    AFTER DELETE OR UPDATE OF name, type, service_id, policy_id, allowed_operations, allowed_cidrs,
        digest, expires_at, revoked_at, revision ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();
