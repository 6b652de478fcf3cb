//! Debian's rsyslog as a collector over TLS that accepts one client by the name in its certificate.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use engine::settings::Forward;
use rustix::process::{Pid, Signal, kill_process};

use super::fixture;
use testkit::{Authority, PATIENCE, Scratch, within};

/// A running rsyslogd. Dropping this value kills it.
pub(super) struct Rsyslog {
    pub(super) folder: Scratch,
    authority: Authority,
    process: Option<Child>,
    port: u16,
}

impl Rsyslog {
    pub(super) async fn start() -> Self {
        let (folder, authority) = (Scratch::new(), Authority::new());
        fs::write(folder.path().join("ca.pem"), authority.certificate()).unwrap();
        authority.server("localhost").write(folder.path());
        let client = folder.path().join("client");
        fs::create_dir(&client).unwrap();
        authority.client().write(&client);
        let mut rsyslog = Self { folder, authority, process: None, port: 0 };
        rsyslog.run().await;
        rsyslog
    }

    /// Starts the process, at the earlier port after [`Self::stop`].
    pub(super) async fn run(&mut self) {
        let folder = self.folder.path();
        let port_file = folder.join("port");
        fs::write(folder.join("rsyslog.conf"), configuration(folder, self.port)).unwrap();
        let process = Command::new("rsyslogd")
            .arg("-n")
            .arg("-f")
            .arg(folder.join("rsyslog.conf"))
            .arg("-i")
            .arg(folder.join("pid"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("rsyslogd starts");
        self.process = Some(process);
        if self.port == 0 {
            let port = || fs::read_to_string(&port_file).ok()?.trim().parse().ok();
            within(PATIENCE, async || port().is_some()).await;
            self.port = port().unwrap();
        }
        let address = ("127.0.0.1", self.port);
        within(PATIENCE, async || TcpStream::connect(address).is_ok()).await;
    }

    /// Lets rsyslogd write its queue and end.
    pub(super) async fn stop(&mut self) {
        let mut process = self.process.take().expect("it runs");
        let id = Pid::from_child(&process);
        kill_process(id, Signal::TERM).expect("a process of this test");
        within(PATIENCE, async || process.try_wait().unwrap().is_some()).await;
    }

    /// The settings of a client that it accepts.
    pub(super) fn settings(&self) -> Forward {
        let folder = self.folder.path();
        let url = format!("syslog+tls://localhost:{}", self.port);
        Forward {
            certificate: Some(folder.join("client/certificate.pem")),
            key: Some(folder.join("client/certificate-key.pem")),
            ..fixture::settings(url, folder.join("ca.pem"))
        }
    }

    /// The settings of a client with the name of the server.
    pub(super) fn settings_of_another(&self) -> Forward {
        let folder = self.folder.path().join("another");
        fs::create_dir(&folder).unwrap();
        let [certificate, key] = self.authority.server("another").write(&folder).map(Some);
        Forward { certificate, key, ..self.settings() }
    }

    /// The received messages, each with its header.
    pub(super) fn messages(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("messages"));
        let text = text.unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(str::to_owned).collect()
    }

    /// The received entries.
    pub(super) fn lines(&self) -> Vec<String> {
        let messages = self.messages();
        let line = |it: &String| it[it.find('{').expect("JSON")..].to_owned();
        messages.iter().map(line).collect()
    }

    /// Waits for this number of entries.
    pub(super) async fn received(&self, count: usize) -> Vec<String> {
        within(PATIENCE, async || self.lines().len() >= count).await;
        self.lines()
    }
}

impl Drop for Rsyslog {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // Errors do not matter: it has ended, or it is killed.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn configuration(folder: &Path, port: u16) -> String {
    let folder = folder.display();
    format!(
        r#"global(
    workDirectory="{folder}"
    maxMessageSize="128k"
    defaultNetstreamDriver="gtls"
    defaultNetstreamDriverCAFile="{folder}/ca.pem"
    defaultNetstreamDriverCertFile="{folder}/certificate.pem"
    defaultNetstreamDriverKeyFile="{folder}/certificate-key.pem"
)
module(
    load="imtcp"
    streamDriver.name="gtls"
    streamDriver.mode="1"
    streamDriver.authMode="x509/name"
    permittedPeer=["client"]
)
template(name="message" type="string"
    string="%pri% %timereported:::date-rfc3339% %hostname% %app-name% %procid% %msgid% %msg%\n")
input(type="imtcp" port="{port}" listenPortFileName="{folder}/port")
action(type="omfile" file="{folder}/messages" template="message" flushOnTXEnd="on")
"#
    )
}
