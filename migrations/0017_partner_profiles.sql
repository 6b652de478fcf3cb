-- Partners name keys by identifiers of their own, and expect certain header members in envelopes.

ALTER TABLE keys
    ADD COLUMN partner_kid text,
    ADD CONSTRAINT keys_partner_kid_is_printable CHECK (
        partner_kid ~ '^[ -~]{1,128}$' AND NOT starts_with(partner_kid, 'key_')
    );

CREATE UNIQUE INDEX keys_partner_kid_is_unique ON keys (service_id, partner_kid)
    WHERE partner_kid IS NOT NULL AND status <> 'destroyed';

ALTER TABLE policies
    ADD COLUMN headers jsonb,
    ADD CONSTRAINT policies_have_headers_for_destinations CHECK (
        key_ownership = 'destination_managed' OR headers IS NULL
    );

COMMENT ON COLUMN keys.partner_kid IS 'The identifier that partners use for the key: the kid of its envelopes; null for the identifier of the key.';
COMMENT ON COLUMN policies.headers IS 'The header members typ, iat and cty of envelopes; null for the default.';
