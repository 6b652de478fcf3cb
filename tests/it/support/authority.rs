//! Certificate authorities of tests, and what they issue.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};

/// An authority; nobody trusts it who is not given its certificate.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
pub(crate) struct Papers {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        let name = format!("authority {:032x}", rand::random::<u128>());
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, key());
        Self(issuer.expect("an authority"))
    }

    /// Its own certificate, in PEM.
    pub(crate) fn certificate(&self) -> String {
        self.0.pem()
    }

    /// For a server of that name.
    pub(crate) fn server(&self, name: &str) -> Papers {
        let usage = ExtendedKeyUsagePurpose::ServerAuth;
        self.issue(name, usage, |_| {})
    }

    /// For a client.
    pub(crate) fn client(&self) -> Papers {
        let usage = ExtendedKeyUsagePurpose::ClientAuth;
        self.issue("client", usage, |_| {})
    }

    /// For a client, and over.
    pub(crate) fn expired_client(&self) -> Papers {
        let usage = ExtendedKeyUsagePurpose::ClientAuth;
        self.issue("client", usage, |params| {
            params.not_after = date_time_ymd(2020, 1, 1);
        })
    }

    /// For a server of that name, good from the first of one year to the first of another.
    pub(crate) fn server_between(&self, name: &str, years: [i32; 2]) -> Papers {
        let usage = ExtendedKeyUsagePurpose::ServerAuth;
        let [from, to] = years.map(|year| date_time_ymd(year, 1, 1));
        self.issue(name, usage, |params| {
            params.not_before = from;
            params.not_after = to;
        })
    }

    fn issue(
        &self,
        name: &str,
        usage: ExtendedKeyUsagePurpose,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Papers {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.insert_extended_key_usage(usage);
        change(&mut params);
        let key = key();
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        Papers {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

impl Papers {
    /// Writes both into `folder`, over those of before; tells where.
    pub(crate) fn write(&self, folder: &Path) -> [PathBuf; 2] {
        let files = [
            folder.join("certificate.pem"),
            folder.join("certificate-key.pem"),
        ];
        for (file, text) in files.iter().zip([&self.certificate, &self.key]) {
            fs::write(file, text).expect("write a certificate");
        }
        files
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key")
}
