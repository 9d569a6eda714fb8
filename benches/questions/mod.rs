//! Generated questions: sentences from templates with Zipf-distributed words, and near-duplicates of some of them.

/// A generated question.
pub(crate) struct Question {
    /// The number of its group.
    pub(crate) group: usize,
    /// The text.
    pub(crate) text: String,
    /// How it was generated.
    pub(crate) kind: Kind,
    /// For a near-duplicate, the number of the original.
    pub(crate) base: Option<usize>,
}

/// How a question was generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// An original.
    Own,
    /// An original whose content words are in no other question.
    Lonely,
    /// A near-duplicate of an earlier question of its group, with one word changed.
    One,
    /// With two words changed.
    Two,
    /// With three words changed.
    Three,
    /// With its parts in another order.
    Reordered,
    /// With additional words.
    Extended,
}

/// Generates questions group by group; in each group the originals come before the near-duplicates.
pub(crate) fn questions(zh: bool, count: usize, groups: usize, seed: u64) -> Vec<Question> {
    let mut maker = Maker::new(zh, seed);
    let mut all = Vec::with_capacity(count);
    for group in 0..groups {
        let size = count * (group + 1) / groups - count * group / groups;
        let planted = size / 10;
        let start = all.len();
        let mut own: Vec<Vec<String>> = Vec::new();
        for at in 0..size - planted {
            let lonely = at % 20 == 7;
            let words = maker.question(lonely);
            let kind = if lonely { Kind::Lonely } else { Kind::Own };
            all.push(Question { group, text: maker.join(&words), kind, base: None });
            own.push(words);
        }
        for at in 0..planted {
            let kinds = [Kind::One, Kind::Two, Kind::Three, Kind::Reordered, Kind::Extended];
            let kind = kinds[at % kinds.len()];
            let base = maker.below(own.len());
            let words = maker.changed(&own[base], kind);
            all.push(Question { group, text: maker.join(&words), kind, base: Some(start + base) });
        }
    }
    all
}

struct Maker {
    zh: bool,
    state: u64,
    words: Vec<String>,
    /// Cumulative frequencies of the words.
    shares: Vec<f64>,
    lonely: usize,
}

/// Number of content words.
const WORDS: usize = 40_000;

/// Openings, middles and endings: `#` is a placeholder for a content word, `|` separates groups of words.
const EN: [&[&str]; 3] = [
    &[
        "",
        "",
        "",
        "",
        "Tell me,",
        "After all these years,",
        "When the # came,",
        "Before you left #,",
        "As a #,",
        "If the # had not been #,",
        "Since you once met #,",
        "In your own words,",
        "Without the #,",
        "Back in #,",
    ],
    &[
        "what did # say to you about the #",
        "why do you keep the # of # in your #",
        "who taught you to # a #",
        "how would you # the # that # left behind",
        "where did you first see the # #",
        "do you still # the # from #",
        "which of the # do you trust more than #",
        "have you ever been # by a #",
        "what would you give for the # of #",
        "how did it feel to # # and #",
        "when will the # of # be #",
        "is it true that # had a # for #",
        "what makes a # different from a #",
        "would you rather # with # or # alone",
        "did # know about the # and the #",
        "how many # did you # before the #",
        "what is your favourite # and why",
        "who is # to you",
        "can you teach me to # like #",
        "what became of the # that you promised to #",
        "whose # was it that # stole",
        "why was # never # again",
        "what do # and # have in common",
        "how long did the journey to # take",
        "is there a # in all of # that you would not #",
        "what song does # sing to the #",
        "did it hurt to lose #",
        "where do they hide the # when # comes",
        "which # would you save from a #",
        "does # dream of # or of #",
        "what is the worst # you ever had to #",
        "how can a # become a # without #",
        "should # have forgiven the #",
        "what price did # pay for the #",
        "are the rumours of # and the # true",
        "what lies behind the # of #",
    ],
    &[
        "",
        "",
        "",
        "at the #",
        "before the # of #",
        "while # was #",
        "in the # house",
        "when nobody else would #",
        "for the sake of #",
        "and what came of it",
        "although # asked you not to",
        "on the night of the #",
        "with only a # and a #",
        "that you told # about",
        "after # had gone",
        "against the # of #",
    ],
];

