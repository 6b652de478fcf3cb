//! A minimal browser that keeps its cookie and sends the form token of the last page.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};

use testkit::{Answer, Cookies, OidcProvider, World};

/// A browser, signed in or not.
pub(crate) struct Browser<'w> {
    world: &'w World,
    pub(crate) cookie: Option<String>,
    token: String,
    /// The cookies of the provider.
    at_provider: Cookies,
    /// The relation to the site whose link it follows, if it reports that.
    site: Option<&'static str>,
}

impl<'w> Browser<'w> {
    /// A browser without a cookie.
    pub(crate) fn new(world: &'w World) -> Self {
        Self {
            world,
            cookie: None,
            token: String::new(),
            at_provider: Cookies::default(),
            site: None,
        }
    }

    /// A browser that is signed in with the first admin key.
    pub(crate) async fn signed_in(world: &'w World) -> Self {
        let mut browser = Self::new(world);
        let response = browser.sign_in(world.admin_key()).await;
        assert_eq!(response.status, StatusCode::SEE_OTHER, "{response:?}");
        browser.get("/dashboard/services").await.ok();
        browser
    }

    pub(crate) async fn sign_in(&mut self, key: &str) -> Answer {
        self.get("/dashboard/sign-in").await.ok();
        self.send("/dashboard/sign-in", &[("key", key)]).await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.request(Method::GET, path, Body::empty()).await
    }

    /// Follows a link of a page of a site with this relation, as the browser reports it.
    pub(super) async fn follow(&mut self, path: &str, site: &'static str) -> Answer {
        self.site = Some(site);
        let answer = self.get(path).await;
        self.site = None;
        answer
    }

    /// Sends a form with the token of the last page.
    pub(crate) async fn send(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token.clone();
        self.send_with_token(path, fields, &token).await
    }

    pub(super) async fn send_with_token(
        &mut self,
        path: &str,
        fields: &[(&str, &str)],
        token: &str,
    ) -> Answer {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("form-token", token);
        form.extend_pairs(fields);
        self.request(Method::POST, path, Body::from(form.finish())).await
    }

    /// Sends a valid form and returns the target of the redirect.
    pub(super) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.send(path, fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{path}: {}", answer.body);
        let place = answer.header("location");
        place.split('?').next().unwrap().to_owned()
    }

    /// Signs in a person at the provider and returns the response to the redirect back.
    pub(crate) async fn sign_in_at(&mut self, provider: &OidcProvider, person: &str) -> Answer {
        let back = self.redirect_at(provider, person).await;
        self.get(&back).await
    }

    /// Signs in a person at the provider and returns the place of the redirect back.
    pub(super) async fn redirect_at(&mut self, provider: &OidcProvider, person: &str) -> String {
        self.forget_provider();
        let start = self.get("/dashboard/sign-in/provider").await;
        self.visit_at(provider, &start, Some(person)).await
    }

    /// Starts a sign-in of the person who is signed in at the provider, and returns the place of the redirect
    /// back.
    pub(super) async fn redirect_again_at(&mut self, provider: &OidcProvider) -> String {
        let start = self.get("/dashboard/sign-in/provider").await;
        self.visit_at(provider, &start, None).await
    }

    async fn visit_at(
        &mut self,
        provider: &OidcProvider,
        start: &Answer,
        person: Option<&str>,
    ) -> String {
        assert_eq!(start.status, StatusCode::SEE_OTHER, "{}", start.body);
        let cookies = self.at_provider.clone();
        let (back, cookies) = provider.visit(start.header("location"), person, cookies).await;
        self.at_provider = cookies;
        back
    }

    /// Follows the redirect to a check at the provider, which shows no page, and returns the place of the
    /// redirect back.
    pub(super) async fn checked_at(&mut self, provider: &OidcProvider, check: &Answer) -> String {
        assert_eq!(check.status, StatusCode::SEE_OTHER, "{}", check.body);
        let start = self.get(check.header("location")).await;
        self.visit_at(provider, &start, None).await
    }

    /// The same, and returns the response to the redirect back.
    pub(super) async fn confirm_at(&mut self, provider: &OidcProvider, check: &Answer) -> Answer {
        let back = self.checked_at(provider, check).await;
        self.get(&back).await
    }

    /// Uses the session of another browser at the provider.
    pub(super) fn use_provider_of(&mut self, other: &Self) {
        self.at_provider = other.at_provider.clone();
    }

    /// Ends the session at the provider.
    pub(super) fn forget_provider(&mut self) {
        self.at_provider = Cookies::default();
    }

    async fn request(&mut self, method: Method, path: &str, body: Body) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(cookie) = &self.cookie {
            request = request.header(header::COOKIE, cookie);
        }
        if let Some(site) = self.site {
            request = request.header("sec-fetch-site", site);
        }
        let answer = self.world.send(request.body(body).unwrap()).await;
        if let Some(set) = answer.headers.get(header::SET_COOKIE) {
            let pair = set.to_str().unwrap().split(';').next().unwrap();
            self.cookie = Some(pair.to_owned());
        }
        if let Some((_, rest)) = answer.body.split_once("name=\"form-token\" value=\"") {
            self.token = rest.split('"').next().unwrap().to_owned();
        }
        answer
    }
}
