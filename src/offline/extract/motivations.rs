//! Derives each character's motivation from the narration about it and from what it says: wishes, requests, open
//! questions, opinions, and things to tell. A character whose aims are not shown has none.

use std::collections::BTreeMap;

use crate::schema::{Language, Motivation, Utterance};
use crate::stages::extract::DescribeScene;
use crate::stages::extract::asks::CastNotes;
use crate::stages::extract::book_index::sentences::sentences;
use crate::stages::extract::lexicon::{Patterns, quoted};
use crate::text::content_words;

/// A sentence that a character says in the scene.
struct SpokenSentence {
    text: String,
    /// How much of it is about the topics of the scene.
    weight: usize,
    /// The listener: the next speaker, or else the previous one.
    to: Option<String>,
    /// Whether it ends the utterance and someone else speaks next; a question there expects an answer.
    waits: bool,
}

/// Returns the motivations: narration about a character's aims, or else a wish, request, question, opinion or point
/// that it states. Characters for whom nothing is found are omitted.
pub(super) fn motivations(ask: &DescribeScene) -> Vec<Motivation> {
    let mut spoken_of: BTreeMap<String, usize> = BTreeMap::new();
    for line in &ask.dialogue {
        let mut words = content_words(&line.speech);
        words.sort();
        words.dedup();
        for word in words {
            *spoken_of.entry(word).or_default() += 1;
        }
    }
    ask.cast.iter().filter_map(|member| motivation(ask, member, &spoken_of)).collect()
}

fn sentences_of(ask: &DescribeScene, name: &str, spoken_of: &BTreeMap<String, usize>) -> Vec<SpokenSentence> {
    let other = |line: &&crate::stages::extract::asks::DialogueHint| {
        line.speaker != name && line.speaker != Utterance::ENVIRONMENT
    };
    let mut spoken = Vec::new();
    for (at, line) in ask.dialogue.iter().enumerate().filter(|(_, line)| line.speaker == name) {
        let next = ask.dialogue[at + 1..].iter().take(2).find(other);
        let to = next.or_else(|| ask.dialogue[..at].iter().rev().take(2).find(other)).map(|line| line.speaker.clone());
        let answered = ask.dialogue.get(at + 1).is_some_and(|next| other(&next));
        let parts = sentences(&line.speech);
        let last = parts.len().saturating_sub(1);
        for (part, (start, end, closed)) in parts.into_iter().enumerate() {
            let text = line.speech[start..end].trim();
            // A sentence with a quotation inside, or an incomplete one, is not used.
            if !closed || text.contains(['‘', '“', '”', '「', '『', '』', '"', '`']) || text.contains("...") {
                continue;
            }
            let mut words = content_words(text);
            words.sort();
            words.dedup();
            let weight =
                words.iter().map(|word| spoken_of.get(word).copied().unwrap_or(0).min(6).saturating_sub(1)).sum();
            // A person called by name is the listener.
            let called = ask.cast.iter().find(|member| member.name != name && calls(text, member));
            let to = called.map(|member| member.name.clone()).or_else(|| to.clone());
            spoken.push(SpokenSentence { text: text.to_owned(), weight, to, waits: answered && part == last });
        }
    }
    spoken
}

/// Whether a sentence begins or ends with a name set off by a comma.
fn calls(text: &str, member: &CastNotes) -> bool {
    let text = text.trim_end_matches(['.', '!', '?', '。', '！', '？']);
    std::iter::once(&member.name).chain(&member.aliases).any(|name| {
        let before = text.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with([' ', '，', ',']));
        let after = text.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with([',', '，', '!', '！']));
        before && text.trim_end_matches(name.as_str()).trim_end().ends_with([',', '，']) || after
    })
}

