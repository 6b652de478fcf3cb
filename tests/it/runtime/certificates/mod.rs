//! Requests with client certificates as credentials.

mod api_keys;
mod forwarded;
mod pinned;
mod spiffe;

use std::fs;
use std::io;
use std::net::SocketAddr;

use axum::body::Body;
use axum::http::Request;
use engine::settings::{Auth, AuthSpiffe, Http, TlsFiles};
use formats::clock::Clock;
use sealward::server::Tls;
use serde_json::{Value, json};

use crate::credentials::routes;
use testkit::{
    Answer, Authority, HOST, IssuedCertificate, OPERATIONS, Scratch, SecureClient, World,
};

const CALLER: &str = "/api/v1/caller";

/// The SPIFFE ID of a workload in the first trust domain.
const CART: &str = "spiffe://one.example/shop/cart";

/// A listener that trusts a client CA and the CAs of two trust domains.
struct Site {
    world: World,
    address: SocketAddr,
    tls: Tls,
    /// The CA of the listener's own certificate.
    server: Authority,
    /// The CA in `http.tls.client_ca`.
    clients: Authority,
    /// The CA of `one.example`.
    one: Authority,
    /// The CA of `two.example`.
    two: Authority,
    /// The pinned certificate of a trusted proxy.
    proxy: IssuedCertificate,
    settings: (Auth, Http),
    service: String,
    folder: Scratch,
}

impl Site {
    /// A site where certificates alone authenticate.
    async fn new() -> Self {
        Self::with(|_, _| {}).await
    }

    /// A site with these changes of its settings.
    async fn with(change: impl FnOnce(&mut Auth, &mut Http)) -> Self {
        let [server, clients, one, two] = [(); 4].map(|()| Authority::new());
        let folder = Scratch::new();
        let file = |name: &str| folder.path().join(name);
        let issued = server.server(HOST);
        let [certificate, key] = issued.write(folder.path());
        for (name, authority) in [("clients", &clients), ("one", &one), ("two", &two)] {
            fs::write(file(name), authority.certificate()).unwrap();
        }
        let list = clients.revocation_list(&[]);
        fs::write(file("revoked"), list).unwrap();
        let domain = |name: &str| AuthSpiffe {
            trust_domain: format!("{name}.example").parse().unwrap(),
            ca: file(name),
        };
        let spiffe = vec![domain("one"), domain("two")];
        let files = TlsFiles {
            certificate,
            key,
            client_ca: Some(file("clients")),
            client_crl: Some(file("revoked")),
            spiffe: spiffe.clone(),
        };
        let tls = Tls::load(Clock::system(), files).unwrap();
        let proxy = clients.client();
        let mut auth = Auth { spiffe, certificates: true, ..Auth::default() };
        let mut http = Http {
            trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
            proxy_certificates: vec![proxy.sha256().parse().unwrap()],
            ..Http::default()
        };
        change(&mut auth, &mut http);
        let settings = (auth.clone(), http.clone());
        let world = World::with_certificates(Clock::system(), auth, http).await;
        let address = world.served(Some(tls.clone())).await;
        let service = world.service("shop").await;
        Self { world, address, tls, server, clients, one, two, proxy, settings, service, folder }
    }

    /// Revokes these certificates of the client CA and of the CA of `one.example`.
    fn revoke(&self, clients: &[&IssuedCertificate], workloads: &[&IssuedCertificate]) {
        let lists = [self.clients.revocation_list(clients), self.one.revocation_list(workloads)];
        fs::write(self.folder.path().join("revoked"), lists.concat()).unwrap();
        self.tls.reload().unwrap();
    }

    /// Creates an identity and returns its ID.
    async fn identity(&self, matching: Value) -> String {
        let body = json!({ "name": "cart", "serviceId": self.service, "match": matching });
        let created = self.world.admin().post("/admin/identities", body).await;
        created.created().text("id")
    }

    /// The answer to a client with this certificate and these headers.
    async fn ask(&self, issued: &IssuedCertificate, headers: &[(&str, &str)]) -> Answer {
        let request = Request::get(format!("https://{HOST}{CALLER}"));
        let request = with(request, headers).body(Body::empty()).unwrap();
        self.send(self.address, issued, request).await.unwrap()
    }

    /// The answer to a proxy that sends these headers.
    async fn ask_by_proxy(&self, headers: &[(&str, &str)]) -> Answer {
        self.ask(&self.proxy, headers).await
    }

    async fn send(
        &self,
        address: SocketAddr,
        issued: &IssuedCertificate,
        request: Request<Body>,
    ) -> io::Result<Answer> {
        let client = SecureClient::with_certificate(&self.server, issued);
        let mut connection = client.connect(address).await?;
        connection.send(request).await.map_err(io::Error::other)
    }

    /// Whether the listener accepts a connection with this certificate.
    async fn connects(&self, issued: &IssuedCertificate) -> bool {
        // A TLS 1.3 client receives the refusal when it reads.
        let request = Request::get(format!("https://{HOST}/livez"));
        let request = request.body(Body::empty()).unwrap();
        let answer = self.send(self.address, issued, request).await;
        answer.is_ok_and(|answer| answer.status == 200)
    }

    /// The caller of a request that must be accepted.
    async fn caller(&self, issued: &IssuedCertificate) -> String {
        caller(&self.ask(issued, &[]).await.ok())
    }

    /// Hashes with this certificate alone.
    async fn hash(&self, issued: &IssuedCertificate, body: &str) -> Answer {
        let request = Request::post(format!("https://{HOST}{OPERATIONS}"))
            .header("content-type", "application/json")
            .body(Body::from(body.to_owned()))
            .unwrap();
        self.send(self.address, issued, request).await.unwrap()
    }
}

/// The certificate of a workload gives no role, directly or through a proxy.
#[tokio::test]
async fn no_management_route_accepts_a_certificate() {
    let site = Site::new().await;
    let client = site.clients.client();
    let matching = json!({ "certificateSha256": client.sha256() });
    site.identity(matching).await;
    let forwarded = client.header();
    for (method, path) in routes(&site.world).await {
        for (issued, headers) in
            [(&client, &[][..]), (&site.proxy, &[("client-cert", forwarded.as_str())])]
        {
            let request = Request::builder().method(&method).uri(format!("https://{HOST}{path}"));
            let request = with(request, headers).body(Body::empty()).unwrap();
            let answer = site.send(site.address, issued, request).await.unwrap();
            if path.starts_with("/admin/") {
                answer.refused(403, "FORBIDDEN");
            } else {
                let is_refused = matches!(answer.status.as_u16(), 401 | 403);
                assert!(!is_refused, "{method} {path}: {}", answer.body);
            }
        }
    }
}

/// The ID of the credential in an answer.
fn caller(answer: &Answer) -> String {
    answer.json()["credential"]["id"].as_str().expect("an ID").to_owned()
}

fn with(
    request: axum::http::request::Builder,
    headers: &[(&str, &str)],
) -> axum::http::request::Builder {
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

fn unauthenticated(answer: Answer) {
    let refused = answer.refused(401, "AUTHENTICATION_FAILED");
    assert_eq!(refused.header("www-authenticate"), "Bearer");
}
