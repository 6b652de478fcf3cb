-- The Merkle logs over the records of `crypto_operations_audit` and `management_events`. The service inserts segments;
-- only functions of the owner give them positions.

CREATE TABLE audit_log_keys (
    id         uuid PRIMARY KEY,
    public_key bytea NOT NULL CHECK (octet_length(public_key) <= 8192),
    created_at timestamptz NOT NULL CHECK (created_at >= '1970-01-01' AND created_at < '9999-01-01'),
    revision   bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal       bytea CHECK (octet_length(seal) <= 64)
);

COMMENT ON TABLE audit_log_keys IS 'The keys that sign checkpoints. The newest one signs.';
COMMENT ON COLUMN audit_log_keys.id IS 'CKA_ID of the private key in the token.';
COMMENT ON COLUMN audit_log_keys.public_key IS 'The SubjectPublicKeyInfo in DER.';
COMMENT ON COLUMN audit_log_keys.created_at IS 'The creation time.';
COMMENT ON COLUMN audit_log_keys.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN audit_log_keys.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE audit_log_cosigners (
    id         uuid PRIMARY KEY,
    public_key bytea NOT NULL CHECK (octet_length(public_key) <= 8192),
    created_at timestamptz NOT NULL CHECK (created_at >= '1970-01-01' AND created_at < '9999-01-01'),
    revision   bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal       bytea CHECK (octet_length(seal) <= 64)
);

COMMENT ON TABLE audit_log_cosigners IS 'The keys of the logs'' own cosignatures with ML-DSA-44. The newest one cosigns.';
COMMENT ON COLUMN audit_log_cosigners.id IS 'CKA_ID of the private key in the token.';
COMMENT ON COLUMN audit_log_cosigners.public_key IS 'The SubjectPublicKeyInfo in DER.';
COMMENT ON COLUMN audit_log_cosigners.created_at IS 'The creation time.';
COMMENT ON COLUMN audit_log_cosigners.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN audit_log_cosigners.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE report_keys (
    id         uuid PRIMARY KEY,
    public_key bytea NOT NULL CHECK (octet_length(public_key) <= 8192),
    created_at timestamptz NOT NULL CHECK (created_at >= '1970-01-01' AND created_at < '9999-01-01'),
    revision   bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal       bytea CHECK (octet_length(seal) <= 64)
);

COMMENT ON TABLE report_keys IS 'The keys that sign reports, which name checkpoints. The newest one signs.';
COMMENT ON COLUMN report_keys.id IS 'CKA_ID of the private key in the token.';
COMMENT ON COLUMN report_keys.public_key IS 'The SubjectPublicKeyInfo in DER.';
COMMENT ON COLUMN report_keys.created_at IS 'The creation time.';
COMMENT ON COLUMN report_keys.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN report_keys.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE audit_log_origins (
    id       uuid PRIMARY KEY CHECK (
        id IN ('00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002')
    ),
    origin   text NOT NULL CHECK (octet_length(origin) <= 2048),
    accepted bigint NOT NULL CHECK (accepted >= 0),
    foreign_segments uuid[] NOT NULL CHECK (cardinality(foreign_segments) <= 1048576),
    forged_segments uuid[] NOT NULL CHECK (cardinality(forged_segments) <= 1048576),
    revision bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal     bytea CHECK (octet_length(seal) <= 64)
);

COMMENT ON TABLE audit_log_origins IS 'The origins of the logs, which sealward audit init seals. A head with another origin is not signed.';
COMMENT ON COLUMN audit_log_origins.id IS 'The log: the number in audit_log_heads, as a UUID.';
COMMENT ON COLUMN audit_log_origins.origin IS 'The name of the log in its checkpoints.';
COMMENT ON COLUMN audit_log_origins.accepted IS 'The size of the tree when the log got this origin. sealward audit init accepted it as it was.';
COMMENT ON COLUMN audit_log_origins.foreign_segments IS 'The segments below that size that no instance wrote. sealward audit init accepted them.';
COMMENT ON COLUMN audit_log_origins.forged_segments IS 'Those of them that are forged for certain: the token had the key that their MAC names, or no token ever had it. Verification leaves them out.';
COMMENT ON COLUMN audit_log_origins.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN audit_log_origins.seal IS 'The MAC of the row under the row key; a row without one does not count.';

