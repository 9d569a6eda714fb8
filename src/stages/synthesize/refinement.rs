//! Self-refinement: a step, its review by the same model, and the step again with the faults found (FURINA, Appendix
//! A).

use futures::future::join_all;

use super::known::borrowed;
use super::review::{Review, Verdict};
use super::sheet::Sheet;
use crate::llm::{AskError, Model, OfflineAnswer};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Draw, Language, Message, WorldCall};

/// A previous answer in which the review found faults.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Draft {
    /// The answer as text.
    pub text: String,
    /// The faults.
    pub faults: Vec<String>,
}

/// An ask whose answer is reviewed and refined. Its template has a part `rules`, which is also shown to the reviewer.
pub(super) trait Step: OfflineAnswer<Answer: Clone> + serde::Serialize + Sized {
    /// The language of the answer.
    fn language(&self) -> Language;

    /// Returns the answer as text, for the reviewer.
    fn text(&self, answer: &Self::Answer) -> String;

    /// Returns what the answer has to be consistent with, for the reviewer: the part `input` of the template.
    fn input(&self, prompts: &Prompts) -> Result<String, PromptError> {
        prompts.render(Self::NAME, self.language(), "given", self)
    }

    /// Returns the characters of an answer, which must not resemble known figures.
    fn people(_: &Self::Answer) -> &[Sheet] {
        &[]
    }

    /// Returns the same ask with the previous answer and its faults.
    fn again(&self, draft: Draft) -> Self;
}

/// The result of a step.
#[derive(Debug)]
pub(super) struct Refined<T> {
    /// The answer.
    pub(super) answer: T,
    /// Whether it was reviewed without faults.
    pub(super) is_good: bool,
}

/// Runs a step, reviews the answer, and repeats the step while the review finds faults, at most `max_refinements`
/// times. The last answer is not reviewed.
///
/// The n-th attempt and its review have the draw `<draw>/<n>`; the resemblance to known figures is asked once per
/// sheet. If a review or refinement is refused or gets a bad reply, the previous answer is used. Both outcomes are in
/// the journal, so a replay takes the same path.
pub(super) async fn refined<S: Step>(
    model: &Model,
    step: S,
    draw: impl Fn(WorldCall) -> Draw,
    max_refinements: u32,
) -> Result<Refined<S::Answer>, AskError> {
    let mut step = step;
    let mut best: Option<S::Answer> = None;
    for n in 0..=max_refinements {
        let this = draw(WorldCall::Attempt(n));
        let answer = match (model.ask(&step, &this).await, best) {
            (Ok(answer), _) => answer,
            (Err(error), Some(answer)) if is_kept(&error) => return Ok(Refined { answer, is_good: false }),
            (Err(error), _) => return Err(error),
        };
        if n == max_refinements {
            return Ok(Refined { answer, is_good: false });
        }
        let text = step.text(&answer);
        let input = step.input(&model.session().prompts).map_err(|source| AskError::Prompt { ask: S::NAME, source })?;
        let review = Review { language: step.language(), step: S::NAME, input, output: text.clone() };
        let mut faults = match model.ask(&review, &this).await {
            Ok(reviewed) if reviewed.verdict == Verdict::Refine => reviewed.faults,
            Ok(_) => Vec::new(),
            Err(error) if is_kept(&error) => Vec::new(),
            Err(error) => return Err(error),
        };
        let known_figures = S::people(&answer)
            .iter()
            .map(|sheet| borrowed(model, sheet, step.language(), draw(WorldCall::KnownFigure)));
        // All calls run to completion even if one fails, so that paid answers are counted and journaled.
        for fault in join_all(known_figures).await {
            faults.extend(fault?);
        }
        if faults.is_empty() {
            return Ok(Refined { answer, is_good: true });
        }
        step = step.again(Draft { text, faults });
        best = Some(answer);
    }
    unreachable!("the loop returns in its last iteration")
}

/// Returns whether the replies behind an error are in the journal, so that a replay gets the same error.
pub(super) const fn is_kept(error: &AskError) -> bool {
    matches!(error, AskError::Refused { .. } | AskError::BadReply { .. })
}

/// Renders the parts `system` and `user` of a step's template.
pub(super) fn messages<S: Step>(step: &S, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
    let render = |part| prompts.render(S::NAME, step.language(), part, step);
    Ok(vec![Message::system(render("system")?), Message::user(render("user")?)])
}
