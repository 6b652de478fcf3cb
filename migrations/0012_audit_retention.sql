-- The minimum age of the days that may be retired. Only the owner can change it: the login that
-- retires days must not be able to retire recent ones.
CREATE TABLE audit_retention (
    is_only      boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    minimum_days integer NOT NULL CHECK (minimum_days BETWEEN 1 AND 36500)
);

COMMENT ON TABLE audit_retention IS 'One row: how long the audit log is kept at least. Only the owner of the schema can change it.';
COMMENT ON COLUMN audit_retention.is_only IS 'Always true, so that there is one row.';
COMMENT ON COLUMN audit_retention.minimum_days IS 'The number of whole days that detach_audit_day and drop_audit_day keep.';

INSERT INTO audit_retention (minimum_days) VALUES (90);

-- The default privileges of this schema allow the service to write to new tables.
REVOKE ALL ON audit_retention FROM PUBLIC, sealward_application, sealward_retention;
GRANT SELECT ON audit_retention TO sealward_application, sealward_retention;

-- Names of days are compared, so a date may not share the digits of another: 2026 BC is not 2026.
CREATE OR REPLACE FUNCTION audit_day_name(day date) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'crypto_operations_audit_' || to_char(day, 'YYYYMMDD')
     WHERE day BETWEEN DATE '2000-01-01' AND DATE '9999-12-31'
$$;

COMMENT ON FUNCTION audit_day_name(date) IS 'The name of the table that holds a day of the audit log. Null outside of 2000-01-01 to 9999-12-31.';

-- P0001 is every exception of a function; this code tells the caller which one it is.
CREATE FUNCTION check_audit_retention(before date) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
    kept integer := (SELECT minimum_days FROM audit_retention);
BEGIN
    IF audit_day_name(before) IS NULL THEN
        RAISE EXCEPTION 'the date must be from 2000-01-01 to 9999-12-31' USING ERRCODE = '22008';
    END IF;
    IF before > (now() AT TIME ZONE 'UTC')::date - coalesce(kept, 36500) THEN
        RAISE EXCEPTION 'days of the last % days cannot be retired: audit_retention.minimum_days', kept
            USING ERRCODE = 'SW001';
    END IF;
END
$$;

COMMENT ON FUNCTION check_audit_retention(date) IS 'Raises SW001 if a day before the one named must be kept, and 22008 if the date has no table name.';

CREATE OR REPLACE FUNCTION detach_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER
SET lock_timeout = '50ms' AS $$
DECLARE
    part text;
BEGIN
    PERFORM check_audit_retention(before);
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
    -- A detached day is reached by the owner alone, also if it was made before the roles were.
    EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, sealward_application, sealward_retention', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION detach_audit_day(date) IS 'Detaches the oldest day before the one named from the audit log; its table stays. Null if there is none. Refuses days that audit_retention keeps.';

CREATE OR REPLACE FUNCTION drop_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER
SET lock_timeout = '50ms' AS $$
DECLARE
    part text;
BEGIN
    PERFORM check_audit_retention(before);
    SELECT relname INTO part
      FROM pg_class
     WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'crypto_operations_audit'::regclass)
       AND relkind = 'r' AND NOT relispartition
       AND relname ~ '^crypto_operations_audit_[0-9]{8}$'
       AND relname < audit_day_name(before)
     ORDER BY relname
     LIMIT 1;
    IF part IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('DROP TABLE %I', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION drop_audit_day(date) IS 'Drops the oldest detached day before the one named; never a day of the audit log. Null if there is none. Refuses days that audit_retention keeps.';

-- These functions run with the privileges of the owner: names must not resolve to objects of others.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['check_audit_retention', 'detach_audit_day', 'drop_audit_day'] LOOP
        EXECUTE format('ALTER FUNCTION %I(date) SET search_path = %I, pg_temp', name, current_schema());
        EXECUTE format('REVOKE ALL ON FUNCTION %I(date) FROM PUBLIC', name);
    END LOOP;
END
$$;
