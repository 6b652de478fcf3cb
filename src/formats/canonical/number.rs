//! The numbers that can be signed.
//!
//! **A number is representable** if the shortest decimal of its double, which JCS writes, has the
//! same value as the decimal in the text. So `0.1`, `1.0`, `1e3` and every integer to 2^53 are
//! representable, and `1`, `1.0` and `1e0` have the same bytes because they are one value; `1e400`,
//! `9007199254740993` and `0.1000000000000000001` are not. Of all the decimals around a double
//! exactly one is representable, so two different values never have the same bytes. (The double
//! nearest to `0.1` is not exactly 0.1; requiring equality would refuse nearly every fraction.
//! `1180591620717411303424`, which is 2^70 and a double, is not representable: JCS writes another
//! value, `1.1805916207174113e+21`.)

/// Whether the double of `number` is written with the same value.
pub(super) fn is_representable(number: &str) -> bool {
    if is_short(number) {
        return true;
    }
    let Ok(double) = number.parse::<f64>() else {
        return false;
    };
    // The shortest decimal of Rust differs: between two equally near decimals, ECMAScript uses
    // the even one and Rust the greater one.
    serde_json_canonicalizer::to_string(&double)
        .is_ok_and(|written| double.is_finite() && Decimal::of(number) == Decimal::of(&written))
}

/// Whether the number has at most 15 digits and is well within the range of a double. Every such
/// decimal is representable. Nearly all numbers are short.
fn is_short(number: &str) -> bool {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    mantissa.len() <= 15
        && exponent.parse::<i16>().is_ok_and(|exponent| exponent.unsigned_abs() <= 250)
}

/// The value of a decimal text: `0.digits` times ten to the `exponent`, in lowest terms.
#[derive(PartialEq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    const ZERO: Self = Self { negative: false, digits: String::new(), exponent: 0 };

    fn of(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(magnitude) => (true, magnitude),
            None => (false, mantissa),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let significant = all.trim_start_matches('0');
        let leading_zeros = length(&all) - length(significant);
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Self::ZERO;
        }
        // An exponent above 64 bits exceeds every double, so its value does not matter.
        let beyond = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
        let exponent = exponent.parse().unwrap_or(beyond);
        let point = length(whole) - leading_zeros;
        Self { negative, digits: digits.to_owned(), exponent: point.saturating_add(exponent) }
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}
