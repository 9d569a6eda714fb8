//! The asks of the director, the characters and the conversation rater.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::conversation::speaker::resolve_choice;
use super::conversation::transcript;
use super::reply::ReplyFormat;
use super::reply::speaker_labels::SpeakerNames;
use crate::llm::{Ask, Shape, schema_of};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Attribute, CastMember, Language, Line, Message, Motivation, Quality, slug};

/// Asks the director who speaks next, or whether the conversation ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Direct {
    /// The language of the prompt.
    pub language: Language,
    /// The situation.
    pub situation: String,
    /// Everyone present, test character first, with public attributes only.
    pub cast: Vec<CastMember>,
    /// The conversation so far.
    pub history: Vec<Line>,
    /// Names of the characters who may speak next, in cast order.
    pub choices: Vec<String>,
    /// Whether the conversation may end here.
    pub may_end: bool,
    /// Maximum number of turns left.
    pub turns_left: u32,
}

/// The director's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Direction {
    /// Why.
    pub reason: String,
    /// One of the choices, or [`Direction::END`]; or what is only like one of them.
    pub next: String,
}

impl Direction {
    /// The value of `next` that ends the conversation.
    pub const END: &'static str = "END";
}

/// Names and aliases in a scene, used to parse replies. Not part of any prompt or journal key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SceneNames {
    /// Names of the speaker; the first is the one used in the history.
    pub own: Vec<String>,
    /// Names of everyone else who is present or named in the scene.
    pub others: Vec<String>,
}

/// Asks a scene character for its next reply.
///
/// Inputs as in FURINA 3.3: background, own profile, public attributes of all others, history, motivations, original
/// dialogue; plus I(d) of Appendix C.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SceneReply {
    /// The language of the prompt.
    pub language: Language,
    /// The worldview.
    pub worldview: String,
    /// The situation.
    pub situation: String,
    /// Name of the speaker.
    pub name: String,
    /// Full profile of the speaker, private attributes included.
    pub profile: Vec<Attribute>,
    /// The other characters present, with public attributes only.
    pub others: Vec<CastMember>,
    /// Motivations of the scene characters present.
    pub motivations: Vec<Motivation>,
    /// The original dialogue of the scene, as in the book.
    pub dialogue: Vec<Line>,
    /// The conversation so far.
    pub history: Vec<Line>,
    /// Code of the target dimension.
    pub dimension: Option<String>,
    /// I(d), the eliciting instruction of the target dimension.
    pub eliciting: Option<String>,
    /// Maximum number of sentences of the reply.
    pub max_sentences: u32,
    /// Names and aliases in the scene.
    #[serde(skip)]
    pub scene_names: SceneNames,
}

/// Asks the test character for its next reply.
///
/// Inputs as in FURINA 3.3: background, own profile, public attributes of the others, history; plus S(d) of Appendix C.
/// It contains no motivations, no original dialogue and no private attributes of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestReply {
    /// The language of the prompt.
    pub language: Language,
    /// The worldview.
    pub worldview: String,
    /// The situation.
    pub situation: String,
    /// Name of the speaker.
    pub name: String,
    /// Full profile of the speaker, private attributes included.
    pub profile: Vec<Attribute>,
    /// Utterances of the character from elsewhere, as examples of its speech style.
    pub lines: Vec<String>,
    /// The other characters present, with public attributes only.
    pub others: Vec<CastMember>,
    /// The conversation so far.
    pub history: Vec<Line>,
    /// Code of the target dimension.
    pub dimension: Option<String>,
    /// S(d), the strategy instruction of the target dimension.
    pub strategy: Option<String>,
    /// Maximum number of sentences of the reply.
    pub max_sentences: u32,
    /// Names and aliases in the scene.
    #[serde(skip)]
    pub scene_names: SceneNames,
}

/// Asks for a quality rating of a whole conversation (FURINA, Appendix G: interaction, coherence, progression).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// The language of the prompt.
    pub language: Language,
    /// The situation.
    pub situation: String,
    /// Names of everyone present.
    pub cast: Vec<String>,
    /// The conversation.
    pub history: Vec<Line>,
}

/// The rating: reasons before the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rating {
    /// Do they answer each other?
    pub interaction: String,
    /// Does it hang together?
    pub coherence: String,
    /// Does it get anywhere?
    pub progression: String,
    /// The verdict.
    pub quality: Quality,
}

