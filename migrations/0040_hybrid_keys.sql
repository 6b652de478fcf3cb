-- Envelope keys of P-256 together with ML-KEM-768, and policies that use them with HPKE.

ALTER TABLE policies DROP CONSTRAINT policies_alg_check;
ALTER TABLE policies ADD CONSTRAINT policies_alg_check CHECK (alg IN (
    'RSA-OAEP', 'RSA-OAEP-256', 'ECDH-ES+A128KW', 'ECDH-ES+A256KW', 'HPKE-8-KE', 'HPKE-12-KE', 'HPKE-13-KE'
));

ALTER TABLE keys DROP CONSTRAINT keys_algorithm_check;
ALTER TABLE keys DROP CONSTRAINT keys_usage_fits_family;
ALTER TABLE keys DROP CONSTRAINT keys_have_a_public_half_unless_secret;
ALTER TABLE keys DROP CONSTRAINT keys_of_ml_kem_have_an_hpke_revision;
DROP INDEX keys_one_active_envelope_key;
ALTER TABLE keys DROP COLUMN family;

ALTER TABLE keys
    ADD CONSTRAINT keys_algorithm_check CHECK (algorithm IN (
        'RSA-2048', 'RSA-3072', 'RSA-4096', 'P-256', 'P-384', 'P-521', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65',
        'ML-DSA-87', 'ML-KEM-768', 'ML-KEM-1024', 'P-256+ML-KEM-768', 'AES-256', 'AES-128', 'HMAC-SHA256'
    )),
    ADD CONSTRAINT keys_of_ml_kem_have_an_hpke_revision CHECK (
        (algorithm IN ('ML-KEM-768', 'ML-KEM-1024', 'P-256+ML-KEM-768')) = (hpke_revision IS NOT NULL)
    ),
    ADD COLUMN family text NOT NULL GENERATED ALWAYS AS (
        CASE
            WHEN algorithm LIKE 'RSA-%' THEN 'RSA'
            WHEN algorithm IN ('P-256', 'P-384', 'P-521') THEN 'EC'
            WHEN algorithm LIKE 'ML-DSA-%' THEN 'ML-DSA'
            WHEN algorithm LIKE 'AES-%' THEN 'AES'
            WHEN algorithm LIKE 'HMAC-%' THEN 'HMAC'
            ELSE algorithm
        END
    ) STORED;

ALTER TABLE keys
    ADD CONSTRAINT keys_usage_fits_family CHECK (
        (usage = 'enc' AND family IN ('RSA', 'EC', 'ML-KEM-768', 'ML-KEM-1024', 'P-256+ML-KEM-768'))
        OR (usage = 'sig' AND family IN ('RSA', 'EC', 'Ed25519', 'ML-DSA', 'HMAC'))
        OR (usage = 'data' AND family = 'AES')
    ),
    ADD CONSTRAINT keys_have_a_public_half_unless_secret CHECK (
        (family IN ('AES', 'HMAC')) = (public_key IS NULL)
        AND (public_key IS NULL) = (thumbprint IS NULL)
    );
CREATE UNIQUE INDEX keys_one_active_envelope_key ON keys (service_id, family)
    WHERE usage = 'enc' AND status = 'active';

COMMENT ON COLUMN keys.family IS 'Algorithms whose keys replace each other: a service has one active envelope key per family.';
