//! An answer becomes scenes: names made one, lines found in the book, what cannot stand rejected. Asks no model.

use std::collections::BTreeSet;

use super::Params;
use super::asks::{DescribeScene, FoundLine, FoundScene, FoundScenes, SceneDescription};
use super::facts::BookFacts;
use super::grounding::Ground;
use super::lexicon::Key;
use crate::schema::{Attribute, Chunk, Motivation, Reject, Scene, SceneCharacter, Utterance, slug};
use crate::text::is_han;

/// A scene before it is described.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub(super) chapter: String,
    /// The stretch of text that it plays in.
    pub(super) stretch: (u32, u32),
    pub(super) summary: String,
    pub(super) characters: Vec<String>,
    pub(super) dialogue: Vec<Utterance>,
    pub(super) continues: bool,
    pub(super) unfinished: bool,
}

impl Draft {
    /// Where its first line of speech that was found begins, else its stretch.
    pub(super) fn start(&self) -> u32 {
        self.dialogue.iter().find_map(|line| line.start).unwrap_or(self.stretch.0)
    }

    /// Where the last line of speech that was found ends, else its stretch.
    pub(super) fn end(&self) -> u32 {
        self.dialogue.iter().filter_map(|line| line.end).max().unwrap_or(self.stretch.1)
    }

    pub(super) fn id(&self, book: &BookFacts) -> String {
        format!("{}@{}", book.slug, self.start())
    }

    /// The share of its speeches that were found.
    pub(super) fn grounding(&self) -> f64 {
        let speeches = self.dialogue.iter().filter(|line| line.speech.is_some());
        let (mut all, mut found) = (0_u32, 0_u32);
        for line in speeches {
            all += 1;
            found += u32::from(line.start.is_some());
        }
        if all == 0 { 0.0 } else { f64::from(found) / f64::from(all) }
    }

    /// Who speaks, each once, in order.
    pub(super) fn speakers(&self) -> Vec<&str> {
        let mut speakers: Vec<&str> = Vec::new();
        for line in self.dialogue.iter().filter(|line| line.speech.is_some() && line.speaker != Utterance::ENVIRONMENT)
        {
            if !speakers.contains(&line.speaker.as_str()) {
                speakers.push(&line.speaker);
            }
        }
        speakers
    }

    /// Adds the part of the scene that stands in the next stretch.
    pub(super) fn join(&mut self, rest: Self, blank: &str) {
        self.stretch.1 = rest.stretch.1;
        self.summary = format!("{}{blank}{}", self.summary, rest.summary);
        for name in rest.characters {
            if !self.characters.contains(&name) {
                self.characters.push(name);
            }
        }
        self.dialogue.extend(rest.dialogue);
        self.unfinished = rest.unfinished;
    }

    /// Says why it cannot be a scene, when it cannot.
    pub(super) fn fault(&self, params: &Params, book: &BookFacts) -> Option<Reject> {
        let reject = |reason, detail: String| Some(Reject::new("extract", self.id(book), reason, detail));
        let lines = self.dialogue.iter().filter(|line| line.speech.is_some()).count();
        let speakers = self.speakers();
        let grounding = self.grounding();
        if lines == 0 {
            return reject("no_dialogue", "nobody speaks in it".to_owned());
        }
        // An invented scene is told from a short one first: its other figures mean nothing.
        if grounding < params.min_grounding {
            let found = self.dialogue.iter().filter(|line| line.start.is_some()).count();
            let detail = format!(
                "{found} of {lines} lines of speech stand in the book, {:.2} are asked for",
                params.min_grounding
            );
            return reject("ungrounded", detail);
        }
        if lines < params.min_utterances as usize {
            return reject("too_short", format!("{lines} lines of speech, {} are asked for", params.min_utterances));
        }
        if speakers.len() < 2 {
            return reject(
                "one_speaker",
                format!("only {} speaks in its {lines} lines", speakers.first().unwrap_or(&"nobody")),
            );
        }
        None
    }
}

/// Reads an answer as drafts, in its order.
pub(super) fn drafts(
    answer: FoundScenes,
    params: &Params,
    book: &BookFacts,
    chunk: &Chunk,
    ground: &Ground,
) -> Vec<Draft> {
    let mut after = chunk.start;
    answer
        .scenes
        .into_iter()
        .map(|scene| {
            let draft = draft(scene, params, book, chunk, ground, after);
            after = draft.end().max(after);
            draft
        })
        .collect()
}

