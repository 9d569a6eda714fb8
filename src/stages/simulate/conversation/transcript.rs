//! Converts a conversation to chat messages for one of its speakers: its own utterances are assistant messages, those
//! of others are user messages.
//!
//! After the system message, user and assistant messages alternate strictly; the last one is a user message. A later
//! prompt of the same speaker extends an earlier one except for the final turn block, so that a server's prefix cache
//! covers the rest.

use crate::prompt::PromptError;
use crate::schema::{Language, Line, Message, Role};

/// Returns the messages that ask `name` for its next reply.
///
/// Template parts: `system`; `opening`, before the first utterance; `silence`, if nobody spoke between two turns of
/// `name`; `turn`, the final block of the current turn.
pub(crate) fn messages(
    language: Language,
    name: &str,
    history: &[Line],
    part: impl Fn(&str) -> Result<String, PromptError>,
) -> Result<Vec<Message>, PromptError> {
    let mut messages = vec![Message::system(part("system")?)];
    let mut pending = part("opening")?;
    for line in history {
        if line.speaker == name {
            messages.push(Message::user(take_or_silence(&mut pending, &part)?));
            messages.push(Message::assistant(line.content.clone()));
        } else {
            append(&mut pending, "\n", &labelled(language, line));
        }
    }
    let mut last = take_or_silence(&mut pending, &part)?;
    append(&mut last, "\n\n", &part("turn")?);
    messages.push(Message::user(last));
    debug_assert!(messages.iter().skip(1).step_by(2).all(|message| message.role == Role::User));
    Ok(messages)
}

/// Returns a line with its speaker label.
fn labelled(language: Language, line: &Line) -> String {
    match language {
        Language::En => format!("{}: {}", line.speaker, line.content),
        Language::Zh => format!("{}：{}", line.speaker, line.content),
    }
}

fn take_or_silence(
    pending: &mut String,
    part: &impl Fn(&str) -> Result<String, PromptError>,
) -> Result<String, PromptError> {
    let pending = std::mem::take(pending);
    if pending.is_empty() { part("silence") } else { Ok(pending) }
}

fn append(text: &mut String, separator: &str, addition: &str) {
    if !text.is_empty() && !addition.is_empty() {
        text.push_str(separator);
    }
    text.push_str(addition);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages_after(speakers: &str) -> Vec<(Role, String)> {
        let history: Vec<Line> = speakers
            .chars()
            .enumerate()
            .map(|(turn, speaker)| Line {
                speaker: speaker.to_string(),
                content: format!("{turn}."),
                is_test: speaker == 'A',
            })
            .collect();
        let part = |part: &str| Ok(format!("<{part}>"));
        let messages = messages(Language::En, "A", &history, part).expect("parts render");
        messages.into_iter().map(|message| (message.role, message.content)).collect()
    }

    #[test]
    fn consecutive_lines_of_others_are_one_message() {
        let user = |text: &str| (Role::User, text.to_owned());
        let assistant = |text: &str| (Role::Assistant, text.to_owned());
        let system = (Role::System, "<system>".to_owned());
        assert_eq!(messages_after(""), [system.clone(), user("<opening>\n\n<turn>")]);
        assert_eq!(
            messages_after("ABCABAA"),
            [
                system,
                user("<opening>"),
                assistant("0."),
                user("B: 1.\nC: 2."),
                assistant("3."),
                user("B: 4."),
                assistant("5."),
                user("<silence>"),
                assistant("6."),
                user("<silence>\n\n<turn>"),
            ]
        );
    }

    #[test]
    fn a_later_prompt_extends_an_earlier_one() {
        let speakers = "BABCAABCBA";
        for earlier in 0..speakers.len() {
            for later in earlier..=speakers.len() {
                let (short, long) = (messages_after(&speakers[..earlier]), messages_after(&speakers[..later]));
                let (last, before) = short.split_last().expect("a last message");
                assert_eq!(before, &long[..before.len()], "{earlier} {later}");
                let stable = last.1.strip_suffix("\n\n<turn>").expect("the last message ends with the turn block");
                // A silence is replaced as soon as someone speaks.
                let extends = long[before.len()].1.starts_with(stable);
                assert!(extends || stable == "<silence>", "{earlier} {later}");
            }
        }
    }
}
