-- Witnesses cosign checkpoints (C2SP tlog-witness).
ALTER TABLE audit_log_heads
    ADD COLUMN cosigned text,
    ADD COLUMN cosigned_size bigint NOT NULL DEFAULT 0,
    ADD COLUMN cosigned_at timestamptz;

COMMENT ON COLUMN audit_log_heads.cosigned IS 'The latest checkpoint with cosignatures, a signed note.';
COMMENT ON COLUMN audit_log_heads.cosigned_size IS 'The size of the tree of that checkpoint.';
COMMENT ON COLUMN audit_log_heads.cosigned_at IS 'The time at which this service signed it.';

CREATE TABLE audit_log_witnesses (
    log         smallint NOT NULL CHECK (log IN (1, 2)),
    witness     text NOT NULL,
    size        bigint NOT NULL CHECK (size >= 0),
    cosigned_at timestamptz,
    failure     text,
    PRIMARY KEY (log, witness)
);

COMMENT ON TABLE audit_log_witnesses IS 'The latest answers of the witnesses.';
COMMENT ON COLUMN audit_log_witnesses.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_log_witnesses.witness IS 'The name of its key.';
COMMENT ON COLUMN audit_log_witnesses.size IS 'The size of the tree of the latest checkpoint that it cosigned.';
COMMENT ON COLUMN audit_log_witnesses.cosigned_at IS 'The time of that cosignature by the clock of the witness.';
COMMENT ON COLUMN audit_log_witnesses.failure IS 'Why it did not cosign; null if the latest request succeeded.';
