//! Counts for the report, and the choice of conversations to show, collected while rows are written. Holds counts and
//! ids, no rows.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng as _;

use crate::schema::{
    Character, CharacterId, CharacterType, Conversation, ConversationId, Language, Sample, SampleId, Scene, Turn,
};
use crate::seed::seeded;

/// The number of conversations that are shown.
const MAX_SHOWN: usize = 10;

/// The numbers of turns with σ = 1 to 5.
pub(super) type Scores = [u64; 5];

/// The counts of the report. Every row of the data set must be added once, in any order.
#[derive(Debug, Default)]
pub struct ReportStatistics {
    seed: u64,
    /// By character id.
    pub(super) characters: BTreeMap<CharacterId, CharacterCounts>,
    /// By name of the source model.
    pub(super) sources: BTreeMap<String, SourceCounts>,
    /// σ of judged turns, by the dimension that the judge named.
    pub(super) dimensions: BTreeMap<String, Scores>,
    pub(super) languages: BTreeMap<Language, LanguageCounts>,
    /// Conversations by number of turns.
    pub(super) lengths: BTreeMap<u64, u64>,
    /// Conversations by quality rating.
    pub(super) qualities: BTreeMap<&'static str, u64>,
    /// Conversations by the reason for their end.
    pub(super) ends: BTreeMap<&'static str, u64>,
    pub(super) orders: OrderCounts,
    /// Faults of the kept replies of test turns, by name.
    pub(super) faults: BTreeMap<&'static str, u64>,
    /// By name of the extra judge.
    pub(super) judges: BTreeMap<String, Agreement>,
    /// References that were edited by hand, by sample id.
    pub(super) edits: BTreeMap<SampleId, EditedReference>,
    choices: BTreeMap<(Language, CharacterId), Vec<DisplayCandidate>>,
}

/// A reference that was edited by hand.
#[derive(Debug)]
pub(super) struct EditedReference {
    /// The reason for the edit.
    pub(super) reason: String,
    /// The new text.
    pub(super) reference: String,
}

/// The counts of a test character.
#[derive(Debug, Default)]
pub(super) struct CharacterCounts {
    pub(super) name: String,
    pub(super) language: Option<Language>,
    pub(super) kind: Option<CharacterType>,
    pub(super) conversations: u64,
    pub(super) kept: u64,
    pub(super) turns: u64,
    /// Samples by dimension.
    pub(super) samples: BTreeMap<String, u64>,
    /// Test turns by target dimension.
    pub(super) targets: BTreeMap<String, u64>,
}

/// The counts of a source model.
#[derive(Debug, Default)]
pub(super) struct SourceCounts {
    pub(super) conversations: u64,
    pub(super) kept: u64,
    pub(super) scores: Scores,
    pub(super) samples: u64,
}

/// The counts of a language.
#[derive(Debug, Default)]
pub(super) struct LanguageCounts {
    pub(super) characters: u64,
    pub(super) scenes: u64,
    pub(super) conversations: u64,
    pub(super) kept: u64,
    pub(super) turns: u64,
    /// σ of judged turns in conversations that passed every filter.
    pub(super) kept_scores: Scores,
    pub(super) samples: BTreeMap<String, u64>,
    /// Scenes by tenths of their grounding; custom scenes have none.
    pub(super) grounding: [u64; 10],
    /// Utterances of scenes by how they were found in the book.
    pub(super) lines: BTreeMap<&'static str, u64>,
}

/// σ by the order in which the judge saw the replies.
#[derive(Debug, Default)]
pub(super) struct OrderCounts {
    pub(super) source_first: Scores,
    pub(super) base_first: Scores,
    /// Turns that were judged in both orders.
    pub(super) both: u64,
    /// Turns with the same σ in both orders.
    pub(super) same: u64,
    /// Turns where one order prefers the source and the other the base.
    pub(super) opposite: u64,
    /// Turns with two equal replies, which were not judged.
    pub(super) equal: u64,
}

/// The agreement of an extra judge with the main judge.
#[derive(Debug, Default)]
pub struct Agreement {
    /// The number of turns that both judged.
    pub turns: u64,
    /// The number of turns for which both named the same dimension.
    pub same_dimension: u64,
    /// The number of turns by σ of the main judge, then σ of the extra judge.
    pub scores: [Scores; 5],
}

