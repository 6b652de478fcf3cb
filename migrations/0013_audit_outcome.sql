-- A nullable column without a default changes the catalogue alone, however large the days are.
ALTER TABLE crypto_operations_audit ADD COLUMN outcome text;

COMMENT ON COLUMN crypto_operations_audit.outcome IS 'What the request led to: done, passed_through, dropped, failed or refused; null in records of earlier releases.';
