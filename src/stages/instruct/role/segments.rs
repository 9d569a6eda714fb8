//! Splits a role's dialogue into segments by the six rules of Appendix C: whole turns only; a minimum length and number
//! of turns; a maximum turn length; a maximum number of segments; a maximum segment length; acts are not boundaries.

use std::collections::BTreeMap;

use rand::seq::SliceRandom as _;

use super::Role;
use crate::schema::{DialogueTurn, Reject, RejectReason, Stage};
use crate::seed::seeded;
use crate::stages::instruct::params::Params;
use crate::text::length;

/// Consecutive turns of a role's dialogue for one call. Adjacent turns may come from different acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its range of rounds, such as `12-20`.
    pub id: String,
    /// Its turns, in order.
    pub turns: Vec<DialogueTurn>,
}

/// The segment id of rows that are based on the description.
pub(in crate::stages::instruct) const DESCRIPTION: &str = "description";

/// Splits a role's dialogue into segments, in order, and rejects what is dropped.
#[must_use]
pub fn segments(params: &Params, role: &Role, seed: u64) -> (Vec<Segment>, Vec<Reject>) {
    let language = role.language;
    let size = |turn: &DialogueTurn| length(&turn.content, language);
    let count = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    let (min_size, max_size) =
        (count(*params.min_segment.get(language)), count(*params.max_segment_words.get(language)));
    let (min_turns, max_turn_size) = (count(params.min_segment_turns), count(*params.max_turn_words.get(language)));
    let mut rejects = Vec::new();
    let (mut segments, mut pending, mut pending_size): (Vec<Segment>, Vec<DialogueTurn>, usize) =
        (Vec::new(), Vec::new(), 0);
    for turn in &role.dialogue {
        let turn_size = size(turn);
        if turn_size > max_turn_size {
            let id = format!("{}/{}", role.id, turn.round);
            let detail =
                format!("a turn of `{}` has a length of {turn_size}, the maximum is {max_turn_size}", turn.role);
            rejects.push(Reject::new(Stage::Instruct, id, RejectReason::LongTurn, detail));
            continue;
        }
        pending.push(turn.clone());
        pending_size += turn_size;
        if pending_size >= min_size && pending.len() >= min_turns {
            segments.push(segment(std::mem::take(&mut pending)));
            pending_size = 0;
        }
    }
    if let Some(last) = segments.last_mut().filter(|_| !pending.is_empty()) {
        // The rest is too short for a segment; if it does not fit into the last one, its turns are dropped.
        let total_size = last.turns.iter().map(size).sum::<usize>() + pending_size;
        if total_size <= max_size {
            last.turns.append(&mut pending);
            *last = segment(std::mem::take(&mut last.turns));
        }
        if !pending.is_empty() {
            let detail = format!("its last {} turns do not fit into the last segment", pending.len());
            rejects.push(Reject::new(Stage::Instruct, &role.id, RejectReason::RestOfDialogue, detail));
        }
    } else if !pending.is_empty() {
        let detail = format!(
            "its {} turns have a length of {pending_size}, but a segment needs {min_turns} turns and a length of {min_size}",
            pending.len()
        );
        rejects.push(Reject::new(Stage::Instruct, &role.id, RejectReason::ShortDialogue, detail));
    }
    for segment in &mut segments {
        let cut = truncate(segment, max_size, size);
        if cut > 0 {
            let detail = format!("its last {cut} turns exceed the maximum length of {max_size}");
            rejects.push(Reject::new(
                Stage::Instruct,
                format!("{}/segment/{}", role.id, segment.id),
                RejectReason::LongSegment,
                detail,
            ));
        }
    }
    // A long round may fill several segments.
    let mut ids: BTreeMap<String, u32> = BTreeMap::new();
    for segment in &mut segments {
        let times = ids.entry(segment.id.clone()).or_default();
        *times += 1;
        if *times > 1 {
            segment.id = format!("{}.{times}", segment.id);
        }
    }
    let max_segments = count(params.max_segments);
    if segments.len() > max_segments {
        let mut indices: Vec<usize> = (0..segments.len()).collect();
        indices.shuffle(&mut seeded(seed, &["instruct", "segments", &role.id]));
        indices.truncate(max_segments);
        indices.sort_unstable();
        let detail = format!("{} of its {} segments were sampled", indices.len(), segments.len());
        rejects.push(Reject::new(Stage::Instruct, &role.id, RejectReason::SegmentsSampled, detail));
        segments = indices.into_iter().map(|index| segments[index].clone()).collect();
    }
    (segments, rejects)
}

fn segment(turns: Vec<DialogueTurn>) -> Segment {
    let (first, last) = (turns.first().map_or(0, |turn| turn.round), turns.last().map_or(0, |turn| turn.round));
    Segment { id: format!("{first}-{last}"), turns }
}

