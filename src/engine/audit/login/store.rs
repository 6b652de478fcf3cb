//! The queries of the check. They read the catalog as the role of the service.

use sqlx::PgConnection;

pub(super) async fn name(connection: &mut PgConnection) -> sqlx::Result<String> {
    let sql = "SELECT quote_ident(session_user)";
    sqlx::query_scalar(sql).fetch_one(connection).await
}

/// The settings of the login in this database, and how to remove them. The login writes their values, which are shown on
/// one line.
pub(super) async fn settings(connection: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    let sql = "
        SELECT format('%s: ALTER ROLE %I %sRESET %I', regexp_replace(setting, '[[:cntrl:]]', '?', 'g'), rolname,
                      CASE WHEN s.setdatabase <> 0 THEN format('IN DATABASE %I ', current_database()) ELSE '' END,
                      split_part(setting, '=', 1)) COLLATE \"C\"
          FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole, unnest(s.setconfig) AS setting
         WHERE rolname = session_user
           AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
         ORDER BY 1";
    sqlx::query_scalar(sql).fetch_all(connection).await
}

/// Attributes of the login that outweigh all privileges. Before Postgres 16, `CREATEROLE` includes
/// the right to grant any role.
pub(super) async fn attributes(connection: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    let sql = "
        SELECT format('%I is a superuser: ALTER ROLE %1$I NOSUPERUSER', rolname)
          FROM pg_roles WHERE rolname = session_user AND rolsuper
        UNION ALL
        SELECT format('%I can grant itself every role: ALTER ROLE %1$I NOCREATEROLE', rolname)
          FROM pg_roles WHERE rolname = session_user AND rolcreaterole AND NOT rolsuper
           AND current_setting('server_version_num')::int < 160000";
    sqlx::query_scalar(sql).fetch_all(connection).await
}

/// Roles that could change or delete records: superusers, roles that write files or run programs of
/// the server, the owners of the tables, the functions, the schema and the database, and
/// `sealward_retention`. The login is one of them, or a member through the grant that is named.
pub(super) async fn roles(connection: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    let sql = "
        WITH tables AS (
            SELECT c.oid, c.relowner, c.relnamespace FROM pg_class c
             WHERE c.oid IN ('crypto_operations_audit'::regclass, 'management_events'::regclass,
                             'audit_retention'::regclass, 'audit_log_segments'::regclass,
                             'audit_log_positions'::regclass, 'audit_log_nodes'::regclass,
                             'audit_log_keys'::regclass, 'audit_log_cosigners'::regclass,
                             'report_keys'::regclass, 'revisions'::regclass, 'row_keys'::regclass)
                OR c.oid IN (SELECT inhrelid FROM pg_inherits
                              WHERE inhparent = 'crypto_operations_audit'::regclass)
        ), owners AS (
            SELECT relowner AS oid FROM tables
            UNION SELECT nspowner FROM pg_namespace WHERE oid IN (SELECT relnamespace FROM tables)
            UNION SELECT datdba FROM pg_database WHERE datname = current_database()
            UNION SELECT proowner FROM pg_proc
                   WHERE pronamespace IN (SELECT relnamespace FROM tables)
                     AND prosecdef
                     AND (proname LIKE '%audit_day%' OR proname LIKE '%audit_segments'
                          OR proname = 'forget_superseded_revisions')
        ), strong AS (
            SELECT oid, rolname, CASE
                     WHEN rolsuper THEN 'is a superuser'
                     WHEN oid IN (SELECT oid FROM owners) THEN 'owns the audit log'
                     WHEN rolname = 'sealward_retention' THEN 'detaches days of the audit log'
                     ELSE 'has the rights of the server process' END AS why
              FROM pg_roles
             WHERE rolsuper OR oid IN (SELECT oid FROM owners)
                OR rolname IN ('sealward_retention', 'pg_execute_server_program', 'pg_write_server_files')
        )
        SELECT format('%I owns the audit log: use a login that owns nothing, and run '
                      '`sealward migrate` with this one', session_user)
         WHERE quote_ident(session_user)::regrole IN (SELECT oid FROM owners)
        UNION ALL
        SELECT format('%I %s: REVOKE %I FROM %I', strong.rolname, strong.why, strong.rolname,
                      grantee.rolname)
          FROM strong
          JOIN pg_auth_members m ON m.roleid = strong.oid
          JOIN pg_roles grantee ON grantee.oid = m.member
         WHERE pg_has_role(session_user, grantee.oid, 'MEMBER')
           AND quote_ident(session_user)::regrole NOT IN (SELECT oid FROM owners)
           AND strong.rolname <> 'pg_database_owner'";
    sqlx::query_scalar(sql).fetch_all(connection).await
}

