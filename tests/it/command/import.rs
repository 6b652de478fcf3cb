//! `sealward key import` with a running service, and the same exchange in two steps with
//! `sealward key wrap`.

use serde_json::{Value, json};

use testkit::Authority;
use testkit::openssl::{private, public};
use testkit::{Exit, Process, Site};

/// The mechanism of SoftHSM2.
const SHA1: &str = "RSA_OAEP_SHA1_AES_KWP";

/// A running process and the service that owns the imported keys.
struct Archive {
    process: Process,
    site: Site,
    id: String,
}

impl Archive {
    async fn on(site: Site) -> Self {
        let process = Process::start(&site).await;
        Self::of(site, process).await
    }

    async fn of(site: Site, process: Process) -> Self {
        let id = process.service("archive").await;
        site.write("admin-key", site.admin_key());
        Self { site, process, id }
    }

    /// Runs the import with additional arguments.
    fn import(&self, more: &[&str]) -> Exit {
        self.import_at(&self.process.url(""), more)
    }

    /// Runs the import with another URL.
    fn import_at(&self, url: &str, more: &[&str]) -> Exit {
        let key = self.path("admin-key");
        let arguments = ["key", "import", "--url", url, "--admin-key-file", &key];
        self.site.run(&[&arguments[..], more].concat())
    }

    fn path(&self, name: &str) -> String {
        let path = self.site.file(name);
        path.to_str().expect("a path of text").to_owned()
    }

    /// Writes a file and returns its path.
    fn put(&self, name: &str, text: &str) -> String {
        self.site.write(name, text);
        self.path(name)
    }

