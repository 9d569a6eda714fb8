//! Patterns that classify sentences by content.

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

    /// Whether the text after a name tells of the person's past or secrets.
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
    pub(crate) fn leans(&self, text: &str) -> bool {
        self.dependent.is_match(text)
    }

    /// Whether a sentence is in the first person.
    pub(crate) fn is_first_person(&self, text: &str) -> bool {
        self.first_person.is_match(text)
    }
}

static LISTS: LazyLock<ByLanguage<WordLists>> = LazyLock::new(|| WordLists::parse(include_str!("patterns.toml")));

const NUMBER: &str = r"\d{1,2}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-(?:one|two|three|four|five|six|seven|eight|nine))?|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|six|seven|eight|nine";

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
    let (en, zh) = (&LISTS.en, &LISTS.zh);
    let anchored = |words: &str| english(&en.fill(words));
    let opening = |words: &str| opening(&en.fill(words));
    let chinese = |words: &str| english(&zh.fill(words));
    let english = |words: &str| anchored(&format!(r"(?i)\b(?:{words})\b"));
    // A clause may stand between a name and its predicate.
    let after = |words: &str| anchored(&format!("^(?:,(?: [^,;.]{{1,50}},)?)?(?:{words})"));
    ByLanguage {
        en: Patterns {
            looks: after(
                r"(?:(?: was| is| had been| looked| seemed| appeared|, an?|, the)(?: (?:now|still|always|rather|very|quite|an?|the|so|as|\w+ly))*(?:,? \w+,?){0,2},? (?:<looks_adjectives>)\b|(?: was|, an?|, the)(?: \w+,?){0,3} (?:little|big|old|young|elderly|middle-aged) (?:man|woman|boy|girl|lady|gentleman|fellow|creature)\b|(?: wore| was dressed in| was wearing|(?: had| was in|, in|, with) (?:<looks_determiners>))(?: \w+,?){0,5} (?:<looks_nouns>)\b|[’']s(?: \w+,?){0,2} (?:eyes|hair|beard|face|complexion|figure|whiskers|moustache|nose) (?:was|were|had)\b)",
            ),
            traits: after(
                r"(?: was| is| seemed| had always been| had been| was always| was naturally|, being|, an?)(?: (?:now|still|always|rather|very|quite|an?|the|so|as|of|not|by nature|\w+ly))*(?: \w+,?){0,2} (?:<traits>)\b|(?:[’']s| had(?: \w+){0,3}) (?:temper|disposition|manners)\b|(?: made it a rule| was in the habit| was the kind| was the sort| was not the (?:man|woman|boy|girl))\b",
            ),
            past: after(
                r"(?: had (?:been (?:born|married|brought up|sent to|taught|apprenticed)|once|long|spent|served|grown up|inherited|buried|kept (?:it|the) secret|made a fortune)|[’']s (?:father|mother|wife|husband) had|(?: \w+){0,6} (?:years (?:ago|before|earlier)|as a (?:boy|girl|child)|since childhood|all (?:his|her) life|(?:twenty|thirty|forty|fifty|ten|fifteen|\w+teen) years))\b",
            ),
            likes: after(
                r"(?: was| had always been)?(?: \w+){0,2} (?:fond of (?:good|books|music|reading|cards|\w+ing)|liked to|loved to|delighted in|took pleasure in|favou?rite (?:walks?|pursuits?|pastimes?|amusements?|books?|games?|occupations?|songs?|dish)|spent (?:his|her) (?:days|evenings|mornings)|enjoyed \w+ing)\b",
            ),
            kin: after(
                r"(?:,|,? who| was| is|, who was)(?: \w+[’']s| the| his| her| only| eldest| elder| younger| youngest| second| late| old| own| [A-Z]\w+[’']s){1,3} (?:<kin>)\b|[’']s (?:\w+ )?(?:<kin_possessed>),? [A-Z]",
            ),
            aims: after(
                r"(?: \w+){0,4} (?:wanted|wished|hoped|meant to|intended|resolved|determined|decided|had come to|was going to|longed|needed to|(?:was|were) (?:eager|anxious|resolved|determined|bent|afraid that)|would not let|refused to|begged|was looking for|was in search|tried to)\b",
            ),
            wants: english(
                r"I(?:[’']ll| shall| will) (?:never |not |just |soon )?(?:<wanted_actions>)|I (?:want|wish to|need (?:an?|the|to|your|some|more)|must (?:<musts>)|mean to|intend to|am (?:going|determined|resolved) to|won[’']t (?:have|go|let|be)|will not \w+|would (?:rather|like)|should like|have come to|came (?:here )?(?:to|for)|have got to|can[’']t let|am looking for|beg (?:you|that)|insist)|I[’']m (?:going to|looking for|after)|I[’']ve (?:come|got) to|I[’']d (?:like|rather)",
            ),
            bids: anchored(
                r"^(?:(?:<bid_openers>),? )*(?:(?:<bids>)|[Ll]et (?:me|us|him|her|them|it)|(?:Come|come) (?:<bid_directions>)|[Yy]ou must (?:<bid_duties>)|[Ll]ook (?:here|out|after)) ",
            ),
            no_bid: english(
                r"and (?:you|he|she|it|they|we)(?:[’']ll|[’']d| will| shall| get| have| would)|do(?:n[’']t)? you[!.]?$|don[’']t (?:want|rightly|know|see|think|care)|(?:did|does|would|was|were|let (?:me|us) see)$|let me (?:see|think)",
            ),
            asks: opening(r"(?i)^(?:\w+[,.!]? ){0,3}(?:<question_words>)\b"),
            holds: english(
                r"(?:we|you|he|she|they|one) (?:must (?:<opinion_verbs>)|ought (?:not )?to|should|had better|need not)|[Ii]t (?:must|ought to|should) (?:not|be|go|come)|I (?:advise|propose|suggest|insist|maintain|think (?:we|you|it|that|he|she|they))|(?:it|that) (?:is|would be|will be) (?:better|best|right|wrong|time|impossible|necessary)",
            ),
            rhetoric: english(
                r"(?:<tag_verbs>)(?:n[’']t)? (?:you|he|she|it|we|they|I|not)\?$|how (?:can|could|should) (?:you|I|we|he|she|they|anyone)|what (?:could|should|can) (?:be )?more|do you (?:suppose|think|hear|mark|understand|see|call)|did(?:n[’']t| not) I|(?:<negated_verbs>)n[’']t (?:I|you|he|she|it|we|they|that|there)|(?:<inverted_verbs>) (?:not (?:I|you|he|she|it|we|they)|(?:I|you|he|she|it|we|they) not)|what of it|who (?:would|could|cares)|eh|have I lived|why should|what[’']s the (?:use|good)|what is the use|you know|you see",
            ),
            place: english(r"<places>"),
            time: english(r"<times>"),
            society: english(r"<society>"),
            introduces: after(
                r"(?:(?: \([^)]*\))?, (?:who (?:had (?:come|been|once|lived|kept|served)|was (?:an?|the|his|her|born|called|known|now|\w+ty(?:-\w+)?)|kept|lived|owned|ran|served)|whose|an? \w+|the (?:new|old|young|\w+er|\w+or|\w+man|\w+ist|rector|vicar|mate|squire|captain|doctor|widow|clerk|parson|curate))\b| (?:was|is) an? (?:\w+,? ){0,4}(?:man|woman|boy|girl|lady|gentleman|person|fellow|widow|clerk|officer|farmer|merchant|doctor|lawyer|captain|servant|clergyman|teacher|sailor|orphan|bachelor|\w+er|\w+or|\w+ist)\b| (?:was|is) (?:the (?:\w+ ){0,2}(?:<introduced_as>)|by trade|known as|called|named)\b)",
            ),
            before_name: anchored(r"\b(?:named|called|by the name of|whose name was) $"),
            says_who: anchored(r"^(?:[A-Z][\w.’'-]* ?){1,3}(?:[’']s| is| was) (?:<predicate_openers>) \w+ ?\w+"),
            age: anchored(&format!(
                r"(?i)\b(?:<aged_people>) of (?:about |nearly |some )?({NUMBER})\b|\b({NUMBER}) years? (?:old|of age)|\baged ({NUMBER})\b|\b(?:[Ss]?he) (?:was|is) (?:about |nearly |past )?({NUMBER})(?: or|,|\.|;)|, ({NUMBER})\.$"
            )),
            dependent: opening(r"^(?:<dependent_openers>)\b"),
            // `Iñigo` is not `I`.
            first_person: anchored(r"(?:^|\W)(?:I|me|my|mine|myself|we|us|our|ours)(?:\W|$)"),
            happens: english(
                r"(?:<event_subjects>) (?:\w+ ){0,3}?(?:<event_verbs>)|there (?:was|came|fell|followed) (?:an?|the|no|only) (?:\w+ ){0,3}(?:<event_nouns>)|(?:it (?:was|had begun|began) (?:\w+ ){0,2}(?:raining|snowing|dark|darkening|to rain|to snow|to grow dark|growing dark))",
            ),
            world: english(r"<world>"),
            that_day: opening(r"^(?:The (?:morning|evening|night|day|next)|That|At last|Suddenly|Then|After|As)\b"),
            present: english(r"<present_verbs>"),
        },
        zh: Patterns {
            looks: chinese("<looks>"),
            traits: chinese("<traits>"),
            past: chinese("<past>"),
            likes: chinese(
                "(?:^|[^加众眾不])(?:喜欢|喜歡)[^，。．、；了的]|爱好|愛好|最爱|最愛|好读书|好讀書|[^不可]爱[吃看喝听]|[^不可]愛[吃看喝聽]|嗜|闲时|閒時|平日里|平日裡|每日必|常去",
            ),
            kin: chinese("^(?:[，]?(?:便|乃|正|原|就|也)?[是系係][^，。]{0,10}|[，](?:[^，。]{1,6}的|乃))(?:<kin>)"),
            aims: chinese("^[^。；]{0,12}?(?:<aims>)"),
            wants: chinese(
                "(?:^|[，；])(?:明日|明儿|明兒|今日|今晚)?我(?:就|便|这就|這就|今日|今晚|明日|也|自)?(?:来|來|去)?(?:<wanted_objects>)[^，。过過]|(?:^|[^问問向跟和])我要[^是有]|我想[^了过着到起是他她你这那自，]|我得[去把替给找]|我须|我須|我非|我定|我必|我愿|我願|我只要|我只想|我不肯|我偏|我来找|我來找|我是来|我是來|咱要|咱得[去把替给找]|咱们得|我们得|我們得|我们要|我們要|本官要|小的想|求您|求你|请您|請您|(?:^|[，请請快求])(?:告诉我|告訴我)",
            ),
            bids: chinese(
                "^(?:(?:<bids>)[^？]|(?:<bid_listeners>)，?[^，。？说說]{0,2}(?:<bid_verbs>)[^？]|(?:咱们|咱們|咱|我们|我們)[^？]*(?:罢|吧|罷)[。！]?$)",
            ),
            no_bid: chinese(
                "^(?:莫[若非不如过過]|休[说說得]|且[说說看]|快[乐樂活要]|[请請][问問看]|好生[^，。]{0,2}[得的]|别[人处處的]|求之)|`",
            ),
            asks: chinese("<question_words>"),
            holds: chinese("<opinions>"),
            rhetoric: chinese("<rhetoric>"),
            place: chinese("<places>"),
            time: chinese("<times>"),
            society: chinese("<society>"),
            introduces: chinese(
                "^[，]?(?:(?:便|乃|正|原|就|也|本)?[是系係](?:个|個|一个|一個|新任|本[县縣地处處镇鎮村]|[^，。]{1,10}(?:<introduced_as>))|姓|名叫|名唤|名喚|叫做|唤作|喚作|人称|人稱|绰号|綽號|表字|年?[0-9一二三四五六七八九十]{1,3}[岁歲]|新任|[^，。]{0,6}人氏)",
            ),
            before_name: chinese("(?:<trades>)$"),
            says_who: chinese("^[^，。、？！]{2,4}(?:<predicates>)"),
            age: chinese(
                r"((?:[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九两兩]|百|\d{1,3})(?:[来來多余餘几幾]{1,2})?[岁歲](?:上下|左右|开外|開外|出头|出頭)?)|(年(?:<age_verbs>)(?:[一二三四五六七八九]?十[一二三四五六七八九]?(?:[有余餘]+)?|[一二三四五六七八九]旬))|([一二三四五六七八九]十(?:[来來多余餘])?(?:上下|开外|開外|出头|出頭|左右)(?:年纪|年紀)?)",
            ),
            dependent: chinese("^(?:<dependent_openers>)"),
            first_person: chinese("[我咱俺]"),
            happens: chinese(
                "[风風雨雪雷钟鐘鼓锣鑼灯燈月雾霧火烟煙浪潮铃鈴狗犬鸡雞鸦鴉门門帘簾桨槳](?:[^，。]{0,6})(?:<event_verbs>)|忽听|忽聽|只听|只聽|鸦雀无声|鴉雀無聲|一片寂静|一片寂靜|天[色已]?[^，。]{0,3}(?:黑|亮|明|晚|暗)",
            ),
            world: chinese("<world>"),
            that_day: chinese("^(?:那日|这日|這日|次日|当日|當日|一日|只)|穿著|穿着|铺着|鋪着|设着|設着|挂着|掛着"),
            present: chinese("^(?:<remark_openers>)"),
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
