-- Envelope keys of P-256 together with ML-KEM-768, and policies that use them with HPKE.

ALTER TABLE policies DROP CONSTRAINT policies_alg_check;
ALTER TABLE policies ADD CONSTRAINT policies_alg_check CHECK (alg IN (
    'RSA-OAEP', 'RSA-OAEP-256', 'ECDH-ES+A128KW', 'ECDH-ES+A256KW', 'HPKE-8-KE', 'HPKE-12-KE', 'HPKE-13-KE'
));

ALTER TABLE keys DROP CONSTRAINT keys_algorithm_check;
ALTER TABLE keys DROP CONSTRAINT keys_usage_fits_family;
ALTER TABLE keys DROP CONSTRAINT keys_of_ml_kem_have_an_hpke_revision;
ALTER TABLE keys
    ADD CONSTRAINT keys_algorithm_check CHECK (algorithm IN (
        'RSA-2048', 'RSA-3072', 'RSA-4096', 'P-256', 'P-384', 'P-521', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65',
        'ML-DSA-87', 'ML-KEM-768', 'ML-KEM-1024', 'P-256+ML-KEM-768', 'AES-256', 'AES-128', 'HMAC-SHA256'
    )),
    ADD CONSTRAINT keys_usage_fits_family CHECK (
        (usage = 'enc' AND family IN ('RSA', 'EC', 'ML-KEM-768', 'ML-KEM-1024', 'P-256+ML-KEM-768'))
        OR (usage = 'sig' AND family IN ('RSA', 'EC', 'Ed25519', 'ML-DSA', 'HMAC'))
        OR (usage = 'data' AND family = 'AES')
    ),
    ADD CONSTRAINT keys_of_ml_kem_have_an_hpke_revision CHECK (
        (algorithm IN ('ML-KEM-768', 'ML-KEM-1024', 'P-256+ML-KEM-768')) = (hpke_revision IS NOT NULL)
    );
