//! Turns an answer into scenes: resolves names, finds utterances in the book, rejects what is invalid. Calls no model.

use std::collections::BTreeSet;

use super::Params;
use super::answer_checks::{is_foreign, is_foreign_phrase};
use super::asks::{DescribeScene, FoundLine, FoundScene, FoundScenes, SceneDescription};
use super::book_index::BookFacts;
use super::grounding::{Ground, Taken};
use super::lexicon::Key;
use super::naming::{canonical, known};
use crate::schema::{
    Attribute, Chunk, Grounded, Language, Motivation, Reject, RejectReason, Scene, SceneCharacter, Stage, Utterance,
    slug,
};
use crate::text::is_han;

/// A scene before its description.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    pub(super) chapter: String,
    /// The range of its text, in code points of the book.
    pub(super) stretch: (u32, u32),
    pub(super) summary: String,
    pub(super) prominence: Option<u8>,
    pub(super) characters: Vec<String>,
    pub(super) dialogue: Vec<Utterance>,
    pub(super) continues: bool,
    pub(super) unfinished: bool,
    /// The number of dropped utterances that are not in the book.
    pub(super) left_out: u32,
    /// The number of its utterances that repeat the previous passage.
    pub(super) seam: u32,
    /// Other parts that were dropped, as reason and detail.
    pub(super) notes: Vec<(RejectReason, String)>,
}

impl Draft {
    /// Returns the start of the first utterance that was found, or of its range.
    pub(super) fn start(&self) -> u32 {
        self.dialogue.iter().find_map(|line| line.start).unwrap_or(self.stretch.0)
    }

    /// Returns the end of the last utterance that was found, or of its range.
    pub(super) fn end(&self) -> u32 {
        self.dialogue.iter().filter_map(|line| line.end).max().unwrap_or(self.stretch.1)
    }

    pub(super) fn id(&self, book: &BookFacts) -> String {
        format!("{}@{}", book.slug, self.start())
    }

    /// Returns the share of its utterances found in the book, counting those already dropped.
    pub(super) fn grounding(&self) -> f64 {
        let speeches = self.dialogue.iter().filter(|line| line.speech.is_some());
        let (mut all, mut found) = (self.left_out, 0_u32);
        for line in speeches {
            all += 1;
            found += u32::from(line.start.is_some());
        }
        if all == 0 { 0.0 } else { f64::from(found) / f64::from(all) }
    }

    /// Returns the indexes of the utterances that were not found.
    pub(super) fn missing(&self) -> Vec<usize> {
        let absent = |line: &Utterance| line.grounded == Some(Grounded::Absent);
        (0..self.dialogue.len()).filter(|at| absent(&self.dialogue[*at])).collect()
    }

    /// Returns the ranges of its utterances.
    pub(super) fn taken(&self) -> Taken {
        let mut taken = Taken::default();
        self.dialogue.iter().filter_map(|line| line.start.zip(line.end)).for_each(|place| taken.add(place));
        taken
    }

    /// Returns the speakers in order, without repetition.
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

    /// Appends the part of the scene in the next passage.
    pub(super) fn join(&mut self, rest: Self, blank: &str) {
        self.stretch.1 = rest.stretch.1;
        let summary = format!("{}{blank}{}", self.summary, rest.summary);
        summary.trim().clone_into(&mut self.summary);
        self.prominence = self.prominence.max(rest.prominence);
        for name in rest.characters {
            if !self.characters.contains(&name) {
                self.characters.push(name);
            }
        }
        for line in rest.dialogue {
            // An utterance that only the second answer has goes where the book has it.
            let before = |other: &Utterance| other.start.is_none_or(|start| line.start.is_none_or(|own| start <= own));
            let at = self.dialogue.iter().rposition(before).map_or(0, |at| at + 1);
            self.dialogue.insert(at, line);
        }
        self.unfinished = rest.unfinished;
        self.left_out += rest.left_out;
        self.notes.extend(rest.notes);
    }

    /// Returns rejects for the parts that were dropped.
    pub(super) fn rejects(&mut self, book: &BookFacts) -> Vec<Reject> {
        let id = self.id(book);
        self.notes.drain(..).map(|(reason, detail)| Reject::new(Stage::Extract, &id, reason, detail)).collect()
    }

