//! The scripted server, and the session of a case.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A process of the server. It ends when this value drops its standard input.
pub(super) struct Server {
    address: String,
    /// Whether it checks the known members.
    pub(super) has_document: bool,
    /// Whether it forwards requests to a real service.
    pub(super) has_world: bool,
    _process: Child,
}

impl Server {
    pub(super) async fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/server.py");
        let mut command = Command::new("python3");
        command.arg(script);
        let document = std::env::var_os("SEALWARD_OPENAPI");
        let world = std::env::var_os("SEALWARD_WORLD");
        for (option, file) in [("--openapi", &document), ("--service", &world)] {
            if let Some(file) = file {
                command.arg(option).arg(file);
            }
        }
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("Python starts");
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).await.unwrap();
        let address = line.trim().strip_prefix("http://").expect("an address").to_owned();
        Self {
            address,
            has_document: document.is_some(),
            has_world: world.is_some(),
            _process: process,
        }
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        self.exchange("GET", path, "").await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Value {
        self.exchange("POST", path, &body.to_string()).await
    }

    pub(super) async fn begin(&self, name: &str) -> Session {
        let begun = self.post(&format!("start/rust/{name}"), &json!({})).await;
        let text = |member: &str| begun[member].as_str().unwrap().to_owned();
        let folder = std::env::temp_dir();
        let folder = folder.join(format!("sealward-client-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Session {
            number: begun["session"].as_u64().unwrap(),
            case: begun["case"].clone(),
            url: text("url"),
            authority: text("caFile"),
            certificate: text("certificateFile"),
            certificate_key: text("certificateKeyFile"),
            folder,
        }
    }

    pub(super) async fn finish(&self, session: &Session, report: &Value) {
        self.post(&format!("finish/{}", session.number), report).await;
    }

    async fn exchange(&self, method: &str, path: &str, sent: &str) -> Value {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let request = format!(
            "{method} /_conformance/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{sent}",
            sent.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        let body = response.split_once("\r\n\r\n").map(|(_, body)| body);
        let body = body.unwrap_or_else(|| panic!("{path}: no answer to {sent}"));
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {body}"))
    }
}

/// One run of one case.
pub(super) struct Session {
    number: u64,
    /// The case, with the names of the service filled in.
    pub(super) case: Value,
    pub(super) url: String,
    pub(super) authority: String,
    pub(super) certificate: String,
    pub(super) certificate_key: String,
    folder: PathBuf,
}

impl Session {
    pub(super) fn credential_file(&self) -> PathBuf {
        self.folder.join("credential")
    }

    pub(super) fn write_credential(&self, text: &str) {
        std::fs::write(self.credential_file(), text).unwrap();
    }

    /// The value of a variable: the address, the CA, or the path of a new file.
    pub(super) fn fill_in(&self, text: &str) -> String {
        if let Some(content) = text.strip_prefix("{file:").and_then(|text| text.strip_suffix('}')) {
            self.write_credential(content);
            return self.credential_file().display().to_string();
        }
        text.replace("{url}", &self.url).replace("{caFile}", &self.authority)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
