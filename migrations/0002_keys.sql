-- Keys: their records, what is under way with them in the tokens, and how much they have encrypted.
-- The keys themselves are in the tokens alone.

CREATE TABLE keys (
    id           uuid PRIMARY KEY,
    service_id   uuid NOT NULL REFERENCES services (id),
    name         text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    usage        text NOT NULL CHECK (usage IN ('enc', 'sig', 'data')),
    algorithm    text NOT NULL CHECK (algorithm IN (
        'RSA-2048', 'RSA-3072', 'RSA-4096', 'P-256', 'P-384', 'P-521', 'Ed25519',
        'AES-256', 'AES-128', 'HMAC-SHA256'
    )),
    family       text NOT NULL GENERATED ALWAYS AS (
        CASE
            WHEN algorithm LIKE 'RSA-%' THEN 'RSA'
            WHEN algorithm LIKE 'P-%' THEN 'EC'
            WHEN algorithm LIKE 'AES-%' THEN 'AES'
            WHEN algorithm LIKE 'HMAC-%' THEN 'HMAC'
            ELSE algorithm
        END
    ) STORED,
    origin       text NOT NULL CHECK (origin IN ('generated', 'imported', 'adopted')),
    status       text NOT NULL CHECK (
        status IN ('active', 'retired', 'disabled', 'pending_destruction', 'destroyed')
    ),
    token_id     bytea CHECK (octet_length(token_id) > 0),
    token_label  text CHECK (token_label <> ''),
    public_key   bytea,
    thumbprint   text,
    expires_at   timestamptz,
    activated_at timestamptz,
    destroy_at   timestamptz,
    revision     bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    CONSTRAINT keys_usage_fits_family CHECK (
        (usage = 'enc' AND family IN ('RSA', 'EC'))
        OR (usage = 'sig' AND family IN ('RSA', 'EC', 'Ed25519', 'HMAC'))
        OR (usage = 'data' AND family = 'AES')
    ),
    CONSTRAINT keys_have_one_name_in_the_token CHECK (num_nonnulls(token_id, token_label) <= 1),
    CONSTRAINT keys_have_a_public_half_unless_secret CHECK (
        (family IN ('AES', 'HMAC')) = (public_key IS NULL)
        AND (public_key IS NULL) = (thumbprint IS NULL)
    ),
    CONSTRAINT keys_have_some_half CHECK (
        num_nonnulls(token_id, token_label, public_key) > 0
    ),
    CONSTRAINT keys_destruction_is_dated CHECK (
        (status IN ('pending_destruction', 'destroyed')) = (destroy_at IS NOT NULL)
    ),
    CONSTRAINT keys_activation_is_dated CHECK (status <> 'active' OR activated_at IS NOT NULL)
);

CREATE UNIQUE INDEX keys_one_active_envelope_key ON keys (service_id, family)
    WHERE usage = 'enc' AND status = 'active';
CREATE UNIQUE INDEX keys_token_id_is_unique ON keys (token_id)
    WHERE token_id IS NOT NULL AND status <> 'destroyed';
CREATE UNIQUE INDEX keys_token_label_is_unique ON keys (token_label)
    WHERE token_label IS NOT NULL AND status <> 'destroyed';
CREATE INDEX keys_by_service ON keys (service_id, id);
CREATE INDEX keys_to_destroy ON keys (destroy_at) WHERE status = 'pending_destruction';

COMMENT ON TABLE keys IS 'What is known of a key; its secret part is in the tokens alone. Records stay after destruction.';
COMMENT ON COLUMN keys.id IS 'The UUID inside the TypeID key_…, which is the keyId of the API.';
COMMENT ON COLUMN keys.service_id IS 'The service it belongs to.';
COMMENT ON COLUMN keys.name IS 'For people, 1 to 100 characters.';
COMMENT ON COLUMN keys.usage IS 'enc: envelopes; sig: signatures; data: encryption of data.';
COMMENT ON COLUMN keys.algorithm IS 'What kind of key it is.';
COMMENT ON COLUMN keys.family IS 'Kinds that stand in for each other: of one family a service has one active envelope key.';
COMMENT ON COLUMN keys.origin IS 'Whether the token made it, it was imported, or it was found in the token.';
COMMENT ON COLUMN keys.status IS 'Where it is in its life.';
COMMENT ON COLUMN keys.token_id IS 'CKA_ID of the private or secret key in the tokens; null where only the public half is known.';
COMMENT ON COLUMN keys.token_label IS 'CKA_LABEL instead, for an adopted key that has no CKA_ID.';
COMMENT ON COLUMN keys.public_key IS 'The public half as SubjectPublicKeyInfo in DER; null for secret keys.';
COMMENT ON COLUMN keys.thumbprint IS 'The thumbprint of the public half after RFC 7638.';
COMMENT ON COLUMN keys.expires_at IS 'Until when its owner wants it used; null for no end.';
COMMENT ON COLUMN keys.activated_at IS 'When it last became active; null if it never was.';
COMMENT ON COLUMN keys.destroy_at IS 'When it is destroyed, or was due to be.';
COMMENT ON COLUMN keys.revision IS 'Grows by one with every change; the ETag.';
COMMENT ON COLUMN keys.created_at IS 'When it was made.';
COMMENT ON COLUMN keys.updated_at IS 'When it was last changed.';

