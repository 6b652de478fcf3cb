//! Compares the output that a document shows with real output.

/// Whether `real` matches `shown`. `…` matches any text: within a JSON string up to the end of the
/// string, in other text up to the end of the line.
pub(super) fn matches(language: &str, shown: &str, real: &str) -> bool {
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

/// Whether `text` matches `pattern`. Each `…` matches any text without the character that `bound`
/// returns for the preceding part of the pattern.
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
            rest.len().checked_sub(piece.len()).filter(|_| rest.ends_with(piece))
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

/// JSON without insignificant white space, because documents format it for reading.
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
fn an_ellipsis_matches_any_text() {
    let real = r#"{"id":"svc_1","name":"a \" b","tier":"standard"}"#;
    let shown = |pattern| matches("json", pattern, real);
    assert!(shown(r#"{ "id": "svc_…", "name": "a \" b", "tier": "standard" }"#));
    assert!(shown(r#"{ "id": "svc_…", … "tier": "standard" }"#));
    assert!(!shown(r#"{ "id": "svc_…", "tier": "standard" }"#));
    assert!(!shown(r#"{ "id": "svc_…", "name": "a\"b", "tier": "standard" }"#));
    assert!(!shown(r#"{ "id": "svc_…" }"#));
    assert!(matches("text", "true\n", "true  \n\n"));
    assert!(!matches("text", "true", "untrue"));
}
