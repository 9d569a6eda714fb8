//! The conversation so far from the view of one participant: the last utterances of others, and what must not be
//! repeated.

use std::collections::BTreeSet;

use super::phrases::is_named;
use super::question_kinds::{QuestionKind, asked};
use super::semantic_fields::fields_of;
use super::word_lists::words_of;
use crate::schema::{Language, Line};
use crate::text::{
    SpeechMarker, Topic, asks, content_words, count_speech_markers, float, is_title, letters_and_digits,
    pair_similarity, pairs, sentences, spoken, topics,
};

/// Minimum similarity at which two utterances count as the same.
const MIN_SIMILARITY: f64 = 0.6;
/// A noun in this many utterances is no longer used as a topic.
const MAX_TOPIC_MENTIONS: usize = 4;
/// Minimum similarity at which two sentences count as the same.
const MIN_SENTENCE_SIMILARITY: f64 = 0.75;

/// The speech act of the previous utterance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeechAct {
    /// Asks a question.
    Question,
    /// Shows anger.
    Anger,
    /// Says goodbye.
    Farewell,
    /// Thanks.
    Thanks,
    /// Greets.
    Greeting,
    /// Anything else, also if nothing was said yet.
    Statement,
}

/// Participants and history, prepared for queries.
#[derive(Debug)]
pub(super) struct ConversationView<'a> {
    pub(super) language: Language,
    /// The participant who speaks next.
    pub(super) name: &'a str,
    /// The other participants.
    pub(super) others: Vec<&'a str>,
    pub(super) situation: &'a str,
    pub(super) history: &'a [Line],
    /// The last utterances of others, at most three, newest first.
    pub(super) recent_lines: Vec<&'a Line>,
    /// The content words of `recent_lines`.
    pub(super) recent_words: Vec<BTreeSet<String>>,
    /// The semantic fields of `recent_lines`, as bit sets.
    pub(super) recent_fields: Vec<u32>,
    /// The kind of question with which the last utterance of another ends, if it does.
    pub(super) question_kind: Option<&'static QuestionKind>,
    spoken_lines: Vec<SpokenLine>,
}

/// An utterance of the history, prepared for comparison.
#[derive(Debug)]
struct SpokenLine {
    /// Whether the participant said it.
    own: bool,
    plain: String,
    /// Its normalized sentences.
    whole_sentences: Vec<String>,
    pairs: Vec<(char, char)>,
    sentences: Vec<Vec<(char, char)>>,
}

impl<'a> ConversationView<'a> {
    /// Prepares the history for one participant.
    pub(super) fn new(
        language: Language,
        name: &'a str,
        others: impl Iterator<Item = &'a str>,
        situation: &'a str,
        history: &'a [Line],
    ) -> Self {
        let recent_lines: Vec<&Line> = history.iter().rev().filter(|line| line.speaker != name).take(3).collect();
        let words: Vec<BTreeSet<String>> =
            recent_lines.iter().map(|line| content_words(spoken(&line.content)).into_iter().collect()).collect();
        Self {
            language,
            name,
            others: others.filter(|other| *other != name).collect(),
            situation,
            history,
            recent_fields: words.iter().map(|words| fields_of(words, language)).collect(),
            recent_words: words,
            question_kind: recent_lines.first().and_then(|line| asked(spoken(&line.content), language)),
            recent_lines,
            spoken_lines: history.iter().map(|line| SpokenLine::new(&line.content, line.speaker == name)).collect(),
        }
    }

