//! Chinese statements that name a character, across adjacent clauses: `姓沈名固，字子坚，号听涛`.
//!
//! Returns which names belong to one person according to the book, and which known name they belong to. Statements that
//! are not certainly about the nearest subject are left untied.

use std::collections::{BTreeMap, BTreeSet};

use super::clauses::{clause_end, sentence_end, strip_opening};
use super::evidence::verb_length;
use super::names::Names;
use super::statements::{NameKind, StatedName, hints_at_name, names_in_clause, without_connectives};
use super::words::{begins_with, is_role_noun, title_gender};
use crate::attribution::tables::{CHINESE, CharSet};

/// A name given by a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Alias {
    /// The name in simplified characters.
    pub(super) form: Vec<char>,
    /// The name as printed.
    pub(super) printed: String,
    /// Offset of its last part.
    pub(super) at: usize,
    /// Whether it is the main name of the person.
    pub(super) own: bool,
    /// Whether it is only how people address someone; it counts only if it occurs as a name elsewhere.
    weak: bool,
}

/// The names that a statement gives to one person.
#[derive(Debug, Clone, Default)]
pub(super) struct NameStatement {
    /// The names, in order.
    pub(super) forms: Vec<Alias>,
    /// The name by which the person is already known, if the statement is tied to one.
    pub(super) bearer: Option<Vec<char>>,
    /// Whether a role noun precedes it.
    noun: bool,
    surname: Option<(usize, usize)>,
    /// End of its last clause.
    end: usize,
}

/// What precedes a statement within its clause.
enum Antecedent {
    /// Nothing that shows whose name it is.
    Nothing,
    /// A pronoun or demonstrative for the person mentioned last.
    Pointer,
    /// A name.
    Name(Vec<char>),
    /// Another person, or the speaker.
    Other,
}

/// Maximum distance in characters between the clauses of one statement.
const APART: usize = 24;

/// Maximum number of names from one statement.
const MOST: usize = 16;

/// Parses all naming statements of a book. `names` are the names found so far.
pub(super) fn name_statements(text: &[char], chars: &[char], names: &Names) -> Vec<NameStatement> {
    let mut found: Vec<NameStatement> = Vec::new();
    let mut done = 0;
    for i in 0..text.len() {
        if i < done || !hints_at_name(text[i]) {
            continue;
        }
        let from = (i.saturating_sub(40).max(done)..i).rev().find(|&k| clause_end(text[k])).map_or(done, |k| k + 1);
        let end = (i..text.len().min(i + 60)).find(|&k| clause_end(text[k])).unwrap_or(text.len().min(i + 60));
        done = end;
        let open = found.last().is_some_and(|last| last.surname.is_some_and(|(_, to)| to + 1 == from));
        let list = names_in_clause(text, names, (from, end), open);
        // `使唤`: a clause that gives no name does not extend the previous statement.
        if list.is_empty() {
            continue;
        }
        let mut start = from + text[from..end].iter().take_while(|c| !c.is_alphabetic()).count();
        for (place, told) in list.iter().enumerate() {
            if place == 0 && is_about_thing(text, names, start, told.marker) {
                break;
            }
            let before = antecedent(text, names, start, told, place > 0);
            let joins = found.last().is_some_and(|last| continues_statement(text, names, last, from, told, &before));
            if !joins {
                let mut naming = NameStatement::default();
                (naming.bearer, naming.noun) = match before {
                    Antecedent::Name(name) => (Some(name), false),
                    Antecedent::Nothing => statement_subject(text, names, start, told.kind),
                    Antecedent::Pointer => (previous_subject(text, names, start), true),
                    Antecedent::Other => (None, has_role_noun(&text[start..told.marker])),
                };
                found.push(naming);
            }
            let naming = found.last_mut().expect("a naming is pushed above unless this one continues the last");
            naming.take(text, chars, *told);
            (naming.end, start) = (told.end, told.end);
        }
        let Some(naming) = found.last_mut() else { continue };
        naming.end = end;
        // `绰号铁算盘的王铁柱`.
        if naming.bearer.is_none()
            && text.get(start) == Some(&'的')
            && let Some(name) = names.at(&text[start + 1..end])
        {
            naming.bearer = Some(names.list[name].form.clone());
        }
    }
    found.retain(|naming| !naming.forms.is_empty());
    found
}

