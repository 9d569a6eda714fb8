//! Parses and validates the replies of models.

use serde_json::Value;

use crate::llm::ask::Shape;
use crate::llm::error::ReplyFault;
use crate::llm::offline::OfflineAnswer;
use crate::llm::openai::lenient_json::{fill_nulls, json_of};
use crate::llm::record::Reply;
use crate::llm::session::Session;
use crate::schema::Language;

/// Why a reply cannot be used.
pub(super) enum Fault {
    /// The model refused, or, if the flag is set, a content filter stopped it.
    Refused(String, bool),
    /// The reply is unusable; asking again may help.
    Bad(ReplyFault, String),
}

/// Parses and validates a reply.
pub(super) fn read<A: OfflineAnswer>(
    ask: &A,
    shape: &Shape,
    reply: &Reply,
    session: &Session,
) -> Result<A::Answer, Fault> {
    match reply.finish.as_deref() {
        Some("refusal") => return Err(Fault::Refused(reply.text.clone(), false)),
        Some("content_filter") if reply.text.trim().is_empty() => {
            return Err(Fault::Refused("the provider's content filter removed the whole reply".to_owned(), true));
        }
        Some("content_filter") => {
            return Err(Fault::Refused(format!("the provider's content filter: {}", short(&reply.text)), true));
        }
        _ => {}
    }
    let is_cut = reply.finish.as_deref() == Some("length");
    if reply.text.trim().is_empty() {
        return Err(if is_cut {
            Fault::Bad(ReplyFault::Cut, "the length limit was reached before the reply began".to_owned())
        } else {
            Fault::Bad(ReplyFault::Empty, "the reply is empty".to_owned())
        });
    }
    let cut = || Fault::Bad(ReplyFault::Cut, "the reply was cut at the length limit; be shorter".to_owned());
    let unfit = |fault| if is_cut { cut() } else { Fault::Bad(ReplyFault::Unfit, fault) };
    let value = match shape {
        Shape::Text if is_cut => return Err(cut()),
        Shape::Text => Value::String(reply.text.trim().to_owned()),
        // The reply may be complete even though the limit was reached.
        Shape::Json(schema) => {
            let mut value = json_of(&reply.text).map_err(unfit)?;
            fill_nulls(schema, &mut value);
            let coerced = |fault| ask.coerce(&value).map_or(Err(fault), |coerced| validate(schema, &coerced, session));
            validate(schema, &value, session).or_else(coerced).map_err(unfit)?;
            value
        }
    };
    let answer = serde_json::from_value(value).map_err(|error| unfit(error.to_string()))?;
    ask.check(&answer).map_err(|fault| Fault::Bad(ReplyFault::Unfit, fault))?;
    Ok(answer)
}

/// Validates a value against a schema. The error lists up to five violations with their paths, without repeating the
/// value.
fn validate(schema: &Value, value: &Value, session: &Session) -> Result<(), String> {
    let validator = session.validator(schema)?;
    let faults: Vec<String> = validator
        .iter_errors(value)
        .take(5)
        .map(|error| {
            let path = error.instance_path().to_string();
            let fault = error.masked_with("the value").to_string();
            if path.is_empty() { fault } else { format!("at `{path}`, {fault}") }
        })
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(short(&faults.join("; "))) }
}

/// Returns the first 600 characters of a text.
fn short(text: &str) -> String {
    text.char_indices().nth(600).map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}

/// Returns the message that tells a model why its reply cannot be used.
pub(super) fn retry_message(fault: &str, shape: &Shape, language: Language) -> String {
    match (language, shape) {
        (Language::En, Shape::Json(_)) => format!(
            "That reply cannot be used: {fault}. Answer again with one JSON object that fits the schema, and nothing else."
        ),
        (Language::En, Shape::Text) => format!("That reply cannot be used: {fault}. Answer again."),
        (Language::Zh, Shape::Json(_)) => {
            format!("上面的回复无法使用：{fault}。请重新作答，只输出一个符合模式的 JSON 对象，不要输出任何其他内容。")
        }
        (Language::Zh, Shape::Text) => format!("上面的回复无法使用：{fault}。请重新作答。"),
    }
}
