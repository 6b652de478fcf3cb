-- The life of a day of the trail: made ahead, written, closed, and one day retired. What changes the
-- schema for that are functions with the owner's rights: they take a date and nothing else, and each
-- role may call those that are its business.

-- One request is found at once also in the day being written. Each index costs every request some
-- microseconds, so the others come when the day is closed.
CREATE INDEX crypto_operations_audit_by_request ON crypto_operations_audit (request_id, ts, id);

CREATE FUNCTION audit_day_name(day date) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'crypto_operations_audit_' || to_char(day, 'YYYYMMDD')
$$;

COMMENT ON FUNCTION audit_day_name(date) IS 'The name of the table that holds a day of the trail.';

-- Made aside and attached: unlike CREATE TABLE … PARTITION OF, that lets inserts into other days go on.
CREATE OR REPLACE FUNCTION make_audit_day(day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    part text := audit_day_name(day);
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('crypto_operations_audit'));
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE crypto_operations_audit INCLUDING ALL)', part);
    -- A day is reached through the whole trail alone, with the rights on that.
    EXECUTE format('REVOKE ALL ON %I FROM sealward_application', part);
    EXECUTE format(
        'ALTER TABLE crypto_operations_audit ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        part, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC'
    );
END
$$;

DROP FUNCTION close_audit_days(date);

-- The index made last tells that all are there: they are made in one transaction. It keeps writes
-- from that day alone, in which nothing is written any more.
CREATE FUNCTION close_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    part text;
BEGIN
    SELECT c.relname INTO part
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'crypto_operations_audit'::regclass
       AND c.relname < audit_day_name(before)
       AND to_regclass(quote_ident(c.relname || '_key')) IS NULL
     ORDER BY c.relname
     LIMIT 1;
    IF part IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (application_id, ts, id)', part || '_application', part);
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (operation_type, ts, id)', part || '_operation', part);
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (response_status, ts, id)', part || '_status', part);
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (policy_number, ts, id)', part || '_policy', part);
    EXECUTE format('CREATE INDEX %I ON %I (key_id, ts, id)', part || '_key', part);
    EXECUTE format('ANALYZE %I', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION close_audit_day(date) IS 'Gives the oldest day before the one named that lacks them the indexes that queries want; null when none does.';

-- Detaching locks the whole trail for an instant. Who holds that lock up for longer, such as a
-- backup, must not make every request wait behind this: better to give up and come again.
CREATE FUNCTION detach_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER
SET lock_timeout = '250ms' AS $$
DECLARE
    part text;
BEGIN
    IF before >= (now() AT TIME ZONE 'UTC')::date THEN
        RAISE EXCEPTION 'the day being written cannot be detached';
    END IF;
    SELECT c.relname INTO part
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'crypto_operations_audit'::regclass
       AND c.relname < audit_day_name(before)
     ORDER BY c.relname
     LIMIT 1;
    IF part IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('ALTER TABLE crypto_operations_audit DETACH PARTITION %I', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION detach_audit_day(date) IS 'Takes the oldest day before the one named out of the trail; its table stays. Null when there is none.';

CREATE FUNCTION drop_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER
SET lock_timeout = '250ms' AS $$
DECLARE
    part text;
BEGIN
    SELECT relname INTO part
      FROM pg_class
     WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'crypto_operations_audit'::regclass)
       AND relkind = 'r' AND NOT relispartition
       AND relname ~ '^crypto_operations_audit_[0-9]{8}$' AND relname < audit_day_name(before)
     ORDER BY relname
     LIMIT 1;
    IF part IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('DROP TABLE %I', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION drop_audit_day(date) IS 'Drops the oldest detached day before the one named; one that is part of the trail is never dropped. Null when there is none.';

-- With the owner's rights, a name must not lead to what somebody else put in its place.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['make_audit_day', 'close_audit_day', 'detach_audit_day', 'drop_audit_day'] LOOP
        EXECUTE format('ALTER FUNCTION %I(date) SET search_path = %I, pg_temp', name, current_schema());
        EXECUTE format('REVOKE ALL ON FUNCTION %I(date) FROM PUBLIC', name);
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION make_audit_day(date), close_audit_day(date) TO sealward_application;
GRANT EXECUTE ON FUNCTION detach_audit_day(date), drop_audit_day(date) TO sealward_retention;
