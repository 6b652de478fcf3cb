-- Keys, and the work of the service with the tokens. Private and secret keys are only in the tokens.

CREATE TABLE keys (
    id            uuid PRIMARY KEY,
    service_id    uuid NOT NULL REFERENCES services (id),
    name          text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    version       bigint CHECK (version > 0),
    usage         text NOT NULL CHECK (usage IN ('enc', 'sig', 'data')),
    algorithm     text NOT NULL CHECK (algorithm IN (
        'RSA-2048', 'RSA-3072', 'RSA-4096', 'P-256', 'P-384', 'P-521', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65',
        'ML-DSA-87', 'ML-KEM-768', 'ML-KEM-1024', 'P-256+ML-KEM-768', 'AES-256', 'AES-128', 'HMAC-SHA256'
    )),
    family        text NOT NULL GENERATED ALWAYS AS (
        CASE
            WHEN algorithm LIKE 'RSA-%' THEN 'RSA'
            WHEN algorithm IN ('P-256', 'P-384', 'P-521') THEN 'EC'
            WHEN algorithm LIKE 'ML-DSA-%' THEN 'ML-DSA'
            WHEN algorithm LIKE 'AES-%' THEN 'AES'
            WHEN algorithm LIKE 'HMAC-%' THEN 'HMAC'
            ELSE algorithm
        END
    ) STORED,
    origin        text NOT NULL CHECK (origin IN ('generated', 'imported', 'adopted')),
    status        text NOT NULL CHECK (
        status IN ('active', 'retired', 'disabled', 'pending_destruction', 'destroyed')
    ),
    token_id      bytea CHECK (octet_length(token_id) BETWEEN 1 AND 255),
    token_label   text CHECK (octet_length(token_label) BETWEEN 1 AND 2048),
    extractable   boolean,
    public_key    bytea CHECK (octet_length(public_key) <= 8192),
    thumbprint    text CHECK (octet_length(thumbprint) <= 64),
    partner_kid   text,
    canary        bytea CHECK (octet_length(canary) BETWEEN 1 AND 16384),
    hpke_revision text CHECK (hpke_revision IN ('draft-ietf-jose-hpke-pq-pqt-01')),
    expires_at    timestamptz,
    rotation_days integer CHECK (rotation_days BETWEEN 1 AND 3650),
    succeeds      uuid REFERENCES keys (id),
    activated_at  timestamptz,
    activation    bigint CHECK (activation > 0),
    retire_at     timestamptz,
    destroy_at    timestamptz,
    destroying_at timestamptz,
    revision      bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    seal          bytea CHECK (octet_length(seal) <= 64),
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    CONSTRAINT keys_usage_fits_family CHECK (
        (usage = 'enc' AND family IN ('RSA', 'EC', 'ML-KEM-768', 'ML-KEM-1024', 'P-256+ML-KEM-768'))
        OR (usage = 'sig' AND family IN ('RSA', 'EC', 'Ed25519', 'ML-DSA', 'HMAC'))
        OR (usage = 'data' AND family = 'AES')
    ),
    CONSTRAINT keys_have_a_version_unless_for_envelopes CHECK ((usage = 'enc') = (version IS NULL)),
    CONSTRAINT keys_have_one_name_in_the_token CHECK (num_nonnulls(token_id, token_label) <= 1),
    CONSTRAINT keys_have_a_public_half_unless_secret CHECK (
        (family IN ('AES', 'HMAC')) = (public_key IS NULL)
        AND (public_key IS NULL) = (thumbprint IS NULL)
    ),
    CONSTRAINT keys_have_some_half CHECK (num_nonnulls(token_id, token_label, public_key) > 0),
    CONSTRAINT keys_in_tokens_are_extractable_or_not CHECK (
        (num_nonnulls(token_id, token_label) > 0) = (extractable IS NOT NULL)
    ),
    CONSTRAINT keys_in_tokens_have_canaries CHECK (canary IS NULL OR num_nonnulls(token_id, token_label) > 0),
    CONSTRAINT keys_partner_kid_is_printable CHECK (
        partner_kid ~ '^[ -~]{1,128}$' AND NOT starts_with(partner_kid, 'key_')
    ),
    CONSTRAINT keys_of_ml_kem_have_an_hpke_revision CHECK (
        (algorithm IN ('ML-KEM-768', 'ML-KEM-1024', 'P-256+ML-KEM-768')) = (hpke_revision IS NOT NULL)
    ),
    CONSTRAINT keys_rotate_where_they_are_generated CHECK (rotation_days IS NULL OR origin = 'generated'),
    CONSTRAINT keys_activation_is_dated CHECK (status <> 'active' OR activated_at IS NOT NULL),
    CONSTRAINT keys_retire_from_active CHECK (retire_at IS NULL OR status = 'active'),
    CONSTRAINT keys_destruction_is_dated CHECK (
        (status IN ('pending_destruction', 'destroyed')) = (destroy_at IS NOT NULL)
    ),
    CONSTRAINT keys_destruction_is_final CHECK (
        destroying_at IS NULL OR status IN ('pending_destruction', 'destroyed')
    ),
    -- The API accepts the last time of the calendar for an expiry, and no plan is later.
    CONSTRAINT keys_times_can_be_read CHECK (
        least(activated_at, destroying_at, created_at, updated_at, expires_at, retire_at, destroy_at) >= '1970-01-01'
        AND greatest(activated_at, destroying_at, created_at, updated_at) < '9999-01-01'
        AND greatest(expires_at, retire_at, destroy_at) <= '9999-12-30 22:00Z'
    )
);

