-- The answer to a repeated request has the text of the first answer. jsonb changes the order of members.

ALTER TABLE idempotent_calls ALTER COLUMN answer TYPE text USING answer::text;