impl NameStatement {
    /// Returns the main name, or the first one given.
    pub(super) fn own(&self) -> &Alias {
        self.forms.iter().find(|form| form.own).unwrap_or(&self.forms[0])
    }

    /// Returns the name by which the person is already known, else the main name.
    pub(super) fn first(&self) -> &[char] {
        self.bearer.as_deref().unwrap_or(&self.own().form)
    }

    fn take(&mut self, text: &[char], chars: &[char], told: StatedName) {
        if told.kind == NameKind::Surname {
            self.surname = Some((told.start, told.end));
            return;
        }
        let own = matches!(told.kind, NameKind::Given | NameKind::Own);
        let (mut form, mut printed) = (text[told.start..told.end].to_vec(), String::new());
        if let Some((from, to)) = self.surname.filter(|_| own)
            && !form.starts_with(&text[from..to])
            && form.len() < 3
        {
            form.splice(0..0, text[from..to].iter().copied());
            printed.extend(&chars[from..to]);
        }
        printed.extend(&chars[told.start..told.end]);
        if form.len() > 1 && self.forms.len() < MOST && self.forms.iter().all(|other| other.form != form) {
            self.forms.push(Alias { form, printed, at: told.start, own, weak: told.kind == NameKind::Called });
        }
    }
}

/// Whether a clause continues the previous statement, with further names for the same person.
fn continues_statement(
    text: &[char],
    names: &Names,
    last: &NameStatement,
    from: usize,
    first: &StatedName,
    before: &Antecedent,
) -> bool {
    let gap = if first.marker > last.end && last.end >= from { &[] } else { &text[last.end..from.max(last.end)] };
    if gap.len() >= APART || gap.iter().any(|&c| sentence_end(c) && !"”」』".contains(c) || c == '\n') {
        return false;
    }
    let other = has_role_noun(gap) || (0..gap.len()).any(|k| names.at(&gap[k..]).is_some());
    let tied = match before {
        Antecedent::Nothing => true,
        Antecedent::Pointer => first.kind != NameKind::Surname,
        Antecedent::Name(name) => {
            last.bearer.as_ref() == Some(name) || last.forms.iter().any(|form| form.form == *name)
        }
        Antecedent::Other => false,
    };
    // A person has one main name, unless the second is explicitly another kind of it.
    let again =
        first.kind == NameKind::Own && last.forms.iter().any(|form| form.own) || first.kind == NameKind::Surname;
    let kinds = ["本名", "原名", "大名", "学名", "官名", "真名"];
    !other && tied && (!again || kinds.iter().any(|word| begins_with(&text[first.marker..], word)))
}

/// Classifies the text before a naming word, from the start of the clause or the previous name.
fn antecedent(text: &[char], names: &Names, from: usize, told: &StatedName, within: bool) -> Antecedent {
    const POINTERS: [&str; 11] = ["他", "她", "伊", "此人", "这人", "其人", "那人", "此公", "此女", "这位", "那位"];
    let marker = told.marker;
    let first = from + text[from..marker].iter().take_while(|c| !c.is_alphabetic()).count();
    // `有个叫X的和有个叫Y的`.
    if within && text[from..first].is_empty() && text.get(from) == Some(&'的') {
        return Antecedent::Other;
    }
    let words = strip_opening(&text[first..marker]);
    let words = if names.ending(words).is_some() { words } else { without_connectives(words) };
    if is_titled_surname(words) {
        return Antecedent::Name(words.to_vec());
    }
    if let Some(name) = names.ending(words) {
        return Antecedent::Name(names.list[name].form.clone());
    }
    let spoken: String = words.iter().collect();
    if words.is_empty() {
        Antecedent::Nothing
    } else if POINTERS.contains(&spoken.as_str()) {
        Antecedent::Pointer
    } else if told.kind == NameKind::Called
        || begins_with(&text[marker..], "人称")
        || is_said_by_others(&text[marker..])
    {
        // `村里人都叫他`: the subject is who uses the name.
        Antecedent::Nothing
    } else {
        Antecedent::Other
    }
}

