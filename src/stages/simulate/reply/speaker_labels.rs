//! Speaker labels in a reply, as in a script: names in front of a line or sentence.
//!
//! Text under the speaker's own name is kept; at the label of anyone else the reply is truncated.

use crate::schema::slug;
use crate::text::{is_han, is_mark, is_name, sentences};

use super::label_kinds::Label;
use super::markup::split_action;
use super::words::{WORDS, contains};

/// The known names that a label can refer to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpeakerNames<'a> {
    /// Names and aliases of the speaker.
    pub own: &'a [&'a str],
    /// Names and aliases of everyone else who is present or named in the scene.
    pub others: &'a [&'a str],
}

/// The part of a reply that belongs to its speaker.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnPart {
    /// Its parts, each at most one line, without labels.
    pub lines: Vec<String>,
    /// Whether the speaker's own label was removed.
    pub named: bool,
    /// Whether the reply was truncated where it began to speak or act for someone else.
    pub cut: bool,
}

/// Position of a label in the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelPosition {
    /// At the start of the reply.
    ReplyStart,
    /// At the start of a later line.
    Line {
        /// Whether a blank line precedes it.
        after_blank: bool,
    },
    /// After another sentence on the same line.
    SameLine,
}

/// Whom a label names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelOwner {
    /// The speaker of the reply.
    Speaker,
    /// Someone else.
    Other,
    /// The name is not known.
    Unknown,
}

/// Evidence from all lines of a reply on whether it is a script.
#[derive(Debug, Default)]
struct ScriptEvidence<'t> {
    /// Whether a label names a known character or a narrator, or the same name occurs twice (which a list does not do).
    is_script: bool,
    /// Names that label more than one line.
    repeated_names: Vec<&'t str>,
    /// Whether a line begins with `Me:`, in which case `You:` is not a speaker label.
    lists_itself: bool,
}

impl OwnPart {
    fn push(&mut self, part: &str) {
        let part = part.trim();
        if !part.is_empty() {
            self.lines.push(part.to_owned());
        }
    }
}

