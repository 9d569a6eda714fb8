//! Scores a speaker's own lines against the conversation.

use std::collections::{BTreeMap, BTreeSet};

use super::conversation::{ConversationView, mentions};
use super::line_candidates::{LineCandidate, length};
use super::semantic_fields::fields_of;
use super::vocatives::bare;
use super::word_lists::{WORD_LISTS, words_of};
use crate::schema::Language;
use crate::text::{
    SpeechMarker, asks, content_words, count_speech_markers, float, is_han, is_sentence_opener, is_title, sentences,
};

/// Bonus for a line that answers the question asked.
const ANSWER_BONUS: f64 = 0.5;
/// Minimum overlap at which a line is related to the conversation.
const MIN_RELATED_OVERLAP: f64 = 0.2;
/// Weight of the overlap with the last utterances.
const OVERLAP_WEIGHT: f64 = 2.0;
/// Weight of a pseudo-random rank of the speaker's lines, which differs between conversations.
const ROTATION_WEIGHT: f64 = 0.7;

/// Scores lines against a conversation.
#[derive(Debug)]
pub(super) struct LineScorer<'a> {
    conversation: &'a ConversationView<'a>,
    /// For each word, the number of the speaker's own lines that contain it.
    counts: BTreeMap<String, usize>,
    lines: usize,
    situation: BTreeSet<String>,
    /// Semantic fields of the situation, as a bit set.
    fields: u32,
    /// Words that have already occurred, so that a line may use them as names.
    known: BTreeSet<String>,
    /// Possible names of absent people whom the speaker knows (Chinese only).
    absent_names: BTreeSet<String>,
    /// Hash that identifies the conversation.
    conversation_hash: u64,
}

impl<'a> LineScorer<'a> {
    /// Prepares the scoring. Counts the words of the speaker's own lines, since a word that occurs in many of them has
    /// little weight.
    pub(super) fn new(conversation: &'a ConversationView<'a>, lines: impl Iterator<Item = &'a str>) -> Self {
        let mut counts = BTreeMap::new();
        let mut total = 0;
        for line in lines {
            total += 1;
            for word in content_words(line).into_iter().collect::<BTreeSet<_>>() {
                *counts.entry(word).or_insert(0) += 1;
            }
        }
        let names = conversation.people().flat_map(str::split_whitespace);
        let spoken = conversation.history.iter().flat_map(|line| line.content.split_whitespace());
        let known = names.chain(spoken).chain(conversation.situation.split_whitespace()).map(bare).collect();
        let situation: BTreeSet<String> = content_words(conversation.situation).into_iter().collect();
        let fields = fields_of(&situation, conversation.language);
        let opening = conversation.history.first().map_or("", |line| line.content.as_str());
        let conversation_hash = hash(hash(SEED, conversation.situation), opening);
        Self {
            conversation,
            counts,
            lines: total,
            situation,
            fields,
            known,
            absent_names: BTreeSet::new(),
            conversation_hash,
        }
    }

