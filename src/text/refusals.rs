//! Detects replies in which a model breaks character: it reveals what it is, refuses, prefixes a name, or is cut off.
//! Works on the text alone; each stage decides what to do about it.

use super::words::{WORDS, is_title, plain};
use super::{is_closing_quote, is_han, is_mark, sentences};
use crate::schema::slug;

/// Phrases that only a model out of character uses, in lower case.
const OUT_OF_PART: [&str; 17] = [
    "language model",
    "as an ai",
    "i'm an ai",
    "i’m an ai",
    "i am an ai",
    "ai assistant",
    "chatgpt",
    "openai",
    "作为ai",
    "作为一个ai",
    "作为一名ai",
    "作为人工智能",
    "我是ai",
    "一个人工智能",
    "语言模型",
    "人工智能助手",
    "ai助手",
];

/// Words of names that do not identify anyone.
const NOBODYS: [&str; 5] = ["the", "a", "an", "of", "and"];

/// Prefixes of Chinese names that act as a form of address.
const PREFIXES: [char; 3] = ['老', '小', '阿'];

/// Phrases that only a refusing assistant uses, anywhere in a sentence. Matched as whole words, with `can't` as
/// `cannot`.
const REFUSES: [&str; 8] = [
    "content policy",
    "content policies",
    "usage policy",
    "usage policies",
    "cannot generate content",
    "cannot generate this content",
    "cannot generate that content",
    "cannot generate such content",
];

/// What an assistant cannot do with a request; between [`NOT_ABLE`] and [`REQUESTS`].
const REQUEST_VERBS: [&str; 8] =
    ["assist with", "assist you with", "help with", "comply with", "fulfill", "fulfil", "complete", "process"];
const NOT_ABLE: [&str; 3] = ["cannot", "unable to", "not able to"];
/// `Your request` is not listed, since a character may say it.
const REQUESTS: [&str; 2] = ["this request", "that request"];

/// The same in Chinese: one phrase of each row, in order.
const REFUSES_ZH: [&[&str]; 4] = [
    &["无法", "不能", "没办法"],
    &["协助", "帮助", ""],
    &["完成", "满足", "处理"],
    &["这个请求", "这一请求", "此请求", "该请求", "您的请求", "你的请求"],
];
const GENERATES_ZH: [&[&str]; 3] =
    [&["无法生成", "不能生成"], &["这个", "这样的", "这类", "此类", "相关", "该", "此", ""], &["内容"]];

/// Verbs between a negation and the word for role-play in a refusal.
const PLAYS: [&str; 5] = ["continue", "engage", "participate", "proceed", "take part"];
const PLAYS_ZH: [&str; 4] = ["继续", "进行", "参与", "参加"];

/// Sentences of a refusal that consists of nothing else; letters only, with `can't` as `cannot`. A character may say
/// them among other things.
const REFUSES_WHOLE: [&str; 9] = [
    "icannotassistwiththat",
    "icannotassistwiththis",
    "icannotassistyouwiththat",
    "icannotdiscussthistopic",
    "icannotdiscussthattopic",
    "我无法讨论这个话题",
    "我不能讨论这个话题",
    "这个话题我不能讨论",
    "这个话题我无法讨论",
];

/// The same, if there is an apology before it.
const REFUSES_SORRY: [&str; 10] = [
    "icannothelpwiththat",
    "icannothelpwiththis",
    "icannotfulfillyourrequest",
    "icannotfulfilyourrequest",
    "icannotcomplywithyourrequest",
    "我无法协助",
    "我不能协助",
    "我无法协助您",
    "我无法协助你",
    "我无法提供协助",
];

/// Sentences that both an assistant and a character may use to refuse; only if there is nothing else.
const MAY_REFUSE: [&str; 17] = [
    "icannothelpwiththat",
    "icannothelpwiththis",
    "icannothelpyouwiththat",
    "icannothelpyouwiththis",
    "icannotdiscussthat",
    "icannotdiscussthis",
    "icannotprovidethat",
    "icannotcomplywiththat",
    "icannotengagewiththat",
    "我无法回答这个问题",
    "我不能回答这个问题",
    "我无法回答",
    "我无法提供帮助",
    "我不能提供帮助",
    "我无法帮助你",
    "我无法帮助您",
    "我无法协助",
];

