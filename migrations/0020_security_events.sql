-- Security events name no resource, or one without an id of its own.
ALTER TABLE management_events ALTER COLUMN resource_id DROP NOT NULL;

COMMENT ON TABLE management_events IS 'Changes by administrators, written in the transaction of the change, and security events.';
COMMENT ON COLUMN management_events.action IS 'The change, or the kind of the security event.';
COMMENT ON COLUMN management_events.resource_type IS 'The type of the resource, or the part of the service that a security event concerns.';
COMMENT ON COLUMN management_events.resource_id IS 'The resource; null for security events without one.';
COMMENT ON COLUMN management_events.after IS 'The resource afterwards, without secrets; null when it was deleted. Of a security event: its details.';

-- Instances remember missing records for a second, so inserts send a notification too.
CREATE TRIGGER services_insert_tells_catalog
    AFTER INSERT ON services
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

CREATE TRIGGER policies_insert_tells_catalog
    AFTER INSERT ON policies
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();

CREATE TRIGGER api_keys_insert_tells_catalog
    AFTER INSERT ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION tell_catalog();
