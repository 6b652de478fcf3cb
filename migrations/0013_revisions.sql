-- The revisions of the rows that decide something. The service adds to them in the transaction that writes the
-- row, and nobody but the owner changes or deletes them: a row counts at its newest revision only.

CREATE TABLE revisions (
    table_name text NOT NULL CHECK (octet_length(table_name) <= 100),
    id         uuid NOT NULL,
    revision   bigint NOT NULL CHECK (revision > 0),
    what       text NOT NULL CHECK (
        what IN ('made', 'changed', 'gone', 'frozen', 'disabled', 'locked', 'revoked')
    ),
    -- One that the service cannot read would hide the other entries of its row.
    at         timestamptz NOT NULL DEFAULT now() CHECK (at >= '1970-01-01' AND at < '9999-01-01'),
    member     uuid,
    accepted   boolean NOT NULL DEFAULT false,
    content    bytea CHECK (octet_length(content) = 32),
    kept_seal  bytea CHECK (octet_length(kept_seal) <= 64),
    PRIMARY KEY (table_name, id, revision),
    -- One that takes something away from a row is an entry of that row alone.
    CONSTRAINT revisions_of_members_only_join CHECK (member IS NULL OR what = 'made')
);

-- Finds the first or the last entry of a kind without those between. Queries do not name table_name, so that no plan reads
-- all entries of a row with the primary key.
CREATE INDEX revisions_by_kind ON revisions ((table_name || ' ' || what), id, revision);
CREATE INDEX revisions_by_member ON revisions (member) WHERE member IS NOT NULL;

-- Only the owner accepts that a row is missing.
REVOKE INSERT, UPDATE, DELETE ON revisions FROM sealward_application;
GRANT INSERT (table_name, id, revision, what, at, member, content, kept_seal) ON revisions TO sealward_application;

-- Without these bounds, one entry with the last number would forbid every later one, and one with a time in the future
-- would shut a person out until then: whatever a person does before a lock or a logout does not count. An entry that was
-- deleted does not come back below a newer one. The clocks of the instances can differ from that of Postgres.
CREATE FUNCTION limit_revision() RETURNS trigger LANGUAGE plpgsql SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
DECLARE
    newest record;
BEGIN
    IF NEW.at > clock_timestamp() + interval '15 minutes' THEN
        RAISE EXCEPTION 'the time % of an entry is in the future', NEW.at USING ERRCODE = 'check_violation';
    END IF;
    SELECT revision, at INTO newest FROM revisions
     WHERE table_name = NEW.table_name AND id = NEW.id ORDER BY revision DESC LIMIT 1;
    IF NEW.revision < newest.revision THEN
        RAISE EXCEPTION 'the revision % is lower than the newest one', NEW.revision USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.revision > 16777216 + coalesce(newest.revision, 0) THEN
        RAISE EXCEPTION 'the revision % is more than 2^24 higher than the newest one', NEW.revision
            USING ERRCODE = 'check_violation';
    END IF;
    -- A transaction can have begun weeks ago.
    NEW.at := greatest(NEW.at, newest.at, clock_timestamp() - interval '15 minutes');
    RETURN NEW;
END
$$;

-- A temporary table of this name must not take the place of this one.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION limit_revision() SET search_path = %I, pg_temp', current_schema());
END
$$;

COMMENT ON FUNCTION limit_revision() IS 'Refuses an entry whose revision is lower than the newest one or more than 2^24 higher, or whose time is in the future. An entry is not older than the one before it, and at most 15 minutes old.';

CREATE TRIGGER revisions_limit
    BEFORE INSERT ON revisions
    FOR EACH ROW EXECUTE FUNCTION limit_revision();

-- An entry can take something away from a row that is not written. Entries of tables that nobody caches would
-- empty the caches of all instances, at each sign-in to the dashboard.
CREATE FUNCTION tell_catalog_of_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('catalog', NEW.table_name) WHERE pg_notification_queue_usage() < 0.5;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tell_catalog_of_revision() IS 'Notifies all instances that their cached rows of the table that an entry names are out of date.';

CREATE TRIGGER revisions_tell_catalog
    AFTER INSERT ON revisions
    FOR EACH ROW
    WHEN (NEW.accepted OR NEW.table_name IN ('services', 'emergency', 'policies', 'keys', 'api_keys', 'identities'))
    EXECUTE FUNCTION tell_catalog_of_revision();

-- Of people, only locks concern a cache, and what ends them: each token of a person adds an entry.
CREATE FUNCTION tell_catalog_of_lock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.what = 'locked' OR EXISTS (
        SELECT FROM revisions
         WHERE table_name = NEW.table_name AND id = NEW.id AND revision = NEW.revision - 1 AND what = 'locked'
    ) THEN
        PERFORM pg_notify('catalog', NEW.table_name) WHERE pg_notification_queue_usage() < 0.5;
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tell_catalog_of_lock() IS 'Notifies all instances that a person was locked or unlocked.';