    /// Adds the absent people whom the speaker knows, found in the texts on its relations. Lines about them are
    /// penalized unless the conversation names them.
    pub(super) fn with_relations<'b>(mut self, relations: impl Iterator<Item = &'b str>) -> Self {
        if self.conversation.language == Language::Zh {
            self.absent_names = relations.flat_map(|text| absent_names(text, self.conversation)).collect();
        }
        self
    }

    /// Returns the weighted word overlap of a text with the last utterances of others, from 0 to 1.2.
    pub(super) fn overlap(&self, text: &str) -> f64 {
        self.weighted_overlap(&content_words(text).into_iter().collect())
    }

    fn weighted_overlap(&self, words: &BTreeSet<String>) -> f64 {
        let weigh =
            |recent: &BTreeSet<String>| words.intersection(recent).map(|word| self.word_weight(word)).sum::<f64>();
        let recent: f64 = self
            .conversation
            .recent_words
            .iter()
            .zip([1.0, 0.5, 0.25])
            .map(|(recent, part)| part * weigh(recent))
            .sum();
        // At the start, the situation is the only thing to refer to.
        let situation_weight = if self.conversation.history.len() < 3 { 0.4 } else { 0.15 };
        ((recent + situation_weight * weigh(&self.situation)) / (3.0 + 0.1 * float(words.len()))).min(1.2)
    }

    fn word_weight(&self, word: &str) -> f64 {
        let count = self.counts.get(word).copied().unwrap_or(0);
        (1.0 + float(self.lines) / float(1 + count)).ln()
    }

    /// Scores how well a candidate responds to the previous utterance, without regard to a dimension.
    pub(super) fn fit(&self, candidate: &LineCandidate) -> f64 {
        let text = candidate.text.as_str();
        let language = self.conversation.language;
        let content: BTreeSet<String> = content_words(text).into_iter().collect();
        let mut fit = OVERLAP_WEIGHT * self.weighted_overlap(&content)
            + self.field_overlap(fields_of(&content, language))
            + self.rotation(text);
        let shows = |sign| count_speech_markers(text, language, sign) > 0;
        let last = self.conversation.last();
        if asks(last) {
            let wants = |sign| count_speech_markers(last, language, sign) > 0;
            fit += if wants(SpeechMarker::Why) && shows(SpeechMarker::Reason)
                || wants(SpeechMarker::World) && shows(SpeechMarker::Fact)
            {
                0.25
            } else {
                0.0
            };
            let asked = self.conversation.is_asked();
            fit += match asks(text) {
                true if asked => -0.5,
                true => -0.2,
                false => 0.1,
            };
            if asked && self.conversation.is_answered(text) {
                fit += ANSWER_BONUS;
            }
        } else if begins_like_an_answer(text, language) {
            fit -= 0.4;
        }
        fit -= if candidate.lost_vocative { 0.25 } else { 0.0 };
        // The point of a line often comes last.
        fit -= if candidate.cut { 0.2 } else { 0.0 };
        fit -= if candidate.later || !is_fragment(text, language) { 0.0 } else { 0.35 };
        let words = length(text);
        fit += if (5..=32).contains(&words) { 0.15 } else { -0.15 };
        fit -= match candidate.later {
            true if depends_on_previous_part(text) => 0.35,
            true => 0.1,
            false => 0.0,
        };
        fit - 0.3 * float(self.count_unknown_names(text).min(2))
            - 0.22 * float(self.count_dangling_references(text).min(3))
    }

    /// Returns whether a text shares words or a semantic field with the last utterances.
    pub(super) fn is_related(&self, text: &str) -> bool {
        let words: BTreeSet<String> = content_words(text).into_iter().collect();
        let recent = self.conversation.recent_fields.first().copied().unwrap_or(0);
        self.weighted_overlap(&words) >= MIN_RELATED_OVERLAP
            || fields_of(&words, self.conversation.language) & recent != 0
    }

    /// Returns the overlap in semantic fields with the conversation, from 0 to 0.4.
    fn field_overlap(&self, fields: u32) -> f64 {
        let meets = |others: u32, part: f64| part * f64::from((fields & others).count_ones());
        let recent =
            self.conversation.recent_fields.iter().zip([0.18, 0.1, 0.05]).map(|(recent, part)| meets(*recent, part));
        (recent.sum::<f64>() + meets(self.fields, 0.04)).min(0.4)
    }

    /// Returns a pseudo-random rank of a line in this conversation, so that the same lines do not win in every one.
    fn rotation(&self, text: &str) -> f64 {
        // Only the beginning counts, so that all candidates from a line's beginning have the same rank.
        let head: String = text.chars().take(8).collect();
        ROTATION_WEIGHT * f64::from(u16::try_from(hash(self.conversation_hash, &head) >> 48).unwrap_or_default())
            / f64::from(u16::MAX)
    }

    /// Counts references to something not present: `It’s three fingers`, `Hold his foot`, `the bailer` from elsewhere.
    fn count_dangling_references(&self, text: &str) -> usize {
        let heads = sentences(text).into_iter().filter(|sentence| self.opens_with_dangling_reference(sentence)).count();
        let things = self.conversation.mentioned_things(text);
        // Things that were already mentioned are known to the listeners.
        let foreign = things.iter().filter(|thing| {
            let words: Vec<String> = content_words(&thing.noun);
            !words.iter().any(|word| {
                self.situation.contains(word)
                    || self.conversation.recent_words.iter().any(|recent| recent.contains(word))
            })
        });
        heads + foreign.count().div_ceil(2) + usize::from(self.refers_to_unnamed_person(text))
    }

    /// Returns whether a text refers to a third person whom neither it nor the previous utterance names.
    fn refers_to_unnamed_person(&self, text: &str) -> bool {
        let pronouns = &words_of(self.conversation.language).third_person;
        let third = |text: &str| match self.conversation.language {
            Language::En => {
                text.split(|c: char| !c.is_alphanumeric()).any(|word| pronouns.contains(&word.to_lowercase()))
            }
            Language::Zh => pronouns.iter().any(|pronoun| text.contains(pronoun.as_str())),
        };
        let named = |text: &str| {
            third(text)
                || self.conversation.people().any(|person| person != self.conversation.name && mentions(text, person))
        };
        third(text)
            && !named(self.conversation.last())
            && !self.conversation.people().any(|person| mentions(text, person))
            && self.count_unknown_names(text) == 0
    }

    /// Returns whether a sentence begins with a reference that only its original context explains: a pronoun without
    /// antecedent, or a title that no one present has.
    fn opens_with_dangling_reference(&self, sentence: &str) -> bool {
        let openers = &words_of(self.conversation.language).context_openers;
        match self.conversation.language {
            Language::En => {
                let word = sentence.split_whitespace().next().unwrap_or_default().to_lowercase().replace('’', "'");
                let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
                openers.iter().any(|opener| opener == word)
            }
            Language::Zh => {
                let head: String = sentence.chars().take(4).collect();
                let called = (2..=4).any(|length| {
                    let head: String = head.chars().take(length).collect();
                    head.chars().count() == length
                        && is_title(&head)
                        && !self.conversation.people().any(|person| mentions(&head, person) || person.contains(&head))
                });
                called || openers.iter().any(|opener| sentence.starts_with(opener.as_str()))
            }
        }
    }

    /// Counts the names in a text that have not occurred in the conversation.
    fn count_unknown_names(&self, text: &str) -> usize {
        if self.conversation.language == Language::Zh {
            return self.absent_names.iter().filter(|name| text.contains(name.as_str())).count();
        }
        sentences(text)
            .into_iter()
            .flat_map(|sentence| sentence.split_whitespace().skip(1))
            .filter(|word| {
                word.starts_with(char::is_uppercase) && !is_sentence_opener(bare(word).as_str()) && !is_title(word)
            })
            .filter(|word| !self.known.contains(&bare(word)))
            .count()
    }

    /// Scores how well a text shows a dimension; 0 for codes other than the five shipped ones.
    pub(super) fn dimension_score(&self, text: &str, code: &str) -> f64 {
        let count = |sign| float(count_speech_markers(text, self.conversation.language, sign).min(3));
        match code {
            "CR" => 0.8 * self.overlap(text) + 0.15 * count(SpeechMarker::Recall),
            "FR" => 0.18 * count(SpeechMarker::Fact),
            "RR" => 0.2 * count(SpeechMarker::Reason),
            "CA" => f64::from(u8::from(asks(text))) * 0.35 + 0.08 * count(SpeechMarker::Turn),
            "PA" => 0.22 * count(SpeechMarker::Feeling),
            _ => 0.0,
        }
    }
}

