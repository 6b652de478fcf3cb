//! One pass over a JSON text: checks the grammar of RFC 8259 and the depth, without recursion. It
//! stores only the members of the outermost object.

use std::ops::Range;

use memchr::memchr2;

/// The maximum depth; a scalar has depth 0, `[]` has depth 1.
pub const MAX_DEPTH: u32 = 128;

/// The text is not one JSON value within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotJson {
    #[error("the text is not UTF-8")]
    Encoding,
    #[error("the JSON is nested deeper than {MAX_DEPTH} levels")]
    Depth,
    #[error("the text is not valid JSON at byte {at}")]
    Syntax { at: usize },
}

/// The positions of a member of the outermost object: its name with the quotes, and its value. An
/// element of the outermost array has an empty name.
#[derive(Clone, Debug)]
pub(super) struct MemberPosition {
    pub(super) name: Range<usize>,
    pub(super) value: Range<usize>,
}

/// Checks that `text` is one JSON value, and calls `on_member` for each member of the outermost
/// object or element of the outermost array.
///
/// Returns the position of the value without surrounding white space.
pub(super) fn scan(
    text: &str,
    on_member: impl FnMut(MemberPosition),
) -> Result<Range<usize>, NotJson> {
    let mut scan = Scan::of(text, on_member, plain);
    scan.skip_space();
    let start = scan.at;
    scan.value()?;
    let end = scan.at;
    scan.skip_space();
    match scan.peek() {
        None => Ok(start..end),
        Some(_) => Err(scan.fault()),
    }
}

/// Calls `on_member` for each member of the outermost object or element of the outermost array of a text
/// that [`scan`] accepts and that has no white space around it.
pub(super) fn find_members(text: &str, on_member: impl FnMut(MemberPosition)) {
    // In a checked text, nothing else is special.
    let literal = |bytes: &[u8]| memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
    // [`scan`] accepted the same bytes, so this does too.
    let _ = Scan::of(text, on_member, literal).value();
}

/// The containers around the current position: one bit each, set for an object.
#[derive(Default)]
struct Nesting {
    objects: u128,
    depth: u32,
}

impl Nesting {
    fn enter(&mut self, object: bool) -> Result<(), NotJson> {
        if self.depth == MAX_DEPTH {
            return Err(NotJson::Depth);
        }
        self.objects = self.objects << 1 | u128::from(object);
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.objects >>= 1;
        self.depth -= 1;
    }

    fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

struct Scan<'a, F, L> {
    bytes: &'a [u8],
    at: usize,
    nesting: Nesting,
    on_member: F,
    /// The number of bytes of a string before one that is special.
    literal: L,
}

impl<'a, F: FnMut(MemberPosition), L: Fn(&[u8]) -> usize> Scan<'a, F, L> {
    fn of(text: &'a str, on_member: F, literal: L) -> Self {
        Self { bytes: text.as_bytes(), at: 0, nesting: Nesting::default(), on_member, literal }
    }

    /// Scans one value.
    fn value(&mut self) -> Result<(), NotJson> {
        // The current member of the outermost object: its name, and the start of its value.
        let mut member = (0..0, 0);
        loop {
            if self.nesting.in_object() {
                let name = self.name()?;
                if self.nesting.depth == 1 {
                    member = (name, self.at);
                }
            } else if self.nesting.depth == 1 {
                member = (0..0, self.at);
            }
            if self.open_or_scalar()? == Opened::Filled {
                continue;
            }
            // A value is complete, and so are all containers that end after it.
            loop {
                if self.nesting.depth == 0 {
                    return Ok(());
                }
                if self.nesting.depth == 1 {
                    let (name, start) = member.clone();
                    (self.on_member)(MemberPosition { name, value: start..self.at });
                }
                self.skip_space();
                match (self.next(), self.nesting.in_object()) {
                    (Some(b','), _) => break,
                    (Some(b'}'), true) | (Some(b']'), false) => self.nesting.leave(),
                    _ => return Err(self.fault_behind()),
                }
            }
            self.skip_space();
        }
    }

    /// A scalar, an empty container, or the opening bracket of a container with content.
    fn open_or_scalar(&mut self) -> Result<Opened, NotJson> {
        match self.peek() {
            Some(b'{') => self.open(true, b'}'),
            Some(b'[') => self.open(false, b']'),
            Some(b'"') => self.string().map(|()| Opened::Complete),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => self.number().map(|()| Opened::Complete),
        }
    }

