-- Only positions below the size of the log are sealed. The service can insert other rows into audit_log_index,
-- which do not make a record sealed.
CREATE OR REPLACE FUNCTION check_audit_day_is_sealed(part text) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
    unsealed boolean := false;
BEGIN
    IF EXISTS (SELECT FROM audit_log_heads) THEN
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM %I r WHERE NOT EXISTS '
            '(SELECT FROM audit_log_index i WHERE i.record_id = r.id AND i.log = 1 '
            '    AND i.log_index < (SELECT size FROM audit_log_heads WHERE log = 1)))', part
        ) INTO unsealed;
    END IF;
    IF unsealed THEN
        RAISE EXCEPTION 'the day % has records that are not sealed', right(part, 8) USING ERRCODE = 'SW002';
    END IF;
END
$$;

-- Replacing a function resets its search path. With the owner's privileges, names must not resolve to
-- objects of others.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION check_audit_day_is_sealed(text) SET search_path = %I, pg_temp', current_schema());
END
$$;
