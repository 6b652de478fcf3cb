//! Where a span stands among others: W3C Trace Context, version 00.

use crate::clock::Entropy;

/// A span's place in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) parent: Option<[u8; 8]>,
}

/// What a client says of its own trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Remote {
    trace: [u8; 16],
    span: [u8; 8],
    pub(super) is_sampled: bool,
}

impl Context {
    /// The first span here, within the client's trace where there is one.
    pub(super) fn first(entropy: &Entropy, remote: Option<Remote>) -> Self {
        Self {
            trace: remote.map_or_else(|| entropy.name(), |remote| remote.trace),
            span: entropy.name(),
            parent: remote.map(|remote| remote.span),
        }
    }

    /// A span within this one.
    pub(super) fn child(self, entropy: &Entropy) -> Self {
        Self {
            trace: self.trace,
            span: entropy.name(),
            parent: Some(self.span),
        }
    }
}

impl Remote {
    /// Reads the header `traceparent`. One that is not as it should be counts as none.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let mut parts = header.split('-');
        let [version] = bytes(parts.next()?)?;
        let trace: [u8; 16] = bytes(parts.next()?)?;
        let span: [u8; 8] = bytes(parts.next()?)?;
        let [flags] = bytes(parts.next()?)?;
        // A later version may have more to say after what this one knows.
        let is_known = version == 0 && parts.next().is_none() || version != 0 && version != 0xff;
        let is_one = trace != [0; 16] && span != [0; 8];
        (is_known && is_one).then_some(Self {
            trace,
            span,
            is_sampled: flags & 1 == 1,
        })
    }
}

/// Lower-case hexadecimal of exactly so many bytes.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut found = [0; N];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in found.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    #[test]
    fn a_client_s_trace_is_continued() {
        let entropy = Entropy::system();
        let remote = Remote::parse(&format!("00-{TRACE}-b7ad6b7169203331-01")).unwrap();
        assert!(remote.is_sampled);
        let first = Context::first(&entropy, Some(remote));
        assert_eq!(Some(first.trace), bytes(TRACE));
        assert_eq!(first.parent, bytes("b7ad6b7169203331"));
        let child = first.child(&entropy);
        assert_eq!(child.trace, first.trace);
        assert_eq!(child.parent, Some(first.span));
        assert_ne!(child.span, first.span);
        let not = Remote::parse(&format!("00-{TRACE}-b7ad6b7169203331-00"));
        assert!(!not.unwrap().is_sampled);
        let later = format!("01-{TRACE}-b7ad6b7169203331-01-more");
        assert!(Remote::parse(&later).is_some());
    }

    #[test]
    fn what_is_no_trace_is_not_continued() {
        for header in [
            String::new(),
            "nonsense".to_owned(),
            format!("00-{TRACE}-b7ad6b7169203331"),
            format!("00-{TRACE}-b7ad6b7169203331-01-more"),
            format!("ff-{TRACE}-b7ad6b7169203331-01"),
            format!("00-{}-b7ad6b7169203331-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-0000000000000000-01"),
            format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)),
            format!("00-{TRACE}0-b7ad6b7169203331-01"),
        ] {
            assert_eq!(Remote::parse(&header), None, "{header}");
        }
    }
}
