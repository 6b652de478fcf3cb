//! Reads the key to import from a file and checks it before it is wrapped.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::command::Failure;
use formats::json::Text;
use formats::material::{Algorithm, PrivateKey, PrivatePem, PublicKey, Unlock};
use formats::problem::Problems;

/// The source of the key.
#[derive(Debug, clap::Args)]
pub(super) struct KeyFile {
    /// The private key: PKCS#8 in PEM, also encrypted, or a JWK.
    #[arg(long, value_name = "FILE", required_unless_present = "secret")]
    key: Option<PathBuf>,
    /// The passphrase of an encrypted key: the first line of this file.
    #[arg(long, value_name = "FILE", requires = "key")]
    passphrase_file: Option<PathBuf>,
    /// The bytes of an AES or HMAC key, instead of a private key.
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    secret: Option<PathBuf>,
}

/// The key of a file.
pub(super) enum Material {
    Private(Box<PrivateKey>),
    Secret(Zeroizing<Vec<u8>>),
}

impl KeyFile {
    pub(super) fn read(&self) -> Result<Material, Failure> {
        if let Some(path) = &self.secret {
            return read(path).map(Material::Secret);
        }
        let Some(path) = &self.key else {
            return Err(Failure::Other("set --key FILE or --secret FILE".to_owned()));
        };
        let bytes = read(path)?;
        let text = str::from_utf8(&bytes)
            .map_err(|_| invalid(path, "must be PEM or a JWK, not binary"))?;
        let key = if text.trim_start().starts_with('{') {
            let text = Text::parse(text.as_bytes()).map_err(|error| invalid(path, error))?;
            Box::new(PrivateKey::from_jwk(text).map_err(|problems| all(path, &problems))?)
        } else {
            match PrivatePem::read(text).map_err(|problem| invalid(path, problem.message))? {
                PrivatePem::Open(key) => key,
                PrivatePem::Locked(locked) => {
                    let opened = locked.unlock(&self.passphrase()?);
                    Box::new(opened.map_err(|error| match error {
                        Unlock::Passphrase => invalid(path, "the passphrase is wrong"),
                        Unlock::Key(problem) => invalid(path, problem.message),
                    })?)
                }
            }
        };
        Ok(Material::Private(key))
    }

    fn passphrase(&self) -> Result<Zeroizing<String>, Failure> {
        let Some(path) = &self.passphrase_file else {
            return Err(Failure::Other(
                "the key is encrypted: set --passphrase-file FILE".to_owned(),
            ));
        };
        first_line(path)
    }
}

impl Material {
    /// The plaintext to wrap: PKCS#8 in DER, or the bytes of a secret key.
    pub(super) fn to_wrap(&self) -> Zeroizing<Vec<u8>> {
        match self {
            Self::Private(key) => key.to_pkcs8(),
            Self::Secret(bytes) => bytes.clone(),
        }
    }

    /// The public key of a private key.
    pub(super) fn public(&self) -> Option<&PublicKey> {
        match self {
            Self::Private(key) => Some(key.public()),
            Self::Secret(_) => None,
        }
    }

    /// The algorithm, if the key shows it.
    pub(super) fn algorithm(&self) -> Option<Algorithm> {
        self.public().map(PublicKey::algorithm)
    }
}

/// Reads a file, or standard input for `-`, into a buffer that wipes itself.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    /// More than the size of any key.
    const MOST: u64 = 1 << 20;
    let mut bytes = Zeroizing::new(Vec::with_capacity(1 << 14));
    let outcome = if path == Path::new("-") {
        std::io::stdin().take(MOST).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes))
    };
    outcome.map_err(|error| invalid(path, format_args!("cannot be read: {error}")))?;
    Ok(bytes)
}

/// The first line of a file that holds a secret.
pub(in crate::command) fn first_line(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let bytes = read(path)?;
    let text = str::from_utf8(&bytes).map_err(|_| invalid(path, "must be text"))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(Zeroizing::new(line.to_owned())),
        _ => Err(invalid(path, "must not be empty")),
    }
}

pub(in crate::command) fn invalid(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::Other(format!("{}: {what}", path.display()))
}

fn all(path: &Path, problems: &Problems) -> Failure {
    let lines: Vec<String> = problems
        .as_slice()
        .iter()
        .map(|problem| format!("{}: {}: {}", path.display(), problem.field, problem.message))
        .collect();
    Failure::Other(lines.join("\n"))
}
