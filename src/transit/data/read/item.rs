//! Reads one operation.

use super::signing::Signing;
use crate::body::{Fields, quoted};
use crate::operation::Operation;
use crate::text::{self, NotAText};
use engine::keys::KeyVersion;
use engine::protection::{MOST_ASSOCIATED_DATA, NamedItem, NamedOperation, Refusal, SignedInput};
use formats::problem::{Code, Problem};
use formats::wiped::Wiped;

/// The members of an operation.
pub(super) const MEMBERS: &[&str] = &[
    "plaintext",
    "ciphertext",
    "associated_data",
    "context",
    "key_version",
    "reference",
    "bits",
    "input",
    "signature",
    "hmac",
    "algorithm",
    "hash_algorithm",
    "prehashed",
    "signature_algorithm",
    "salt_length",
    "marshaling_algorithm",
    "format",
    "derived",
    "convergent_encryption",
];

/// The members of a body that hold for all its signatures.
const SHARED: &[&str] =
    &["algorithm", "hash_algorithm", "signature_algorithm", "salt_length", "marshaling_algorithm"];

/// The shortest bytes of a ciphertext: an IV and a tag.
const SHORTEST: usize = 12 + 16;

/// Reads the operations of a body.
pub(super) struct Items<'a> {
    operation: Operation,
    signing: Signing,
    /// The version for all operations.
    version: Option<KeyVersion>,
    body: &'a Fields<'a>,
}

impl<'a> Items<'a> {
    /// With what a body says for all its operations, and the hash of the path.
    pub(super) fn of(
        operation: Operation,
        hash: Option<&str>,
        body: &'a Fields<'a>,
    ) -> Result<Self, Problem> {
        let signing = Signing::of(operation, hash, body)?;
        Ok(Self { operation, signing, version: version(body)?, body })
    }

    pub(super) fn is_url_safe(&self) -> bool {
        self.signing.is_jws
    }

    /// Refuses what a body says beside several operations, and none of them would do.
    pub(super) fn check_shared(&self) -> Result<(), Problem> {
        let refused: &[&str] = match self.operation {
            Operation::Encrypt | Operation::Decrypt | Operation::Rewrap => {
                &["associated_data", "context", "key_version"]
            }
            Operation::Sign | Operation::Verify | Operation::Hmac => &["context"],
            Operation::DataKey | Operation::Hash => {
                let message = "is not supported for this operation";
                return Err(Problem::new("batch_input", Code::Unsupported, message));
            }
        };
        check_wishes(self.body)?;
        check_absent(self.body, refused, "is not supported beside batch_input")
    }

    /// The operation of these members, which are those of the body or of one of several items.
    pub(super) fn read(&self, fields: &Fields<'_>, is_item: bool) -> Result<NamedItem, Refusal> {
        // The keys here are not derived, so a context changes nothing.
        fields.public_bytes("context")?;
        check_wishes(fields)?;
        if is_item {
            check_absent(fields, SHARED, "is not supported in batch_input, but beside it")?;
        }
        let own = version(fields)?;
        let version = own.or(self.version);
        Ok(match self.operation {
            Operation::Encrypt => {
                let (plaintext, sent) =
                    fields.bytes("plaintext")?.ok_or_else(|| missing("plaintext to encrypt"))?;
                let aad = new_associated_data(fields)?;
                item(NamedOperation::Encrypt { plaintext, aad, version: own }, sent)
            }
            Operation::Decrypt => {
                let (version, sealed, sent) = ciphertext(fields)?;
                let aad = fields.public_bytes("associated_data")?;
                item(NamedOperation::Decrypt { version, sealed, aad }, sent)
            }
            Operation::Rewrap => {
                let (from, sealed, sent) = ciphertext(fields)?;
                let aad = fields.public_bytes("associated_data")?;
                item(NamedOperation::Rewrap { from, sealed, aad, to: own }, sent)
            }
            Operation::DataKey => {
                let length = data_key_length(fields)?;
                let aad = new_associated_data(fields)?;
                item(NamedOperation::MakeDataKey { length, aad, version }, 0)
            }
            Operation::Sign | Operation::Hmac => {
                let (input, sent) = self.input(fields, is_item)?;
                item(NamedOperation::Sign { input, wish: self.signing.wish, version }, sent)
            }
            Operation::Verify => {
                let (input, sent) = self.input(fields, is_item)?;
                let (version, signature, wish) = self.signing.signature(fields)?;
                item(NamedOperation::Verify { input, wish, version, signature }, sent)
            }
            Operation::Hash => {
                let (input, sent) = fields
                    .bytes("input")?
                    .ok_or_else(|| Problem::of_body(Code::Required, "input missing"))?;
                item(NamedOperation::Hash { algorithm: self.signing.wish.hash, input }, sent)
            }
        })
    }