impl Direct {
    /// Resolves the director's answer to one of the choices or [`Direction::END`]. None if it matches none of them.
    #[must_use]
    pub fn chosen(&self, next: &str) -> Option<&str> {
        let allowed = self.allowed();
        let is_same_member =
            |member: &CastMember| slug(&member.name) == slug(next) && !allowed.contains(&&*member.name);
        // A member of the cast who may not speak now must not be matched to a choice with a similar name.
        if !allowed.contains(&next) && self.cast.iter().any(is_same_member) {
            return None;
        }
        resolve_choice(next, &allowed)
    }

    fn allowed(&self) -> Vec<&str> {
        let end = self.may_end.then_some(Direction::END);
        self.choices.iter().map(String::as_str).chain(end).collect()
    }
}

impl Ask for Direct {
    const NAME: &'static str = "simulate/direct";
    type Answer = Direction;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        let filled = prompts.filled(Self::NAME, self.language, self);
        Ok(vec![Message::system(filled.part("system")?), Message::user(filled.part("user")?)])
    }

    fn shape(&self) -> Shape {
        static SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<Direction>);
        let mut schema = SCHEMA.clone();
        schema["properties"]["next"]["enum"] = json!(self.allowed());
        Shape::Json(schema)
    }

    fn coerce(&self, value: &Value) -> Option<Value> {
        let chosen = self.chosen(value.get("next")?.as_str()?)?;
        let mut coerced = value.clone();
        coerced["next"] = json!(chosen);
        Some(coerced)
    }
}

impl Ask for SceneReply {
    const NAME: &'static str = "simulate/scene_reply";
    type Answer = String;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        let filled = prompts.filled(Self::NAME, self.language, self);
        transcript::messages(self.language, &self.name, &self.history, |part| filled.part(part))
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn check(&self, answer: &String) -> Result<(), String> {
        self.scene_names.check_not_empty(self.language, &self.name, answer)
    }
}

impl Ask for TestReply {
    const NAME: &'static str = "simulate/test_reply";
    type Answer = String;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        let filled = prompts.filled(Self::NAME, self.language, self);
        transcript::messages(self.language, &self.name, &self.history, |part| filled.part(part))
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn check(&self, answer: &String) -> Result<(), String> {
        self.scene_names.check_not_empty(self.language, &self.name, answer)
    }
}

impl Ask for Rate {
    const NAME: &'static str = "simulate/rate";
    type Answer = Rating;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        let filled = prompts.filled(Self::NAME, self.language, self);
        Ok(vec![Message::system(filled.part("system")?), Message::user(filled.part("user")?)])
    }
}

