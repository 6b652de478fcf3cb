//! Settings of OpenID Connect: the provider at which people sign in, and their roles.

use std::path::PathBuf;

use axum::http::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecretSource, Span, Stage};

/// The path of every redirect URI.
const CALLBACK: &str = "/dashboard/sign-in/callback";

/// Sign-in to the dashboard with OpenID Connect: authorization code flow with PKCE.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Oidc {
    /// The issuer, exactly as its tokens name it. Its OpenID configuration is below
    /// `/.well-known/openid-configuration`. Default: no sign-in with OpenID Connect.
    pub issuer: Option<String>,
    /// The client ID of Sealward at the provider.
    pub client_id: String,
    /// The source of the client secret.
    pub client_secret: Option<SecretSource>,
    /// The redirect URI that is registered at the provider: the URL of the dashboard, then
    /// `/dashboard/sign-in/callback`.
    pub redirect_uri: Option<String>,
    /// The requested scopes. They must include `openid`.
    pub scopes: Vec<String>,
    /// The claim of the ID token that contains the groups of a person: a string or an array of
    /// strings. A name that starts with `/` is a JSON Pointer.
    pub groups_claim: String,
    /// The groups that have each role.
    pub roles: RoleGroups,
    /// The audience of access tokens with which people call the management API. It must differ from
    /// `client_id` and from the audiences in `auth.issuers`. Default: the API accepts no access tokens.
    pub api_audience: Option<String>,
    /// The scope that these access tokens must have. Required if the provider issues them without the type
    /// `at+jwt`.
    pub api_scope: Option<String>,
    /// How often the session of a person in the dashboard is checked again at the provider, without a page for
    /// the person: from 1m to 12h. A person whom the provider does not confirm is signed out, and roles follow
    /// their groups.
    pub recheck: Span,
    /// PEM file with the CA certificates of the provider. Default: the CAs of the system.
    pub ca: Option<PathBuf>,
}

/// The groups that have each role. Names are compared exactly.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct RoleGroups {
    /// Groups whose members are owners.
    pub owner: Vec<String>,
    /// Groups whose members are custodians.
    pub custodian: Vec<String>,
    /// Groups whose members are policy admins.
    pub policy_admin: Vec<String>,
    /// Groups whose members are auditors.
    pub auditor: Vec<String>,
}

impl Default for Oidc {
    fn default() -> Self {
        Self {
            issuer: None,
            client_id: String::new(),
            client_secret: None,
            redirect_uri: None,
            scopes: ["openid", "profile"].map(str::to_owned).to_vec(),
            groups_claim: "groups".to_owned(),
            roles: RoleGroups::default(),
            api_audience: None,
            api_scope: None,
            recheck: Span::seconds(60 * 60),
            ca: None,
        }
    }
}

impl Oidc {
    /// The audiences of tokens of administrators: of ID tokens and of access tokens.
    pub(super) fn audiences(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let client = ("client_id", self.client_id.as_str());
        let api = self.api_audience.as_deref().map(|it| ("api_audience", it));
        let all = [Some(client), api].into_iter().flatten();
        all.filter(|(_, audience)| !audience.is_empty())
    }

    /// Whether a group has the role `owner`.
    pub(crate) fn has_owners(&self) -> bool {
        self.issuer.is_some() && !self.roles.owner.is_empty()
    }

    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        let mut refuse = |message: &str| found.push(message.to_owned());
        let Some(issuer) = &self.issuer else {
            let is_partial = !self.client_id.is_empty()
                || self.client_secret.is_some()
                || self.api_audience.is_some()
                || self.ca.is_some();
            if is_partial {
                refuse(
                    "admin.oidc.client_id, client_secret, api_audience and ca require admin.oidc.issuer",
                );
            }
            return;
        };
        if !is_issuer(issuer) {
            refuse(
                "admin.oidc.issuer must be an https:// URL without query such as \
                 https://login.example.com",
            );
        }
        if self.client_id.is_empty() {
            refuse("admin.oidc.client_id is required with admin.oidc.issuer");
        }
        match &self.client_secret {
            None => refuse("admin.oidc.client_secret is required with admin.oidc.issuer"),
            Some(source) if stage != Stage::Development && source.is_plain() => refuse(
                "admin.oidc.client_secret must be in the settings only in development: use \
                 { file = \"…\" }, { credential = \"…\" } or { command = [\"…\"] }",
            ),
            Some(_) => {}
        }
        if !self.redirect_uri.as_deref().is_some_and(is_redirect_uri) {
            refuse(
                "admin.oidc.redirect_uri must be https://HOST/dashboard/sign-in/callback; \
                 http:// is accepted for this machine",
            );
        }
        if !self.scopes.iter().any(|scope| scope == "openid") {
            refuse("admin.oidc.scopes must include openid");
        }
        if self.groups_claim.is_empty() {
            refuse("admin.oidc.groups_claim must be the name of a claim");
        }
        match &self.api_audience {
            Some(audience) if audience.is_empty() || *audience == self.client_id => refuse(
                "admin.oidc.api_audience must not be empty and must differ from admin.oidc.client_id, \
                 the audience of ID tokens",
            ),
            Some(_) => {}
            None if self.api_scope.is_some() => {
                refuse("admin.oidc.api_scope requires admin.oidc.api_audience");
            }
            None => {}
        }
        if self.api_scope.as_deref().is_some_and(|scope| scope.is_empty() || scope.contains(' ')) {
            refuse("admin.oidc.api_scope must be one scope");
        }
        if !(Span::seconds(60)..=Span::seconds(12 * 60 * 60)).contains(&self.recheck) {
            refuse("admin.oidc.recheck must be from 1m to 12h");
        }
        let roles = &self.roles;
        let groups = [&roles.owner, &roles.custodian, &roles.policy_admin, &roles.auditor];
        if groups.into_iter().all(Vec::is_empty) {
            refuse("admin.oidc.roles must name a group for at least one role");
        }
    }
}

