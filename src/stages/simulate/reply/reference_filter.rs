//! Finds verbatim quotations of a scene's dialogue, so that they can be hidden from participants who must not see it.

use std::collections::{BTreeMap, BTreeSet};

use super::markup::speech;
use crate::schema::{Attribute, Scene};
use crate::text::{is_han, letters_and_digits, sentences, sentences_with_gaps};

/// Minimum length of a match in an example line: 12 letters or 6 Chinese characters. Shorter phrases are common.
const MIN_LINE: usize = 12;
/// Minimum length of a match in an attribute: 20 letters or 10 Chinese characters. It is higher than [`MIN_LINE`] because
/// removing an attribute costs a trait, while removing a line costs one of many examples.
const MIN_ATTRIBUTE: usize = 20;
/// Number of characters by which sentences are indexed; at most `MIN_LINE / 2`, so that every indexed sentence has them.
const KEY_LENGTH: usize = 6;

/// The original dialogue of a scene, ignoring punctuation, case and white space.
#[derive(Debug, Default)]
pub(crate) struct ReferenceFilter {
    /// All speeches.
    speeches: BTreeSet<String>,
    /// All speeches, one per line.
    text: String,
    /// Sentences of at least [`MIN_LINE`] by their first [`KEY_LENGTH`] characters, so that one pass over a text finds them
    /// all.
    sentences: BTreeMap<String, Vec<String>>,
}

impl ReferenceFilter {
    /// Indexes the dialogue of a scene.
    pub(crate) fn new(scene: &Scene) -> Self {
        let mut filter = Self::default();
        for speech_text in scene.dialogue.iter().filter_map(|utterance| utterance.speech.as_deref()) {
            for sentence in sentences(speech_text)
                .into_iter()
                .map(letters_and_digits)
                .filter(|sentence| length(sentence) >= MIN_LINE)
            {
                let key = sentence.chars().take(KEY_LENGTH).collect();
                filter.sentences.entry(key).or_default().push(sentence);
            }
            let speech_text = letters_and_digits(speech_text);
            filter.text.push_str(&speech_text);
            filter.text.push('\n');
            filter.speeches.insert(speech_text);
        }
        filter.speeches.remove("");
        filter
    }

    /// Returns whether a line is a speech of the dialogue, contains one of its sentences or is contained in it.
    pub(crate) fn contains(&self, line: &str) -> bool {
        let spoken = speech(line);
        let full_text = letters_and_digits(&spoken);
        let parts = sentences(&spoken).into_iter().map(letters_and_digits).chain([full_text.clone()]);
        self.speeches.contains(&full_text)
            || self.contains_sentence(&full_text, MIN_LINE)
            || parts.into_iter().any(|part| length(&part) >= MIN_LINE && self.text.contains(&part))
    }

    /// Returns an attribute without the sentences that quote the dialogue. None if nothing is left.
    pub(crate) fn without_quotations(&self, attribute: &Attribute) -> Option<Attribute> {
        let value = &attribute.value;
        let (mut kept, mut all) = (String::new(), 0);
        for (sentence, sentence_with_gap) in sentences_with_gaps(value) {
            // Short quotations, such as a name, may equal a whole speech by chance.
            let is_quotation =
                |quotation: &str| length(&letters_and_digits(quotation)) >= MIN_LINE && self.contains(quotation);
            let quotes = self.contains_sentence(&letters_and_digits(sentence), MIN_ATTRIBUTE)
                || quotations(sentence).any(is_quotation);
            if !quotes {
                kept.push_str(sentence_with_gap);
            }
            all += sentence_with_gap.len();
        }
        if kept.len() == all {
            return Some(attribute.clone());
        }
        let kept = kept.trim();
        (!kept.is_empty()).then(|| Attribute { value: kept.to_owned(), ..attribute.clone() })
    }

    /// Returns whether a normalized text contains a sentence of the dialogue of at least this length.
    fn contains_sentence(&self, text: &str, least: usize) -> bool {
        if self.sentences.is_empty() {
            return false;
        }
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        starts.windows(KEY_LENGTH + 1).any(|window| {
            let rest = &text[window[0]..];
            self.sentences.get(&text[window[0]..window[KEY_LENGTH]]).is_some_and(|sentences| {
                sentences.iter().any(|sentence| length(sentence) >= least && rest.starts_with(sentence.as_str()))
            })
        })
    }
}

