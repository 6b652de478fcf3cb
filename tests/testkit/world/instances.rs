//! Other instances with the database and the token of a service, at the same time or after a restart.

use engine::change_kind::ChangeKind;
use engine::settings::{Admin, Approvals, Auth, Crypto, Http, Seal, Settings, Span};
use sqlx::postgres::PgConnectOptions;

use super::{World, settings};
use crate::Valkey;

impl World {
    /// Another instance with this cryptographic floor.
    pub async fn another_with_floor(&self, crypto: Crypto) -> Self {
        let settings = Settings { crypto, ..settings(self.stage) };
        let options = self.database.options().clone();
        self.another_with(options, settings).await
    }

    /// Another instance without `envelopes.post_quantum`.
    pub async fn another_without_post_quantum(&self) -> Self {
        let options = self.database.options().clone();
        self.another_with(options, settings(self.stage)).await
    }

    /// Another instance with these settings of certificates.
    pub async fn another_with_certificates(&self, auth: Auth, http: Http) -> Self {
        let settings = Settings { auth, http, ..settings(self.stage) };
        let options = self.database.options().clone();
        self.another_with(options, settings).await
    }

    /// Another instance that accepts tokens as these settings say.
    pub async fn another_with_auth(&self, auth: Auth) -> Self {
        let options = self.database.options().clone();
        self.another_by_with_auth(options, auth).await
    }

    /// Another instance that connects with these options and accepts tokens as these settings say.
    pub async fn another_by_with_auth(&self, options: PgConnectOptions, auth: Auth) -> Self {
        let mut settings = settings(self.stage);
        settings.auth = auth;
        self.another_with(options, settings).await
    }

    /// Another instance with the same database.
    pub async fn another(&self) -> Self {
        self.another_by(self.database.options().clone()).await
    }

    /// Another instance that connects to the same database with these options.
    pub async fn another_by(&self, options: PgConnectOptions) -> Self {
        self.another_with(options, settings(self.stage)).await
    }

    /// Another instance that connects to the same database with these options and publishes its logs.
    pub async fn another_publishing(&self, options: PgConnectOptions) -> Self {
        let mut settings = settings(self.stage);
        settings.audit.seal.publish = true;
        self.another_with(options, settings).await
    }

    /// Another instance with this time limit for requests.
    pub async fn another_within(&self, request_timeout: Span) -> Self {
        let mut settings = settings(self.stage);
        settings.limits.request_timeout = request_timeout;
        let options = self.database.options().clone();
        self.another_with(options, settings).await
    }

    /// Another instance whose administrators sign in like this.
    pub async fn another_admitting(&self, admin: Admin) -> Self {
        let mut settings = settings(self.stage);
        settings.admin = admin;
        let options = self.database.options().clone();
        self.another_with(options, settings).await
    }

    /// Another instance where changes of these kinds need this number of approvals.
    pub async fn requiring(&self, required: &[ChangeKind], approvers: u8) -> Self {
        let mut settings = settings(self.stage);
        settings.approvals = Approvals { required: required.to_vec(), approvers };
        let options = self.database.options().clone();
        self.another_with(options, settings).await
    }

    async fn another_with(&self, options: PgConnectOptions, settings: Settings) -> Self {
        let database = self.database.clone();
        let parts = (self.admin_key.clone(), self.limits.clone(), self.token.clone());
        Self::start(self.clock.clone(), settings, database, options, parts).await
    }

    /// Stops the instance and starts it again.
    pub async fn restarted(self) -> Self {
        let settings = settings(self.stage);
        self.restarted_with(settings).await
    }

    /// Restarts the instance with this cryptographic floor.
    pub async fn held_to_floor(self, crypto: Crypto) -> Self {
        let settings = Settings { crypto, ..settings(self.stage) };
        self.restarted_with(settings).await
    }

    /// Restarts the instance with these settings of administrators.
    pub async fn admitting(self, admin: Admin) -> Self {
        let mut settings = settings(self.stage);
        settings.admin = admin;
        self.restarted_with(settings).await
    }

    /// Restarts the instance with these settings of the tamper-evident logs.
    pub async fn sealing(self, seal: Seal) -> Self {
        let mut settings = settings(self.stage);
        settings.audit.seal = seal;
        self.restarted_with(settings).await
    }

    async fn restarted_with(self, settings: Settings) -> Self {
        self.service.finish().await;
        let options = self.database.options().clone();
        let parts = (self.admin_key, self.limits, self.token);
        Self::start(self.clock, settings, self.database, options, parts).await
    }

    /// Restarts the instance with rate limits shared in `valkey`.
    pub async fn counting_in(mut self, valkey: &Valkey) -> Self {
        self.limits = Some(valkey.settings());
        self.restarted().await
    }
}
