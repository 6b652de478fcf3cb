-- The keys of the audit logs' own cosignatures with ML-DSA-44.

CREATE TABLE audit_log_cosigners (
    id         uuid PRIMARY KEY,
    public_key bytea NOT NULL,
    created_at timestamptz NOT NULL
);

COMMENT ON TABLE audit_log_cosigners IS 'The keys that cosign checkpoints. The newest one cosigns.';
COMMENT ON COLUMN audit_log_cosigners.id IS 'CKA_ID of the private key in the token.';
COMMENT ON COLUMN audit_log_cosigners.public_key IS 'The SubjectPublicKeyInfo in DER.';
COMMENT ON COLUMN audit_log_cosigners.created_at IS 'When the key was created.';

-- The default privileges of this schema allow the service to change new tables.
REVOKE UPDATE, DELETE ON audit_log_cosigners FROM sealward_application;
