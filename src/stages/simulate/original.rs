//! What a scene's dialogue says word for word, so that it can be kept from whoever is not to see it. Pure; it knows nothing of
//! who that is.

use std::collections::{BTreeMap, BTreeSet};

use super::marks::speech;
use crate::schema::{Attribute, Scene};
use crate::text::{is_han, plain, sentences, stretches};

/// The least of a line that tells the dialogue: twelve letters or six Chinese characters. Less is anybody's.
const LINE: usize = 12;
/// The least of an attribute that does. It is more, as dropping a line costs one example of many and this a trait.
const TRAIT: usize = 20;
/// How many letters a sentence is found by; [`LINE`] has no fewer.
const OPENING: usize = 6;

/// The dialogue of a scene as in the book, marks, case and white space aside.
#[derive(Debug, Default)]
pub(super) struct Original {
    /// Every speech.
    speeches: BTreeSet<String>,
    /// The same on lines of their own.
    text: String,
    /// Every sentence of some length by how it begins, so that looking for all of them takes one walk.
    sentences: BTreeMap<String, Vec<String>>,
}

impl Original {
    /// Reads the dialogue of a scene.
    pub(super) fn new(scene: &Scene) -> Self {
        let mut original = Self::default();
        for said in scene.dialogue.iter().filter_map(|utterance| utterance.speech.as_deref()) {
            for sentence in sentences(said).into_iter().map(plain).filter(|sentence| length(sentence) >= LINE) {
                let opening = sentence.chars().take(OPENING).collect();
                original.sentences.entry(opening).or_default().push(sentence);
            }
            let said = plain(said);
            original.text.push_str(&said);
            original.text.push('\n');
            original.speeches.insert(said);
        }
        original.speeches.remove("");
        original
    }

    /// Says whether a line is a speech of the dialogue, has a sentence of it or stands in it.
    pub(super) fn has(&self, line: &str) -> bool {
        let spoken = speech(line);
        let whole = plain(&spoken);
        let parts = sentences(&spoken).into_iter().map(plain).chain([whole.clone()]);
        self.speeches.contains(&whole)
            || self.is_told_by(&whole, LINE)
            || parts.into_iter().any(|part| length(&part) >= LINE && self.text.contains(&part))
    }

    /// Returns an attribute without the sentences that quote the dialogue; none when nothing is left.
    pub(super) fn kept_from(&self, attribute: &Attribute) -> Option<Attribute> {
        let value = &attribute.value;
        let (mut kept, mut all) = (String::new(), 0);
        for (sentence, stretch) in stretches(value) {
            // A name in quotation marks may be a whole speech too, and is anybody's.
            let told = |quotation: &str| length(&plain(quotation)) >= LINE && self.has(quotation);
            let quotes = self.is_told_by(&plain(sentence), TRAIT) || quotations(sentence).any(told);
            if !quotes {
                kept.push_str(stretch);
            }
            all += stretch.len();
        }
        if kept.len() == all {
            return Some(attribute.clone());
        }
        let kept = kept.trim();
        (!kept.is_empty()).then(|| Attribute { value: kept.to_owned(), ..attribute.clone() })
    }

    /// Says whether a plain text has a sentence of the dialogue that is at least so long.
    fn is_told_by(&self, text: &str, least: usize) -> bool {
        if self.sentences.is_empty() {
            return false;
        }
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        starts.windows(OPENING + 1).any(|window| {
            let rest = &text[window[0]..];
            self.sentences.get(&text[window[0]..window[OPENING]]).is_some_and(|sentences| {
                sentences.iter().any(|sentence| length(sentence) >= least && rest.starts_with(sentence.as_str()))
            })
        })
    }
}

/// Returns how much a plain text tells: a letter or digit, or half a Chinese character.
fn length(plain: &str) -> usize {
    plain.chars().map(|c| if is_han(c) { 2 } else { 1 }).sum()
}

/// Returns what stands in quotation marks.
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

    fn original(language: Language, speeches: &[&str]) -> Original {
        let mut scene = scene(language, "book@0", &["Ann"]);
        scene.dialogue.truncate(1);
        let model = scene.dialogue.remove(0);
        for said in speeches {
            let mut utterance = model.clone();
            utterance.speech = Some((*said).to_owned());
            scene.dialogue.push(utterance);
        }
        Original::new(&scene)
    }

    #[test]
    fn a_line_that_overlaps_the_dialogue_is_of_it() {
        let english = original(Language::En, &["The tide is at four. I'll wait for nobody, sir.", "No."]);
        let chinese = original(Language::Zh, &["潮水四更才来。船家谁也不等，客官。", "不。"]);
        for (original, line, expected) in [
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
            assert_eq!(original.has(line), expected, "{line}");
        }
        assert!(!original(Language::En, &[]).has("The tide is at four."));
    }

    #[test]
    fn an_attribute_loses_what_it_quotes_and_no_more() {
        let english = original(
            Language::En,
            &["I will wait for nobody at all.", "The miller.", "A penny either way, sir.", "Dray!"],
        );
        let chinese = original(Language::Zh, &["船家从来谁也不等的，客官。", "磨坊主。", "老王！"]);
        for (original, value, expected) in [
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
            let kept = original.kept_from(&attribute("speech", value, Visibility::Public));
            assert_eq!(kept.as_ref().map(|kept| kept.value.as_str()), expected, "{value}");
        }
    }
}
