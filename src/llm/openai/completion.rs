//! Parses chat completions, leniently, as servers differ. Opens no connections.

use serde_json::Value;

use crate::llm::record::{Reply, Request};
use crate::llm::tokens::estimate_tokens;
use crate::llm::usage::Usage;

/// Parses the reply and the usage; the error says what is missing.
pub(crate) fn read(body: &Value, request: &Request) -> Result<(Reply, Usage), String> {
    let choice = body["choices"].get(0).ok_or("it has no `choices`")?;
    if choice["finish_reason"] == "error" {
        return Err("its `finish_reason` is `error`".to_owned());
    }
    let message = &choice["message"];
    let (mut text, mut reasoning) = (String::new(), Vec::new());
    gather(if message.is_null() { &choice["text"] } else { &message["content"] }, &mut text, &mut reasoning);
    let separate_reasoning = [&message["reasoning_content"], &message["reasoning"]].into_iter().find_map(Value::as_str);
    reasoning.extend(separate_reasoning.map(str::to_owned));
    let (inside, rest) = split_reasoning(&text);
    reasoning.extend(inside.map(str::to_owned));
    let mut text = rest.to_owned();
    let mut finish = choice["finish_reason"].as_str().and_then(finish_of);
    if let Some(refusal) = message["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
        refusal.clone_into(&mut text);
        finish = Some("refusal".to_owned());
    }
    reasoning.retain(|part| !part.trim().is_empty());
    let reasoning = (!reasoning.is_empty()).then(|| reasoning.join("\n").trim().to_owned());
    let usage = usage(&body["usage"], request, &text, reasoning.as_deref().unwrap_or_default());
    let served_model = body["model"].as_str().map(str::to_owned);
    Ok((Reply { text, reasoning, finish, served_model }, usage))
}

/// Maps a finish reason to that of the original API where it has the same meaning.
fn finish_of(reason: &str) -> Option<String> {
    let lower = reason.trim().to_ascii_lowercase();
    let known = match lower.as_str() {
        "" | "null" => return None,
        "length" | "max_tokens" | "model_length" | "max_output_tokens" | "token_limit" => "length",
        "content_filter" | "safety" | "prohibited_content" | "blocklist" | "recitation" | "spii" | "sensitive" => {
            "content_filter"
        }
        "refusal" => "refusal",
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => "stop",
        _ => return Some(reason.trim().to_owned()),
    };
    Some(known.to_owned())
}

/// Collects content that is a string, a list of parts, or null.
fn gather(content: &Value, text: &mut String, reasoning: &mut Vec<String>) {
    match content {
        Value::String(part) => text.push_str(part),
        Value::Array(parts) => {
            for part in parts {
                let is_thought = matches!(part["type"].as_str(), Some("thinking" | "reasoning"));
                match part.as_str().or_else(|| part["text"].as_str()).or_else(|| part["thinking"].as_str()) {
                    Some(thought) if is_thought => reasoning.push(thought.to_owned()),
                    Some(part) => text.push_str(part),
                    None => {}
                }
            }
        }
        _ => {}
    }
}

/// Splits a text into its leading reasoning and the rest.
///
/// The opening tag is missing if the server's chat template wrote it, the closing one if the reply was cut.
fn split_reasoning(text: &str) -> (Option<&str>, &str) {
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        if let Some(inside) = text.trim_start().strip_prefix(open) {
            return inside
                .split_once(close)
                .map_or((Some(inside), ""), |(thought, rest)| (Some(thought), rest.trim_start()));
        }
        if let Some((thought, rest)) = text.split_once(close)
            && !thought.contains(open)
        {
            return (Some(thought), rest.trim_start());
        }
    }
    (None, text)
}

/// Parses the usage; missing counts are estimated.
fn usage(usage: &Value, request: &Request, text: &str, reasoning: &str) -> Usage {
    let prompt = count(&usage["prompt_tokens"]);
    let completion = count(&usage["completion_tokens"]);
    let cached = count(&usage["prompt_tokens_details"]["cached_tokens"])
        .or_else(|| count(&usage["prompt_cache_hit_tokens"]))
        .unwrap_or_default();
    let estimated = prompt.is_none() || completion.is_none();
    let prompt = prompt
        .unwrap_or_else(|| request.messages.iter().map(|message| u64::from(estimate_tokens(&message.content))).sum());
    let thought = || u64::from(estimate_tokens(reasoning));
    let counted = count(&usage["completion_tokens_details"]["reasoning_tokens"]);
    let (completion, reasoning) = match completion {
        Some(completion) => (completion, counted.unwrap_or_default()),
        None => (u64::from(estimate_tokens(text)) + thought(), counted.unwrap_or_else(thought)),
    };
    Usage { prompt, cached: cached.min(prompt), completion, reasoning: reasoning.min(completion), estimated }
}

