-- The partitions of the audit records: created ahead, closed when their day is over, detached and dropped. These
-- functions have the privileges of the owner and accept only a date. Each role can call only its own functions.

CREATE FUNCTION audit_day_name(day date) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'crypto_operations_audit_' || to_char(day, 'YYYYMMDD')
     WHERE day BETWEEN DATE '2000-01-01' AND DATE '9999-12-31'
$$;

COMMENT ON FUNCTION audit_day_name(date) IS 'The name of the table of a day. Null outside of 2000-01-01 to 9999-12-31, whose names compare like dates.';

-- The table is created separately and then attached, because CREATE TABLE … PARTITION OF blocks inserts into the
-- other days.
CREATE FUNCTION make_audit_day(day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
DECLARE
    part text := audit_day_name(day);
    today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    -- Each query of the audit log locks its days, so that too many of them would use up the locks of the server. An
    -- instance creates a week ahead. The clocks of instances and of Postgres differ by less than the rest.
    IF (day BETWEEN today - 2 AND today + 15) IS NOT TRUE AND NOT pg_has_role(session_user, current_user, 'MEMBER') THEN
        RAISE EXCEPTION 'the day % is too far from today, which is % by the clock of Postgres', day, today
            USING ERRCODE = 'SW006';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('crypto_operations_audit'));
    -- A session remembers that a table does not exist. So to_regclass can miss a table that another session
    -- committed while this one waited for the lock. A query of pg_class finds it.
    IF EXISTS (SELECT FROM pg_class WHERE relname = part AND relnamespace =
                   (SELECT relnamespace FROM pg_class WHERE oid = 'crypto_operations_audit'::regclass)) THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE crypto_operations_audit INCLUDING ALL)', part);
    -- The service uses the parent table, with the privileges on it.
    EXECUTE format('REVOKE ALL ON %I FROM sealward_application', part);
    EXECUTE format(
        'ALTER TABLE crypto_operations_audit ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        part, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC'
    );
END
$$;

COMMENT ON FUNCTION make_audit_day(date) IS 'Creates the partition of a day, unless it exists. Only the owner can create one of a day that is more than 2 days ago or more than 15 days ahead; others get SW006.';