    /// Returns the last utterance of another participant; empty at the start.
    pub(super) fn last(&self) -> &'a str {
        self.recent_lines.first().map_or("", |line| spoken(&line.content))
    }

    /// Returns the speaker of [`Self::last`].
    pub(super) fn last_speaker(&self) -> Option<&'a str> {
        self.recent_lines.first().map(|line| line.speaker.as_str())
    }

    /// Returns whether a text answers the question of the last utterance; true if it has none.
    pub(super) fn is_answered(&self, text: &str) -> bool {
        self.question_kind.is_none_or(|kind| kind.is_answered(self.last(), text, self.language))
    }

    /// Returns whether the last utterance asks this participant: it names the participant, or it names nobody else and
    /// follows an utterance of the participant.
    pub(super) fn is_asked(&self) -> bool {
        if self.question_kind.is_none() {
            return false;
        }
        let (last, asker) = (self.last(), self.last_speaker());
        let another = |other: &&str| Some(*other) != asker && mentions(last, other);
        let before = self.history.iter().rev().map(|line| line.speaker.as_str()).find(|name| Some(*name) != asker);
        let is_reply_expected = || before.is_none_or(|before| before == self.name);
        mentions(last, self.name) || (is_reply_expected() && !self.others.iter().any(another))
    }

    /// Returns the speech act of the last utterance.
    pub(super) fn speech_act(&self) -> SpeechAct {
        let last = self.last();
        let shows = |sign| count_speech_markers(last, self.language, sign) > 0;
        if shows(SpeechMarker::Farewell) {
            SpeechAct::Farewell
        } else if asks(last) {
            SpeechAct::Question
        } else if shows(SpeechMarker::Anger) && last.contains(['!', '！']) {
            SpeechAct::Anger
        } else if shows(SpeechMarker::Thanks) {
            SpeechAct::Thanks
        } else if shows(SpeechMarker::Greeting) {
            SpeechAct::Greeting
        } else {
            SpeechAct::Statement
        }
    }

    /// Returns whether a text, or a sentence of it that is long enough to be noticed, was said before.
    pub(super) fn is_repeated(&self, text: &str) -> bool {
        let parts = sentences(text);
        // Two adjacent short sentences are noticed even if each alone is not.
        let twos = parts.windows(2).map(<[&str]>::concat);
        let letters = pairs(&letters_and_digits(spoken(text)));
        self.spoken_lines.iter().any(|line| is_alike(&letters, &line.pairs, MIN_SIMILARITY))
            || parts.iter().any(|sentence| self.is_sentence_repeated(sentence))
            || twos.into_iter().any(|two| self.contains_phrase(&two))
    }

    fn is_sentence_repeated(&self, sentence: &str) -> bool {
        let plain = letters_and_digits(sentence);
        let length = plain.chars().count();
        // A speaker's own sentences must not be repeated even if short, except for a word or two.
        if length * 2 >= self.min_noticed_length()
            && self.spoken_lines.iter().any(|line| line.own && line.whole_sentences.contains(&plain))
        {
            return true;
        }
        let long = length >= self.min_noticed_length();
        let pairs = pairs(&plain);
        long && self.spoken_lines.iter().any(|line| {
            line.plain.contains(&plain)
                || line.sentences.iter().any(|other| is_alike(&pairs, other, MIN_SENTENCE_SIMILARITY))
        })
    }

    /// Returns whether these words, the fixed part of a phrase, occur in the history.
    pub(super) fn contains_phrase(&self, words: &str) -> bool {
        let plain = letters_and_digits(words);
        plain.chars().count() >= self.min_noticed_length().div_ceil(2)
            && self.spoken_lines.iter().any(|line| line.plain.contains(&plain))
    }

    /// Returns the greatest similarity of a text to any utterance of the history.
    pub(super) fn max_similarity(&self, text: &str) -> f64 {
        let pairs = pairs(&letters_and_digits(spoken(text)));
        self.spoken_lines.iter().map(|line| pair_similarity(&pairs, &line.pairs)).fold(0.0, f64::max)
    }

    /// Returns the minimum length, in characters, of a phrase that is noticed when repeated.
    const fn min_noticed_length(&self) -> usize {
        match self.language {
            Language::En => 14,
            Language::Zh => 5,
        }
    }

    /// Returns the things that can be referred to, from the last utterance that has any, without people.
    pub(super) fn topics(&self) -> Vec<Topic> {
        let times = |noun: &str| self.history.iter().filter(|line| line.content.contains(noun)).count();
        let fresh = |topic: &Topic| times(&topic.noun) < MAX_TOPIC_MENTIONS;
        let mentioned_things =
            |line: &&Line| self.mentioned_things(spoken(&line.content)).into_iter().filter(fresh).collect();
        self.recent_lines
            .iter()
            .map(mentioned_things)
            .find(|topics: &Vec<Topic>| !topics.is_empty())
            .unwrap_or_default()
    }

    /// Returns the things that a text mentions, except names of participants and nouns of the engine's own phrases.
    pub(super) fn mentioned_things(&self, text: &str) -> Vec<Topic> {
        let words = words_of(self.language);
        let mut topics = topics(text, self.language);
        let person = |noun: &str| self.people().any(|person| mentions(noun, person) || person.contains(noun));
        topics.retain(|topic| !is_named(&topic.noun, self.language) && !person(&topic.noun));
        if self.language == Language::Zh {
            topics.retain(|topic| !topic.noun.ends_with(&words.time_endings[..]));
        }
        if self.language == Language::En {
            // A thing has an article or possessive and no `of` after it; this excludes `not that alike`, `no good` and
            // `a quarter of an hour`.
            let lower = text.to_lowercase().replace('’', "'");
            let has_determiner = |noun: &str| {
                words.determiners.iter().any(|article| {
                    let phrase = format!("{article} {noun}");
                    lower.match_indices(&phrase).any(|(at, _)| {
                        let before = lower[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
                        let rest = &lower[at + phrase.len()..];
                        before && !rest.starts_with(char::is_alphanumeric) && !rest.starts_with(" of ")
                    })
                })
            };
            // `The lip fills first`: after a noun, a word in -s is more likely a verb than a plural.
            let verb = |noun: &str| noun.contains(' ') && noun.ends_with('s') && !noun.ends_with("ss");
            // `A lady energetic`: a trailing adjective is not a thing.
            let quality = |noun: &str| {
                words.adjective_endings.iter().any(|ending| noun.ends_with(ending.as_str()))
                    || noun
                        .rsplit_once(' ')
                        .is_some_and(|(_, last)| words.words_after_things.iter().any(|word| word == last))
            };
            topics.retain(|topic| has_determiner(&topic.noun) && !verb(&topic.noun) && !quality(&topic.noun));
        }
        topics
    }

    /// Returns all participants.
    pub(super) fn people(&self) -> impl Iterator<Item = &'a str> {
        std::iter::once(self.name).chain(self.others.iter().copied())
    }
}