CREATE TABLE audit_log_heads (
    log             smallint PRIMARY KEY CHECK (log IN (1, 2)),
    origin          text NOT NULL,
    size            bigint NOT NULL DEFAULT 0 CHECK (size >= 0),
    root            bytea NOT NULL DEFAULT sha256('') CHECK (length(root) = 32),
    checkpoint      text,
    checkpoint_size bigint NOT NULL DEFAULT 0 CHECK (checkpoint_size BETWEEN 0 AND size),
    checkpoint_at   timestamptz,
    cosigned        text,
    cosigned_size   bigint NOT NULL DEFAULT 0,
    cosigned_at     timestamptz,
    published       text,
    published_size  bigint NOT NULL DEFAULT 0,
    published_at    timestamptz,
    -- What the service could not read, or could not replace, would stop the log.
    CONSTRAINT audit_log_heads_can_be_read CHECK (
        cosigned_size BETWEEN 0 AND size AND published_size BETWEEN 0 AND size
        AND checkpoint_at >= '2000-01-01' AND checkpoint_at < '9999-01-01'
        AND cosigned_at >= '2000-01-01' AND cosigned_at < '9999-01-01'
        AND published_at >= '2000-01-01' AND published_at < '9999-01-01'
        AND octet_length(origin) <= 2048
        AND octet_length(checkpoint) <= 65536 AND octet_length(cosigned) <= 65536 AND octet_length(published) <= 65536
    )
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

-- Identifiers begin with their time in milliseconds. These functions are inlined into the queries.
CREATE FUNCTION audit_id_millis(id uuid) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ('x0000' || encode(substr(uuid_send(id), 1, 6), 'hex'))::bit(64)::bigint
$$;

CREATE FUNCTION audit_id_time(id uuid) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT timestamptz 'epoch' + audit_id_millis(id) * interval '1 millisecond'
$$;

CREATE FUNCTION audit_segment_bound(id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex(least(audit_id_millis(id) + 256, 281474976710655)), 12, '0') || repeat('f', 20))::uuid
$$;

COMMENT ON FUNCTION audit_id_millis(uuid) IS 'The time of an identifier in milliseconds since 1970.';
COMMENT ON FUNCTION audit_id_time(uuid) IS 'The time of an identifier.';
COMMENT ON FUNCTION audit_segment_bound(uuid) IS 'The last identifier that the segment of a record can have.';

-- Postgres parses the text of a CHECK in each statement, so there is one, of what instances could not read.
-- seal_audit_segments checks the rest.
CREATE TABLE audit_log_segments (
    log    smallint NOT NULL,
    id     uuid NOT NULL,
    ids    uuid[] NOT NULL,
    hashes bytea NOT NULL,
    mac    bytea NOT NULL,
    xact   xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (log, id),
    CHECK (cardinality(ids) <= 512 AND octet_length(hashes) <= 16384 AND octet_length(mac) <= 64)
) WITH (toast_tuple_target = 8160);

ALTER TABLE audit_log_segments ALTER ids SET STORAGE EXTERNAL, ALTER hashes SET STORAGE EXTERNAL;

-- In this order, so that Postgres never takes it to look up a segment.
CREATE INDEX audit_log_segments_xact_idx ON audit_log_segments (xact, id, log);

COMMENT ON TABLE audit_log_segments IS 'Records that one transaction wrote, at most 512 in 256 ms, with the hashes of their leaves. The transaction of the records writes them. Rows stay when the day of the records is retired.';
COMMENT ON COLUMN audit_log_segments.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_log_segments.id IS 'The last of the records, or a later identifier within 256 ms of the first one.';
COMMENT ON COLUMN audit_log_segments.ids IS 'The records, in ascending order.';
COMMENT ON COLUMN audit_log_segments.hashes IS 'Their RFC 6962 leaf hashes, 32 bytes each: hashes of the tiles of level 0.';
COMMENT ON COLUMN audit_log_segments.mac IS 'The generation of the row key, and its MAC of the other columns. The sealer passes over rows with another one.';
COMMENT ON COLUMN audit_log_segments.xact IS 'The transaction that inserted it, by which the sealer finds it at once. Segments that were restored are found by a slower search.';

CREATE TABLE audit_log_positions (
    log     smallint NOT NULL CHECK (log IN (1, 2)),
    base    bigint NOT NULL CHECK (base >= 0),
    count   smallint NOT NULL CHECK (count > 0),
    segment uuid NOT NULL,
    PRIMARY KEY (log, base),
    UNIQUE (log, segment)
);

