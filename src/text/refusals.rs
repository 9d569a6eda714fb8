//! Detects replies in which a model breaks character: it reveals what it is, refuses, prefixes a name, or is cut off.
//! Works on the text alone; each stage decides what to do about it.

use std::sync::LazyLock;

use serde::Deserialize;

use super::words::{WORDS, is_title, letters_and_digits};
use super::{is_closing_quote, is_han, is_mark, sentences};
use crate::schema::slug;

/// The phrases of the TOML file beside this module, which says what each list is for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrases {
    reveals_model: Vec<String>,
    refuses: Vec<String>,
    inabilities: Vec<String>,
    request_verbs: Vec<String>,
    requests: Vec<String>,
    refuses_zh: Vec<Vec<String>>,
    refuses_to_generate_zh: Vec<Vec<String>>,
    role_play: Vec<String>,
    role_play_verbs: Vec<String>,
    role_play_negations: Vec<String>,
    role_play_zh: Vec<String>,
    role_play_verbs_zh: Vec<String>,
    role_play_negations_zh: Vec<String>,
    complete_refusals: Vec<String>,
    complete_refusals_after_apology: Vec<String>,
    possible_refusals: Vec<String>,
    apologies: Vec<String>,
    declines: Vec<String>,
    name_particles: Vec<String>,
}

static PHRASES: LazyLock<Phrases> = LazyLock::new(|| embedded_toml!("refusals.toml"));

/// Prefixes of Chinese names that act as a form of address.
const PREFIXES: [char; 3] = ['老', '小', '阿'];

/// Whether a text says that its speaker is a language model.
#[must_use]
pub fn reveals_model(text: &str) -> bool {
    // `作为一个 AI` is written with or without a space.
    let mut lower = text.to_lowercase();
    if lower.chars().any(is_han) {
        lower.retain(|c| !c.is_whitespace());
    }
    // `As an aide` must not match.
    let is_whole_word = |at: usize, phrase: &str| {
        let rest = &lower[at + phrase.len()..];
        let after = rest.strip_prefix('s').unwrap_or(rest).chars().next();
        let before = lower[..at].chars().next_back();
        ![before, after].into_iter().flatten().any(|c| c.is_ascii_alphanumeric())
            || phrase.chars().any(|c| !c.is_ascii() && c != '’')
    };
    let occurs = |phrase: &String| lower.match_indices(phrase).any(|(at, _)| is_whole_word(at, phrase));
    PHRASES.reveals_model.iter().any(occurs)
}

/// Whether a text may decline to answer like an assistant. Has false positives for characters, so use it only where
/// they cost little.
#[must_use]
pub fn declines(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    PHRASES.declines.iter().any(|phrase| lower.contains(phrase)) || refuses(text) || may_refuse(text)
}

/// Whether an utterance clearly refuses to continue like an assistant. A character who refuses names what they will not
/// do.
#[must_use]
pub fn refuses(speech: &str) -> bool {
    let sentences = sentences(speech);
    let is_refusal = |sentence: &&str| {
        let words = spaced(sentence);
        let letters = letters_and_digits(sentence);
        let has = |phrase: &str| words.contains(&format!(" {phrase} "));
        let of_request = PHRASES.inabilities.iter().any(|inability| {
            let has_verb =
                |verb: &String| PHRASES.requests.iter().any(|request| has(&format!("{inability} {verb} {request}")));
            PHRASES.request_verbs.iter().any(has_verb)
        });
        PHRASES.refuses.iter().any(|phrase| has(phrase))
            || of_request
            || has_parts(&letters, &PHRASES.refuses_zh)
            || has_parts(&letters, &PHRASES.refuses_to_generate_zh)
            || ends_role_play(&words, &letters)
    };
    sentences.iter().any(is_refusal)
        || says_only(&sentences, &PHRASES.complete_refusals, false)
        || says_only(&sentences, &PHRASES.complete_refusals_after_apology, true)
}

/// Whether an utterance consists only of a refusal, which an assistant and sometimes a character uses.
#[must_use]
pub fn may_refuse(speech: &str) -> bool {
    says_only(&sentences(speech), &PHRASES.possible_refusals, false)
}

