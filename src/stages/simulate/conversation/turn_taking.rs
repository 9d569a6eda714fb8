//! Turn-taking rules: who may speak next. The director chooses within them.

use crate::stages::simulate::Params;

/// Index of the test character in a cast.
pub(crate) const TEST: usize = 0;

/// Minimum number of test turns before the director may end a conversation.
const MIN_TEST_TURNS: usize = 2;

/// The result of the turn-taking rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TurnOptions {
    /// This participant speaks; the director is not asked.
    Forced(usize),
    /// The director decides.
    Choice {
        /// Indices of the participants who may speak, in cast order.
        choices: Vec<usize>,
        /// Whether the conversation may end here.
        may_end: bool,
    },
}

/// Returns who may speak next in a cast of `cast` members, after the speakers `spoken` (cast indices, in order).
///
/// The test character speaks at least once in `test_every` turns and never twice in a row. Nobody speaks three times in
/// a row. The conversation may end after `min_turns` turns, once the test character has spoken twice.
pub(crate) fn turn_options(spoken: &[usize], cast: usize, params: &Params) -> TurnOptions {
    let silent = spoken.iter().rev().take_while(|&&speaker| speaker != TEST).count();
    if spoken.last() != Some(&TEST) && silent + 1 >= params.test_every as usize {
        return TurnOptions::Forced(TEST);
    }
    let choices: Vec<usize> = (0..cast)
        .filter(|&member| {
            let max_turns = if member == TEST { 1 } else { 2 };
            spoken.iter().rev().take_while(|&&speaker| speaker == member).count() < max_turns
        })
        .collect();
    let test_turns = spoken.iter().filter(|&&speaker| speaker == TEST).count();
    let may_end = spoken.len() >= params.min_turns as usize && test_turns >= MIN_TEST_TURNS;
    match choices.as_slice() {
        [only] if !may_end => TurnOptions::Forced(*only),
        _ => TurnOptions::Choice { choices, may_end },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn choice(choices: &[usize], may_end: bool) -> TurnOptions {
        TurnOptions::Choice { choices: choices.to_vec(), may_end }
    }

    #[test]
    fn turn_taking_follows_the_rules() {
        let params = Params { min_turns: 6, test_every: 4, ..Params::default() };
        for (spoken, cast, expected) in [
            (&[][..], 3, choice(&[0, 1, 2], false)),
            // The test character never speaks twice in a row; with two participants only the other one is left.
            (&[0], 3, choice(&[1, 2], false)),
            (&[0], 2, TurnOptions::Forced(1)),
            // Nobody speaks three times in a row.
            (&[0, 1, 1], 3, choice(&[0, 2], false)),
            (&[0, 1, 1], 2, TurnOptions::Forced(0)),
            // The test character speaks every four turns, including the first four.
            (&[1, 2, 1], 3, TurnOptions::Forced(0)),
            (&[0, 1, 2, 1], 3, TurnOptions::Forced(0)),
            // The conversation may end after six turns, two of them of the test character.
            (&[0, 1, 2, 0, 1], 3, choice(&[0, 1, 2], false)),
            (&[0, 1, 2, 0, 1, 2], 3, choice(&[0, 1, 2], true)),
            (&[1, 2, 1, 0, 1, 2], 3, choice(&[0, 1, 2], false)),
            // A single speaker and the end are still two choices.
            (&[0, 1, 0, 1, 1, 0], 2, choice(&[1], true)),
        ] {
            assert_eq!(turn_options(spoken, cast, &params), expected, "{spoken:?}");
        }
    }

    proptest! {
        #[test]
        fn turn_taking_rules_hold_for_any_choices(
            cast in 2_usize..6, test_every in 2_u32..6, picks in prop::collection::vec(any::<prop::sample::Index>(), 40)
        ) {
            let params = Params { test_every, ..Params::default() };
            let mut spoken = Vec::new();
            for pick in picks {
                match turn_options(&spoken, cast, &params) {
                    TurnOptions::Forced(member) => spoken.push(member),
                    TurnOptions::Choice { choices, .. } => {
                        prop_assert!(!choices.is_empty());
                        spoken.push(choices[pick.index(choices.len())]);
                    }
                }
            }
            for window in spoken.windows(test_every as usize) {
                prop_assert!(window.contains(&TEST));
            }
            for pair in spoken.windows(2) {
                prop_assert!(pair != [TEST, TEST]);
            }
            for three in spoken.windows(3) {
                prop_assert!(!(three[0] == three[1] && three[1] == three[2]));
            }
        }
    }
}
