-- Providers can give one person several subjects: one in ID tokens and others in access tokens.
ALTER TABLE people ADD COLUMN is_confirmed boolean NOT NULL DEFAULT false;

UPDATE people SET is_confirmed = true
 WHERE EXISTS (SELECT FROM dashboard_sessions WHERE person_id = people.id);

COMMENT ON COLUMN people.subject IS 'The subject of their tokens.';
COMMENT ON COLUMN people.is_confirmed IS 'Whether the subject is that of their ID tokens. Access tokens with another subject identify no person in approvals.';
