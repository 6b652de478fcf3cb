//! An issuer of JSON Web Tokens that publishes its keys over TLS, and its faults.

use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    self, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256,
};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use engine::settings::{Auth, AuthIssuer};
use formats::algorithms::JwsAlgorithm;
use formats::clock::Timestamp;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::{Authority, Scratch};

/// The audience of tokens for the service.
const AUDIENCE: &str = "https://sealward.example";

/// How an issuer answers requests for its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Behavior {
    /// As specified.
    #[default]
    Correct,
    /// It never answers.
    Silent,
    /// It redirects to its keys.
    Redirecting,
    /// Its keys are longer than any JWK Set.
    Huge,
    /// Its answer is no JWK Set.
    Broken,
    /// Its configuration names another issuer.
    Misnamed,
}

/// An issuer that listens on this machine.
pub struct TokenIssuer {
    address: SocketAddr,
    state: Arc<Mutex<Publication>>,
    // The file of the CA must exist while a service starts.
    folder: Scratch,
}

#[derive(Default)]
struct Publication {
    issuer: String,
    keys: Vec<Value>,
    behavior: Behavior,
    /// How often the keys were fetched.
    fetches: usize,
}

/// A key that signs tokens.
pub struct SigningKey {
    pub kid: String,
    pair: Pair,
}

enum Pair {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl TokenIssuer {
    /// An issuer that publishes these keys.
    pub async fn publishing(keys: &[&SigningKey]) -> Self {
        let authority = Authority::new();
        let issued = authority.server("localhost");
        let folder = Scratch::new();
        fs::write(folder.path().join("ca.pem"), authority.certificate()).expect("a file");
        let tcp = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = tcp.local_addr().expect("an address");
        let state = Arc::new(Mutex::new(Publication {
            issuer: format!("https://localhost:{}", address.port()),
            ..Publication::default()
        }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(configuration))
            .route("/keys", get(published))
            .route("/moved", get(published))
            .with_state(state.clone());
        let listener =
            TlsListener { tcp, acceptor: TlsAcceptor::from(Arc::new(issued.server_config())) };
        tokio::spawn(async { axum::serve(listener, router).await });
        let issuer = Self { address, state, folder };
        issuer.publish(keys);
        issuer
    }

    /// The name of the issuer.
    pub fn name(&self) -> String {
        format!("https://localhost:{}", self.address.port())
    }

    /// Publishes these keys only.
    pub fn publish(&self, keys: &[&SigningKey]) {
        self.publish_jwks(keys.iter().map(|key| key.jwk()).collect());
    }

    /// Publishes these JWKs only.
    pub fn publish_jwks(&self, keys: Vec<Value>) {
        self.state().keys = keys;
    }

    pub fn behave(&self, behavior: Behavior) {
        self.state().behavior = behavior;
    }

    /// How often the keys were fetched.
    pub fn fetches(&self) -> usize {
        self.state().fetches
    }

    /// The settings of this issuer, whose keys are found by discovery.
    pub fn settings(&self) -> AuthIssuer {
        AuthIssuer {
            issuer: self.name(),
            audience: AUDIENCE.to_owned(),
            algorithms: vec![
                JwsAlgorithm::Rs256,
                JwsAlgorithm::Ps256,
                JwsAlgorithm::Es256,
                JwsAlgorithm::EdDsa,
            ],
            jwks_url: None,
            ca: Some(self.folder.path().join("ca.pem")),
        }
    }

    /// Settings with this issuer alone.
    pub fn auth(&self) -> Auth {
        Auth { issuers: vec![self.settings()], ..Auth::default() }
    }

    /// Claims that are valid at `now`, for `subject`.
    pub fn claims(&self, subject: &str, now: Timestamp) -> Value {
        let now = now.as_millis() / 1_000;
        json!({ "iss": self.name(), "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 3_600 })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, Publication> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SigningKey {
    /// A key for ES256.
    pub fn ec(kid: &str) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
        Self::of(kid, Pair::Ec(pair))
    }

    /// A key for EdDSA.
    pub fn ed(kid: &str) -> Self {
        Self::of(kid, Pair::Ed(Ed25519KeyPair::generate().expect("a key")))
    }

    /// A key for RS256 and PS256.
    pub fn rsa(kid: &str) -> Self {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key");
        Self::of(kid, Pair::Rsa(pair))
    }

    fn of(kid: &str, pair: Pair) -> Self {
        let kid = kid.to_owned();
        Self { kid, pair }
    }

    /// The algorithm that it uses by default.
    pub fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Ec(_) => "ES256",
            Pair::Ed(_) => "EdDSA",
            Pair::Rsa(_) => "RS256",
        }
    }

    pub fn jwk(&self) -> Value {
        let kid = &self.kid;
        match &self.pair {
            Pair::Ec(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y), "kid": kid, "use": "sig" })
            }
            Pair::Ed(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key().as_ref()), "kid": kid })
            }
            Pair::Rsa(pair) => {
                let key = pair.public_key();
                let (n, e) = (key.modulus(), key.exponent());
                let [n, e] = [n, e].map(|it| encode(it.big_endian_without_leading_zero()));
                json!({ "kty": "RSA", "n": n, "e": e, "kid": kid, "use": "sig" })
            }
        }
    }

    /// A token with these claims.
    pub fn token(&self, claims: &Value) -> String {
        let header = json!({ "alg": self.algorithm(), "kid": self.kid, "typ": "JWT" });
        self.signed(&header, claims)
    }

    /// A token with this header.
    pub fn signed(&self, header: &Value, claims: &Value) -> String {
        self.signed_text(header, &claims.to_string())
    }

    /// A token with this header, and with claims as this text.
    pub fn signed_text(&self, header: &Value, claims: &str) -> String {
        let header_part = encode(header.to_string().as_bytes());
        let signed = format!("{header_part}.{}", encode(claims.as_bytes()));
        let signature = self.sign(header["alg"] == "PS256", signed.as_bytes());
        format!("{signed}.{}", encode(&signature))
    }

    fn sign(&self, with_pss: bool, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ec(pair) => pair.sign(&random, message).expect("signed").as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let padding: &dyn signature::RsaEncoding =
                    if with_pss { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(padding, &random, message, &mut signature).expect("signed");
                signature
            }
        }
    }
}