/// Returns the words of a text in lower case, surrounded by single spaces, with `can't` as `cannot`.
fn spaced(text: &str) -> String {
    let mut spaced = " ".to_owned();
    for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))).filter(|word| !word.is_empty())
    {
        let word = letters_and_digits(word);
        spaced.push_str(if word == "cant" { "cannot" } else { &word });
        spaced.push(' ');
    }
    spaced
}

/// Whether a text contains one phrase of each row, in order and adjacent.
fn has_parts(text: &str, rows: &[Vec<String>]) -> bool {
    fn begins(text: &str, rows: &[Vec<String>]) -> bool {
        let Some((row, rows)) = rows.split_first() else { return true };
        row.iter().filter_map(|part| text.strip_prefix(part.as_str())).any(|rest| begins(rest, rows))
    }
    text.char_indices().any(|(at, _)| begins(&text[at..], rows))
}

/// Whether a sentence says that its speaker cannot continue the role-play. `words` is for English, `letters` for
/// Chinese.
fn ends_role_play(words: &str, letters: &str) -> bool {
    let has_in_order = |text: &str, role_play: &[String], verbs: &[String], negations: &[String]| {
        let Some(end) = role_play.iter().filter_map(|word| text.find(word)).min() else { return false };
        let Some(start) = negations.iter().filter_map(|word| text[..end].find(word)).min() else { return false };
        verbs.iter().any(|verb| text[start..end].contains(verb))
    };
    has_in_order(words, &PHRASES.role_play, &PHRASES.role_play_verbs, &PHRASES.role_play_negations)
        || has_in_order(letters, &PHRASES.role_play_zh, &PHRASES.role_play_verbs_zh, &PHRASES.role_play_negations_zh)
}

/// Whether sentences consist only of some phrases and apologies. If `apology_required` is set, there must be an
/// apology.
fn says_only(sentences: &[&str], phrases: &[String], apology_required: bool) -> bool {
    let (mut refused, mut apologised) = (false, false);
    for sentence in sentences {
        let mut letters = letters_and_digits(&spaced(sentence));
        while let Some(rest) = PHRASES.apologies.iter().find_map(|apology| letters.strip_prefix(apology.as_str())) {
            apologised = true;
            letters = rest.to_owned();
        }
        let is_phrase = phrases.contains(&letters);
        if !is_phrase && !letters.is_empty() {
            return false;
        }
        refused |= is_phrase;
    }
    refused && (apologised || !apology_required)
}

/// Whether a text ends without final punctuation. A dash counts as punctuation, since speech can break off.
#[must_use]
pub fn is_truncated(text: &str) -> bool {
    let ends = |c: char| {
        let is_picture = !c.is_ascii() && !c.is_alphanumeric() && !is_mark(c);
        let is_pause = matches!(c, '—' | '–' | '～' | '―' | '，' | '；' | '：' | '、');
        is_closing_quote(c)
            || matches!(c, ')' | '）' | ' ' | '\'' | '*' | '_' | ']' | '】' | '〉')
            || is_picture && !is_pause
    };
    let last = text.trim_end().trim_end_matches(ends).chars().last();
    let action = text.trim_end().ends_with([')', '）']);
    !action && last.is_some_and(|c| !is_mark(c) && !matches!(c, '—' | '–' | '～' | '~' | '-' | '―'))
}

/// Whether a text contains a name as whole words: `Ann` is not in `manner`. Chinese names match anywhere.
#[must_use]
pub fn has_name(text: &str, name: &str) -> bool {
    if name.chars().any(is_han) {
        return text.contains(name);
    }
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (text, name) = (words(text), words(name));
    !name.is_empty() && text.windows(name.len()).any(|words| words == name)
}

/// Splits `Name: rest`, and strips emphasis and brackets around the name.
#[must_use]
pub fn label(line: &str) -> Option<(&str, &str)> {
    let (label, rest) = line.split_once([':', '：'])?;
    let marks = ['*', '_', '#', '[', ']', '【', '】', '<', '>', '"', '“', '”', ' '];
    let label = label.trim_matches(marks);
    let fits = !label.is_empty() && label.chars().count() <= 40;
    fits.then(|| (label, rest.trim_start_matches('*').trim_start()))
}