COMMENT ON TABLE audit_log_positions IS 'The positions of the sealed segments.';
COMMENT ON COLUMN audit_log_positions.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_log_positions.base IS 'The position of its first record in the log, from 0. The others follow.';
COMMENT ON COLUMN audit_log_positions.count IS 'The number of its records.';
COMMENT ON COLUMN audit_log_positions.segment IS 'The segment.';

CREATE VIEW audit_log_index AS
SELECT p.log, p.base + record.place - 1 AS log_index, audit_id_time(record.id) AS record_ts, record.id AS record_id,
       substr(s.hashes, (32 * record.place - 31)::integer, 32) AS leaf_hash
  FROM audit_log_positions p
  JOIN audit_log_segments s ON s.log = p.log AND s.id = p.segment
 CROSS JOIN LATERAL unnest(s.ids) WITH ORDINALITY AS record (id, place);

COMMENT ON VIEW audit_log_index IS 'The position of each sealed record in its log. It reads whole logs: for one record, use audit_log_places.';
COMMENT ON COLUMN audit_log_index.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_log_index.log_index IS 'The position in the log, from 0.';
COMMENT ON COLUMN audit_log_index.record_ts IS 'The time in the identifier of the record.';
COMMENT ON COLUMN audit_log_index.record_id IS 'The record.';
COMMENT ON COLUMN audit_log_index.leaf_hash IS 'The RFC 6962 leaf hash of the record.';

-- Inlined as well, so that a LIMIT ends the search at the first segment, which is nearly always the only one.
CREATE FUNCTION audit_log_places(which smallint, record uuid)
RETURNS TABLE (log_index bigint, leaf_hash bytea, segment uuid) LANGUAGE sql STABLE AS $$
    SELECT p.base + array_position(s.ids, record) - 1, substr(s.hashes, 32 * array_position(s.ids, record) - 31, 32), s.id
      FROM audit_log_segments s
      JOIN audit_log_positions p ON p.log = s.log AND p.segment = s.id
     WHERE s.log = which AND s.id >= record AND s.id <= audit_segment_bound(record) AND record = ANY (s.ids)
       AND p.base < (SELECT size FROM audit_log_heads WHERE log = which)
     ORDER BY s.id
$$;

COMMENT ON FUNCTION audit_log_places(smallint, uuid) IS 'The positions of a record in a log, with their leaf hashes and segments. More than one position shows a forged segment.';

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
    witness     text NOT NULL CHECK (octet_length(witness) <= 2048),
    size        bigint NOT NULL CHECK (size >= 0),
    cosigned_at timestamptz CHECK (cosigned_at >= '2000-01-01' AND cosigned_at < '9999-01-01'),
    failure     text CHECK (octet_length(failure) <= 65536),
    PRIMARY KEY (log, witness)
);

COMMENT ON TABLE audit_log_witnesses IS 'The latest answers of the witnesses (C2SP tlog-witness).';
COMMENT ON COLUMN audit_log_witnesses.log IS 'As in audit_log_heads.';
COMMENT ON COLUMN audit_log_witnesses.witness IS 'The name of its key.';
COMMENT ON COLUMN audit_log_witnesses.size IS 'The size of the tree of the latest checkpoint that it cosigned.';
COMMENT ON COLUMN audit_log_witnesses.cosigned_at IS 'The time of that cosignature by the clock of the witness; null before the first.';
COMMENT ON COLUMN audit_log_witnesses.failure IS 'The reason why it did not cosign; null if the latest request succeeded.';