/// Parses a count, which some servers write as `12.0`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().map(|count| count as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Message;

    fn reply(body: &Value) -> (Reply, Usage) {
        let (sampling, schema, extra_body) = (Value::Null, Value::Null, Value::Null);
        let messages = vec![Message::user("one two three")];
        let request = Request { model: "m".to_owned(), messages, sampling, schema, extra_body };
        read(body, &request).expect("a completion")
    }

    #[test]
    fn every_form_of_content_is_read() {
        for (message, text, reasoning) in [
            (json!({"content": "Hm."}), "Hm.", None),
            (json!({"content": null}), "", None),
            (json!({}), "", None),
            (json!({"content": [{"type": "text", "text": "H"}, {"type": "text", "text": "m."}]}), "Hm.", None),
            (
                json!({"content": [{"type": "thinking", "thinking": "So"}, {"type": "text", "text": "Hm."}]}),
                "Hm.",
                Some("So"),
            ),
            (json!({"content": "<think>\nSo\n</think>\n\nHm."}), "Hm.", Some("So")),
            (json!({"content": "So\n</think>\n\nHm."}), "Hm.", Some("So")),
            (json!({"content": "<think></think>Hm."}), "Hm.", None),
            (json!({"content": "<think>So far"}), "", Some("So far")),
            (json!({"content": "Hm.", "reasoning_content": "So"}), "Hm.", Some("So")),
            (json!({"content": "Hm.", "reasoning": "So"}), "Hm.", Some("So")),
            (json!({"content": "<thinking>想</thinking>嗯。"}), "嗯。", Some("想")),
        ] {
            let (reply, _) = reply(&json!({"choices": [{"message": message, "finish_reason": "stop"}]}));
            assert_eq!((reply.text.as_str(), reply.reasoning.as_deref()), (text, reasoning), "{message}");
            assert_eq!(reply.finish.as_deref(), Some("stop"));
        }
    }

    #[test]
    fn refusals_are_recognized() {
        let (reply, _) = reply(&json!({"choices": [{"message": {"content": null, "refusal": "I will not."}}]}));
        assert_eq!((reply.text.as_str(), reply.finish.as_deref()), ("I will not.", Some("refusal")));
    }

    #[test]
    fn unusual_finish_reasons_are_mapped_or_kept() {
        for (given, expected) in [
            (json!("stop"), Some("stop")),
            (json!("MAX_TOKENS"), Some("length")),
            (json!("SAFETY"), Some("content_filter")),
            (json!(""), None),
            (json!(null), None),
            (json!(3), None),
            (json!("eos"), Some("stop")),
            (json!("flagged_for_fun"), Some("flagged_for_fun")),
        ] {
            let (reply, _) = reply(&json!({"choices": [{"message": {"content": "Hm."}, "finish_reason": given}]}));
            assert_eq!(reply.finish.as_deref(), expected, "{given}");
        }
        let request = json!({"choices": [{"message": {"content": ""}, "finish_reason": "error"}]});
        let (sampling, schema, extra_body) = (Value::Null, Value::Null, Value::Null);
        let nothing = Request { model: String::new(), messages: Vec::new(), sampling, schema, extra_body };
        read(&request, &nothing).expect_err("the server failed");
    }

    #[test]
    fn usage_is_read_or_estimated() {
        let choices = json!([{"message": {"content": "Hm"}, "finish_reason": 7}]);
        let details = json!({"cached_tokens": 8});
        let thought = json!({"reasoning_tokens": 1});
        let given = json!({"prompt_tokens": 10, "completion_tokens": 2.0, "prompt_tokens_details": details,
            "completion_tokens_details": thought});
        let (_, usage) = reply(&json!({"choices": choices, "usage": given}));
        assert_eq!(usage, Usage { prompt: 10, cached: 8, completion: 2, reasoning: 1, estimated: false });
        let (reply, usage) = reply(&json!({"choices": choices, "usage": null, "model": "m-1"}));
        assert_eq!(usage, Usage { prompt: 3, cached: 0, completion: 1, reasoning: 0, estimated: true });
        assert_eq!((reply.finish, reply.served_model.as_deref()), (None, Some("m-1")));
    }
}