/// Whether a label refers to a name: equal, or some words of it, ignoring titles. `Mrs. Marl` and `Keziah` refer to
/// Keziah Marl; 邬姑娘 and 水宁 refer to 邬水宁.
#[must_use]
pub fn is_name(label: &str, name: &str) -> bool {
    if label.to_lowercase() == name.to_lowercase() {
        return true;
    }
    if label.chars().all(is_han) && name.chars().all(is_han) {
        let bare = bare_name(label);
        let (bare_length, full_length) = (bare.chars().count(), name.chars().count());
        // A single character with a title is a surname, otherwise nothing. In 小红 and 阿红 it is more often from the given
        // name, and a full name of two characters is too short to decide.
        let is_pet = label.starts_with(['小', '阿']) && label.chars().count() == 2;
        let is_surname = name.starts_with(bare) && (bare_length > 1 || (bare != label && (full_length > 2 || !is_pet)));
        let ends_with_given_name =
            |given: &str| (2..full_length).contains(&given.chars().count()) && name.ends_with(given);
        return bare_length > 0 && (is_surname || ends_with_given_name(bare) || ends_with_given_name(label));
    }
    let (label, name) = (name_words(label), name_words(name));
    !label.is_empty() && label.iter().all(|word| name.contains(word))
}

/// Returns the words of a name in lower case, without titles and articles. In scripts without spaces, titles inside a
/// name are kept.
#[must_use]
pub fn name_words(name: &str) -> Vec<String> {
    let slug = slug(name);
    let is_impersonal = |word: &str| {
        word.is_empty()
            || PHRASES.name_particles.iter().any(|particle| particle == word)
            || (word.is_ascii() && is_title(word))
    };
    slug.split('-').filter(|word| !is_impersonal(word)).map(str::to_owned).collect()
}