-- What is cached of keys depends on which ones there are, so here inserts are told too.
CREATE TRIGGER keys_tell_catalog
    AFTER INSERT OR UPDATE OR DELETE ON keys
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

CREATE TABLE key_intents (
    id         uuid PRIMARY KEY,
    purpose    text NOT NULL CHECK (purpose IN ('key', 'import_key')),
    service_id uuid REFERENCES services (id),
    created_at timestamptz NOT NULL
);

COMMENT ON TABLE key_intents IS 'Objects about to be made in a token. The row goes in the transaction that records the key, so what a crash left in a token is named here.';
COMMENT ON COLUMN key_intents.id IS 'The identifier the record will have, whose bytes are the CKA_ID of the object.';
COMMENT ON COLUMN key_intents.purpose IS 'What the object is to be: a key, or the wrapping key of an import.';
COMMENT ON COLUMN key_intents.service_id IS 'The service the key is for; null for wrapping keys.';
COMMENT ON COLUMN key_intents.created_at IS 'When making it began.';

CREATE TABLE import_keys (
    id           uuid PRIMARY KEY,
    mechanism    text NOT NULL CHECK (
        mechanism IN ('RSA_OAEP_SHA1_AES_KWP', 'RSA_OAEP_SHA256_AES_KWP')
    ),
    public_key   bytea NOT NULL,
    attempts     integer NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 3),
    attempted_at timestamptz,
    used_at      timestamptz,
    expires_at   timestamptz NOT NULL,
    destroyed_at timestamptz,
    created_at   timestamptz NOT NULL
);

CREATE INDEX import_keys_to_destroy ON import_keys (expires_at) WHERE destroyed_at IS NULL;

COMMENT ON TABLE import_keys IS 'Wrapping keys in the token, each good for one import.';
COMMENT ON COLUMN import_keys.id IS 'The UUID inside the TypeID imp_…; its bytes are the CKA_ID in the token.';
COMMENT ON COLUMN import_keys.mechanism IS 'How a key must be wrapped with it.';
COMMENT ON COLUMN import_keys.public_key IS 'What keys are wrapped with, as SubjectPublicKeyInfo in DER.';
COMMENT ON COLUMN import_keys.attempts IS 'How often the token was asked to unwrap with it; counted before it is asked.';
COMMENT ON COLUMN import_keys.attempted_at IS 'When it was last asked; null if it never was.';
COMMENT ON COLUMN import_keys.used_at IS 'When a key came in with it; it then takes no other.';
COMMENT ON COLUMN import_keys.expires_at IS 'Until when it may be used.';
COMMENT ON COLUMN import_keys.destroyed_at IS 'When its object was destroyed in the token.';
COMMENT ON COLUMN import_keys.created_at IS 'When it was made.';

CREATE TABLE key_encryptions (
    key_id   uuid PRIMARY KEY REFERENCES keys (id),
    reserved bigint NOT NULL CHECK (reserved BETWEEN 0 AND 4294967296)
);

COMMENT ON TABLE key_encryptions IS 'How often a key has encrypted with AES-GCM under random IVs, which is safe 2^32 times.';
COMMENT ON COLUMN key_encryptions.key_id IS 'Which key.';
COMMENT ON COLUMN key_encryptions.reserved IS 'Encryptions that instances have reserved in blocks: never fewer than were made.';

CREATE TABLE key_presence (
    key_id  uuid NOT NULL REFERENCES keys (id),
    token   text NOT NULL,
    present boolean NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (key_id, token)
);

COMMENT ON TABLE key_presence IS 'Which token held a key when the two were last compared.';
COMMENT ON COLUMN key_presence.key_id IS 'Which key.';
COMMENT ON COLUMN key_presence.token IS 'The label of the token.';
COMMENT ON COLUMN key_presence.present IS 'Whether it held the key.';
COMMENT ON COLUMN key_presence.seen_at IS 'When that was seen.';
