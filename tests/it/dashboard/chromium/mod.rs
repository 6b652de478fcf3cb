//! The dashboard in a real browser: workflows, accessibility checks and screenshots.

mod driver;
mod single_sign_on;
mod tour;
mod viewport;
mod workflows;

use std::sync::Arc;

use engine::settings::TlsFiles;
use formats::clock::Clock;
use sealward::server::Tls;
use serde_json::{Value, json};

use self::driver::{Driver, PATIENCE, Refused};
use testkit::{Authority, Scratch, World, within};

/// The member name of element references in WebDriver.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Chromium with the dashboard of one world. It finds fields by their labels, and buttons and
/// links by their texts.
pub(super) struct Chromium {
    driver: Arc<Driver>,
    address: String,
}

impl Chromium {
    /// Starts a browser.
    pub(super) async fn start(world: &World) -> Self {
        Self::before(format!("http://{}", world.served(None).await)).await
    }

    /// Starts a browser over TLS. It accepts every certificate.
    pub(super) async fn start_over_tls(world: &World) -> Self {
        let folder = Scratch::new();
        let [certificate, key] = Authority::new().server("127.0.0.1").write(folder.path());
        let files =
            TlsFiles { certificate, key, client_ca: None, client_crl: None, spiffe: Vec::new() };
        let tls = Tls::load(Clock::system(), files).expect("a certificate that was just issued");
        Self::before(format!("https://{}", world.served(Some(tls)).await)).await
    }

    async fn before(address: String) -> Self {
        let driver = tokio::task::spawn_blocking(Driver::start).await;
        Self { driver: driver.expect("Chromium").into(), address }
    }

    /// Starts a browser and signs in with the first admin key.
    pub(super) async fn signed_in(world: &World) -> Self {
        let chromium = Self::start(world).await;
        chromium.open("/dashboard/sign-in").await;
        chromium.sign_in(world.admin_key()).await;
        chromium
    }

    pub(super) async fn sign_in(&self, key: &str) {
        self.fill("Admin key", key).await;
        self.press("Sign in").await;
    }

    /// Opens a page of the dashboard.
    pub(super) async fn open(&self, path: &str) {
        self.open_elsewhere(&format!("{}{path}", self.address)).await;
    }

    /// Opens any page.
    pub(super) async fn open_elsewhere(&self, url: &str) {
        let opened = self.post("/url", json!({ "url": url })).await;
        opened.unwrap_or_else(|refused| panic!("{url}: {refused:?}"));
    }

    /// The current path and query.
    pub(super) async fn place(&self) -> String {
        let place = self.run("return location.pathname + location.search", &[]);
        place.await.as_str().expect("a place").to_owned()
    }

    /// The only cookie of the dashboard with its attributes.
    pub(super) async fn cookie(&self) -> Value {
        let driver = self.driver.clone();
        let kept = tokio::task::spawn_blocking(move || driver.call("GET", "/cookie", &Value::Null));
        let kept = kept.await.expect("the driver answers").expect("cookies");
        let [cookie] = kept.as_array().expect("cookies").as_slice() else {
            panic!("{kept}");
        };
        cookie.clone()
    }

    /// The text of the page.
    pub(super) async fn text(&self) -> String {
        let text = self.run("return document.body.innerText", &[]).await;
        text.as_str().expect("a text").to_owned()
    }

    /// Waits until the page contains this text.
    pub(super) async fn wait_for_text(&self, words: &str) {
        let says =
            "return document.body !== null && document.body.innerText.includes(arguments[0])";
        within(PATIENCE, async || {
            let says = self.try_run(says, &[json!(words)]).await;
            says.is_ok_and(|says| says == json!(true))
        })
        .await;
    }

    /// Replaces the text of the field with this label.
    pub(super) async fn fill(&self, label: &str, text: &str) {
        let field = self.element(FIELD, label).await;
        self.act(&field, "clear", json!({})).await;
        self.act(&field, "value", json!({ "text": text })).await;
    }

