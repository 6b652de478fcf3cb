-- The checkpoints that are served without authentication.
ALTER TABLE audit_log_heads
    ADD COLUMN published text,
    ADD COLUMN published_size bigint NOT NULL DEFAULT 0,
    ADD COLUMN published_at timestamptz;

COMMENT ON COLUMN audit_log_heads.published IS 'The published checkpoint, a signed note.';
COMMENT ON COLUMN audit_log_heads.published_size IS 'The size of the tree of that checkpoint.';
COMMENT ON COLUMN audit_log_heads.published_at IS 'The time of its publication.';