fn draft(scene: FoundScene, params: &Params, book: &BookFacts, chunk: &Chunk, ground: &Ground, after: u32) -> Draft {
    let mut cursor = after;
    let mut dialogue = Vec::with_capacity(scene.dialogue.len());
    for line in scene.dialogue {
        if let Some(utterance) = utterance(line, params, book, ground, cursor) {
            cursor = utterance.end.unwrap_or(cursor);
            dialogue.push(utterance);
        }
    }
    let mut characters: Vec<String> = Vec::new();
    let speakers = dialogue.iter().map(|line: &Utterance| line.speaker.clone());
    for name in speakers.chain(scene.characters.iter().map(|name| canonical(name, book))) {
        if name != Utterance::ENVIRONMENT && !name.is_empty() && !characters.contains(&name) {
            characters.push(name);
        }
    }
    let edge = |words: &str, from: u32| ground.find(words, from, params.min_similarity).place;
    let first = dialogue.iter().find_map(|line| line.start);
    let last = dialogue.iter().filter_map(|line| line.end).max();
    let begun =
        edge(&scene.first_words, after).map(|place| place.0).filter(|start| first.is_none_or(|first| *start <= first));
    let ended = edge(&scene.last_words, last.unwrap_or(after))
        .map(|place| place.1)
        .filter(|end| last.is_none_or(|last| *end >= last));
    let start = begun.or(first).unwrap_or(after.min(chunk.end));
    let end = ended.or(last).unwrap_or(chunk.end).max(start);
    // The marks that close the last words are no part of what was looked for.
    let marks = book.slice(end, end + 4).chars().take_while(|c| !c.is_alphanumeric() && !c.is_whitespace()).count();
    let end = end + u32::try_from(marks).unwrap_or(0);
    let place = first.unwrap_or(start);
    let heading = chunk.headings.iter().rev().find(|(offset, _)| *offset <= place).map(|(_, title)| title.clone());
    Draft {
        chapter: heading.unwrap_or_else(|| chunk.chapter.clone()),
        stretch: (start, end),
        summary: scene.summary.trim().to_owned(),
        characters,
        dialogue,
        continues: scene.continues,
        unfinished: scene.unfinished,
    }
}

/// Grounds a line; `None` when it has no speaker or says, does and thinks nothing.
fn utterance(line: FoundLine, params: &Params, book: &BookFacts, ground: &Ground, after: u32) -> Option<Utterance> {
    let clean = |text: Option<String>, marks: &[char]| {
        let text = text?;
        let text = text.trim().trim_matches(marks).trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let speaker = canonical(&line.speaker, book);
    let thought = clean(line.thought, &['[', ']', '【', '】']);
    let action = clean(line.action, &['(', ')', '（', '）', '*']);
    let speech = clean(line.speech.as_deref().map(|speech| unquoted(speech).to_owned()), &[]);
    if speaker.is_empty() || (thought.is_none() && action.is_none() && speech.is_none()) {
        return None;
    }
    let found = speech.as_ref().map(|speech| ground.find(speech, after, params.min_similarity));
    let place = found.and_then(|found| found.place);
    Some(Utterance {
        speaker,
        thought,
        action,
        speech,
        start: place.map(|place| place.0),
        end: place.map(|place| place.1),
        grounded: found.map(|found| found.grounded),
        similarity: found.map(|found| round(found.similarity)),
    })
}

/// Takes off the quotation marks round a whole speech and those at its ends that have no partner; pairs within it stay.
fn unquoted(speech: &str) -> &str {
    let mut speech = speech.trim();
    loop {
        let mut shorter = speech;
        for (open, shut) in [('“', '”'), ('「', '」'), ('『', '』'), ('"', '"')] {
            let opens = speech.matches(open).count();
            let shuts = if open == shut { 0 } else { speech.matches(shut).count() };
            let inner = speech.strip_prefix(open).and_then(|rest| rest.strip_suffix(shut));
            let whole = inner.filter(|inner| !inner.contains([open, shut]));
            shorter = match whole {
                Some(inner) => inner,
                None if open == shut && opens.is_multiple_of(2) => continue,
                None if opens > shuts && speech.starts_with(open) => &speech[open.len_utf8()..],
                None if (shuts > opens || open == shut) && speech.ends_with(shut) => {
                    &speech[..speech.len() - shut.len_utf8()]
                }
                None => continue,
            };
            break;
        }
        if shorter.len() == speech.len() {
            return speech;
        }
        speech = shorter.trim();
    }
}

/// Three decimals: more would only tell one machine's arithmetic from another's.
fn round(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

/// Returns the name that the book uses for whoever is meant.
pub(super) fn canonical(name: &str, book: &BookFacts) -> String {
    let name = name.trim().trim_matches(['“', '”', '"', '*']).trim();
    if name.eq_ignore_ascii_case(Utterance::ENVIRONMENT) || matches!(name, "环境" | "環境" | "旁白" | "Narrator")
    {
        return Utterance::ENVIRONMENT.to_owned();
    }
    book.owner(name).map_or_else(|| name.to_owned(), |person| book.person(person).name.clone())
}

/// Returns the one of the cast whom a name means: by the book's names for them, else the only one whose name holds that name
/// or is held by it, as a model writes `Darcy` for `Mr. Darcy` and `黛玉（颦儿）` for `林黛玉`.
fn meant<'a>(name: &str, ask: &'a DescribeScene, book: &BookFacts) -> Option<&'a str> {
    let name = name.split(['(', '（']).next().unwrap_or_default();
    let exact = canonical(name, book);
    let own = ask.cast.iter().map(|member| member.name.as_str());
    if let Some(member) = own.clone().find(|member| *member == exact) {
        return Some(member);
    }
    if book.owner(&exact).is_some() {
        return None;
    }
    let name = slug(name);
    let within = |part: &str, whole: &str| {
        if part.chars().all(is_han) {
            part.chars().count() > 1 && whole.contains(part)
        } else {
            format!("-{whole}-").contains(&format!("-{part}-"))
        }
    };
    let mut like = own.filter(|member| {
        let member = slug(member);
        within(&name, &member) || within(&member, &name)
    });
    like.next().filter(|_| like.next().is_none())
}