    /// Returns why it is not a valid scene, if so.
    pub(super) fn fault(&self, params: &Params, book: &BookFacts) -> Option<Reject> {
        let reject = |reason, detail: String| Some(Reject::new(Stage::Extract, self.id(book), reason, detail));
        let said = || self.dialogue.iter().filter_map(|line| line.speech.as_deref());
        let lines = said().count();
        let all = lines + self.left_out as usize;
        let speakers = self.speakers();
        let grounding = self.grounding();
        if all == 0 {
            return reject(RejectReason::NoDialogue, "nobody speaks in it".to_owned());
        }
        // Grounding is checked before length: for an invented scene the other counts mean nothing.
        if grounding < params.min_grounding {
            let found = self.dialogue.iter().filter(|line| line.start.is_some()).count();
            let detail = format!(
                "{found} of {all} utterances are in the book, the minimum share is {:.2}",
                params.min_grounding
            );
            let foreign = said().filter(|speech| is_foreign(speech, book.language)).count();
            if foreign * 2 > lines {
                return reject(
                    RejectReason::OtherLanguage,
                    format!("{foreign} utterances are in another language; {detail}"),
                );
            }
            return reject(RejectReason::Ungrounded, detail);
        }
        if lines < params.min_utterances as usize {
            return reject(
                RejectReason::TooShort,
                format!("{lines} utterances, the minimum is {}", params.min_utterances),
            );
        }
        if speakers.len() < 2 {
            return reject(
                RejectReason::OneSpeaker,
                format!("only {} speaks in its {lines} utterances", speakers.first().unwrap_or(&"no one")),
            );
        }
        None
    }
}

/// Converts an answer to drafts, in its order. `carried` is the scene that the previous passage cut off.
pub(crate) fn drafts(
    answer: FoundScenes,
    params: &Params,
    book: &BookFacts,
    chunk: &Chunk,
    ground: &Ground<'_>,
    carried: Option<&Draft>,
) -> Vec<Draft> {
    let mut reader = Reader { params, book, chunk, ground, taken: carried.map(Draft::taken).unwrap_or_default() };
    let mut after = chunk.start;
    let mut drafts = Vec::with_capacity(answer.scenes.len());
    for mut scene in answer.scenes {
        let mut seam = 0;
        if let Some(carried) = carried.filter(|_| drafts.is_empty()) {
            seam = reader.seam(carried, &scene.dialogue);
            scene.dialogue.drain(..seam);
        }
        let mut draft = reader.draft(scene, after, carried.is_some());
        draft.seam += u32::try_from(seam).unwrap_or(u32::MAX);
        after = draft.end().max(after);
        drafts.push(draft);
    }
    drafts
}

/// The context for reading an answer.
struct Reader<'a> {
    params: &'a Params,
    book: &'a BookFacts,
    chunk: &'a Chunk,
    ground: &'a Ground<'a>,
    taken: Taken,
}

/// The result of reading one utterance.
enum Read {
    Said(Utterance),
    /// There is no speech, action or thought.
    Empty,
    /// The speaker is unknown.
    Stranger(String),
    /// The book has it, but less often; with the offset of the earlier match.
    Repeated(u32, String),
}