impl Agreement {
    /// Returns Cohen's kappa of σ with quadratic weights: 1 for full agreement, 0 for no more agreement than by chance.
    /// Returns `None` if chance agreement is already complete, as when both judges always give the same σ.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    pub fn kappa(&self) -> Option<f64> {
        let rows: Vec<u64> = self.scores.iter().map(|row| row.iter().sum()).collect();
        let columns: Vec<u64> = (0..5).map(|column| self.scores.iter().map(|row| row[column]).sum()).collect();
        let (mut observed, mut chance) = (0.0, 0.0);
        for (one, row) in self.scores.iter().enumerate() {
            for (other, count) in row.iter().enumerate() {
                let weight = (one.abs_diff(other) as f64).powi(2);
                observed += weight * *count as f64;
                chance += weight * rows[one] as f64 * columns[other] as f64 / self.turns.max(1) as f64;
            }
        }
        (chance > 0.0).then(|| 1.0 - observed / chance)
    }
}

/// A conversation that may be shown.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DisplayCandidate {
    is_dropped: bool,
    /// A random number from the seed and the id.
    random_rank: u64,
    id: ConversationId,
    dimensions: BTreeSet<String>,
}

impl ReportStatistics {
    /// Creates empty counts. The seed determines which conversations are shown.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Adds a scene.
    pub fn scene(&mut self, scene: &Scene) {
        let language = self.languages.entry(scene.language).or_default();
        language.scenes += 1;
        if let Some(grounding) = scene.grounding {
            language.grounding[tenth(grounding)] += 1;
        }
        for grounded in scene.dialogue.iter().filter_map(|line| line.grounded) {
            *language.lines.entry(grounded.name()).or_default() += 1;
        }
    }

    /// Adds a test character.
    pub fn character(&mut self, character: &Character) {
        self.languages.entry(character.language).or_default().characters += 1;
        let own = self.characters.entry(character.id.clone()).or_default();
        own.name.clone_from(&character.name);
        (own.language, own.kind) = (Some(character.language), Some(character.kind));
    }

    /// Adds a sample.
    pub fn sample(&mut self, sample: &Sample) {
        let add = |counts: &mut BTreeMap<String, u64>| *counts.entry(sample.dimension.clone()).or_default() += 1;
        add(&mut self.languages.entry(sample.language).or_default().samples);
        add(&mut self.characters.entry(sample.character_id.clone()).or_default().samples);
        self.sources.entry(sample.source_model.clone()).or_default().samples += 1;
        if let Some(reason) = &sample.edit_reason {
            let edited = EditedReference { reason: reason.clone(), reference: sample.reference.clone() };
            self.edits.insert(sample.id.clone(), edited);
        }
    }

    /// Adds a conversation and its turns.
    pub fn conversation(&mut self, conversation: &Conversation) {
        let kept = u64::from(conversation.kept);
        *self.lengths.entry(conversation.turns.len() as u64).or_default() += 1;
        *self.qualities.entry(conversation.quality.map_or("not rated", crate::schema::Quality::name)).or_default() += 1;
        *self.ends.entry(conversation.ended_by.name()).or_default() += 1;
        let language = self.languages.entry(conversation.language).or_default();
        language.conversations += 1;
        language.kept += kept;
        let character = self.characters.entry(conversation.character_id.clone()).or_default();
        character.name.clone_from(&conversation.test_character);
        character.language = Some(conversation.language);
        character.conversations += 1;
        character.kept += kept;
        let source = self.sources.entry(conversation.source_model.clone()).or_default();
        source.conversations += 1;
        source.kept += kept;
        let mut dimensions = BTreeSet::new();
        for turn in &conversation.turns {
            let (Some(score), Some(dimension)) = (turn.score, &turn.dimension) else { continue };
            dimensions.insert(dimension.clone());
            language.turns += 1;
            if conversation.kept {
                add(&mut language.kept_scores, score);
            }
            character.turns += 1;
            if let Some(target) = &turn.target {
                *character.targets.entry(target.clone()).or_default() += 1;
            }
            add(&mut source.scores, score);
            add(self.dimensions.entry(dimension.clone()).or_default(), score);
            self.orders.add(turn);
            for fault in &turn.faults {
                *self.faults.entry(fault.name()).or_default() += 1;
            }
            for verdict in &turn.verdicts {
                let agreement = self.judges.entry(verdict.judge.clone()).or_default();
                agreement.turns += 1;
                agreement.same_dimension += u64::from(verdict.dimension == *dimension);
                if let Some(row) = agreement.scores.get_mut(score_index(score)) {
                    add(row, verdict.score);
                }
            }
        }
        if !dimensions.is_empty() {
            self.choose(conversation, dimensions);
        }
    }

    /// Adds a conversation to the candidates for the report.
    fn choose(&mut self, conversation: &Conversation, dimensions: BTreeSet<String>) {
        let random_rank = seeded(self.seed, &["report", &conversation.id]).next_u64();
        let choice =
            DisplayCandidate { is_dropped: !conversation.kept, random_rank, id: conversation.id.clone(), dimensions };
        let choices = self.choices.entry((conversation.language, conversation.character_id.clone())).or_default();
        let position = choices.partition_point(|other| *other < choice);
        choices.insert(position, choice);
        choices.truncate(MAX_SHOWN);
    }

