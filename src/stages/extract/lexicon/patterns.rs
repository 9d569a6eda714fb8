//! Patterns that classify sentences by content.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::word_lists::WordLists;
use crate::schema::{ByLanguage, Language};

/// Patterns that classify sentences by content.
#[derive(Debug)]
pub(crate) struct Patterns {
    looks: Regex,
    traits: Regex,
    past: Regex,
    likes: Regex,
    kin: Regex,
    aims: Regex,
    wants: Regex,
    bids: Regex,
    no_bid: Regex,
    asks: Regex,
    holds: Regex,
    rhetoric: Regex,
    place: Regex,
    time: Regex,
    society: Regex,
    introduces: Regex,
    before_name: Regex,
    says_who: Regex,
    age: Regex,
    dependent: Regex,
    first_person: Regex,
    happens: Regex,
    present: Regex,
    world: Regex,
    that_day: Regex,
}

impl Patterns {
    pub(crate) fn of(language: Language) -> &'static Self {
        WORDS.get(language)
    }

    /// Whether the text after a name describes the person's appearance.
    pub(crate) fn describes_appearance(&self, after: &str) -> bool {
        self.looks.is_match(after)
    }

    /// Whether the text after a name describes the person's character.
    pub(crate) fn describes_traits(&self, after: &str) -> bool {
        self.traits.captures(after).is_some_and(|found| {
            // `Proud of his boat` and `cautious about it` describe a moment.
            let rest = &after[found.get(0).map_or(0, |found| found.end())..];
            !LISTS.en.words("trait_complements").iter().any(|tie| rest.starts_with(tie.as_str()))
        })
    }

    /// Whether the text after a name describes the person's past or secrets.
    pub(crate) fn describes_past(&self, after: &str) -> bool {
        self.past.is_match(after)
    }

    /// Whether the text after a name says what the person likes to do.
    pub(crate) fn describes_hobbies(&self, after: &str) -> bool {
        self.likes.is_match(after)
    }

    /// Whether the text after a name states a relation by blood, marriage or service.
    pub(crate) fn states_relation(&self, after: &str) -> bool {
        self.kin.is_match(after)
    }

    /// Whether the text after a name says what the person wants.
    pub(crate) fn states_aim(&self, after: &str) -> bool {
        self.aims.is_match(after)
    }

    /// Whether a sentence is a wish or an intention in the first person.
    pub(crate) fn wants(&self, text: &str) -> bool {
        self.wants.is_match(text)
    }

    /// Whether a sentence asks the listener to do something.
    pub(crate) fn bids(&self, text: &str) -> bool {
        self.bids.is_match(text) && !self.no_bid.is_match(text)
    }

    /// Whether a sentence is a question that expects an answer.
    pub(crate) fn asks(&self, text: &str) -> bool {
        text.ends_with(['?', '？']) && self.asks.is_match(text) && !self.rhetoric.is_match(text)
    }

    /// Whether a sentence says what should be done, or gives the speaker's opinion.
    pub(crate) fn holds(&self, text: &str) -> bool {
        self.holds.is_match(text)
    }

    /// Whether the text before or after a name introduces the person: 新任巡检祁勉, or `Brack, who had come`.
    pub(crate) fn introduces(&self, before: &str, after: &str) -> bool {
        self.before_name.is_match(before) || self.introduces.is_match(after)
    }

    /// Whether the text from a name on says who or what the person is.
    pub(crate) fn says_who(&self, text: &str) -> bool {
        self.says_who.is_match(text)
    }

    /// Whether a sentence describes an event without an agent: weather, sounds, lights.
    pub(crate) fn happens(&self, text: &str) -> bool {
        self.happens.is_match(text)
    }

    /// Whether a sentence is in the present tense, as narrator comments are and events are not.
    pub(crate) fn is_remark(&self, text: &str) -> bool {
        self.present.is_match(text)
    }

    /// Whether a name at this byte is near enough to the start of a speech for the speech to be about that person.
    pub(crate) const fn name_comes_first(language: Language, byte: usize) -> bool {
        byte <= match language {
            Language::En => 8,
            Language::Zh => 9,
        }
    }

    /// Whether a name stands for a group or for anyone, rather than one person.
    pub(crate) fn is_group(language: Language, name: &str) -> bool {
        match language {
            Language::En => {
                let lower = name.to_lowercase();
                let word = lower.rsplit(' ').next().unwrap_or_default();
                // Only a common noun shows its number; `Mrs. Jenkins` is one person.
                let common = name.starts_with(char::is_lowercase);
                let plural =
                    word.ends_with('s') && !word.ends_with("ss") || word.ends_with("men") || word == "children";
                LISTS.en.words("groups").iter().any(|group| group == word)
                    || lower.contains(" and ")
                    || (common && plural)
            }
            Language::Zh => {
                let counts = "一二三四五六七八九十两兩几幾数數有各旁诸諸众眾人家下又";
                let counted = name
                    .strip_suffix(['人', '个', '個', '位'])
                    .is_some_and(|count| !count.is_empty() && count.chars().all(|c| counts.contains(c)));
                // `两个差人`, `二位公子`, `那几个媳妇`; `一个老和尚` and `一位先生` are one.
                let bare = name.trim_start_matches(['那', '这', '這']);
                let many = bare.starts_with(|c| "二三四五六七八九十两兩几幾数數些诸諸各众眾".contains(c))
                    && bare.chars().nth(1).is_some_and(|c| "个個位名人些干".contains(c));
                counted
                    || many
                    || name.ends_with(['们', '們', '等'])
                    || bare.starts_with(['些', '众', '眾'])
                    || name == "大家"
                    || name.contains('、')
            }
        }
    }

    /// Returns how many of place, time and society a sentence mentions, 0 to 3.
    pub(crate) fn setting(&self, text: &str) -> usize {
        [&self.place, &self.time, &self.society].into_iter().filter(|words| words.is_match(text)).count()
    }

    /// Whether a sentence describes a place or a time with its society, rather than an event of that day.
    pub(crate) fn sets_world(&self, text: &str) -> bool {
        self.world.is_match(text) && !self.that_day.is_match(text)
    }

    /// Returns the age stated in a text: the capture group that matched.
    pub(crate) fn age<'t>(&self, text: &'t str) -> Option<&'t str> {
        let found = self.age.captures(text)?;
        let age = (1..found.len()).find_map(|group| found.get(group))?;
        // `大两岁` compares two people and `十岁那年` is in the past; neither states an age.
        let apart =
            text[..age.start()].ends_with(['大', '小', '长', '長', '差', '第', '了', '每', '几', '幾', '过', '過']);
        let past = LISTS.zh.words("past_ages").iter().any(|word| text[age.end()..].starts_with(word.as_str()));
        let age = Some(age.as_str()).filter(|_| !apart && !past)?;
        // Two digits side by side, as in 十五六, are a guess, and mostly about someone else.
        let unit = |c: char| "一二三四五六七八九".contains(c);
        let guess = age.chars().zip(age.chars().skip(1)).any(|(one, next)| unit(one) && unit(next));
        (!guess).then_some(age)
    }

    /// Whether a sentence begins with a word that depends on the previous sentence.
    pub(crate) fn depends_on_context(&self, text: &str) -> bool {
        self.dependent.is_match(text)
    }

    /// Whether a sentence is in the first person.
    pub(crate) fn is_first_person(&self, text: &str) -> bool {
        self.first_person.is_match(text)
    }
}