impl Reader<'_> {
    /// Returns how many of the first utterances repeat the last ones of the carried scene.
    fn seam(&self, carried: &Draft, dialogue: &[FoundLine]) -> usize {
        let plain = |speech: Option<&str>| crate::text::plain(speech.unwrap_or_default());
        let said: Vec<String> = carried.dialogue.iter().map(|line| plain(line.speech.as_deref())).collect();
        let again: Vec<String> = dialogue.iter().map(|line| plain(line.speech.as_deref())).collect();
        let most = said.len().min(again.len());
        let seam = (1..=most).rev().find(|count| said[said.len() - count..] == again[..*count]).unwrap_or(0);
        // If the passage itself begins with these words, they are said twice; the utterances that follow decide.
        if self.opening(&again) > self.opening(&again[seam..]) { 0 } else { seam }
    }

    /// Returns how many of the first utterances match the quotations at the start of the passage.
    fn opening(&self, lines: &[String]) -> usize {
        let quotations = self.book.quotations(self.chunk.start, self.chunk.end);
        let mut said = quotations.iter().map(|quotation| crate::text::plain(&quotation.text)).peekable();
        let stands = |line: &&String| {
            // A speech may span several quotations.
            let mut rest = line.as_str();
            while let Some(quotation) = said.next_if(|quotation| !quotation.is_empty() && rest.starts_with(quotation)) {
                rest = &rest[quotation.len()..];
            }
            rest.len() < line.len()
        };
        lines.iter().take_while(stands).count()
    }

    fn draft(&mut self, scene: FoundScene, after: u32, goes_on: bool) -> Draft {
        let (book, chunk) = (self.book, self.chunk);
        let mut cursor = after;
        let mut dialogue = Vec::with_capacity(scene.dialogue.len());
        let (mut strangers, mut repeated) = (Vec::<(String, u32)>::new(), Vec::<(String, u32)>::new());
        let (mut seam, mut foreign) = (0, 0_u32);
        for mut line in scene.dialogue {
            for told in [&mut line.thought, &mut line.action] {
                foreign += u32::from(told.take_if(|told| is_foreign_phrase(told, book.language)).is_some());
            }
            match self.line(line, cursor) {
                Read::Said(utterance) => {
                    cursor = utterance.end.unwrap_or(cursor);
                    dialogue.push(utterance);
                }
                Read::Empty => {}
                Read::Stranger(name) => count(&mut strangers, name),
                Read::Repeated(place, _) if goes_on && place < chunk.start => seam += 1,
                Read::Repeated(_, speech) => count(&mut repeated, speech),
            }
        }
        let mut notes: Vec<(RejectReason, String)> = Vec::new();
        for (name, lines) in &strangers {
            notes.push((
                RejectReason::UnknownSpeaker,
                format!("“{name}”, the speaker of {lines} of its utterances, does not occur in the text"),
            ));
        }
        for (speech, count) in &repeated {
            notes.push((RejectReason::RepeatedLine, format!("“{speech}” occurs {count} times fewer in the book")));
        }
        if foreign > 0 {
            notes.push((
                RejectReason::OtherLanguage,
                format!("{foreign} actions and thoughts of its utterances were dropped"),
            ));
        }
        let mut characters: Vec<String> = Vec::new();
        let mut unknown: Vec<&str> = Vec::new();
        for name in dialogue.iter().map(|line: &Utterance| &line.speaker).chain(&scene.characters) {
            match known(name, book, self.ground.text()) {
                Some(name) if name != Utterance::ENVIRONMENT && !name.is_empty() && !characters.contains(&name) => {
                    characters.push(name);
                }
                None if !name.trim().is_empty() && !strangers.iter().any(|(stranger, _)| stranger == name) => {
                    unknown.push(name);
                }
                _ => {}
            }
        }
        if !unknown.is_empty() {
            notes.push((
                RejectReason::UnknownCharacter,
                format!("members of its cast that do not occur in the text: {}", unknown.join(", ")),
            ));
        }
        let mut summary = scene.summary.trim().to_owned();
        if is_foreign(&summary, book.language) {
            notes.push((RejectReason::OtherLanguage, format!("its summary was dropped: {summary}")));
            summary.clear();
        }
        let edge = |words: &str, from: u32| self.ground.locate(words, from, self.params.min_similarity);
        let first = dialogue.iter().filter_map(|line| line.start).min();
        let last = dialogue.iter().filter_map(|line| line.end).max();
        let begun = edge(&scene.first_words, after)
            .map(|place| place.0)
            .filter(|start| first.is_none_or(|first| *start <= first));
        let ended = edge(&scene.last_words, last.unwrap_or(after))
            .map(|place| place.1)
            .filter(|end| last.is_none_or(|last| *end >= last));
        let start = begun.or(first).unwrap_or(after.min(chunk.end));
        let end = ended.or(last).unwrap_or(chunk.end).max(start);
        // The closing punctuation was not part of the search.
        let marks = book.slice(end, end + 4).chars().take_while(|c| !c.is_alphanumeric() && !c.is_whitespace()).count();
        let end = end + u32::try_from(marks).unwrap_or(0);
        let place = first.unwrap_or(start);
        let heading = chunk.headings.iter().rev().find(|(offset, _)| *offset <= place).map(|(_, title)| title.clone());
        Draft {
            chapter: heading.unwrap_or_else(|| chunk.chapter.clone()),
            stretch: (start, end),
            summary,
            prominence: scene.prominence,
            characters,
            dialogue,
            continues: scene.continues,
            unfinished: scene.unfinished,
            left_out: 0,
            seam,
            notes,
        }
    }

    /// Cleans an utterance and searches for it in the book.
    fn line(&mut self, line: FoundLine, after: u32) -> Read {
        let clean = |text: Option<String>, marks: &[char]| {
            let text = text?;
            let text = text.trim().trim_matches(marks).trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let thought = clean(line.thought, &['[', ']', '【', '】']);
        let action = clean(line.action, &['(', ')', '（', '）', '*']);
        let speech = clean(line.speech.as_deref().map(|speech| unquoted(speech).to_owned()), &[]);
        let name = line.speaker.trim();
        if name.is_empty() || (thought.is_none() && action.is_none() && speech.is_none()) {
            return Read::Empty;
        }
        let Some(speaker) = known(name, self.book, self.ground.text()) else {
            return Read::Stranger(name.to_owned());
        };
        let found =
            speech.as_ref().map(|speech| self.ground.find(speech, after, self.params.min_similarity, &self.taken));
        if let (Some(place), Some(speech)) = (found.as_ref().and_then(|found| found.repeated), &speech) {
            return Read::Repeated(place.0, speech.clone());
        }
        let place = found.as_ref().and_then(|found| found.place);
        if let Some(place) = place {
            self.taken.add(place);
        }
        Read::Said(Utterance {
            speaker,
            thought,
            action,
            speech,
            start: place.map(|place| place.0),
            end: place.map(|place| place.1),
            grounded: found.as_ref().map(|found| found.grounded),
            similarity: found.map(|found| round(found.similarity)),
        })
    }
}

