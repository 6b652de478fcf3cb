//! People, whose groups give them roles.

use formats::clock::Clock;

use super::Intruder;
use testkit::{OidcProvider, PATIENCE, World, within};

/// Owners and auditors read it.
const EVENTS: &str = "/admin/audit/management";

/// A custodian who writes to the database.
#[tokio::test]
async fn a_person_gets_no_role_from_the_database() {
    for tampering in [
        "UPDATE people SET roles = '{owner}', issued_at = '2100-01-01'",
        "UPDATE people SET roles = '{owner}', revision = revision + 1, issued_at = '2100-01-01';
         INSERT INTO revisions SELECT 'people', id, revision, 'changed' FROM people",
    ] {
        let provider = OidcProvider::start();
        let admin = provider.admin("http://127.0.0.1:8080");
        let world = World::with_admin(Clock::system(), admin).await;
        let token = provider.tokens("carla").await.access_token;
        world.client(&token).get(EVENTS).await.refused(403, "FORBIDDEN");
        Intruder::of(&world).run(tampering).await;
        within(PATIENCE, async || world.client(&token).get(EVENTS).await.status == 401).await;
        let later = provider.tokens("carla").await.access_token;
        world.client(&later).get(EVENTS).await.refused(401, "AUTHENTICATION_FAILED");
    }
}
