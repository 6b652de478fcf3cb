//! PEM: exactly one block, parsed strictly.

use pem_rfc7468::{Decoder, LineEnding};
use zeroize::Zeroizing;

use crate::problem::{Code, Problem};

/// One PEM block. Its content may be a private key.
pub(super) struct Block {
    pub(super) label: String,
    pub(super) bytes: Zeroizing<Vec<u8>>,
}

/// Reads the only block of a text.
pub(super) fn read_one(text: &str) -> Result<Block, Problem> {
    match text.matches("-----BEGIN ").count() {
        0 => return Err(malformed("must be PEM; there is no -----BEGIN line")),
        1 => {}
        _ => return Err(malformed("must be exactly one PEM block")),
    }
    let broken = || malformed("must be well-formed PEM");
    // Many tools leave empty lines at the end.
    let mut decoder = Decoder::new_detect_wrap(text.trim_end().as_bytes()).map_err(|_| broken())?;
    let mut bytes = Zeroizing::new(vec![0; decoder.remaining_len()]);
    decoder.decode(&mut bytes).map_err(|_| broken())?;
    Ok(Block { label: decoder.type_label().to_owned(), bytes })
}

/// Writes a block without secrets.
pub(super) fn write(label: &str, bytes: &[u8]) -> String {
    // Only a label outside ASCII fails, and all labels are constants.
    pem_rfc7468::encode_string(label, LineEnding::LF, bytes).unwrap_or_default()
}

fn malformed(message: &'static str) -> Problem {
    Problem::of_body(Code::Format, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_block_is_read() {
        let one = write("PUBLIC KEY", &[7; 100]);
        let block = read_one(&format!("Bag Attributes: none\n{one}")).unwrap();
        assert_eq!((block.label.as_str(), block.bytes.as_slice()), ("PUBLIC KEY", &[7; 100][..]));
        for text in ["", "nothing", &one.repeat(2), &one.replace("END", "ENDE")] {
            assert!(read_one(text).is_err(), "{text}");
        }
    }

    #[test]
    fn other_line_endings_and_widths_are_read() {
        let one = write("PUBLIC KEY", &[7; 100]);
        assert!(read_one(&one.replace('\n', "\r\n")).is_ok());
        assert!(read_one(&format!("{one}\n \r\n")).is_ok());
        assert!(read_one(one.trim_end()).is_ok());
        let body: String = one.lines().filter(|line| !line.starts_with('-')).collect();
        let flat = format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n");
        assert_eq!(read_one(&flat).unwrap().bytes.as_slice(), [7; 100]);
    }
}