/// Returns whom a description tells of though the scene's cast does not have them, each once, in order.
pub(super) fn strangers<'a>(ask: &DescribeScene, answer: &'a SceneDescription, book: &BookFacts) -> Vec<&'a str> {
    let motivations = answer.motivations.iter().map(|motivation| motivation.character.as_str());
    let told = motivations.chain(answer.profiles.iter().map(|profile| profile.character.as_str()));
    let mut seen = BTreeSet::new();
    told.filter(|name| meant(name, ask, book).is_none() && seen.insert(*name)).collect()
}

/// Makes a scene of a draft and its description. Of a profile each key stands once; what is known and not told anew stays.
pub(super) fn scene(
    draft: Draft,
    ask: &DescribeScene,
    answer: &SceneDescription,
    book: &BookFacts,
    model: &str,
) -> Scene {
    let told = |name: &str| {
        let profiles = answer.profiles.iter().filter(|profile| meant(&profile.character, ask, book) == Some(name));
        profiles.flat_map(|profile| profile.attributes.iter()).collect::<Vec<_>>()
    };
    let characters = ask
        .cast
        .iter()
        .map(|member| SceneCharacter {
            name: member.name.clone(),
            aliases: member.aliases.clone(),
            profile: profile(&told(&member.name), &member.known, book),
        })
        .collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let motivations = answer
        .motivations
        .iter()
        .filter_map(|motivation| {
            let character = meant(&motivation.character, ask, book)?.to_owned();
            Some(Motivation { character, motivation: motivation.motivation.trim().to_owned() })
        })
        .filter(|motivation| !motivation.motivation.is_empty() && seen.insert(motivation.character.clone()))
        .collect();
    Scene {
        id: draft.id(book),
        book: book.slug.clone(),
        language: book.language,
        start: Some(draft.start()),
        end: Some(draft.end()),
        grounding: Some(round(draft.grounding())),
        chapter: draft.chapter,
        summary: draft.summary,
        prominence: None,
        worldview: answer.worldview.trim().to_owned(),
        situation: answer.situation.trim().to_owned(),
        motivations,
        characters,
        dialogue: draft.dialogue,
        model: Some(model.to_owned()),
    }
}

fn profile(told: &[&Attribute], known: &[Attribute], book: &BookFacts) -> Vec<Attribute> {
    let mut profile: Vec<Attribute> = Vec::new();
    for attribute in told.iter().copied().chain(known) {
        let key = Key::of(&attribute.key);
        let word = key.map_or_else(|| attribute.key.trim().to_owned(), |key| key.word(book.language).to_owned());
        let value = attribute.value.trim();
        if word.is_empty() || value.is_empty() || profile.iter().any(|before| before.key == word) {
            continue;
        }
        // The paper's keys have the paper's visibility, whatever a model says of them.
        let visibility = key.map_or(attribute.visibility, Key::visibility);
        profile.push(Attribute { key: word, value: value.to_owned(), visibility });
    }
    profile.sort_by_key(|attribute| Key::of(&attribute.key));
    // Keys of a model's own come last, not first.
    let own = profile.iter().take_while(|attribute| Key::of(&attribute.key).is_none()).count();
    profile.rotate_left(own);
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marks_without_a_partner_and_those_round_it_all_leave_a_speech() {
        for (speech, expected) in [
            ("“Row on.”", "Row on."),
            ("“Row on.", "Row on."),
            ("Row on.”", "Row on."),
            ("\"Row on.\"", "Row on."),
            ("She wrote “row.”", "She wrote “row.”"),
            ("“Row,” it says. I will.", "“Row,” it says. I will."),
            ("“Row,” it says, “on.”", "“Row,” it says, “on.”"),
            ("「划罢。」", "划罢。"),
            ("他写的是“划”。”", "他写的是“划”。"),
        ] {
            assert_eq!(unquoted(speech), expected);
        }
    }
}
