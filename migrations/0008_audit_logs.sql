-- The Merkle logs over the records of `crypto_operations_audit` and `management_events`. The service can only
-- insert into these tables, except the heads and the answers of the witnesses.

CREATE TABLE audit_log_keys (
    id         uuid PRIMARY KEY,
    public_key bytea NOT NULL,
    created_at timestamptz NOT NULL,
    revision   bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal       bytea
);

COMMENT ON TABLE audit_log_keys IS 'The keys that sign checkpoints. The newest one signs.';
COMMENT ON COLUMN audit_log_keys.id IS 'CKA_ID of the private key in the token.';
COMMENT ON COLUMN audit_log_keys.public_key IS 'The SubjectPublicKeyInfo in DER.';
COMMENT ON COLUMN audit_log_keys.created_at IS 'The creation time.';
COMMENT ON COLUMN audit_log_keys.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN audit_log_keys.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE audit_log_cosigners (
    id         uuid PRIMARY KEY,
    public_key bytea NOT NULL,
    created_at timestamptz NOT NULL,
    revision   bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal       bytea
);

COMMENT ON TABLE audit_log_cosigners IS 'The keys of the logs'' own cosignatures with ML-DSA-44. The newest one cosigns.';
COMMENT ON COLUMN audit_log_cosigners.id IS 'CKA_ID of the private key in the token.';
COMMENT ON COLUMN audit_log_cosigners.public_key IS 'The SubjectPublicKeyInfo in DER.';
COMMENT ON COLUMN audit_log_cosigners.created_at IS 'The creation time.';
COMMENT ON COLUMN audit_log_cosigners.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN audit_log_cosigners.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE audit_log_origins (
    id       uuid PRIMARY KEY,
    origin   text NOT NULL,
    revision bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal     bytea
);

COMMENT ON TABLE audit_log_origins IS 'The origins of the logs, which sealward audit init seals. A head with another origin is not signed.';
COMMENT ON COLUMN audit_log_origins.id IS 'The log: the number in audit_log_heads, as a UUID.';
COMMENT ON COLUMN audit_log_origins.origin IS 'The name of the log in its checkpoints.';
COMMENT ON COLUMN audit_log_origins.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN audit_log_origins.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE audit_log_heads (
    log             smallint PRIMARY KEY CHECK (log IN (1, 2)),
    origin          text NOT NULL,
    size            bigint NOT NULL CHECK (size >= 0),
    root            bytea NOT NULL CHECK (length(root) = 32),
    checkpoint      text,
    checkpoint_size bigint NOT NULL DEFAULT 0 CHECK (checkpoint_size <= size),
    checkpoint_at   timestamptz,
    cosigned        text,
    cosigned_size   bigint NOT NULL DEFAULT 0,
    cosigned_at     timestamptz,
    published       text,
    published_size  bigint NOT NULL DEFAULT 0,
    published_at    timestamptz
);

COMMENT ON TABLE audit_log_heads IS 'The head of each log. Without rows, records are not sealed.';
COMMENT ON COLUMN audit_log_heads.log IS '1 for operations, 2 for management.';
COMMENT ON COLUMN audit_log_heads.origin IS 'The name of the log in its checkpoints.';
COMMENT ON COLUMN audit_log_heads.size IS 'The number of sealed records.';
COMMENT ON COLUMN audit_log_heads.root IS 'The root of the tree of that size.';
COMMENT ON COLUMN audit_log_heads.checkpoint IS 'The latest signed checkpoint, a signed note; null before the first.';
COMMENT ON COLUMN audit_log_heads.checkpoint_size IS 'The size of the tree of that checkpoint.';
COMMENT ON COLUMN audit_log_heads.checkpoint_at IS 'The time of its signature; null before the first.';
COMMENT ON COLUMN audit_log_heads.cosigned IS 'The latest checkpoint with cosignatures, a signed note; null before the first.';
COMMENT ON COLUMN audit_log_heads.cosigned_size IS 'The size of the tree of that checkpoint.';
COMMENT ON COLUMN audit_log_heads.cosigned_at IS 'The time at which this service signed it; null before the first.';
COMMENT ON COLUMN audit_log_heads.published IS 'The checkpoint that is served without authentication, a signed note; null before the first.';
COMMENT ON COLUMN audit_log_heads.published_size IS 'The size of the tree of that checkpoint.';
COMMENT ON COLUMN audit_log_heads.published_at IS 'The time of its publication; null before the first.';

CREATE TABLE audit_log_index (
    log       smallint NOT NULL CHECK (log IN (1, 2)),
    log_index bigint NOT NULL CHECK (log_index >= 0),
    record_ts timestamptz NOT NULL,
    record_id uuid NOT NULL,
    leaf_hash bytea NOT NULL CHECK (length(leaf_hash) = 32),
    PRIMARY KEY (log, log_index),
    -- A record and an event can have the same identifier: the service can insert such a pair.
    UNIQUE (record_id, log)
);

COMMENT ON TABLE audit_log_index IS 'The position of each sealed record in its log. Rows stay when the day of the record is retired.';
COMMENT ON COLUMN audit_log_index.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_log_index.log_index IS 'The position in the log, from 0.';
COMMENT ON COLUMN audit_log_index.record_ts IS 'The time of the record, which determines its day.';
COMMENT ON COLUMN audit_log_index.record_id IS 'The record.';
COMMENT ON COLUMN audit_log_index.leaf_hash IS 'The RFC 6962 leaf hash of the record, a hash of the tiles of level 0.';

CREATE TABLE audit_log_nodes (
    log   smallint NOT NULL CHECK (log IN (1, 2)),
    level smallint NOT NULL CHECK (level BETWEEN 1 AND 7),
    place bigint NOT NULL CHECK (place >= 0),
    hash  bytea NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (log, level, place)
);

COMMENT ON TABLE audit_log_nodes IS 'The hashes of the tiles of level 1 and above.';
COMMENT ON COLUMN audit_log_nodes.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_log_nodes.level IS 'The level of the tile that has the hash (C2SP tlog-tiles).';
COMMENT ON COLUMN audit_log_nodes.place IS 'The position on the level, from 0.';
COMMENT ON COLUMN audit_log_nodes.hash IS 'The root of a full tile of the level below.';

CREATE TABLE audit_log_witnesses (
    log         smallint NOT NULL CHECK (log IN (1, 2)),
    witness     text NOT NULL,
    size        bigint NOT NULL CHECK (size >= 0),
    cosigned_at timestamptz,
    failure     text,
    PRIMARY KEY (log, witness)
);

COMMENT ON TABLE audit_log_witnesses IS 'The latest answers of the witnesses (C2SP tlog-witness).';
COMMENT ON COLUMN audit_log_witnesses.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_log_witnesses.witness IS 'The name of its key.';
COMMENT ON COLUMN audit_log_witnesses.size IS 'The size of the tree of the latest checkpoint that it cosigned.';
COMMENT ON COLUMN audit_log_witnesses.cosigned_at IS 'The time of that cosignature by the clock of the witness; null before the first.';
COMMENT ON COLUMN audit_log_witnesses.failure IS 'The reason why it did not cosign; null if the latest request succeeded.';

REVOKE UPDATE, DELETE ON audit_log_keys, audit_log_cosigners, audit_log_index, audit_log_nodes
    FROM sealward_application;
REVOKE DELETE ON audit_log_heads, audit_log_origins FROM sealward_application;
