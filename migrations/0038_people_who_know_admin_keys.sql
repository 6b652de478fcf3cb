-- The creator of an API key sees it once, and so may act with it.
ALTER TABLE api_keys ADD COLUMN known_to text[] NOT NULL DEFAULT '{}';

COMMENT ON COLUMN api_keys.known_to IS 'The people who may know the key because they created it, or because they may know the key that created it. Empty for keys of the command line and for keys that needed no approval.';
