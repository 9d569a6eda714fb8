//! Whom a reply lets speak: names in front of a line or a sentence, as a script has them. What is under the speaker's own name is
//! its own; at anybody else's the reply ends. Pure.

use crate::schema::slug;
use crate::text::{bare_name, is_han, is_mark, is_name, is_title, label, lead_word, name_words, sentences};

use super::marks::split_action;

/// Who is not in the cast and speaks when a model writes a whole script.
const NARRATORS: [&str; 20] = [
    "narrator",
    "narration",
    "environment",
    "user",
    "assistant",
    "system",
    "director",
    "旁白",
    "叙述",
    "叙述者",
    "环境",
    "用户",
    "助手",
    "系统",
    "导演",
    "场景",
    "舞台",
    "玩家",
    "话外音",
    "画外音",
];
/// The same, of words that also open a sentence: they speak only on a line that is not the first.
const LATER: [&str; 8] = ["you", "human", "model", "scene", "player", "all", "你", "您"];

/// Last words of what has a colon after it and is nobody.
const NOBODY: [&str; 48] = [
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

/// Those whom a label can name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speakers<'a> {
    /// What whoever speaks is called.
    pub own: &'a [&'a str],
    /// What everybody else is called who is present or in the scene.
    pub others: &'a [&'a str],
}

/// What a reply says under its speaker's own name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Own {
    /// Its lines, without names in front.
    pub lines: Vec<String>,
    /// Whether the speaker's own name stood in front.
    pub named: bool,
    /// Whether it went on to speak or act for somebody else, and is cut there.
    pub cut: bool,
}

/// Where a label stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before anything was said.
    Head,
    /// On a line that is not the first.
    Line,
    /// After a sentence on the same line.
    Within,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Own,
    Other,
    Nobody,
}

/// A piece that begins as if somebody were named.
#[derive(Debug, Clone, Copy)]
struct Label<'t> {
    name: &'t str,
    /// An action in parentheses between name and colon.
    action: &'t str,
    body: &'t str,
    /// Whether brackets mark the name and nothing follows it.
    bare: bool,
}

impl Speakers<'_> {
    /// Reads what a reply says under its speaker's own name. Parentheses are plain.
    pub(super) fn own(&self, reply: &str) -> Own {
        let mut own = Own::default();
        let lines: Vec<&str> = reply.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let scripted = lines.iter().filter(|line| self.is_of_a_script(line)).count() > 1;
        for (number, line) in lines.iter().enumerate() {
            let more = number + 1 < lines.len();
            let mut said = String::new();
            for (index, piece) in pieces(line).into_iter().enumerate() {
                let place = match (index, number) {
                    (0, 0) => Place::Head,
                    (0, _) => Place::Line,
                    _ => Place::Within,
                };
                let (lead, rest) = split_action(piece);
                let label = Label::read(rest).map(|label| (label, self.whose(label, place, scripted)));
                let heads = place == Place::Line && more && is_heading(piece, self.others);
                if heads || (place != Place::Head && self.is_act_of_another(piece)) {
                    own.cut = true;
                } else if let Some((_, Whose::Other)) = label {
                    own.cut = true;
                    said.push_str(lead);
                } else if let Some((label, Whose::Own)) = label {
                    own.named = true;
                    for part in [lead, label.action, label.body].into_iter().filter(|part| !part.is_empty()) {
                        said.push_str(part);
                        said.push(' ');
                    }
                } else {
                    said.push_str(piece);
                }
                if own.cut {
                    break;
                }
            }
            let said = said.trim();
            if !said.is_empty() {
                own.lines.push(said.to_owned());
            }
            if own.cut {
                break;
            }
        }
        own
    }

    fn whose(&self, label: Label<'_>, place: Place, scripted: bool) -> Whose {
        let name = label.name;
        let exact = |names: &[&str]| names.iter().any(|known| same(name, known));
        let loose = |names: &[&str]| names.iter().any(|known| is_name(name, known));
        let whose = if exact(self.own) {
            Whose::Own
        } else if exact(self.others) {
            Whose::Other
        } else if label.bare && !name.starts_with(char::is_uppercase) && !name.starts_with(is_han) {
            Whose::Nobody
        } else {
            match (loose(self.own), loose(self.others)) {
                (true, true) if place == Place::Head => Whose::Own,
                (_, true) => Whose::Other,
                (true, false) => Whose::Own,
                (false, false) => Whose::Nobody,
            }
        };
        let lower = name.to_lowercase();
        let narrates = !label.bare && NARRATORS.contains(&lower.as_str());
        match place {
            // `I trust one of them. Vosper: no.` names nobody who speaks.
            Place::Within if !label.bare && !label.begins_speech() => Whose::Nobody,
            Place::Within if !name.starts_with(char::is_uppercase) && !name.starts_with(is_han) => Whose::Nobody,
            _ if whose != Whose::Nobody => whose,
            _ if narrates => Whose::Other,
            Place::Line if LATER.contains(&lower.as_str()) || label.is_stranger(scripted) => Whose::Other,
            Place::Head if label.has_title() => Whose::Other,
            _ => Whose::Nobody,
        }
    }

    /// Says whether a line has the look of a script's.
    fn is_of_a_script(&self, line: &str) -> bool {
        let Some(label) = Label::read(split_action(line).1) else { return false };
        let known = || self.own.iter().chain(self.others).any(|known| is_name(label.name, known));
        label.could_name() && label.begins_speech() || known()
    }

    /// Says whether a piece is an action of somebody else: its parentheses begin with a name.
    fn is_act_of_another(&self, piece: &str) -> bool {
        let Some(inside) = piece.trim_start_matches(['*', '_']).strip_prefix('(') else { return false };
        if inside.starts_with(is_han) {
            let begins =
                |names: &[&str]| names.iter().any(|name| name.chars().nth(1).is_some() && inside.starts_with(name));
            return begins(self.others) && !begins(self.own);
        }
        let words: Vec<&str> = inside.split(|c: char| c.is_whitespace() || c == ')').collect();
        let acts = |count: usize| words.get(count).is_some_and(|verb| verb.starts_with(char::is_lowercase));
        let named = |count: usize, names: &[&str]| {
            let name = words[..count].join(" ");
            let name = name.trim_end_matches("'s").trim_end_matches("’s");
            names.iter().any(|known| is_name(name, known))
        };
        (1..=4).take_while(|count| *count < words.len()).any(|count| {
            let large = words[..count].iter().all(|word| word.starts_with(char::is_uppercase));
            large && acts(count) && named(count, self.others) && !named(count, self.own)
        })
    }
}

