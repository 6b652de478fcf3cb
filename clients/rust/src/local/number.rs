//! Numbers in their RFC 8785 form.

/// The canonical form of a number; none if it has another value than the text, because no double represents it.
pub(super) fn written(number: &str) -> Option<String> {
    let double: f64 = number.parse().ok().filter(|double: &f64| double.is_finite())?;
    let written = serde_json_canonicalizer::to_string(&double).ok()?;
    (value(number) == value(&written)).then_some(written)
}

/// The sign, the significant digits and the exponent of a decimal.
fn value(text: &str) -> (bool, String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (is_negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return (false, String::new(), 0);
    }
    let leading_zeros = digits.len() - digits.trim_start_matches('0').len();
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX)
        - i64::try_from(leading_zeros).unwrap_or(i64::MAX);
    // An exponent that is no number here is beyond every double.
    let exponent = exponent.trim_start_matches('+').parse().unwrap_or(i64::MAX);
    (is_negative, significant.to_owned(), point.saturating_add(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_value_or_is_refused() {
        for (number, expected) in [
            ("0", Some("0")),
            ("-0.0", Some("0")),
            ("1.0", Some("1")),
            ("0.1", Some("0.1")),
            ("1e3", Some("1000")),
            ("1E+21", Some("1e+21")),
            ("0.0000001", Some("1e-7")),
            ("9007199254740992", Some("9007199254740992")),
            ("9007199254740993", None),
            ("0.1000000000000000001", None),
            ("1180591620717411303424", None),
            ("1e400", None),
            ("1e-400", None),
        ] {
            assert_eq!(written(number).as_deref(), expected, "{number}");
        }
    }
}
