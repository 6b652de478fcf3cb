//! The names of keys that clients of the Transit API can send.

/// The most characters of the name of a key.
const LONGEST: usize = 100;

/// Whether clients of the Transit API can name a key so: letters, digits and underscores, between them also
/// hyphens and dots.
pub fn is_transit_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let ends = [name.bytes().next(), name.bytes().next_back()];
    name.len() <= LONGEST
        && ends.into_iter().all(|end| end.is_some_and(is_word))
        && name.bytes().all(|byte| is_word(byte) || byte == b'-' || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_segment_of_a_path() {
        for name in ["a", "a-b", "A.b_c", "_", "9"] {
            assert!(is_transit_name(name), "{name}");
        }
        let longest = "a".repeat(LONGEST);
        assert!(is_transit_name(&longest) && !is_transit_name(&(longest + "a")));
        for name in ["", "-a", "a-", ".a", "a b", "a/b", "ä", "AES-256 data"] {
            assert!(!is_transit_name(name), "{name}");
        }
    }
}
