//! The format of a request body, which is adapted to what a server supports.
//!
//! The format does not affect the journal key, which is computed from the [`Request`].

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::error_texts::ERROR_TEXTS;
use super::schema_support::Schemas;
use crate::llm::language::language_of;
use crate::llm::record::Request;
use crate::schema::{Language, Message, Role};

/// How JSON replies are requested, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum JsonFormat {
    /// The server enforces the schema.
    Schema,
    /// The server enforces JSON; the schema is in the prompt.
    Object,
    /// The schema is in the prompt.
    Words,
}

/// The request format that an endpoint supports, according to its errors so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent feature of a server")]
pub(crate) struct RequestFormat {
    format: JsonFormat,
    new_length_key: bool,
    seed: bool,
    system: bool,
    reasoning: bool,
}

impl RequestFormat {
    /// The format of the first request.
    pub(crate) const FIRST: u8 = 0;

    /// Decodes the byte stored by [`Client`](super::client::Client).
    pub(crate) const fn from_byte(byte: u8) -> Self {
        let format = match byte & 3 {
            0 => JsonFormat::Schema,
            1 => JsonFormat::Object,
            _ => JsonFormat::Words,
        };
        Self {
            format,
            new_length_key: byte & 4 != 0,
            seed: byte & 8 == 0,
            system: byte & 16 == 0,
            reasoning: byte & 32 != 0,
        }
    }

    /// Encodes the format with one bit per unsupported feature; the union of two bytes is the format for a server that
    /// supports neither feature.
    pub(crate) const fn byte(self) -> u8 {
        let format = match self.format {
            JsonFormat::Schema => 0,
            JsonFormat::Object => 1,
            JsonFormat::Words => 3,
        };
        let (seed, system) = ((!self.seed as u8) << 3, (!self.system as u8) << 4);
        format | (self.new_length_key as u8) << 2 | seed | system | (self.reasoning as u8) << 5
    }

    /// Returns how JSON replies are requested.
    pub(crate) const fn schemas(self) -> Schemas {
        match self.format {
            JsonFormat::Schema => Schemas::Strict,
            JsonFormat::Object => Schemas::Object,
            JsonFormat::Words => Schemas::Prompt,
        }
    }

    /// Returns the body of a request. With `schema_in_prompt` the schema is also in the prompt, for servers that accepted the
    /// schema and did not follow it. `thoughts` is the reasoning behind the last assistant messages, for servers that
    /// require it; it is from this call only, not from other characters.
    pub(crate) fn body(
        self,
        request: &Request,
        ask: &str,
        seed: u32,
        schema_in_prompt: bool,
        thoughts: &[Option<String>],
    ) -> Value {
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(request.model));
        let wants_json = !request.schema.is_null();
        let mut messages = Cow::Borrowed(&request.messages[..]);
        if wants_json && (schema_in_prompt || self.format != JsonFormat::Schema) {
            messages = with_schema(&messages, &request.schema).into();
        }
        if !self.system {
            messages = without_system(&messages).into();
        }
        let mut messages = json!(messages);
        if self.reasoning {
            give_back(&mut messages, thoughts);
        }
        body.insert("messages".to_owned(), messages);
        for (key, value) in request.sampling.as_object().into_iter().flatten() {
            let key = if key == "max_tokens" && self.new_length_key { "max_completion_tokens" } else { key };
            body.insert(key.to_owned(), value.clone());
        }
        if self.seed {
            body.insert("seed".to_owned(), json!(seed));
        }
        if wants_json && self.format == JsonFormat::Schema {
            let schema = json!({"name": ask.replace('/', "_"), "strict": true, "schema": request.schema});
            body.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": schema}));
        } else if wants_json && self.format == JsonFormat::Object {
            body.insert("response_format".to_owned(), json!({"type": "json_object"}));
        }
        for (key, value) in request.extra_body.as_object().into_iter().flatten() {
            body.insert(key.clone(), value.clone());
        }
        Value::Object(body)
    }

    /// Returns the format to try next after an error with this text; `None` if no other format can help.
    pub(crate) fn after(self, request: &Request, error: &str) -> Option<Self> {
        let texts = &ERROR_TEXTS.format;
        if texts.schema.matches(error) && !request.schema.is_null() {
            match self.format {
                JsonFormat::Schema => return Some(Self { format: JsonFormat::Object, ..self }),
                JsonFormat::Object => return Some(Self { format: JsonFormat::Words, ..self }),
                JsonFormat::Words => {}
            }
        }
        if texts.length_key.matches(error)
            && texts.length_key_rejected.matches(error)
            && !self.new_length_key
            && request.sampling.get("max_tokens").is_some()
        {
            return Some(Self { new_length_key: true, ..self });
        }
        let answered = request.messages.iter().any(|message| message.role == Role::Assistant);
        if texts.reasoning.matches(error) && texts.reasoning_required.matches(error) && answered && !self.reasoning {
            return Some(Self { reasoning: true, ..self });
        }
        let has_system = request.messages.iter().any(|message| message.role == Role::System);
        if texts.system_rejected.matches(error) && texts.system.matches(error) && self.system && has_system {
            return Some(Self { system: false, ..self });
        }
        let names_seed = error.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == texts.seed);
        (names_seed && self.seed).then_some(Self { seed: false, ..self })
    }

    /// Whether an error is about a particular schema, so that the format need not change for other schemas.
    pub(crate) fn is_about_one_schema(error: &str) -> bool {
        ERROR_TEXTS.one_schema.matches(error)
    }
}

