-- Vendor tools can create keys that leave the token. Sealward itself creates none.

ALTER TABLE keys ADD COLUMN extractable boolean;

UPDATE keys SET extractable = false
 WHERE origin <> 'adopted' AND (token_id IS NOT NULL OR token_label IS NOT NULL);

COMMENT ON COLUMN keys.extractable IS 'Whether the private or secret key can leave the token in plaintext or wrapped; null for public keys, and for keys adopted by earlier releases.';
