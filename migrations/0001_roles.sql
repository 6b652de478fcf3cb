-- The roles of the logins, and their privileges in this schema. The login that migrates owns the schema.
-- `sealward_application` serves requests: it can add and read audit records, but not change or delete them.
-- `sealward_retention` retires old days of the audit log, only by functions that check them.

-- Roles belong to the whole cluster. Another database can have created them, or create them now.
DO $$
DECLARE
    missing text;
BEGIN
    FOREACH missing IN ARRAY ARRAY['sealward_application', 'sealward_retention'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = missing) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', missing);
            EXCEPTION
                WHEN duplicate_object OR unique_violation THEN
                    NULL;
                WHEN insufficient_privilege THEN
                    RAISE EXCEPTION
                        'the role % is missing and % may not make it; have an administrator of this '
                        'Postgres run: CREATE ROLE sealward_application; CREATE ROLE sealward_retention; '
                        'GRANT sealward_application, sealward_retention TO %',
                        missing, current_user, quote_ident(current_user);
            END;
        END IF;
        IF NOT pg_has_role(missing, 'MEMBER') THEN
            BEGIN
                EXECUTE format('GRANT %I TO CURRENT_USER', missing);
            EXCEPTION
                -- Only the login that serves requests must be a member, and that can be another one.
                WHEN insufficient_privilege OR unique_violation THEN
                    NULL;
            END;
        END IF;
    END LOOP;
END
$$;

-- The service can read and change each table that is created from here on. Tables with less access revoke
-- privileges after their declaration.
DO $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO sealward_application, sealward_retention', current_schema());
    EXECUTE format(
        'ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO sealward_application',
        current_schema()
    );
    EXECUTE format(
        'ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT USAGE ON SEQUENCES TO sealward_application',
        current_schema()
    );
END
$$;

-- The program creates this table before the first migration. The service compares it with its own migrations.
GRANT SELECT ON _sqlx_migrations TO sealward_application;

COMMENT ON TABLE _sqlx_migrations IS 'The migrations of this schema.';
COMMENT ON COLUMN _sqlx_migrations.version IS 'The number of the migration.';
COMMENT ON COLUMN _sqlx_migrations.description IS 'The name of its file, without the number.';
COMMENT ON COLUMN _sqlx_migrations.installed_on IS 'The time at which it was applied.';
COMMENT ON COLUMN _sqlx_migrations.success IS 'Whether it is complete.';
COMMENT ON COLUMN _sqlx_migrations.checksum IS 'The SHA-384 of its file.';
COMMENT ON COLUMN _sqlx_migrations.execution_time IS 'Its duration in nanoseconds.';
