-- Workloads authenticate with tokens of an issuer or with client certificates, and audit records name the
-- identity and the subject. An API key can require a client certificate.
CREATE TABLE identities (
    id                 uuid PRIMARY KEY,
    name               text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    service_id         uuid NOT NULL REFERENCES services (id),
    policy_id          uuid REFERENCES policies (id),
    allowed_operations text[] CHECK (
        allowed_operations <@ ARRAY[
            'protect', 'unprotect', 'rewrap', 'encrypt', 'decrypt', 'sign', 'verify', 'hash'
        ]
    ),
    match              jsonb NOT NULL CHECK (jsonb_typeof(match) = 'object'),
    status             text NOT NULL CHECK (status IN ('active', 'disabled')),
    last_used_at       timestamptz,
    revision           bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    deleted_at         timestamptz
);

CREATE INDEX identities_by_issuer ON identities ((match->>'issuer'), (match->>'subject'))
    WHERE deleted_at IS NULL;
CREATE INDEX identities_by_spiffe_id ON identities ((match->>'spiffeId')) WHERE deleted_at IS NULL;
CREATE INDEX identities_by_certificate ON identities ((match->>'certificateSha256'))
    WHERE deleted_at IS NULL;
CREATE INDEX identities_by_service ON identities (service_id) WHERE deleted_at IS NULL;
CREATE INDEX identities_by_policy ON identities (policy_id) WHERE deleted_at IS NULL;

COMMENT ON TABLE identities IS 'Workloads that authenticate with tokens or certificates instead of API keys.';
COMMENT ON COLUMN identities.id IS 'The UUID inside the TypeID idn_….';
COMMENT ON COLUMN identities.name IS 'For people, 1 to 100 characters.';
COMMENT ON COLUMN identities.service_id IS 'The calling service.';
COMMENT ON COLUMN identities.policy_id IS 'The policy of requests that name none.';
COMMENT ON COLUMN identities.allowed_operations IS 'The operations that the identity allows; null for all.';
COMMENT ON COLUMN identities.match IS 'The tokens or certificates that match, as the API shows it.';
COMMENT ON COLUMN identities.status IS 'Whether the credentials are accepted.';
COMMENT ON COLUMN identities.last_used_at IS 'The time of the last authenticated request, written in batches.';
COMMENT ON COLUMN identities.revision IS 'Grows by one with each change; the ETag. A use is no change.';
COMMENT ON COLUMN identities.created_at IS 'The creation time.';
COMMENT ON COLUMN identities.updated_at IS 'The time of the last change.';
COMMENT ON COLUMN identities.deleted_at IS 'Set on a tombstone, which stays so that audit records still name it.';

-- A new identity can make a credential ambiguous that was accepted before, so inserts need a notice too.
-- Without `last_used_at`, because the use of an identity changes nothing that is cached.
CREATE TRIGGER identities_tell_catalog
    AFTER INSERT OR DELETE OR UPDATE OF name, service_id, policy_id, allowed_operations, match, status,
        revision, deleted_at ON identities
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

ALTER TABLE crypto_operations_audit
    ADD COLUMN identity_id uuid,
    ADD COLUMN token_subject text;

COMMENT ON COLUMN crypto_operations_audit.identity_id IS 'The workload identity of the caller; null for API keys.';
COMMENT ON COLUMN crypto_operations_audit.token_subject IS 'The first 256 characters of the subject of its token or of its SPIFFE ID, or the SHA-256 of its certificate; null for API keys.';

ALTER TABLE api_keys
    ADD COLUMN certificate_sha256 bytea CHECK (octet_length(certificate_sha256) = 32);

COMMENT ON COLUMN api_keys.certificate_sha256 IS 'The SHA-256 of the client certificate that requests with the key need; null for none.';