static LISTS: LazyLock<ByLanguage<WordLists>> = LazyLock::new(|| WordLists::parse(include_str!("patterns.toml")));

/// Compiles a pattern of English words with `\b` as an ASCII word boundary. With a Unicode boundary the regex engine
/// cannot use its automaton on curly quotes, which makes a whole book many times slower to scan.
pub(crate) fn english(pattern: &str) -> Regex {
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("the pattern is built in and tested")
}

/// Compiles a pattern anchored at the start of an English text with `\b` as a Unicode word boundary, so that `Noël`
/// does not begin with `No`. This is cheap because only the start of the text is read.
pub(crate) fn opening(pattern: &str) -> Regex {
    debug_assert!(pattern.trim_start_matches("(?i)").starts_with('^'), "{pattern}");
    Regex::new(pattern).expect("the pattern is built in and tested")
}

static WORDS: LazyLock<ByLanguage<Patterns>> = LazyLock::new(|| {
    let expressions: ByLanguage<BTreeMap<String, String>> = embedded_toml!("expressions.toml");
    let en = |name: &str| LISTS.en.fill(&expressions.en[name]);
    let zh = |name: &str| LISTS.zh.fill(&expressions.zh[name]);
    let anchored = |name: &str| english(&en(name));
    let opening = |name: &str| opening(&en(name));
    let words = |name: &str| english(&format!(r"(?i)\b(?:{})\b", en(name)));
    // There can be a clause between a name and its predicate.
    let after = |name: &str| english(&format!("^(?:,(?: [^,;.]{{1,50}},)?)?(?:{})", en(name)));
    let chinese = |name: &str| english(&zh(name));
    ByLanguage {
        en: Patterns {
            looks: after("looks"),
            traits: after("traits"),
            past: after("past"),
            likes: after("likes"),
            kin: after("kin"),
            aims: after("aims"),
            wants: words("wants"),
            bids: anchored("bids"),
            no_bid: words("no_bid"),
            asks: opening("asks"),
            holds: words("holds"),
            rhetoric: words("rhetoric"),
            place: words("place"),
            time: words("time"),
            society: words("society"),
            introduces: after("introduces"),
            before_name: anchored("before_name"),
            says_who: anchored("says_who"),
            age: anchored("age"),
            dependent: opening("dependent"),
            // `Iñigo` is not `I`.
            first_person: anchored("first_person"),
            happens: words("happens"),
            world: words("world"),
            that_day: opening("that_day"),
            present: words("present"),
        },
        zh: Patterns {
            looks: chinese("looks"),
            traits: chinese("traits"),
            past: chinese("past"),
            likes: chinese("likes"),
            kin: chinese("kin"),
            aims: chinese("aims"),
            wants: chinese("wants"),
            bids: chinese("bids"),
            no_bid: chinese("no_bid"),
            asks: chinese("asks"),
            holds: chinese("holds"),
            rhetoric: chinese("rhetoric"),
            place: chinese("place"),
            time: chinese("time"),
            society: chinese("society"),
            introduces: chinese("introduces"),
            before_name: chinese("before_name"),
            says_who: chinese("says_who"),
            age: chinese("age"),
            dependent: chinese("dependent"),
            first_person: chinese("first_person"),
            happens: chinese("happens"),
            world: chinese("world"),
            that_day: chinese("that_day"),
            present: chinese("present"),
        },
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_extracted() {
        for (language, text, expected) in [
            (Language::En, "He was a long, thin man of fifty-eight in a brown coat.", Some("fifty-eight")),
            (Language::En, "DORCAS FELL, bell-founder, sixty-three.", Some("sixty-three")),
            (Language::En, "The girl was twelve years old.", Some("twelve")),
            (Language::En, "He was fifty miles away.", None),
            (Language::Zh, "船头坐着新任巡检祁勉，三十四岁。", Some("三十四岁")),
            (Language::Zh, "走了三十四里。", None),
            (Language::Zh, "陆远，年方十五，住在镇上。", Some("年方十五")),
            (Language::Zh, "陸遠年約四旬，面色微黑。", Some("年約四旬")),
            (Language::Zh, "沈固五十上下年纪，花白胡子。", Some("五十上下年纪")),
            (Language::Zh, "阿松是个十来岁的孩子。", Some("十来岁")),
            (Language::Zh, "小满十岁了。", Some("十岁")),
            (Language::Zh, "他要十两银子，走了十里。", None),
            (Language::Zh, "他比阿松大两岁。", None),
            (Language::Zh, "他十岁那年死了父亲。", None),
            (Language::Zh, "年年十五，他都来。", None),
        ] {
            assert_eq!(Patterns::of(language).age(text), expected, "{text}");
        }
    }

    #[test]
    fn groups_are_not_a_single_addressee() {
        for (language, name, expected) in [
            (Language::En, "everybody", true),
            (Language::En, "the girls", true),
            (Language::En, "the fishermen", true),
            (Language::En, "Mr. and Mrs. Dale", true),
            (Language::En, "Mrs. Jenkins", false),
            (Language::En, "the hostess", false),
            (Language::Zh, "众人", true),
            (Language::Zh, "二人", true),
            (Language::Zh, "有人", true),
            (Language::Zh, "丫头们", true),
            (Language::Zh, "大爷、二爷", true),
            (Language::Zh, "夫人", false),
            (Language::Zh, "道人", false),
        ] {
            assert_eq!(Patterns::is_group(language, name), expected, "{name}");
        }
    }
}
