-- A session remembers that a table does not exist. So to_regclass can miss the table of a day that
-- another session committed while this one waited for the lock. A query of pg_class finds it.
CREATE OR REPLACE FUNCTION make_audit_day(day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    part text := audit_day_name(day);
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('crypto_operations_audit'));
    IF EXISTS (SELECT FROM pg_class WHERE relname = part AND relnamespace =
                   (SELECT relnamespace FROM pg_class WHERE oid = 'crypto_operations_audit'::regclass)) THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE crypto_operations_audit INCLUDING ALL)', part);
    EXECUTE format('REVOKE ALL ON %I FROM sealward_application', part);
    EXECUTE format(
        'ALTER TABLE crypto_operations_audit ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        part, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC'
    );
END
$$;

COMMENT ON FUNCTION make_audit_day(date) IS 'Creates the partition of a day, unless it exists.';

-- Replacing a function resets its search path. With the owner's privileges, names must not resolve to
-- objects of others.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION make_audit_day(date) SET search_path = %I, pg_temp', current_schema());
END
$$;