/// The same in Chinese.
const ZH: [&[&str]; 3] = [
    &[
        "",
        "",
        "",
        "",
        "请|告诉|我，",
        "这么多|年|以后，",
        "#|来的|时候，",
        "离开|#|之前，",
        "作为|#，",
        "如果|没有|#，",
        "自从|你|见过|#，",
        "说|实话，",
        "在|#|的|时候，",
        "当年|在|#，",
    ],
    &[
        "#|对|你|说过|什么|关于|#|的|话",
        "你|为什么|把|#|的|#|留在|#|里",
        "是|谁|教|你|#|那个|#",
        "你|会|怎样|#|那|#|留下的|#",
        "你|第一次|见到|#|是|在|#|吗",
        "你|还|在|#|从|#|带来的|#|吗",
        "在|#|和|#|之间|你|更|信|哪个",
        "你|有没有|被|#|过|一次|#",
        "为了|#|的|#|你|愿意|给|什么",
        "把|#|和|#|放在|一起|是|什么|感觉",
        "#|的|#|什么|时候|才能|#",
        "听说|#|有|一个|#|给|#|是|真的|吗",
        "#|和|#|有|什么|不同",
        "你|宁愿|同|#|一起|#|还是|独自|#",
        "#|知道|#|和|#|的|事|吗",
        "你|最|喜欢的|#|是|什么|为什么",
        "#|是|你|什么|人",
        "能不能|教|我|像|#|一样|#",
        "你|答应|要|#|的|#|结果|如何",
        "#|偷走|的|究竟|算|谁的|#",
        "#|为何|再也|不|肯|#",
        "#|跟|#|有|哪些|相似|之处",
        "去|#|一路|走了|多久",
        "整个|#|可有|一件|#|令你|不忍|#",
        "#|对着|#|唱|的|是|哪首|歌",
        "失去|#|那天|痛不痛",
        "#|一到|他们|便|把|#|藏|哪儿",
        "假如|#|起火|先|救|哪一个|#",
        "#|梦里|常常|出现|#|抑或|#",
        "最|糟糕|的|一次|#|经历|讲讲|好吗",
        "没有|#|怎样|才能|当上|#",
        "#|应不应该|原谅|#",
        "#|付出|多少|代价|换回|#",
        "外面|传|#|与|#|的|谣言|可信|么",
        "#|的|#|背后|藏着|何种|秘密",
    ],
    &[
        "",
        "",
        "",
        "|在|#|那里",
        "，|就在|#|的|#|以前",
        "，|当|#|正在|#",
        "，|没有|人|肯|#|的|时候",
        "，|全是|为了|#",
        "，|后来|怎么样|了",
        "，|虽然|#|叫|你|不要|说",
        "，|那|是|#|的|夜里",
        "，|只|带着|#|和|#",
        "，|像|你|对|#|说的|那样",
        "，|在|#|走了|以后",
    ],
];

impl Maker {
    fn new(zh: bool, seed: u64) -> Self {
        let mut maker = Self { zh, state: seed, words: Vec::new(), shares: Vec::new(), lonely: 0 };
        let mut sum = 0.0;
        let mut rank = 1.0;
        let mut known = std::collections::BTreeSet::new();
        while maker.words.len() < WORDS {
            let word = maker.word();
            if known.insert(word.clone()) {
                maker.words.push(word);
                sum += 1.0 / (rank + 2.0);
                rank += 1.0;
                maker.shares.push(sum);
            }
        }
        maker
    }

