//! Sign-in with OpenID Connect in the browser. The provider is another site for the browser.

use sealward::clock::Clock;
use sealward::server::listen;

use super::Chromium;
use crate::support::{OidcProvider, World};

#[tokio::test]
async fn a_person_signs_in_at_the_provider_and_signs_out() {
    let provider = OidcProvider::start();
    let any_port = "127.0.0.1:0".parse().unwrap();
    let listener = listen("http.listen", any_port).await.unwrap();
    let address = format!("http://{}", listener.address());
    let world = World::with_admin(Clock::system(), provider.admin(&address)).await;
    world.serve(listener);

    let chromium = Chromium::before(address).await;
    chromium.open("/dashboard/keys").await;
    chromium.press("Sign in with single sign-on").await;
    chromium.wait_for_text("Who signs in?").await;
    chromium.press("Carla Custodian").await;
    chromium.wait_for_text("Generate key").await;
    assert_eq!(chromium.place().await, "/dashboard/keys");
    assert_eq!(chromium.cookie().await["sameSite"], "Strict");

    chromium.press("Sign out").await;
    chromium.wait_for_text("Sign in to Sealward").await;
    chromium.press("Sign in with single sign-on").await;
    chromium.wait_for_text("Who signs in?").await;
    chromium.press("Guest without a role").await;
    chromium
        .wait_for_text("Your account has no role in Sealward")
        .await;
}