CREATE UNIQUE INDEX keys_one_active_envelope_key ON keys (service_id, family)
    WHERE usage = 'enc' AND status = 'active';
CREATE UNIQUE INDEX keys_version_is_unique ON keys (service_id, name, version)
    WHERE version IS NOT NULL;
CREATE UNIQUE INDEX keys_token_id_is_unique ON keys (token_id)
    WHERE token_id IS NOT NULL AND status <> 'destroyed';
CREATE UNIQUE INDEX keys_token_label_is_unique ON keys (token_label)
    WHERE token_label IS NOT NULL AND status <> 'destroyed';
CREATE UNIQUE INDEX keys_partner_kid_is_unique ON keys (service_id, partner_kid)
    WHERE partner_kid IS NOT NULL AND status <> 'destroyed';
CREATE UNIQUE INDEX keys_have_one_successor ON keys (succeeds)
    WHERE succeeds IS NOT NULL AND status <> 'destroyed';
CREATE INDEX keys_by_service ON keys (service_id, id);
CREATE INDEX keys_to_rotate ON keys (id) WHERE rotation_days IS NOT NULL AND status = 'active';
CREATE INDEX keys_to_destroy ON keys (destroy_at) WHERE status = 'pending_destruction';

CREATE TRIGGER keys_tell_catalog
    AFTER INSERT OR UPDATE OR DELETE ON keys
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

