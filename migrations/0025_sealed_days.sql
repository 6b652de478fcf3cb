-- A day leaves the audit log only when all its records are sealed. Before `sealward audit init` nothing
-- is sealed, and days are retired as before.
CREATE FUNCTION check_audit_day_is_sealed(part text) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
    unsealed boolean := false;
BEGIN
    IF EXISTS (SELECT FROM audit_log_heads) THEN
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM %I r WHERE NOT EXISTS '
            '(SELECT FROM audit_log_index i WHERE i.record_id = r.id))', part
        ) INTO unsealed;
    END IF;
    IF unsealed THEN
        RAISE EXCEPTION 'the day % has records that are not sealed', right(part, 8) USING ERRCODE = 'SW002';
    END IF;
END
$$;

COMMENT ON FUNCTION check_audit_day_is_sealed(text) IS 'Raises SW002 if the table of a day has records that are not sealed.';

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
    PERFORM check_audit_day_is_sealed(part);
    EXECUTE format('ALTER TABLE crypto_operations_audit DETACH PARTITION %I', part);
    -- A detached day is reached by the owner alone, also if it was made before the roles were.
    EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, sealward_application, sealward_retention', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION detach_audit_day(date) IS 'Detaches the oldest day before the one named from the audit log; its table stays. Null if there is none. Refuses days that audit_retention keeps, and days with unsealed records.';

-- Replacing a function resets its search path. With the owner's privileges, names must not resolve to
-- objects of others.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION detach_audit_day(date) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION check_audit_day_is_sealed(text) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE ALL ON FUNCTION check_audit_day_is_sealed(text) FROM PUBLIC;
