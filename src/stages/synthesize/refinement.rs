//! A step, its review by the model itself, and the step again with the faults in hand (FURINA, Appendix A).

use futures::future::join_all;

use super::characters::Sheet;
use super::known::borrowed;
use super::review::{Review, Verdict};
use crate::llm::{Ask, AskError, Model};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Language, Message};

/// An earlier answer that its reviewer faulted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Draft {
    /// The answer as text.
    pub text: String,
    /// What is wrong with it.
    pub faults: Vec<String>,
}

/// An ask of this stage whose answer is reviewed and refined. Its template has a part `rules`, which the reviewer reads too.
pub(super) trait Step: Ask<Answer: Clone> + serde::Serialize + Sized {
    /// The language of the answer.
    fn language(&self) -> Language;

    /// Returns the answer as text, for the reviewer.
    fn text(&self, answer: &Self::Answer) -> String;

    /// Returns what the answer has to agree with: the part `given` of the template, for the reviewer.
    fn given(&self, prompts: &Prompts) -> Result<String, PromptError> {
        prompts.render(Self::NAME, self.language(), "given", self)
    }

    /// Returns the people of an answer: a known figure among them is a fault.
    fn people(_: &Self::Answer) -> &[Sheet] {
        &[]
    }

    /// Returns the same question with an earlier answer and its faults.
    fn again(&self, draft: Draft) -> Self;
}

/// What came of a step.
#[derive(Debug)]
pub(super) struct Refined<T> {
    /// The answer.
    pub(super) answer: T,
    /// Whether it was reviewed, and nothing was found in it.
    pub(super) is_good: bool,
}

/// Asks a step, has the answer reviewed, and asks again while the reviewer faults it, at most `max_refinements` times; the
/// last answer is taken as it is.
///
/// The n-th asking and its review have the draw `<draw>/<n>`; whom people are like is asked once for each sheet. A model that refuses a review or a refinement, or breaks
/// its form to the end, leaves the answer before it in force: both stand in the journal, so a replay goes the same way.
pub(super) async fn refined<S: Step>(
    model: &Model,
    step: S,
    draw: &str,
    max_refinements: u32,
) -> Result<Refined<S::Answer>, AskError> {
    let mut step = step;
    let mut best: Option<S::Answer> = None;
    for n in 0..=max_refinements {
        let this = format!("{draw}/{n}");
        let answer = match (model.ask(&step, &this).await, best) {
            (Ok(answer), _) => answer,
            (Err(error), Some(answer)) if is_kept(&error) => return Ok(Refined { answer, is_good: false }),
            (Err(error), _) => return Err(error),
        };
        if n == max_refinements {
            return Ok(Refined { answer, is_good: false });
        }
        let text = step.text(&answer);
        let given = step.given(&model.desk().prompts).map_err(|source| AskError::Prompt { ask: S::NAME, source })?;
        let review = Review { language: step.language(), step: S::NAME, given, output: text.clone() };
        let mut faults = match model.ask(&review, &this).await {
            Ok(reviewed) if reviewed.verdict == Verdict::Refine => reviewed.faults,
            Ok(_) => Vec::new(),
            Err(error) if is_kept(&error) => Vec::new(),
            Err(error) => return Err(error),
        };
        let likenesses = S::people(&answer).iter().map(|sheet| borrowed(model, sheet, step.language(), draw));
        // All of them end, whatever becomes of one: a call that has begun is paid for, and is to be counted and kept.
        for fault in join_all(likenesses).await {
            faults.extend(fault?);
        }
        if faults.is_empty() {
            return Ok(Refined { answer, is_good: true });
        }
        step = step.again(Draft { text, faults });
        best = Some(answer);
    }
    unreachable!("the loop returns at its last turn")
}

/// Whether the journal holds the replies that led to an error, so that meeting it again is certain.
pub(super) const fn is_kept(error: &AskError) -> bool {
    matches!(error, AskError::Refused { .. } | AskError::BadReply { .. })
}

/// Renders the parts `system` and `user` of a step's template.
pub(super) fn messages<S: Step>(step: &S, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
    let render = |part| prompts.render(S::NAME, step.language(), part, step);
    Ok(vec![Message::system(render("system")?), Message::user(render("user")?)])
}