/// Returns the length of a normalized text: 1 per letter or digit, 2 per Chinese character.
fn length(text: &str) -> usize {
    text.chars().map(|c| if is_han(c) { 2 } else { 1 }).sum()
}

/// Returns the texts in quotation marks.
fn quotations(text: &str) -> impl Iterator<Item = &str> {
    [('“', '”'), ('"', '"'), ('「', '」'), ('『', '』')].into_iter().flat_map(move |(open, close)| {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (_, inside) = rest.split_once(open)?;
            let (inside, after) = inside.split_once(close)?;
            rest = after;
            Some(inside)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Language, Visibility};
    use crate::stages::simulate::fixtures::{attribute, scene};

    fn filter(language: Language, speeches: &[&str]) -> ReferenceFilter {
        let mut scene = scene(language, "book@0", &["Ann"]);
        scene.dialogue.truncate(1);
        let model = scene.dialogue.remove(0);
        for speech_text in speeches {
            let mut utterance = model.clone();
            utterance.speech = Some((*speech_text).to_owned());
            scene.dialogue.push(utterance);
        }
        ReferenceFilter::new(&scene)
    }

    #[test]
    fn a_line_that_overlaps_the_dialogue_is_removed() {
        let english = filter(Language::En, &["The tide is at four. I'll wait for nobody, sir.", "No."]);
        let chinese = filter(Language::Zh, &["潮水四更才来。船家谁也不等，客官。", "不。"]);
        for (filter, line, expected) in [
            (&english, "The tide is at four. I’ll wait for nobody, sir!", true),
            (&english, "(yawns) The tide is at four.", true),
            (&english, "Listen. The tide is at four, as ever.", true),
            (&english, "I'll wait for nobody, sir. Good night.", true),
            (&english, "wait for nobody", true),
            (&english, "No!", true),
            (&english, "Nobody knows.", false),
            (&english, "The tide is late.", false),
            (&english, "...", false),
            (&chinese, "潮水四更才来！", true),
            (&chinese, "（打哈欠）船家谁也不等，客官。走吧。", true),
            (&chinese, "我说过潮水四更才来的。", true),
            (&chinese, "船家谁也不等", true),
            (&chinese, "不！", true),
            (&chinese, "不急。潮水还早。", false),
        ] {
            assert_eq!(filter.contains(line), expected, "{line}");
        }
        assert!(!filter(Language::En, &[]).contains("The tide is at four."));
    }

    #[test]
    fn an_attribute_loses_only_quoted_sentences() {
        let english = filter(
            Language::En,
            &["I will wait for nobody at all.", "The miller.", "A penny either way, sir.", "Dray!"],
        );
        let chinese = filter(Language::Zh, &["船家从来谁也不等的，客官。", "磨坊主。", "老王！"]);
        for (filter, value, expected) in [
            (&english, "Curt. I will wait for nobody at all! Proud of her boat.", Some("Curt. Proud of her boat.")),
            (&english, "Says “I will wait for nobody at all” to all.", None),
            (&english, "Curt, as in “penny either way”. Proud.", Some("Proud.")),
            (&english, "The miller", Some("The miller")),
            (&english, "They call him “Dray.” Proud.", Some("They call him “Dray.” Proud.")),
            (&english, "Takes a penny either way.", Some("Takes a penny either way.")),
            (&english, "", Some("")),
            (&chinese, "话少。船家从来谁也不等的，客官。爱船。", Some("话少。爱船。")),
            (&chinese, "常说「从来谁也不等的」。", None),
            (&chinese, "磨坊主", Some("磨坊主")),
            (&chinese, "人称「老王」。爱船。", Some("人称「老王」。爱船。")),
        ] {
            let kept = filter.without_quotations(&attribute("speech", value, Visibility::Public));
            assert_eq!(kept.as_ref().map(|kept| kept.value.as_str()), expected, "{value}");
        }
    }
}