impl SceneNames {
    /// Calls `run` with these names as [`SpeakerNames`].
    pub(super) fn with_names<T>(&self, run: impl FnOnce(SpeakerNames<'_>) -> T) -> T {
        let [own, others] = [&self.own, &self.others].map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
        run(SpeakerNames { own: &own, others: &others })
    }

    /// Rejects a reply of which nothing is left after cleaning. All other faults are fixed or recorded on the turn.
    fn check_not_empty(&self, language: Language, name: &str, answer: &str) -> Result<(), String> {
        let nothing = self.with_names(|speakers| {
            ReplyFormat { language, speakers, max_sentences: u32::MAX, world_has_ai: true }.leaves_nothing(answer)
        });
        if nothing { Err(format!("it holds no words of {name}")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Visibility;
    use crate::stages::simulate::fixtures::{attribute, prompts};

    /// Test texts in both languages.
    struct Texts(Language);

    impl Texts {
        fn text(&self, en: &str, zh: &str) -> String {
            match self.0 {
                Language::En => en.to_owned(),
                Language::Zh => zh.to_owned(),
            }
        }

        fn own(&self) -> Vec<Attribute> {
            let trade = self.text("trade", "行当");
            let secret = self.text("secret", "秘密");
            vec![
                attribute(&trade, &self.text("Ferrywoman.", "摆渡人。"), Visibility::Public),
                attribute(&secret, &self.text("She cannot swim.", "不会游泳。"), Visibility::Private),
            ]
        }

        fn others(&self) -> Vec<CastMember> {
            let trade = self.text("trade", "行当");
            let member = |name: String, value: String| CastMember {
                name,
                profile: vec![attribute(&trade, &value, Visibility::Public)],
            };
            vec![
                member(self.text("Ann", "安"), self.text("Salt trader.", "盐商。")),
                member(self.text("Bob", "鲍勃"), self.text("Clerk.", "书吏。")),
            ]
        }

        fn scene_names(&self) -> SceneNames {
            let others = self.others().into_iter().map(|other| other.name).collect();
            SceneNames { own: vec![self.text("Tess", "苔丝")], others }
        }

        fn history(&self) -> Vec<Line> {
            let line = |speaker: String, content: String, is_test| Line { speaker, content, is_test };
            let (tess, ann, bob) = (self.text("Tess", "苔丝"), self.text("Ann", "安"), self.text("Bob", "鲍勃"));
            vec![
                line(ann.clone(), self.text("Is the rope sound?", "绳子还结实吗？"), false),
                line(bob.clone(), self.text("(coughs) It had better be.", "(咳嗽) 但愿如此。"), false),
                line(tess.clone(), self.text("(nods) It was.", "(点头) 先前是。"), true),
                line(ann.clone(), self.text("Was?", "先前？"), false),
                line(ann, self.text("Tess, look at me.", "苔丝，看着我。"), false),
                line(tess, self.text("Later.", "待会儿。"), true),
                line(bob, self.text("There is no later on a river.", "河上没有待会儿。"), false),
            ]
        }

        fn test_reply(&self) -> TestReply {
            TestReply {
                language: self.0,
                worldview: self.text("A country of rivers.", "河流之国。"),
                situation: self.text("A ferry in fog.", "雾中的渡船。"),
                name: self.text("Tess", "苔丝"),
                profile: self.own(),
                lines: vec![self.text("Water keeps no promises.", "水不守信。")],
                others: self.others(),
                history: self.history(),
                dimension: Some("RR".to_owned()),
                strategy: Some(self.text("Think aloud.", "说出思路。")),
                max_sentences: 3,
                scene_names: self.scene_names(),
            }
        }

        fn scene_reply(&self) -> SceneReply {
            let [ann, bob] = <[_; 2]>::try_from(self.others()).expect("two others");
            let tess = CastMember { name: self.text("Tess", "苔丝"), profile: crate::schema::public(&self.own()) };
            SceneReply {
                language: self.0,
                worldview: self.text("A country of rivers.", "河流之国。"),
                situation: self.text("A ferry in fog.", "雾中的渡船。"),
                name: ann.name,
                profile: ann.profile,
                others: vec![tess, bob],
                motivations: vec![Motivation {
                    character: self.text("Ann", "安"),
                    motivation: self.text("To reach the market first.", "抢先赶到集市。"),
                }],
                dialogue: vec![
                    Line {
                        speaker: "Environment".to_owned(),
                        content: self.text("(A bell rings.)", "(钟声响起。)"),
                        is_test: false,
                    },
                    Line {
                        speaker: self.text("Ann", "安"),
                        content: self.text("Faster, ferryman!", "快些，船家！"),
                        is_test: false,
                    },
                ],
                history: self.history(),
                dimension: Some("RR".to_owned()),
                eliciting: Some(self.text("Make Tess think.", "让苔丝想一想。")),
                max_sentences: 1,
                scene_names: SceneNames::default(),
            }
        }

        fn direct(&self) -> Direct {
            Direct {
                language: self.0,
                situation: self.text("A ferry in fog.", "雾中的渡船。"),
                cast: self.others(),
                history: self.history(),
                choices: vec![self.text("Ann", "安"), self.text("Bob", "鲍勃")],
                may_end: true,
                turns_left: 3,
            }
        }

        fn rate(&self) -> Rate {
            Rate {
                language: self.0,
                situation: self.text("A ferry in fog.", "雾中的渡船。"),
                cast: vec![self.text("Tess", "苔丝"), self.text("Ann", "安"), self.text("Bob", "鲍勃")],
                history: self.history(),
            }
        }
    }

    fn rendered(ask: &impl Ask) -> String {
        let messages = ask.messages(&prompts()).expect("renders");
        let show = |message: &Message| format!("[{}]\n{}", message.role.name(), message.content);
        messages.iter().map(show).collect::<Vec<_>>().join("\n\n")
    }

    #[test]
    fn prompts_are_in_the_language_of_the_scene() {
        for language in Language::ALL {
            let texts = Texts(language);
            insta::assert_snapshot!(format!("direct_{language}"), rendered(&texts.direct()));
            insta::assert_snapshot!(format!("scene_reply_{language}"), rendered(&texts.scene_reply()));
            insta::assert_snapshot!(format!("test_reply_{language}"), rendered(&texts.test_reply()));
            insta::assert_snapshot!(format!("rate_{language}"), rendered(&texts.rate()));
        }
    }

    #[test]
    fn the_director_sees_who_has_not_spoken_yet() {
        for (language, expected) in [(Language::En, "Not heard yet: Bob."), (Language::Zh, "还没开过口的：鲍勃。")]
        {
            let direct = Texts(language).direct();
            assert!(!rendered(&direct).contains(&expected[..6]), "everyone has spoken, so nobody is listed");
            let first = Direct { history: direct.history[..1].to_vec(), ..direct };
            assert!(rendered(&first).contains(expected));
        }
    }

    /// The first turn of a scene without a worldview, target, examples, motivations or original dialogue.
    #[test]
    fn missing_inputs_leave_no_empty_sections() {
        for language in Language::ALL {
            let texts = Texts(language);
            let test = TestReply {
                worldview: String::new(),
                lines: Vec::new(),
                history: Vec::new(),
                dimension: None,
                strategy: None,
                ..texts.test_reply()
            };
            insta::assert_snapshot!(format!("bare_test_reply_{language}"), rendered(&test));
            let scene = SceneReply {
                worldview: String::new(),
                motivations: Vec::new(),
                dialogue: Vec::new(),
                history: Vec::new(),
                dimension: None,
                eliciting: None,
                ..texts.scene_reply()
            };
            insta::assert_snapshot!(format!("bare_scene_reply_{language}"), rendered(&scene));
            let direct = Direct { history: Vec::new(), may_end: false, turns_left: 20, ..texts.direct() };
            insta::assert_snapshot!(format!("bare_direct_{language}"), rendered(&direct));
        }
    }

    /// Each prompt of a speaker extends its previous one except for the final turn block, for any target.
    #[test]
    fn later_prompts_of_a_speaker_extend_earlier_ones() {
        for language in Language::ALL {
            let texts = Texts(language);
            let turns = |name: &String| {
                let history = texts.history();
                let own: Vec<usize> = (0..history.len()).filter(|&turn| &history[turn].speaker == name).collect();
                own
            };
            let test = texts.test_reply();
            let test_prompts: Vec<_> = turns(&test.name)
                .into_iter()
                .map(|turn| {
                    let strategy = (turn % 2 == 0).then(|| format!("strategy {turn}"));
                    TestReply { history: texts.history()[..turn].to_vec(), strategy, ..test.clone() }
                })
                .map(|ask| ask.messages(&prompts()).expect("renders"))
                .collect();
            let scene = texts.scene_reply();
            let scene_prompts: Vec<_> = turns(&scene.name)
                .into_iter()
                .map(|turn| {
                    let eliciting = (turn % 2 == 0).then(|| format!("eliciting {turn}"));
                    SceneReply { history: texts.history()[..turn].to_vec(), eliciting, ..scene.clone() }
                })
                .map(|ask| ask.messages(&prompts()).expect("renders"))
                .collect();
            assert_eq!((test_prompts.len(), scene_prompts.len()), (2, 3));
            for pair in test_prompts.windows(2).chain(scene_prompts.windows(2)) {
                let [earlier, later] = pair else { unreachable!("windows of two") };
                let (last, before) = earlier.split_last().expect("a last message");
                assert_eq!(before, &later[..before.len()]);
                let stable = last.content.split("\n\n").next().expect("what was heard");
                assert_eq!(later[before.len()].content, stable);
            }
        }
    }

    #[test]
    fn the_directors_schema_lists_the_candidates() {
        for (may_end, expected) in [(true, json!(["Ann", "Bob", "END"])), (false, json!(["Ann", "Bob"]))] {
            let Shape::Json(schema) = (Direct { may_end, ..Texts(Language::En).direct() }).shape() else {
                panic!("a direction is JSON");
            };
            assert_eq!(schema["properties"]["next"]["enum"], expected);
            let keys: Vec<&String> = schema["properties"].as_object().expect("an object").keys().collect();
            assert_eq!(keys, ["reason", "next"]);
        }
    }

    #[test]
    fn a_reply_must_contain_speech_or_action_of_its_speaker() {
        for (language, answer, passes) in [
            (Language::En, "Tess: Hello.", true),
            (Language::En, "Ann: Hello.", false),
            (Language::En, "...", false),
            (Language::En, "(nods)", true),
            (Language::En, "You said: no.", true),
            (Language::Zh, "苔丝：你好。", true),
            (Language::Zh, "鲍勃：你好。", false),
            (Language::Zh, "……", false),
            (Language::Zh, "（点头）", true),
        ] {
            assert_eq!(Texts(language).test_reply().check(&answer.to_owned()).is_ok(), passes, "{answer}");
        }
    }
}
