//! Context-Instruct: a model reads a segment or a description and writes triplets of question, confidence and answer
//! (`RoleLLM`, 3.3 and Appendix C).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::role_profile::two_parts;
use crate::llm::{Ask, Shape, schema_of};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Confidence, DialogueTurn, Language, Message};
use crate::text::check_language;

/// What could one ask a role about a segment of its dialogue, and what does it answer?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskSegment {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// Its description in the second person.
    pub description: String,
    /// Its catchphrases.
    pub catchphrases: Vec<String>,
    /// The segment. Adjacent turns may come from different acts.
    pub turns: Vec<DialogueTurn>,
    /// The number of triplets.
    pub count: u32,
}

/// What could one ask a role about itself, and what does it answer?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskDescription {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// Its description in the second person.
    pub description: String,
    /// Its catchphrases.
    pub catchphrases: Vec<String>,
    /// Sample lines of the role, so that its answers sound like it.
    pub lines: Vec<String>,
    /// The topic of this call's questions, so that no two calls ask the same.
    pub angle: String,
    /// The number of triplets.
    pub count: u32,
}

/// What a call gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Triplets {
    /// The triplets.
    pub triplets: Vec<Triplet>,
}

/// A question, how sure one is of it, and the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Triplet {
    /// The question, put to the role by name.
    pub question: String,
    /// Why the confidence is what it is.
    pub rationale: String,
    /// The verdict.
    pub confidence: Confidence,
    /// What the role answers, in the first person.
    pub answer: String,
}

/// The topic of a call on the description, with a direct question about it.
struct Angle {
    en: &'static str,
    zh: &'static str,
    question_en: &'static str,
    question_zh: &'static str,
}

/// Builds an angle from its English and Chinese texts.
const fn about(en: [&'static str; 2], zh: [&'static str; 2]) -> Angle {
    Angle { en: en[0], zh: zh[0], question_en: en[1], question_zh: zh[1] }
}

/// Topics of the calls on the description, in order. The list is not from the paper; it is as long as the paper's
/// number of calls.
const ANGLES: [Angle; 20] = [
    about(
        ["where they come from, and what they left behind", "where do you come from, and what did you leave behind?"],
        ["出身，以及撇下了什么", "你是哪里人，当初撇下了什么？"],
    ),
    about(
        ["the work they do, and what they know by doing it", "what does your work teach you that nobody else knows?"],
        ["营生，以及由此懂得的门道", "你靠什么营生，从中懂得了什么门道？"],
    ),
    about(["the people nearest to them", "who is nearest to you?"], ["最亲近的人", "你跟谁最亲近？"]),
    about(
        ["somebody they cannot forgive, or who cannot forgive them", "whom can you not forgive?"],
        ["不能原谅的人，或不能原谅自己的人", "有谁是你不能原谅的？"],
    ),
    about(["what they are afraid of", "what are you afraid of?"], ["怕什么", "你怕什么？"]),
    about(
        ["what they want above all, and what it would cost", "what do you want above all, and what would it cost you?"],
        ["最想要的是什么，要付出什么", "你最想要的是什么，要为它付出什么？"],
    ),
    about(
        ["a decision that they would take again, or would not", "which of your decisions would you take again?"],
        ["一个还会再做、或不会再做的决定", "哪个决定你还会再做一回？"],
    ),
    about(
        [
            "what they hold to be right, and where they bend it",
            "what do you hold to be right, and when do you bend it?",
        ],
        ["认什么理，何时也会通融", "你认什么理，什么时候也肯通融？"],
    ),
    about(
        ["small habits, tastes and things that they own", "which small thing of yours would you not be without?"],
        ["小习惯、口味和身边的物件", "你身边少不了的小物件是什么？"],
    ),
    about(
        ["the place that they live in, and its people", "what is it like where you live?"],
        ["住的地方，和那里的人", "你住的地方是什么样的，人怎么样？"],
    ),
    about(
        ["something that they keep to themselves", "what do you keep to yourself?"],
        ["藏在心里不说的事", "你心里藏着什么不说的事？"],
    ),
    about(["how they have changed", "how have you changed?"], ["自己是怎么变的", "你跟从前比，变在哪里？"]),
    about(
        ["what others say of them, and whether it is fair", "what do others say of you, and is it fair?"],
        ["旁人怎么说，说得公道不公道", "旁人怎么说你，说得公道么？"],
    ),
    about(
        ["advice that they would give to somebody young", "what would you tell somebody young?"],
        ["会劝年轻人什么", "你会劝年轻人什么？"],
    ),
    about(
        ["the hardest day that is known of them", "what was your hardest day?"],
        ["所知的最难的一天", "你最难熬的是哪一天？"],
    ),
    about(
        ["what makes them laugh, and what makes them angry", "what makes you laugh, and what makes you angry?"],
        ["什么让自己笑，什么让自己恼", "什么事能叫你笑，什么事叫你恼？"],
    ),
    about(
        ["what they know about money, debts and promises", "what do you owe, and who owes you?"],
        ["钱、债和说过的话", "你欠着谁，谁又欠着你？"],
    ),
    about(
        ["whom they would trust with a secret or a key, and why", "whom would you trust with a key?"],
        ["会把秘密或钥匙托付给谁，为什么", "钥匙你放心交给谁？"],
    ),
    about(
        ["what they would do on a day that is theirs alone", "what would you do with a day of your own?"],
        ["若有一整天归自己，会做什么", "若有一整天归你自己，你做什么？"],
    ),
    about(
        ["what they would have said of them when they are gone", "what should be said of you when you are gone?"],
        ["身后愿意别人怎么说自己", "百年之后，你愿意别人怎么说你？"],
    ),
];