/// Apologies that may precede them.
const APOLOGIES: [&str; 10] = [
    "iamsorrybut",
    "imsorrybut",
    "iamsorry",
    "imsorry",
    "sorrybut",
    "sorry",
    "iapologizebut",
    "非常抱歉",
    "抱歉",
    "对不起",
];

/// Phrases by which an assistant declines, in lower case with straight apostrophes: what it cannot do, and for whom. A
/// character who keeps a secret phrases it differently.
const DECLINES: [&str; 37] = [
    "i can't assist",
    "i cannot assist",
    "i can't help with",
    "i cannot help with",
    "i can't provide",
    "i cannot provide",
    "i can't fulfill",
    "i cannot fulfill",
    "i can't answer that question",
    "i cannot answer that question",
    "i can't comply",
    "i cannot comply",
    "i am unable to",
    "i'm unable to",
    "i am not able to provide",
    "i'm not able to provide",
    "i don't have enough information",
    "i do not have enough information",
    "i won't be able to",
    "please provide more context",
    "无法提供",
    "无法回答",
    "无法满足您的",
    "无法满足你的要求",
    "我不能回答这个问题",
    "无法帮助您",
    "无法帮助你",
    "无法协助",
    "不能提供",
    "没办法提供",
    "无法完成这个请求",
    "无法完成您的",
    "無法提供",
    "無法回答",
    "请提供更多",
    "没有足够的信息",
    "不便回答",
];

/// Whether a text says that its speaker is a language model.
#[must_use]
pub fn reveals_model(text: &str) -> bool {
    // `作为一个 AI` is written with or without a space.
    let mut lower = text.to_lowercase();
    if lower.chars().any(is_han) {
        lower.retain(|c| !c.is_whitespace());
    }
    // `As an aide` must not match.
    let is_whole = |at: usize, phrase: &str| {
        let rest = &lower[at + phrase.len()..];
        let after = rest.strip_prefix('s').unwrap_or(rest).chars().next();
        let before = lower[..at].chars().next_back();
        ![before, after].into_iter().flatten().any(|c| c.is_ascii_alphanumeric())
            || phrase.chars().any(|c| !c.is_ascii() && c != '’')
    };
    let said = |phrase: &&str| lower.match_indices(*phrase).any(|(at, _)| is_whole(at, phrase));
    OUT_OF_PART.iter().any(said)
}

/// Whether a text may decline to answer like an assistant. Has false positives for characters, so use it only where
/// they cost little.
#[must_use]
pub fn declines(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    DECLINES.iter().any(|phrase| lower.contains(phrase)) || refuses(text) || may_refuse(text)
}

/// Whether an utterance clearly refuses to continue like an assistant. A character who refuses names what they will not
/// do.
#[must_use]
pub fn refuses(speech: &str) -> bool {
    let sentences = sentences(speech);
    let says = |sentence: &&str| {
        let words = spaced(sentence);
        let letters = plain(sentence);
        let has = |phrase: &str| words.contains(&format!(" {phrase} "));
        let of_request = NOT_ABLE.iter().any(|no| {
            let says = |verb: &&str| REQUESTS.iter().any(|request| has(&format!("{no} {verb} {request}")));
            REQUEST_VERBS.iter().any(says)
        });
        REFUSES.iter().any(|phrase| has(phrase))
            || of_request
            || has_parts(&letters, &REFUSES_ZH)
            || has_parts(&letters, &GENERATES_ZH)
            || stops_playing(&words, &letters)
    };
    sentences.iter().any(says)
        || says_only(&sentences, &REFUSES_WHOLE, false)
        || says_only(&sentences, &REFUSES_SORRY, true)
}

/// Whether an utterance consists only of a refusal, which an assistant and sometimes a character uses.
#[must_use]
pub fn may_refuse(speech: &str) -> bool {
    says_only(&sentences(speech), &MAY_REFUSE, false)
}