fn is_issuer(text: &str) -> bool {
    text.parse::<Uri>().is_ok_and(|uri| {
        let is_plain = uri.query().is_none() && !text.contains(['#', '@']);
        uri.scheme_str() == Some("https") && uri.host().is_some() && is_plain
    })
}

fn is_redirect_uri(text: &str) -> bool {
    text.parse::<Uri>().is_ok_and(|uri| {
        let is_local = matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
        let is_safe = match uri.scheme_str() {
            Some("https") => uri.host().is_some(),
            Some("http") => is_local,
            Some(_) | None => false,
        };
        is_safe && uri.path() == CALLBACK && uri.query().is_none() && !text.contains(['#', '@'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> Oidc {
        Oidc {
            issuer: Some("https://login.example.com/realms/bank".to_owned()),
            client_id: "sealward".to_owned(),
            client_secret: Some(SecretSource::File("secret".into())),
            redirect_uri: Some(format!("https://sealward.example.com{CALLBACK}")),
            roles: RoleGroups { owner: vec!["owners".to_owned()], ..RoleGroups::default() },
            ..Oidc::default()
        }
    }

    fn wrong(settings: &Oidc) -> Vec<String> {
        let mut found = Vec::new();
        settings.contradictions(Stage::Production, &mut found);
        found
    }

    #[test]
    fn a_complete_section_is_accepted() {
        assert_eq!(wrong(&complete()), [""; 0]);
        assert_eq!(wrong(&Oidc::default()), [""; 0]);
        let local =
            Oidc { redirect_uri: Some(format!("http://127.0.0.1:8080{CALLBACK}")), ..complete() };
        assert_eq!(wrong(&local), [""; 0]);
    }

    #[test]
    fn each_mistake_names_its_setting() {
        type Mistake = fn(&mut Oidc);
        let cases: [(&str, Mistake); 16] = [
            ("api_audience", |it| it.api_audience = Some("sealward".to_owned())),
            ("api_audience", |it| it.api_audience = Some(String::new())),
            ("api_scope", |it| it.api_scope = Some("admin".to_owned())),
            ("api_scope", |it| {
                it.api_audience = Some("https://sealward.example.com/admin".to_owned());
                it.api_scope = Some("two scopes".to_owned());
            }),
            ("issuer", |it| it.issuer = Some("http://a".to_owned())),
            ("issuer", |it| it.issuer = Some("https://a/?b=c".to_owned())),
            ("client_id", |it| it.client_id.clear()),
            ("client_secret", |it| it.client_secret = None),
            ("redirect_uri", |it| it.redirect_uri = None),
            ("redirect_uri", |it| {
                it.redirect_uri = Some(format!("http://sealward.example.com{CALLBACK}"));
            }),
            ("redirect_uri", |it| {
                it.redirect_uri = Some("https://sealward.example.com/".to_owned());
            }),
            ("scopes", |it| it.scopes = vec!["profile".to_owned()]),
            ("groups_claim", |it| it.groups_claim.clear()),
            ("recheck", |it| it.recheck = Span::seconds(59)),
            ("recheck", |it| it.recheck = Span::seconds(12 * 60 * 60 + 1)),
            ("roles", |it| it.roles = RoleGroups::default()),
        ];
        for (setting, change) in cases {
            let mut settings = complete();
            change(&mut settings);
            let errors = wrong(&settings);
            assert!(
                errors.len() == 1 && errors[0].starts_with(&format!("admin.oidc.{setting} ")),
                "{errors:?}"
            );
        }
        let alone = Oidc { issuer: None, ..complete() };
        assert!(wrong(&alone)[0].contains("require admin.oidc.issuer"));
    }
}
