-- A machine whose clock is ahead closes and drops no day that others still write into: the day that
-- these functions are told is held to Postgres' own clock. Detaching refuses such a day already.
CREATE OR REPLACE FUNCTION close_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    part text;
BEGIN
    SELECT c.relname INTO part
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'crypto_operations_audit'::regclass
       AND c.relname < audit_day_name(least(before, today))
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

COMMENT ON FUNCTION close_audit_day(date) IS 'Gives the oldest day before the one named, and before today, that lacks them the indexes that queries want; null when none does.';

CREATE OR REPLACE FUNCTION drop_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER
SET lock_timeout = '250ms' AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    part text;
BEGIN
    SELECT relname INTO part
      FROM pg_class
     WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'crypto_operations_audit'::regclass)
       AND relkind = 'r' AND NOT relispartition
       AND relname ~ '^crypto_operations_audit_[0-9]{8}$'
       AND relname < audit_day_name(least(before, today))
     ORDER BY relname
     LIMIT 1;
    IF part IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('DROP TABLE %I', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION drop_audit_day(date) IS 'Drops the oldest detached day before the one named, and before today; one that is part of the trail is never dropped. Null when there is none.';

-- Replacing a function takes its search path away. With the owner's rights, a name must not lead to
-- what somebody else put in its place.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['close_audit_day', 'drop_audit_day'] LOOP
        EXECUTE format('ALTER FUNCTION %I(date) SET search_path = %I, pg_temp', name, current_schema());
    END LOOP;
END
$$;

-- Health asks four times a second, and among a hundred thousand keys there is hardly ever one.
CREATE INDEX key_encryptions_worn ON key_encryptions (key_id) WHERE reserved >= 2147483648;

COMMENT ON INDEX key_encryptions_worn IS 'Keys that have encrypted 2^31 times, of which people are warned.';