/// Adds one to the count of a text.
fn count(counts: &mut Vec<(String, u32)>, text: String) {
    match counts.iter_mut().find(|(other, _)| *other == text) {
        Some((_, count)) => *count += 1,
        None => counts.push((text, 1)),
    }
}

/// Removes the quotation marks around a whole speech and unpaired ones at its ends; pairs within it stay.
pub(super) fn unquoted(speech: &str) -> &str {
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

/// Rounds to three decimals; further ones could differ between machines.
pub(super) fn round(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

/// Returns the cast member with a name: by the book's names, or else the only one whose name contains it or is
/// contained in it, as models write `Darcy` for `Mr. Darcy` and `黛玉（颦儿）` for `林黛玉`.
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

/// Returns the names in a description that are not in the scene's cast, in order, without repetition.
pub(super) fn strangers<'a>(ask: &DescribeScene, answer: &'a SceneDescription, book: &BookFacts) -> Vec<&'a str> {
    let motivations = answer.motivations.iter().map(|motivation| motivation.character.as_str());
    let told = motivations.chain(answer.profiles.iter().map(|profile| profile.character.as_str()));
    let mut seen = BTreeSet::new();
    told.filter(|name| meant(name, ask, book).is_none() && seen.insert(*name)).collect()
}

/// Removes the parts of a description that are in another language and returns their names.
pub(super) fn leave_foreign_out(answer: &mut SceneDescription, language: Language) -> Vec<String> {
    let mut parts = Vec::new();
    if is_foreign(&answer.worldview, language) {
        answer.worldview.clear();
        parts.push("the worldview".to_owned());
    }
    answer.motivations.retain(|motivation| {
        let foreign = is_foreign(&motivation.motivation, language);
        if foreign {
            parts.push(format!("the motivation of {}", motivation.character));
        }
        !foreign
    });
    for profile in &mut answer.profiles {
        let before = profile.attributes.len();
        profile.attributes.retain(|attribute| !is_foreign(&attribute.value, language));
        if profile.attributes.len() < before {
            parts.push(format!("{} of {}’s attributes", before - profile.attributes.len(), profile.character));
        }
    }
    parts
}

/// Builds a scene from a draft and its description. A profile has each key once; known attributes stay unless
/// redefined.
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
        salience: draft.prominence,
        // An empty answer does not erase the worldview.
        worldview: Some(answer.worldview.trim())
            .filter(|told| !told.is_empty())
            .or(ask.worldview.as_deref())
            .map_or_else(String::new, |told| shortened(told, MOST_SENTENCES)),
        situation: answer.situation.trim().to_owned(),
        motivations,
        characters,
        dialogue: draft.dialogue,
        model: Some(model.to_owned()),
    }
}

/// The maximum number of sentences in a worldview; as it is refined scene by scene, it would otherwise grow with the
/// book.
const MOST_SENTENCES: usize = 12;

/// Returns the first sentences of a text.
fn shortened(text: &str, most: usize) -> String {
    let sentences = crate::text::sentences(text);
    let Some(last) = sentences.get(most.saturating_sub(1)).filter(|_| sentences.len() > most) else {
        return text.to_owned();
    };
    let end = last.as_ptr() as usize - text.as_ptr() as usize + last.len();
    text[..end].to_owned()
}

fn profile(told: &[&Attribute], known: &[Attribute], book: &BookFacts) -> Vec<Attribute> {
    let mut profile: Vec<Attribute> = Vec::new();
    for attribute in told.iter().copied().chain(known) {
        let key = Key::of(&attribute.key);
        let word = key.map_or_else(|| attribute.key.trim().to_owned(), |key| key.word(book.script()));
        let value = attribute.value.trim();
        if word.is_empty() || value.is_empty() || profile.iter().any(|before| before.key == word) {
            continue;
        }
        // The paper's keys have the paper's visibility, whatever the model says.
        let visibility = key.map_or(attribute.visibility, Key::visibility);
        profile.push(Attribute { key: word, value: value.to_owned(), visibility });
    }
    profile.sort_by_key(|attribute| Key::of(&attribute.key));
    // The model's own keys come last.
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