-- The rows of segments come from the login of the service, which also computes the root: so the service verifies the
-- MACs before it calls this, and again when it did not make the call itself.
CREATE FUNCTION seal_audit_segments(
    which smallint, old_origin text, old_size bigint, old_root bytea, new_root bytea, sealed uuid[],
    levels smallint[], places bigint[], node_hashes bytea[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET timezone = 'UTC' SET datestyle = 'ISO'
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    added bigint;
    known bigint;
    filled bigint;
BEGIN
    -- Lateral subqueries make Postgres look up each segment, also with a plan that it made while the table was empty.
    SELECT sum(cardinality(ids)), count(*) INTO added, known
      FROM (SELECT DISTINCT unnest(sealed)) AS named (id)
     CROSS JOIN LATERAL (SELECT * FROM audit_log_segments s WHERE s.log = which AND s.id = named.id OFFSET 0) AS s
     WHERE CASE WHEN array_ndims(ids) = 1 THEN array_position(ids, NULL) IS NULL END AND array_lower(ids, 1) = 1 AND cardinality(ids) BETWEEN 1 AND 512
       AND length(hashes) = 32 * cardinality(ids)
       AND ids[1] <= ids[cardinality(ids)] AND ids[cardinality(ids)] <= s.id AND s.id <= audit_segment_bound(ids[1]);
    IF known IS DISTINCT FROM cardinality(sealed) THEN
        RAISE EXCEPTION 'a segment does not exist or is not valid' USING ERRCODE = 'SW005';
    END IF;
    -- The nodes are those of the tiles that the log fills, so that none waits for the log to reach it.
    SELECT sum((old_size + added >> 8 * level) - (old_size >> 8 * level)) INTO filled FROM generate_series(1, 7) AS level;
    IF filled IS DISTINCT FROM cardinality(places) OR EXISTS (
           SELECT FROM unnest(levels, places) AS node (level, place)
            WHERE (level BETWEEN 1 AND 7 AND place >= old_size >> 8 * level
                   AND place < old_size + added >> 8 * level) IS NOT TRUE
       ) THEN
        RAISE EXCEPTION 'the nodes are not those of the segments' USING ERRCODE = 'SW005';
    END IF;
    UPDATE audit_log_heads SET size = old_size + added, root = new_root
     WHERE log = which AND origin = old_origin AND size = old_size AND root = old_root;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO audit_log_positions (log, base, count, segment)
    SELECT which, old_size + sum(cardinality(s.ids)) OVER (ORDER BY named.place) - cardinality(s.ids),
           cardinality(s.ids), s.id
      FROM unnest(sealed) WITH ORDINALITY AS named (id, place)
     CROSS JOIN LATERAL (SELECT * FROM audit_log_segments s WHERE s.log = which AND s.id = named.id OFFSET 0) AS s;
    INSERT INTO audit_log_nodes (log, level, place, hash)
    SELECT which, level, place, hash FROM unnest(levels, places, node_hashes) AS node (level, place, hash);
    RETURN old_size + added;
END
$$;

COMMENT ON FUNCTION seal_audit_segments(smallint, text, bigint, bytea, bytea, uuid[], smallint[], bigint[], bytea[]) IS 'Gives segments the next positions in a log and moves its head, in one transaction. Returns the new size; null if the head is another one. Raises SW005 if a segment does not exist or is not valid.';

DO $$
DECLARE
    sealing regprocedure := 'seal_audit_segments(smallint, text, bigint, bytea, bytea, uuid[], smallint[], bigint[], bytea[])';
BEGIN
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', sealing, current_schema());
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', sealing);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO sealward_application', sealing);
END
$$;

REVOKE UPDATE, DELETE ON audit_log_keys, audit_log_cosigners, report_keys, audit_log_segments FROM sealward_application;
REVOKE INSERT ON audit_log_segments FROM sealward_application;
GRANT INSERT (log, id, ids, hashes, mac) ON audit_log_segments TO sealward_application;
REVOKE INSERT, UPDATE, DELETE ON audit_log_positions, audit_log_nodes, audit_log_index FROM sealward_application;
REVOKE DELETE ON audit_log_origins FROM sealward_application;

-- An origin that accepted more than the log has would accept what the log gets later.
CREATE FUNCTION limit_accepted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.accepted > coalesce((
        SELECT size FROM audit_log_heads WHERE NEW.id = lpad(log::text, 32, '0')::uuid
    ), 0) THEN
        RAISE EXCEPTION 'the log has fewer than % records', NEW.accepted USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION limit_accepted() SET search_path = %I, pg_temp', current_schema());
END
$$;

COMMENT ON FUNCTION limit_accepted() IS 'Refuses an origin that accepts more records than its log has.';

CREATE TRIGGER audit_log_origins_limit
    BEFORE INSERT OR UPDATE ON audit_log_origins
    FOR EACH ROW EXECUTE FUNCTION limit_accepted();

-- A head begins with the empty tree, and only the functions move it.
REVOKE INSERT, UPDATE, DELETE ON audit_log_heads FROM sealward_application;
GRANT INSERT (log, origin) ON audit_log_heads TO sealward_application;
GRANT UPDATE (
    origin, checkpoint, checkpoint_size, checkpoint_at, cosigned, cosigned_size, cosigned_at, published, published_size,
    published_at
) ON audit_log_heads TO sealward_application;
