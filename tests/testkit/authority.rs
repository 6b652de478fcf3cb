//! Certificate authorities for tests and their certificates.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, SanType, date_time_ymd,
};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use engine::fingerprint::Fingerprint;

use super::openssl::openssl;
use super::{Scratch, certificate};

/// A certificate authority. Only clients and servers with its certificate trust it.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
pub struct IssuedCertificate {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        let name = format!("authority {:032x}", rand::random::<u128>());
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, key());
        Self(issuer.expect("an authority"))
    }

    /// The CA certificate in PEM.
    pub fn certificate(&self) -> String {
        self.0.pem()
    }

    /// The CA certificate as an item of the header `Client-Cert-Chain` (RFC 9440).
    pub fn header(&self) -> String {
        byte_sequence(&self.certificate())
    }

    /// A certificate for the server `name`.
    pub fn server(&self, name: &str) -> IssuedCertificate {
        let usage = ExtendedKeyUsagePurpose::ServerAuth;
        self.issue(name, usage, |_| {})
    }

    /// A certificate for a client.
    pub fn client(&self) -> IssuedCertificate {
        let usage = ExtendedKeyUsagePurpose::ClientAuth;
        self.issue("client", usage, |_| {})
    }

    /// An expired certificate for a client.
    pub fn expired_client(&self) -> IssuedCertificate {
        let usage = ExtendedKeyUsagePurpose::ClientAuth;
        self.issue("client", usage, |params| {
            params.not_after = date_time_ymd(2020, 1, 1);
        })
    }

    /// A certificate for a workload with these URIs.
    pub fn workload(&self, uris: &[&str]) -> IssuedCertificate {
        self.workload_with(uris, |_| {})
    }

    /// A certificate for a workload with these URIs and this change.
    pub fn workload_with(
        &self,
        uris: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> IssuedCertificate {
        let usage = ExtendedKeyUsagePurpose::ClientAuth;
        self.issue("workload", usage, |params| {
            for uri in uris {
                let uri = (*uri).try_into().expect("ASCII");
                params.subject_alt_names.push(SanType::URI(uri));
            }
            change(params);
        })
    }

    /// An authority whose certificate this authority issues.
    pub fn intermediate(&self) -> Self {
        let mut params = CertificateParams::default();
        let name = format!("intermediate {:032x}", rand::random::<u128>());
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::signed_by(params, key(), &self.0);
        Self(issuer.expect("an authority"))
    }

    /// A certificate for the server `name`, valid from 1 January of one year to 1 January of another.
    pub fn server_between(&self, name: &str, years: [i32; 2]) -> IssuedCertificate {
        let usage = ExtendedKeyUsagePurpose::ServerAuth;
        let [from, to] = years.map(|year| date_time_ymd(year, 1, 1));
        self.issue(name, usage, |params| {
            params.not_before = from;
            params.not_after = to;
        })
    }

    /// A revocation list in PEM, created by openssl.
    pub fn revocation_list(&self, revoked: &[&IssuedCertificate]) -> String {
        self.list(revoked, "-crldays 1")
    }

    /// A revocation list that expired in 2021.
    pub fn expired_revocation_list(&self, revoked: &[&IssuedCertificate]) -> String {
        self.list(revoked, "-crl_lastupdate 20200101000000Z -crl_nextupdate 20210101000000Z")
    }

    fn list(&self, revoked: &[&IssuedCertificate], times: &str) -> String {
        let folder = Scratch::new();
        let place = folder.path().display();
        let put = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("write a file");
        };
        put("ca.pem", &self.certificate());
        put("ca.key", &self.0.key().serialize_pem());
        put("index", "");
        put("number", "01\n");
        put(
            "settings",
            &format!(
                "[ca]\ndefault_ca = it\n[it]\ndatabase = {place}/index\ncrlnumber = {place}/number\n\
                 certificate = {place}/ca.pem\nprivate_key = {place}/ca.key\ndefault_md = sha256\n\
                 unique_subject = no\n"
            ),
        );
        let ca =
            |arguments: &str| openssl(&format!("ca -config {place}/settings {arguments}"), b"");
        for issued in revoked {
            put("revoked.pem", &issued.certificate);
            ca(&format!("-revoke {place}/revoked.pem"));
        }
        String::from_utf8(ca(&format!("-gencrl {times}"))).expect("text")
    }

    fn issue(
        &self,
        name: &str,
        usage: ExtendedKeyUsagePurpose,
        change: impl FnOnce(&mut CertificateParams),
    ) -> IssuedCertificate {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.insert_extended_key_usage(usage);
        change(&mut params);
        let key = key();
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        IssuedCertificate { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

impl IssuedCertificate {
    /// Writes both into `folder` and returns their paths.
    pub fn write(&self, folder: &Path) -> [PathBuf; 2] {
        let files = [folder.join("certificate.pem"), folder.join("certificate-key.pem")];
        for (file, text) in files.iter().zip([&self.certificate, &self.key]) {
            fs::write(file, text).expect("write a certificate");
        }
        files
    }

    /// Its SHA-256 in hexadecimal digits.
    pub fn sha256(&self) -> String {
        Fingerprint::of(&certificate(&self.certificate)).to_string()
    }

    /// The certificate as the header `Client-Cert` (RFC 9440).
    pub fn header(&self) -> String {
        byte_sequence(&self.certificate)
    }

    /// The configuration of a TLS server with this certificate.
    pub fn server_config(&self) -> ServerConfig {
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).expect("a key");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.expect("a certificate")], key)
            .expect("a pair")
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key")
}

/// A certificate in PEM as a byte sequence of a structured field (RFC 9651).
fn byte_sequence(pem: &str) -> String {
    format!(":{}:", BASE64.encode(certificate(pem)))
}
