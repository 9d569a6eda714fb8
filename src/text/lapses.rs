//! What a model does when it falls out of its part: it says what it is, refuses, puts a name in front, breaks off. Signs on the
//! text alone; what follows from them is a stage's matter.

use super::{is_closer, is_han, is_mark};

/// Phrases that only a model out of its part says, in lower case.
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

/// How an assistant declines, in lower case with plain apostrophes: what it cannot do, and for whom. A character who will
/// not tell a secret says it otherwise.
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

/// Whether a text says that a language model speaks.
#[must_use]
pub fn reveals_model(text: &str) -> bool {
    // `作为一个 AI` is set with a blank, as is usual, and without.
    let mut lower = text.to_lowercase();
    if lower.chars().any(is_han) {
        lower.retain(|c| !c.is_whitespace());
    }
    // `As an aide` is no model's word.
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

/// Whether a text declines to answer as an assistant does.
#[must_use]
pub fn declines(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    DECLINES.iter().any(|phrase| lower.contains(phrase))
}

/// Whether a text stops without a final mark. A dash is one: speech breaks off like that.
#[must_use]
pub fn is_cut(text: &str) -> bool {
    let ends = |c: char| {
        let is_picture = !c.is_ascii() && !c.is_alphanumeric() && !is_mark(c);
        let is_pause = matches!(c, '—' | '–' | '～' | '―' | '，' | '；' | '：' | '、');
        is_closer(c) || matches!(c, ')' | '）' | ' ' | '\'' | '*' | '_' | ']' | '】' | '〉') || is_picture && !is_pause
    };
    let last = text.trim_end().trim_end_matches(ends).chars().last();
    let action = text.trim_end().ends_with([')', '）']);
    !action && last.is_some_and(|c| !is_mark(c) && !matches!(c, '—' | '–' | '～' | '~' | '-' | '―'))
}

/// Whether a text has a name: `Ann` is not in `manner`. Chinese names have no borders.
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

/// Splits `Name: rest`, with any emphasis or brackets around the name taken off.
#[must_use]
pub fn label(line: &str) -> Option<(&str, &str)> {
    let (label, rest) = line.split_once([':', '：'])?;
    let marks = ['*', '_', '#', '[', ']', '【', '】', '<', '>', '"', '“', '”', ' '];
    let label = label.trim_matches(marks);
    let fits = !label.is_empty() && label.chars().count() <= 40;
    fits.then(|| (label, rest.trim_start_matches('*').trim_start()))
}

/// Whether a label is a name: all of it, or its first or last word.
#[must_use]
pub fn is_name(label: &str, name: &str) -> bool {
    let (label, name) = (label.to_lowercase(), name.to_lowercase());
    // 仲筹 is 温仲筹 among those who know him.
    let is_given = name.chars().all(is_han) && name.chars().count() > 2 && label.chars().count() == 2;
    if is_given && name.ends_with(&label) {
        return true;
    }
    label == name || name.split_whitespace().next() == Some(&label) || name.split_whitespace().last() == Some(&label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assistant_declines_otherwise_than_a_character() {
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
    fn a_model_is_known_by_what_it_calls_itself() {
        assert!(reveals_model("As an AI, I have no umbrella.") && reveals_model("作为一个AI，我没有伞。"));
        assert!(reveals_model("I am a large language model, sir.") && reveals_model("我是OpenAI做的语言模型。"));
        assert!(reveals_model("作为一个 AI，我没有伞。") && reveals_model("我是一个人工智能。"));
        assert!(!reveals_model("As an aide to the king I carry the umbrella."));
    }

    #[test]
    fn names_are_whole_words() {
        for (text, name, expected) in [
            ("He likes to make kites.", "Tom", false),
            ("Ask tom, then.", "Tom", true),
            ("Mr. Dee’s boat", "Mr Dee", true),
            ("温仲筹管账。", "温仲筹", true),
            ("", "Tom", false),
        ] {
            assert_eq!(has_name(text, name), expected, "{text}");
        }
        assert!(is_name("仲筹", "温仲筹") && is_name("Marl", "Keziah Marl") && !is_name("温仲", "温仲筹"));
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
            assert_eq!(is_cut(text), expected, "{text}");
        }
    }
}
