//! The scene of a conversation with the test character added to its cast, and what each participant may see.
//!
//! All asks of `simulate` are built here, so this is the only place that decides who sees what (CONTRACTS, Chat).

use super::cast::{absent, is_called, is_same, participant_names, scene_members};
use super::turn_taking;
use crate::schema::{
    Attribute, CastMember, Character, Dimension, Language, Line, Motivation, Scene, SceneCharacter, Utterance, public,
};
use crate::stages::select::Pair;
use crate::stages::simulate::Params;
use crate::stages::simulate::asks::{Direct, Rate, SceneNames, SceneReply, TestReply};
use crate::stages::simulate::lanes::scenes::has_similar_name;
use crate::stages::simulate::reply::ReplyFormat;
use crate::stages::simulate::reply::reference_filter::ReferenceFilter;

/// A scene with the test character in its cast.
#[derive(Debug)]
pub(crate) struct PromptContext<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// The test character.
    pub character: &'a Character,
    max_sentences: u32,
    /// The test character's example lines, none of them from the scene's dialogue.
    pub lines: Vec<String>,
    /// The test character's attributes, without sentences that quote the scene's dialogue.
    profile: Vec<Attribute>,
    /// The scene characters that take part.
    scene_members: Vec<&'a SceneCharacter>,
    /// All participants, test character first, with public attributes only.
    cast: Vec<CastMember>,
    /// Names and aliases of each participant, in the order of `cast`; the name is first.
    participant_names: Vec<Vec<&'a str>>,
    /// Names in the scene that belong to no participant.
    absent: Vec<&'a str>,
    motivations: Vec<Motivation>,
    dialogue: Vec<Line>,
    world_has_ai: bool,
}

impl<'a> PromptContext<'a> {
    /// Adds the test character to a scene. None if no scene character is left to talk to, or if the name of a
    /// synthesized test character could be confused with one in the cast.
    ///
    /// A scene character that *is* the test character, by name or alias, is removed together with its motivation and
    /// its utterances, and so are scene characters beyond `max_cast`: replies must not refer to the words of an absent
    /// person. The test character sees nothing of the original dialogue, no matter who speaks it: in a scene of its own
    /// book, quoted lines are removed from its examples, and sentences that quote the dialogue verbatim from the
    /// profiles.
    pub(crate) fn new(scene: &'a Scene, character: &'a Character, params: &Params) -> Option<Self> {
        let scene_members = scene_members(scene, character, params.max_cast as usize);
        if scene_members.is_empty() || has_similar_name(scene, character) {
            return None;
        }
        let participant_names = participant_names(scene, character, &scene_members);
        let absent = absent(scene, &participant_names);
        let reference_filter = ReferenceFilter::new(scene);
        let profile: Vec<Attribute> =
            character.profile.iter().filter_map(|attribute| reference_filter.without_quotations(attribute)).collect();
        let cast = std::iter::once((&character.name, &profile))
            .chain(scene_members.iter().map(|member| (&member.name, &member.profile)))
            .map(|(name, profile)| CastMember {
                name: name.clone(),
                profile: public(profile)
                    .iter()
                    .filter_map(|attribute| reference_filter.without_quotations(attribute))
                    .collect(),
            })
            .collect();
        let present = |name: &str| {
            let named = scene_members.iter().find(|member| is_same(&member.name, name));
            named.or_else(|| scene_members.iter().find(|member| is_called(member, name))).map(|member| &member.name)
        };
        let motivations = scene
            .motivations
            .iter()
            .filter_map(|motivation| {
                let name = present(&motivation.character)?;
                Some(Motivation { character: name.clone(), motivation: motivation.motivation.clone() })
            })
            .collect();
        let dialogue = scene
            .dialogue
            .iter()
            .filter_map(|utterance| {
                let environment = (utterance.speaker == Utterance::ENVIRONMENT).then_some(&utterance.speaker);
                let speaker = environment.or_else(|| present(&utterance.speaker))?.clone();
                let content = utterance.content();
                (!content.is_empty()).then_some(Line { speaker, content, is_test: false })
            })
            .collect();
        let lines: Vec<&String> = character.lines.iter().filter(|line| !reference_filter.contains(line)).collect();
        let lines = spread(&lines, params.example_lines as usize);
        let world_has_ai = has_ai(scene, character);
        let max_sentences = params.max_sentences;
        Some(Self {
            scene,
            character,
            max_sentences,
            lines,
            profile,
            scene_members,
            cast,
            participant_names,
            absent,
            motivations,
            dialogue,
            world_has_ai,
        })
    }

