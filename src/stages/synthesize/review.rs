//! The ask `synthesize/review`: the model reviews its own answer to a step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::llm::Ask;
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
    pub input: String,
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
        let context = Context { rules, given: &self.input, output: &self.output };
        let render = |part| prompts.render(Self::NAME, self.language, part, &context);
        Ok(vec![Message::system(render("system")?), Message::user(render("user")?)])
    }

    fn check(&self, reviewed: &Reviewed) -> Result<(), String> {
        let has_faults = reviewed.faults.iter().any(|fault| !fault.trim().is_empty());
        if reviewed.verdict == Verdict::Refine && !has_faults {
            return Err("`refine` needs at least one fault that is to be mended".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_verdict_needs_faults() {
        for language in Language::ALL {
            let ask = Review { language, step: "synthesize/world", input: String::new(), output: String::new() };
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
}