    async fn key(&self, id: &str) -> Value {
        let key = self.process.admin().get(&format!("/admin/keys/{id}")).await;
        key.ok().json()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modern_token_imports_keys_as_the_command_sends_them() {
    let archive = Archive::on(Site::on_kryoptic().await).await;
    let rsa = private("RSA-2048");
    let file = archive.put("rsa.pem", &rsa);
    let arguments = ["--service", &archive.id, "--key", &file];
    let imported = archive.import(&[&arguments[..], &["--partner-kid", "rsa-2024"]].concat());
    let key = archive.key(imported.success().line()).await;
    assert_eq!(
        (&key["algorithm"], &key["status"], &key["origin"]),
        (&json!("RSA-2048"), &json!("active"), &json!("imported"))
    );
    assert_eq!(key["partnerKid"], "rsa-2024");
    let public_key =
        json!({ "serviceId": archive.id, "publicKey": public(&rsa), "activate": false });
    let admin = archive.process.admin();
    let public_key = admin.post("/admin/keys", public_key).await.created().json();
    assert_eq!(key["thumbprint"], public_key["thumbprint"]);

    let secret = archive.put("secret", "0123456789abcdef0123456789abcdef");
    let arguments = ["--service", &archive.id, "--secret", &secret];
    let named = ["--algorithm", "AES-256", "--name", "paper", "--version", "7", "--inactive"];
    let ends = ["--expires", "2100-01-01T00:00:00Z", "--json"];
    let imported = archive.import(&[&arguments[..], &named, &ends].concat());
    let key = imported.success().json();
    assert_eq!(key, archive.key(key["id"].as_str().expect("an id")).await);
    assert_eq!(
        (&key["algorithm"], &key["use"], &key["name"], &key["status"]),
        (&json!("AES-256"), &json!("data"), &json!("paper"), &json!("retired"))
    );
    assert_eq!(
        (&key["expiresAt"], &key["version"]),
        (&json!("2100-01-01T00:00:00.000Z"), &json!(7))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offline_wrapped_key_is_imported() {
    let archive = Archive::on(Site::new().await).await;
    let body = json!({ "mechanism": SHA1 });
    let admin = archive.process.admin();
    let parameters = admin.post("/admin/keys/import-parameters", body).await.json();
    let part = |name: &str| parameters[name].as_str().expect("text");
    let wrapping = archive.put("wrapping.pem", part("publicKey"));
    let ec = private("P-256");
    let file = archive.put("ec.pem", &ec);
    let arguments = ["key", "wrap", "--public-key", &wrapping, "--key", &file];
    let checked = ["--mechanism", SHA1, "--sha256", part("publicKeySha256"), "--json"];
    let wrapped = testkit::sealward(&[&arguments[..], &checked].concat());
    let wrapped = wrapped.success().json();
    let body = json!({
        "serviceId": archive.id,
        "publicKey": wrapped["publicKey"],
        "wrappedKey": {
            "importKeyId": parameters["importKeyId"],
            "mechanism": wrapped["mechanism"],
            "ciphertext": wrapped["ciphertext"],
        },
    });
    let key = archive.process.admin().post("/admin/keys", body).await.created().json();
    assert_eq!((&key["algorithm"], &key["hasPrivate"]), (&json!("P-256"), &json!(true)), "{key}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_shows_the_message_of_the_service() {
    let archive = Archive::on(Site::new().await).await;
    let file = archive.put("key.pem", &private("P-256"));
    archive
        .import(&["--service", &archive.id, "--key", &file])
        .failure(1, &["400", "mechanism: the token lacks this", "request req_"]);
    archive
        .import(&["--service", "unknown", "--key", &file, "--mechanism", SHA1])
        .failure(1, &["400", "serviceId: must be the id of an existing resource"]);
    archive.put("admin-key", "sk_admin_wrong");
    archive.import(&["--service", &archive.id, "--key", &file]).failure(1, &["401", "credential"]);
    archive.put("admin-key", "");
    archive
        .import(&["--service", &archive.id, "--key", &file])
        .failure(1, &["admin-key", "must not be empty"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_only_sent_to_servers_with_a_trusted_certificate() {
    let authority = Authority::new();
    let site = Site::new().await;
    let process = Process::start_over_tls(&site, &authority).await;
    let archive = Archive::of(site, process).await;
    let key = archive.put("key.pem", &private("P-256"));
    let ca = archive.put("ca.pem", &authority.certificate());
    let another = archive.put("another.pem", &Authority::new().certificate());
    let arguments = ["--service", &archive.id, "--key", &key, "--mechanism", SHA1];
    let with_ca = |ca| [&arguments[..], &["--ca", ca]].concat();

    let here = archive.process.url("");
    let distrust = [here.as_str(), "certificate"];
    archive.import(&arguments).failure(1, &distrust);
    archive.import(&with_ca(&another)).failure(1, &distrust);
    // The certificate does not contain this name.
    let unnamed = here.replace("localhost", "127.0.0.1");
    let unnamed = archive.import_at(&unnamed, &with_ca(&ca));
    unnamed.failure(1, &["127.0.0.1", "certificate"]);
    let events = "/admin/audit/management?resourceType=import_key";
    let events = archive.process.admin().get(events).await.ok();
    assert_eq!(events.json()["items"], json!([]));

    let imported = archive.import(&with_ca(&ca));
    let key = archive.key(imported.success().line()).await;
    assert_eq!((&key["origin"], &key["status"]), (&json!("imported"), &json!("active")));
}

#[tokio::test]
async fn an_admin_key_is_never_sent_in_plaintext_and_an_unavailable_service_is_reported() {
    let site = Site::new().await;
    let path = |name: &str| site.file(name).to_str().expect("text").to_owned();
    site.write("admin-key", "sk_admin_none");
    site.write("key.pem", &private("P-256"));
    let import = |url: &str, more: &[&str]| {
        let (admin, key) = (path("admin-key"), path("key.pem"));
        let to = ["key", "import", "--url", url, "--admin-key-file", &admin];
        let what = ["--service", "svc", "--key", &key];
        site.run(&[&to[..], &what, more].concat())
    };
    import("http://192.0.2.1", &[]).failure(1, &["https://"]);
    import("http://127.0.0.1:1", &[]).failure(1, &["http://127.0.0.1:1/admin/keys"]);
    let ca = path("key.pem");
    import("https://127.0.0.1:1", &["--ca", &ca])
        .failure(1, &["key.pem", "must contain a certificate"]);
}