COMMENT ON TABLE keys IS 'The records of keys. The record of a destroyed key stays.';
COMMENT ON COLUMN keys.id IS 'The UUID of the TypeID key_…, the keyId of the API.';
COMMENT ON COLUMN keys.service_id IS 'The service that the key belongs to.';
COMMENT ON COLUMN keys.name IS 'The name for people, 1 to 100 characters.';
COMMENT ON COLUMN keys.version IS 'The number of the key among those of its service and name; null for enc. The table revisions has the same number.';
COMMENT ON COLUMN keys.usage IS 'enc for envelopes, sig for signatures, data for the encryption of data.';
COMMENT ON COLUMN keys.algorithm IS 'The type and size of the key.';
COMMENT ON COLUMN keys.family IS 'Algorithms whose keys replace each other: a service has one active envelope key per family.';
COMMENT ON COLUMN keys.origin IS 'Whether the token generated the key, it was imported, or the token already had it.';
COMMENT ON COLUMN keys.status IS 'The state of the key.';
COMMENT ON COLUMN keys.token_id IS 'CKA_ID of the private or secret key in the tokens; null for a public key only, and for a key with a label.';
COMMENT ON COLUMN keys.token_label IS 'CKA_LABEL of an adopted key without CKA_ID; null for other keys.';
COMMENT ON COLUMN keys.extractable IS 'Whether the private or secret key can leave the token, in plaintext or wrapped; null for a public key only.';
COMMENT ON COLUMN keys.public_key IS 'The SubjectPublicKeyInfo in DER; null for secret keys.';
COMMENT ON COLUMN keys.thumbprint IS 'The thumbprint of the public key (RFC 7638); null for secret keys.';
COMMENT ON COLUMN keys.partner_kid IS 'The kid that partners use for the key; null for its ID.';
COMMENT ON COLUMN keys.canary IS 'What only the private or secret key opens or makes again: an envelope, a ciphertext or a MAC of its ID. It is made once, with the record. Null for a public key only, and for keys whose signatures the public key verifies.';
COMMENT ON COLUMN keys.hpke_revision IS 'The Internet-Draft that the envelopes of the key follow; null for keys without HPKE.';
COMMENT ON COLUMN keys.expires_at IS 'The time from which the key does not protect, encrypt or sign; null for none.';
COMMENT ON COLUMN keys.rotation_days IS 'The number of days from the activation to that of the successor; null for no rotation.';
COMMENT ON COLUMN keys.succeeds IS 'The key that this one replaces as soon as it is activated; null from then on.';
COMMENT ON COLUMN keys.activated_at IS 'The time of the last activation; null before the first.';
COMMENT ON COLUMN keys.activation IS 'The number of the last activation among the keys that take over from each other; null before the first. The table revisions has the same number.';
COMMENT ON COLUMN keys.retire_at IS 'The time at which the key retires, because its successor is active; null for none.';
COMMENT ON COLUMN keys.destroy_at IS 'The time from which the key is destroyed; null unless it was deleted.';
COMMENT ON COLUMN keys.destroying_at IS 'The time at which its destruction began; null before. It is set before a token destroys the key, which then cannot be restored.';
COMMENT ON COLUMN keys.revision IS 'Grows by one with each change; the ETag.';
COMMENT ON COLUMN keys.seal IS 'The MAC of the row under the row key; a row without one does not count.';
COMMENT ON COLUMN keys.created_at IS 'The creation time.';
COMMENT ON COLUMN keys.updated_at IS 'The time of the last change.';

CREATE TABLE key_intents (
    id         uuid PRIMARY KEY,
    purpose    text NOT NULL CHECK (purpose IN ('key', 'import_key')),
    service_id uuid REFERENCES services (id),
    change_id  uuid,
    attempt    uuid,
    created_at timestamptz NOT NULL CHECK (created_at >= '1970-01-01' AND created_at < '9999-01-01'),
    mac        bytea NOT NULL CHECK (octet_length(mac) <= 64)
);

COMMENT ON TABLE key_intents IS 'Objects that are about to be created in a token. The transaction that records the key deletes the row, so that a row names the object that a crash left in a token.';
COMMENT ON COLUMN key_intents.id IS 'The ID of the later record, whose bytes are the CKA_ID of the object.';
COMMENT ON COLUMN key_intents.purpose IS 'Whether the object is a key or the wrapping key of an import.';
COMMENT ON COLUMN key_intents.service_id IS 'The service of the key; null for wrapping keys.';
COMMENT ON COLUMN key_intents.change_id IS 'The approved change that creates the key; null for other keys. If the change fails, the object is removed.';
COMMENT ON COLUMN key_intents.attempt IS 'The attempt of the request with an Idempotency-Key that creates the key; null for other requests. If another request takes over the claim, the object is removed.';
COMMENT ON COLUMN key_intents.created_at IS 'The time before the creation began. An object is removed within a day of it, and later only reported.';
COMMENT ON COLUMN key_intents.mac IS 'The MAC of the other columns under the row key. Without it, the object is never removed.';

CREATE TABLE key_presence (
    key_id  uuid NOT NULL REFERENCES keys (id),
    token   text NOT NULL CHECK (octet_length(token) <= 255),
    present boolean NOT NULL,
    seen_at timestamptz NOT NULL CHECK (seen_at >= '1970-01-01' AND seen_at < '9999-01-01'),
    PRIMARY KEY (key_id, token)
);

COMMENT ON TABLE key_presence IS 'The tokens that held a key at the last comparison of tokens and records.';
COMMENT ON COLUMN key_presence.key_id IS 'The key.';
COMMENT ON COLUMN key_presence.token IS 'The label of the token.';
COMMENT ON COLUMN key_presence.present IS 'Whether the token held the key.';
COMMENT ON COLUMN key_presence.seen_at IS 'The time of the comparison.';