/// Returns whether two texts have at least this similarity. Texts of very different lengths are not compared.
fn is_alike(a: &[(char, char)], b: &[(char, char)], least: f64) -> bool {
    2.0 * float(a.len().min(b.len())) >= least * float(a.len() + b.len()) && pair_similarity(a, b) >= least
}

impl SpokenLine {
    fn new(content: &str, own: bool) -> Self {
        let speech = spoken(content);
        let plain = letters_and_digits(speech);
        let sentences =
            sentences(speech).into_iter().map(|sentence| pairs(&crate::text::letters_and_digits(sentence))).collect();
        let whole_sentences = crate::text::sentences(speech).into_iter().map(crate::text::letters_and_digits).collect();
        Self { own, pairs: pairs(&plain), plain, whole_sentences, sentences }
    }
}

/// Returns whether a text contains a person's full name or a part of it other than a title.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    if text.contains(name) {
        return true;
    }
    if name.chars().any(crate::text::is_han) {
        let chars: Vec<char> = name.chars().collect();
        let given: String = chars.iter().skip(1).collect();
        // The last two characters of `张先生` are a title, not a given name.
        return chars.len() == 3 && !is_title(&given) && text.contains(&given);
    }
    let lower = text.to_lowercase();
    let words: BTreeSet<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
    name.split_whitespace()
        .filter(|part| part.starts_with(char::is_uppercase) && !is_title(part) && part.chars().count() > 2)
        .any(|part| words.contains(part.to_lowercase().trim_matches(|c: char| !c.is_alphanumeric())))
}