/// Adds the reasoning behind each assistant message; empty if there is none.
fn give_back(messages: &mut Value, thoughts: &[Option<String>]) {
    let messages = messages.as_array_mut().into_iter().flatten().rev();
    let answers = messages.filter(|message| message["role"] == Role::Assistant.name());
    let thoughts = thoughts.iter().rev().map(Option::as_deref).chain(std::iter::repeat(None));
    for (answer, thought) in answers.zip(thoughts) {
        answer["reasoning_content"] = json!(thought.unwrap_or_default());
    }
}

/// Merges the system message into the first user message.
fn without_system(messages: &[Message]) -> Vec<Message> {
    let is_system = |message: &&Message| message.role == Role::System;
    let system: Vec<&str> = messages.iter().filter(is_system).map(|message| message.content.as_str()).collect();
    let mut others: Vec<Message> = messages.iter().filter(|message| !is_system(message)).cloned().collect();
    if !system.is_empty() {
        let system = system.join("\n\n");
        match others.first_mut().filter(|first| first.role == Role::User) {
            Some(first) => first.content = format!("{system}\n\n{}", first.content),
            None => others.insert(0, Message::user(system)),
        }
    }
    others
}

/// Appends the schema to the last user message.
fn with_schema(messages: &[Message], schema: &Value) -> Vec<Message> {
    let mut messages = messages.to_vec();
    let text = match language_of(&messages) {
        Language::En => format!("Answer with one JSON object that fits this JSON Schema, and nothing else:\n{schema}"),
        Language::Zh => format!("只用一个符合以下 JSON Schema 的 JSON 对象作答，不要输出任何其他内容：\n{schema}"),
    };
    match messages.iter_mut().rfind(|message| message.role == Role::User) {
        Some(last) => last.content = format!("{}\n\n{text}", last.content),
        None => messages.push(Message::user(text)),
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(schema: Value, extra_body: Value) -> Request {
        Request {
            model: "m".to_owned(),
            messages: vec![Message::system("你是评委。"), Message::user("评一评这句话。")],
            sampling: json!({"temperature": 0.5, "max_tokens": 9}),
            schema,
            extra_body,
        }
    }

    #[test]
    fn extra_keys_win() {
        let body = RequestFormat::from_byte(0).body(
            &request(Value::Null, json!({"temperature": 1, "top_k": 5})),
            "a/b",
            7,
            false,
            &[],
        );
        let expected = json!({"model": "m", "messages": [{"role": "system", "content": "你是评委。"},
            {"role": "user", "content": "评一评这句话。"}], "temperature": 1, "max_tokens": 9, "seed": 7, "top_k": 5});
        assert_eq!(body, expected);
        assert!(body.to_string().contains("评一评这句话。"), "Chinese must not be escaped: {body}");
    }

    #[test]
    fn formats_learned_by_two_calls_are_combined() {
        for (one, other) in [(1, 3), (4, 8), (16, 1)] {
            let both = RequestFormat::from_byte(one | other);
            assert_eq!(both.byte(), one | other);
        }
    }

    #[test]
    fn a_schema_that_was_not_followed_is_put_into_the_prompt() {
        let request = request(json!({"type": "object"}), Value::Null);
        let body = RequestFormat::from_byte(RequestFormat::FIRST).body(&request, "a/b", 7, true, &[]);
        assert_eq!(body["response_format"]["type"], "json_schema");
        assert!(body["messages"][1]["content"].as_str().unwrap().ends_with("{\"type\":\"object\"}"), "{body}");
    }

    #[test]
    fn reasoning_is_returned_to_servers_that_require_it() {
        let mut request = request(Value::Null, Value::Null);
        let error = "the reasoning_content in the thinking mode must be passed back to the api";
        assert_eq!(RequestFormat::from_byte(0).after(&request, error), None, "there is no reply yet");
        for (answer, again) in [("earlier", "went on"), ("好。", "再答。"), ("{", "more")] {
            request.messages.extend([Message::assistant(answer), Message::user(again)]);
        }
        let form = RequestFormat::from_byte(0).after(&request, error).expect("another form");
        assert_eq!((form.byte(), form.after(&request, error)), (32, None));
        let thoughts = [Some("想了想".to_owned()), None];
        let body = form.body(&request, "a/b", 7, false, &thoughts);
        let sent: Vec<&Value> = [2, 4, 6].map(|index| &body["messages"][index]["reasoning_content"]).to_vec();
        assert_eq!(sent, ["", "想了想", ""]);
        assert_eq!(body["messages"][3].get("reasoning_content"), None);
        let without_reasoning = RequestFormat::from_byte(0).body(&request, "a/b", 7, false, &thoughts);
        assert!(
            !without_reasoning.to_string().contains("想了想"),
            "the reasoning must not be sent otherwise: {without_reasoning}"
        );
    }

    #[test]
    fn the_system_message_is_merged_into_the_first_user_message() {
        let messages = [Message::system("A"), Message::user("b"), Message::assistant("c"), Message::user("d")];
        let merged = [Message::user("A\n\nb"), Message::assistant("c"), Message::user("d")];
        assert_eq!(without_system(&messages), merged);
        assert_eq!(without_system(&messages[..1]), [Message::user("A")]);
    }

    #[test]
    fn each_error_leads_to_a_weaker_format_until_none_is_left() {
        let request = request(json!({"type": "object"}), Value::Null);
        let mut form = RequestFormat::from_byte(RequestFormat::FIRST);
        assert_eq!(form.body(&request, "a/b", 7, false, &[])["response_format"]["json_schema"]["name"], "a_b");
        for (error, key, value) in [
            (
                "'response_format' of type 'json_schema' is unsupported",
                "response_format",
                json!({"type": "json_object"}),
            ),
            ("response_format is unsupported", "response_format", Value::Null),
            ("unsupported parameter: 'max_tokens'; use 'max_completion_tokens'", "max_completion_tokens", json!(9)),
            ("extra inputs: \"body\" \"seed\"", "seed", Value::Null),
        ] {
            let before = form;
            form = form.after(&request, error).expect(error);
            assert!(form.byte() > before.byte(), "{error}");
            assert_eq!(RequestFormat::from_byte(form.byte()), form);
            let body = form.body(&request, "a/b", 7, false, &[]);
            assert_eq!(body.get(key).unwrap_or(&Value::Null), &value, "{error}");
            assert!(body["messages"][1]["content"].as_str().unwrap().ends_with("内容：\n{\"type\":\"object\"}"));
        }
        let error = "'messages[0].role' does not support 'system' with this model";
        form = form.after(&request, error).expect(error);
        let messages = form.body(&request, "a/b", 7, false, &[])["messages"].clone();
        assert_eq!(messages.as_array().map(Vec::len), Some(1));
        assert!(
            messages[0]["content"].as_str().unwrap().starts_with("你是评委。\n\n评一评这句话。\n\n只用"),
            "{messages}"
        );
        assert_eq!(form.after(&request, "response_format, max_tokens, seed and the system role are unsupported"), None);
        assert_eq!(RequestFormat::from_byte(0).after(&request, "temperature must be positive; seedless"), None);
    }
}
