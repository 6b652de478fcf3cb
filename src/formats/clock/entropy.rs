//! Randomness as an argument.

/// Random bytes from the cryptographic generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entropy(());

impl Entropy {
    /// The generator of the process.
    pub fn system() -> Self {
        Self(())
    }

    /// Fills `bytes`. If the generator fails, the process aborts, because it cannot continue safely.
    pub fn fill(&self, bytes: &mut [u8]) {
        if aws_lc_rs::rand::fill(bytes).is_err() {
            std::process::abort();
        }
    }

    /// An array of random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Random bytes for a unique name that is not secret, from the generator of this thread.
    pub fn name<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        rand::fill(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_are_the_same() {
        let entropy = Entropy::system();
        let names: std::collections::HashSet<[u8; 10]> =
            (0..1_000).map(|_| entropy.name()).collect();
        assert_eq!(names.len(), 1_000);
    }
}