impl SpeakerNames<'_> {
    /// Extracts the part of a reply that belongs to its speaker. Full-width parentheses must already be ASCII.
    pub(crate) fn own(&self, reply: &str) -> OwnPart {
        let mut own = OwnPart::default();
        let lines = lines(reply);
        let evidence = self.evidence(&lines);
        for (number, (line, after_blank)) in lines.iter().enumerate() {
            let has_more_lines = number + 1 < lines.len();
            let mut speech = String::new();
            for (index, piece) in pieces(line).into_iter().enumerate() {
                let position = match (index, number) {
                    (0, 0) => LabelPosition::ReplyStart,
                    (0, _) => LabelPosition::Line { after_blank: *after_blank },
                    _ => LabelPosition::SameLine,
                };
                let (action, rest) = split_action(piece);
                let label =
                    if position == LabelPosition::ReplyStart { Label::read(rest) } else { Label::read_later(rest) };
                let label = label.map(|label| (label, self.owner_of(label, position, &evidence)));
                let begins = matches!(position, LabelPosition::Line { .. });
                let is_name_line = begins && has_more_lines && is_name_only(piece, self.others);
                if is_name_line || (begins && self.is_action_of_another(line)) {
                    own.cut = true;
                } else if let Some((_, LabelOwner::Other)) = label {
                    own.cut = true;
                    speech.push_str(action);
                } else if let Some((label, LabelOwner::Speaker)) = label {
                    own.named = true;
                    own.push(&std::mem::take(&mut speech));
                    for part in [action, label.action, label.body] {
                        own.push(part);
                    }
                } else {
                    speech.push_str(piece);
                }
                if own.cut {
                    break;
                }
            }
            own.push(&speech);
            if own.cut {
                break;
            }
        }
        own
    }

    fn evidence<'t>(&self, lines: &[(&'t str, bool)]) -> ScriptEvidence<'t> {
        let mut evidence = ScriptEvidence::default();
        let mut earlier_names: Vec<&str> = Vec::new();
        for (number, (line, _)) in lines.iter().enumerate() {
            let rest = split_action(line).1;
            let Some(label) = (if number == 0 { Label::read(rest) } else { Label::read_later(rest) }) else { continue };
            let lower = label.name.to_lowercase();
            let is = |names: &[&str]| names.iter().any(|known| is_name(label.name, known));
            let narrates = !label.without_colon && contains(&WORDS.narrators, &lower);
            // Models often begin with the speaker's own label and continue with a list, so the first line is no
            // evidence.
            evidence.is_script |= is(self.others) || narrates || (number > 0 && is(self.own));
            evidence.lists_itself |= contains(&WORDS.self_references, &lower);
            if label.is_script_label() {
                if earlier_names.iter().any(|other| is_same_name(other, label.name)) {
                    evidence.is_script = true;
                    evidence.repeated_names.push(label.name);
                }
                earlier_names.push(label.name);
            }
        }
        evidence
    }

    fn owner_of(&self, label: Label<'_>, position: LabelPosition, evidence: &ScriptEvidence<'_>) -> LabelOwner {
        let name = label.name;
        let exact = |names: &[&str]| names.iter().any(|known| is_same_name(name, known));
        let loose = |names: &[&str]| names.iter().any(|known| is_name(name, known));
        let owner = if exact(self.own) {
            LabelOwner::Speaker
        } else if exact(self.others) {
            LabelOwner::Other
        } else if label.without_colon && !name.starts_with(char::is_uppercase) && !name.starts_with(is_han) {
            LabelOwner::Unknown
        } else {
            match (loose(self.own), loose(self.others)) {
                (true, true) if position == LabelPosition::ReplyStart => LabelOwner::Speaker,
                (_, true) => LabelOwner::Other,
                (true, false) => LabelOwner::Speaker,
                (false, false) => LabelOwner::Unknown,
            }
        };
        let lower = name.to_lowercase();
        let narrates = !label.without_colon && contains(&WORDS.narrators, &lower);
        match position {
            // In `I trust one of them. Vosper: no.` the name is not a speaker label.
            LabelPosition::SameLine if !label.without_colon && !label.begins_speech() => LabelOwner::Unknown,
            LabelPosition::SameLine if !name.starts_with(char::is_uppercase) && !name.starts_with(is_han) => {
                LabelOwner::Unknown
            }
            _ if owner != LabelOwner::Unknown => owner,
            _ if narrates => LabelOwner::Other,
            _ if label.without_space => LabelOwner::Unknown,
            LabelPosition::Line { after_blank } => {
                let is_evident = evidence.is_script || after_blank || label.is_set_off();
                let addresses_listener = contains(&WORDS.listeners, &lower) && is_evident && !evidence.lists_itself;
                let narrates_later = contains(&WORDS.later_narrators, &lower) && (is_evident || label.begins_speech());
                let repeats =
                    evidence.repeated_names.iter().any(|other| is_same_name(other, name)) && label.is_script_label();
                let speaks = addresses_listener
                    || narrates_later
                    || repeats
                    || label.introduces_unknown_speaker(evidence.is_script);
                if speaks { LabelOwner::Other } else { LabelOwner::Unknown }
            }
            // `Mrs. Dunn: listen!` addresses her, and truncating at the start would leave nothing.
            LabelPosition::ReplyStart if label.has_title() && (!label.action.is_empty() || evidence.is_script) => {
                LabelOwner::Other
            }
            _ => LabelOwner::Unknown,
        }
    }

    /// Returns whether a line is an action of someone else: it is entirely in parentheses and begins with another
    /// character's name. A possessive (`Ann's words still sting`) does not count.
    fn is_action_of_another(&self, line: &str) -> bool {
        let line = line.trim_matches(['*', '_', ' ']);
        let (action, rest) = split_action(line);
        let Some(inside) = line.strip_prefix('(') else { return false };
        if action.is_empty() || !rest.is_empty() {
            return false;
        }
        if inside.starts_with(is_han) {
            let acts = |name: &str| inside.strip_prefix(name).is_some_and(|rest| !rest.starts_with('的'));
            let begins = |names: &[&str]| names.iter().any(|name| name.chars().nth(1).is_some() && acts(name));
            return begins(self.others) && !begins(self.own);
        }
        let words: Vec<&str> = inside.split(|c: char| c.is_whitespace() || c == ')').collect();
        let acts = |count: usize| words.get(count).is_some_and(|verb| verb.starts_with(char::is_lowercase));
        let named = |count: usize, names: &[&str]| {
            let name = words[..count].join(" ");
            !name.ends_with("'s") && !name.ends_with("’s") && names.iter().any(|known| is_name(&name, known))
        };
        (1..=4).take_while(|count| *count < words.len()).any(|count| {
            let large = words[..count].iter().all(|word| word.starts_with(char::is_uppercase));
            large && acts(count) && named(count, self.others) && !named(count, self.own)
        })
    }
}

/// Compares names by letters and digits, ignoring a leading article.
fn is_same_name(one: &str, other: &str) -> bool {
    let bare = |name: &str| {
        let slug = slug(name);
        slug.strip_prefix("the-").map(str::to_owned).unwrap_or(slug)
    };
    let (one, other) = (bare(one), bare(other));
    one == other && one != "-"
}

