//! Dynamically weighted random selection (DWRS): picks target dimensions (FURINA, Appendix C).
//!
//! Pure functions of counts and a random generator.

use rand::{Rng, RngExt as _};

use crate::schema::Dimension;

/// The count of each dimension, in the order of the dimension table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts(Vec<(String, u32)>);

impl Counts {
    /// Creates counts of 0 for all dimensions.
    #[must_use]
    pub fn new(dimensions: &[Dimension]) -> Self {
        Self(dimensions.iter().map(|dimension| (dimension.code.clone(), 0)).collect())
    }

    /// Returns the code and count of each dimension.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(code, count)| (code.as_str(), *count))
    }

    /// Adds 1 to the count of a dimension. Unknown codes are ignored.
    pub fn add(&mut self, code: &str) {
        if let Some((_, count)) = self.0.iter_mut().find(|(known, _)| known == code) {
            *count += 1;
        }
    }

    /// Returns the sum of all counts.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.iter().map(|(_, count)| count).sum()
    }

    /// Returns whether every count is at least `tau`, the stop condition of Algorithm 1.
    #[must_use]
    pub fn all_reached(&self, tau: u32) -> bool {
        self.missing(tau) == 0
    }

    /// Returns the sum over all dimensions of the counts missing to reach `tau`.
    #[must_use]
    pub fn missing(&self, tau: u32) -> u32 {
        self.iter().map(|(_, count)| tau.saturating_sub(count)).sum()
    }

    /// Returns these counts restricted to the dimensions whose count in `reached` is below `tau`.
    #[must_use]
    pub fn of_unmet(&self, reached: &Self, tau: u32) -> Self {
        let is_unmet = |code: &str| reached.iter().any(|(other, count)| other == code && count < tau);
        Self(self.0.iter().filter(|(code, _)| is_unmet(code)).cloned().collect())
    }

    /// Returns w = `c_max` − c + 1 for each dimension (equation 4).
    #[must_use]
    pub fn weights(&self) -> Vec<u32> {
        let most = self.iter().map(|(_, count)| count).max().unwrap_or(0);
        self.iter().map(|(_, count)| most - count + 1).collect()
    }

    /// Returns P = w / Σw for each dimension (equation 5).
    #[must_use]
    pub fn probabilities(&self) -> Vec<f64> {
        let weights = self.weights();
        let sum: f64 = weights.iter().copied().map(f64::from).sum();
        weights.into_iter().map(|weight| f64::from(weight) / sum).collect()
    }

    /// Picks a dimension of the highest probability, uniformly among ties (equation 6).
    ///
    /// Compares the integer weights, in which P is monotonic, so that rounding cannot break ties.
    pub fn pick(&self, rng: &mut impl Rng) -> &str {
        let weights = self.weights();
        let most = weights.iter().copied().max().expect("the dimension table is never empty");
        let equals: Vec<usize> = (0..weights.len()).filter(|&index| weights[index] == most).collect();
        &self.0[equals[rng.random_range(0..equals.len())]].0
    }

    /// Plans the targets of concurrent conversations, one generator per conversation. Each plan has `draws` entries,
    /// one for each possible test turn; an entry is none for normal conversation (probability 1 − `target_probability`).
    ///
    /// Each target adds 1 to these counts. Callers pass a copy, so that unused targets are not counted.
    ///
    /// The first entries of all conversations are picked first, then the second ones, and so on. Conversations use a
    /// prefix of their plan, so the used targets are about as balanced as the planned ones. Which entries have a target
    /// is drawn before the first pick, so that it does not depend on the counts.
    pub fn plan<R: Rng>(&mut self, draws: u32, target_probability: f64, mut rngs: Vec<R>) -> Vec<Vec<Option<String>>> {
        let target_probability = target_probability.clamp(0.0, 1.0);
        let has_target: Vec<Vec<bool>> =
            rngs.iter_mut().map(|rng| (0..draws).map(|_| rng.random_bool(target_probability)).collect()).collect();
        let mut plans: Vec<Vec<Option<String>>> = rngs.iter().map(|_| Vec::new()).collect();
        for draw in 0..draws as usize {
            for ((plan, has_target), rng) in plans.iter_mut().zip(&has_target).zip(&mut rngs) {
                plan.push(has_target[draw].then(|| {
                    let target = self.pick(rng).to_owned();
                    self.add(&target);
                    target
                }));
            }
        }
        plans
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::seed::seeded;

    fn counts(counts: &[u32]) -> Counts {
        Counts(counts.iter().enumerate().map(|(index, count)| (format!("D{index}"), *count)).collect())
    }

    fn spread(counts: &Counts) -> u32 {
        let most = counts.iter().map(|(_, count)| count).max().unwrap();
        most - counts.iter().map(|(_, count)| count).min().unwrap()
    }

    fn rngs(seed: u64, label: &str, conversations: std::ops::Range<u32>) -> Vec<impl Rng> {
        conversations.map(|n| seeded(seed, &[label, &n.to_string()])).collect()
    }

    #[test]
    fn weights_are_those_of_the_paper() {
        let counts = counts(&[2, 5, 1]);
        assert_eq!(counts.weights(), [4, 1, 5]);
        for (probability, expected) in counts.probabilities().into_iter().zip([0.4, 0.1, 0.5]) {
            assert!((probability - expected).abs() < 1e-12, "{probability}");
        }
        assert_eq!(counts.pick(&mut seeded(1, &[])), "D2");
    }

    #[test]
    fn equal_weights_are_drawn_uniformly() {
        let counts = counts(&[3, 1, 1, 2, 1]);
        let mut rng = seeded(7, &["ties"]);
        let mut picked = counts.clone();
        for _ in 0..3000 {
            let code = counts.pick(&mut rng).to_owned();
            picked.add(&code);
        }
        let picks: Vec<u32> =
            picked.iter().zip(counts.iter()).map(|((_, after), (_, before))| after - before).collect();
        assert_eq!((picks[0], picks[3]), (0, 0), "only dimensions with the lowest count are picked");
        // Three standard deviations of a binomial distribution with n = 3,000 and p = 1/3 are 77.
        for index in [1, 2, 4] {
            assert!(picks[index].abs_diff(1000) < 80, "{picks:?}");
        }
    }

    #[test]
    fn missing_counts_are_summed() {
        let mut counts = counts(&[0, 3]);
        assert_eq!((counts.missing(2), counts.all_reached(2)), (2, false));
        counts.add("D0");
        counts.add("D0");
        counts.add("unknown");
        assert_eq!((counts.missing(2), counts.all_reached(2)), (0, true));
    }

    /// A target need not be counted: here the first dimension never is, no matter how often it is targeted.
    #[test]
    fn a_dimension_that_never_counts_does_not_starve_others() {
        for batch in 1..5 {
            let (mut reached, mut aimed, mut played) = (counts(&[0; 5]), counts(&[0; 5]), 0);
            while reached.missing(10) > 10 {
                let mut ahead = aimed.of_unmet(&reached, 10);
                let plans = ahead.plan(10, 0.7, rngs(7, "starve", played..played + batch));
                for target in plans.iter().flat_map(|plan| &plan[..6]).flatten() {
                    aimed.add(target);
                    if target != "D0" {
                        reached.add(target);
                    }
                }
                played += batch;
                let others: Vec<u32> = reached.iter().skip(1).map(|(_, count)| count).collect();
                let (least, most) = (others.iter().min().unwrap(), others.iter().max().unwrap());
                // Dimensions that have reached τ are no longer targeted.
                assert!(*most > 10 || most - least <= batch + 1, "{reached:?}");
                assert!(played < 20, "{reached:?}");
            }
            assert_eq!(reached.of_unmet(&reached, 10).0, [("D0".to_owned(), 0)]);
        }
    }

    #[test]
    fn target_probability_zero_and_one_are_exact() {
        let plan = |draws, target_probability| {
            counts(&[0, 0]).plan(draws, target_probability, rngs(7, "emphasis", 0..1)).remove(0)
        };
        assert!(plan(50, 0.0).iter().all(Option::is_none));
        assert!(plan(50, 1.0).iter().all(Option::is_some));
        let some = plan(1000, 0.7).iter().flatten().count();
        assert!(some.abs_diff(700) < 50, "{some}");
    }

    proptest! {
        #[test]
        fn planned_targets_stay_within_one(batch in 1_u32..12, draws in 1_u32..12, dimensions in 1_usize..8, seed: u64) {
            let mut ahead = counts(&vec![0; dimensions]);
            let plans = ahead.plan(draws, 0.7, rngs(seed, "targets", 0..batch));
            prop_assert!(spread(&ahead) <= 1);
            // The same holds if all conversations use equally long prefixes.
            for used in 0..=draws as usize {
                let mut even = counts(&vec![0; dimensions]);
                plans.iter().flat_map(|plan| &plan[..used]).flatten().for_each(|target| even.add(target));
                prop_assert!(spread(&even) <= 1, "{used} of {draws}");
            }
        }

        #[test]
        fn any_prefix_of_a_plan_is_balanced(
            before in prop::collection::vec(0_u32..3, 5), draws in 1_u32..20, seed: u64
        ) {
            // Starts from equal counts; with unequal counts, a plan starts with the lowest ones.
            let mut ahead = counts(&[before[0]; 5]);
            let plan = ahead.plan(draws, 1.0, rngs(seed, "prefix", 0..1)).remove(0);
            let mut used = counts(&[0; 5]);
            for target in plan.into_iter().flatten() {
                used.add(&target);
                prop_assert!(spread(&used) <= 1);
            }
        }

        #[test]
        fn dimensions_below_target_come_first(before in prop::collection::vec(0_u32..6, 2..7), seed: u64) {
            let start = counts(&before);
            let most = before.iter().copied().max().unwrap();
            let mut ahead = start.clone();
            let missing = start.missing(most);
            let plan = ahead.plan(missing, 1.0, rngs(seed, "short", 0..1)).remove(0);
            prop_assert_eq!(plan.len(), missing as usize);
            prop_assert_eq!(spread(&ahead), 0);
        }

        #[test]
        fn used_prefixes_reach_tau(tau in 1_u32..12, batch in 1_u32..6, used in 1_usize..8, seed: u64) {
            // Conversations use prefixes of any length; the unused rest is discarded with the copy.
            let mut real = counts(&[0; 5]);
            let mut played = 0;
            while !real.all_reached(tau) {
                let mut ahead = real.clone();
                let plans = ahead.plan(8, 0.7, rngs(seed, "reach", played..played + batch));
                for (n, plan) in plans.iter().enumerate() {
                    for target in plan.iter().take(1 + (used + n) % 8).flatten() {
                        real.add(target);
                    }
                }
                played += batch;
                prop_assert!(played < 2000, "no end: {real:?}");
            }
            let sum: u32 = real.iter().map(|(_, count)| count).sum();
            prop_assert!(sum >= 5 * tau);
            // Per conversation, a batch puts each dimension ahead by at most one prefix's share.
            prop_assert!(spread(&real) <= 2 * batch + 1, "{real:?}");
        }
    }
}