/// The signed part of a token.
pub fn unsigned(header: &Value, claims: &Value) -> String {
    let part = |json: &Value| encode(json.to_string().as_bytes());
    format!("{}.{}", part(header), part(claims))
}

pub fn encode(bytes: &[u8]) -> String {
    BASE64URL.encode(bytes)
}

async fn configuration(State(state): State<Arc<Mutex<Publication>>>) -> Json<Value> {
    let state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let named = match state.behavior {
        Behavior::Misnamed => "https://other.example",
        _ => &state.issuer,
    };
    Json(json!({ "issuer": named, "jwks_uri": format!("{}/keys", state.issuer) }))
}

async fn published(State(state): State<Arc<Mutex<Publication>>>, uri: axum::http::Uri) -> Response {
    let (behavior, keys) = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.fetches += 1;
        (state.behavior, state.keys.clone())
    };
    let set = Json(json!({ "keys": keys }));
    match behavior {
        Behavior::Redirecting if uri.path() == "/keys" => {
            (StatusCode::FOUND, [(header::LOCATION, "/moved")]).into_response()
        }
        Behavior::Huge => {
            Json(json!({ "keys": keys, "more": "x".repeat(1 << 20) })).into_response()
        }
        Behavior::Broken => Json(json!({ "keys": 7 })).into_response(),
        Behavior::Silent => {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            set.into_response()
        }
        Behavior::Correct | Behavior::Redirecting | Behavior::Misnamed => set.into_response(),
    }
}

/// Accepts TLS connections.
struct TlsListener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (stream, address) = self.tcp.accept().await.expect("a connection");
            // A client that does not trust the certificate ends the handshake.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}