    /// Selects the checkbox or radio button with this label.
    pub(super) async fn tick(&self, label: &str) {
        let field = self.element(FIELD, label).await;
        self.act(&field, "click", json!({})).await;
    }

    /// Selects an option of the field with this label.
    pub(super) async fn choose(&self, label: &str, choice: &str) {
        let found = self.run(CHOICE, &[json!(label), json!(choice)]).await;
        let found = found[ELEMENT].as_str();
        let found = found.unwrap_or_else(|| panic!("no {choice} to choose as {label}"));
        self.act(found, "click", json!({})).await;
    }

    /// Clicks the button or link with this text and waits for the next page.
    pub(super) async fn press(&self, words: &str) {
        let button = self.element(BUTTON, words).await;
        self.follow(&button).await;
    }

    /// Clicks the first element that matches the selector and waits for the next page.
    pub(super) async fn press_first(&self, selector: &str) {
        let first = "return document.querySelector(arguments[0])";
        let button = self.element(first, selector).await;
        self.follow(&button).await;
    }

    /// Runs a script in the page. The content security policy does not apply to it.
    pub(super) async fn run(&self, script: &str, arguments: &[Value]) -> Value {
        let answer = self.try_run(script, arguments).await;
        answer.unwrap_or_else(|refused| panic!("{refused:?}"))
    }

    /// Sends a command of the Chrome DevTools Protocol.
    async fn command(&self, name: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": name, "params": parameters });
        let answer = self.post("/goog/cdp/execute", body).await;
        answer.unwrap_or_else(|refused| panic!("{name}: {refused:?}"))
    }

    async fn try_run(&self, script: &str, arguments: &[Value]) -> Result<Value, Refused> {
        let body = json!({ "script": script, "args": arguments });
        self.post("/execute/sync", body).await
    }

    async fn element(&self, find: &str, words: &str) -> String {
        let found = self.run(find, &[json!(words)]).await;
        match found[ELEMENT].as_str() {
            Some(element) => element.to_owned(),
            None => panic!("{words:?} is not on this page:\n{}", self.text().await),
        }
    }

    async fn follow(&self, button: &str) {
        self.run("window.left = true", &[]).await;
        self.act(button, "click", json!({})).await;
        self.arrive().await;
    }

    /// Waits for a page without the mark of the previous one. Scripts fail between two pages.
    async fn arrive(&self) {
        within(PATIENCE, async || {
            let arrived = self.try_run(ARRIVED, &[]).await;
            arrived.is_ok_and(|arrived| arrived == json!(true))
        })
        .await;
    }

    async fn act(&self, element: &str, act: &str, body: Value) {
        let result = self.post(&format!("/element/{element}/{act}"), body).await;
        result.unwrap_or_else(|refused| panic!("{act}: {refused:?}"));
    }

    async fn post(&self, path: &str, body: Value) -> Result<Value, Refused> {
        let (driver, path) = (self.driver.clone(), path.to_owned());
        let answer = tokio::task::spawn_blocking(move || driver.call("POST", &path, &body));
        answer.await.expect("the driver answers")
    }
}

const FIELD: &str = "
    const label = [...document.querySelectorAll('label')].find(label =>
        label.textContent.replace('(optional)', '').trim() === arguments[0]);
    return label ? label.control : null;";

const CHOICE: &str = "
    const label = [...document.querySelectorAll('label')].find(label =>
        label.textContent.replace('(optional)', '').trim() === arguments[0]);
    const choices = label ? [...label.control.options] : [];
    return choices.find(choice => choice.textContent.trim() === arguments[1]) || null;";

const BUTTON: &str = "
    return [...document.querySelectorAll('button, a')].find(button =>
        button.textContent.trim() === arguments[0]) || null;";

const ARRIVED: &str = "return window.left !== true && document.readyState === 'complete'";
