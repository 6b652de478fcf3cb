-- Administrators act in roles, and an admin key can name its person.
ALTER TABLE api_keys
    ADD COLUMN roles text[] NOT NULL DEFAULT '{}',
    ADD COLUMN person text;

UPDATE api_keys SET roles = '{owner}' WHERE type = 'admin';

ALTER TABLE api_keys
    ADD CONSTRAINT api_keys_roles_are_known CHECK (
        roles <@ ARRAY['owner', 'custodian', 'policy-admin', 'auditor']
    ),
    ADD CONSTRAINT api_keys_admins_have_roles CHECK ((type = 'admin') = (cardinality(roles) > 0)),
    ADD CONSTRAINT api_keys_admins_have_persons CHECK (type = 'admin' OR person IS NULL),
    ADD CONSTRAINT api_keys_person_length CHECK (char_length(person) BETWEEN 1 AND 128);

COMMENT ON COLUMN api_keys.roles IS 'The roles of an admin key: owner, custodian, policy-admin, auditor; empty for other keys.';
COMMENT ON COLUMN api_keys.person IS 'The person who uses an admin key; null if unknown.';

-- Instances of the previous version insert admin keys without roles during an upgrade.
CREATE FUNCTION default_admin_roles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.type = 'admin' AND cardinality(NEW.roles) = 0 THEN
        NEW.roles = '{owner}';
    END IF;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION default_admin_roles() IS 'Gives an admin key without roles the role owner.';

CREATE TRIGGER api_keys_default_roles
    BEFORE INSERT ON api_keys
    FOR EACH ROW EXECUTE FUNCTION default_admin_roles();

DROP TRIGGER api_keys_tell_catalog ON api_keys;

-- Without `last_used_at`, because the use of a key changes nothing that is cached.
CREATE TRIGGER api_keys_tell_catalog
    AFTER DELETE OR UPDATE OF name, type, service_id, policy_id, allowed_operations, allowed_cidrs,
        digest, roles, person, expires_at, revoked_at, revision ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();
