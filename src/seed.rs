//! Seeded randomness: a function of what is decided, independent of order and time.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// Returns a generator for one decision, identified by the run's seed and a list of words (stage, stable id, …).
///
/// The words are hashed with their lengths, so `["ab", "c"]` and `["a", "bc"]` differ. The result is independent of
/// concurrency.
#[must_use]
pub fn seeded(seed: u64, decision: &[&str]) -> ChaCha8Rng {
    ChaCha8Rng::from_seed(hash(seed, decision))
}

/// Returns the `seed` to send to a server for one draw, 0 to 2³¹ − 1 (some servers accept no more).
#[must_use]
pub fn number(seed: u64, draw: &str) -> u32 {
    let bytes = hash(seed, &["server", draw]);
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) >> 1
}

fn hash(seed: u64, decision: &[&str]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    for word in decision {
        hasher.update(&(word.len() as u64).to_le_bytes());
        hasher.update(word.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::{number, seeded};

    #[test]
    fn generators_depend_on_the_seed_and_the_decision() {
        let draw = |seed, decision: &[&str]| seeded(seed, decision).next_u64();
        assert_eq!(draw(7, &["simulate", "a"]), draw(7, &["simulate", "a"]));
        assert_ne!(draw(7, &["simulate", "a"]), draw(8, &["simulate", "a"]));
        assert_ne!(draw(7, &["ab", "c"]), draw(7, &["a", "bc"]));
        assert!(number(7, "x") < 1 << 31);
    }
}