/// Whether a statement is about a place or thing: `这镇子别名水乡`, `有一座山，又名青螺`.
fn is_about_thing(text: &[char], names: &Names, from: usize, marker: usize) -> bool {
    let is_thing = |words: &[char]| {
        let bare = words.strip_suffix(&['子']).unwrap_or(words);
        names.ending(words).is_none() && CHINESE.places.tail(bare) > 0
    };
    let words = without_connectives(strip_opening(&text[from.min(marker)..marker]));
    if !words.is_empty() {
        return is_thing(words);
    }
    let to = from.saturating_sub(1);
    let start = (to.saturating_sub(40)..to).rev().find(|&k| clause_end(text[k])).map_or(0, |k| k + 1);
    let counted = text[start.min(to)..to].iter().any(|c| "座条片".contains(*c));
    counted && is_thing(&text[start..to])
}

/// Whether the text is a surname with a title: `林校长`.
fn is_titled_surname(words: &[char]) -> bool {
    let surname = CHINESE.surnames.head(words);
    surname > 0 && words.len() > surname + 1 && title_gender(&words[surname..]).is_some()
}

/// Whether the words are about what people call someone: `都唤他作`.
fn is_said_by_others(words: &[char]) -> bool {
    matches!(words, ['叫' | '唤' | '称' | '呼', '他' | '她' | '其' | '之' | '我' | '伊' | '作' | '做' | '为', ..])
}

/// Whether an offset is within speech.
fn is_in_speech(text: &[char], at: usize) -> bool {
    let mark = (at.saturating_sub(300)..at).rev().map(|k| text[k]).find(|c| "“「『”」』\n".contains(*c));
    mark.is_some_and(opens_quotation)
}

const fn opens_quotation(c: char) -> bool {
    matches!(c, '“' | '「' | '『')
}

/// Whether the text contains a role noun.
fn has_role_noun(words: &[char]) -> bool {
    (0..words.len()).any(|i| (2..=4).any(|length| words.get(i..i + length).is_some_and(is_role_noun)))
        || words.last().is_some_and(|c| "人妻女子妾婢僧尼汉".contains(*c))
}

