-- A provider can give one person different subjects in ID tokens and in access tokens, although it announces
-- one. Two people are different only if tokens of the same kind name them.
ALTER TABLE people
    ADD COLUMN by_id_token boolean NOT NULL DEFAULT false,
    ADD COLUMN by_access_token boolean NOT NULL DEFAULT false;

UPDATE people SET by_id_token = true
 WHERE EXISTS (SELECT FROM dashboard_sessions WHERE person_id = people.id);

COMMENT ON COLUMN people.by_id_token IS 'Whether an ID token had this subject: the person signed in to the dashboard.';
COMMENT ON COLUMN people.by_access_token IS 'Whether an access token for the management API had this subject.';