/// Returns the topic of the n-th call on a description: first each angle alone, then each combined with another one.
/// The first 400 topics are all different.
#[must_use]
pub(in crate::stages::instruct) fn angle(n: u32, language: Language) -> String {
    let (round, at) = (n as usize / ANGLES.len(), n as usize % ANGLES.len());
    let text = |topic: &Angle| if language == Language::Zh { topic.zh } else { topic.en };
    let first = text(&ANGLES[at]);
    match (round % ANGLES.len(), language) {
        (0, _) => first.to_owned(),
        (round, Language::En) => {
            format!("{first}; and what that has to do with this: {}", text(&ANGLES[(at + round) % ANGLES.len()]))
        }
        (round, Language::Zh) => {
            format!("{first}；以及这跟下面的有什么相干：{}", text(&ANGLES[(at + round) % ANGLES.len()]))
        }
    }
}

/// Returns the direct questions about a call's topic.
pub(crate) fn direct_questions(topic: &str, language: Language) -> Vec<&'static str> {
    let of = |one: &&Angle| topic.contains(if language == Language::Zh { one.zh } else { one.en });
    let question = |one: &Angle| if language == Language::Zh { one.question_zh } else { one.question_en };
    ANGLES.iter().filter(of).map(question).collect()
}

impl Ask for AskSegment {
    const NAME: &'static str = "instruct/script_based";
    type Answer = Triplets;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        two_parts(self, self.language, prompts)
    }

    fn shape(&self) -> Shape {
        counted(self.count)
    }

    fn check(&self, answer: &Triplets) -> Result<(), String> {
        check(answer, self.language)
    }
}

impl Ask for AskDescription {
    const NAME: &'static str = "instruct/script_agnostic";
    type Answer = Triplets;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        two_parts(self, self.language, prompts)
    }

    fn shape(&self) -> Shape {
        counted(self.count)
    }

    fn check(&self, answer: &Triplets) -> Result<(), String> {
        check(answer, self.language)
    }
}

/// Returns the schema with the maximum number of triplets.
fn counted(count: u32) -> Shape {
    let mut schema = schema_of::<Triplets>();
    schema["properties"]["triplets"]["maxItems"] = json!(count);
    Shape::Json(schema)
}

fn check(answer: &Triplets, language: Language) -> Result<(), String> {
    for triplet in &answer.triplets {
        for (key, text) in
            [("question", &triplet.question), ("rationale", &triplet.rationale), ("answer", &triplet.answer)]
        {
            if text.trim().is_empty() {
                return Err(format!("a `{key}` is empty"));
            }
        }
    }
    let texts: Vec<&str> = answer.triplets.iter().flat_map(|one| [one.question.as_str(), &one.answer]).collect();
    if texts.is_empty() { Ok(()) } else { check_language(&texts.concat(), language) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::stages::instruct::params::Params;

    #[test]
    fn appendix_c_no_two_calls_about_a_role_have_one_angle() {
        let params = Params::default();
        assert!(params.agnostic_calls as usize <= ANGLES.len(), "each of the paper's calls has one angle");
        for language in Language::ALL {
            let angles: BTreeSet<String> = (0..400).map(|n| angle(n, language)).collect();
            assert_eq!(angles.len(), 400, "{language}");
            assert!(params.max_agnostic_calls < 400);
            assert_eq!(direct_questions(&angle(3, language), language).len(), 1, "{language}");
            assert_eq!(direct_questions(&angle(23, language), language).len(), 2, "{language}");
        }
        assert!(
            angle(2, Language::En).starts_with("the people") && angle(22, Language::Zh).starts_with("最亲近的人；")
        );
    }
}
