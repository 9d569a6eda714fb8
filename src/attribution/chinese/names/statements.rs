//! Chinese statements that name a character, across adjacent clauses: `姓沈名固，字子坚，号听涛`.
//!
//! Returns which names belong to one person according to the book, and which known name they belong to. Statements that
//! are not certainly about the nearest subject are left untied.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Names;
use super::evidence::verb_length;
use super::statement::{Alias, NameStatement};
use super::statement_clauses::{NameKind, StatedName, hints_at_name, names_in_clause};
use super::statement_subjects::{
    Antecedent, antecedent, has_role_noun, is_about_thing, previous_subject, statement_subject,
};
use crate::attribution::chinese::clauses::{clause_end, sentence_end};
use crate::attribution::words::chinese::CHINESE;
use crate::attribution::words::word_set::CharSet;

/// Maximum distance in characters between the clauses of one statement.
pub(in crate::attribution::chinese) const MAX_CLAUSE_GAP: usize = 24;

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
        for (index, stated) in list.iter().enumerate() {
            if index == 0 && is_about_thing(text, names, start, stated.marker) {
                break;
            }
            let before = antecedent(text, names, start, stated, index > 0);
            let joins = found.last().is_some_and(|last| continues_statement(text, names, last, from, stated, &before));
            if !joins {
                let mut statement = NameStatement::default();
                (statement.bearer, statement.noun) = match before {
                    Antecedent::Name(name) => (Some(name), false),
                    Antecedent::Nothing => statement_subject(text, names, start, stated.kind),
                    Antecedent::Pointer => (previous_subject(text, names, start), true),
                    Antecedent::Other => (None, has_role_noun(&text[start..stated.marker])),
                };
                found.push(statement);
            }
            let statement = found.last_mut().expect("a statement is pushed above unless this one continues the last");
            statement.add_name(text, chars, *stated);
            (statement.end, start) = (stated.end, stated.end);
        }
        let Some(statement) = found.last_mut() else { continue };
        statement.end = end;
        // `绰号铁算盘的王铁柱`.
        if statement.bearer.is_none()
            && text.get(start) == Some(&'的')
            && let Some(name) = names.at(&text[start + 1..end])
        {
            statement.bearer = Some(names.list[name].form.clone());
        }
    }
    found.retain(|statement| !statement.forms.is_empty());
    found
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
    if gap.len() >= MAX_CLAUSE_GAP || gap.iter().any(|&c| sentence_end(c) && !"”」』".contains(c) || c == '\n') {
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
        first.kind == NameKind::Main && last.forms.iter().any(|form| form.is_main) || first.kind == NameKind::Surname;
    !other && tied && (!again || CHINESE.distinct_main_names.head(&text[first.marker..]) > 0)
}

