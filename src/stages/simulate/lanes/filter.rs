//! Rates finished conversations and keeps only those of high quality (FURINA, Appendix G).

use crate::llm::AskError;
use crate::schema::{Conversation, Draw, Line, Quality, Reject, RejectReason, Turn};
use crate::stages::simulate::asks::Rating;
use crate::stages::simulate::context::Context;
use crate::stages::simulate::conversation::line;
use crate::stages::simulate::conversation::prompt_context::PromptContext;
use crate::stages::simulate::reply::{DISTURBING, format_faults};

/// Rates a conversation and sets `kept`. Returns the reject if it is dropped.
///
/// A conversation with a fault of [`DISTURBING`] is dropped without a rating, as the paper does for conversations
/// disturbed by a provider's content filter (Appendix N): replies to a refusal, or to an utterance in another language,
/// are no longer role play. If the rating fails, the conversation is dropped with the error's reason.
pub(crate) async fn rate(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    conversation: &mut Conversation,
) -> Result<Option<Reject>, AskError> {
    let disturbing = |turn: &Turn| format_faults(turn).find(|fault| DISTURBING.contains(fault));
    let disturbed = conversation.turns.iter().find_map(|turn| Some((turn, disturbing(turn)?)));
    if let Some((turn, fault)) = disturbed {
        let detail = format!("turn {}, {}: `{}`", turn.index, turn.speaker, turn.content);
        return Ok(Some(Reject::new(
            crate::schema::Stage::Simulate,
            &conversation.id,
            RejectReason::Format(fault),
            detail,
        )));
    }
    let history: Vec<Line> = conversation.turns.iter().map(line).collect();
    let rating = context
        .judge
        .ask(&prompt_context.rate(&history), &Draw::Rating { conversation: conversation.id.clone() })
        .await;
    let Rating { interaction, coherence, progression, quality } = match rating {
        Ok(rating) => rating,
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => {
            return Ok(Some(Reject::new(
                crate::schema::Stage::Simulate,
                &conversation.id,
                error.reason(),
                error.detail(),
            )));
        }
    };
    conversation.quality = Some(quality);
    conversation.quality_rationale = Some(format!("{interaction}\n{coherence}\n{progression}"));
    conversation.kept = quality == Quality::High;
    Ok((!conversation.kept).then(|| {
        let detail = format!("{} turns, rated {}: {coherence}", conversation.turns.len(), quality.name());
        Reject::new(crate::schema::Stage::Simulate, &conversation.id, RejectReason::Quality(quality), detail)
    }))
}
