//! The ask `synthesize/review`: the model reviews its own answer to a step.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::faults::clash;
use crate::llm::{Ask, Offline, OfflineAnswer};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Language, Message};

/// Asks for the faults in the answer to a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Review {
    /// The language of the prompt.
    pub language: Language,
    /// The name of the ask that was answered.
    pub step: &'static str,
    /// What the answer has to be consistent with; empty for the first step.
    pub given: String,
    /// The answer as text.
    pub output: String,
}

/// The review: reasons before the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reviewed {
    /// What has to be mended, one fault each; empty when nothing has.
    pub faults: Vec<String>,
    /// Whether it is fit as it is.
    pub verdict: Verdict,
}

/// Whether an answer is fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Fit as it is.
    Good,
    /// To be asked again with the faults in hand.
    Refine,
}

#[derive(Serialize)]
struct Context<'a> {
    rules: String,
    given: &'a str,
    output: &'a str,
}

impl Ask for Review {
    const NAME: &'static str = "synthesize/review";
    type Answer = Reviewed;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        let rules = prompts.render(self.step, self.language, "rules", &())?;
        let context = Context { rules, given: &self.given, output: &self.output };
        let render = |part| prompts.render(Self::NAME, self.language, part, &context);
        Ok(vec![Message::system(render("system")?), Message::user(render("user")?)])
    }

    fn check(&self, reviewed: &Reviewed) -> Result<(), String> {
        let is_told = reviewed.faults.iter().any(|fault| !fault.trim().is_empty());
        if reviewed.verdict == Verdict::Refine && !is_told {
            return Err("`refine` needs at least one fault that is to be mended".to_owned());
        }
        Ok(())
    }
}

impl OfflineAnswer for Review {
    /// Checks what rules can check: empty entries, repeated lines, similar names, and length.
    fn answer_offline(&self, _: &mut Offline<'_>) -> Reviewed {
        let faults = measured(self.language, &self.output);
        let verdict = if faults.is_empty() { Verdict::Good } else { Verdict::Refine };
        Reviewed { faults, verdict }
    }
}

/// Minimum number of letters (Chinese: characters) of an answer.
const SHORTEST: usize = 40;

fn measured(language: Language, output: &str) -> Vec<String> {
    let say = |en: String, zh: String| if language == Language::En { en } else { zh };
    let mut faults = Vec::new();
    let letters = output.chars().filter(|c| c.is_alphabetic()).count();
    if letters < SHORTEST {
        faults.push(say(format!("too short: {letters} letters"), format!("太短：只有{letters}个字")));
    }
    let (mut seen, mut names) = (BTreeSet::new(), Vec::<&str>::new());
    for line in output.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# ") {
            if let Some(other) = names.iter().find(|other| clash(name, other)) {
                faults.push(say(
                    format!("the names {other} and {name} are too alike"),
                    format!("名字太像：{other}、{name}"),
                ));
            }
            names.push(name);
            continue;
        }
        if let Some(key) = line.strip_suffix([':', '：']) {
            faults.push(say(format!("nothing is said under `{key}`"), format!("“{key}”一项是空的")));
        }
        // Short lines, such as a gender, may be repeated.
        if line.chars().count() > 12 && !seen.insert(line) {
            faults.push(say(format!("said twice: {line}"), format!("重复：{line}")));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_needs_its_faults() {
        for language in Language::ALL {
            let ask = Review { language, step: "synthesize/world", given: String::new(), output: String::new() };
            for (verdict, faults, right) in [
                (Verdict::Good, &[][..], true),
                (Verdict::Good, &["a trifle"], true),
                (Verdict::Refine, &["太短"], true),
                (Verdict::Refine, &[], false),
                (Verdict::Refine, &[" "], false),
            ] {
                let faults = faults.iter().map(|&fault| fault.to_owned()).collect();
                assert_eq!(ask.check(&Reviewed { faults, verdict }).is_ok(), right);
            }
        }
    }

    #[test]
    fn measurable_faults_are_found() {
        let long = "A place that goes on for long enough to be called a place.";
        for (output, count) in [
            (long.to_owned(), 0),
            ("short".to_owned(), 1),
            (format!("{long}\n{long}"), 1),
            (format!("{long}\nage:"), 1),
            (format!("# Orrie\n{long}\n# Orrie Dace\nage: 40"), 1),
        ] {
            let faults = measured(Language::En, &output);
            assert_eq!(faults.len(), count, "{output}: {faults:?}");
        }
        let faults = measured(Language::Zh, "# 沐知微\n年龄：\n");
        assert_eq!(faults, ["太短：只有5个字", "“年龄”一项是空的"]);
    }
}
