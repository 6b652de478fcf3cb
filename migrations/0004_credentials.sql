-- The credentials of applications and administrators: API keys, and tokens and certificates of workloads.

CREATE TABLE api_keys (
    id                 uuid PRIMARY KEY,
    name               text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    type               text NOT NULL CHECK (type IN ('live', 'test', 'admin')),
    service_id         uuid REFERENCES services (id),
    policy_id          uuid REFERENCES policies (id),
    allowed_operations text[] CHECK (
        allowed_operations <@ ARRAY[
            'protect', 'unprotect', 'rewrap', 'encrypt', 'decrypt', 'sign', 'verify', 'hash'
        ] AND cardinality(allowed_operations) <= 1000
    ),
    allowed_cidrs      cidr[] CHECK (
        array_position(allowed_cidrs, NULL) IS NULL AND cardinality(allowed_cidrs) <= 1000
    ),
    certificate_sha256 bytea CHECK (octet_length(certificate_sha256) = 32),
    roles              text[] NOT NULL DEFAULT '{}',
    person             text,
    known_to           text[] NOT NULL DEFAULT '{}' CHECK (
        cardinality(known_to) <= 1000 AND octet_length(array_to_string(known_to, '')) <= 65536
    ),
    made_by            text[] NOT NULL DEFAULT '{}' CHECK (
        cardinality(made_by) <= 1000 AND octet_length(array_to_string(made_by, '')) <= 65536
    ),
    digest             bytea NOT NULL CHECK (octet_length(digest) = 32),
    last_four          text NOT NULL CHECK (char_length(last_four) = 4),
    expires_at         timestamptz,
    revoked_at         timestamptz,
    last_used_at       timestamptz,
    revision           bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal               bytea CHECK (octet_length(seal) <= 64),
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    CONSTRAINT api_keys_admins_belong_to_no_service CHECK ((type = 'admin') = (service_id IS NULL)),
    CONSTRAINT api_keys_admins_are_bound_to_no_policy CHECK (type <> 'admin' OR policy_id IS NULL),
    CONSTRAINT api_keys_admins_have_roles CHECK ((type = 'admin') = (cardinality(roles) > 0)),
    CONSTRAINT api_keys_admins_have_persons CHECK (type = 'admin' OR person IS NULL),
    CONSTRAINT api_keys_person_length CHECK (char_length(person) BETWEEN 1 AND 128),
    CONSTRAINT api_keys_roles_are_known CHECK (
        roles <@ ARRAY['owner', 'custodian', 'policy-admin', 'auditor'] AND cardinality(roles) <= 1000
    ),
    -- As in keys.
    CONSTRAINT api_keys_times_can_be_read CHECK (
        least(expires_at, revoked_at, last_used_at, created_at, updated_at) >= '1970-01-01'
        AND greatest(revoked_at, last_used_at, created_at, updated_at) < '9999-01-01'
        AND expires_at <= '9999-12-30 22:00Z'
    )
);

