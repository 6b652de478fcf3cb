//! Durations in buckets that grow by the fourth root of two, so that percentiles are exact within
//! 20 %.

/// The lower bound of the first bucket, in milliseconds.
pub(super) const SHORTEST: f64 = 0.05;

/// The number of buckets in which a duration doubles.
pub(super) const IN_AN_OCTAVE: i32 = 4;

/// The last bucket, for all durations from 44 s.
pub(super) const LAST: i32 = 79;

/// The number of requests per bucket.
#[derive(Clone, Debug)]
pub(super) struct Histogram([u64; LAST as usize + 1]);

impl Default for Histogram {
    fn default() -> Self {
        Self([0; LAST as usize + 1])
    }
}

impl Histogram {
    pub(super) fn add(&mut self, bucket: i16, requests: u64) {
        let place = usize::try_from(bucket).ok();
        if let Some(count) = place.and_then(|place| self.0.get_mut(place)) {
            *count += requests;
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The duration of this quantile, in milliseconds.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let rank = share * exact(total);
        let mut before = 0_u64;
        for (bucket, count) in self.0.iter().enumerate() {
            let after = before + count;
            if *count > 0 && exact(after) >= rank {
                let inside = (rank - exact(before)) / exact(*count);
                let place = exact(bucket as u64) + inside.clamp(0.0, 1.0);
                return Some(SHORTEST * (place / f64::from(IN_AN_OCTAVE)).exp2());
            }
            before = after;
        }
        None
    }
}

/// Exact for all realistic counts.
fn exact(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_an_error_below_a_fifth() {
        let mut histogram = Histogram::default();
        for millis in 1..=1_000_u32 {
            let place = (f64::from(millis) / SHORTEST).log2() * f64::from(IN_AN_OCTAVE);
            #[allow(clippy::cast_possible_truncation, reason = "as the database does")]
            histogram.add(place.floor() as i16, 1);
        }
        for share in [0.5, 0.95, 0.99] {
            let found = histogram.quantile(share).unwrap();
            let off = found / (share * 1_000.0);
            assert!((0.84..1.19).contains(&off), "{share}: {found}");
        }
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}