    /// Returns the ids of the ten conversations to show. Languages and characters take turns. For each character, the
    /// conversation with the most dimensions not yet shown in its language is taken; conversations that passed the
    /// filters come first.
    #[must_use]
    pub fn shown(&self) -> Vec<ConversationId> {
        let mut queues: BTreeMap<Language, LanguageQueue<'_>> = BTreeMap::new();
        for ((language, _), choices) in &self.choices {
            queues.entry(*language).or_default().characters.push(choices.iter().collect());
        }
        for queue in queues.values_mut() {
            queue
                .characters
                .sort_by_key(|choices| choices.first().map(|choice| (choice.is_dropped, choice.random_rank)));
        }
        let mut shown = Vec::new();
        while shown.len() < MAX_SHOWN {
            let before = shown.len();
            for queue in queues.values_mut() {
                if shown.len() < MAX_SHOWN {
                    shown.extend(queue.next());
                }
            }
            if shown.len() == before {
                break;
            }
        }
        shown
    }

    /// Returns the agreement of the extra judges with the main judge, by name.
    #[must_use]
    pub const fn judges(&self) -> &BTreeMap<String, Agreement> {
        &self.judges
    }
}

/// The candidates of one language by character, and the dimensions already shown.
#[derive(Debug, Default)]
struct LanguageQueue<'a> {
    characters: Vec<Vec<&'a DisplayCandidate>>,
    at: usize,
    dimensions: BTreeSet<&'a str>,
}

impl LanguageQueue<'_> {
    fn next(&mut self) -> Option<ConversationId> {
        self.characters.retain(|choices| !choices.is_empty());
        let count = self.characters.len();
        let choices = self.characters.get_mut(self.at.checked_rem(count)?)?;
        let new = |choice: &DisplayCandidate| {
            choice.dimensions.iter().filter(|dimension| !self.dimensions.contains(dimension.as_str())).count()
        };
        // `max_by_key` returns the last of several maxima. In reverse order that is the one with the smallest random
        // number.
        let best = (0..choices.len()).rev().max_by_key(|&at| (!choices[at].is_dropped, new(choices[at])))?;
        let choice = choices.remove(best);
        self.dimensions.extend(choice.dimensions.iter().map(String::as_str));
        self.at += 1;
        Some(choice.id.clone())
    }
}

impl OrderCounts {
    fn add(&mut self, turn: &Turn) {
        let (source_first, base_first) = (turn.score_source_first, turn.score_base_first);
        for (scores, score) in [(&mut self.source_first, source_first), (&mut self.base_first, base_first)] {
            if let Some(score) = score {
                add(scores, score);
            }
        }
        match (source_first, base_first) {
            (None, None) => self.equal += 1,
            (Some(one), Some(other)) => {
                self.both += 1;
                self.same += u64::from(one == other);
                self.opposite += u64::from(one.min(other) < 3 && one.max(other) > 3);
            }
            _ => {}
        }
    }
}

/// Counts a σ; values outside 1 to 5 are ignored.
fn add(scores: &mut Scores, score: u8) {
    if let Some(count) = scores.get_mut(score_index(score)) {
        *count += 1;
    }
}

fn score_index(score: u8) -> usize {
    usize::from(score).wrapping_sub(1)
}

/// Returns the tenth of a share, 0 to 9; a share of 1 is in the last one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is in 0..=1")]
fn tenth(share: f64) -> usize {
    ((share.clamp(0.0, 1.0) * 10.0) as usize).min(9)
}