/// What a character wants, by kind of evidence.
enum Want<'a> {
    /// It states a wish.
    Wish(&'a SpokenSentence),
    /// It asks someone to do something.
    Bid(&'a SpokenSentence),
    /// It asks someone for information; with a second question, if there is one.
    Answer(&'a SpokenSentence, Option<&'a SpokenSentence>),
    /// It gives an opinion on what should be.
    View(&'a SpokenSentence),
    /// It has something to tell someone.
    Point(&'a SpokenSentence),
}

fn motivation(ask: &DescribeScene, member: &CastNotes, spoken_of: &BTreeMap<String, usize>) -> Option<Motivation> {
    let spoken = sentences_of(ask, &member.name, spoken_of);
    let motivation = match (aim(ask, member), want(ask.language, &spoken)) {
        (Some(aim), Some(Want::Wish(wish))) if ask.language == Language::En => {
            format!("{aim} In so many words: {}", quoted(&wish.text))
        }
        (Some(aim), Some(Want::Wish(wish))) => {
            format!("{aim}{}{}", ask.script.write("自己说："), quoted(&wish.text))
        }
        (Some(aim), _) => aim.to_owned(),
        (None, want) => phrase(ask, &want?),
    };
    Some(Motivation { character: member.name.clone(), motivation })
}

/// Returns the sentence of narration that states a character's aim.
fn aim<'a>(ask: &'a DescribeScene, member: &CastNotes) -> Option<&'a str> {
    let words = Patterns::of(ask.language);
    let (least, most) = if ask.language == Language::Zh { (10, 60) } else { (24, 180) };
    ask.before
        .iter()
        .chain(&ask.after)
        .filter(|hint| hint.subject.as_ref() == Some(&member.name) && hint.is_standalone && !hint.first_person)
        .find(|hint| (least..=most).contains(&hint.text.chars().count()) && words.states_aim(&hint.after))
        .map(|hint| hint.text.as_str())
}

/// Finds what a character wants in what it says; among the sentences of a kind, the one most on topic.
fn want(language: Language, spoken: &[SpokenSentence]) -> Option<Want<'_>> {
    let words = Patterns::of(language);
    // Two content words in a Chinese question say as much as three in an English one.
    let (least, most, min_content_words) = if language == Language::Zh { (7, 60, 2) } else { (20, 180, 3) };
    let fits =
        |sentence: &SpokenSentence, least: usize, most: usize| (least..=most).contains(&sentence.text.chars().count());
    let best = |test: &dyn Fn(&SpokenSentence) -> bool| {
        let fitting = spoken.iter().enumerate().filter(|(_, sentence)| test(sentence));
        fitting.max_by_key(|(at, sentence)| (sentence.weight, std::cmp::Reverse(*at))).map(|(_, sentence)| sentence)
    };
    let tells = |sentence: &SpokenSentence| fits(sentence, least, most) && !sentence.text.ends_with(['?', '？']);
    let done = |sentence: &SpokenSentence| sentence.text.ends_with("了。") || sentence.text.ends_with("了！");
    if let Some(wish) = best(&|sentence| tells(sentence) && words.wants(&sentence.text) && !done(sentence)) {
        return Some(Want::Wish(wish));
    }
    if let Some(bid) = best(&|sentence| tells(sentence) && words.bids(&sentence.text) && !done(sentence)) {
        return Some(Want::Bid(bid));
    }
    let open = |sentence: &SpokenSentence| {
        sentence.waits
            && fits(sentence, least, most * 2 / 3)
            && words.asks(&sentence.text)
            && content_words(&sentence.text).len() >= min_content_words
    };
    let question = best(&open);
    let another = question.and_then(|first| {
        best(&|sentence| {
            open(sentence) && sentence.text != first.text && sentence.to == first.to && fits(sentence, least, most / 3)
        })
    });
    // A character who asks more than it tells wants to know; one who tells has an opinion.
    let asks = spoken.iter().filter(|sentence| sentence.text.ends_with(['?', '？'])).count() * 2 >= spoken.len();
    let answer = |question| Want::Answer(question, another);
    if let Some(question) = question.filter(|_| asks) {
        return Some(answer(question));
    }
    if let Some(view) = best(&|sentence| tells(sentence) && words.holds(&sentence.text)) {
        return Some(Want::View(view));
    }
    let is_point = |sentence: &SpokenSentence| {
        let is_complete = tells(sentence) && fits(sentence, least * 3 / 2, most) && !sentence.text.ends_with('…');
        is_complete && sentence.weight > 0 && !words.depends_on_context(&sentence.text) && sentence.to.is_some()
    };
    let point = best(&is_point);
    match (point, question) {
        (Some(point), _) if point.weight > 1 => Some(Want::Point(point)),
        (_, Some(question)) => Some(answer(question)),
        (point, None) => point.map(Want::Point),
    }
}