/// Returns the form of address for a name: title and last name, otherwise the first name. None for common nouns.
pub(super) fn form_of_address(name: &str) -> Option<String> {
    if name.chars().any(crate::text::is_han) {
        return (name.chars().count() <= 4).then(|| name.to_owned());
    }
    let parts: Vec<&str> = name.split_whitespace().collect();
    let [first, rest @ ..] = parts.as_slice() else { return None };
    if !first.starts_with(char::is_uppercase) || *first == "The" || *first == "A" || *first == "An" {
        return None;
    }
    let case = |part: &str| {
        if part.chars().count() > 2 && part.chars().all(|c| !c.is_lowercase()) {
            let mut chars = part.chars();
            chars.next().into_iter().chain(chars.flat_map(char::to_lowercase)).collect()
        } else {
            part.to_owned()
        }
    };
    match rest.last() {
        Some(last) if is_title(first) && last.starts_with(char::is_uppercase) => {
            Some(format!("{} {}", case(first), case(last)))
        }
        Some(last) if is_title(first) => Some(format!("{} {last}", case(first))),
        // `Long John` is addressed in full, never as `Long`.
        Some(_) if words_of(Language::En).epithets.contains(&first.to_lowercase()) => Some(parts.join(" ")),
        _ => Some(case(first)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(speaker: &str, content: &str) -> Line {
        Line { speaker: speaker.to_owned(), content: content.to_owned(), is_test: false }
    }

    #[test]
    fn a_question_is_addressed_to_the_named_or_previous_speaker() {
        for (language, [ann, tom, sue], statement, open, named) in [
            (Language::En, ["Ann", "Tom", "Sue"], "The lamp is out.", "Who saw to it?", "Who saw to it, Sue?"),
            (Language::Zh, ["付珂", "马奔", "祁勉"], "灯灭了。", "是谁管的？", "祁勉，是谁管的？"),
        ] {
            let asked = |name: &str, question: &str| {
                let history = [line(ann, statement), line(tom, question)];
                let others = [ann, tom, sue].into_iter().filter(|other| *other != name);
                ConversationView::new(language, name, others, "", &history).is_asked()
            };
            assert!(asked(ann, open) && !asked(sue, open), "{language}");
            assert!(asked(sue, named) && !asked(ann, named), "{language}");
            assert!(!asked(ann, statement), "{language}: it is not a question");
        }
    }

    #[test]
    fn a_topic_mentioned_often_is_exhausted() {
        for (language, statement, topic) in
            [(Language::En, "I saw to the tower book.", "tower book"), (Language::Zh, "账册在我这里。", "账册")]
        {
            let topics = |times: usize| {
                let history = vec![line("Tom", statement); times];
                let conversation = ConversationView::new(language, "Ann", ["Tom"].into_iter(), "", &history);
                conversation.topics().into_iter().map(|topic| topic.noun).collect::<Vec<_>>()
            };
            assert_eq!(topics(1), [topic]);
            assert!(topics(MAX_TOPIC_MENTIONS).is_empty(), "{language}");
        }
    }

    #[test]
    fn predicates_are_not_part_of_a_topic() {
        let conversation = ConversationView::new(Language::En, "Ann", ["Tom"].into_iter(), "", &[]);
        let mentioned_things =
            |text: &str| conversation.mentioned_things(text).into_iter().map(|topic| topic.noun).collect::<Vec<_>>();
        assert!(mentioned_things("It makes my food cold.").is_empty());
        assert!(mentioned_things("It makes a lady energetic.").is_empty());
        assert_eq!(mentioned_things("It is in the cold cellar."), ["cold cellar"]);
    }

    #[test]
    fn people_are_mentioned_by_parts_of_their_names() {
        for (text, name, expected) in [
            ("Row, Dilly.", "Dilly Marl", true),
            ("Mr. Vosper said so.", "Mr. Anselm Vosper", true),
            ("Mr. Apps said so.", "Mr. Anselm Vosper", false),
            ("wickless", "Ludo Wick", false),
            ("慕川，你来。", "聂慕川", true),
            ("温先生", "聂慕川", false),
            ("温先生", "张先生", false),
        ] {
            assert_eq!(mentions(text, name), expected, "{text}");
        }
    }

    #[test]
    fn forms_of_address_follow_the_name() {
        for (name, expected) in [
            ("Mr. Anselm Vosper", Some("Mr. Vosper")),
            ("DORCAS FELL", Some("Dorcas")),
            ("Sergeant Dray", Some("Sergeant Dray")),
            ("Old Ned", Some("Old Ned")),
            ("the girl", None),
            ("祁勉", Some("祁勉")),
        ] {
            assert_eq!(form_of_address(name).as_deref(), expected, "{name}");
        }
    }
}
