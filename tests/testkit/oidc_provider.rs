//! A certified OpenID Connect provider in a separate process: npm `oidc-provider`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use engine::settings::{Admin, Oidc, RoleGroups, SecretSource, certificates};
use engine::web_client::client;
use serde_json::{Value, json};
use ureq::Agent;

use super::{Authority, PATIENCE, Scratch};

/// The audience of access tokens for the management API.
const API: &str = "https://sealward.test/admin";

/// A PKCE verifier with its challenge (RFC 7636, appendix B).
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// The tokens of one person.
pub struct Tokens {
    pub id_token: String,
    /// For the management API.
    pub access_token: String,
}

/// The cookies of a browser at the provider.
#[derive(Clone, Default)]
pub struct Cookies(Vec<(String, String)>);

/// A provider on this machine with the people of `tests/doubles/oidc/provider.mjs`.
pub struct OidcProvider {
    issuer: String,
    folder: Scratch,
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    agent: Agent,
}

impl OidcProvider {
    /// Starts a provider.
    pub fn start() -> Self {
        let (folder, authority) = (Scratch::new(), Authority::new());
        let [certificate, key] = authority.server("localhost").write(folder.path());
        let ca = folder.path().join("ca.pem");
        fs::write(&ca, authority.certificate()).expect("write a certificate");
        let script = crate::repository().join("tests/doubles/oidc/provider.mjs");
        let mut process = Command::new("node")
            .arg(script)
            .args([&home(), &certificate, &key])
            .args(["0", "--commands"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start the provider");
        let commands = process.stdin.take().expect("an input");
        let mut answers = BufReader::new(process.stdout.take().expect("an output"));
        let mut issuer = String::new();
        answers.read_line(&mut issuer).expect("the issuer");
        let issuer = issuer.trim().to_owned();
        assert!(issuer.starts_with("https://localhost:"), "{issuer:?}");
        let authorities = certificates(&ca).expect("a certificate");
        Self {
            issuer,
            folder,
            process,
            commands,
            answers,
            agent: client(Some(&authorities), PATIENCE),
        }
    }

    /// The settings of a service at this address whose people sign in here.
    pub fn admin(&self, address: &str) -> Admin {
        let group = |name: &str| vec![name.to_owned()];
        let secret = json!({ "value": "sealward-secret" });
        let secret: SecretSource = serde_json::from_value(secret).expect("a secret");
        Admin {
            key_sign_in: true,
            oidc: Oidc {
                issuer: Some(self.issuer.clone()),
                client_id: "sealward".to_owned(),
                client_secret: Some(secret),
                redirect_uri: Some(format!("{address}/dashboard/sign-in/callback")),
                scopes: ["openid", "profile", "groups"].map(str::to_owned).to_vec(),
                roles: RoleGroups {
                    owner: group("sealward-owners"),
                    custodian: group("sealward-custodians"),
                    policy_admin: group("sealward-policies"),
                    auditor: group("sealward-auditors"),
                },
                api_audience: Some(API.to_owned()),
                ca: Some(self.folder.path().join("ca.pem")),
                ..Oidc::default()
            },
        }
    }

    /// The issuer.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Signs in `person` for the authorization request `url`, like a browser. Returns the path and the
    /// query of the redirect back.
    pub async fn sign_in(&self, url: &str, person: &str) -> String {
        self.visit(url, Some(person), Cookies::default()).await.0
    }

    /// Follows the authorization request `url` with the cookies of a browser, and signs in `person` if the
    /// provider asks. Returns the path and the query of the redirect back, and the cookies.
    pub async fn visit(
        &self,
        url: &str,
        person: Option<&str>,
        cookies: Cookies,
    ) -> (String, Cookies) {
        let (agent, issuer) = (self.agent.clone(), self.issuer.clone());
        let (url, person) = (url.to_owned(), person.map(str::to_owned));
        let visited = move || visit(&agent, &issuer, url, person.as_deref(), cookies);
        tokio::task::spawn_blocking(visited).await.expect("a redirect")
    }

    /// The tokens of `person`, as a program with the credentials of the client gets them.
    pub async fn tokens(&self, person: &str) -> Tokens {
        let redirect_uri = "http://127.0.0.1/dashboard/sign-in/callback";
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs([
            ("client_id", "sealward"),
            ("response_type", "code"),
            ("scope", "openid profile groups sealward"),
            ("resource", API),
            ("redirect_uri", redirect_uri),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ]);
        let url = format!("{}/auth?{}", self.issuer, query.finish());
        let back = self.sign_in(&url, person).await;
        let (_, query) = back.split_once('?').expect("a query");
        let mut query = form_urlencoded::parse(query.as_bytes());
        let (_, code) = query.find(|(name, _)| name == "code").expect("a code");
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs([
            ("grant_type", "authorization_code"),
            ("code", &*code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", VERIFIER),
        ]);
        let (agent, form) = (self.agent.clone(), form.finish());
        let url = format!("{}/token", self.issuer);
        let answer = tokio::task::spawn_blocking(move || {
            let request = agent
                .post(url)
                .header("Authorization", "Basic c2VhbHdhcmQ6c2VhbHdhcmQtc2VjcmV0")
                .header("Content-Type", "application/x-www-form-urlencoded");
            let mut answer = request.send(form).expect("an answer");
            answer.body_mut().read_to_string().expect("a body")
        });
        let answer = answer.await.expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let token = |name: &str| answer[name].as_str().map(str::to_owned);
        Tokens {
            id_token: token("id_token").unwrap_or_else(|| panic!("{answer}")),
            access_token: token("access_token").unwrap_or_else(|| panic!("{answer}")),
        }
    }

    /// Replaces the signing keys.
    pub fn rotate_keys(&mut self) {
        self.command("rotate");
    }

    /// From now on, people have other subjects in access tokens.
    pub fn use_pairwise_subjects(&mut self) {
        self.command("pairwise");
    }

    /// Moves `person` to these groups.
    pub fn move_to(&mut self, person: &str, groups: &[&str]) {
        self.command(&format!("groups {person} {}", groups.join(",")));
    }

    /// A token with these claims beside `iss`, `aud`, `iat` and `jti`, which they can replace or, with null,
    /// remove.
    pub fn signed(&mut self, claims: &Value) -> String {
        self.ask(&format!("sign {claims}"))
    }

    /// Moves the clock.
    pub fn advance(&mut self, span: Duration) {
        self.command(&format!("advance {}", span.as_secs()));
    }

    /// Stops the provider.
    pub fn stop(&mut self) {
        self.process.kill().expect("a running provider");
        self.process.wait().expect("an exit status");
    }

    fn command(&mut self, command: &str) {
        assert_eq!(self.ask(command), "done");
    }

    fn ask(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").expect("a running provider");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("an answer");
        answer.trim_end().to_owned()
    }
}

impl Drop for OidcProvider {
    fn drop(&mut self) {
        // The process may already have exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Follows redirects at the provider, and chooses the person on its page.
fn visit(
    agent: &Agent,
    issuer: &str,
    mut url: String,
    person: Option<&str>,
    Cookies(mut cookies): Cookies,
) -> (String, Cookies) {
    for _ in 0..10 {
        let line: Vec<String> = cookies.iter().map(|(name, it)| format!("{name}={it}")).collect();
        let request = agent.get(&url).header("Cookie", line.join("; "));
        let mut response = request.call().expect("a response");
        for set in response.headers().get_all("set-cookie") {
            let pair = set.to_str().expect("text").split(';').next().expect("a pair");
            let (name, value) = pair.split_once('=').expect("a pair");
            cookies.retain(|(known, _)| known != name);
            cookies.push((name.to_owned(), value.to_owned()));
        }
        let Some(location) = response.headers().get("location") else {
            let page = response.body_mut().read_to_string().expect("a page");
            assert!(page.contains("Who signs in?"), "{page}");
            url = format!("{url}?person={}", person.expect("no page"));
            continue;
        };
        let location = location.to_str().expect("text");
        if let Some(place) = location.find("/dashboard/") {
            return (location[place..].to_owned(), Cookies(cookies));
        }
        url = match location.strip_prefix('/') {
            Some(path) => format!("{issuer}/{path}"),
            None => location.to_owned(),
        };
    }
    panic!("the provider redirects in a circle: {url}");
}

#[expect(clippy::disallowed_methods, reason = "./dev test sets the folder of the provider")]
fn home() -> PathBuf {
    std::env::var_os("SEALWARD_TEST_OIDC")
        .expect("SEALWARD_TEST_OIDC is not set: ./dev test sets it to what tests/doubles/oidc/setup prints")
        .into()
}