/// Returns possible names of absent people in a Chinese text: runs of three characters, none of them a common one.
fn absent_names(text: &str, conversation: &ConversationView<'_>) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let names = chars.windows(3).filter(|three| three.iter().all(|c| is_han(*c)));
    let names = names.map(|three| three.iter().collect::<String>()).filter(|three| content_words(three).len() > 1);
    let here = |name: &String| {
        conversation.people().any(|person| person.contains(name.as_str()) || name.contains(person))
            || conversation.situation.contains(name)
    };
    names
        .filter(|name| !here(name) && !conversation.history.iter().any(|line| line.content.contains(name.as_str())))
        .collect()
}

/// Returns whether a text begins with a word that only begins answers.
fn begins_like_an_answer(text: &str, language: Language) -> bool {
    let head = text.split([',', '.', '!', '?', '，', '。', '！', '？', '…']).next().unwrap_or_default().trim();
    let opener = match language {
        Language::En => head.split_whitespace().next().unwrap_or_default().to_lowercase(),
        Language::Zh => head.to_owned(),
    };
    words_of(language).answer_openers.contains(&opener)
}

/// Returns whether a text begins with a fragment that depends on a preceding sentence.
fn is_fragment(text: &str, language: Language) -> bool {
    let parts = sentences(text);
    let Some(first) = parts.first().filter(|first| !asks(first)) else { return false };
    match language {
        Language::En => {
            let head = first.split_whitespace().next().unwrap_or_default().to_lowercase();
            let depends = words_of(language).fragment_openers.iter().any(|opener| opener == head.trim_matches(','));
            length(first) < 3 || (depends && !first.contains([',', ';']))
        }
        Language::Zh => first.chars().filter(|c| is_han(*c)).count() < 4,
    }
}

