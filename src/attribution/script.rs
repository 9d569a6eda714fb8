//! Attribution for plays and screenplays, where the speaker's name precedes each speech.
//!
//! Parses Fountain, centred names (a cue on its own line) and speeches on the line of the name (`NAME.`, `NAME:`, `名：`,
//! `名　`). `text::parse_speaker_cue` recognises which lines have the form of a cue. Speeches by several speakers at once are reported
//! as unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::people::{CharacterDraft, finish};
use super::{Attribution, Quotation, QuotationKind, flatten, number, paragraphs::paragraphs};
use crate::text::{self, CueSeparator, is_group_name};

/// Maximum length in characters of a name before a stage direction.
const NAME: usize = 48;

/// Maximum number of further lines that a stage direction after a name may span.
const WRAPPED: usize = 8;

/// A line without leading and trailing whitespace.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    end: usize,
}

/// A line that may introduce a speech.
struct ScriptCue {
    /// The speaker's name as printed.
    name: String,
    aside: Option<String>,
    /// Offset of the speech in the text; none if it starts on the next line.
    speech: Option<usize>,
    /// Index of the last line of the cue; a stage direction after the name may be wrapped.
    last: usize,
    sure: bool,
    mark: CueSeparator,
}

impl ScriptCue {
    fn key(&self) -> String {
        self.name.to_lowercase()
    }
}

/// State while a script is parsed.
struct ScriptParser<'a> {
    chars: &'a [char],
    lines: Vec<Line>,
    /// The cue on each line, if any.
    cues: Vec<Option<ScriptCue>>,
    cast: Vec<CharacterDraft>,
    index: BTreeMap<String, usize>,
    quotations: Vec<Quotation>,
}

/// Attributes the speeches of a script.
pub(super) fn read(chars: &[char]) -> Attribution {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in chars.split(|&c| c == '\n') {
        let head = line.iter().take_while(|c| c.is_whitespace()).count();
        let tail = line[head..].iter().rev().take_while(|c| c.is_whitespace()).count();
        lines.push(Line { start: at + head, end: at + line.len() - tail.min(line.len() - head) });
        at += line.len() + 1;
    }
    let mut play = ScriptParser {
        chars,
        lines,
        cues: Vec::new(),
        cast: Vec::new(),
        index: BTreeMap::new(),
        quotations: Vec::new(),
    };
    let first = play.title_page_end();
    play.cues = Vec::with_capacity(play.lines.len());
    while play.cues.len() < play.lines.len() {
        let line = play.cues.len();
        let cue = (line >= first).then(|| play.parse_cue(line)).flatten();
        let next = cue.as_ref().map_or(line, |cue| cue.last) + 1;
        play.cues.push(cue);
        play.cues.resize_with(next, || None);
    }
    play.drop_character_list(first);
    play.keep_usual_cues();
    play.add_speeches();
    let mut paragraphs = paragraphs(chars);
    for paragraph in &mut paragraphs {
        paragraph.border |= is_heading(&chars[paragraph.start as usize..paragraph.end as usize]);
    }
    finish(play.cast, play.quotations, paragraphs)
}

/// Whether a paragraph is a scene heading, a section heading, or the number of an act or scene.
fn is_heading(chars: &[char]) -> bool {
    let line: String = chars.iter().take(100).collect();
    let upper = line.to_uppercase();
    let numbered = |line: &str| {
        let line = line.trim_start_matches(['第', '【', '（', '(']);
        let number =
            line.trim_start_matches(|c: char| c.is_ascii_digit() || "一二三四五六七八九十百零〇两".contains(c));
        number.len() < line.len() && number.starts_with(['幕', '场', '場', '折', '出'])
    };
    line.starts_with('#')
        || line.starts_with("===")
        || line.starts_with('.') && !line.starts_with("..")
        || ["INT.", "EXT.", "EST.", "INT/EXT", "INT./EXT", "I/E", "INT ", "EXT "]
            .iter()
            .any(|head| upper.starts_with(head))
        || ["ACT ", "SCENE ", "SCENE:"].iter().any(|head| upper.starts_with(head))
            && !line.starts_with(char::is_lowercase)
        || ["内景", "外景", "內景", "幕落", "幕闭", "幕閉", "幕启", "幕啟", "〔"]
            .iter()
            .any(|head| line.starts_with(head))
        || numbered(&line)
}