/// Returns whether a line consists only of a name, as in some script formats.
fn is_name_only(line: &str, names: &[&str]) -> bool {
    let bare = line.trim_matches(['*', '_', '#', '[', ']', '【', '】', ' ']);
    !bare.is_empty() && !bare.ends_with(is_mark) && names.iter().any(|name| is_same_name(bare, name))
}

/// Returns the non-blank lines of a reply, each with whether a blank line precedes it.
fn lines(reply: &str) -> Vec<(&str, bool)> {
    let (mut lines, mut after_blank) = (Vec::new(), false);
    for line in reply.lines().map(str::trim) {
        if !line.is_empty() {
            lines.push((line, after_blank));
        }
        after_blank = line.is_empty();
    }
    lines
}

/// Splits a line before each of its sentences.
fn pieces(line: &str) -> Vec<&str> {
    let (mut pieces, mut start, mut at) = (Vec::new(), 0, 0);
    for sentence in sentences(line) {
        let begin = at + line[at..].find(sentence).expect("sentences are substrings of their text, in order");
        if at > 0 {
            pieces.push(&line[start..begin]);
            start = begin;
        }
        at = begin + sentence.len();
    }
    pieces.push(&line[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: SpeakerNames<'static> = SpeakerNames {
        own: &["Anselm Vosper", "the Commissioner"],
        others: &["Keziah Marl", "Silas Marl", "Dray", "The Ferryman"],
    };
    const CHINESE: SpeakerNames<'static> =
        SpeakerNames { own: &["温仲筹"], others: &["邬水宁", "王德发", "老妓女", "王妈妈", "小红"] };

    fn check(speakers: SpeakerNames<'_>, reply: &str, lines: &[&str], named: bool, cut: bool) {
        let own = speakers.own(reply);
        assert_eq!(
            (own.lines.iter().map(String::as_str).collect::<Vec<_>>(), own.named, own.cut),
            (lines.to_vec(), named, cut),
            "{reply}"
        );
    }

    #[test]
    fn a_reply_ends_where_another_speaker_starts() {
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
            "Good day.\n(Mr. Dray frowns.)\nNo.",
            "Good day.\nDray:No.",
            "Good day. Dray:No.",
            "Good day.\nHuman: And then?",
            "Good day.\nEnvironment: The wind rises.",
            "Good day. Narrator: The wind rises.",
            "Good day.\n\nYou: And then?",
            "Good day.\nSystem: Go on.",
            "Good day.\nThe Innkeeper: Welcome, all!",
            "Good day.\nCaptain Reyes: Halt!",
            "Good day.\nGuard: (salutes) Halt!",
            "Good day.\nGuard: Halt!\nGuard: Halt, I say!",
            "Good day.\nGuard 2: Halt!\nGuard 2: Halt, I say!",
            "Good day.\nGuard: Halt!\nDray: No.",
            "Good day.\nGuard: Halt!\nNarrator: The wind rises.",
            "Good day.\nYou: And then?\nDray: No.",
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
            "久仰。\n\n你：然后呢？",
            "久仰。\n你：(拱手)然后呢？",
            "久仰。\n李先生：请坐。",
            "久仰。\n张道长：请坐。",
            "久仰。\n守门人：站住！",
            "久仰。\n路人：站住！\n路人：再不站住，我喊人了！",
            "久仰。\n路人：站住！\n小红：哼。",
            "久仰。\n导演：继续。",
            "久仰。\n店小二：客官里面请！",
            "久仰。\n众人：好！",
            "久仰。\n赵六：(拱手)好！",
        ] {
            check(CHINESE, reply, &["久仰。"], false, true);
        }
    }

    #[test]
    fn colons_in_speech_are_not_labels() {
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
            "It is simple.\nNote:this was his.",
            "My terms.\nFirst: The rope.\nSecond: The lamp.\nThird: Silence.\nFourth: The key.",
            "One: The rope.\nTwo: The lamp.\nThree: Silence.",
            "I see two ways.\nPlan A: We swim.\nPlan B: We drown.",
            "Mind this.\nRule One: Nobody speaks.",
            "Prices today.\nSalt: Two pence.\nRope: A shilling.\nTar: A penny.",
            "I wrote it all down.\nDay Three: No water.",
            "We had a board.\nMotto: “Never again.”\nSign: “Closed.”",
            "The Catch: He never paid.",
            "The Moral: Never lend a boat.",
            "It ran well.\nMajor Flaw: It leaks.",
            "Mrs. Dunn: listen to me.",
            "Mrs. Dunn: Listen to me!",
            "Captain Reyes: Hear me out.\nI saw him.",
            "The note was short. “Dray: Come at once.”",
            "The note was short.\n“Dray: Come at once.”",
            "I know what we are.\nYou: a liar.\nMe: a fool.",
            "I know what we are.\n\nYou: A liar.\n\nMe: A fool.",
            "I know what you are.\nYou: a liar.",
            "Well. (Dray's words still sting.) I'll go.",
            "Well.\n(Dray’s words still sting.)\nI'll go.",
            "Well. (Mr. Dray frowns.) No.",
        ] {
            check(ENGLISH, reply, &reply.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(), false, false);
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
            "听好了。\n第一：带绳子。\n第二：带灯。\n第三：别出声。",
            "理由有三。\n其一：无粮。\n其二：无船。\n其三：无人。",
            "你听这对子。\n上联：风来竹有声。\n下联：雨过山无尘。",
            "方子在此。\n当归：三钱。\n黄芪：五钱。\n甘草：一钱。",
            "今日行市。\n盐价：三文。\n米价：五文。",
            "说到底。\n人生：不过一场梦。",
            "说到底。\n功夫：全在手上。",
            "墙上有字。\n家训：“勤俭。”",
            "师兄：你听我说！",
            "我想了一夜。\n师兄：你听我说！",
            "表妹：你别哭。",
            "侯爷：此事万万不可。",
            "各位兄弟：今晚三更动手。",
            "陈掌柜：这账不对。",
            "信上只写了一句。“小红：速归。”",
            "信上只写了一句。\n「小红：速归。」",
            "我看透了。\n你：自私。\n我：懦弱。",
            "我看透了。\n\n你：自私。\n\n我：懦弱。",
            "走吧。(小红的手帕从袖中滑落)我先去。",
            "走吧。\n(小红的手帕从袖中滑落)\n我先去。",
        ] {
            check(CHINESE, reply, &reply.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(), false, false);
        }
    }

    #[test]
    fn the_speakers_own_label_is_removed() {
        for (reply, lines) in [
            ("Anselm Vosper: Good day.", &["Good day."][..]),
            ("Mr. Vosper: Good day.", &["Good day."]),
            ("The Commissioner: Good day.", &["Good day."]),
            ("Vosper (bows): Good day.", &["(bows)", "Good day."]),
            ("**Vosper:** Good day.", &["Good day."]),
            ("[Vosper] Good day.", &["Good day."]),
            ("<Vosper> Good day.", &["Good day."]),
            ("(bows) Vosper: Good day.", &["(bows)", "Good day."]),
            ("Good day.\nVosper: Sit.", &["Good day.", "Sit."]),
            ("Vosper:Good day.", &["Good day."]),
            ("Good day. Vosper: Sit. Now.", &["Good day.", "Sit.", "Now."]),
            (
                "Vosper: My terms.\nSalt: Two pence.\nRope: A shilling.",
                &["My terms.", "Salt: Two pence.", "Rope: A shilling."],
            ),
        ] {
            check(ENGLISH, reply, lines, true, false);
        }
        for (reply, lines) in [
            ("温仲筹：久仰。", &["久仰。"][..]),
            ("温先生：久仰。", &["久仰。"]),
            ("老温(拱手)：久仰。", &["(拱手)", "久仰。"]),
            ("【温仲筹】久仰。", &["久仰。"]),
            ("久仰。\n仲筹：请坐。", &["久仰。", "请坐。"]),
            ("久仰。温仲筹：请坐。好。", &["久仰。", "请坐。", "好。"]),
            ("温仲筹:久仰。", &["久仰。"]),
            ("温仲筹：方子在此。\n当归：三钱。\n黄芪：五钱。", &["方子在此。", "当归：三钱。", "黄芪：五钱。"]),
        ] {
            check(CHINESE, reply, lines, true, false);
        }
        // A label that fits both the speaker and another character means the other one, except at the start of the
        // reply.
        let keziah = SpeakerNames { own: &["Keziah Marl"], others: &["Silas Marl"] };
        check(keziah, "Mrs. Marl: Good day.\nMr. Marl: Hm.", &["Good day."], true, true);
        check(keziah, "Silas Marl: Hm.", &[], false, true);
        for reply in [
            "Mrs. Dunn (sighs): Hm.",
            "The Innkeeper: Welcome, all!\nKeziah Marl: Good day.",
            "Captain Reyes: Halt!\nCaptain Reyes: Halt, I say!",
            "[Silas] Hm.",
            "Narrator: It rained.",
        ] {
            check(keziah, reply, &[], false, true);
        }
        for reply in [
            "李姑娘(冷笑)：哼。",
            "店小二：客官里面请！\n温仲筹：久仰。",
            "李先生：请坐。\n李先生：看茶。",
            "环境：风起了。",
            "小红：哼。",
        ] {
            check(CHINESE, reply, &[], false, true);
        }
    }
}