/// Returns the only name that the clauses before a statement in its sentence are about, and whether they contain a role
/// noun.
fn statement_subject(text: &[char], names: &Names, from: usize, kind: NameKind) -> (Option<Vec<char>>, bool) {
    let start = (from.saturating_sub(60)..from)
        .rev()
        .find(|&k| sentence_end(text[k]) || opens_quotation(text[k]) || text[k] == '\n');
    let Some(start) = start.map(|k| k + 1).or_else(|| (from <= 60).then_some(0)) else { return (None, false) };
    let to = from.saturating_sub(1).max(start);
    let clause = (start..to).rev().find(|&k| clause_end(text[k])).map_or(start, |k| k + 1);
    let words = strip_opening(&text[clause..to]);
    let noun = has_role_noun(&text[start..to]);
    // `过继的儿子X，本名Y`, `来的正是X，绰号Y`.
    if let Some(name) = names.ending(words) {
        let form = &names.list[name].form;
        let rest = &words[..words.len() - form.len()];
        let alone = !(0..rest.len()).any(|k| names.at(&words[k..]).is_some_and(|other| other != name));
        let paired = rest.last().is_some_and(|c| "和与同跟及、".contains(*c));
        // `X家过继的儿子Y`.
        let alone = alone || has_role_noun(rest) && !rest.last().is_some_and(|c| "的之".contains(*c));
        return ((alone && !paired).then(|| form.clone()), noun && !rest.is_empty());
    }
    let Some(name) = names.at(words) else { return (None, noun) };
    let form = names.list[name].form.clone();
    let rest = &words[form.len()..];
    // A person introduced after the name is the one who is named: `X家有个丫头，名叫Y`.
    let others = (0..rest.len()).any(|k| names.at(&rest[k..]).is_some()) || has_role_noun(rest);
    let brings = rest.iter().any(|c| "有养生娶收买个位只匹条头座把家".contains(*c));
    let copular =
        rest.is_empty() || ["是", "乃", "系", "原是", "本是", "原系", "者"].iter().any(|word| begins_with(rest, word));
    let born = copular && !rest.iter().any(|c| "养娶收买".contains(*c));
    // `X手下，绰号Y`, `X恨他，人称Y`, `X骑了黑马，绰号Y` end with another person or thing.
    let another = rest.ends_with(&['手', '下']) || rest.last().is_some_and(|c| "他她它们們马馬狗刀剑劍酒".contains(*c));
    let fits =
        if matches!(kind, NameKind::Style | NameKind::Called) { born || !others && !brings && !another } else { born };
    (fits.then_some(form), noun)
}

/// Returns the only name that the previous sentence is about.
fn previous_subject(text: &[char], names: &Names, from: usize) -> Option<Vec<char>> {
    let stop = from.checked_sub(1).filter(|_| !is_in_speech(text, from))?;
    let start = (stop.saturating_sub(80)..stop).rev().find(|&k| sentence_end(text[k]) || text[k] == '\n')? + 1;
    let words = strip_opening(&text[start..stop]);
    let form = names.list[names.at(words)?].form.clone();
    let rest = &words[form.len()..];
    let others = (0..rest.len()).any(|k| names.at(&rest[k..]).is_some_and(|other| names.list[other].form != form));
    (!others && !has_role_noun(rest)).then_some(form)
}

/// Drops statements without confirmation; returns the names to be searched for in the text.
pub(super) fn confirmed_names(
    text: &[char],
    namings: &mut Vec<NameStatement>,
    known: &BTreeMap<Vec<char>, u32>,
) -> Vec<Vec<char>> {
    let mut uses: BTreeMap<&[char], (u32, u32)> = BTreeMap::new();
    let mut firsts = CharSet::default();
    for form in namings.iter().flat_map(|naming| &naming.forms).filter(|form| !known.contains_key(&form.form)) {
        firsts.add(form.form[0]);
        uses.insert(&form.form, (0, 0));
    }
    let longest = uses.keys().map(|form| form.len()).max().unwrap_or(0);
    for i in 0..if uses.is_empty() { 0 } else { text.len() } {
        if !firsts.has(text[i]) {
            continue;
        }
        for length in 2..=longest {
            let Some((total, acts)) = text.get(i..i + length).and_then(|form| uses.get_mut(form)) else { continue };
            let rest = &text[i + length..text.len().min(i + length + 4)];
            let begins =
                i == 0 || clause_end(text[i - 1]) || text[i - 1].is_whitespace() || "“‘「『".contains(text[i - 1]);
            let addressed = i > 0 && "向对和与同问叫骂跟是见请".contains(text[i - 1]);
            let stops = rest.first().is_none_or(|&c| clause_end(c)) || verb_length(rest) > 0;
            *total += 1;
            *acts += u32::from((begins || addressed) && stops);
        }
    }
    let seen = |form: &Alias| uses.get(form.form.as_slice()).copied();
    // Three characters are seldom anything but a name; two must also be used like one.
    let shown = |form: &Alias| {
        seen(form).is_none_or(|(total, acts)| total > 1 && (form.form.len() > 2 || acts > 0 && acts * 4 >= total))
    };
    // A name from an untied statement must be used like a person's: `这镇子别名芦花荡`.
    let acts = |form: &Alias| seen(form).is_none_or(|(_, acts)| acts > 0);
    let mut told: Vec<Vec<char>> = Vec::new();
    for naming in namings.iter() {
        let tied = naming.bearer.is_some() || naming.noun || naming.surname.is_some() || naming.forms.len() > 1;
        let once = |form: &Alias| tied && seen(form).is_some_and(|(total, _)| total < 2);
        let forms =
            naming.forms.iter().filter(|form| !form.weak && (shown(form) && (tied || acts(form)) || once(form)));
        told.extend(forms.map(|form| form.form.clone()));
        told.extend(naming.bearer.iter().filter(|bearer| !known.contains_key(*bearer)).cloned());
    }
    for naming in namings.iter_mut() {
        naming.forms.retain(|form| !form.weak || known.contains_key(&form.form));
    }
    let forms: BTreeSet<&[char]> = told.iter().map(Vec::as_slice).collect();
    let somebody = |form: &Alias| known.contains_key(&form.form) || forms.contains(form.form.as_slice());
    namings.retain(|naming| naming.forms.iter().any(somebody) || naming.bearer.is_some() && !naming.forms.is_empty());
    told
}

