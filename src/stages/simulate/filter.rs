//! After the chat: a model rates the whole, and only a good one is kept (FURINA, Appendix G).

use super::asks::Rating;
use super::conversation::line;
use super::lane::Stage;
use super::reply::DISTURBING;
use super::setting::Setting;
use crate::llm::AskError;
use crate::schema::{Conversation, Line, Quality, Reject};

/// Rates a conversation that nothing has condemned before, and says whether it is kept; returns why not.
///
/// A conversation in which anybody falls out of the part is dropped whole, like one that a provider's content block disturbed
/// (Appendix N): who answers a refusal, or a line in another language, plays no scene any more.
/// Without a rating it is dropped as well, with the rater's error as the reason.
pub(super) async fn rate(
    stage: &Stage<'_>,
    setting: &Setting<'_>,
    conversation: &mut Conversation,
) -> Result<Option<Reject>, AskError> {
    let disturbed = conversation
        .turns
        .iter()
        .find_map(|turn| Some((turn, turn.faults.iter().find(|fault| DISTURBING.contains(&fault.as_str()))?)));
    if let Some((turn, fault)) = disturbed {
        let detail = format!("turn {}, {}: `{}`", turn.index, turn.speaker, turn.content);
        return Ok(Some(Reject::new("simulate", &conversation.id, &format!("format:{fault}"), detail)));
    }
    let history: Vec<Line> = conversation.turns.iter().map(line).collect();
    let rating = stage.judge.ask(&setting.rate(&history), &format!("{}/rate", conversation.id)).await;
    let Rating { interaction, coherence, progression, quality } = match rating {
        Ok(rating) => rating,
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => return Ok(Some(Reject::new("simulate", &conversation.id, error.reason(), error.detail()))),
    };
    conversation.quality = Some(quality);
    conversation.quality_rationale = Some(format!("{interaction}\n{coherence}\n{progression}"));
    conversation.kept = quality == Quality::High;
    Ok((!conversation.kept).then(|| {
        let detail = format!("{} turns, rated {}: {coherence}", conversation.turns.len(), quality.name());
        Reject::new("simulate", &conversation.id, &format!("quality:{}", quality.name()), detail)
    }))
}