    fn open(&mut self, object: bool, closing: u8) -> Result<Opened, NotJson> {
        self.nesting.enter(object)?;
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(closing) {
            self.at += 1;
            self.nesting.leave();
            return Ok(Opened::Complete);
        }
        Ok(Opened::Filled)
    }

    /// The name of a member, the colon, and the surrounding space.
    fn name(&mut self) -> Result<Range<usize>, NotJson> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.fault());
        }
        self.string()?;
        let name = start..self.at;
        self.skip_space();
        if self.next() != Some(b':') {
            return Err(self.fault_behind());
        }
        self.skip_space();
        Ok(name)
    }

    fn string(&mut self) -> Result<(), NotJson> {
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            self.at += (self.literal)(rest);
            match self.next() {
                Some(b'"') => return Ok(()),
                Some(b'\\') => self.escape()?,
                _ => return Err(self.fault_behind()),
            }
        }
    }

    fn escape(&mut self) -> Result<(), NotJson> {
        match self.next() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(()),
            Some(b'u') => {
                for _ in 0..4 {
                    if !self.next().is_some_and(|digit| digit.is_ascii_hexdigit()) {
                        return Err(self.fault_behind());
                    }
                }
                Ok(())
            }
            _ => Err(self.fault_behind()),
        }
    }

    fn number(&mut self) -> Result<(), NotJson> {
        self.skip_if(|byte| byte == b'-');
        if !self.skip_if(|byte| byte == b'0') {
            self.digits()?;
        }
        if self.skip_if(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.skip_if(|byte| byte == b'e' || byte == b'E') {
            self.skip_if(|byte| byte == b'+' || byte == b'-');
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        if !self.skip_if(|byte| byte.is_ascii_digit()) {
            return Err(self.fault());
        }
        while self.skip_if(|byte| byte.is_ascii_digit()) {}
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Result<Opened, NotJson> {
        if !self.bytes.get(self.at..).unwrap_or_default().starts_with(word) {
            return Err(self.fault());
        }
        self.at += word.len();
        Ok(Opened::Complete)
    }

    fn skip_space(&mut self) {
        while self.skip_if(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')) {}
    }

    fn skip_if(&mut self, wanted: impl Fn(u8) -> bool) -> bool {
        let found = self.peek().is_some_and(wanted);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.at += 1;
        byte
    }

    /// The error is at the current byte.
    fn fault(&self) -> NotJson {
        NotJson::Syntax { at: self.at.min(self.bytes.len()) }
    }

    /// The error is at the previous byte.
    fn fault_behind(&self) -> NotJson {
        NotJson::Syntax { at: self.at.saturating_sub(1).min(self.bytes.len()) }
    }
}

/// The number of literal bytes before one that ends or escapes the string, or is not allowed in it.
fn plain(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks();
    // It processes blocks of words without branches, so that the compiler vectorizes it.
    let (blocks, _) = words.as_chunks::<4>();
    let is_plain = |block: &&[[u8; 8]; 4]| {
        let [a, b, c, d] = block;
        special_bits(*a) | special_bits(*b) | special_bits(*c) | special_bits(*d) == 0
    };
    let whole = blocks.iter().take_while(is_plain).count() * 4;
    let words = words.get(whole..).unwrap_or_default();
    let whole = whole + words.iter().take_while(|word| special_bits(**word) == 0).count();
    let rest = bytes.get(whole * 8..).unwrap_or_default();
    let special = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20));
    whole * 8 + special.unwrap_or(rest.len())
}

/// 0 if no byte is a quote, a backslash or below 0x20.
fn special_bits(word: [u8; 8]) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let word = u64::from_ne_bytes(word);
    let (quote, backslash) = (word ^ (ONES * 0x22), word ^ (ONES * 0x5c));
    // A difference borrows from the highest bit of a byte that is too small, and sets it.
    let small = word.wrapping_sub(ONES * 0x20) & !word;
    let small = small | quote.wrapping_sub(ONES) & !quote;
    let small = small | backslash.wrapping_sub(ONES) & !backslash;
    small & (ONES * 0x80)
}

/// Whether a value is complete or a container with content was opened.
#[derive(PartialEq)]
enum Opened {
    Complete,
    Filled,
}

#[cfg(test)]
mod tests;
