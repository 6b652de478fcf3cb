//! The number of instances for sharing limits. Instances with an interrupted connection are not
//! counted for a moment, so decreases apply only after several counts.

/// The number of consecutive lower counts before a decrease applies.
const COUNTS_TO_DECREASE: u32 = 10;

/// Increases apply immediately, decreases after several counts.
#[derive(Debug, Default)]
pub(super) struct Census {
    lower: u32,
}

impl Census {
    /// The number in effect after this count.
    pub(super) fn taken(&mut self, known: u32, counted: u32) -> u32 {
        self.lower = if counted < known { self.lower + 1 } else { 0 };
        if self.lower > 0 && self.lower < COUNTS_TO_DECREASE {
            return known;
        }
        self.lower = 0;
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increases_apply_immediately_and_decreases_after_a_delay() {
        let mut census = Census::default();
        let mut known = 1;
        let mut count = |counted| {
            known = census.taken(known, counted);
            known
        };
        assert_eq!(count(3), 3);
        for _ in 1..COUNTS_TO_DECREASE {
            assert_eq!(count(1), 3);
        }
        assert_eq!(count(3), 3);
        for _ in 1..COUNTS_TO_DECREASE {
            assert_eq!(count(2), 3);
        }
        assert_eq!(count(2), 2);
        assert_eq!(count(4), 4);
    }
}
