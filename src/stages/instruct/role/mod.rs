//! A role: who it is, and its dialogue in rounds that each end with its own turn.

mod example_lines;
mod phrases;
mod segments;

pub(super) use example_lines::ExampleLines;
pub use phrases::Phrase;
pub(super) use segments::DESCRIPTION;
pub use segments::{Segment, segments};

use std::collections::BTreeSet;
use std::sync::OnceLock;

use self::phrases::{PhraseCounts, phrases};
use crate::schema::{
    Attribute, ByLanguage, Character, DialogueTurn, Grounded, Language, RoleId, Scene, Utterance, slug,
};
use crate::stages::instruct::params::Params;
use crate::text::{length, spoken};

/// The maximum number of lines of a role, and of other speakers, shown to a model; sampled evenly.
const MAX_SAMPLE_LINES: usize = 24;
/// The minimum length of such a line, in English words; 1.5 times as many Chinese characters.
const MIN_SAMPLE_LENGTH: usize = 4;

/// An act: a scene of the pool, or a part of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Act {
    /// The turns, in order.
    pub turns: Vec<ActTurn>,
}

/// One turn of an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActTurn {
    /// The speaker; null for the narrator.
    pub speaker: Option<String>,
    /// An action in parentheses, then speech.
    pub content: String,
}

impl Act {
    /// Builds an act from utterances, without those that are not in the book and those that are only thought.
    #[must_use]
    pub fn new(utterances: &[Utterance], name: impl Fn(&str) -> String) -> Self {
        let turns = utterances
            .iter()
            .filter(|utterance| utterance.grounded != Some(Grounded::Absent))
            .map(|utterance| ActTurn {
                speaker: (utterance.speaker != Utterance::ENVIRONMENT).then(|| name(&utterance.speaker)),
                content: utterance.content().trim().to_owned(),
            })
            .filter(|turn| turn.content.chars().any(char::is_alphanumeric))
            .collect();
        Self { turns }
    }

    /// Builds an act from a scene; speakers named by an alias get their main name.
    #[must_use]
    pub fn of(scene: &Scene) -> Self {
        Self::new(&scene.dialogue, |speaker| {
            let key = slug(speaker);
            let has_name = |name: &String| slug(name) == key;
            let by_name = scene.characters.iter().find(|member| has_name(&member.name));
            let by_alias = || scene.characters.iter().find(|member| member.aliases.iter().any(has_name));
            by_name.or_else(by_alias).map_or_else(|| speaker.to_owned(), |member| member.name.clone())
        })
    }
}

/// The acts of a book, in order.
#[derive(Debug, Default)]
pub struct Acts {
    acts: Vec<Act>,
    /// The phrases of all spoken turns, counted when a role of the language first needs them.
    phrase_counts: ByLanguage<OnceLock<PhraseCounts>>,
}

impl FromIterator<Act> for Acts {
    fn from_iter<T: IntoIterator<Item = Act>>(acts: T) -> Self {
        Self { acts: acts.into_iter().collect(), phrase_counts: ByLanguage::default() }
    }
}

impl Acts {
    fn turns(&self) -> impl Iterator<Item = &ActTurn> {
        self.acts.iter().flat_map(|act| &act.turns)
    }

    /// Returns the turns that somebody speaks, with their words, actions left out.
    fn spoken(&self) -> impl Iterator<Item = (&ActTurn, &str)> {
        self.turns()
            .filter(|turn| turn.speaker.is_some())
            .map(|turn| (turn, spoken(&turn.content)))
            .filter(|(_, line)| !line.is_empty())
    }

    fn phrase_counts(&self, language: Language) -> &PhraseCounts {
        let counts = self.phrase_counts.get(language);
        counts.get_or_init(|| PhraseCounts::new(self.spoken().map(|(_, line)| line), language))
    }
}

/// A role before its profile is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Role {
    /// The character's id.
    pub id: RoleId,
    /// Its name.
    pub name: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// The language it speaks.
    pub language: Language,
    /// The slug of its book or script, `synthesized` or `file`.
    pub source: String,
    /// Its profile.
    pub profile: Vec<Attribute>,
    /// Its dialogue in rounds; may be empty.
    pub dialogue: Vec<DialogueTurn>,
    /// The number of its own turns.
    pub own_turns: u32,
    /// Sample lines of the role, without actions.
    pub lines: Vec<String>,
    /// Sample lines of other speakers.
    pub others: Vec<String>,
    /// Phrases it uses much more often than others, in descending order of G².
    pub phrases: Vec<Phrase>,
    /// Whether the program selected it, so that its way of speaking must be distinct.
    pub is_chosen: bool,
}