/// Drops statements without confirmation; returns the names to be searched for in the text.
pub(super) fn confirmed_names(
    text: &[char],
    statements: &mut Vec<NameStatement>,
    known: &BTreeMap<Vec<char>, u32>,
) -> Vec<Vec<char>> {
    let mut uses: BTreeMap<&[char], (u32, u32)> = BTreeMap::new();
    let mut firsts = CharSet::default();
    for form in statements.iter().flat_map(|statement| &statement.forms).filter(|form| !known.contains_key(&form.form))
    {
        firsts.add(form.form[0]);
        uses.insert(&form.form, (0, 0));
    }
    let longest = uses.keys().map(|form| form.len()).max().unwrap_or(0);
    for i in 0..if uses.is_empty() { 0 } else { text.len() } {
        if !firsts.has(text[i]) {
            continue;
        }
        for length in 2..=longest {
            let Some((total, as_subject)) = text.get(i..i + length).and_then(|form| uses.get_mut(form)) else {
                continue;
            };
            let rest = &text[i + length..text.len().min(i + length + 4)];
            let begins =
                i == 0 || clause_end(text[i - 1]) || text[i - 1].is_whitespace() || "“‘「『".contains(text[i - 1]);
            let addressed = i > 0 && "向对和与同问叫骂跟是见请".contains(text[i - 1]);
            let stops = rest.first().is_none_or(|&c| clause_end(c)) || verb_length(rest) > 0;
            *total += 1;
            *as_subject += u32::from((begins || addressed) && stops);
        }
    }
    let use_counts = |form: &Alias| uses.get(form.form.as_slice()).copied();
    // Three characters are seldom anything but a name; two must also be used like one.
    let is_used_as_name = |form: &Alias| {
        use_counts(form).is_none_or(|(total, as_subject)| {
            total > 1 && (form.form.len() > 2 || as_subject > 0 && as_subject * 4 >= total)
        })
    };
    // A name from an untied statement must be used like a person's: `这镇子别名芦花荡`.
    let as_subject = |form: &Alias| use_counts(form).is_none_or(|(_, as_subject)| as_subject > 0);
    let mut confirmed: Vec<Vec<char>> = Vec::new();
    for statement in statements.iter() {
        let tied =
            statement.bearer.is_some() || statement.noun || statement.surname.is_some() || statement.forms.len() > 1;
        let once = |form: &Alias| tied && use_counts(form).is_some_and(|(total, _)| total < 2);
        let forms = statement.forms.iter().filter(|form| {
            !form.is_address_only && (is_used_as_name(form) && (tied || as_subject(form)) || once(form))
        });
        confirmed.extend(forms.map(|form| form.form.clone()));
        confirmed.extend(statement.bearer.iter().filter(|bearer| !known.contains_key(*bearer)).cloned());
    }
    for statement in statements.iter_mut() {
        statement.forms.retain(|form| !form.is_address_only || known.contains_key(&form.form));
    }
    let forms: BTreeSet<&[char]> = confirmed.iter().map(Vec::as_slice).collect();
    let is_known = |form: &Alias| known.contains_key(&form.form) || forms.contains(form.form.as_slice());
    statements.retain(|statement| {
        statement.forms.iter().any(is_known) || statement.bearer.is_some() && !statement.forms.is_empty()
    });
    confirmed
}

#[cfg(test)]
mod tests {
    use crate::attribution::Attribution;
    use crate::attribution::attribute;
    use crate::schema::Language;

    fn of(text: &str) -> Attribution {
        attribute(text, Language::Zh, false)
    }

    /// Checks that each list of names belongs to one person, and that no two lists belong to the same one.
    fn check(text: &str, people: &[&[&str]]) {
        let attribution = of(text);
        let mut found: Vec<usize> = Vec::new();
        for names in people {
            let index_of = |name: &&str| {
                let index = attribution
                    .people
                    .iter()
                    .position(|person| person.name == **name || person.aliases.iter().any(|alias| alias == *name));
                index.unwrap_or_else(|| panic!("no character is called {name} in {text}: {:?}", attribution.people))
            };
            let first = index_of(&names[0]);
            assert!(names.iter().all(|name| index_of(name) == first), "{names:?} in {text}: {:?}", attribution.people);
            assert_eq!(attribution.people[first].name, names[0], "{text}");
            assert!(!found.contains(&first), "{names:?} in {text}: {:?}", attribution.people);
            found.push(first);
        }
    }

    #[test]
    fn one_statement_gives_all_names_of_one_person() {
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
    fn childhood_names_and_nicknames_are_aliases() {
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
    fn statements_about_other_people_merge_no_characters() {
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
    fn an_introduced_person_gets_the_name_given_nearby() {
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
    fn a_clause_without_a_name_ends_the_statement() {
        check(
            "江守田的丫鬟名唤春杏，春杏忙指着他说道：“不要！”原来这小丫头也是江守田使唤的，因他自幼无人看管，大家叫他作小豆儿。春杏道：“来了。”\
             小豆儿道：“我不来。”江守田道：“都来。”春杏道：“是。”小豆儿道：“是。”",
            &[&["江守田"], &["春杏"], &["小豆儿"]],
        );
    }

    #[test]
    fn named_places_and_things_are_no_characters() {
        for text in [
            "这镇子别名水乡，又叫芦花荡。江守田道：“到水乡了。”水乡笑语多。孟秋云笑道：“芦花荡到了。”水乡，自古出好酒。",
            "有一座山，又名青螺髻。青螺髻上有庙。江守田道：“上青螺髻去。”青螺髻，说来也高。",
        ] {
            let attribution = of(text);
            let is_character = |name: &str| attribution.people.iter().any(|person| person.name == name);
            assert!(
                is_character("江守田") && !["水乡", "芦花荡", "青螺髻"].iter().any(|name| is_character(name)),
                "{:?}",
                attribution.people
            );
        }
    }

    #[test]
    fn names_do_not_start_with_demonstratives() {
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
