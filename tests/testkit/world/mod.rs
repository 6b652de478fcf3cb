//! A complete service in this process with its own database.

mod instances;

use axum::body::Body;
use axum::http::Request;
use engine::auth::ApiKeySecret;
use engine::auth::oidc::Provider;
use engine::catalog::Catalog;
use engine::change_kind::ChangeKind;
use engine::db;
use engine::db::{Pool, Primary};
use engine::jobs::Board;
use engine::ledger::forward::Collector;
use engine::management::System;
use engine::management::api_keys::operator;
use engine::ratelimit::{Limiter, SharedBuckets};
use engine::resource::ResourceRequest;
use engine::settings::{
    Admin, Auth, Crypto, Environment, Forward, Http, Limits, Oidc, RateLimit, Settings, Span,
    Stage, Transit,
};
use formats::clock::{Clock, Entropy};
use hsm::Token;
use sealward::server::{Answers as _, Front, Service, Tls};
use secrecy::ExposeSecret as _;
use serde_json::json;
use sqlx::postgres::PgConnectOptions;

use super::clients::{self, Application, Client};
use super::{Answer, Database, Valkey, conformance, postgres, valkey};

/// One instance of the service with its dependencies.
pub struct World {
    pub clock: Clock,
    /// Connections of the test to the database, as its owner.
    pub pool: Pool,
    pub(super) service: Service,
    /// Created once, because creation takes longer than most requests.
    front: Front,
    stage: Stage,
    admin_key: String,
    limits: Option<RateLimit>,
    token: Token,
    // Must be dropped last.
    database: std::sync::Arc<Database>,
}

impl World {
    /// A service in development with the system clock.
    pub async fn new() -> Self {
        Self::at(Clock::system(), Stage::Development).await
    }

    /// A service of this environment with this clock.
    pub async fn at(clock: Clock, stage: Stage) -> Self {
        Self::with(clock, settings(stage)).await
    }

    /// A service in production that accepts extractable keys.
    pub async fn in_production_with_extractable_keys() -> Self {
        let mut settings = settings(Stage::Production);
        settings.keys.allow_extractable = true;
        Self::with(Clock::system(), settings).await
    }

    /// A service in development whose Transit API is off, as by default.
    pub async fn without_transit() -> Self {
        let settings = Settings { transit: Transit::default(), ..settings(Stage::Development) };
        Self::with(Clock::system(), settings).await
    }

    /// A service in development with this cryptographic floor.
    pub async fn with_floor(crypto: Crypto) -> Self {
        let settings = Settings { crypto, ..settings(Stage::Development) };
        Self::with(Clock::system(), settings).await
    }

    /// A service in development where these changes need an approval.
    pub async fn with_approvals(kinds: &[ChangeKind]) -> Self {
        let mut settings = settings(Stage::Development);
        settings.approvals.required = kinds.to_vec();
        Self::with(Clock::system(), settings).await
    }

    async fn with(clock: Clock, settings: Settings) -> Self {
        Self::over(clock, settings, super::token::token().await).await
    }

    async fn over(clock: Clock, settings: Settings, token: Token) -> Self {
        let database = Database::new().await;
        let admin_key = first_admin_key(&clock, &database.pool()).await;
        let (options, parts) = (database.options().clone(), (admin_key, None, token));
        Self::start(clock, settings, database.into(), options, parts).await
    }

    /// A service in development with a kryoptic token, which supports the mechanisms of a modern HSM.
    pub async fn on_kryoptic() -> Self {
        let token = super::token::kryoptic().await;
        Self::over(Clock::system(), settings(Stage::Development), token).await
    }

    /// A service in development with a kryoptic token and `envelopes.post_quantum`.
    pub async fn post_quantum() -> Self {
        let token = super::token::kryoptic().await;
        let mut settings = settings(Stage::Development);
        settings.envelopes.post_quantum = true;
        Self::over(Clock::system(), settings, token).await
    }

    /// A service in development with a SoftHSM2 token, which lacks ML-KEM, and `envelopes.post_quantum`.
    pub async fn post_quantum_on_softhsm() -> Self {
        let mut settings = settings(Stage::Development);
        settings.envelopes.post_quantum = true;
        Self::with(Clock::system(), settings).await
    }

    /// A service in development with this clock that accepts tokens as these settings say.
    pub async fn with_auth(clock: Clock, auth: Auth) -> Self {
        let mut settings = settings(Stage::Development);
        settings.auth = auth;
        Self::with(clock, settings).await
    }

    /// A service in development with these dependencies.
    pub async fn with_dependencies(clock: Clock, auth: Auth, oidc: Oidc, valkey: &Valkey) -> Self {
        let database = Database::new().await;
        let admin_key = first_admin_key(&clock, &database.pool()).await;
        let options = database.options().clone();
        let mut settings = settings(Stage::Development);
        settings.auth = auth;
        settings.admin.oidc = oidc;
        let parts = (admin_key, Some(valkey.settings()), super::token::token().await);
        Self::start(clock, settings, database.into(), options, parts).await
    }

    /// A service in development with these settings of certificates.
    pub async fn with_certificates(clock: Clock, auth: Auth, http: Http) -> Self {
        let settings = Settings { auth, http, ..settings(Stage::Development) };
        Self::with(clock, settings).await
    }

    /// A service in development whose administrators sign in like this.
    pub async fn with_admin(clock: Clock, admin: Admin) -> Self {
        let mut settings = settings(Stage::Development);
        settings.admin = admin;
        Self::with(clock, settings).await
    }