#[cfg(test)]
mod tests {
    use crate::attribution::{Attribution, attribute};
    use crate::schema::Language;

    fn of(text: &str) -> Attribution {
        attribute(text, Language::Zh, false)
    }

    /// Checks that each list of names belongs to one person, and that no two lists belong to the same one.
    fn check(text: &str, people: &[&[&str]]) {
        let attribution = of(text);
        let mut found: Vec<usize> = Vec::new();
        for names in people {
            let bears = |name: &&str| {
                let who = attribution
                    .people
                    .iter()
                    .position(|person| person.name == **name || person.aliases.iter().any(|alias| alias == *name));
                who.unwrap_or_else(|| panic!("no character is called {name} in {text}: {:?}", attribution.people))
            };
            let first = bears(&names[0]);
            assert!(names.iter().all(|name| bears(name) == first), "{names:?} in {text}: {:?}", attribution.people);
            assert_eq!(attribution.people[first].name, names[0], "{text}");
            assert!(!found.contains(&first), "{names:?} in {text}: {:?}", attribution.people);
            found.push(first);
        }
    }

    #[test]
    fn one_statement_gives_one_person_all_names() {
        check(
            "镇上有一位乡绅，姓陆名远，字子安，号青山居士，年方四十。这日子安在家闲坐，陆远道：“谁？”子安笑道：“请进。”青山居士取出一壶酒，说道：“请。”",
            &[&["陆远", "子安", "青山居士"]],
        );
        check(
            "鎮上有一位鄉紳，姓陸名遠，字子安，號青山居士，年方四十。這日子安在家閒坐，陸遠道：「誰？」子安笑道：「請進。」青山居士取出一壺酒，說道：「請。」",
            &[&["陸遠", "子安", "青山居士"]],
        );
        check(
            "这人姓沈，单名一个固字，表字子坚，别号听涛。沈固道：“走罢。”子坚又道：“不走么？”听涛笑了，听涛道：“走！”",
            &[&["沈固", "子坚", "听涛"]],
        );
    }

    #[test]
    fn names_of_childhood_and_of_the_street_are_their_bearers() {
        check(
            "隔壁有個孩子，大名叫周長庚，乳名喚作狗兒。狗兒道：「我也要。」周長庚跑了。綽號賽霸王的王鐵柱走進來，王鐵柱道：「誰哭？」賽霸王一拍桌子，喝道：「不許哭！」狗兒道：「沒哭。」",
            &[&["周長庚", "狗兒"], &["王鐵柱", "賽霸王"]],
        );
        check(
            "老吴本名吴全，绰号铁算盘，人都唤他作吴老抠。老吴道：“请。”铁算盘笑道：“不贵。”吴老抠叹气，说：“贵了。”",
            &[&["吴全", "老吴", "铁算盘", "吴老抠"]],
        );
        check(
            "“林校长，我考上了。”赵建国说。赵建国小名铁蛋，村里人都叫他铁蛋。林校长名叫林守诚，外号林大炮。林大炮笑了：“好！”铁蛋说：“谢谢老师。”“不用谢。”林守诚说。",
            &[&["赵建国", "铁蛋"], &["林守诚", "林校长", "林大炮"]],
        );
    }