/// Returns the closing bracket of a stage direction for its opening bracket.
const fn closing_bracket(c: char) -> Option<char> {
    match c {
        '(' => Some(')'),
        '（' => Some('）'),
        '[' => Some(']'),
        '［' => Some('］'),
        '【' => Some('】'),
        _ => None,
    }
}

impl ScriptParser<'_> {
    fn text(&self, line: usize) -> &[char] {
        &self.chars[self.lines[line].start..self.lines[line].end]
    }

    fn blank(&self, line: usize) -> bool {
        self.lines.get(line).is_none_or(|line| line.start == line.end)
    }

    /// Returns the first line after the title page.
    fn title_page_end(&self) -> usize {
        const KEYS: [&str; 12] = [
            "title",
            "credit",
            "author",
            "authors",
            "source",
            "draft date",
            "date",
            "contact",
            "copyright",
            "notes",
            "format",
            "revision",
        ];
        let first: String = self.text(0).iter().collect();
        let key = first.split(':').next().unwrap_or_default().to_lowercase();
        if !first.contains(':') || !KEYS.contains(&key.as_str()) {
            return 0;
        }
        (0..self.lines.len()).find(|&i| self.blank(i)).unwrap_or(self.lines.len())
    }

    /// Parses a cue. A cue without speech on its line must follow a blank line and precede a speech.
    fn parse_cue(&self, line: usize) -> Option<ScriptCue> {
        if self.blank(line) || is_heading(self.text(line)) {
            return None;
        }
        let start = self.lines[line].start;
        let mut text: String = self.text(line).iter().collect();
        let mut last = line;
        if text::parse_speaker_cue(&text).is_none() {
            last = self.last_cue_line(line);
            text = self.chars[start..self.lines[last].end].iter().collect();
        }
        let text::SpeakerCue { name, aside, speech, sure, mark } = text::parse_speaker_cue(&text)?;
        let speech = (speech < text.len()).then(|| start + text[..speech].chars().count());
        if speech.is_none() && (self.blank(last + 1) || line > 0 && !self.blank(line - 1)) {
            return None;
        }
        let aside = aside.map(|aside| flatten(&aside.chars().collect::<Vec<_>>()));
        // `HALE (O.S.)` and `Hale’s voice` are both Hale.
        let name = ["’s voice", "'s voice", "’S VOICE", "'S VOICE", "的声音", "的聲音", " O.S.", " V.O.", " CONT’D"]
            .iter()
            .find_map(|voice| name.strip_suffix(voice).map(str::to_owned))
            .unwrap_or(name);
        Some(ScriptCue { name, aside, speech, last, sure, mark })
    }

    /// Returns the last line of the stage directions that follow a possible name.
    fn last_cue_line(&self, line: usize) -> usize {
        let text = self.text(line);
        let Some(open) = text.iter().take(NAME).position(|&c| closing_bracket(c).is_some()) else { return line };
        let goes_on = |next: &usize| {
            let text: String = self.text(*next).iter().collect();
            let another = text::parse_speaker_cue(&text).is_some_and(|cue| cue.sure || cue.mark == CueSeparator::Colon);
            *next == line || !self.blank(*next) && !another
        };
        let mut last = line;
        let mut at = self.lines[line].start + open;
        while let Some(close) = self.chars.get(at).copied().and_then(closing_bracket) {
            let lines = (last..=(line + WRAPPED).min(self.lines.len() - 1)).take_while(goes_on);
            let found = lines.into_iter().find_map(|next| {
                let from = at.max(self.lines[next].start);
                let end = self.chars[from..self.lines[next].end].iter().position(|&c| c == close)?;
                Some((next, from + end + 1))
            });
            let Some((next, end)) = found else { return line };
            let gap = self.chars[end..self.lines[next].end].iter().take_while(|c| matches!(c, ' ' | '_' | '*')).count();
            (last, at) = (next, end + gap);
        }
        last
    }

    /// Drops the cues in the list of characters. The list ends at a heading, or where one of its names recurs.
    fn drop_character_list(&mut self, first: usize) {
        const HEADS: [&str; 14] = [
            "dramatis personae",
            "dramatis personæ",
            "characters",
            "persons of the play",
            "the persons of the play",
            "persons in the play",
            "characters in the play",
            "cast",
            "cast of characters",
            "人物",
            "人物表",
            "登场人物",
            "剧中人物",
            "角色表",
        ];
        let opens = |line: &usize| {
            let text: String = self.text(*line).iter().take(40).map(|&c| super::folded(c)).collect();
            let text = text.to_lowercase();
            HEADS.contains(&text.trim_matches(|c: char| !c.is_alphanumeric()))
        };
        let Some(head) = (first..self.lines.len()).find(opens) else { return };
        let mut listed: BTreeSet<String> = BTreeSet::new();
        let mut end = head + 1;
        while end < self.lines.len() && !is_heading(self.text(end)) {
            let named = self.cues[end].as_ref().map(ScriptCue::key);
            // `MARTHA KEEL, a widow` may speak as `MARTHA`.
            let known =
                |name: &String| listed.iter().any(|full| full == name || full.split(' ').any(|word| word == name));
            if named.as_ref().is_some_and(known) {
                break;
            }
            let line: String = self.text(end).iter().collect::<String>().to_lowercase();
            let name = line.split([',', '.', ':', '，', '。', '：', '—', '–', '(', '（', '\u{3000}']).next();
            let name = name.map(|name| name.split(" - ").next().unwrap_or(name).trim_matches(['*', '_', '-', ' ']));
            let name = name.map(|name| match name.split_once(' ') {
                Some((name, _)) if name.chars().any(text::is_han) => name,
                _ => name,
            });
            listed.extend(name.map(str::to_owned));
            listed.extend(named);
            end += 1;
        }
        for cue in &mut self.cues[head..end] {
            *cue = None;
        }
    }

    /// Keeps only cues of the form that most speeches of the script have.
    fn keep_usual_cues(&mut self) {
        let mut counts: BTreeMap<(String, bool), usize> = BTreeMap::new();
        let mut sure: BTreeSet<String> = BTreeSet::new();
        for cue in self.cues.iter().flatten() {
            *counts.entry((cue.key(), cue.speech.is_none())).or_default() += 1;
            sure.extend(cue.sure.then(|| cue.key()));
        }
        let total = |below: bool, sure_only: bool| -> usize {
            let found = counts
                .iter()
                .filter(|((name, place), count)| *place == below && (sure.contains(name) || !sure_only && **count > 1));
            found.map(|(_, count)| count).sum()
        };
        let inline = total(false, false) > total(true, false);
        // If names are in capitals, other lines of the same form are sentences.
        let capitals = total(!inline, true) * 10 > total(!inline, false) * 6;
        let known = |cue: &ScriptCue| {
            let again = counts.get(&(cue.key(), !inline)).is_some_and(|count| *count > 1);
            let han = !cue.name.is_ascii();
            let short = if han {
                cue.name.split(['、', '和', '与', '與', '同']).all(|name| name.chars().count() < 5)
            } else {
                cue.name.split(' ').count() < 4
            };
            sure.contains(&cue.key())
                || match cue.mark {
                    CueSeparator::Colon => again || short && !capitals,
                    CueSeparator::Stop | CueSeparator::End => again && !capitals,
                    CueSeparator::Gap => han && (again || is_group_name(&cue.name)),
                }
        };
        let own = |cue: &ScriptCue| (cue.speech.is_some() == inline) && known(cue);
        let names: BTreeSet<String> = self.cues.iter().flatten().filter(|cue| own(cue)).map(ScriptCue::key).collect();
        for cue in &mut self.cues {
            // A play with speeches on the cue line may still put a name above verse.
            let stays = |cue: &ScriptCue| own(cue) || inline && names.contains(&cue.key());
            *cue = cue.take().filter(stays);
        }
    }

    fn add_speeches(&mut self) {
        let names: BTreeSet<String> = self.cues.iter().flatten().map(|cue| cue.name.clone()).collect();
        let titles = short_names(&names);
        let mut i = 0;
        while i < self.lines.len() {
            let Some(cue) = self.cues[i].take() else {
                i += 1;
                continue;
            };
            let speaker = self.speaker(&cue, &names, &titles);
            let mut asides: Vec<String> = Vec::new();
            asides.extend(cue.aside.filter(|aside| !is_technical(aside)));
            let start = cue.speech.unwrap_or(self.lines[cue.last].end);
            let mut end = if cue.speech.is_some() { self.lines[cue.last].end } else { start };
            i = cue.last + 1;
            // A wrapped speech ends at the next cue or blank line.
            while !self.blank(i) && (cue.speech.is_none() || !is_heading(self.text(i)) && self.cues[i].is_none()) {
                // A bracketed last line describes the stage, not the speaker.
                let last = self.blank(i + 1) || self.cues[i + 1].is_some();
                if cue.speech.is_none() || !(last && is_bracketed(self.text(i))) {
                    end = self.lines[i].end;
                }
                i += 1;
            }
            self.add_speech(speaker, start, end, asides);
        }
    }

    /// Returns the character of a cue, with its name in title case; none if several speak.
    fn speaker(
        &mut self,
        cue: &ScriptCue,
        names: &BTreeSet<String>,
        titles: &BTreeMap<String, String>,
    ) -> Option<usize> {
        if joins_names(&cue.name, names) || is_group_name(&cue.name) {
            return None;
        }
        let name = title_case(&cue.name);
        let cast = &mut self.cast;
        let key = cue.key();
        let person = *self.index.entry(titles.get(&key).cloned().unwrap_or(key)).or_insert_with(|| {
            cast.push(CharacterDraft { name: Some(name.clone()), ..CharacterDraft::default() });
            cast.len() - 1
        });
        self.cast[person].add(&name, 1);
        // Mixed case as printed is better: title-casing `MCPHEE` would lose the `P` of `McPhee`.
        if cue.name.chars().any(char::is_lowercase) {
            self.cast[person].name = Some(name);
        }
        Some(person)
    }

    /// Adds a speech as one quotation. Stage directions inside it are removed and become the speaker's action.
    fn add_speech(&mut self, speaker: Option<usize>, start: usize, end: usize, mut asides: Vec<String>) {
        let mut words: Vec<char> = Vec::new();
        let (mut first, mut last) = (None, start);
        let mut at = start;
        while at < end {
            let close = closing_bracket(self.chars[at])
                .and_then(|close| self.chars[at..end].iter().position(|&c| c == close).map(|close| at + close));
            if let Some(close) = close {
                let inside: String = flatten(&self.chars[at + 1..close]);
                asides
                    .extend(Some(inside.trim_matches(['_', '*', ' ']).to_owned()).filter(|inside| !inside.is_empty()));
                // After a removed direction, attach the punctuation that follows to the word before: `Well (he bows).`
                let mark = self.chars.get(close + 1).is_some_and(|c| ".,;:!?…，。；：！？".contains(*c));
                if mark {
                    let kept = words.iter().rposition(|c| !c.is_whitespace()).map_or(0, |last| last + 1);
                    words.truncate(kept);
                } else {
                    words.push(' ');
                }
                at = close + 1;
                continue;
            }
            if !self.chars[at].is_whitespace() {
                first.get_or_insert(at);
                last = at + 1;
            }
            words.push(self.chars[at]);
            at += 1;
        }
        let text = flatten(&words);
        let Some(first) = first.filter(|_| text.chars().any(char::is_alphanumeric)) else { return };
        self.quotations.push(Quotation {
            start: number(first),
            end: number(last),
            text,
            speaker,
            kind: speaker.map(|_| QuotationKind::Script),
            confidence: if speaker.is_some() { 1.0 } else { 0.0 },
            action: speaker.filter(|_| !asides.is_empty()).map(|_| asides.join("; ")),
        });
    }
}

