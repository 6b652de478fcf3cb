//! Connections to Postgres over TLS. Migrations under load are in `migrations`.

mod defaults;
mod migrations;

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use engine::db;
use engine::settings::Database as Settings;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use testkit::{Authority, Database, IssuedCertificate, Proxy, Scratch, certificate};

/// The first message of a Postgres client that requests TLS.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// The Postgres of the tests behind a proxy that accepts TLS like Postgres.
struct Secured {
    options: PgConnectOptions,
    port: u16,
    _database: Database,
    _proxy: Proxy,
    _tls_proxy: JoinSet<()>,
}

impl Secured {
    async fn with(issued: IssuedCertificate) -> Self {
        let database = Database::new().await;
        let (plain, proxy) = Proxy::for_server(database.options()).await;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut tls_proxy = JoinSet::new();
        tls_proxy.spawn(accept_connections(listener, acceptor(&issued), plain.get_port()));
        Self {
            options: database.options().clone(),
            port,
            _database: database,
            _proxy: proxy,
            _tls_proxy: tls_proxy,
        }
    }

    /// Connects with these settings.
    async fn connect(&self, host: &str, port: u16, ca: Option<PathBuf>) -> Result<(), db::Error> {
        let name = self.options.get_database().unwrap();
        let user = self.options.get_username();
        let settings = Settings {
            url: format!("postgres://{user}@{host}:{port}/{name}"),
            ca,
            ..Settings::default()
        };
        let address = self.options.to_url_lossy();
        let password = address.password().map(|text| text.to_owned().into());
        let servers = db::servers(&settings, password.as_ref())?;
        let primary = db::connect(servers, &settings).await?;
        sqlx::query("SELECT 1").execute(primary.pool()).await.unwrap();
        Ok(())
    }
}

async fn accept_connections(listener: TcpListener, acceptor: TlsAcceptor, port: u16) {
    let mut connections = JoinSet::new();
    while let Ok((mut client, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        connections.spawn(async move {
            let mut request = [0; 8];
            client.read_exact(&mut request).await.unwrap();
            assert_eq!(request, SSL_REQUEST, "the client must request TLS");
            client.write_all(b"S").await.unwrap();
            // A client that does not trust the certificate disconnects.
            let Ok(mut client) = acceptor.accept(client).await else {
                return;
            };
            let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await;
            // The copy ends when either side closes.
            let _ = copy_bidirectional(&mut client, &mut server.unwrap()).await;
        });
    }
}

fn acceptor(issued: &IssuedCertificate) -> TlsAcceptor {
    let key = PrivateKeyDer::from_pem_slice(issued.key.as_bytes()).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate(&issued.certificate)], key);
    TlsAcceptor::from(Arc::new(config.unwrap()))
}

#[tokio::test]
async fn postgres_must_present_a_valid_certificate() {
    let authority = Authority::new();
    let folder = Scratch::new();
    let trusted = folder.path().join("ca.pem");
    fs::write(&trusted, authority.certificate()).unwrap();
    let others = folder.path().join("others.pem");
    fs::write(&others, Authority::new().certificate()).unwrap();
    let secured = Secured::with(authority.server("localhost")).await;
    let port = secured.port;
    secured.connect("localhost", port, Some(trusted.clone())).await.unwrap();

    let plain = secured.options.get_port();
    let untrusted = [
        ("of another authority", "localhost", port, &others, "UnknownIssuer"),
        ("by another name", "127.0.0.1", port, &trusted, "not valid for"),
        ("without TLS", "localhost", plain, &trusted, "does not support TLS"),
    ];
    for (name, host, port, ca, why) in untrusted {
        let refused = secured.connect(host, port, Some(ca.clone())).await;
        let error = refused.expect_err(name);
        assert!(matches!(error, db::Error::Untrusted { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(why) && message.contains("database.ca"), "{message}");
    }
}

#[tokio::test]
async fn the_certificate_authority_of_postgres_is_validated_first() {
    let folder = Scratch::new();
    let missing = folder.path().join("nothing.pem");
    let empty = folder.path().join("empty.pem");
    fs::write(&empty, "").unwrap();
    for (file, message) in
        [(missing, "cannot be read: "), (empty, "must contain a certificate in PEM")]
    {
        let settings = Settings { ca: Some(file.clone()), ..Settings::default() };
        let error = db::servers(&settings, None).unwrap_err().to_string();
        let expected = format!("database.ca: {} {message}", file.display());
        assert!(error.starts_with(&expected), "{error:?}, not {expected:?}");
    }
}