/// Returns the mean σ, or `None` if there are none.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(super) fn mean(scores: &Scores) -> Option<f64> {
    let count: u64 = scores.iter().sum();
    let sum: u64 = (1..).zip(scores).map(|(score, count)| score * count).sum();
    (count > 0).then(|| sum as f64 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::export::fixture::records;

    fn conversation(id: &str, language: Language, dimension: &str, kept: bool) -> Conversation {
        let mut conversation = records().conversations.remove(0);
        conversation.id = id.into();
        conversation.character_id = id.split('/').next().expect("`split` returns at least one part").into();
        (conversation.language, conversation.kept) = (language, kept);
        for turn in conversation.turns.iter_mut().filter(|turn| turn.dimension.is_some()) {
            turn.dimension = Some(dimension.to_owned());
        }
        conversation
    }

    fn shown(seed: u64, conversations: &[Conversation]) -> Vec<ConversationId> {
        let mut figures = ReportStatistics::new(seed);
        for conversation in conversations {
            figures.conversation(conversation);
        }
        figures.shown()
    }

    #[test]
    fn listed_conversations_are_varied_and_chosen_by_the_seed() {
        let mut all = Vec::new();
        for (language, of_language) in [(Language::En, "en"), (Language::Zh, "zh")] {
            for character in 0..4 {
                for n in 0..6 {
                    let dimension = ["CR", "FR", "RR"][n % 3];
                    all.push(conversation(&format!("{of_language}{character}/a/{n}"), language, dimension, n != 0));
                }
            }
        }
        let ids = shown(7, &all);
        assert_eq!(ids.len(), MAX_SHOWN);
        assert_eq!(ids.iter().filter(|id| id.starts_with("en")).count(), 5, "{ids:?}");
        let characters: BTreeSet<&str> = ids.iter().filter_map(|id| id.split('/').next()).collect();
        assert_eq!(characters.len(), 8, "every character is shown: {ids:?}");
        assert!(ids.iter().all(|id| !id.ends_with("/0")), "no rejected conversation is shown: {ids:?}");
        let dimension =
            |id: &ConversationId| all.iter().find(|one| one.id == *id).and_then(|one| one.turns[1].dimension.clone());
        let first: BTreeSet<_> = ids.iter().filter(|id| id.starts_with("zh")).take(3).map(dimension).collect();
        assert_eq!(first.len(), 3, "new dimensions come first: {ids:?}");
        all.reverse();
        assert_eq!(shown(7, &all), ids, "the order of the input does not matter");
        assert_ne!(shown(8, &all), ids);
    }

    #[test]
    fn a_few_conversations_are_all_listed_except_empty_ones() {
        let mut silent = conversation("zh/a/9", Language::Zh, "CR", true);
        silent.turns.truncate(1);
        let all = [
            silent,
            conversation("en/a/0", Language::En, "CR", false),
            conversation("zh/a/0", Language::Zh, "CR", true),
        ];
        assert_eq!(shown(7, &all), ["en/a/0", "zh/a/0"]);
        assert!(shown(7, &[]).is_empty());
    }

    #[test]
    fn orders_and_judges_are_counted() {
        let mut one = conversation("zh/a/0", Language::Zh, "PA", true);
        let test = one.turns.remove(1);
        let of = |source, base, verdict: (u8, &str)| {
            let mut turn = Turn { score_source_first: source, score_base_first: base, ..test.clone() };
            turn.verdicts[0].score = verdict.0;
            turn.verdicts[0].dimension = verdict.1.to_owned();
            turn
        };
        one.turns = vec![
            of(Some(2), Some(2), (2, "PA")),
            of(Some(1), Some(5), (4, "CR")),
            of(None, Some(2), (2, "PA")),
            Turn { verdicts: vec![], ..of(None, None, (3, "PA")) },
        ];
        let mut figures = ReportStatistics::new(7);
        figures.conversation(&one);
        let OrderCounts { source_first, base_first, both, same, opposite, equal } = figures.orders;
        assert_eq!((source_first, base_first), ([1, 1, 0, 0, 0], [0, 2, 0, 0, 1]));
        assert_eq!((both, same, opposite, equal), (2, 1, 1, 1));
        let agreement = &figures.judges["second"];
        assert_eq!((agreement.turns, agreement.same_dimension), (3, 2));
        assert_eq!(agreement.scores[1], [0, 2, 0, 1, 0]);
    }

    #[test]
    fn kappa_weights_the_distance_between_scores() {
        let agreement = |cells: &[(usize, usize, u64)]| {
            let mut agreement = Agreement::default();
            for &(one, other, count) in cells {
                agreement.scores[one - 1][other - 1] = count;
                agreement.turns += count;
            }
            agreement.kappa().map(|kappa| (kappa * 1000.0).round() / 1000.0)
        };
        assert_eq!(agreement(&[(1, 1, 5), (3, 3, 2), (5, 5, 1)]), Some(1.0));
        assert_eq!(agreement(&[(1, 1, 4), (1, 5, 4), (5, 1, 4), (5, 5, 4)]), Some(0.0));
        // Computed by hand: 2 observed; by chance (weights × rows × columns ÷ 10) 74.2.
        assert_eq!(agreement(&[(1, 1, 4), (1, 2, 1), (4, 5, 1), (5, 5, 4)]), Some(0.973));
        assert_eq!(agreement(&[(3, 3, 9)]), None, "both always give the same σ");
        assert_eq!(agreement(&[]), None);
    }

    #[test]
    fn shares_fall_in_tenths() {
        for (share, expected) in [(0.0, 0), (0.09, 0), (0.1, 1), (0.999, 9), (1.0, 9), (1.5, 9)] {
            assert_eq!(tenth(share), expected, "{share}");
        }
        assert_eq!(mean(&[1, 0, 0, 0, 1]), Some(3.0));
        assert_eq!(mean(&[0; 5]), None);
    }
}