    /// Returns the number of participants, including the test character.
    pub(crate) const fn len(&self) -> usize {
        self.cast.len()
    }

    /// Returns the name of a participant.
    pub(crate) fn name(&self, member: usize) -> &str {
        &self.cast[member].name
    }

    /// Returns the language of the conversation.
    pub(crate) const fn language(&self) -> Language {
        self.character.language
    }

    /// Returns the participants other than the test character, with public attributes only.
    pub(crate) fn others(&self) -> &[CastMember] {
        &self.cast[turn_taking::TEST + 1..]
    }

    /// Returns the judge's input for two replies of the test character: its full profile, the others' public attributes
    /// and the history.
    pub(crate) fn pair<'b>(
        &'b self,
        history: &'b [Line],
        (source, base): (&'b str, &'b str),
        target: Option<&'b str>,
    ) -> Pair<'b> {
        Pair {
            language: self.language(),
            name: &self.character.name,
            profile: &self.profile,
            lines: &self.lines,
            others: self.others(),
            situation: &self.scene.situation,
            history,
            source,
            base,
            target,
        }
    }

    /// Builds the ask for the next speaker: public attributes, situation and history.
    pub(crate) fn direct(&self, history: &[Line], choices: &[usize], may_end: bool, turns_left: u32) -> Direct {
        Direct {
            language: self.language(),
            situation: self.scene.situation.clone(),
            cast: self.cast.clone(),
            history: history.to_vec(),
            choices: choices.iter().map(|&member| self.name(member).to_owned()).collect(),
            may_end,
            turns_left,
        }
    }

    /// Builds the ask for a reply of the test character: its full profile, the others' public attributes, the history
    /// and S(d).
    pub(crate) fn test_reply(&self, history: &[Line], dimension: Option<&Dimension>) -> TestReply {
        TestReply {
            language: self.language(),
            worldview: self.scene.worldview.clone(),
            situation: self.scene.situation.clone(),
            name: self.character.name.clone(),
            profile: self.profile.clone(),
            lines: self.lines.clone(),
            others: self.others().to_vec(),
            history: history.to_vec(),
            dimension: dimension.map(|dimension| dimension.code.clone()),
            strategy: dimension.map(|dimension| dimension.strategy.get(self.language()).clone()),
            max_sentences: self.max_sentences,
            scene_names: self.scene_names(turn_taking::TEST),
        }
    }

    /// Builds the ask for a reply of a scene character: its full profile, the others' public attributes, the history,
    /// the motivations, the original dialogue and I(d).
    pub(crate) fn scene_reply(&self, member: usize, history: &[Line], dimension: Option<&Dimension>) -> SceneReply {
        let others = self.cast.iter().enumerate().filter(|(other, _)| *other != member);
        let eliciting =
            |dimension: &Dimension| dimension.eliciting.get(self.language()).replace("{name}", &self.character.name);
        SceneReply {
            language: self.language(),
            worldview: self.scene.worldview.clone(),
            situation: self.scene.situation.clone(),
            name: self.name(member).to_owned(),
            profile: self.scene_members[member - 1].profile.clone(),
            others: others.map(|(_, other)| other.clone()).collect(),
            motivations: self.motivations.clone(),
            dialogue: self.dialogue.clone(),
            history: history.to_vec(),
            dimension: dimension.map(|dimension| dimension.code.clone()),
            eliciting: dimension.map(eliciting),
            max_sentences: self.max_sentences,
            scene_names: self.scene_names(member),
        }
    }

    /// Builds the ask for a quality rating of the conversation.
    pub(crate) fn rate(&self, history: &[Line]) -> Rate {
        Rate {
            language: self.language(),
            situation: self.scene.situation.clone(),
            cast: self.cast.iter().map(|member| member.name.clone()).collect(),
            history: history.to_vec(),
        }
    }

    /// Calls `run` with the [`ReplyFormat`] for replies of a participant.
    pub(crate) fn with_format<T>(&self, member: usize, run: impl FnOnce(ReplyFormat<'_>) -> T) -> T {
        self.scene_names(member).with_names(|speakers| {
            run(ReplyFormat {
                language: self.language(),
                speakers,
                max_sentences: self.max_sentences,
                world_has_ai: self.world_has_ai,
            })
        })
    }

    /// Returns the names of a participant, and those of everyone else in the scene.
    fn scene_names(&self, member: usize) -> SceneNames {
        let others = self.participant_names.iter().enumerate().filter(|(other, _)| *other != member);
        let others = others.flat_map(|(_, names)| names).chain(&self.absent);
        let owned = |name: &&str| (*name).to_owned();
        SceneNames {
            own: self.participant_names[member].iter().map(owned).collect(),
            others: others.map(owned).collect(),
        }
    }
}

