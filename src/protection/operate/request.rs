//! Requests of `/operations`.

use std::borrow::Cow;

use super::algorithm::{Cipher, Hash, Scheme};
use crate::audit::OperationType;
use crate::binary::{bytes_to_judge, from_base64};
use crate::canonical::{self, NotCanonical};
use crate::json::{Members, Text};
use crate::problem::{Code, Problem, Problems};
use crate::protection::Call;

/// One operation and all that it needs.
pub(super) enum Request<'a> {
    Encrypt {
        data: Text<'a>,
        cipher: Cipher,
        key_id: Option<Cow<'a, str>>,
    },
    Decrypt {
        sealed: Sealed,
        cipher: Cipher,
        key_id: Cow<'a, str>,
    },
    Sign {
        message: Cow<'a, [u8]>,
        scheme: Scheme,
        key_id: Option<Cow<'a, str>>,
    },
    Verify {
        message: Cow<'a, [u8]>,
        signature: Vec<u8>,
        scheme: Scheme,
        key_id: Cow<'a, str>,
    },
    Hash {
        message: Cow<'a, [u8]>,
        hash: Hash,
    },
}

/// The result of an encryption.
pub(super) struct Sealed {
    pub(super) ciphertext: Vec<u8>,
    pub(super) iv: Vec<u8>,
    pub(super) tag: Vec<u8>,
}

const PAYLOAD: &str = "payload";

/// Reads a request, noting its operation and the size of its payload as soon as they are known.
pub(super) fn read<'a>(call: &mut Call, text: Text<'a>) -> Result<Request<'a>, Problems> {
    let mut members = Members::of(text, &["operation", PAYLOAD]);
    let operation = members.required_string("operation").and_then(|name| {
        let operation = name.parse::<OperationType>().ok();
        if operation.is_none() {
            let message = "must be one of encrypt, decrypt, sign, verify, hash";
            members.note(Problem::new("operation", Code::Unsupported, message));
        }
        operation
    });
    let payload = members.required(PAYLOAD);
    let request = operation.zip(payload).and_then(|(operation, payload)| {
        call.note_operation(operation);
        match read_payload(call, operation, payload) {
            Ok(request) => Some(request),
            Err(problems) => {
                members.note_inside(PAYLOAD, problems);
                None
            }
        }
    });
    members.finish(|| request)
}

fn read_payload<'a>(
    call: &mut Call,
    operation: OperationType,
    payload: Text<'a>,
) -> Result<Request<'a>, Problems> {
    let mut payload = Payload::of(call, operation, payload);
    match operation {
        OperationType::Encrypt => {
            let data = payload.0.required("data");
            let cipher = payload.0.one_of("algorithm");
            let key_id = payload.0.optional_string("keyId");
            payload.0.finish(|| {
                Some(Request::Encrypt {
                    data: data?,
                    cipher: cipher?,
                    key_id: key_id?,
                })
            })
        }
        OperationType::Decrypt => {
            let ciphertext = payload.bytes("ciphertext");
            let iv = payload.bytes("iv");
            let tag = payload.bytes("tag");
            let cipher = payload.0.one_of("algorithm");
            let key_id = payload.0.required_string("keyId");
            payload.0.finish(|| {
                Some(Request::Decrypt {
                    sealed: Sealed {
                        ciphertext: ciphertext?,
                        iv: iv?,
                        tag: tag?,
                    },
                    cipher: cipher?,
                    key_id: key_id?,
                })
            })
        }
        OperationType::Sign => {
            let message = payload.message();
            let scheme = payload.0.one_of("algorithm");
            let key_id = payload.0.optional_string("keyId");
            payload.0.finish(|| {
                Some(Request::Sign {
                    message: message?,
                    scheme: scheme?,
                    key_id: key_id?,
                })
            })
        }
        OperationType::Verify => {
            let message = payload.message();
            let signature = payload.bytes("signature");
            let scheme = payload.0.one_of("algorithm");
            let key_id = payload.0.required_string("keyId");
            payload.0.finish(|| {
                Some(Request::Verify {
                    message: message?,
                    signature: signature?,
                    scheme: scheme?,
                    key_id: key_id?,
                })
            })
        }
        OperationType::Hash => {
            let message = payload.message();
            let hash = payload.0.one_of("algorithm");
            payload.0.finish(|| {
                Some(Request::Hash {
                    message: message?,
                    hash: hash?,
                })
            })
        }
    }
}

/// The members of a payload.
struct Payload<'a>(Members<'a>);

impl<'a> Payload<'a> {
    fn of(call: &mut Call, operation: OperationType, text: Text<'a>) -> Self {
        const NAMES: [&str; 7] = [
            "data",
            "ciphertext",
            "iv",
            "tag",
            "signature",
            "algorithm",
            "keyId",
        ];
        let members = Members::of(text, &NAMES);
        call.note_payload(members.get(match operation {
            OperationType::Decrypt => "ciphertext",
            OperationType::Encrypt
            | OperationType::Sign
            | OperationType::Verify
            | OperationType::Hash => "data",
        }));
        Self(members)
    }

    fn bytes(&mut self, name: &'static str) -> Option<Vec<u8>> {
        let text = self.0.required_string(name)?;
        let bytes = bytes_to_judge(from_base64(&text));
        if bytes.is_err() {
            self.0
                .note(Problem::new(name, Code::Format, "must be base64"));
        }
        bytes.ok()
    }

    /// The bytes of `data` that are signed or hashed.
    fn message(&mut self) -> Option<Cow<'a, [u8]>> {
        let data = self.0.required("data")?;
        let message = canonical::bytes(data);
        if let Err(error) = &message {
            let code = match error {
                NotCanonical::DuplicateName => Code::Conflict,
                NotCanonical::LoneSurrogate | NotCanonical::Number => Code::Format,
            };
            self.0.note(Problem::new("data", code, error.to_string()));
        }
        message.ok()
    }
}
