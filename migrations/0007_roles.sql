-- Who may do what. The owner migrates the schema. What serves requests works as
-- `sealward_application`, which may add to the trails and read them, and neither change nor remove
-- what stands in them. `sealward_retention` may retire old days of the trail, by the functions made
-- for it and in no other way. Both are roles without a login, which logins are members of.
--
-- Roles belong to the whole cluster: another database may have made them already, or be at it.
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
                -- Only the login that serves requests has to be a member, and that may be another.
                WHEN insufficient_privilege OR unique_violation THEN
                    NULL;
            END;
        END IF;
    END LOOP;
END
$$;

DO $$
DECLARE
    name text;
    is_sequence boolean;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO sealward_application, sealward_retention', current_schema());
    FOR name, is_sequence IN
        SELECT oid::regclass::text, relkind = 'S' FROM pg_class
         WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'S')
           AND relowner = current_user::regrole AND NOT relispartition
    LOOP
        IF is_sequence THEN
            EXECUTE format('GRANT USAGE ON SEQUENCE %s TO sealward_application', name);
        ELSE
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO sealward_application', name);
        END IF;
    END LOOP;
    -- Tables of later migrations, too; what is a trail takes its own back as these do.
    EXECUTE format(
        'ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO sealward_application',
        current_schema()
    );
    EXECUTE format(
        'ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT USAGE ON SEQUENCES TO sealward_application',
        current_schema()
    );
    IF to_regclass('_sqlx_migrations') IS NOT NULL THEN
        REVOKE INSERT, UPDATE, DELETE ON _sqlx_migrations FROM sealward_application;
    END IF;
END
$$;

REVOKE UPDATE, DELETE ON crypto_operations_audit, management_events FROM sealward_application;