/// The FNV-1a offset basis.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// Hashes a text with FNV-1a from `seed` and mixes the result; good enough to order a few dozen lines.
fn hash(seed: u64, text: &str) -> u64 {
    let all = text.bytes().fold(seed, |all, byte| (all ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let all = (all ^ (all >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    all ^ (all >> 32)
}

/// Returns whether a part of a line depends on the part before it: its first sentence has one or two words, or it
/// begins with a conjunction.
fn depends_on_previous_part(text: &str) -> bool {
    let scrap = sentences(text).first().is_some_and(|first| length(first) < 3);
    scrap || WORD_LISTS.conjunctions.iter().any(|conjunction| text.starts_with(conjunction.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits_of(language: Language, spoken: &str, lines: &[&str]) -> Vec<f64> {
        let history = [crate::schema::Line { speaker: "Y".to_owned(), content: spoken.to_owned(), is_test: false }];
        let conversation = ConversationView::new(language, "X", ["Y"].into_iter(), "", &history);
        let scorer = LineScorer::new(&conversation, lines.iter().copied());
        let candidate = |text: &str| LineCandidate {
            text: text.to_owned(),
            line: 0,
            later: false,
            cut: false,
            lost_vocative: false,
        };
        // The pseudo-random rank is subtracted, as it may hide the difference.
        lines.iter().map(|line| scorer.fit(&candidate(line)) - scorer.rotation(line)).collect()
    }

    #[test]
    fn relevant_lines_rank_first_and_answers_follow_questions() {
        for (language, spoken, better, worse) in [
            (
                Language::En,
                "They sold him for forty pounds.",
                "I find it dear, for a bed as narrow as mine.",
                "I grow herbs in pots that others throw away.",
            ),
            (
                Language::En,
                "The lamp upstairs has gone out.",
                "I find that a good hand is a rare thing.",
                "No, I find that a good hand is a rare thing.",
            ),
            (
                Language::En,
                "The lamp upstairs has gone out.",
                "I left the stairs as clean as anybody could.",
                "Up the stairs as clean as anybody could.",
            ),
            (Language::Zh, "这三十两银子是谁出的呢。", "我那笔账，到今日还没有算清。", "我那张琴，到今日还没有修好。"),
            (Language::Zh, "楼上的灯灭了。", "手艺好的人，如今难得了。", "不，手艺好的人，如今难得了。"),
            (Language::Zh, "楼上的灯灭了。", "这一带手艺好的人，难得。", "歇。这一带手艺好的人，难得。"),
        ] {
            let fits = fits_of(language, spoken, &[better, worse]);
            assert!(fits[0] > fits[1] + 0.1, "{better} {worse} {fits:?}");
        }
    }

    #[test]
    fn different_conversations_start_with_different_lines() {
        for (language, lines) in [
            (Language::En, ["I row.", "I count.", "I wait.", "I mend."]),
            (Language::Zh, ["我划船。", "我算账。", "我等着。", "我修补。"]),
        ] {
            let first = |situation: &str| {
                let conversation = ConversationView::new(language, "X", ["Y"].into_iter(), situation, &[]);
                let scorer = LineScorer::new(&conversation, lines.iter().copied());
                lines.into_iter().max_by(|a, b| scorer.rotation(a).total_cmp(&scorer.rotation(b)))
            };
            let chosen: BTreeSet<_> = (0..20).map(|scene| first(&format!("{scene}"))).collect();
            assert!(chosen.len() > 2, "{chosen:?}");
            assert_eq!(first("1"), first("1"));
        }
    }

    #[test]
    fn absent_people_differ_from_participants() {
        let history =
            [crate::schema::Line {
                speaker: "乙".to_owned(), content: "邬小满来过。".to_owned(), is_test: false
            }];
        let conversation = ConversationView::new(Language::Zh, "甲", ["祁勉堂"].into_iter(), "", &history);
        let scorer = LineScorer::new(&conversation, std::iter::empty())
            .with_relations(["信服祁勉堂，怕聂崇礼，疼邬小满。"].into_iter());
        assert_eq!(scorer.count_unknown_names("聂崇礼不会答应的。"), 1);
        assert_eq!(scorer.count_unknown_names("祁勉堂不会答应的，邬小满也不会。"), 0);
    }
}
