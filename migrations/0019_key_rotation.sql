-- Keys that are rotated: a job makes the successor of a key and activates it.

ALTER TABLE keys
    ADD COLUMN rotation_days integer CHECK (rotation_days BETWEEN 1 AND 3650),
    ADD COLUMN succeeds uuid REFERENCES keys (id),
    ADD COLUMN retire_at timestamptz,
    ADD CONSTRAINT keys_rotate_where_they_are_generated CHECK (
        rotation_days IS NULL OR origin = 'generated'
    ),
    ADD CONSTRAINT keys_retire_from_active CHECK (retire_at IS NULL OR status = 'active');

CREATE UNIQUE INDEX keys_have_one_successor ON keys (succeeds)
    WHERE succeeds IS NOT NULL AND status <> 'destroyed';
CREATE INDEX keys_to_rotate ON keys (id) WHERE rotation_days IS NOT NULL AND status = 'active';

COMMENT ON COLUMN keys.rotation_days IS 'How many days after its activation a successor becomes active; null for no rotation.';
COMMENT ON COLUMN keys.succeeds IS 'The key that this one replaces as soon as it is activated; null from then on.';
COMMENT ON COLUMN keys.retire_at IS 'When it retires, because its successor is active; null for no such time.';
