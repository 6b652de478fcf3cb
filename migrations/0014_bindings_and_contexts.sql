-- Envelopes are bound to the policy under which they were made and, if they have one, to a context.

-- New columns need an exclusive lock for a moment. A table in use makes the migration fail, and no
-- request waits behind it.

ALTER TABLE policies
    ADD COLUMN context_required boolean NOT NULL DEFAULT false,
    ADD COLUMN require_binding boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT policies_bind_in_the_token CHECK (
        key_ownership = 'service_managed' OR NOT (context_required OR require_binding)
    );

COMMENT ON COLUMN policies.context_required IS 'Whether protecting needs a context.';
COMMENT ON COLUMN policies.require_binding IS 'Whether envelopes that name no known policy are refused.';

ALTER TABLE crypto_operations_audit ADD COLUMN ctx text;

COMMENT ON COLUMN crypto_operations_audit.ctx IS 'The ctx of the envelope: a MAC of its context. The context itself is not recorded.';
