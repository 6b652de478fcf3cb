//! Sign-in with OpenID Connect in the browser. The provider is another site for the browser.

use formats::clock::Clock;
use sealward::server::listen;
use serde_json::{Value, json};

use super::Chromium;
use testkit::{OidcProvider, World};

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
    chromium.press("End it too").await;
    chromium.wait_for_text("Do you want to sign-out").await;
    chromium.press("Yes, sign me out").await;
    chromium.wait_for_text("Sign-out Success").await;

    chromium.open("/dashboard/sign-in").await;
    chromium.press("Sign in with single sign-on").await;
    chromium.wait_for_text("Who signs in?").await;
    chromium.press("Guest without a role").await;
    chromium.wait_for_text("Your account has no role in Sealward").await;
}

/// The text of the badge in the navigation.
const BADGE: &str = "return document.querySelector('nav .badge')?.textContent ?? null";

/// The buttons of the decisions.
const BUTTONS: &str =
    "return [...document.querySelectorAll('main form button')].map(it => it.textContent.trim())";

/// The added parts of the difference that a color marks.
const ADDED: &str = "return [...document.querySelectorAll('ins')]
    .filter(it => getComputedStyle(it).backgroundColor !== 'rgba(0, 0, 0, 0)')
    .map(it => it.textContent)";

/// Signs in a person at the provider, at the start page.
async fn signed_in(address: &str, person: &str) -> Chromium {
    let chromium = Chromium::before(address.to_owned()).await;
    chromium.open("/dashboard/keys").await;
    chromium.press("Sign in with single sign-on").await;
    chromium.wait_for_text("Who signs in?").await;
    chromium.press(person).await;
    chromium.wait_for_text("Generate key").await;
    chromium
}

#[tokio::test]
async fn two_people_make_a_change_together() {
    let provider = OidcProvider::start();
    let listener = listen("http.listen", "127.0.0.1:0".parse().unwrap());
    let listener = listener.await.unwrap();
    let address = format!("http://{}", listener.address());
    let admin = provider.admin(&address);
    let world = World::with_admin_and_approvals(Clock::system(), admin).await;
    world.serve(listener);
    world.service("billing").await;

    let carla = signed_in(&address, "Carla Custodian").await;
    carla.press("Generate key").await;
    carla.choose("Service", "billing").await;
    carla.choose("Algorithm", "P-256").await;
    carla.press("Generate key").await;
    carla.wait_for_text("The change awaits approval").await;
    let change = carla.place().await;
    let page = carla.text().await;
    assert!(page.contains("Carla Custodian") && page.contains("Withdraw"), "{page}");
    assert_eq!(carla.run(BUTTONS, &[]).await, json!(["Withdraw"]));

    let carlos = signed_in(&address, "Carlos Custodian").await;
    assert_eq!(carlos.run(BADGE, &[]).await, "1 pending");
    carlos.open("/dashboard/changes").await;
    assert!(carlos.text().await.contains("Carla Custodian"));
    carlos.press_first("td a[href*=chg_]").await;
    let page = carlos.text().await;
    assert!(page.contains("P-256") && page.contains("0 of 1"), "{page}");
    let added = carlos.run(ADDED, &[]).await.to_string();
    assert!(added.contains("P-256"), "{added}");
    assert_eq!(carlos.run(BUTTONS, &[]).await, json!(["Approve", "Reject"]));
    carlos.fill("Comment", "as agreed").await;
    carlos.press("Approve").await;
    carlos.wait_for_text("The change was approved and made.").await;
    assert!(carlos.text().await.contains("as agreed"));

    carla.open(change.split('?').next().unwrap()).await;
    carla.wait_for_text("The change was approved and made.").await;
    carla.press("Keys").await;
    let keys = carla.text().await;
    assert!(keys.contains("P-256") && keys.contains("active"), "{keys}");
    assert_eq!(carla.run(BADGE, &[]).await, Value::Null);
}