impl<'t> Label<'t> {
    /// Reads `Name:`, `Name (action):`, `[Name]` or `<Name>` off the front of a piece.
    fn read(piece: &'t str) -> Option<Self> {
        let piece = piece.trim_start_matches(['*', '_', '#', '>', '-', '—', '–', '•', ' ']);
        let bracketed = [('[', ']'), ('【', '】'), ('<', '>')].into_iter().find_map(|(open, close)| {
            let (name, body) = piece.strip_prefix(open)?.split_once(close)?;
            let body = body.trim_start_matches(['*', '_', ' ']);
            let (body, bare) = body.strip_prefix([':', '：']).map_or((body, true), |body| (body, false));
            Some(Self { name: name.trim(), action: "", body: body.trim_start(), bare })
        });
        if let Some(label) = bracketed {
            let fits = !label.name.is_empty() && label.name.chars().count() <= 40;
            return fits.then_some(label);
        }
        let (name, body) = label(piece)?;
        let colon = body.as_ptr() as usize - piece.as_ptr() as usize;
        let tight =
            piece[..colon].ends_with(':') && body.starts_with(|c: char| c.is_alphanumeric() && !is_han(c) || c == '/');
        let (name, action) = match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
            Some((front, _)) => (front.trim_end_matches(['*', '_', ' ']), &name[front.len()..]),
            None => (name, ""),
        };
        let marks = [',', '，', '、', '；', ';', '“', '”', '"', '「', '」', '(', ')', '[', ']'];
        let ends = |c: char| is_mark(c) && c != '.';
        let fits = !tight && !name.is_empty() && !name.contains(marks) && !name.contains(ends);
        fits.then_some(Self { name, action, body: body.trim_start_matches(['*', '_', ' ']), bare: false })
    }

    /// Says whether what follows begins as speech does in a script.
    fn begins_speech(&self) -> bool {
        let body = self.body.trim_start();
        body.starts_with(char::is_uppercase) || body.starts_with(is_han) || self.is_set_off()
    }

    /// Says whether an action or a quotation follows.
    fn is_set_off(&self) -> bool {
        !self.action.is_empty() || self.body.starts_with(['(', '“', '"', '「', '『', '*', '…'])
    }

    /// Says whether the label has the form of a name or a role.
    fn could_name(&self) -> bool {
        let name = self.name;
        if name.chars().all(is_han) {
            let nobody = NO_PERSON.iter().any(|word| name.ends_with(word));
            return (2..=5).contains(&name.chars().count()) && !nobody && !name.contains(|c| PHRASE.contains(c));
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

    /// Says whether the label is a name or a role under a title, and somebody speaks after it.
    fn has_title(&self) -> bool {
        if self.bare || !self.could_name() || !self.begins_speech() {
            return false;
        }
        if self.name.chars().all(is_han) {
            return self.name.ends_with("小二") || (is_title(self.name) && is_telling(self.name));
        }
        let mut words = self.name.split_whitespace();
        words.next().is_some_and(|first| first == "The" || is_title(first)) && words.next().is_some()
    }

    /// Says whether the label plainly lets somebody speak whom nobody has named.
    fn is_stranger(&self, scripted: bool) -> bool {
        if !self.could_name() || self.bare || !self.begins_speech() {
            return false;
        }
        if self.name.chars().all(is_han) {
            let role = is_title(self.name) || self.name.ends_with(|c| ROLES.contains(c)) || self.name.ends_with("小二");
            return role || scripted || self.is_set_off();
        }
        let words: Vec<&str> = self.name.split_whitespace().collect();
        let two = words.len() > 1 && (words[0] == "The" || !lead_word(words[0]));
        two || scripted || self.is_set_off()
    }
}

/// Compares names by letters and digits, an article aside.
fn same(one: &str, other: &str) -> bool {
    let bare = |name: &str| {
        let slug = slug(name);
        slug.strip_prefix("the-").map(str::to_owned).unwrap_or(slug)
    };
    let (one, other) = (bare(one), bare(other));
    one == other && one != "-"
}

/// Says whether a line is nothing but a name, as some scripts have it.
fn is_heading(line: &str, names: &[&str]) -> bool {
    let bare = line.trim_matches(['*', '_', '#', '[', ']', '【', '】', ' ']);
    !bare.is_empty() && !bare.ends_with(is_mark) && names.iter().any(|name| same(bare, name))
}

/// Splits a line before each of its sentences.
fn pieces(line: &str) -> Vec<&str> {
    let (mut pieces, mut start, mut at) = (Vec::new(), 0, 0);
    for sentence in sentences(line) {
        let begin = at + line[at..].find(sentence).expect("sentences are parts of their text, in order");
        if at > 0 {
            pieces.push(&line[start..begin]);
            start = begin;
        }
        at = begin + sentence.len();
    }
    pieces.push(&line[start..]);
    pieces
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

    const ENGLISH: Speakers<'static> = Speakers {
        own: &["Anselm Vosper", "the Commissioner"],
        others: &["Keziah Marl", "Silas Marl", "Dray", "The Ferryman"],
    };
    const CHINESE: Speakers<'static> =
        Speakers { own: &["温仲筹"], others: &["邬水宁", "王德发", "老妓女", "王妈妈", "小红"] };

    fn check(speakers: Speakers<'_>, reply: &str, lines: &[&str], named: bool, cut: bool) {
        let own = speakers.own(reply);
        assert_eq!(
            (own.lines.iter().map(String::as_str).collect::<Vec<_>>(), own.named, own.cut),
            (lines.to_vec(), named, cut),
            "{reply}"
        );
    }

    #[test]
    fn a_reply_ends_where_somebody_else_speaks() {
        for reply in [
            "Good day.\nDray: No.",
            "Good day. Dray: No.",
            "Good day, number 86334. Keziah Marl: The bell rang.",
            "Good day. **Dray**: No.",
            "Good day. Mrs. Marl: (sighs) No.",
            "Good day.\nMrs. Marl: no.",
            "Good day.\nThe Ferryman (laughing): No.",
            "Good day.\nferryman: no.",
            "Good day.\n[Dray] No.",
            "Good day. [Dray] No.",
            "Good day.\n<Dray> No.",
            "Good day.\n**Dray**\nNo.",
            "Good day.\n(Dray frowns)\nNo.",
            "Good day. (Mr. Dray frowns.) No.",
            "Good day.\nEnvironment: The wind rises.",
            "Good day. Narrator: The wind rises.",
            "Good day.\n\nYou: And then?",
            "Good day.\nSystem: Go on.",
            "Good day.\nThe Innkeeper: Welcome, all!",
            "Good day.\nCaptain Reyes: Halt!",
            "Good day.\nGuard: (salutes) Halt!",
            "Good day.\nGuard: Halt!\nGuard: Halt, I say!",
        ] {
            let first = if reply.contains("86334") { "Good day, number 86334." } else { "Good day." };
            check(ENGLISH, reply, &[first], false, true);
        }
        for reply in [
            "久仰。\n邬水宁：不。",
            "久仰。邬水宁：不。",
            "久仰。\n邬姑娘：不。",
            "久仰。\n水宁：不。",
            "久仰。\n老王：不。",
            "久仰。王妈妈：不。",
            "久仰。\n【小红】不。",
            "久仰。\n**小红**：不。",
            "久仰。\n小红(冷笑)：不。",
            "久仰。\n(小红皱眉)\n不。",
            "久仰。\n环境：风起了。",
            "久仰。旁白：风起了。",
            "久仰。\n你：然后呢？",
            "久仰。\n导演：继续。",
            "久仰。\n店小二：客官里面请！",
            "久仰。\n众人：好！",
            "久仰。\n赵六：(拱手)好！",
        ] {
            check(CHINESE, reply, &["久仰。"], false, true);
        }
    }

    #[test]
    fn talk_with_colons_is_talk() {
        for reply in [
            "One thing is certain: nobody crosses.",
            "I know this much.\nOne thing is certain: nobody crosses.",
            "Listen. One thing: never again.",
            "At 10:30 the tide turns. At 11:15 it is gone.",
            "Three things I want. First: the rope. Second: the lamp.",
            "My terms.\nFirst: The rope.\nSecond: The lamp.",
            "Remember: never again.",
            "It is simple.\nRemember: Never again.",
            "It is simple.\nThe truth: Nobody paid.",
            "I trust few. Dray: no. Silas: never.",
            "You: a liar. Me: a fool.",
            "Mr. Crane: listen to me.",
            "The truth: Nobody paid.",
            "The letter said: “Come at once.”",
            "(turns to Dray) Well?",
            "Well? (to Dray) And you?",
            "Well? (He looks at Dray.) And you?",
            "[nods] Good day.",
            "The price is plain.\nPrice: Two pence.",
            "See https://example.org for it.",
        ] {
            check(ENGLISH, reply, &reply.lines().collect::<Vec<_>>(), false, false);
        }
        for reply in [
            "他说：“不。”",
            "我想了一夜。\n他说：不。",
            "我告诉你。记住：别回头。",
            "听好了。\n第一：带绳子。\n第二：带灯。",
            "十点三十分，不，10：30开船。",
            "账是这样。\n时间：三更。\n地点：渡口。",
            "老规矩：先付钱。",
            "就这样。\n老规矩：先付钱。",
            "俗话说得好：水不骗人。",
            "大哥：你听我说。",
            "(看向小红)你呢？",
            "不行。(看向小红)你呢？",
        ] {
            check(CHINESE, reply, &reply.lines().collect::<Vec<_>>(), false, false);
        }
    }

    #[test]
    fn the_speakers_own_name_comes_off() {
        for (reply, lines) in [
            ("Anselm Vosper: Good day.", &["Good day."][..]),
            ("Mr. Vosper: Good day.", &["Good day."]),
            ("The Commissioner: Good day.", &["Good day."]),
            ("Vosper (bows): Good day.", &["(bows) Good day."]),
            ("**Vosper:** Good day.", &["Good day."]),
            ("[Vosper] Good day.", &["Good day."]),
            ("<Vosper> Good day.", &["Good day."]),
            ("(bows) Vosper: Good day.", &["(bows) Good day."]),
            ("Good day.\nVosper: Sit.", &["Good day.", "Sit."]),
        ] {
            check(ENGLISH, reply, lines, true, false);
        }
        for (reply, lines) in [
            ("温仲筹：久仰。", &["久仰。"][..]),
            ("温先生：久仰。", &["久仰。"]),
            ("老温(拱手)：久仰。", &["(拱手) 久仰。"]),
            ("【温仲筹】久仰。", &["久仰。"]),
            ("久仰。\n仲筹：请坐。", &["久仰。", "请坐。"]),
        ] {
            check(CHINESE, reply, lines, true, false);
        }
        // Whoever shares a name is somebody else, but for the first to speak.
        let keziah = Speakers { own: &["Keziah Marl"], others: &["Silas Marl"] };
        check(keziah, "Mrs. Marl: Good day.\nMr. Marl: Hm.", &["Good day."], true, true);
        check(keziah, "Silas Marl: Hm.", &[], false, true);
        for reply in [
            "Mrs. Dunn: Hm.",
            "The Innkeeper: Welcome, all!",
            "Captain Reyes: Halt!",
            "[Silas] Hm.",
            "Narrator: It rained.",
        ] {
            check(keziah, reply, &[], false, true);
        }
        for reply in ["李姑娘：哼。", "店小二：客官里面请！", "环境：风起了。", "小红：哼。"]
        {
            check(CHINESE, reply, &[], false, true);
        }
    }
}
