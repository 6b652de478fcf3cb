//! The management API.

mod access_tokens;
mod api_keys;
mod changes;
mod concurrency;
mod emergency;
mod events;
mod idempotency;
mod identities;
mod in_time;
mod instances;
mod keys;
mod patch;
mod people;
mod policies;
pub(crate) mod reports;
mod restore;
mod revocation;
mod roles;
mod security_events;
mod services;

use engine::db::Pool;

/// Lets every commit of a new key fail.
async fn fail_commits_of_keys(pool: &Pool) {
    let sql = "
        CREATE FUNCTION fail_late() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$;
        CREATE CONSTRAINT TRIGGER fail_late AFTER INSERT ON keys
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_late();
    ";
    sqlx::raw_sql(sql).execute(pool).await.expect("a trigger");
}

/// The number of keys that were begun in a token and are not recorded.
async fn intents(pool: &Pool) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM key_intents").fetch_one(pool).await.expect("a count")
}