    /// Returns the next number of splitmix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("the value is below the bound")
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// Generates a word from syllables or common characters. The first ones are short, as frequent words are.
    fn word(&mut self) -> String {
        if self.zh {
            let length = [1, 2, 2, 2, 2, 3][self.below(6)];
            return (0..length)
                .map(|_| {
                    // Characters have different frequencies too.
                    let range = [40, 200, 800, 3000][self.below(4)];
                    let place = u32::try_from(self.below(range) * 6).expect("the value is small");
                    char::from_u32(0x4e00 + place).expect("the code point is a Han character")
                })
                .collect();
        }
        let syllables = [1, 2, 2, 2, 3, 3][self.below(6)];
        let mut word = String::new();
        for _ in 0..syllables {
            word.push_str(self.of(&[
                "b", "br", "c", "ch", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t",
                "th", "tr", "v", "w",
            ]));
            word.push_str(self.of(&["a", "e", "i", "o", "u", "ea", "oo", "ai"]));
            word.push_str(self.of(&["", "", "n", "r", "l", "s", "t", "nd", "ck", "m"]));
        }
        word
    }

    fn content(&mut self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a random share needs no more digits")]
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64 * self.shares[WORDS - 1];
        let place = self.shares.partition_point(|sum| *sum < share);
        self.words[place.min(WORDS - 1)].clone()
    }

    /// Returns a word that is never returned again.
    fn once(&mut self) -> String {
        self.lonely += 1;
        let mut rest = self.lonely;
        if self.zh {
            // Characters of no other word; after 6,500 words they are reused in other pairs.
            let character = |plane: u32, place: usize| {
                char::from_u32(plane + u32::try_from(place % 6_500).expect("the value is small"))
                    .expect("the code point is a Han character")
            };
            let (first, second) = (character(0x3400, rest), character(0x20000, rest + rest / 6_500));
            return [first, second].iter().collect();
        }
        let mut word = String::from("z");
        while rest > 0 {
            word.push(char::from(b"bcdfghklmnprstvw"[rest % 16]));
            word.push(char::from(b"aeiou"[rest / 16 % 5]));
            rest /= 80;
        }
        word
    }

    fn question(&mut self, lonely: bool) -> Vec<String> {
        let parts = if self.zh { ZH } else { EN };
        let mut words = Vec::new();
        for part in parts {
            let template = self.of(part);
            for word in template.split([' ', '|']).filter(|word| !word.is_empty()) {
                if word.contains('#') {
                    let content = if lonely { self.once() } else { self.content() };
                    words.push(word.replace('#', &content));
                } else {
                    words.push(word.to_owned());
                }
            }
        }
        words
    }

    fn changed(&mut self, words: &[String], kind: Kind) -> Vec<String> {
        let mut words = words.to_vec();
        let count = match kind {
            Kind::One => 1,
            Kind::Two => 2,
            Kind::Three => 3,
            _ => 0,
        };
        // Fewer words are changed in a short question, because a duplicate must share words.
        let count = count.min((words.len() / 3).max(1));
        let start = self.below(words.len());
        for at in 0..count {
            let place = (start + at * (words.len() / count)) % words.len();
            words[place] = self.content();
        }
        match kind {
            Kind::Reordered => {
                let by = 1 + self.below(words.len() - 1);
                words.rotate_left(by);
            }
            Kind::Extended => {
                let more = if self.zh {
                    ["我|的|朋友", "请|细说", "依|你|看|呢"]
                } else {
                    ["my old friend", "please go on", "if you can say"]
                };
                let more: Vec<String> = self.of(&more).split([' ', '|']).map(str::to_owned).collect();
                let place = if self.below(2) == 0 { words.len() } else { 0 };
                words.splice(place..place, more);
                let word = self.content();
                words.push(word);
            }
            _ => {}
        }
        words
    }

    fn join(&self, words: &[String]) -> String {
        let text = words.join(if self.zh { "" } else { " " });
        let mark = if self.zh { "？" } else { "?" };
        text + mark
    }
}
