//! Formats of states, times and amounts. A state has a word and a colour, never a colour alone.

use std::time::Duration;

use maud::{Markup, html};

use formats::clock::Timestamp;

/// The severity of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Warn,
    Bad,
    Idle,
}

impl Tone {
    /// The class of the stylesheet.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Idle => "idle",
        }
    }
}

/// A state as a badge. A long name breaks between its parts.
pub(crate) fn badge(tone: Tone, text: &str) -> Markup {
    html! {
        span class={ "badge " (tone.class()) } {
            span { @for part in text.split_inclusive('_') { (part) @if part.ends_with('_') { wbr; } } }
        }
    }
}

/// The mark of a resource in a list whose row in the database does not count.
pub(crate) fn seal_mark(seal_valid: Option<bool>) -> Markup {
    html! { @if seal_valid == Some(false) { " " (badge(Tone::Bad, "row does not count")) } }
}

/// Text from users, isolated so that its direction does not affect the page.
pub(crate) fn isolated(text: &str) -> Markup {
    html! { bdi { (text) } }
}

/// The text with a capital at its beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.into_iter().chain([letters.as_str().to_owned()]).collect()
}

/// The name of a value as words, such as `Pending destruction`.
pub(crate) fn words(name: &str) -> String {
    capital(&name.replace('_', " "))
}

/// A time, to the second.
pub(crate) fn moment(at: Timestamp) -> Markup {
    let exact = at.to_string();
    let date = exact.get(..10).unwrap_or_default();
    let time = exact.get(11..19).unwrap_or_default();
    html! { time datetime=(exact) { (date) " " span.clock { (time) } } }
}

/// A time, or a text for none.
pub(crate) fn moment_or(at: Option<Timestamp>, none: &str) -> Markup {
    match at {
        Some(at) => moment(at),
        None => html! { span.faint { (none) } },
    }
}

/// A time and its distance from now.
pub(crate) fn moment_and_distance(at: Timestamp, now: Timestamp) -> Markup {
    html! { (moment(at)) " " span.faint.number { "(" (distance(now, at)) ")" } }
}

/// The time since the last use, or `never`.
pub(crate) fn ago(at: Option<Timestamp>, now: Timestamp) -> Markup {
    match at {
        Some(at) => html! { span.number { (distance(now, at)) } },
        None => html! { span.faint { "never" } },
    }
}

/// The distance of a time from now, in its largest unit.
pub(crate) fn distance(now: Timestamp, at: Timestamp) -> String {
    if at > now {
        return format!("in {}", span(at.since(now)));
    }
    match now.since(at) {
        gone if gone < Duration::from_secs(1) => "just now".to_owned(),
        gone => format!("{} ago", span(gone)),
    }
}

/// A duration in its largest unit.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let (amount, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    if amount == 1 { format!("1 {unit}") } else { format!("{amount} {unit}s") }
}

/// A number with thousands separators.
pub(crate) fn count(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("−{text}") } else { text }
}

/// Milliseconds with the significant digits.
pub(crate) fn millis(millis: f64) -> String {
    if millis < 10.0 {
        let digits = format!("{millis:.2}");
        format!("{}\u{a0}ms", digits.trim_end_matches('0').trim_end_matches('.'))
    } else if millis < 1_000.0 {
        format!("{millis:.0}\u{a0}ms")
    } else {
        format!("{:.1}\u{a0}s", millis / 1_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_formatted() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(-1_000), "−1,000");
        assert_eq!(millis(0.256), "0.26\u{a0}ms");
        assert_eq!(millis(5.0), "5\u{a0}ms");
        assert_eq!(millis(0.0), "0\u{a0}ms");
        assert_eq!(millis(42.4), "42\u{a0}ms");
        assert_eq!(millis(2_500.0), "2.5\u{a0}s");
    }

    #[test]
    fn a_relative_time_uses_its_largest_unit() {
        let at = Timestamp::from_millis;
        let now = at(1_700_000_000_000);
        let text = |seconds: i64| distance(now, at(1_700_000_000_000 + seconds * 1_000));
        assert_eq!(text(0), "just now");
        assert_eq!(text(-5), "5 seconds ago");
        assert_eq!(text(-60), "1 minute ago");
        assert_eq!(text(7_200), "in 2 hours");
        assert_eq!(text(86_400 * 7), "in 7 days");
    }
}