    #[test]
    fn what_is_said_of_others_joins_nobody() {
        check(
            "江守田有两个儿子，大的名叫阿松，小的名叫阿柏。江守田道：“吃饭。”阿松道：“来了。”阿柏道：“不吃。”",
            &[&["江守田"], &["阿松"], &["阿柏"]],
        );
        check(
            "江守田家有一个丫头，名叫春杏。江守田道：“倒茶。”春杏道：“是。”江守田又道：“去罢。”",
            &[&["江守田"], &["春杏"]],
        );
        check(
            "江守田字伯安。孟秋云也字伯安。江守田道：“巧了。”孟秋云笑道：“真巧。”伯安道：“请。”",
            &[&["江守田"], &["孟秋云"], &["伯安"]],
        );
    }

    #[test]
    fn the_one_brought_in_is_the_one_named_nearby() {
        check(
            "一个撑篙的女子立在船头，笑道：“要过江么？”江守田道：“正是。”那女子道：“请。”原来这女子名叫水莲。水莲道：“坐稳了。”水莲把篙一点。江守田道：“好。”",
            &[&["水莲", "撑篙的女子"], &["江守田"]],
        );
        check(
            "一個漢子攔住去路，喝道：「站住！」江守田道：「沒有錢。」那漢子道：「沒有錢便留下命。」自稱張順。張順把刀一橫，張順道：「快些！」江守田道：「且慢。」",
            &[&["張順", "一個漢子"], &["江守田"]],
        );
    }

    #[test]
    fn a_clause_that_gives_no_name_leads_on_to_nobody() {
        check(
            "江守田的丫鬟名唤春杏，春杏忙指着他说道：“不要！”原来这小丫头也是江守田使唤的，因他自幼无人看管，大家叫他作小豆儿。春杏道：“来了。”\
             小豆儿道：“我不来。”江守田道：“都来。”春杏道：“是。”小豆儿道：“是。”",
            &[&["江守田"], &["春杏"], &["小豆儿"]],
        );
    }

    #[test]
    fn places_and_things_are_nobody() {
        for text in [
            "这镇子别名水乡，又叫芦花荡。江守田道：“到水乡了。”水乡笑语多。孟秋云笑道：“芦花荡到了。”水乡，自古出好酒。",
            "有一座山，又名青螺髻。青螺髻上有庙。江守田道：“上青螺髻去。”青螺髻，说来也高。",
        ] {
            let attribution = of(text);
            let somebody = |name: &str| attribution.people.iter().any(|person| person.name == name);
            assert!(
                somebody("江守田") && !["水乡", "芦花荡", "青螺髻"].iter().any(|name| somebody(name)),
                "{:?}",
                attribution.people
            );
        }
    }

    #[test]
    fn nobody_is_called_by_what_points() {
        for text in [
            "江守田道：“谁？”那婆子道：“是我。”江守田道：“进来。”那婆子笑道：“不进。”那人道：“走罢。”",
            "江守田道：「誰？」那婆子道：「是我。」江守田道：「進來。」那婆子笑道：「不進。」那人道：「走罷。」",
        ] {
            let attribution = of(text);
            assert!(attribution.people.iter().all(|person| !person.name.starts_with('那')), "{:?}", attribution.people);
            assert!(attribution.people.iter().any(|person| person.name == "婆子" && person.lines == 2));
        }
    }
}
