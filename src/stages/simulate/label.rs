//! A name in front of a piece of a reply, and what it looks like: a person, a thing, a number of a list. Pure; who is in the cast is
//! not known here.

use crate::text::{bare_name, is_han, is_mark, is_title, label, lead_word, name_words};

/// What a page sets before a line.
const DECORATION: [char; 9] = ['*', '_', '#', '>', '-', '—', '–', '•', ' '];
/// Last words of what has a colon after it and is nobody.
const NOBODY: [&str; 56] = [
    "thing",
    "things",
    "truth",
    "rule",
    "rules",
    "place",
    "time",
    "date",
    "price",
    "terms",
    "reason",
    "answer",
    "question",
    "fact",
    "facts",
    "point",
    "proof",
    "note",
    "order",
    "orders",
    "word",
    "words",
    "advice",
    "plan",
    "deal",
    "offer",
    "condition",
    "problem",
    "trouble",
    "remember",
    "think",
    "imagine",
    "result",
    "cost",
    "name",
    "sum",
    "total",
    "list",
    "item",
    "items",
    "warning",
    "evidence",
    "weather",
    "tide",
    "message",
    "letter",
    "story",
    "lesson",
    "moral",
    "catch",
    "flaw",
    "trick",
    "upshot",
    "difference",
    "choice",
    "motto",
];
/// Characters of Chinese phrases that no form of address has.
const PHRASE: &str =
    "我你您他她它们是的了着过说道问答想看听记有没不就也都还要会能可这那哪什怎为在把被让给请快别先再才只一句话";
/// Last characters of Chinese words that have a colon after them and are nobody.
const NO_PERSON: [&str; 24] = [
    "时间", "地点", "原因", "理由", "结果", "条件", "规矩", "问题", "答案", "价钱", "目的", "办法", "方法", "证据",
    "凶器", "消息", "事实", "意思", "道理", "总之", "其实", "首先", "其次", "最后",
];
/// Last characters of Chinese words for whoever does something.
const ROLES: &str = "人者兵卒士客郎童婆翁僧尼官吏差役匠夫工女男民警伴员生徒贼匪盗";

/// Words by which a list counts.
const NUMBERS: [&str; 26] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "first", "second", "third",
    "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "ii", "iii", "iv", "next", "last", "finally",
];
/// What begins a Chinese form of address to several, whom no script lets speak.
const ALL_OF_YOU: [&str; 4] = ["各位", "诸位", "列位", "众位"];

/// A piece that begins as if somebody were named.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label<'t> {
    /// Who seems to be named.
    pub name: &'t str,
    /// An action in parentheses between name and colon.
    pub action: &'t str,
    /// What follows.
    pub body: &'t str,
    /// Whether brackets mark the name and nothing follows it.
    pub bare: bool,
    /// Whether a letter follows the colon at once, as in what is no label at all unless the name is known.
    pub tight: bool,
}