CREATE TABLE key_encryptions (
    key_id   uuid PRIMARY KEY REFERENCES keys (id),
    reserved bigint NOT NULL CHECK (reserved BETWEEN 0 AND 4294967296)
);

-- The health check queries worn keys several times a second, and there are almost never any.
CREATE INDEX key_encryptions_worn ON key_encryptions (key_id) WHERE reserved >= 2147483648;

COMMENT ON TABLE key_encryptions IS 'The number of encryptions with AES-GCM and random IVs, which are safe 2^32 times.';
COMMENT ON COLUMN key_encryptions.key_id IS 'The key.';
COMMENT ON COLUMN key_encryptions.reserved IS 'The encryptions that instances have reserved in blocks, which is at least the number performed. The canary of the key is one more.';
COMMENT ON INDEX key_encryptions_worn IS 'The keys with 2^31 encryptions, of which the service warns.';

CREATE TABLE import_keys (
    id           uuid PRIMARY KEY,
    mechanism    text NOT NULL CHECK (mechanism IN ('RSA_OAEP_SHA1_AES_KWP', 'RSA_OAEP_SHA256_AES_KWP')),
    public_key   bytea NOT NULL CHECK (octet_length(public_key) <= 8192),
    attempts     integer NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 3),
    attempted_at timestamptz,
    used_at      timestamptz,
    expires_at   timestamptz NOT NULL,
    destroyed_at timestamptz,
    revision     bigint NOT NULL CHECK (revision > 0),
    seal         bytea CHECK (octet_length(seal) <= 64),
    created_at   timestamptz NOT NULL,
    CONSTRAINT import_keys_times_can_be_read CHECK (
        least(attempted_at, used_at, expires_at, destroyed_at, created_at) >= '1970-01-01'
        AND greatest(attempted_at, used_at, expires_at, destroyed_at, created_at) < '9999-01-01'
    )
);

CREATE INDEX import_keys_to_destroy ON import_keys (expires_at) WHERE destroyed_at IS NULL;

COMMENT ON TABLE import_keys IS 'Wrapping keys in the token. Each imports one key.';
COMMENT ON COLUMN import_keys.id IS 'The UUID of the TypeID imp_…; its bytes are the CKA_ID in the token.';
COMMENT ON COLUMN import_keys.mechanism IS 'How a key must be wrapped.';
COMMENT ON COLUMN import_keys.public_key IS 'The SubjectPublicKeyInfo in DER.';
COMMENT ON COLUMN import_keys.attempts IS 'The number of unwrapping attempts, counted before the token unwraps.';
COMMENT ON COLUMN import_keys.attempted_at IS 'The time of the last attempt; null before the first.';
COMMENT ON COLUMN import_keys.used_at IS 'The time of the import; null before. The wrapping key then imports no other key.';
COMMENT ON COLUMN import_keys.expires_at IS 'The time from which the wrapping key imports no key.';
COMMENT ON COLUMN import_keys.destroyed_at IS 'The time at which its object in the token was destroyed; null before.';
COMMENT ON COLUMN import_keys.revision IS 'Grows by one with each change.';
COMMENT ON COLUMN import_keys.seal IS 'The MAC of the row under the row key; a row without one does not count.';
COMMENT ON COLUMN import_keys.created_at IS 'The creation time.';

CREATE TABLE refused_pins (
    label      text NOT NULL CHECK (octet_length(label) <= 255),
    serial     text NOT NULL CHECK (octet_length(serial) <= 255),
    digest     smallint NOT NULL CHECK (digest BETWEEN 0 AND 255),
    refused_at timestamptz NOT NULL DEFAULT now() CHECK (refused_at >= '1970-01-01' AND refused_at < '9999-01-01'),
    PRIMARY KEY (label, serial, digest)
);

COMMENT ON TABLE refused_pins IS 'PINs that tokens have refused since they last accepted one. Restarts and other instances do not try them again.';
COMMENT ON COLUMN refused_pins.label IS 'The label of the token.';
COMMENT ON COLUMN refused_pins.serial IS 'The serial number of the token.';
COMMENT ON COLUMN refused_pins.digest IS 'The first byte of the HMAC-SHA-256 of the PIN under the name of the token. One byte does not reveal the PIN.';
COMMENT ON COLUMN refused_pins.refused_at IS 'The time of the refusal.';