impl Role {
    /// Builds a role from a character and the acts of its book in book order. A character without acts has no dialogue,
    /// and its lines are those of its file.
    #[must_use]
    pub fn new(params: &Params, character: &Character, acts: &Acts, source: &str, is_chosen: bool) -> Self {
        let names: BTreeSet<String> =
            std::iter::once(&character.name).chain(&character.aliases).map(|name| slug(name)).collect();
        // All speakers: each once, since a book has many more turns.
        let speakers: BTreeSet<&str> = acts.turns().filter_map(|turn| turn.speaker.as_deref()).collect();
        let own_speakers: BTreeSet<&str> =
            speakers.iter().copied().filter(|speaker| names.contains(&slug(speaker))).collect();
        let is_own = |turn: &ActTurn| turn.speaker.as_deref().is_some_and(|speaker| own_speakers.contains(speaker));
        let dialogue = rounds(&acts.acts, &character.name, is_own);
        let own_turns = dialogue.iter().filter(|turn| turn.role == character.name).count();
        let spoken_lines = |own: bool| -> Vec<String> {
            acts.spoken().filter(|(turn, _)| is_own(turn) == own).map(|(_, line)| line.to_owned()).collect()
        };
        let (mut own, others) = (spoken_lines(true), spoken_lines(false));
        let is_in_acts = !own.is_empty();
        if !is_in_acts {
            own.clone_from(&character.lines);
        }
        // Names of other speakers are not a habit of speech.
        let own_names = std::iter::once(&character.name).chain(&character.aliases).map(String::as_str);
        let forms: Vec<&str> = own_names.chain(speakers).collect();
        Self {
            id: RoleId::from(&character.id),
            name: character.name.clone(),
            aliases: character.aliases.clone(),
            language: character.language,
            source: source.to_owned(),
            profile: character.profile.clone(),
            dialogue,
            own_turns: u32::try_from(own_turns).unwrap_or(u32::MAX),
            phrases: phrases(
                params,
                character.language,
                (&own, is_in_acts),
                acts.phrase_counts(character.language),
                &forms,
            ),
            lines: sample_lines(&own, character.language),
            others: sample_lines(&others, character.language),
            is_chosen,
        }
    }

    /// Returns the number of rounds in its dialogue.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.dialogue.last().map_or(0, |turn| turn.round + 1)
    }

    /// Returns its names, the main name first.
    pub(super) fn names(&self) -> Vec<&str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str).collect()
    }

    /// Returns the exchanges of its dialogue: an utterance of someone else and the role's immediate answer.
    #[must_use]
    pub fn exchanges(&self) -> Vec<(String, String)> {
        let pairs = self.dialogue.windows(2).filter(|pair| {
            let [before, own] = pair else { return false };
            own.role == self.name
                && before.role != self.name
                && before.role != DialogueTurn::NARRATOR
                && (before.act, before.round) == (own.act, own.round)
        });
        pairs.map(|pair| (pair[0].content.clone(), pair[1].content.clone())).collect()
    }
}

/// Numbers the rounds of a role's dialogue. A round does not cross the end of an act, and turns after the role's last
/// turn of an act are dropped because the role may not be present.
fn rounds(acts: &[Act], name: &str, is_own: impl Fn(&ActTurn) -> bool) -> Vec<DialogueTurn> {
    let (mut dialogue, mut round) = (Vec::new(), 0);
    for (number, act) in (0..).zip(acts) {
        let mut round_turns: Vec<DialogueTurn> = Vec::new();
        for turn in &act.turns {
            let own = is_own(turn);
            let role = if own { name } else { turn.speaker.as_deref().unwrap_or(DialogueTurn::NARRATOR) };
            round_turns.push(DialogueTurn { act: number, round, role: role.to_owned(), content: turn.content.clone() });
            if own {
                dialogue.append(&mut round_turns);
                round += 1;
            }
        }
    }
    dialogue
}