/// Cuts a segment after the last turn within a length, and returns the number of turns removed.
fn truncate(segment: &mut Segment, max_size: usize, size: impl Fn(&DialogueTurn) -> usize) -> usize {
    let mut total = 0;
    let fits = segment.turns.iter().take_while(|turn| {
        total += size(turn);
        total <= max_size
    });
    let fits = fits.count().max(1);
    let cut = segment.turns.len().saturating_sub(fits);
    if cut > 0 {
        segment.turns.truncate(fits);
        *segment = self::segment(std::mem::take(&mut segment.turns));
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::super::tests::{act, role};
    use super::*;
    use crate::schema::{ByLanguage, Language};

    /// Builds a role whose turns have the given lengths; every second turn is its own.
    fn spoken(language: Language, sizes: &[usize]) -> Role {
        let word = if language == Language::En { "word " } else { "字" };
        let (own, other) = if language == Language::En { ("Ann", "Bo") } else { ("阿满", "老周") };
        let lines: Vec<String> = (0..)
            .zip(sizes)
            .map(|(at, size)| format!("{}: {}", if at % 2 == 1 { own } else { other }, word.repeat(*size)))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        role(own, language, &[act(&lines)])
    }

    fn sizes(segments: &[Segment], language: Language) -> Vec<Vec<usize>> {
        let size = |turn: &DialogueTurn| length(&turn.content, language);
        segments.iter().map(|segment| segment.turns.iter().map(size).collect()).collect()
    }

    fn reasons(rejects: &[Reject]) -> Vec<&str> {
        rejects.iter().map(|reject| reject.reason.name()).collect()
    }

    #[test]
    fn appendix_c_rule_1_turns_are_not_cut() {
        let role = spoken(Language::En, &[130; 12]);
        let (segments, rejects) = segments(&Params::default(), &role, 7);
        let turns: Vec<DialogueTurn> = segments.iter().flat_map(|segment| segment.turns.clone()).collect();
        assert_eq!(turns, role.dialogue, "every turn is in exactly one segment, unchanged");
        assert!(rejects.is_empty());
    }

    #[test]
    fn appendix_c_rule_2_a_segment_has_the_minimum_length_and_turns() {
        // Two turns reach 500 words, but four turns need more.
        let role = spoken(Language::En, &[250; 8]);
        assert_eq!(sizes(&segments(&Params::default(), &role, 7).0, Language::En), [[250; 4]; 2]);
        let role = spoken(Language::En, &[100; 14]);
        let found = segments(&Params::default(), &role, 7).0;
        assert_eq!(sizes(&found, Language::En), [vec![100; 5], vec![100; 9]], "the rest is added to the last segment");
        assert_eq!(found[1].id, "2-6");
        let role = spoken(Language::Zh, &[200; 10]);
        assert_eq!(sizes(&segments(&Params::default(), &role, 7).0, Language::Zh), [vec![200; 5], vec![200; 5]]);
        let (none, rejects) = segments(&Params::default(), &spoken(Language::En, &[10; 30]), 7);
        assert_eq!((none.len(), reasons(&rejects)), (0, vec!["short_dialogue"]));
    }

    #[test]
    fn appendix_c_rule_3_a_turn_that_is_too_long_is_dropped() {
        for (language, max_segments) in [(Language::En, 500), (Language::Zh, 500)] {
            let role = spoken(
                language,
                &[max_segments, max_segments, max_segments + 1, max_segments, max_segments, max_segments],
            );
            let (found, rejects) = segments(&Params::default(), &role, 7);
            assert_eq!(reasons(&rejects), ["long_turn", "rest_of_dialogue"], "{language}");
            assert!(sizes(&found, language).concat().iter().all(|size| *size <= max_segments), "{language}");
        }
    }

    #[test]
    fn appendix_c_rule_4_segments_beyond_the_limit_are_sampled() {
        let params = Params { max_segments: 3, ..Params::default() };
        let role = spoken(Language::En, &[125; 40]);
        let (all, _) = segments(&Params::default(), &role, 7);
        let (found, rejects) = segments(&params, &role, 7);
        assert_eq!((all.len(), found.len(), reasons(&rejects)), (10, 3, vec!["segments_sampled"]));
        assert_eq!(segments(&params, &role, 7).0, found, "sampling is deterministic");
        assert!((8..20).any(|seed| segments(&params, &role, seed).0 != found), "another seed samples others");
        assert_eq!(Params::default().max_segments, 100);
    }

    #[test]
    fn appendix_c_rule_5_a_segment_ends_within_the_maximum_length() {
        let params = Params { min_segment_turns: 6, ..Params::default() };
        let role = spoken(Language::En, &[450; 6]);
        let found = segments(&params, &role, 7).0;
        assert_eq!(sizes(&found, Language::En), [vec![450; 4]], "at most 2,000 words, in whole turns");
        let params = Params { max_segment_words: ByLanguage { en: 2_000, zh: 900 }, ..params };
        let found = segments(&params, &spoken(Language::Zh, &[200; 6]), 7).0;
        assert_eq!(sizes(&found, Language::Zh), [vec![200; 4]]);
    }

    #[test]
    fn appendix_c_rule_6_segments_may_span_acts() {
        let long = format!("Bo: {}", "word ".repeat(130));
        let own = format!("Ann: {}", "word ".repeat(130));
        let acts: Vec<_> = (0..4).map(|_| act(&[&long, &own])).collect();
        let found = segments(&Params::default(), &role("Ann", Language::En, &acts), 7).0;
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].turns.iter().map(|turn| turn.act).collect::<Vec<_>>(), [0, 0, 1, 1]);
    }
}