/// Whether a name joins several known names: 甲和乙. Each part must be a known name, as one person may be called 和珅.
fn joins_names(name: &str, names: &BTreeSet<String>) -> bool {
    name.match_indices(['和', '与', '與', '同']).any(|(at, joint)| {
        let (one, other) = (&name[..at], &name[at + joint.len()..]);
        names.contains(one) && (names.contains(other) || joins_names(other, names))
    })
}

/// Whether a line is a single stage direction and nothing else.
fn is_bracketed(line: &[char]) -> bool {
    let close = line.first().copied().and_then(closing_bracket);
    close.is_some_and(|close| line.iter().position(|&c| c == close) == Some(line.len() - 1))
}

/// Returns the short names to use for names with a title, by key: `ROOKE` for `CAPTAIN ROOKE` if no other character is
/// called Rooke.
fn short_names(names: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut bearers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let title = name.split(' ').take_while(|word| text::is_title(word.trim_end_matches('.'))).count();
        let bare: Vec<&str> = name.split(' ').skip(title).collect();
        if title > 0 && !bare.is_empty() {
            bearers.entry(bare.join(" ").to_lowercase()).or_default().push(name.to_lowercase());
        }
    }
    let spoken: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let one = bearers.into_iter().filter(|(bare, full)| full.len() == 1 && spoken.contains(bare));
    one.map(|(bare, mut full)| (full.remove(0), bare)).collect()
}

