-- The identifier of a record begins with its time. The service looks for a record by both, so a second row with
-- the same identifier and another time could take its place in the Merkle log and hide records from lists.
-- Rows of earlier releases are not checked: `ALTER TABLE crypto_operations_audit VALIDATE CONSTRAINT
-- crypto_operations_audit_id_has_time` does this.
ALTER TABLE crypto_operations_audit
    ADD CONSTRAINT crypto_operations_audit_id_has_time CHECK (
        substr(uuid_send(id), 1, 6) = substr(int8send(round(date_part('epoch', ts) * 1000)::bigint), 3)
        AND ts = date_trunc('milliseconds', ts)
    ) NOT VALID;

-- A sealed record has the time that its position has.
CREATE OR REPLACE FUNCTION check_audit_day_is_sealed(part text) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
    unsealed boolean := false;
BEGIN
    IF EXISTS (SELECT FROM audit_log_heads) THEN
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM %I r WHERE NOT EXISTS '
            '(SELECT FROM audit_log_index i WHERE i.record_id = r.id AND i.log = 1 '
            '    AND i.record_ts = date_trunc(''milliseconds'', r.ts) '
            '    AND i.log_index < (SELECT size FROM audit_log_heads WHERE log = 1)))', part
        ) INTO unsealed;
    END IF;
    IF unsealed THEN
        RAISE EXCEPTION 'the day % has records that are not sealed', right(part, 8) USING ERRCODE = 'SW002';
    END IF;
END
$$;

CREATE FUNCTION check_audit_day_bounds(part text) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
    day date := to_date(right(part, 8), 'YYYYMMDD');
    bounds text := (
        SELECT pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'crypto_operations_audit'::regclass AND c.relname = part
    );
BEGIN
    IF bounds IS DISTINCT FROM format(
        'FOR VALUES FROM (%L) TO (%L)', day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC'
    ) THEN
        RAISE EXCEPTION 'the table of the day % contains another period', right(part, 8)
            USING ERRCODE = 'SW004', DETAIL = coalesce(bounds, 'no partition');
    END IF;
END
$$;

COMMENT ON FUNCTION check_audit_day_bounds(text) IS 'Raises SW004 if the table of a day does not contain exactly this day.';

REVOKE ALL ON FUNCTION check_audit_day_bounds(text) FROM PUBLIC;

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
    PERFORM check_audit_day_bounds(part);
    PERFORM check_audit_day_is_sealed(part);
    PERFORM check_audit_day_is_forwarded(part);
    EXECUTE format('ALTER TABLE crypto_operations_audit DETACH PARTITION %I', part);
    -- A detached day is reached by the owner alone, also if it was made before the roles were.
    EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, sealward_application, sealward_retention', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION detach_audit_day(date) IS 'Detaches the oldest day before the one named from the audit log; its table stays. Null if there is none. Refuses days that audit_retention keeps, days with records that are not sealed or not forwarded, and tables that contain another period than their name says.';

-- The caller's settings must not decide how these functions read names, dates and times. Replacing a function
-- resets its settings.
DO $$
DECLARE
    called regprocedure;
BEGIN
    FOREACH called IN ARRAY ARRAY[
        'make_audit_day(date)', 'close_audit_day(date)', 'detach_audit_day(date)', 'drop_audit_day(date)',
        'check_audit_retention(date)', 'check_audit_day_bounds(text)', 'check_audit_day_is_sealed(text)',
        'check_audit_day_is_forwarded(text)'
    ]::regprocedure[] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', called, current_schema());
        EXECUTE format('ALTER FUNCTION %s SET timezone = ''UTC''', called);
        EXECUTE format('ALTER FUNCTION %s SET datestyle = ''ISO''', called);
    END LOOP;
END
$$;

-- The certificate of an API key is cached, too.
DROP TRIGGER api_keys_tell_catalog ON api_keys;

CREATE TRIGGER api_keys_tell_catalog
    AFTER DELETE OR UPDATE OF name, type, service_id, policy_id, allowed_operations, allowed_cidrs,
        certificate_sha256, digest, roles, person, expires_at, revoked_at, revision ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();