    /// What is signed. A signature of the body as a whole can have none.
    fn input(&self, fields: &Fields<'_>, is_item: bool) -> Result<(SignedInput, usize), Problem> {
        let is_digest = match fields.boolean("prehashed")? {
            Some(prehashed) => prehashed,
            None => self.body.boolean("prehashed")?.unwrap_or_default(),
        };
        let given = fields.bytes("input")?;
        let (bytes, sent) = match (given, self.operation) {
            (Some(given), _) => given,
            (None, Operation::Hmac) => return Err(missing("input for HMAC")),
            (None, _) if is_item => return Err(missing("input")),
            (None, _) => (Wiped::new(Vec::new()), 0),
        };
        Ok((SignedInput { bytes, is_digest }, sent))
    }
}

/// Refuses wishes that an operation here would ignore.
fn check_wishes(fields: &Fields<'_>) -> Result<(), Problem> {
    for wish in ["derived", "convergent_encryption"] {
        if fields.boolean(wish)?.unwrap_or_default() {
            let message = "is not supported: the ciphertext would not be what was asked for";
            return Err(Problem::new(wish, Code::Unsupported, message));
        }
    }
    Ok(())
}

fn check_absent(fields: &Fields<'_>, names: &[&str], message: &'static str) -> Result<(), Problem> {
    for name in names {
        let is_empty =
            fields.text(name).is_none_or(|text| matches!(text.as_str(), "\"\"" | "0" | "\"0\""));
        if !is_empty {
            return Err(Problem::new(*name, Code::Unsupported, message));
        }
    }
    Ok(())
}

fn item(operation: NamedOperation, sent: usize) -> NamedItem {
    NamedItem { operation, sent }
}

fn missing(what: &str) -> Problem {
    Problem::of_body(Code::Required, format!("missing {what}"))
}

/// The requested version; none for the latest one.
fn version(fields: &Fields<'_>) -> Result<Option<KeyVersion>, Problem> {
    match fields.number("key_version")? {
        None | Some(0) => Ok(None),
        Some(number @ 1..) => Ok(Some(KeyVersion::of(number))),
        Some(_) => {
            let message = "requested version for encryption is negative";
            Err(Problem::of_body(Code::Range, message))
        }
    }
}

fn ciphertext(fields: &Fields<'_>) -> Result<(KeyVersion, Vec<u8>, usize), Problem> {
    let text = fields.filled("ciphertext")?.ok_or_else(|| missing("ciphertext to decrypt"))?;
    let read = text::parse(&text, false);
    let (version, sealed) = read.map_err(|error: NotAText| {
        let message = error.message("ciphertext", "invalid ciphertext: could not decode base64");
        Problem::of_body(Code::Format, message)
    })?;
    if sealed.len() < SHORTEST {
        return Err(Problem::of_body(Code::Length, "invalid ciphertext length"));
    }
    Ok((version, sealed, text.len()))
}

/// The associated data of a new ciphertext, with the limit of the other API, which can decrypt it.
fn new_associated_data(fields: &Fields<'_>) -> Result<Vec<u8>, Problem> {
    let data = fields.public_bytes("associated_data")?;
    if data.len() > MOST_ASSOCIATED_DATA {
        let message = format!("must have at most {MOST_ASSOCIATED_DATA} bytes");
        return Err(Problem::new("associated_data", Code::Length, message));
    }
    Ok(data)
}

/// The length of a data key in bytes.
fn data_key_length(fields: &Fields<'_>) -> Result<usize, Problem> {
    match fields.number("bits")? {
        Some(128) => Ok(16),
        None | Some(256) => Ok(32),
        Some(512) => Ok(64),
        Some(_) => Err(Problem::of_body(Code::Unsupported, "invalid bit length")),
    }
}

/// Whether the answer of a hash is in hex.
pub(super) fn is_hex(fields: &Fields<'_>) -> Result<bool, Problem> {
    match fields.filled("format")?.as_deref() {
        None | Some("hex") => Ok(true),
        Some("base64") => Ok(false),
        Some(other) => {
            let other = quoted(other);
            let message =
                format!("unsupported encoding format {other}; must be \"hex\" or \"base64\"");
            Err(Problem::of_body(Code::Unsupported, message))
        }
    }
}
