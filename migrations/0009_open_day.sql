-- Rare values in the day being written. A Bloom filter for each 32 pages tells where a value cannot
-- be: a request pays nothing measurable for it, and the pages that are left are few.
CREATE INDEX crypto_operations_audit_by_absence ON crypto_operations_audit USING brin (
    application_id uuid_bloom_ops, operation_type text_bloom_ops, response_status int2_bloom_ops,
    policy_number text_bloom_ops, key_id uuid_bloom_ops
) WITH (pages_per_range = 32);

COMMENT ON INDEX crypto_operations_audit_by_absence IS 'Tells in which pages of a day a value does not occur. Pages written since summarize_audit_days was called last are read.';

-- Vacuum holds the same lock, for as long as it takes. Whoever waits a second for it has it called
-- off, so this gives up before that and does it the next time.
CREATE FUNCTION summarize_audit_days(since date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET lock_timeout = '500ms' AS $$
BEGIN
    PERFORM brin_summarize_new_values(part.inhrelid)
       FROM pg_inherits part
       JOIN pg_index i ON i.indexrelid = part.inhrelid
       JOIN pg_class day ON day.oid = i.indrelid
      WHERE part.inhparent = 'crypto_operations_audit_by_absence'::regclass
        AND day.relname >= audit_day_name(since);
EXCEPTION WHEN lock_not_available THEN
    RETURN;
END
$$;

COMMENT ON FUNCTION summarize_audit_days(date) IS 'Tells crypto_operations_audit_by_absence of what was written since the last time, in the day named and later ones.';

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION summarize_audit_days(date) SET search_path = %I, pg_temp', current_schema());
END
$$;
REVOKE ALL ON FUNCTION summarize_audit_days(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION summarize_audit_days(date) TO sealward_application;