/// Returns at most `most` lines, evenly spaced over all lines, in order.
fn spread(lines: &[&String], most: usize) -> Vec<String> {
    let count = most.min(lines.len());
    (0..count).map(|index| lines[index * lines.len() / count].to_owned()).collect()
}

/// Returns whether the scene or a profile mentions AI, in which case characters may talk about it.
fn has_ai(scene: &Scene, character: &Character) -> bool {
    let profiles = std::iter::once(&character.profile).chain(scene.characters.iter().map(|member| &member.profile));
    profiles.flatten().map(|attribute| &attribute.value).chain([&scene.worldview, &scene.situation]).any(|text| {
        let is_word = text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "AI" || word == "A.I");
        is_word || text.contains("人工智能") || text.to_lowercase().contains("artificial intelligence")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Ask as _;
    use crate::schema::{Message, Visibility};
    use crate::stages::select;
    use crate::stages::simulate::fixtures::{attribute, character, prompts, scene};
    use crate::stages::simulate::reply::repetition::RepetitionIndex;

    fn names(prompt_context: &PromptContext<'_>) -> Vec<String> {
        prompt_context.cast.iter().map(|member| member.name.clone()).collect()
    }

    #[test]
    fn the_characters_with_most_lines_are_kept_in_scene_order() {
        let mut scene = scene(Language::En, "book@0", &["Ann", "Bob", "Cid", "Dot", "ann"]);
        scene.characters[3].aliases.push("Lady Dot".to_owned());
        let line = |speaker: &str| Utterance { speaker: speaker.to_owned(), ..scene.dialogue[0].clone() };
        scene.dialogue.extend([line("Lady Dot"), line("Bob")]);
        let tess = character(Language::En);
        let params = Params { max_cast: 2, ..Params::default() };
        let prompt_context = PromptContext::new(&scene, &tess, &params).expect("a scene character remains");
        // Ann, Bob and Dot have two utterances each: `ann` counts for Ann, and one of Dot's is under her alias. Ann and
        // Bob come first in the scene.
        assert_eq!(names(&prompt_context), ["Tess", "Ann", "Bob"]);
        let dialogue: Vec<_> = prompt_context.dialogue.iter().map(|line| line.speaker.as_str()).collect();
        assert_eq!(dialogue, ["Ann", "Bob", "Ann", "Environment", "Bob"], "no absent character is quoted");
        let motivations: Vec<_> =
            prompt_context.motivations.iter().map(|motivation| motivation.character.as_str()).collect();
        assert_eq!(motivations, ["Ann", "Bob", "Ann"]);
        assert!(!prompt_context.dialogue[0].content.contains("thought"));
    }

    #[test]
    fn the_test_character_does_not_meet_itself() {
        let tess = character(Language::En);
        let params = Params::default();
        let mut scene = scene(Language::En, "book@0", &["the guest", "Bob", "Maid"]);
        scene.characters[2].aliases.push("tess".to_owned());
        let prompt_context = PromptContext::new(&scene, &tess, &params).expect("a scene character remains");
        assert_eq!(names(&prompt_context), ["Tess", "Bob"]);
        let prompt = serde_json::to_string(&prompt_context.scene_reply(1, &[], None)).expect("asks serialize to JSON");
        assert!(!prompt.contains("guest") && !prompt.contains("Maid"), "{prompt}");
        scene.characters.remove(1);
        assert!(PromptContext::new(&scene, &tess, &params).is_none(), "no one to talk to");
    }

    #[test]
    fn a_shared_form_of_address_is_not_an_alias() {
        let tess = character(Language::En);
        let mut scene = scene(Language::En, "book@0", &["Ann", "Bob", "Tess"]);
        scene.characters[0].aliases.push("the guest".to_owned());
        let prompt_context = PromptContext::new(&scene, &tess, &Params::default()).expect("a scene character remains");
        assert_eq!(
            names(&prompt_context),
            ["Tess", "Ann", "Bob"],
            "Tess matches by name, so Ann is a different character"
        );
        scene.characters.pop();
        let prompt_context = PromptContext::new(&scene, &tess, &Params::default()).expect("a scene character remains");
        assert_eq!(names(&prompt_context), ["Tess", "Bob"], "Ann matches Tess by alias");
    }

    #[test]
    fn examples_are_spread_over_all_lines() {
        let lines: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        let lines: Vec<&String> = lines.iter().collect();
        assert_eq!(spread(&lines, 4), ["0", "2", "5", "7"]);
        assert_eq!(spread(&lines, 20).len(), 10);
        assert!(spread(&[], 3).is_empty() && spread(&lines, 0).is_empty());
    }

    /// In a scene of its own book, a character's lines and profile may contain the scene's dialogue, including
    /// utterances of absent characters.
    #[test]
    fn no_original_dialogue_reaches_the_test_character_or_its_judge() {
        for (language, own_line, other) in [
            (Language::En, "The tide is at four, whoever asks.", "Nobody crosses for nothing."),
            (Language::Zh, "谁来问都一样，潮水四更才来。", "没有谁白过这条河。"),
        ] {
            let mut scene = scene(language, "home@0", &["Tess", "Ann", "Bob"]);
            let line = |speaker: &str, own_line: &str| Utterance {
                speaker: speaker.to_owned(),
                speech: Some(own_line.to_owned()),
                ..scene.dialogue[0].clone()
            };
            scene.dialogue = vec![line("Tess", own_line), line("Bob", other), line("Ann", "So.")];
            scene.characters[1].profile.push(attribute("manner", &format!("“{other}”"), Visibility::Public));
            let mut tess = character(language);
            tess.lines =
                vec![own_line.to_owned(), format!("(nods) {own_line}"), "Tess-line".to_owned(), other.to_owned()];
            tess.profile.push(attribute("manner", &format!("Tess-manner. {own_line}"), Visibility::Private));
            let prompt_context = PromptContext::new(&scene, &tess, &Params { max_cast: 1, ..Params::default() });
            let prompt_context = prompt_context.expect("a scene character remains");
            let dimension = &crate::stages::select::dimensions(None).expect("the table is embedded and tested")[0];
            let pair = prompt_context.pair(&[], ("one", "two"), None);
            let judge = pair.ask(&select::Params::default(), std::slice::from_ref(dimension), true);
            let asks = [
                serde_json::to_string(&prompt_context.test_reply(&[], Some(dimension)))
                    .expect("asks serialize to JSON"),
                serde_json::to_string(&judge).expect("asks serialize to JSON"),
                serde_json::to_string(&prompt_context.direct(&[], &[0, 1], true, 3)).expect("asks serialize to JSON"),
            ];
            for ask in &asks {
                assert!(!ask.contains(own_line) && !ask.contains(other), "{language}: {ask}");
            }
            assert!(asks[..2].iter().all(|ask| ask.contains("Tess-line") && ask.contains("Tess-manner")), "{asks:?}");
            assert!(
                serde_json::to_string(&prompt_context.scene_reply(1, &[], None))
                    .expect("asks serialize to JSON")
                    .contains(other)
            );
        }
    }

    /// An ask accepts an answer exactly if something is left of it after cleaning.
    #[test]
    fn checking_and_formatting_a_reply_agree() {
        for (language, names, absent, replies) in [
            (
                Language::En,
                ["Tess", "the Commissioner", "Keziah Marl", "Kez"],
                "Old Dunn",
                [
                    (0, "The Commissioner: Good day.", "Good day."),
                    (0, "Kez: Hm.", ""),
                    (0, "Old Dunn: Hm.", ""),
                    (1, "Kez: Hm.", "Hm."),
                    (1, "The Commissioner: Hm.", ""),
                    (1, "Good day.", "Good day."),
                ],
            ),
            (
                Language::Zh,
                ["温仲筹", "四爷", "邬水宁", "小红"],
                "王德发",
                [
                    (0, "四爷：久仰。", "久仰。"),
                    (0, "小红：哼。", ""),
                    (0, "王德发：哼。", ""),
                    (1, "小红：哼。", "哼。"),
                    (1, "四爷：哼。", ""),
                    (1, "久仰。", "久仰。"),
                ],
            ),
        ] {
            let [name, alias, other, other_alias] = names.map(str::to_owned);
            let mut scene = scene(language, "book@0", &[&other]);
            scene.characters[0].aliases.push(other_alias);
            scene.dialogue.push(Utterance { speaker: absent.to_owned(), ..scene.dialogue[0].clone() });
            let character = Character { name, aliases: vec![alias], ..character(language) };
            let prompt_context =
                PromptContext::new(&scene, &character, &Params::default()).expect("a scene character remains");
            for (member, reply, expected) in replies {
                let raw = reply.to_owned();
                let passes = if member == turn_taking::TEST {
                    prompt_context.test_reply(&[], None).check(&raw).is_ok()
                } else {
                    prompt_context.scene_reply(member, &[], None).check(&raw).is_ok()
                };
                let text =
                    prompt_context.with_format(member, |format| format.clean(&raw, &RepetitionIndex::default()).text);
                assert_eq!((passes, text.as_str()), (!expected.is_empty(), expected), "{reply}");
            }
        }
    }

    #[test]
    fn the_eliciting_instruction_names_the_test_character() {
        let (scene, tess) = (scene(Language::Zh, "book@0", &["Ann"]), character(Language::Zh));
        let prompt_context = PromptContext::new(&scene, &tess, &Params::default()).expect("a scene character remains");
        for dimension in crate::stages::select::dimensions(None).expect("the table is embedded and tested") {
            let eliciting =
                prompt_context.scene_reply(1, &[], Some(&dimension)).eliciting.expect("the ask has a target");
            assert!(eliciting.contains("Tess") && !eliciting.contains('{'), "{eliciting}");
        }
    }

    #[test]
    fn a_world_with_artificial_intelligence_is_recognized() {
        let mut tess = character(Language::En);
        let scene = scene(Language::En, "book@0", &["Ann"]);
        assert!(!has_ai(&scene, &tess));
        tess.profile.push(attribute("kind", "An AI of the third fleet.", Visibility::Private));
        assert!(has_ai(&scene, &tess));
    }

    /// Returns the markers that occur in a prompt. Tess joins a scene of Ann, Bob and The Guest; The Guest is an alias
    /// of Tess and therefore absent.
    fn visible_markers(messages: &[Message]) -> Vec<String> {
        let text: String = messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n");
        let mut markers = Vec::new();
        for name in ["Tess", "Ann", "Bob", "The Guest"] {
            for kind in ["public", "private", "line", "motivation", "action", "speech", "thought"] {
                markers.push(format!("{name}-{kind}"));
            }
        }
        for marker in ["Environment-speech", "scene-worldview", "scene-situation", "scene-summary", "said-before"] {
            markers.push(marker.to_owned());
        }
        markers.into_iter().filter(|marker| text.contains(marker.as_str())).collect()
    }

    /// A template, including a user's own, can only show what the ask contains, so the ask must not contain anything
    /// that its speaker may not know.
    #[test]
    fn templates_cannot_access_private_attributes_of_others() {
        for language in Language::ALL {
            let scene = scene(language, "book@0", &["Ann", "Bob", "The Guest"]);
            let tess = character(language);
            let prompt_context =
                PromptContext::new(&scene, &tess, &Params::default()).expect("a scene character remains");
            let history = [Line { speaker: "Ann".to_owned(), content: "said-before".to_owned(), is_test: false }];
            let dimension = &crate::stages::select::dimensions(None).expect("the table is embedded and tested")[0];
            let asks = [
                serde_json::to_string(&prompt_context.test_reply(&history, Some(dimension)))
                    .expect("asks serialize to JSON"),
                serde_json::to_string(&prompt_context.direct(&history, &[0, 1], true, 3))
                    .expect("asks serialize to JSON"),
                serde_json::to_string(&prompt_context.rate(&history)).expect("asks serialize to JSON"),
                serde_json::to_string(&prompt_context.scene_reply(1, &history, Some(dimension)))
                    .expect("asks serialize to JSON"),
            ];
            let known = |kinds: &[&str], of: &[&str]| -> Vec<String> {
                of.iter().flat_map(|name| kinds.iter().map(move |kind| format!("{name}-{kind}"))).collect()
            };
            let book =
                known(&["motivation", "action", "speech", "thought"], &["Ann", "Bob", "The Guest", "Environment"]);
            let secrets = known(&["private"], &["Ann", "Bob", "The Guest"]);
            let of_test = [known(&["private"], &["Tess"]), known(&["line"], &["Tess"])].concat();
            let absent = known(&["public", "private", "motivation", "action", "speech", "thought"], &["The Guest"]);
            let hidden = [
                [book.clone(), secrets.clone()].concat(),
                [book.clone(), secrets.clone(), of_test.clone()].concat(),
                [book, secrets, of_test.clone()].concat(),
                [absent, of_test, known(&["private"], &["Bob"]), known(&["thought"], &["Ann", "Bob"])].concat(),
            ];
            for (ask, hidden) in asks.iter().zip(hidden) {
                assert!(ask.contains("said-before"), "{ask}");
                for marker in hidden.iter().map(String::as_str).chain(["scene-summary"]) {
                    assert!(!ask.contains(marker), "{language}: {marker} in {ask}");
                }
            }
        }
    }

    #[test]
    fn each_participant_sees_only_its_private_attributes() {
        for language in Language::ALL {
            let scene = scene(language, "book@0", &["Ann", "Bob", "The Guest"]);
            let tess = character(language);
            let prompt_context =
                PromptContext::new(&scene, &tess, &Params::default()).expect("a scene character remains");
            let line = |speaker: &str| Line {
                speaker: speaker.to_owned(),
                content: "said-before".to_owned(),
                is_test: speaker == "Tess",
            };
            let history = [line("Ann"), line("Tess"), line("Bob")];
            let prompts = prompts();
            let sorted = |markers: &[&str]| {
                let mut markers: Vec<String> = markers.iter().map(|marker| (*marker).to_owned()).collect();
                markers.sort_unstable();
                markers
            };
            let check = |messages: Vec<Message>, expected: &[&str]| {
                let mut visible_markers = visible_markers(&messages);
                visible_markers.sort_unstable();
                assert_eq!(visible_markers, sorted(expected), "{language}: {messages:#?}");
            };
            let dimension = &crate::stages::select::dimensions(None).expect("the table is embedded and tested")[0];
            let guest = prompt_context.test_reply(&history, Some(dimension)).messages(&prompts).expect("renders");
            assert!(guest.last().expect("a last message").content.contains(dimension.strategy.get(language)));
            check(
                guest,
                &[
                    "Tess-public",
                    "Tess-private",
                    "Tess-line",
                    "Ann-public",
                    "Bob-public",
                    "scene-worldview",
                    "scene-situation",
                    "said-before",
                ],
            );
            let ann = prompt_context.scene_reply(1, &history, Some(dimension)).messages(&prompts).expect("renders");
            assert!(ann.last().expect("a last message").content.contains("Tess"));
            check(
                ann,
                &[
                    "Ann-public",
                    "Ann-private",
                    "Tess-public",
                    "Bob-public",
                    "Ann-motivation",
                    "Bob-motivation",
                    "Ann-action",
                    "Ann-speech",
                    "Bob-action",
                    "Bob-speech",
                    "Environment-speech",
                    "scene-worldview",
                    "scene-situation",
                    "said-before",
                ],
            );
            check(
                prompt_context.direct(&history, &[0, 1], true, 3).messages(&prompts).expect("renders"),
                &["Tess-public", "Ann-public", "Bob-public", "scene-situation", "said-before"],
            );
            check(
                prompt_context.rate(&history).messages(&prompts).expect("renders"),
                &["scene-situation", "said-before"],
            );
            let pair = prompt_context.pair(&history, ("one", "two"), None);
            let judge = pair.ask(&select::Params::default(), std::slice::from_ref(dimension), true);
            check(
                judge.messages(&prompts).expect("renders"),
                &[
                    "Tess-public",
                    "Tess-private",
                    "Tess-line",
                    "Ann-public",
                    "Bob-public",
                    "scene-situation",
                    "said-before",
                ],
            );
        }
    }
}