/// Privileges of the login, of its roles and of `PUBLIC`, to the tables of the audit log and to those that say
/// which rows count. With `CREATE` on a schema, a table or a function can stand before one of these: the login can change
/// its own search path.
pub(super) async fn privileges(connection: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    let sql = "
        WITH mine AS (
            SELECT oid FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER')
            UNION ALL SELECT 0
        ), tables AS (
            SELECT c.oid, c.relnamespace, c.relowner, c.relacl FROM pg_class c
             WHERE c.oid IN ('crypto_operations_audit'::regclass, 'management_events'::regclass,
                             'audit_retention'::regclass, 'audit_log_segments'::regclass,
                             'audit_log_positions'::regclass, 'audit_log_nodes'::regclass,
                             'audit_log_keys'::regclass, 'audit_log_cosigners'::regclass,
                             'report_keys'::regclass, 'revisions'::regclass, 'row_keys'::regclass)
                OR (c.relkind = 'r' AND c.relname ~ '^crypto_operations_audit_[0-9]{8}$'
                    AND c.relnamespace = (SELECT relnamespace FROM pg_class
                                           WHERE oid = 'crypto_operations_audit'::regclass))
        ), granted AS (
            SELECT tables.relowner AS owner, a.grantee, a.privilege_type, 'TABLE ' || tables.oid::regclass AS object
              FROM tables, aclexplode(tables.relacl) a
             WHERE a.privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER')
                OR (a.privilege_type = 'INSERT' AND tables.oid IN (
                        'revisions'::regclass, 'row_keys'::regclass, 'audit_log_positions'::regclass,
                        'audit_log_nodes'::regclass))
            UNION ALL
            SELECT tables.relowner, a.grantee, a.privilege_type || format(' (%I)', c.attname),
                   'TABLE ' || tables.oid::regclass
              FROM tables JOIN pg_attribute c ON c.attrelid = tables.oid, aclexplode(c.attacl) a
             WHERE a.privilege_type = 'UPDATE'
                OR (a.privilege_type = 'INSERT' AND tables.oid = 'revisions'::regclass
                    AND c.attname = 'accepted')
            UNION ALL
            SELECT p.proowner, a.grantee, a.privilege_type, 'FUNCTION ' || p.oid::regprocedure
              FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
             WHERE p.pronamespace IN (SELECT relnamespace FROM tables)
               AND p.proname IN ('detach_audit_day', 'drop_audit_day', 'forget_superseded_revisions')
               AND a.grantee <> coalesce(to_regrole('sealward_retention')::oid, 0)
            UNION ALL
            SELECT n.nspowner, a.grantee, a.privilege_type, format('SCHEMA %I', n.nspname)
              FROM pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
             WHERE n.nspname !~ '^pg_(temp|toast)' AND a.privilege_type = 'CREATE'
            UNION ALL
            -- A new schema can stand before the schema of the audit log in the owner's search path.
            SELECT d.datdba, a.grantee, a.privilege_type, format('DATABASE %I', d.datname)
              FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
             WHERE d.datname = current_database() AND a.privilege_type = 'CREATE'
        )
        SELECT format('%s on %s: REVOKE %1$s ON %2$s FROM %s', string_agg(DISTINCT privilege_type, ', '),
                      object, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END)
          FROM granted
         WHERE grantee <> owner AND grantee IN (SELECT oid FROM mine)
         GROUP BY object, grantee
        UNION ALL
        SELECT format('pg_write_all_data changes every table: REVOKE pg_write_all_data FROM %I', grantee.rolname)
          FROM pg_auth_members m
          JOIN pg_roles role ON role.oid = m.roleid AND role.rolname = 'pg_write_all_data'
          JOIN pg_roles grantee ON grantee.oid = m.member
         WHERE pg_has_role(session_user, grantee.oid, 'MEMBER')";
    sqlx::query_scalar(sql).fetch_all(connection).await
}
