ALTER TABLE management_events ADD COLUMN read_digest bytea;

COMMENT ON COLUMN management_events.read_digest IS 'Of a read of an audit log: the SHA-256 digest of its API key, hour and filter, so that all instances together record the read once. Null for other events.';