/// Returns the words of a text in lower case, surrounded by single spaces, with `can't` as `cannot`.
fn spaced(text: &str) -> String {
    let mut spaced = " ".to_owned();
    for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))).filter(|word| !word.is_empty())
    {
        let word = plain(word);
        spaced.push_str(if word == "cant" { "cannot" } else { &word });
        spaced.push(' ');
    }
    spaced
}

/// Whether a text contains one phrase of each row, in order and adjacent.
fn has_parts(text: &str, rows: &[&[&str]]) -> bool {
    fn begins(text: &str, rows: &[&[&str]]) -> bool {
        let Some((row, rows)) = rows.split_first() else { return true };
        row.iter().filter_map(|part| text.strip_prefix(part)).any(|rest| begins(rest, rows))
    }
    text.char_indices().any(|(at, _)| begins(&text[at..], rows))
}

/// Whether a sentence says that its speaker cannot continue the role-play. `words` is for English, `letters` for
/// Chinese.
fn stops_playing(words: &str, letters: &str) -> bool {
    let before = |text: &str, plays: &[&str], verbs: &[&str], no: &[&str]| {
        let Some(play) = plays.iter().filter_map(|play| text.find(play)).min() else { return false };
        let Some(no) = no.iter().filter_map(|no| text[..play].find(no)).min() else { return false };
        verbs.iter().any(|verb| text[no..play].contains(verb))
    };
    before(
        words,
        &[" roleplay", " role play"],
        &PLAYS,
        &[" cannot ", " unable to ", " not able to ", " wont ", " will not "],
    ) || before(letters, &["角色扮演"], &PLAYS_ZH, &["无法", "不能", "不便", "不会"])
}

/// Whether sentences consist only of some phrases and apologies. If `sorry` is set, an apology is required.
fn says_only(sentences: &[&str], phrases: &[&str], sorry: bool) -> bool {
    let (mut refused, mut apologised) = (false, false);
    for sentence in sentences {
        let mut said = plain(&spaced(sentence));
        while let Some(rest) = APOLOGIES.iter().find_map(|apology| said.strip_prefix(apology)) {
            apologised = true;
            said = rest.to_owned();
        }
        let is_phrase = phrases.contains(&said.as_str());
        if !is_phrase && !said.is_empty() {
            return false;
        }
        refused |= is_phrase;
    }
    refused && (apologised || !sorry)
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
        let (called, whole) = (bare.chars().count(), name.chars().count());
        // A single character with a title is a surname, otherwise nothing. In 小红 and 阿红 it is more often from the given
        // name, and a full name of two characters is too short to decide.
        let is_pet = label.starts_with(['小', '阿']) && label.chars().count() == 2;
        let is_surname = name.starts_with(bare) && (called > 1 || (bare != label && (whole > 2 || !is_pet)));
        let is_given = |given: &str| (2..whole).contains(&given.chars().count()) && name.ends_with(given);
        return called > 0 && (is_surname || is_given(bare) || is_given(label));
    }
    let (label, name) = (name_words(label), name_words(name));
    !label.is_empty() && label.iter().all(|word| name.contains(word))
}

/// Returns the words of a name in lower case, without titles and articles. In scripts without spaces, titles inside a
/// name are kept.
#[must_use]
pub fn name_words(name: &str) -> Vec<String> {
    let slug = slug(name);
    let is_nobodys = |word: &str| word.is_empty() || NOBODYS.contains(&word) || (word.is_ascii() && is_title(word));
    slug.split('-').filter(|word| !is_nobodys(word)).map(str::to_owned).collect()
}

/// Returns a Chinese name without forms of address: 温 for 温先生, 王 for 老王. Empty if nothing else is left.
#[must_use]
pub fn bare_name(name: &str) -> &str {
    let is_whole = |name: &str| WORDS.zh.whole_titles.contains(name);
    if is_whole(name) || name.strip_prefix(PREFIXES).is_some_and(is_whole) {
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
    fn a_text_ends_at_a_final_mark() {
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
