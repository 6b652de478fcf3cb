-- The collectors of audit records, such as a SIEM. While a collector has rows here, days are retired only when
-- it has their records.

CREATE TABLE audit_forward_positions (
    target    text NOT NULL CHECK (length(target) BETWEEN 1 AND 64),
    log       smallint NOT NULL CHECK (log IN (1, 2)),
    sent      bigint NOT NULL DEFAULT 0 CHECK (sent >= 0 AND sent >= confirmed),
    confirmed bigint NOT NULL DEFAULT 0 CHECK (confirmed >= 0),
    PRIMARY KEY (target, log)
);

COMMENT ON TABLE audit_forward_positions IS 'The position of each collector in each log. `sealward audit remove-target` removes a collector.';
COMMENT ON COLUMN audit_forward_positions.target IS 'The name of the collector, audit.forward.target.';
COMMENT ON COLUMN audit_forward_positions.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_forward_positions.sent IS 'The number of records that were sent.';
COMMENT ON COLUMN audit_forward_positions.confirmed IS 'The number of records that are not sent again.';