/// Phrases a want around the book's own words.
fn phrase(ask: &DescribeScene, want: &Want<'_>) -> String {
    let write = |phrase: &str| ask.script.write(phrase);
    let to = |sentence: &SpokenSentence| sentence.to.clone();
    match (want, ask.language) {
        (Want::Wish(wish), Language::En) => format!("Makes no secret of it: {}", quoted(&wish.text)),
        (Want::Wish(wish), Language::Zh) => format!("{}{}", write("自己说："), quoted(&wish.text)),
        (Want::Bid(bid), Language::En) => match to(bid) {
            Some(to) => format!("Asks of {to}: {}", quoted(&bid.text)),
            None => format!("Asks for this: {}", quoted(&bid.text)),
        },
        (Want::Bid(bid), Language::Zh) => {
            format!("{}{}{}{}", write("要"), to(bid).unwrap_or_default(), write("这样做："), quoted(&bid.text))
        }
        (Want::Answer(question, another), Language::En) => {
            let more = another.map(|another| format!(" And: {}", quoted(&another.text))).unwrap_or_default();
            match to(question) {
                Some(to) => format!("Wants to know from {to}: {}{more}", quoted(&question.text)),
                None => format!("Wants to know: {}{more}", quoted(&question.text)),
            }
        }
        (Want::Answer(question, another), Language::Zh) => {
            let more =
                another.map(|another| format!("{}{}", write("还有："), quoted(&another.text))).unwrap_or_default();
            let to = to(question).unwrap_or_default();
            format!("{}{to}{}{}{more}", write("想从"), write("那里问明白："), quoted(&question.text))
        }
        (Want::View(view), Language::En) => format!("Stands by this: {}", quoted(&view.text)),
        (Want::View(view), Language::Zh) => format!("{}{}", write("主张："), quoted(&view.text)),
        (Want::Point(point), Language::En) => {
            format!("Has this to tell {}: {}", to(point).unwrap_or_default(), quoted(&point.text))
        }
        (Want::Point(point), Language::Zh) => {
            format!("{}{}{}{}", write("有话要说给"), to(point).unwrap_or_default(), write("听："), quoted(&point.text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::describe_scene::tests::ask;
    use super::*;

    fn described(language: Language, text: &str) -> Vec<String> {
        let wants = |motivation: Motivation| format!("{}: {}", motivation.character, motivation.motivation);
        motivations(&ask(language, text)).into_iter().map(wants).collect()
    }

    #[test]
    fn motivations_come_from_wishes_requests_refusals_and_questions() {
        for (language, text, expected) in [
            (
                Language::En,
                "“I want the stones of this mill back.”\n“Leave the mill alone, then.”\n“Why?”\n“So.”\n",
                [
                    "Anna: Makes no secret of it: “I want the stones of this mill back.”",
                    "Boris: Asks of Anna: “Leave the mill alone, then.”",
                ],
            ),
            (
                Language::En,
                "“Who carried the stones out of the mill, Boris?”\n“We should ask the mayor about the stones.”\n“Do you hear?”\n“Aye.”\n",
                [
                    "Anna: Wants to know from Boris: “Who carried the stones out of the mill, Boris?”",
                    "Boris: Stands by this: “We should ask the mayor about the stones.”",
                ],
            ),
            (
                Language::Zh,
                "“我要把磨盘讨回来。”\n“你且坐下喝一杯茶。”\n“好。”\n“嗯。”\n",
                ["陆平: 自己说：“我要把磨盘讨回来。”", "周老七: 要陆平这样做：“你且坐下喝一杯茶。”"],
            ),
            (
                Language::Zh,
                "“磨盘是谁抬走的？”\n“不如去问一问知县。”\n“怎么说？”\n“嗯。”\n",
                ["陆平: 想从周老七那里问明白：“磨盘是谁抬走的？”", "周老七: 主张：“不如去问一问知县。”"],
            ),
        ] {
            assert_eq!(described(language, text), expected);
        }
    }

    #[test]
    fn a_rhetorical_question_is_no_motivation() {
        for (language, text) in [
            (Language::En, "“How could you think that of the miller?”\n“So.”\n“It is cold, isn’t it?”\n“Aye.”\n"),
            (Language::Zh, "“难道磨盘自己会走路不成？”\n“嗯。”\n“何必问我这许多话呢？”\n“嗯。”\n"),
        ] {
            assert_eq!(described(language, text), Vec::<String>::new());
        }
    }
}
