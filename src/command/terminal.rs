//! Texts on a terminal that others write: the database, a token or a server. They contain no control sequences.

/// A text in a line.
pub(super) fn in_line(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// A text of several lines.
pub(super) fn in_lines(text: &str) -> String {
    text.replace(|character: char| character.is_control() && character != '\n', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::{in_line, in_lines};

    #[test]
    fn no_control_sequence_reaches_the_terminal() {
        let text = "a\u{1b}[2Jb\rc\u{9b}d\n  e";
        assert_eq!(in_lines(text), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\n  e");
        assert_eq!(in_line(text), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\u{fffd}  e");
    }
}
