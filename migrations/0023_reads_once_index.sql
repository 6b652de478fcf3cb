-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY management_events_read_digest ON management_events (read_digest) WHERE read_digest IS NOT NULL;