-- All indexes are created in one transaction, so the last one shows that all exist. Creating them blocks writes
-- only to that day, which is over. The clock of Postgres decides what is over, so that a fast clock of another
-- machine closes no day that is still written.
CREATE FUNCTION close_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER
SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
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
    EXECUTE format(
        'CREATE INDEX IF NOT EXISTS %I ON %I USING gin '
        '(application_id, operation_type, response_status, policy_number, key_id)', part || '_value', part
    );
    EXECUTE format('CREATE INDEX %I ON %I (key_id, ts, id)', part || '_key', part);
    EXECUTE format('ANALYZE %I', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION close_audit_day(date) IS 'Creates the indexes for queries on the oldest day before the given one and before today that lacks them. Null if there is none.';

-- P0001 is every exception of a function. The codes SW001 to SW006 name the reason for the caller.
CREATE FUNCTION check_audit_retention(before date) RETURNS void LANGUAGE plpgsql STABLE
SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
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

COMMENT ON FUNCTION check_audit_retention(date) IS 'Raises SW001 if a day before the given one must be kept, and 22008 if the date has no table name.';

-- A segment spans 256 ms, so that the first one after midnight can have records of the day before. A day is retired
-- long after it.
CREATE FUNCTION audit_positions_of_day(day date) RETURNS SETOF audit_log_positions LANGUAGE sql STABLE AS $$
    SELECT * FROM audit_log_positions
     WHERE log = 1
       AND segment >= (lpad(to_hex(extract(epoch FROM day)::bigint * 1000), 12, '0') || repeat('0', 20))::uuid
       AND segment <= audit_segment_bound(
               (lpad(to_hex(extract(epoch FROM day + 1)::bigint * 1000), 12, '0') || repeat('0', 20))::uuid)
$$;

COMMENT ON FUNCTION audit_positions_of_day(date) IS 'The positions of the segments that can have records of a day.';

-- Before `sealward audit init`, nothing is sealed, and days are retired without this check. Only segments below the
-- size of the log are sealed, and a sealed record has the time of its identifier. EXCEPT never compares each record
-- with each position, as a join can.
CREATE FUNCTION check_audit_day_is_sealed(part text) RETURNS void LANGUAGE plpgsql STABLE
SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
DECLARE
    unsealed uuid;
BEGIN
    IF EXISTS (SELECT FROM audit_log_heads) THEN
        EXECUTE format(
            'SELECT id FROM (SELECT id, ts FROM %I EXCEPT '
            'SELECT sealed.id, audit_id_time(sealed.id) FROM audit_positions_of_day($1) p '
            '  JOIN audit_log_segments s ON s.log = 1 AND s.id = p.segment CROSS JOIN LATERAL unnest(s.ids) AS sealed (id) '
            ' WHERE p.base < (SELECT size FROM audit_log_heads WHERE log = 1)) AS unsealed LIMIT 1', part
        ) INTO unsealed USING to_date(right(part, 8), 'YYYYMMDD');
    END IF;
    IF unsealed IS NOT NULL THEN
        RAISE EXCEPTION 'the day % has records that are not sealed, such as %', right(part, 8), unsealed
            USING ERRCODE = 'SW002';
    END IF;
END
$$;

COMMENT ON FUNCTION check_audit_day_is_sealed(text) IS 'Raises SW002 if the table of a day has records that are not sealed.';

CREATE FUNCTION check_audit_day_is_forwarded(part text) RETURNS void LANGUAGE plpgsql STABLE
SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
DECLARE
    late text;
BEGIN
    EXECUTE format(
        'SELECT min(f.target) FROM audit_forward_positions f WHERE f.log = 1 AND EXISTS '
        '(SELECT FROM audit_positions_of_day($1) p JOIN audit_log_segments s ON s.log = 1 AND s.id = p.segment '
        '  CROSS JOIN LATERAL unnest(s.ids) WITH ORDINALITY AS sealed (id, place) '
        '  JOIN %I r ON r.id = sealed.id AND r.ts = audit_id_time(sealed.id) '
        '  WHERE p.base + p.count > f.confirmed AND p.base + sealed.place > f.confirmed)', part
    ) INTO late USING to_date(right(part, 8), 'YYYYMMDD');
    IF late IS NOT NULL THEN
        RAISE EXCEPTION 'the day % has records that are not forwarded to %', right(part, 8), late
            USING ERRCODE = 'SW003';
    END IF;
END
$$;

COMMENT ON FUNCTION check_audit_day_is_forwarded(text) IS 'Raises SW003 if the table of a day has records that a collector does not have.';

CREATE FUNCTION check_audit_day_bounds(part text) RETURNS void LANGUAGE plpgsql STABLE
SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
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

-- Detaching locks the whole audit log for a moment. If another session, such as a backup, holds a lock, all
-- requests would wait behind this function. It gives up instead, and its caller tries again.
CREATE FUNCTION detach_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER
SET lock_timeout = '50ms' SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
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
    -- Only the owner can read a detached day, whatever was granted on its table.
    EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, sealward_application, sealward_retention', part);
    RETURN to_date(right(part, 8), 'YYYYMMDD');
END
$$;

COMMENT ON FUNCTION detach_audit_day(date) IS 'Detaches the oldest day before the given one from the audit log; its table stays. Null if there is none. Refuses days that audit_retention keeps, days with records that are not sealed or not forwarded, and tables that contain another period than their name says.';

CREATE FUNCTION drop_audit_day(before date) RETURNS date LANGUAGE plpgsql SECURITY DEFINER
SET lock_timeout = '50ms' SET timezone = 'UTC' SET datestyle = 'ISO' AS $$
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

COMMENT ON FUNCTION drop_audit_day(date) IS 'Drops the oldest detached day before the given one; never a day of the audit log. Null if there is none. Refuses days that audit_retention keeps.';

-- These functions run with the privileges of the owner, so names must not resolve to objects of others. The
-- settings of the caller must not decide how they read names, dates and times: see their declarations.
DO $$
DECLARE
    called regprocedure;
BEGIN
    FOREACH called IN ARRAY ARRAY[
        'make_audit_day(date)', 'close_audit_day(date)', 'detach_audit_day(date)', 'drop_audit_day(date)',
        'check_audit_retention(date)', 'check_audit_day_is_sealed(text)', 'check_audit_day_is_forwarded(text)',
        'check_audit_day_bounds(text)', 'audit_positions_of_day(date)'
    ]::regprocedure[] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', called, current_schema());
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', called);
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION make_audit_day(date), close_audit_day(date) TO sealward_application;
GRANT EXECUTE ON FUNCTION detach_audit_day(date), drop_audit_day(date) TO sealward_retention;