/// Returns a Chinese name without forms of address: 温 for 温先生, 王 for 老王. Empty if nothing else is left.
#[must_use]
pub fn bare_name(name: &str) -> &str {
    let is_whole_title = |name: &str| WORDS.zh.whole_titles.contains(name);
    if is_whole_title(name) || name.strip_prefix(PREFIXES).is_some_and(is_whole_title) {
        return "";
    }
    let mut bare = name;
    while let Some(title) = WORDS.zh.titles.iter().filter(|title| bare.ends_with(title)).max_by_key(|title| title.len())
    {
        bare = &bare[..bare.len() - title.len()];
    }
    bare.strip_prefix(PREFIXES).unwrap_or(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assistants_refusal_differs_from_a_characters() {
        for (text, expected) in [
            ("I'm sorry, but I can’t assist with that.", true),
            ("I am unable to share this.", true),
            ("抱歉，我无法回答这个问题。", true),
            ("I cannot tell you where the key is; I swore.", false),
            ("I will not speak of it.", false),
            ("这话我不能说。", false),
            ("这活儿三天无法完成。", false),
            ("抱歉，我不能回答这个问题。", true),
        ] {
            assert_eq!(declines(text), expected, "{text}");
        }
    }

    #[test]
    fn a_reply_that_reveals_a_model_is_recognized() {
        assert!(reveals_model("As an AI, I have no umbrella.") && reveals_model("作为一个AI，我没有伞。"));
        assert!(reveals_model("I am a large language model, sir.") && reveals_model("我是OpenAI做的语言模型。"));
        assert!(reveals_model("作为一个 AI，我没有伞。") && reveals_model("我是一个人工智能。"));
        assert!(!reveals_model("As an aide to the king I carry the umbrella."));
    }

    #[test]
    fn names_match_whole_words() {
        for (text, name, expected) in [
            ("He likes to make kites.", "Tom", false),
            ("Ask tom, then.", "Tom", true),
            ("Mr. Dee’s boat", "Mr Dee", true),
            ("温仲筹管账。", "温仲筹", true),
            ("", "Tom", false),
        ] {
            assert_eq!(has_name(text, name), expected, "{text}");
        }
    }

    #[test]
    fn a_label_may_have_a_title_or_a_partial_name() {
        for (label, name, expected) in [
            ("keziah marl", "Keziah Marl", true),
            ("Marl", "Keziah Marl", true),
            ("Mrs. Marl", "Keziah Marl", true),
            ("The Clerk", "the clerk", true),
            ("Clerk", "The Clerk", true),
            ("Mrs.", "Mrs. Marl", false),
            ("The", "The Clerk", false),
            ("Marlowe", "Keziah Marl", false),
            ("Silas Marl", "Keziah Marl", false),
            ("仲筹", "温仲筹", true),
            ("温先生", "温仲筹", true),
            ("邬姑娘", "邬水宁", true),
            ("老王", "王德发", true),
            ("王妈妈", "王氏", true),
            ("薛嵩大人", "薛嵩", true),
            ("先生", "温仲筹", false),
            ("温", "温仲筹", false),
            ("筹", "温仲筹", false),
            ("李先生", "温仲筹", false),
            ("小王", "王德发", true),
            ("老王", "王五", true),
            ("小红", "林小红", true),
            ("小红", "红线", false),
            ("阿红", "红线", false),
            ("红姑娘", "红线", true),
            ("红娘", "红线", false),
            ("红娘", "红娘", true),
            ("新娘", "新月", false),
            ("王爷", "王德发", false),
            ("老王爷", "王德发", false),
            ("王爷爷", "王德发", true),
            ("令兄", "令狐冲", false),
            ("令狐兄", "令狐冲", true),
        ] {
            assert_eq!(is_name(label, name), expected, "{label} {name}");
        }
    }

    #[test]
    fn a_models_refusal_differs_from_an_unwilling_character() {
        for text in [
            "I'm sorry, but I can't assist with that request.",
            "I’m unable to assist you with this request, Captain.",
            "I cannot fulfill that request.",
            "I'm sorry, but I cannot fulfil your request.",
            "I cannot continue this roleplay.",
            "I won't engage in this role-play any further.",
            "I’m sorry, but I can’t help with that.",
            "I'm sorry. I can't discuss this topic.",
            "I can't assist with that.",
            "That goes against my content policy.",
            "抱歉，我无法协助完成这个请求。",
            "我无法满足您的请求。",
            "抱歉，我无法协助。",
            "抱歉，我无法生成相关内容。",
            "我无法继续这个角色扮演。",
            "对不起，这个话题我不能讨论。",
        ] {
            assert!(refuses(text) && declines(text), "{text}");
        }
        for text in [
            "I can't help with that.",
            "I can't help you with that.",
            "I’m sorry, I can’t help you with that.",
            "我不能回答这个问题。",
            "对不起，我无法帮助你。",
        ] {
            assert!(may_refuse(text) && declines(text) && !refuses(text), "{text}");
        }
        for text in [
            "I can't help with the harvest; my back is gone.",
            "I can't help with that. Ask the ferryman, he has a boat.",
            "I can't assist with the harvest; my back is gone.",
            "I cannot fulfill this vow, my lord.",
            "I cannot fulfil your wish, child; the well is dry.",
            "I cannot comply with your request, Captain.",
            "I shall fulfil your request.",
            "We cannot generate this much power.",
            "That is your role. Play it well, and do not falter.",
            "You cannot say that your role was easy, or play the fool.",
            "The sausage police are here.",
            "I am unable to sleep.",
            "I cannot go on like this.",
            "I'm sorry.",
            "I cannot answer you; I swore.",
            "我不能回答，我答应过她。",
            "这活儿三天无法完成。",
            "对不起。",
            "这个话题我不能讨论，不过你可以去问船家。",
            "我不能协助叛军。",
            "臣无法协助太子谋逆。",
            "丹田已碎，无法生成金丹。",
            "老奴自当满足您的请求。",
            "放心，我一定完成你的请求。",
            "我不能再陪你玩角色扮演了。",
        ] {
            assert!(!refuses(text) && !may_refuse(text), "{text}");
        }
    }

    #[test]
    fn a_text_without_a_final_mark_is_truncated() {
        for (text, expected) in [
            ("Done.", false),
            ("I only—", false),
            ("and then", true),
            ("完了。", false),
            ("然后", true),
            ("'Not today.'", false),
            ("**Fine.**", false),
            ("再见！😊", false),
            ("然后，", true),
        ] {
            assert_eq!(is_truncated(text), expected, "{text}");
        }
    }
}