CREATE TRIGGER revisions_tell_catalog_of_lock
    AFTER INSERT ON revisions
    FOR EACH ROW
    WHEN (NEW.table_name = 'people')
    EXECUTE FUNCTION tell_catalog_of_lock();

-- The generations of the row key. The keys are in the token.
CREATE TABLE row_keys (
    generation  bigint PRIMARY KEY CHECK (generation > 0),
    predecessor bigint NOT NULL CHECK (predecessor > 0 AND predecessor <> generation),
    endorsement bytea NOT NULL CHECK (octet_length(endorsement) = 32),
    completed   boolean NOT NULL DEFAULT false,
    made_at     timestamptz NOT NULL DEFAULT now()
);

REVOKE INSERT, UPDATE, DELETE ON row_keys FROM sealward_application;

COMMENT ON TABLE row_keys IS 'The generations of the row key after the first one. The newest one seals.';
COMMENT ON COLUMN row_keys.generation IS 'The number of the generation.';
COMMENT ON COLUMN row_keys.predecessor IS 'The generation that sealed before.';
COMMENT ON COLUMN row_keys.endorsement IS 'The MAC of the fingerprint of the generation, under its predecessor.';
COMMENT ON COLUMN row_keys.completed IS 'Whether it has sealed everything that generations before it sealed.';
COMMENT ON COLUMN row_keys.made_at IS 'The time.';

COMMENT ON TABLE revisions IS 'Every revision of every row that decides something.';
COMMENT ON COLUMN revisions.table_name IS 'The table of the row.';
COMMENT ON COLUMN revisions.id IS 'The row.';
COMMENT ON COLUMN revisions.revision IS 'The revision of the row, which its seal covers.';
COMMENT ON COLUMN revisions.what IS 'What happened: made, changed, gone; frozen of a service or the switch for everything, disabled of a key or an identity, revoked of an API key, and locked of a person have their effect also where the row was not written.';
COMMENT ON COLUMN revisions.at IS 'The time.';
COMMENT ON COLUMN revisions.member IS 'The row that joined a group of rows that decide together. Then table_name says what they share, and id is derived from it. Null for an entry of a row.';
COMMENT ON COLUMN revisions.content IS 'The digest of the columns that the seal of the row covers; null where the row was not written.';
COMMENT ON COLUMN revisions.kept_seal IS 'The seal of the row at this revision, which shows whether the row is still as it was sealed. Null where the row was not written.';
COMMENT ON COLUMN revisions.accepted IS 'Whether an operator has accepted that there is no such row. Until a later entry, nothing waits for it.';

CREATE VIEW locked_people WITH (security_invoker) AS
    SELECT id, subject FROM people
     WHERE locked_at IS NOT NULL
        OR EXISTS (SELECT FROM revisions
                    WHERE table_name = 'people' AND revisions.id = people.id
                      AND revisions.revision > people.revision AND what = 'locked');

-- Postgres writes through such a view.
REVOKE INSERT, UPDATE, DELETE ON locked_people FROM sealward_application;

COMMENT ON VIEW locked_people IS 'People whom their row or a later entry locks.';
COMMENT ON COLUMN locked_people.id IS 'The person.';
COMMENT ON COLUMN locked_people.subject IS 'The subject of the person.';

-- No row counts because these entries are absent: an earlier row needs the entry of its own revision, and
-- limit_revision() refuses to add that again below a newer one. Members of groups stay, and logouts as long as a session that
-- they end can last. Whoever adds an entry without a seal must not remove the last seal of a row at once: for 30 days, an
-- operator can still compare them. The login of the service cannot call this.
CREATE FUNCTION forget_superseded_revisions() RETURNS bigint LANGUAGE sql SECURITY DEFINER
    SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
    WITH forgotten AS (
        DELETE FROM revisions r
         USING (SELECT table_name, id, max(revision) AS revision
                  FROM revisions WHERE what IN ('made', 'changed', 'gone') AND member IS NULL
                   AND at < now() - interval '30 days'
                 GROUP BY table_name, id) AS newest
         WHERE r.table_name = newest.table_name AND r.id = newest.id AND r.revision < newest.revision
           AND r.member IS NULL
           AND r.what IN ('made', 'changed', 'gone')
           AND (r.table_name <> 'logouts at the provider' OR r.at < now() - interval '2 days')
        RETURNING 1
    )
    SELECT count(*) FROM forgotten
$$;

COMMENT ON FUNCTION forget_superseded_revisions() IS 'Deletes the entries before the newest made, changed or gone of each row that is older than 30 days. Returns their number.';

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION forget_superseded_revisions() SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE ALL ON FUNCTION forget_superseded_revisions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_superseded_revisions() TO sealward_retention;