CREATE UNIQUE INDEX api_keys_digest_is_unique ON api_keys (digest);
CREATE INDEX api_keys_by_service ON api_keys (service_id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_by_person ON api_keys (person) WHERE person IS NOT NULL;
CREATE INDEX api_keys_by_policy ON api_keys (policy_id) WHERE revoked_at IS NULL;

-- Without `last_used_at`, because the use of a key changes nothing that is cached.
CREATE TRIGGER api_keys_tell_catalog
    AFTER INSERT OR DELETE OR UPDATE OF name, type, service_id, policy_id, allowed_operations, allowed_cidrs,
        certificate_sha256, digest, roles, person, expires_at, revoked_at, revision ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

COMMENT ON TABLE api_keys IS 'API keys. A revoked one stays, because audit records refer to it.';
COMMENT ON COLUMN api_keys.id IS 'The UUID of the TypeID ak_….';
COMMENT ON COLUMN api_keys.name IS 'The name for people, 1 to 100 characters.';
COMMENT ON COLUMN api_keys.type IS 'live and test for the runtime API, admin for the management API; the prefix of the key.';
COMMENT ON COLUMN api_keys.service_id IS 'The calling service; null for admin keys.';
COMMENT ON COLUMN api_keys.policy_id IS 'The policy of requests that name none; null for none.';
COMMENT ON COLUMN api_keys.allowed_operations IS 'The operations that the key allows; null for all.';
COMMENT ON COLUMN api_keys.allowed_cidrs IS 'The networks from which the key is accepted; null for all.';
COMMENT ON COLUMN api_keys.certificate_sha256 IS 'The SHA-256 of the client certificate that the key requires; null for none.';
COMMENT ON COLUMN api_keys.roles IS 'The roles of an admin key: owner, custodian, policy-admin, auditor; empty for other keys.';
COMMENT ON COLUMN api_keys.person IS 'The person who uses an admin key; null if unknown.';
COMMENT ON COLUMN api_keys.known_to IS 'The people who may know the key because they created it, or because they may know the key that created it. Empty for keys of the command line and for keys that needed no approval.';
COMMENT ON COLUMN api_keys.made_by IS 'The people who created the key, or the key that created it, also while no approvals are required. Empty for keys of the command line. With such a key, a locked person is not unlocked.';
COMMENT ON COLUMN api_keys.digest IS 'SHA-256 of the whole key, which has 256 random bits and needs no salt.';
COMMENT ON COLUMN api_keys.last_four IS 'The last four characters, by which people distinguish keys.';
COMMENT ON COLUMN api_keys.expires_at IS 'The time from which the key is refused; null for none.';
COMMENT ON COLUMN api_keys.revoked_at IS 'The time of the revocation; null before.';
COMMENT ON COLUMN api_keys.last_used_at IS 'The time of the last authenticated request, written in batches; null before the first.';
COMMENT ON COLUMN api_keys.revision IS 'Grows by one with each change; the ETag. A use is no change.';
COMMENT ON COLUMN api_keys.seal IS 'The MAC of the row under the row key; a row without one does not count.';
COMMENT ON COLUMN api_keys.created_at IS 'The creation time.';
COMMENT ON COLUMN api_keys.updated_at IS 'The time of the last change.';

CREATE TABLE identities (
    id                 uuid PRIMARY KEY,
    name               text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    service_id         uuid NOT NULL REFERENCES services (id),
    policy_id          uuid REFERENCES policies (id),
    allowed_operations text[] CHECK (
        allowed_operations <@ ARRAY[
            'protect', 'unprotect', 'rewrap', 'encrypt', 'decrypt', 'sign', 'verify', 'hash'
        ] AND cardinality(allowed_operations) <= 1000
    ),
    match              jsonb NOT NULL CHECK (
        jsonb_typeof(match) = 'object' AND octet_length(match::text) <= 262144
    ),
    status             text NOT NULL CHECK (status IN ('active', 'disabled')),
    last_used_at       timestamptz,
    revision           bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal               bytea CHECK (octet_length(seal) <= 64),
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    deleted_at         timestamptz,
    CONSTRAINT identities_times_can_be_read CHECK (
        least(last_used_at, created_at, updated_at, deleted_at) >= '1970-01-01'
        AND greatest(last_used_at, created_at, updated_at, deleted_at) < '9999-01-01'
    )
);

CREATE INDEX identities_by_issuer ON identities ((match->>'issuer'), (match->>'subject'))
    WHERE deleted_at IS NULL;
CREATE INDEX identities_by_spiffe_id ON identities ((match->>'spiffeId')) WHERE deleted_at IS NULL;
CREATE INDEX identities_by_certificate ON identities ((match->>'certificateSha256'))
    WHERE deleted_at IS NULL;
CREATE INDEX identities_by_service ON identities (service_id) WHERE deleted_at IS NULL;
CREATE INDEX identities_by_policy ON identities (policy_id) WHERE deleted_at IS NULL;

-- Without `last_used_at`, because the use of an identity changes nothing that is cached. A new identity can make
-- a credential ambiguous that was accepted before, and so does one whose row no longer counts.
CREATE TRIGGER identities_tell_catalog
    AFTER INSERT OR DELETE OR UPDATE OF id, name, service_id, policy_id, allowed_operations, match, status,
        revision, seal, created_at, updated_at, deleted_at ON identities
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

COMMENT ON TABLE identities IS 'Workloads that authenticate with tokens or certificates instead of API keys.';
COMMENT ON COLUMN identities.id IS 'The UUID of the TypeID idn_….';
COMMENT ON COLUMN identities.name IS 'The name for people, 1 to 100 characters.';
COMMENT ON COLUMN identities.service_id IS 'The calling service.';
COMMENT ON COLUMN identities.policy_id IS 'The policy of requests that name none; null for none.';
COMMENT ON COLUMN identities.allowed_operations IS 'The operations that the identity allows; null for all.';
COMMENT ON COLUMN identities.match IS 'The tokens or certificates that match, as the API shows it.';
COMMENT ON COLUMN identities.status IS 'Whether the credentials are accepted.';
COMMENT ON COLUMN identities.last_used_at IS 'The time of the last authenticated request, written in batches; null before the first.';
COMMENT ON COLUMN identities.revision IS 'Grows by one with each change; the ETag. A use is no change.';
COMMENT ON COLUMN identities.seal IS 'The MAC of the row under the row key; a row without one does not count.';
COMMENT ON COLUMN identities.created_at IS 'The creation time.';
COMMENT ON COLUMN identities.updated_at IS 'The time of the last change.';
COMMENT ON COLUMN identities.deleted_at IS 'The time of the deletion; null before. The row stays, because audit records refer to it.';