/// Samples lines evenly: from each part of the list the longest one, where lengths above 60 count as equal.
fn sample_lines(lines: &[String], language: Language) -> Vec<String> {
    let min_length = if language == Language::Zh { MIN_SAMPLE_LENGTH * 3 / 2 } else { MIN_SAMPLE_LENGTH };
    let mut distinct = BTreeSet::new();
    let long_enough: Vec<&String> =
        lines.iter().filter(|line| length(line, language) >= min_length && distinct.insert(line.as_str())).collect();
    let long_enough = if long_enough.is_empty() { lines.iter().collect() } else { long_enough };
    let max_lines = MAX_SAMPLE_LINES.min(long_enough.len());
    (0..max_lines)
        .filter_map(|at| {
            let section = &long_enough[at * long_enough.len() / max_lines..(at + 1) * long_enough.len() / max_lines];
            section.iter().max_by_key(|line| length(line, language).min(60)).map(|line| (*line).clone())
        })
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::schema::{CharacterId, CharacterType};

    /// Builds an act from `name: words` lines; `-` is the narrator.
    pub(crate) fn act(lines: &[&str]) -> Act {
        let turn = |line: &&str| {
            let (speaker, content) = line.split_once(": ").expect("test lines have a speaker");
            ActTurn { speaker: (speaker != "-").then(|| speaker.to_owned()), content: content.to_owned() }
        };
        Act { turns: lines.iter().map(turn).collect() }
    }

    pub(crate) fn character(name: &str, language: Language) -> Character {
        Character {
            id: CharacterId::of_name(name),
            name: name.to_owned(),
            aliases: Vec::new(),
            language,
            kind: CharacterType::Established,
            book: Some("a-book".to_owned()),
            worldview: None,
            profile: Vec::new(),
            lines: Vec::new(),
            model: None,
        }
    }

    pub(crate) fn role(name: &str, language: Language, acts: &[Act]) -> Role {
        Role::new(&Params::default(), &character(name, language), &acts.iter().cloned().collect(), "a-book", true)
    }

    #[test]
    fn appendix_d_2_a_round_ends_with_the_role_and_within_its_act() {
        let acts = [
            act(&["-: It rained.", "Bo: Who is there?", "Ann: Only me.", "Ann: And the dog.", "Bo: Come in."]),
            act(&["Bo: Nobody came.", "Cy: No."]),
            act(&["Cy: Well?", "Ann: (sits) Well."]),
        ];
        let role = role("Ann", Language::En, &acts);
        let turns: Vec<(u32, u32, &str)> =
            role.dialogue.iter().map(|turn| (turn.act, turn.round, turn.role.as_str())).collect();
        let expected = [(0, 0, "narrator"), (0, 0, "Bo"), (0, 0, "Ann"), (0, 1, "Ann"), (2, 2, "Cy"), (2, 2, "Ann")];
        assert_eq!(turns, expected);
        assert_eq!((role.rounds(), role.own_turns), (3, 3));
        assert_eq!(role.dialogue[5].content, "(sits) Well.", "actions are part of the turn");
        let exchanges = role.exchanges();
        assert_eq!(exchanges.len(), 2);
        assert_eq!(exchanges[1], ("Well?".to_owned(), "(sits) Well.".to_owned()));
    }

    #[test]
    fn invented_lines_and_thoughts_are_not_turns() {
        let line = |grounded, thought: Option<&str>, speech: Option<&str>| Utterance {
            speaker: "Ann".to_owned(),
            thought: thought.map(str::to_owned),
            action: None,
            speech: speech.map(str::to_owned),
            start: None,
            end: None,
            grounded,
            similarity: None,
        };
        let utterances = [
            line(Some(Grounded::Absent), None, Some("Never said.")),
            line(None, Some("only thought"), None),
            line(Some(Grounded::Near), None, Some("Said.")),
        ];
        let act = Act::new(&utterances, str::to_owned);
        assert_eq!(act.turns.iter().map(|turn| turn.content.as_str()).collect::<Vec<_>>(), ["Said."]);
    }

    #[test]
    fn a_chinese_role_has_rounds() {
        let acts = [act(&["-: 下雨了。", "老周: 船还来么？", "阿满: 来的，再等等。"])];
        let role = role("阿满", Language::Zh, &acts);
        assert_eq!((role.rounds(), role.dialogue.len()), (1, 3));
        assert_eq!(role.exchanges(), [("船还来么？".to_owned(), "来的，再等等。".to_owned())]);
    }
}
