//! Patterns that classify sentences by content.

use std::sync::LazyLock;

use regex::Regex;

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
    pub(crate) fn tells_looks(&self, after: &str) -> bool {
        self.looks.is_match(after)
    }

    /// Whether the text after a name describes the person's character.
    pub(crate) fn tells_traits(&self, after: &str) -> bool {
        self.traits.captures(after).is_some_and(|found| {
            // `Proud of his boat` and `cautious about it` describe a moment.
            let rest = &after[found.get(0).map_or(0, |found| found.end())..];
            ![" of ", " to ", " about ", " at ", " that ", " in ", " for ", " when ", " while "]
                .iter()
                .any(|tie| rest.starts_with(tie))
        })
    }

    /// Whether the text after a name tells of the person's past or secrets.
    pub(crate) fn tells_past(&self, after: &str) -> bool {
        self.past.is_match(after)
    }

    /// Whether the text after a name says what the person likes to do.
    pub(crate) fn tells_likes(&self, after: &str) -> bool {
        self.likes.is_match(after)
    }

    /// Whether the text after a name states a relation by blood, marriage or service.
    pub(crate) fn tells_kin(&self, after: &str) -> bool {
        self.kin.is_match(after)
    }

    /// Whether the text after a name says what the person wants.
    pub(crate) fn tells_aims(&self, after: &str) -> bool {
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
                EVERYBODY_EN.contains(&word) || lower.contains(" and ") || (common && plural)
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
        let past = ["那年", "时", "時", "上死", "上没", "上父", "上母", "起", "以前", "就", "便"];
        let past = past.iter().any(|word| text[age.end()..].starts_with(word));
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

/// Words for several people, or for no one in particular.
const EVERYBODY_EN: &[&str] = &[
    "all",
    "anybody",
    "both",
    "chorus",
    "company",
    "crowd",
    "everybody",
    "everyone",
    "family",
    "many",
    "mob",
    "others",
    "party",
    "people",
    "several",
    "some",
    "somebody",
    "someone",
    "they",
    "two",
    "three",
    "voices",
    "whole",
];

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
    let anchored = english;
    let english = |words: &str| anchored(&format!(r"(?i)\b(?:{words})\b"));
    // A clause may stand between a name and its predicate.
    let after = |words: &str| anchored(&format!("^(?:,(?: [^,;.]{{1,50}},)?)?(?:{words})"));
    let chinese = |words: &str| anchored(words);
    ByLanguage {
        en: Patterns {
            looks: after(
                r"(?:(?: was| is| had been| looked| seemed| appeared|, an?|, the)(?: (?:now|still|always|rather|very|quite|an?|the|so|as|\w+ly))*(?:,? \w+,?){0,2},? (?:tall|short|thin|lean|stout|fat|plump|slender|slim|handsome|pretty|beautiful|ugly|pale|freckled|wrinkled|bald|bearded|good-looking|fair|dark|grey-haired|gray-haired|red-faced|broad-shouldered|well-grown|well-made|lame|blind|ragged)\b|(?: was|, an?|, the)(?: \w+,?){0,3} (?:little|big|old|young|elderly|middle-aged) (?:man|woman|boy|girl|lady|gentleman|fellow|creature)\b|(?: wore| was dressed in| was wearing|(?: had| was in|, in|, with) (?:an?|no|very|rather|the|long|short|great|grey|gray|white|red|dark|black|brown|blue|green))(?: \w+,?){0,5} (?:eyes|hair|beard|whiskers|moustache|face|complexion|nose|coat|cloak|gown|dress|hat|cap|shawl|oilskin|apron|uniform|spectacles|scar)\b|[’']s(?: \w+,?){0,2} (?:eyes|hair|beard|face|complexion|figure|whiskers|moustache|nose) (?:was|were|had)\b)",
            ),
            traits: after(
                r"(?: was| is| seemed| had always been| had been| was always| was naturally|, being|, an?)(?: (?:now|still|always|rather|very|quite|an?|the|so|as|of|not|by nature|\w+ly))*(?: \w+,?){0,2} (?:proud|vain|shy|timid|bold|brave|clever|shrewd|cunning|foolish|kind|kindly|gentle|generous|greedy|cruel|honest|patient|impatient|hot-tempered|cheerful|merry|gloomy|solemn|severe|strict|stubborn|obstinate|lazy|talkative|reserved|polite|rude|careful|careless|cautious|curious|nervous|sensible|witty|good-humou?red|good-natured|well-meaning|amiable|modest|humble|haughty|loyal|ambitious|conceited|boastful|faithful|hospitable|tender-hearted|warm-hearted|simple-hearted|quick-tempered|temper|disposition|understanding|spirits)\b|(?:[’']s| had(?: \w+){0,3}) (?:temper|disposition|manners)\b|(?: made it a rule| was in the habit| was the kind| was the sort| was not the (?:man|woman|boy|girl))\b",
            ),
            past: after(
                r"(?: had (?:been (?:born|married|brought up|sent to|taught|apprenticed)|once|long|spent|served|grown up|inherited|buried|kept (?:it|the) secret|made a fortune)|[’']s (?:father|mother|wife|husband) had|(?: \w+){0,6} (?:years (?:ago|before|earlier)|as a (?:boy|girl|child)|since childhood|all (?:his|her) life|(?:twenty|thirty|forty|fifty|ten|fifteen|\w+teen) years))\b",
            ),
            likes: after(
                r"(?: was| had always been)?(?: \w+){0,2} (?:fond of (?:good|books|music|reading|cards|\w+ing)|liked to|loved to|delighted in|took pleasure in|favou?rite (?:walks?|pursuits?|pastimes?|amusements?|books?|games?|occupations?|songs?|dish)|spent (?:his|her) (?:days|evenings|mornings)|enjoyed \w+ing)\b",
            ),
            kin: after(
                r"(?:,|,? who| was| is|, who was)(?: \w+[’']s| the| his| her| only| eldest| elder| younger| youngest| second| late| old| own| [A-Z]\w+[’']s){1,3} (?:father|mother|brother|sister|son|daughter|husband|wife|uncle|aunt|niece|nephew|cousin|widow|grandson|granddaughter|grandfather|grandmother|servant|master|secretary|apprentice|friend|neighbou?r|partner|housekeeper|steward|guardian|half-brother)\b|[’']s (?:\w+ )?(?:father|mother|brother|sister|son|daughter|husband|wife|uncle|aunt|niece|nephew|cousin),? [A-Z]",
            ),
            aims: after(
                r"(?: \w+){0,4} (?:wanted|wished|hoped|meant to|intended|resolved|determined|decided|had come to|was going to|longed|needed to|(?:was|were) (?:eager|anxious|resolved|determined|bent|afraid that)|would not let|refused to|begged|was looking for|was in search|tried to)\b",
            ),
            wants: english(
                r"I(?:[’']ll| shall| will) (?:never |not |just |soon )?(?:have|get|tell|make|take|find|give|bring|show|teach|learn|keep|stand|pay|fetch|help|send|write|read|let|stop|wait|stay|leave|ask|try|buy|sell|fight|follow|save|trust)|I (?:want|wish to|need (?:an?|the|to|your|some|more)|must (?:have (?:an?|the|my|some|it)|see|find|get|go|know|ask|speak|stop|save|reach)|mean to|intend to|am (?:going|determined|resolved) to|won[’']t (?:have|go|let|be)|will not \w+|would (?:rather|like)|should like|have come to|came (?:here )?(?:to|for)|have got to|can[’']t let|am looking for|beg (?:you|that)|insist)|I[’']m (?:going to|looking for|after)|I[’']ve (?:come|got) to|I[’']d (?:like|rather)",
            ),
            bids: anchored(
                r"^(?:(?:Oh|Now|Then|But|And|So|Well|Come|Here|Pray|Just|Please|Do|do),? )*(?:(?:Tell|Give|Show|Help|Bring|Take|Go|Leave|Listen|Promise|Stay|Stop|Wait|Send|Put|Keep|Hold|Ask|Speak|Sit|tell|give|show|help|bring|take|go|leave|listen|promise|stay|wait|send|put|keep|hold|ask|speak|sit|Don[’']t|Do not|don[’']t|do not|You (?:had|[’']d) better|you (?:had|[’']d) better)|[Ll]et (?:me|us|him|her|them|it)|(?:Come|come) (?:and|along|with|back|here|in|on|down|out|up|away)|[Yy]ou must (?:not|go|come|let|give|tell|take|promise|help|stay|leave|speak|send|keep)|[Ll]ook (?:here|out|after)) ",
            ),
            no_bid: english(
                r"and (?:you|he|she|it|they|we)(?:[’']ll|[’']d| will| shall| get| have| would)|do(?:n[’']t)? you[!.]?$|don[’']t (?:want|rightly|know|see|think|care)|(?:did|does|would|was|were|let (?:me|us) see)$|let me (?:see|think)",
            ),
            asks: opening(
                r"(?i)^(?:\w+[,.!]? ){0,3}(?:who|whom|whose|what|where|when|why|how|which|is|are|was|were|do|does|did|can|may|will|would|have|has|had|shall|could|should|must)\b",
            ),
            holds: english(
                r"(?:we|you|he|she|they|one) (?:must (?:not|be|do|go|make|take|keep|let|give|find|get|stand|see|wait|try|all)|ought (?:not )?to|should|had better|need not)|[Ii]t (?:must|ought to|should) (?:not|be|go|come)|I (?:advise|propose|suggest|insist|maintain|think (?:we|you|it|that|he|she|they))|(?:it|that) (?:is|would be|will be) (?:better|best|right|wrong|time|impossible|necessary)",
            ),
            rhetoric: english(
                r"(?:do|did|is|are|was|were|have|has|will|would|can|could|shall)(?:n[’']t)? (?:you|he|she|it|we|they|I|not)\?$|how (?:can|could|should) (?:you|I|we|he|she|they|anyone)|what (?:could|should|can) (?:be )?more|do you (?:suppose|think|hear|mark|understand|see|call)|did(?:n[’']t| not) I|(?:is|are|was|were|do|does|did|ca|wo|would|could|should|have|has|ai)n[’']t (?:I|you|he|she|it|we|they|that|there)|(?:is|are|was|do|does|did|can|will|would|could|should|have|has) (?:not (?:I|you|he|she|it|we|they)|(?:I|you|he|she|it|we|they) not)|what of it|who (?:would|could|cares)|eh|have I lived|why should|what[’']s the (?:use|good)|what is the use|you know|you see",
            ),
            place: english(
                r"village|town|city|county|country|parish|river|sea|coast|shore|island|hill|valley|moor|marsh|forest|wood|road|street|square|house|cottage|inn|castle|mansion|manor|church|harbou?r|quay|ferry|bridge|mill|farm|shop|school|station|ship|foundry|hall|park|estate",
            ),
            time: english(
                r"morning|evening|night|noon|dusk|dawn|spring|summer|autumn|winter|January|February|March|April|June|July|August|September|October|November|December|year|century|Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|o[’']clock|days? of",
            ),
            society: english(
                r"king|queen|lord|lady|squire|mayor|vicar|parson|parish|gentleman|gentlemen|captain|doctor|law|lawyer|commission|council|regiment|war|trade|market|fortune|rent|tenant|merchant|police|magistrate|neighbou?rhood|society|family|families|people",
            ),
            introduces: after(
                r"(?:(?: \([^)]*\))?, (?:who (?:had (?:come|been|once|lived|kept|served)|was (?:an?|the|his|her|born|called|known|now|\w+ty(?:-\w+)?)|kept|lived|owned|ran|served)|whose|an? \w+|the (?:new|old|young|\w+er|\w+or|\w+man|\w+ist|rector|vicar|mate|squire|captain|doctor|widow|clerk|parson|curate))\b| (?:was|is) an? (?:\w+,? ){0,4}(?:man|woman|boy|girl|lady|gentleman|person|fellow|widow|clerk|officer|farmer|merchant|doctor|lawyer|captain|servant|clergyman|teacher|sailor|orphan|bachelor|\w+er|\w+or|\w+ist)\b| (?:was|is) (?:the (?:\w+ ){0,2}(?:son|daughter|widow|wife|owner|keeper|master|mistress|captain|mate|clerk|head|youngest|eldest|new)|by trade|known as|called|named)\b)",
            ),
            before_name: anchored(r"\b(?:named|called|by the name of|whose name was) $"),
            says_who: anchored(
                r"^(?:[A-Z][\w.’'-]* ?){1,3}(?:[’']s| is| was) (?:an?|the|my|our|no|too|very|always|only|as) \w+ ?\w+",
            ),
            age: anchored(&format!(
                r"(?i)\b(?:man|woman|boy|girl|lad|lady|gentleman|widow|widower|person|child|youth|fellow) of (?:about |nearly |some )?({NUMBER})\b|\b({NUMBER}) years? (?:old|of age)|\baged ({NUMBER})\b|\b(?:[Ss]?he) (?:was|is) (?:about |nearly |past )?({NUMBER})(?: or|,|\.|;)|, ({NUMBER})\.$"
            )),
            dependent: opening(
                r"^(?:He|She|It|They|This|That|These|Those|His|Her|Their|But|And|Then|So|Or|Nor|Yet|Here|There)\b",
            ),
            // `Iñigo` is not `I`.
            first_person: anchored(r"(?:^|\W)(?:I|me|my|mine|myself|we|us|our|ours)(?:\W|$)"),
            happens: english(
                r"(?:wind|rain|storm|thunder|lightning|bell|bells|clock|knock|knocking|noise|sound|silence|cry|crash|shot|shots|footsteps?|fire|candle|lamp|lantern|light|sun|moon|stars|snow|fog|mist|tide|waves?|gulls?|crowd|hush|echo|whistle|horn|drum|smoke|door|window|voices|darkness) (?:\w+ ){0,3}?(?:was|were|had|came|went|rose|fell|rang|struck|blew|beat|began|ceased|stopped|grew|opened|shut|closed|slammed|followed|broke|burned|burnt|shone|flickered|rolled|roared|died|drew|stood|swung|creaked|rattled|murmured|passed|sounded|lit|hung|lay|turned)|there (?:was|came|fell|followed) (?:an?|the|no|only) (?:\w+ ){0,3}(?:silence|pause|hush|noise|sound|knock|cry|crash|shout|murmur|roar|shot|flash|ring|rustle|whisper|laugh|stir)|(?:it (?:was|had begun|began) (?:\w+ ){0,2}(?:raining|snowing|dark|darkening|to rain|to snow|to grow dark|growing dark))",
            ),
            world: english(
                r"village|town|city|county|country|parish|river|coast|shore|island|neighbou?rhood|century|regiment|society|market|trade|parishes|villages|people|harbou?r|mansion|manor|estate|inn|mills?|farms?",
            ),
            that_day: opening(r"^(?:The (?:morning|evening|night|day|next)|That|At last|Suddenly|Then|After|As)\b"),
            present: english(r"is|are|am|has|have|will|shall|may|can|must|do|does|ought"),
        },
        zh: Patterns {
            looks: chinese(
                "身材|身量|身穿|身著|穿着[^，]{2}|穿著[^，]{2}|穿一|戴着|戴著|头戴|頭戴|面如|面色|圆脸|圓臉|长脸|長臉|瘦长|瘦長|白胖|高大|矮小|眉眼|左眉|右眉|浓眉|濃眉|花白|白发|白髮|[双雙两兩]鬓|[双雙两兩]鬢|鬓[发角]|鬢[髮角]|皱纹|皺紋|疤|生得|长得|長得|相貌|容貌|长衫|長衫|晒得|曬得|招风耳|招風耳|骨瘦|驼背|駝背|断了一条腿|肥胖",
            ),
            traits: chinese(
                "性情|性子(?:急|慢|好|烈|直)|脾气|脾氣|为人|為人|心地|心肠|心腸|胆小|膽小|胆大|膽大|老实|老實|忠厚|精明|狡猾|刻薄|吝啬|吝嗇|豪爽|温和|溫和|温柔|溫柔|倔强|倔強|固执|固執|急躁|沉稳|沉穩|寡言|多话|多話|嘴快|聪明|聰明|伶俐|机灵|機靈|愚笨|懒惰|懶惰|本性|天性|勤快|骄傲|驕傲|谦和|謙和|孝顺|孝順|仗义|仗義|好强|好強|爱笑|愛笑|向来|向來|从不|從不|从来不|從來不|一向|最[怕恨厌厭肯喜爱愛]|素[来來日性]",
            ),
            past: chinese(
                "从前|從前|当年|當年|少年时|少年時|年轻时|年輕時|小时候|小時候|自幼|自小|早年|年前|曾经|曾經|曾在|瞒着|瞞著|从没告诉|從沒告訴|没告诉过|沒告訴過|心里一直怕|多年的心事|原是|本是|出身|祖上|世代",
            ),
            likes: chinese(
                "(?:^|[^加众眾不])(?:喜欢|喜歡)[^，。．、；了的]|爱好|愛好|最爱|最愛|好读书|好讀書|[^不可]爱[吃看喝听]|[^不可]愛[吃看喝聽]|嗜|闲时|閒時|平日里|平日裡|每日必|常去",
            ),
            kin: chinese(
                "^(?:[，]?(?:便|乃|正|原|就|也)?[是系係][^，。]{0,10}|[，](?:[^，。]{1,6}的|乃))(?:父亲|父親|母亲|母親|爹|娘|兄弟|哥哥|弟弟|姐姐|姊姊|妹妹|女儿|女兒|儿子|兒子|独子|獨子|丈夫|妻子|老婆|媳妇|媳婦|叔叔|舅舅|姑姑|姨妈|姨媽|侄儿|侄女|姪|外甥|祖父|祖母|爷爷|爺爺|奶奶|师父|師父|徒弟|师傅|師傅|伙计|夥計|丫鬟|丫头|东家|東家|主人|朋友|邻居|鄰居|亲家|親家|之[子女妻母父弟兄妹])",
            ),
            aims: chinese(
                "^[^。；]{0,12}?(?:想要|要想|打算|打定主意|决意|決意|决心|決心|只想|一心|盼着|盼著|希望|指望|为的是|為的是|生怕|唯恐|恐怕|不肯|不愿|不願|定要|非要|恨不得|特来|特來|前来|前來|要去|来找|來找|有心|意欲|欲待|正要[^说說道])",
            ),
            wants: chinese(
                "(?:^|[，；])(?:明日|明儿|明兒|今日|今晚)?我(?:就|便|这就|這就|今日|今晚|明日|也|自)?(?:来|來|去)?(?:替|给|給|与|與|把|将|將|找|问|問)[^，。过過]|(?:^|[^问問向跟和])我要[^是有]|我想[^了过着到起是他她你这那自，]|我得[去把替给找]|我须|我須|我非|我定|我必|我愿|我願|我只要|我只想|我不肯|我偏|我来找|我來找|我是来|我是來|咱要|咱得[去把替给找]|咱们得|我们得|我們得|我们要|我們要|本官要|小的想|求您|求你|请您|請您|(?:^|[，请請快求])(?:告诉我|告訴我)",
            ),
            bids: chinese(
                "^(?:(?:快|且|请|請|烦|煩|求|还求|還求|[别別][^人处處的的]|不要|休|莫|好生|只管|千万|千萬|替我|给我|給我|与我|與我|告诉我|告訴我)[^？]|(?:你|您|你们|你們|先生|老爷|老爺|大家|姐姐|妈妈|媽媽)，?[^，。？说說]{0,2}(?:快|且|只管|好生|别|別|不要|不必|休|莫|须|須|该|該|替|给我|給我|把|将|將)[^？]|(?:咱们|咱們|咱|我们|我們)[^？]*(?:罢|吧|罷)[。！]?$)",
            ),
            no_bid: chinese(
                "^(?:莫[若非不如过過]|休[说說得]|且[说說看]|快[乐樂活要]|[请請][问問看]|好生[^，。]{0,2}[得的]|别[人处處的]|求之)|`",
            ),
            asks: chinese(
                "谁|誰|什么|什麼|甚么|甚麼|何[处處人时時事物]|[哪那][里裡儿兒个個]|[几幾多]|怎[么麼样樣生]|为何|為何|如何|可[曾有是]|[么麼麽呢没沒不否]？$|有无|有無",
            ),
            holds: chinese(
                "不如|莫若|依我|我看[，他她你这這那此]|我说[，他你这這]|我說[，他你这這]|应该|應該|应当|應當|须得|須得|须要|須要|该当|該當|只该|只該|[才纔]是。$|便是了。$|使不得|不该|不該|决不|決不|断不|斷不|岂可|豈可",
            ),
            rhetoric: chinese(
                "岂|豈|难道|難道|何必|何苦|何尝|何嘗|何曾|何不|怎能|怎么能|怎麼能|怎敢|哪能|那能|哪里(?:有|是|敢)|那里(?:有|是|敢)|哪裡(?:有|是|敢)|谁知|誰知|不成|何况|何況|可不|不是|怎(?:么|麼)(?:不|没|沒)",
            ),
            place: chinese(
                "县|縣|镇|鎮|村|城|府|州|山|河|江|湖|海|渠|岛|島|街|巷|店|铺|鋪|庙|廟|寺|庄|莊|园|園|院|屋|房|码头|碼頭|埠|桥|橋|塘|船|学堂|學堂|衙门|衙門|司",
            ),
            time: chinese(
                "年间|年間|元年|月初|初一|初二|初三|正月|腊月|臘月|[一二三四五六七八九十]月|春|夏|秋|冬|清晨|早晨|一早|傍晚|黄昏|黃昏|夜里|夜裡|半夜|中午|晌午|时分|時分|那年|这年|這年|子年|丑年|寅年|卯年|辰年|巳年|午年|未年|申年|酉年|戌年|亥年|那日|一日",
            ),
            society: chinese(
                "皇帝|朝廷|天子|官|知县|知縣|县令|縣令|巡检|巡檢|衙|老爷|老爺|秀才|举人|舉人|书生|書生|乡绅|鄉紳|地主|东家|東家|商|纸坊|紙坊|作坊|行会|行會|百姓|人家|家业|家業|世代|江湖|门派|門派|公司|学校|學校|军|軍",
            ),
            introduces: chinese(
                "^[，]?(?:(?:便|乃|正|原|就|也|本)?[是系係](?:个|個|一个|一個|新任|本[县縣地处處镇鎮村]|[^，。]{1,10}(?:人|人氏|的(?:独子|獨子|女儿|女兒|儿子|兒子|妻|弟|兄)|之[子女妻]|官|商|匠|生|士|夫|家))|姓|名叫|名唤|名喚|叫做|唤作|喚作|人称|人稱|绰号|綽號|表字|年?[0-9一二三四五六七八九十]{1,3}[岁歲]|新任|[^，。]{0,6}人氏)",
            ),
            before_name: chinese(
                "(?:弓兵|丫鬟|丫头|丫頭|小厮|小廝|管家|老板娘|老闆娘|掌柜|掌櫃|伙计|夥計|先生|讼师|訟師|知县|知縣|县令|縣令|巡检|巡檢|秀才|举人|舉人|和尚|道士|匠|女儿|女兒|儿子|兒子|独子|獨子|兄弟|妻子|夫人|东家|東家|槽主|教习|教習|将军|將軍|大夫|老汉|老漢|姑娘|船娘)$",
            ),
            says_who: chinese(
                "^[^，。、？！]{2,4}(?:是个|是個|是[^不否谁誰么麼什我你他]{1,8}(?:的|人|匠|官|家)[，。！]?$|为人|為人|最是|一向|向来|向來|从不|從不|这个人|這個人)",
            ),
            age: chinese(
                r"((?:[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九两兩]|百|\d{1,3})(?:[来來多余餘几幾]{1,2})?[岁歲](?:上下|左右|开外|開外|出头|出頭)?)|(年(?:近|约|約|方|已|过|過|将|將|逾|可)(?:[一二三四五六七八九]?十[一二三四五六七八九]?(?:[有余餘]+)?|[一二三四五六七八九]旬))|([一二三四五六七八九]十(?:[来來多余餘])?(?:上下|开外|開外|出头|出頭|左右)(?:年纪|年紀)?)",
            ),
            dependent: chinese(
                "^(?:他|她|它|这|這|那|但|可|却|卻|又|也|便|就|于是|於是|因此|所以|然而|不过|不過|只见|只見|原来|原來)",
            ),
            first_person: chinese("[我咱俺]"),
            happens: chinese(
                "[风風雨雪雷钟鐘鼓锣鑼灯燈月雾霧火烟煙浪潮铃鈴狗犬鸡雞鸦鴉门門帘簾桨槳](?:[^，。]{0,6})(?:响|響|起|落|亮|灭|滅|停|住|开|開|散|叫|鸣|鳴|敲|摇|搖|晃|跳|吹|打|动|動|过|過)|忽听|忽聽|只听|只聽|鸦雀无声|鴉雀無聲|一片寂静|一片寂靜|天[色已]?[^，。]{0,3}(?:黑|亮|明|晚|暗)",
            ),
            world: chinese(
                "年间|年間|元年|[一二三四五六七八九十正腊臘]月(?:初|十|二|三)|子年|丑年|寅年|卯年|辰年|巳年|午年|未年|申年|酉年|戌年|亥年|世代|人氏|地方上|城[内內中外里裡]|[县縣府州镇鎮村埠渠][^，。]{0,3}[上里裡中内內]|朝廷|百姓|集上|乡[间下里]|鄉[間下裡]|人烟|人煙|人家",
            ),
            that_day: chinese("^(?:那日|这日|這日|次日|当日|當日|一日|只)|穿著|穿着|铺着|鋪着|设着|設着|挂着|掛着"),
            present: chinese("^(?:大抵|大凡|凡|盖|蓋|自古|古来|俗语|俗語|常言)"),
        },
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_found_where_they_are_told() {
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
    fn several_people_are_no_one_to_speak_to() {
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
