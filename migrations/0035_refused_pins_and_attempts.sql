-- PINs that tokens refused, so that no restart and no other instance tries them again.
CREATE TABLE refused_pins (
    label      text NOT NULL,
    serial     text NOT NULL,
    salt       bytea NOT NULL CHECK (octet_length(salt) = 16),
    digest     smallint NOT NULL CHECK (digest BETWEEN 0 AND 255),
    refused_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (label, serial, salt)
);

COMMENT ON TABLE refused_pins IS 'PINs that tokens have refused since they last accepted one.';
COMMENT ON COLUMN refused_pins.label IS 'The label of the token.';
COMMENT ON COLUMN refused_pins.serial IS 'The serial number of the token.';
COMMENT ON COLUMN refused_pins.salt IS 'The random key of the MAC.';
COMMENT ON COLUMN refused_pins.digest IS 'The first byte of the HMAC-SHA-256 of the PIN. One byte does not reveal the PIN.';
COMMENT ON COLUMN refused_pins.refused_at IS 'The time of the refusal.';

-- An interrupted request can leave a key in a token.
ALTER TABLE key_intents ADD COLUMN attempt uuid;

COMMENT ON COLUMN key_intents.attempt IS 'The attempt of the request with an Idempotency-Key that makes the key. Its object is removed if another request takes over the claim.';