    /// A service in development whose administrators sign in like this, and where all changes need an
    /// approval.
    pub async fn with_admin_and_approvals(clock: Clock, admin: Admin) -> Self {
        let mut settings = settings(Stage::Development);
        settings.admin = admin;
        settings.approvals.required = ChangeKind::ALL.to_vec();
        Self::with(clock, settings).await
    }

    /// The connection options of the owner.
    pub fn database(&self) -> &PgConnectOptions {
        self.database.options()
    }

    /// The connection options of the service.
    pub fn as_application(&self) -> PgConnectOptions {
        self.database.as_application()
    }

    /// A client with the admin key.
    pub fn admin(&self) -> Client<'_> {
        self.client(&self.admin_key)
    }

    /// The admin key.
    pub fn admin_key(&self) -> &str {
        &self.admin_key
    }

    /// A client with a new admin key that has these roles.
    pub async fn administrator(&self, roles: &[&str]) -> Client<'_> {
        let body = json!({ "name": roles.join(" and "), "type": "admin", "roles": roles });
        let created = self.admin().post("/admin/api-keys", body).await.created();
        let secret = created.text("secret");
        let mut client = self.client(&secret);
        client.key = Some(secret);
        client.key_id = Some(created.text("id"));
        client
    }

    /// A client with this API key.
    pub fn client(&self, key: &str) -> Client<'_> {
        clients::Service::World(self).client(key)
    }

    /// A client without an API key.
    pub fn anonymous(&self) -> Client<'_> {
        Client::new(clients::Service::World(self), None)
    }

    /// Builds an application. Awaiting it creates the service and the API key.
    pub fn application(&self, name: &str) -> Application<'_> {
        Application::new(clients::Service::World(self), name)
    }

    /// Creates a service and returns its ID.
    pub async fn service(&self, name: &str) -> String {
        self.admin().create_service(name).await
    }

    /// Creates a policy for `destination` and returns its number.
    pub async fn policy(&self, destination: &str) -> String {
        let policy = json!({ "name": "policy", "destinationServiceId": destination,
            "allowedServiceIds": ["*"] });
        let created = self.admin().post("/admin/policies", policy).await;
        created.created().text("policyNumber")
    }

    /// Revokes the API key of `client`.
    pub async fn revoke(&self, client: &Client<'_>) {
        self.admin().delete(&client.key_path()).await.gone();
    }

    /// Forwards sealed audit records with these settings.
    pub fn forward(&mut self, settings: &Forward) {
        let collector = Collector::new(settings, &Environment::default()).expect("usable files");
        self.service.forward(collector.expect("a URL"));
    }

    /// Starts to reload the TLS files.
    pub fn reload(&mut self, tls: Option<Tls>) {
        self.service.reload(tls);
    }

    /// Starts to follow the primary.
    pub fn follow(&mut self, primary: Primary) {
        self.service.follow(primary);
    }

    /// The background jobs.
    pub fn jobs(&self) -> &Board {
        self.service.jobs()
    }

    /// The handler of API and dashboard for a listener.
    pub fn front(&self) -> Front {
        self.front.clone()
    }

    /// Sends a request unchanged.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let answer = Answer::of(self.front().answer(request).await).await;
        conformance::check(&method, &path, &answer);
        answer
    }

    async fn start(
        clock: Clock,
        settings: Settings,
        database: std::sync::Arc<Database>,
        options: PgConnectOptions,
        (admin_key, limits, token): (String, Option<RateLimit>, Token),
    ) -> Self {
        let limiter = limiter(&clock, limits.as_ref());
        limiter.find_shared().await;
        let stage = settings.environment;
        let provider = provider(&clock, &settings);
        let pool = postgres::pool(options.clone());
        let service = Service::start(
            (clock.clone(), Entropy::system()),
            settings,
            postgres::pool(db::as_application(options)),
            token.clone(),
            super::token::times().clone(),
            limiter,
            provider,
        )
        .await
        .expect("settings in order");
        Self {
            clock,
            pool,
            front: service.front(),
            service,
            stage,
            admin_key,
            limits,
            token,
            database,
        }
    }
}

fn settings(stage: Stage) -> Settings {
    Settings {
        environment: stage,
        transit: Transit { enabled: true, ..Transit::default() },
        limits: Limits {
            // Generating an RSA key takes long while all tests run.
            request_timeout: Span::seconds(120),
            ..Limits::default()
        },
        ..Settings::default()
    }
}

/// The provider of these settings, whose client secret they contain.
fn provider(clock: &Clock, settings: &Settings) -> Option<Provider> {
    let oidc = &settings.admin.oidc;
    let secret = oidc.client_secret.as_ref().map(|source| {
        let secret = source.reveal(&Environment::default());
        secret.expect("a secret")
    });
    Provider::new(clock.clone(), oidc, secret).expect("a CA file")
}

/// A limiter with these settings.
pub(super) fn limiter(clock: &Clock, settings: Option<&RateLimit>) -> Limiter {
    let Some(settings) = settings else {
        return Limiter::new(clock.clone());
    };
    let shared = SharedBuckets::of(settings, Some(&valkey::PASSWORD.into()));
    let shared = shared.expect("settings in order").expect("an address");
    Limiter::shared(clock.clone(), shared)
}

/// Creates the first admin key without the API, like an operator.
async fn first_admin_key(clock: &Clock, pool: &Pool) -> String {
    let system =
        System::new("test", clock.clone(), Entropy::system(), Catalog::new(), pool.clone());
    let body = json!({"name": "first", "type": "admin"});
    let request = ResourceRequest::of_json(&body, ResourceRequest::to_create).expect("a request");
    let created = operator::create(&system, request).await;
    let secret: ApiKeySecret = created.expect("the first admin key").secret;
    secret.expose_secret().to_owned()
}
