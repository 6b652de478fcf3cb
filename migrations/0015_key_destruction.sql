-- The destruction of a key is committed before a token is asked to destroy it. From then on the key
-- stays in destruction, whatever happens to the token or to the record afterwards.
ALTER TABLE keys ADD COLUMN destroying_at timestamptz;
ALTER TABLE keys ADD CONSTRAINT keys_destruction_is_final CHECK (
    destroying_at IS NULL OR status IN ('pending_destruction', 'destroyed')
) NOT VALID;

COMMENT ON COLUMN keys.destroying_at IS 'When its destruction began; null before.';
