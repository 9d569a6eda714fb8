//! Lists, quotations and paragraphs as usual in each language.

use crate::schema::Language;

/// Joins names into a list, as usual in the language.
pub(crate) fn list(names: &[String], language: Language) -> String {
    match (language, names) {
        (_, []) => String::new(),
        (_, [one]) => one.clone(),
        (Language::Zh, [first @ .., last]) => format!("{}和{last}", first.join("、")),
        (Language::En, [first @ .., last]) => format!("{} and {last}", first.join(", ")),
    }
}

/// Puts a text in the language's quotation marks.
pub(crate) fn quoted(text: &str) -> String {
    // An unpaired mark would end the quotation too early.
    let (opens, shuts) = (text.matches('“').count(), text.matches('”').count());
    let text = if opens == shuts {
        text.replace('“', "‘").replace('”', "’")
    } else {
        text.replace(['“', '”'], "")
    };
    let lone = text.starts_with('‘') && text.matches('‘').count() > text.matches('’').count();
    format!("“{}”", if lone { text.replacen('‘', "", 1) } else { text })
}

/// Joins sentences, with a space in English and without one in Chinese.
pub(crate) fn join(sentences: &[String], language: Language) -> String {
    sentences.join(match language {
        Language::En => " ",
        Language::Zh => "",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_follow_the_language() {
        let names = ["A", "B", "C"].map(str::to_owned);
        assert_eq!(list(&names, Language::En), "A, B and C");
        assert_eq!(list(&names, Language::Zh), "A、B和C");
    }

    #[test]
    fn quotations_within_quotations_are_paired() {
        assert_eq!(quoted("Call it “done.”"), "“Call it ‘done.’”");
        assert_eq!(quoted("Call it “done."), "“Call it done.”");
        assert_eq!(quoted("‘我得药钱十四两，勾销。"), "“我得药钱十四两，勾销。”");
    }
}
