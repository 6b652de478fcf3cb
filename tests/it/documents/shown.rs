//! What a document shows of an output, held against the output.

/// Whether `real` is what a document shows as `shown`, where `…` stands for anything: inside of a
/// JSON string for anything in that string, in text for anything on that line.
pub(super) fn is_shown(language: &str, shown: &str, real: &str) -> bool {
    if language == "json" {
        return fits(&without_layout(shown), &without_layout(real), |before| {
            let quotes = before.matches('"').count() - before.matches(r#"\""#).count();
            (quotes % 2 == 1).then_some('"')
        });
    }
    let plain = |text: &str| {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim().to_owned()
    };
    fits(&plain(shown), &plain(real), |_| Some('\n'))
}

/// Whether `text` is `pattern`, where each `…` is any text up to the letter that `bound` gives for
/// what stands before it.
fn fits(pattern: &str, text: &str, bound: impl Fn(&str) -> Option<char>) -> bool {
    let mut pieces = pattern.split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut before = first.len();
    let mut pieces = pieces.peekable();
    let is_whole = pieces.peek().is_some() || rest.is_empty();
    while let Some(piece) = pieces.next() {
        let place = if pieces.peek().is_some() {
            rest.find(piece)
        } else {
            rest.len()
                .checked_sub(piece.len())
                .filter(|_| rest.ends_with(piece))
        };
        let Some(place) = place else { return false };
        if bound(&pattern[..before]).is_some_and(|bound| rest[..place].contains(bound)) {
            return false;
        }
        before += '…'.len_utf8() + piece.len();
        rest = &rest[place + piece.len()..];
    }
    is_whole
}

/// JSON without the white space that means nothing: documents lay it out for readers.
fn without_layout(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    json.chars()
        .filter(|&letter| {
            let is_layout = !inside && letter.is_whitespace();
            if letter == '"' && !escaped {
                inside = !inside;
            }
            escaped = inside && letter == '\\' && !escaped;
            !is_layout
        })
        .collect()
}

#[test]
fn an_ellipsis_is_anything_and_all_else_is_itself() {
    let real = r#"{"id":"svc_1","name":"a \" b","tier":"standard"}"#;
    let shown = |pattern| is_shown("json", pattern, real);
    assert!(shown(
        r#"{ "id": "svc_…", "name": "a \" b", "tier": "standard" }"#
    ));
    assert!(shown(r#"{ "id": "svc_…", … "tier": "standard" }"#));
    assert!(!shown(r#"{ "id": "svc_…", "tier": "standard" }"#));
    assert!(!shown(
        r#"{ "id": "svc_…", "name": "a\"b", "tier": "standard" }"#
    ));
    assert!(!shown(r#"{ "id": "svc_…" }"#));
    assert!(is_shown("text", "true\n", "true  \n\n"));
    assert!(!is_shown("text", "true", "untrue"));
}
