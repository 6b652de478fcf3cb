//! What modules and tokens report about themselves, as far as it is used. The time of the token is not
//! read: some tokens return no valid one.

use cryptoki_sys::{
    CK_EFFECTIVELY_INFINITE, CK_FLAGS, CK_INFO, CK_TOKEN_INFO, CK_ULONG,
    CK_UNAVAILABLE_INFORMATION, CK_VERSION, CKF_ERROR_STATE, CKF_LOGIN_REQUIRED,
    CKF_PROTECTED_AUTHENTICATION_PATH, CKF_RNG, CKF_SO_PIN_COUNT_LOW, CKF_SO_PIN_FINAL_TRY,
    CKF_SO_PIN_LOCKED, CKF_SO_PIN_TO_BE_CHANGED, CKF_TOKEN_INITIALIZED, CKF_USER_PIN_COUNT_LOW,
    CKF_USER_PIN_FINAL_TRY, CKF_USER_PIN_INITIALIZED, CKF_USER_PIN_LOCKED,
    CKF_USER_PIN_TO_BE_CHANGED, CKF_WRITE_PROTECTED,
};

/// A module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LibraryInfo {
    pub(crate) manufacturer: String,
    pub(crate) description: String,
    pub(crate) version: String,
    pub(crate) pkcs11_version: String,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenInfo {
    pub(crate) label: String,
    pub(crate) serial: String,
    pub(crate) manufacturer: String,
    pub(crate) model: String,
    pub(crate) hardware_version: String,
    pub(crate) firmware_version: String,
    /// The bound of sessions; none where the token reports none.
    pub(crate) max_sessions: Option<u64>,
    /// The open sessions of all programs; none where the token reports none.
    pub(crate) sessions: Option<u64>,
    flags: CK_FLAGS,
}

impl LibraryInfo {
    pub(super) fn of(info: &CK_INFO) -> Self {
        Self {
            manufacturer: text(&info.manufacturerID),
            description: text(&info.libraryDescription),
            version: version(info.libraryVersion),
            pkcs11_version: version(info.cryptokiVersion),
        }
    }
}

impl TokenInfo {
    pub(super) fn of(info: &CK_TOKEN_INFO) -> Self {
        let limits = [info.ulMaxSessionCount, info.ulMaxRwSessionCount];
        let limit = |number| reported(number).filter(|_| number != CK_EFFECTIVELY_INFINITE);
        let counts = [info.ulSessionCount, info.ulRwSessionCount];
        Self {
            label: text(&info.label),
            serial: text(&info.serialNumber),
            manufacturer: text(&info.manufacturerID),
            model: text(&info.model),
            hardware_version: version(info.hardwareVersion),
            firmware_version: version(info.firmwareVersion),
            max_sessions: limits.into_iter().filter_map(limit).min(),
            sessions: counts.into_iter().filter_map(reported).max(),
            flags: info.flags,
        }
    }

    pub(crate) fn has(&self, flag: CK_FLAGS) -> bool {
        self.flags & flag != 0
    }

    /// The names of the flags that are set, without `CKF_`.
    pub(crate) fn flags(&self) -> Vec<&'static str> {
        let named = FLAGS.into_iter().filter(|(flag, _)| self.has(*flag));
        named.map(|(_, name)| name).collect()
    }

    /// What a record of calls shows: nothing that identifies the token.
    pub(super) fn shape(&self) -> String {
        format!(
            "{:?} {:?} label[{}] serial[{}] maxSessions={:?} sessions={:?} flags={}",
            self.manufacturer,
            self.model,
            self.label.len(),
            self.serial.len(),
            self.max_sessions,
            self.sessions,
            self.flags().join(",")
        )
    }
}

const FLAGS: [(CK_FLAGS, &str); 15] = [
    (CKF_RNG, "RNG"),
    (CKF_WRITE_PROTECTED, "WRITE_PROTECTED"),
    (CKF_LOGIN_REQUIRED, "LOGIN_REQUIRED"),
    (CKF_USER_PIN_INITIALIZED, "USER_PIN_INITIALIZED"),
    (CKF_PROTECTED_AUTHENTICATION_PATH, "PROTECTED_AUTHENTICATION_PATH"),
    (CKF_TOKEN_INITIALIZED, "TOKEN_INITIALIZED"),
    (CKF_USER_PIN_COUNT_LOW, "USER_PIN_COUNT_LOW"),
    (CKF_USER_PIN_FINAL_TRY, "USER_PIN_FINAL_TRY"),
    (CKF_USER_PIN_LOCKED, "USER_PIN_LOCKED"),
    (CKF_USER_PIN_TO_BE_CHANGED, "USER_PIN_TO_BE_CHANGED"),
    (CKF_SO_PIN_COUNT_LOW, "SO_PIN_COUNT_LOW"),
    (CKF_SO_PIN_FINAL_TRY, "SO_PIN_FINAL_TRY"),
    (CKF_SO_PIN_LOCKED, "SO_PIN_LOCKED"),
    (CKF_SO_PIN_TO_BE_CHANGED, "SO_PIN_TO_BE_CHANGED"),
    (CKF_ERROR_STATE, "ERROR_STATE"),
];

/// A text that the module has padded with blanks or, against PKCS#11, ended with a zero.
fn text(padded: &[u8]) -> String {
    let end = padded.iter().position(|byte| *byte == 0).unwrap_or(padded.len());
    let text = padded.get(..end).unwrap_or_default();
    String::from_utf8_lossy(text).trim_end_matches(' ').to_owned()
}

fn version(version: CK_VERSION) -> String {
    format!("{}.{}", version.major, version.minor)
}

#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "the width of the numbers of PKCS#11 depends on the platform"
)]
fn reported(number: CK_ULONG) -> Option<u64> {
    (number != CK_UNAVAILABLE_INFORMATION).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_at_their_padding() {
        assert_eq!(text(b"sealward  "), "sealward");
        assert_eq!(text(b"sealward\0\0"), "sealward");
        assert_eq!(text(b" a b "), " a b");
        assert_eq!(text(b"\0\0"), "");
    }
}
