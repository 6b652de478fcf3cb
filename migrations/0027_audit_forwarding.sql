-- The position of each collector in each log. While a collector has rows here, days are retired only
-- when it has their records.
CREATE TABLE audit_forward_positions (
    target    text NOT NULL CHECK (length(target) BETWEEN 1 AND 64),
    log       smallint NOT NULL CHECK (log IN (1, 2)),
    sent      bigint NOT NULL DEFAULT 0 CHECK (sent >= confirmed),
    confirmed bigint NOT NULL DEFAULT 0 CHECK (confirmed >= 0),
    PRIMARY KEY (target, log)
);

COMMENT ON TABLE audit_forward_positions IS 'How far each collector of audit records is. `sealward audit remove-target` removes a collector.';
COMMENT ON COLUMN audit_forward_positions.target IS 'The name of the collector, audit.forward.target.';
COMMENT ON COLUMN audit_forward_positions.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_forward_positions.sent IS 'The number of entries that were sent.';
COMMENT ON COLUMN audit_forward_positions.confirmed IS 'The number of entries that are not sent again.';

-- The entries of a day of operations must be confirmed by each collector.
CREATE FUNCTION check_audit_day_is_forwarded(part text) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
    late text;
BEGIN
    EXECUTE format(
        'SELECT min(p.target) FROM audit_forward_positions p WHERE p.log = 1 AND EXISTS '
        '(SELECT FROM %I r JOIN audit_log_index i ON i.record_id = r.id WHERE i.log_index >= p.confirmed)', part
    ) INTO late;
    IF late IS NOT NULL THEN
        RAISE EXCEPTION 'the day % has records that are not forwarded to %', right(part, 8), late
            USING ERRCODE = 'SW003';
    END IF;
END
$$;

COMMENT ON FUNCTION check_audit_day_is_forwarded(text) IS 'Raises SW003 if the table of a day has records that a collector does not have.';

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
    PERFORM check_audit_day_is_forwarded(part);
    EXECUTE format('ALTER TABLE crypto_operations_audit DETACH PARTITION %I', part);
    -- A detached day is reached by the owner alone, also if it was made before the roles were.
    EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, sealward_application, sealward_retention', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION detach_audit_day(date) IS 'Detaches the oldest day before the one named from the audit log; its table stays. Null if there is none. Refuses days that audit_retention keeps, and days with records that are not sealed or not forwarded.';

-- Replacing a function resets its search path. With the owner's privileges, names must not resolve to
-- objects of others.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION detach_audit_day(date) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION check_audit_day_is_forwarded(text) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE ALL ON FUNCTION check_audit_day_is_forwarded(text) FROM PUBLIC;
