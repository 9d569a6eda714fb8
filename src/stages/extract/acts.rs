//! A script as acts of utterances: speeches with their actions, and the narration in between. Nothing is selected, so
//! that every line of a role is included.

use crate::attribution::{Attribution, Quotation};
use crate::schema::{Utterance, slug};
use crate::text::letters_and_digits;

/// Returns the acts of a script, without those that have no speech. A heading begins an act and is its first line of
/// narration.
#[must_use]
pub fn acts(attribution: &Attribution, text: &str) -> Vec<Vec<Utterance>> {
    let chars: Vec<char> = text.chars().collect();
    let slice = |start: u32, end: u32| -> String {
        let part: String = chars[start as usize..end as usize].iter().collect();
        part.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut quotations = attribution.quotations.iter().peekable();
    let first_speech = attribution.quotations.first().map_or(u32::MAX, |quotation| quotation.start);
    let (mut acts, mut act): (Vec<Vec<Utterance>>, Vec<Utterance>) = (Vec::new(), Vec::new());
    // Text before the first heading and the first speech is a title page.
    let mut has_started = false;
    for paragraph in &attribution.paragraphs {
        // A name above a speech looks like a heading but is already the speaker; so are parentheses there.
        if let Some(next) = quotations.peek().filter(|next| next.start >= paragraph.end)
            && leads_in(&slice(paragraph.start, paragraph.end), next, attribution)
        {
            has_started = true;
            continue;
        }
        has_started |= paragraph.border || paragraph.end > first_speech;
        if paragraph.border {
            acts.push(std::mem::take(&mut act));
        }
        let mut spoken = false;
        while let Some(quotation) = quotations.next_if(|quotation| quotation.start < paragraph.end) {
            spoken = true;
            let speaker = quotation.speaker.map(|speaker| attribution.people[speaker].name.clone());
            act.push(utterance(
                speaker.unwrap_or_else(|| Utterance::ENVIRONMENT.to_owned()),
                quotation.action.clone(),
                Some(quotation.text.trim().to_owned()),
                (quotation.start, quotation.end),
            ));
        }
        if !spoken && has_started {
            let narration = slice(paragraph.start, paragraph.end);
            let narration = narration.trim_start_matches(['#', '=', '!', '>', '.']).trim();
            if narration.chars().any(char::is_alphanumeric) {
                let range = (paragraph.start, paragraph.end);
                act.push(utterance(Utterance::ENVIRONMENT.to_owned(), Some(narration.to_owned()), None, range));
            }
        }
    }
    acts.push(act);
    acts.retain(|act| act.iter().any(|utterance| utterance.speech.is_some()));
    acts
}

/// Whether a paragraph without speech belongs to the speech after it: its speaker or its action.
fn leads_in(paragraph: &str, next: &Quotation, attribution: &Attribution) -> bool {
    let action = |action: &String| {
        letters_and_digits(action) == letters_and_digits(paragraph) && paragraph.starts_with(['(', '（'])
    };
    if next.action.as_ref().is_some_and(action) {
        return true;
    }
    // `(O.S.)`, `(CONT’D)` follow the name.
    let name = paragraph.split(['(', '（', '^']).next().unwrap_or_default();
    let person = next.speaker.map(|speaker| &attribution.people[speaker]);
    person
        .is_some_and(|person| std::iter::once(&person.name).chain(&person.aliases).any(|form| slug(form) == slug(name)))
}

fn utterance(speaker: String, action: Option<String>, speech: Option<String>, range: (u32, u32)) -> Utterance {
    Utterance {
        speaker,
        thought: None,
        action,
        speech,
        start: Some(range.0),
        end: Some(range.1),
        grounded: None,
        similarity: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::attribute;
    use crate::schema::Language;

    fn act_lines(text: &str, language: Language) -> Vec<Vec<String>> {
        let attribution = attribute(text, language, true);
        let line = |utterance: &Utterance| format!("{}|{}", utterance.speaker, utterance.content());
        acts(&attribution, text).iter().map(|act| act.iter().map(line).collect()).collect()
    }

    #[test]
    fn a_screenplay_keeps_its_narration_and_actions() {
        let text = "Title: The Weir\nAuthor: Nobody\n\nINT. MILL - NIGHT\n\nRain on the roof. The wheel stands.\n\nMARA\n(not \
                    turning)\nWho let the water out?\n\nTOBIN\nNobody lets water. It goes.\n\nEXT. WEIR - DAWN\n\nMARA\nThen call it back.\n";
        assert_eq!(
            act_lines(text, Language::En),
            [
                vec![
                    "Environment|(INT. MILL - NIGHT)",
                    "Environment|(Rain on the roof. The wheel stands.)",
                    "Mara|(not turning) Who let the water out?",
                    "Tobin|Nobody lets water. It goes.",
                ],
                vec!["Environment|(EXT. WEIR - DAWN)", "Mara|Then call it back."],
            ]
        );
    }

    #[test]
    fn lines_with_speaker_names_are_read_as_a_script_in_both_languages() {
        let text = "MARA: Who let the water out?\nTOBIN: Nobody lets water.\nMARA: Then call it back.\nTOBIN: Water has no ears.\n";
        let en = act_lines(text, Language::En);
        assert_eq!(en.concat().len(), 4, "{en:?}");
        assert_eq!(en[0][0], "Mara|Who let the water out?");
        let text = "第一场\n\n雨夜，磨坊。\n\n阿满：谁把水放了？\n老周：（抬头）水自己走的。\n阿满：那就叫它回来。\n老周：水没有耳朵。\n";
        let zh = act_lines(text, Language::Zh);
        assert!(zh.concat().contains(&"阿满|谁把水放了？".to_owned()), "{zh:?}");
        assert!(zh.concat().contains(&"老周|(抬头) 水自己走的。".to_owned()), "{zh:?}");
        assert!(zh.concat().iter().any(|line| line.contains("雨夜，磨坊。")), "{zh:?}");
    }
}
