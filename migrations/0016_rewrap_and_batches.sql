-- Policies and API keys allow the operation `rewrap`, and audit records name the item of a batch.

-- These changes need an exclusive lock for a moment. A table in use makes the migration fail, and no
-- request waits behind it.

ALTER TABLE policies
    DROP CONSTRAINT policies_allowed_operations_check,
    ADD CONSTRAINT policies_allowed_operations_check CHECK (
        allowed_operations <@ ARRAY['protect', 'unprotect', 'rewrap']
    );

ALTER TABLE api_keys
    DROP CONSTRAINT api_keys_allowed_operations_check,
    ADD CONSTRAINT api_keys_allowed_operations_check CHECK (
        allowed_operations <@ ARRAY[
            'protect', 'unprotect', 'rewrap', 'encrypt', 'decrypt', 'sign', 'verify', 'hash'
        ]
    );

-- Rewrapping needs no more than both operations together.
UPDATE policies
   SET allowed_operations = ARRAY['protect', 'unprotect', 'rewrap'], revision = revision + 1
 WHERE allowed_operations @> ARRAY['protect', 'unprotect'];

ALTER TABLE crypto_operations_audit ADD COLUMN item smallint;

COMMENT ON COLUMN crypto_operations_audit.item IS 'The position in a batch, from 0; null for other requests.';