impl<'t> Label<'t> {
    /// Reads `Name:`, `Name (action):`, `[Name]` or `<Name>` off the front of a piece.
    pub(super) fn read(piece: &'t str) -> Option<Self> {
        let piece = piece.trim_start_matches(DECORATION);
        let bracketed = [('[', ']'), ('【', '】'), ('<', '>')].into_iter().find_map(|(open, close)| {
            let (name, body) = piece.strip_prefix(open)?.split_once(close)?;
            let body = body.trim_start_matches(['*', '_', ' ']);
            let (body, bare) = body.strip_prefix([':', '：']).map_or((body, true), |body| (body, false));
            Some(Self { name: name.trim(), action: "", body: body.trim_start(), bare, tight: false })
        });
        if let Some(label) = bracketed {
            let fits = !label.name.is_empty() && label.name.chars().count() <= 40;
            return fits.then_some(label);
        }
        let (name, body) = label(piece)?;
        let colon = body.as_ptr() as usize - piece.as_ptr() as usize;
        let close = piece[..colon].ends_with(':');
        let is_time = close && body.starts_with(|c: char| c.is_numeric() && !is_han(c) || c == '/');
        let tight = close && body.starts_with(|c: char| c.is_alphabetic() && !is_han(c));
        let (name, action) = match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
            Some((front, _)) => (front.trim_end_matches(['*', '_', ' ']), &name[front.len()..]),
            None => (name, ""),
        };
        let marks = [',', '，', '、', '；', ';', '“', '”', '"', '「', '」', '(', ')', '[', ']'];
        let ends = |c: char| is_mark(c) && c != '.';
        let fits = !is_time && !name.is_empty() && !name.contains(marks) && !name.contains(ends);
        fits.then_some(Self { name, action, body: body.trim_start_matches(['*', '_', ' ']), bare: false, tight })
    }

    /// Reads a label that has something in front of it in the reply. What a quotation begins with is its own.
    pub(super) fn read_later(piece: &'t str) -> Option<Self> {
        let is_of_a_quotation = piece
            .trim_start_matches(DECORATION)
            .strip_prefix(['“', '"', '「', '『'])
            .and_then(|inside| inside.split([':', '：']).next())
            .is_some_and(|name| !name.contains(['”', '"', '」', '』']));
        if is_of_a_quotation { None } else { Self::read(piece) }
    }

    /// Says whether what follows begins as speech does in a script.
    pub(super) fn begins_speech(&self) -> bool {
        let body = self.body.trim_start();
        body.starts_with(char::is_uppercase)
            || body.starts_with(is_han)
            || body.starts_with(['“', '"', '「', '『', '…'])
            || self.is_set_off()
    }

    /// Says whether an action stands before or after the colon. A quotation is no sign: a motto has one too.
    pub(super) fn is_set_off(&self) -> bool {
        !self.action.is_empty() || self.body.starts_with('(')
    }

    /// Says whether the label could be anybody's of a script that names somebody more than once.
    pub(super) fn is_of_a_script(&self) -> bool {
        !self.bare && !self.tight && self.begins_speech() && self.could_name()
    }

    /// Says whether the label has the form of a name or a role.
    fn could_name(&self) -> bool {
        let name = self.name;
        if name.chars().all(is_han) {
            let nobody = NO_PERSON.iter().any(|word| name.ends_with(word))
                || ALL_OF_YOU.iter().any(|word| name.starts_with(word));
            // The characters of 先生 and 道长 are a phrase's elsewhere.
            let is_phrase = bare_name(name).contains(|c| PHRASE.contains(c));
            return (2..=5).contains(&name.chars().count()) && !nobody && !is_phrase;
        }
        let words: Vec<&str> = name.split_whitespace().collect();
        let last = words.last().map_or(String::new(), |word| word.to_lowercase());
        let large = |word: &&str| word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let opens = words.len() == 1 && lead_word(&last);
        (1..=4).contains(&words.len())
            && name.starts_with(|c: char| c.is_uppercase() && !is_han(c))
            && words.iter().all(|word| large(word) || matches!(*word, "of" | "the" | "de"))
            && !opens
            && !NOBODY.contains(&last.as_str())
    }

    /// Says whether the label counts, as `Plan A`, `Rule One` and 第一 do.
    fn is_of_a_list(&self) -> bool {
        if self.name.chars().all(is_han) {
            return self.name.starts_with(['第', '其']);
        }
        self.name.split_whitespace().any(|word| {
            let counts = word.chars().count() == 1 || word.chars().all(|c| c.is_ascii_digit());
            counts || NUMBERS.contains(&word.to_lowercase().as_str())
        })
    }

    /// Says whether the label is a name or a role under a title, and somebody speaks after it.
    pub(super) fn has_title(&self) -> bool {
        if !self.is_of_a_script() || self.is_of_a_list() {
            return false;
        }
        if self.name.chars().all(is_han) {
            return self.name.ends_with("小二") || (is_title(self.name) && is_telling(self.name));
        }
        let mut words = self.name.split_whitespace();
        words.next().is_some_and(|first| first == "The" || is_title(first)) && words.next().is_some()
    }

    /// Says whether the label plainly lets somebody speak whom nobody has named. In a script that is anybody who is not counted.
    pub(super) fn is_stranger(&self, scripted: bool) -> bool {
        if !self.is_of_a_script() || self.is_of_a_list() {
            return false;
        }
        // Two characters are too often a word such as 功夫 or a call such as 师兄.
        let role = || {
            let is_long = self.name.chars().all(is_han) && self.name.chars().nth(2).is_some();
            is_long && (self.name.ends_with(|c| ROLES.contains(c)) || self.has_title())
        };
        let titled = || !self.name.chars().all(is_han) && self.has_title();
        scripted || self.is_set_off() || role() || titled()
    }
}

/// Says whether a name is more than a form of address, so that a line can be told by it.
pub(super) fn is_telling(name: &str) -> bool {
    if name.chars().all(is_han) {
        return !bare_name(name).is_empty();
    }
    !name_words(name).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_off_the_front() {
        for (piece, expected) in [
            ("Guard (salutes): Halt!", Some(("Guard", "(salutes)", "Halt!", false))),
            ("**Guard:** Halt!", Some(("Guard", "", "Halt!", false))),
            ("Guard:Halt!", Some(("Guard", "", "Halt!", true))),
            ("- [守卫]：站住！", Some(("守卫", "", "站住！", false))),
            ("守卫:站住！", Some(("守卫", "", "站住！", false))),
            ("10:30 it turns.", None),
            ("https://example.org", None),
            ("No, Guard: Halt!", None),
        ] {
            let read = Label::read(piece).map(|label| (label.name, label.action, label.body, label.tight));
            assert_eq!(read, expected, "{piece}");
        }
        for piece in ["“Guard: Halt!”", "- “Guard: Halt!”", "“守卫：站住！”"] {
            assert!(Label::read(piece).is_some() && Label::read_later(piece).is_none(), "{piece}");
        }
        assert!(Label::read_later("“Guard”: Halt!").is_some() && Label::read_later("“守卫”：站住！").is_some());
    }

    #[test]
    fn a_stranger_is_told_from_a_list() {
        for (piece, alone, scripted) in [
            ("Captain Reyes: Halt!", true, true),
            ("The Innkeeper: Welcome!", true, true),
            ("Guard: (salutes) Halt!", true, true),
            ("Guard: Halt!", false, true),
            ("Guard Reyes: Halt!", false, true),
            ("Plan A: We swim.", false, false),
            ("Rule One: Nobody speaks.", false, false),
            ("Louis II: Halt!", false, false),
            ("J. Reyes: Halt!", false, true),
            ("Price: Two pence.", false, false),
            ("Guard:Halt!", false, false),
            ("李先生：请坐。", true, true),
            ("店小二：里面请！", true, true),
            ("守门人：站住！", true, true),
            ("路人：(拱手)请。", true, true),
            ("路人：请。", false, true),
            ("功夫：全在手上。", false, true),
            ("第一：带绳子。", false, false),
            ("其一：无粮。", false, false),
            ("各位兄弟：动手。", false, false),
            ("他大哥：不。", false, false),
        ] {
            let label = Label::read(piece).expect("it has a colon");
            assert_eq!((label.is_stranger(false), label.is_stranger(true)), (alone, scripted), "{piece}");
        }
    }
}