/// Whether brackets after a name are a production note and not an action: `(CONT’D)`, `(O.S.)`, `（画外音）`.
fn is_technical(aside: &str) -> bool {
    let capitals = aside.chars().all(|c| !c.is_lowercase()) && aside.chars().any(char::is_uppercase);
    capitals
        || aside.replace(['’', '\''], "").to_lowercase().starts_with("contd")
        || ["画外音", "畫外音", "旁白", "续", "續", "白"].contains(&aside)
}

/// Converts a name in capitals to title case.
fn title_case(cue: &str) -> String {
    if cue.chars().any(char::is_lowercase) {
        return cue.to_owned();
    }
    let mut name = String::with_capacity(cue.len());
    let mut begins = true;
    for c in cue.chars() {
        if begins {
            name.push(c);
        } else {
            name.extend(c.to_lowercase());
        }
        begins = !c.is_alphanumeric() && !matches!(c, '’' | '\'');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speeches(text: &str) -> Vec<(String, String, Option<String>)> {
        let chars: Vec<char> = text.chars().collect();
        let attribution = read(&chars);
        for quotation in &attribution.quotations {
            assert_eq!(quotation.kind, Some(QuotationKind::Script));
        }
        attribution
            .quotations
            .iter()
            .map(|quotation| {
                let speaker = quotation.speaker.expect("every speech follows a name");
                (attribution.people[speaker].name.clone(), quotation.text.clone(), quotation.action.clone())
            })
            .collect()
    }

    fn speech(name: &str, text: &str, action: Option<&str>) -> (String, String, Option<String>) {
        (name.to_owned(), text.to_owned(), action.map(str::to_owned))
    }

    #[test]
    fn reads_fountain() {
        let text = "Title: Rain\nAuthor: nobody\n\n# Act One\n\nINT. SHED - NIGHT\n\nIt rains.\n\nORLA (O.S.)\nWho is there?\n\nMR. O’DEA ^\n(wet)\nOnly me.\n(sitting)\nAnd the dog.\n\n@McPhee (CONT’D)\nSit down,\nboth.\n\n> CUT TO:\n";
        assert_eq!(
            speeches(text),
            [
                speech("Orla", "Who is there?", None),
                speech("Mr. O’dea", "Only me. And the dog.", Some("wet; sitting")),
                speech("McPhee", "Sit down, both.", None),
            ]
        );
    }

    #[test]
    fn a_bracket_that_never_closes_may_open_in_the_last_line() {
        let orla = speech("Orla", "Then stay.", None);
        assert_eq!(speeches("ORLA. Who is there?\n\nORLA. Then stay.\n\nDEA (to the dog, who is")[1], orla);
        for text in ["甲（指着\n门外", "DEA (to the dog", "甲：走罢。\n\n乙（指着"] {
            assert!(speeches(text).iter().all(|(name, ..)| name == "甲"), "{text}");
        }
    }

    /// Checks the speeches of a play, each as `name: words [action]`, with `-` for several speakers.
    fn plays(text: &str, expected: &[&str]) {
        let attribution = read(&text.chars().collect::<Vec<char>>());
        let told: Vec<String> = attribution
            .quotations
            .iter()
            .map(|quotation| {
                assert_eq!(quotation.kind, quotation.speaker.map(|_| QuotationKind::Script));
                let name = quotation.speaker.map_or("-", |speaker| attribution.people[speaker].name.as_str());
                let action = quotation.action.as_ref().map_or(String::new(), |action| format!(" [{action}]"));
                format!("{name}: {}{action}", quotation.text)
            })
            .collect();
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn reads_names_in_the_line() {
        plays(
            "ACT I.\n\nORLA. Who is there?\nIs it you?\n\nDEA. (wet) Only me.\n\nORLA (rising). Sit. (He sits.) So.\n\n(DEA sleeps.)\n\nORLA. Well!\n",
            &[
                "Orla: Who is there? Is it you?",
                "Dea: Only me. [wet]",
                "Orla: Sit. So. [rising; He sits.]",
                "Orla: Well!",
            ],
        );
        plays(
            "ORLA [crossing to the\nwindow, and looking\nout]. Who is there?\n\nDEA. (wet) Only me.\n\nORLA (aside) [sitting\ndown]. Him!\n\n\
             DEA (to the dog\nORLA. Well!\n\nDEA. Well (he\nbows).\n",
            &[
                "Orla: Who is there? [crossing to the window, and looking out]",
                "Dea: Only me. [wet]",
                "Orla: Him! [aside]",
                "Orla: Well!",
                "Dea: Well. [he bows]",
            ],
        );
        plays(
            "和珅：请。\n刘墉（放下茶盏，\n　　走到窗前）：不必。\n和珅：坐。\n和珅和刘墉：请！\n刘墉与和珅：请！\n刘墉同和珅与和珅：请！\n",
            &["和珅: 请。", "刘墉: 不必。 [放下茶盏，走到窗前]", "和珅: 坐。", "-: 请！", "-: 请！", "-: 请！"],
        );
        plays(
            "甲：谁？\n乙（低声）：是我。\n甲：坐。\n乙：好。\n",
            &["甲: 谁？", "乙: 是我。 [低声]", "甲: 坐。", "乙: 好。"],
        );
    }

    #[test]
    fn reads_names_as_they_are_written() {
        plays(
            "Dramatis Personae\n\nMrs. Hale, a widow.\nTom: her son, a ferryman.\n\nACT I\n\nSCENE 1. The hard.\n\nMrs. Hale. Is the boat in?\n\n\
             Tom. No. It went at nine,\nand it went empty.\n\nMrs. Hale [_going up_]. Then who rang? Yes. You may well look.\n\nTom. Nobody.\n\nEnd of Act I.\n",
            &[
                "Mrs. Hale: Is the boat in?",
                "Tom: No. It went at nine, and it went empty.",
                "Mrs. Hale: Then who rang? Yes. You may well look. [going up]",
                "Tom: Nobody.",
            ],
        );
        plays(
            "**Scene:** a kitchen\n\n**Orla:** Who’s there?\n\n*Time: night.*\n\n**Dea** *(off)*: Me.\n\n**Orla and Dea:** Ha!\n",
            &["Orla: Who’s there?", "Dea: Me. [off]", "-: Ha!"],
        );
        plays(
            "_Orla._ Who is there?\n\n_Dea_ (_without_). Nobody.\n\n_Orla._ [_Rising._] Come in,\nnobody.\n",
            &["Orla: Who is there?", "Dea: Nobody. [without]", "Orla: Come in, nobody. [Rising.]"],
        );
    }

    #[test]
    fn reads_a_list_of_persons_and_who_speaks_under_a_part_of_a_name() {
        plays(
            "CHARACTERS\n\nORLA KEEL, a widow\nDEA, her son\nCAPTAIN ROOKE\n\nSCENE: The lamp-room. Night.\n\nORLA. Is it lit?\n\nDEA. It is.\n\n\
             ROOKE. Who keeps this light?\n\nORLA AND DEA. We do!\n\nCAPTAIN ROOKE. It was out.\n",
            &["Orla: Is it lit?", "Dea: It is.", "Rooke: Who keeps this light?", "-: We do!", "Rooke: It was out."],
        );
        let text = "MR. HALE. Sit.\n\nMRS. HALE. No.\n\nHALE. Sit!\n\nMR. HALE. Sit.\n\nMRS. HALE. No.\n\nHALE. Sit!\n";
        assert_eq!(
            read(&text.chars().collect::<Vec<char>>()).people.len(),
            3,
            "`HALE` may be either of two characters"
        );
        plays(
            "人物：江守田，孟秋云\n\n江守田：灯点上了么？\n孟秋云：点上了。（笑）\n（丁一上。）\n丁一：谁管这盏灯？\n江守田和孟秋云：我们！\n丁一：灯灭过。\n",
            &["江守田: 灯点上了么？", "孟秋云: 点上了。 [笑]", "丁一: 谁管这盏灯？", "-: 我们！", "丁一: 灯灭过。"],
        );
    }

    #[test]
    fn reads_centred_names() {
        plays(
            "CHARACTERS\n\nDR. HALE\nORLA PELL, a girl.\n\n                 ACT ONE\n\n        The kitchen. Rain.\n\n\
                          DR. HALE\n        Is she worse?\n\n             ORLA PELL (CONT’D)\n      (not turning)\n        She’s asleep.\n        (a clock)\n        At last.\n\n\
                          ORLA’S VOICE\n        Who’s that?\n\n             ALL\n        Hush!\n\n             DR. HALE.\n        (rising, and\n        taking his hat) Good night.\n",
            &[
                "Dr. Hale: Is she worse?",
                "Orla Pell: She’s asleep. At last. [not turning; a clock]",
                "Orla: Who’s that?",
                "-: Hush!",
                "Dr. Hale: Good night. [rising, and taking his hat]",
            ],
        );
        plays(
            "Orla\nWho is there?\n\nDea\nNobody.\n\nHe comes in.\n\nOrla\nSit.\n\nDea\n(sitting)\nThanks.\n",
            &["Orla: Who is there?", "Dea: Nobody.", "Orla: Sit.", "Dea: Thanks. [sitting]"],
        );
        plays(
            "第一场　码头\n\n　　　　江守田\n　　谁在那里？\n\n　　　　孟秋云（画外音）\n　　（低声）\n　　是我。\n\n　　　　江守田\n　　上船罢。\n\n　　　　孟秋云\n　　好。\n",
            &["江守田: 谁在那里？", "孟秋云: 是我。 [低声]", "江守田: 上船罢。", "孟秋云: 好。"],
        );
    }

    #[test]
    fn reads_chinese_plays() {
        plays(
            "人物：江守田、孟秋云、丁一\n时间：黄昏\n地点：码头\n\n第一幕\n\n〔幕启：雨声。〕\n江守田：潮退了没有？\n孟秋云（笑）：退了。（指石头）你看，\n石头都露出来了。\n\
             丁　一：那就走罢。\n众人：走罢！\n孟秋云、丁一：走！\n（灯暗）\n江守田的声音：等等！\n幕落。\n",
            &[
                "江守田: 潮退了没有？",
                "孟秋云: 退了。你看，石头都露出来了。 [笑; 指石头]",
                "丁一: 那就走罢。",
                "-: 走罢！",
                "-: 走！",
                "江守田: 等等！",
            ],
        );
        plays(
            "登場人物\n江守田　船家。\n孟秋雲　他的妻子。\n\n第一場\n\n江守田　（白）潮水退了。\n孟秋雲　（唱）一更鼓兒天，\n　　　　　月上柳梢邊。\n江守田　走罢。\n眾　　　走！\n孟秋雲　來了。\n",
            &[
                "江守田: 潮水退了。",
                "孟秋雲: 一更鼓兒天，月上柳梢邊。 [唱]",
                "江守田: 走罢。",
                "-: 走！",
                "孟秋雲: 來了。",
            ],
        );
    }
}
