//! Classes of Chinese nouns for people: titles, roles, kinship, and the gender they show.

use crate::attribution::Gender;
use crate::attribution::words::chinese::CHINESE;

/// Returns the gender that a title shows; `None` if the form is not a title.
pub(super) fn title_gender(form: &[char]) -> Option<Gender> {
    if CHINESE.titles_female.has(form) {
        Some(Gender::Female)
    } else if CHINESE.titles_male.has(form) {
        Some(Gender::Male)
    } else if CHINESE.titles_either.has(form) {
        Some(Gender::Unknown)
    } else {
        None
    }
}

/// Whether a form is a title, alone or with a number: `老爷`, `三公子`.
pub(super) fn is_title(form: &[char]) -> bool {
    form.len() > 1
        && (title_gender(form).is_some()
            || "大二三四五六七八九十老小".contains(form[0]) && title_gender(&form[1..]).is_some())
}

/// Whether a form is a role noun and not a name.
pub(super) fn is_role_noun(form: &[char]) -> bool {
    [&CHINESE.roles, &CHINESE.generic_female, &CHINESE.generic_male, &CHINESE.generic_either, &CHINESE.plural]
        .iter()
        .any(|words| words.has(form))
}

/// Returns the gender that a role noun shows.
pub(super) fn noun_gender(word: &[char]) -> Gender {
    if CHINESE.generic_female.tail(word) > 0 || CHINESE.titles_female.tail(word) > 1 {
        Gender::Female
    } else if CHINESE.generic_male.tail(word) > 0 || CHINESE.titles_male.tail(word) > 1 {
        Gender::Male
    } else {
        Gender::Unknown
    }
}

/// Whether the text begins with a word.
pub(super) fn begins_with(text: &[char], word: &str) -> bool {
    let mut rest = text.iter();
    word.chars().all(|c| rest.next() == Some(&c))
}

/// Returns the length of the role noun that the text ends with, 0 if none: `店里的伙计`.
pub(super) fn role_noun_before_name(before: &[char]) -> usize {
    let length = CHINESE.roles.tail(before);
    if length > 1 && !before.ends_with(&['们']) { length } else { 0 }
}

/// Returns the length of the role noun that the text begins with if a name seems to follow it, else 0: `伙计阿福`.
pub(super) fn apposed_noun(clause: &[char]) -> usize {
    let length =
        CHINESE.roles.head(clause).max(CHINESE.generic_male.head(clause)).max(CHINESE.generic_female.head(clause));
    let rest = &clause[length..];
    let name = CHINESE.surnames.head(rest) > 0 || matches!(rest.first(), Some('老' | '小' | '阿'));
    if length > 1 && rest.len() > 1 && name { length } else { 0 }
}

#[cfg(test)]
mod tests {
    use crate::attribution::attribute;
    use crate::schema::Language;

    #[test]
    fn a_trade_before_a_name_is_not_part_of_the_name() {
        let text = "店里的伙计阿福端着茶走过来，说：“喝茶。”掌柜老周拨着算盘，说：“阿福，先收账。”伙计阿福笑道：“就去。”阿福走了。\n\n丫头小红在洗菜。小红说：“水没了。”书生宁采推门进来，问道：“有房么？”宁采坐下。掌柜老周道：“有。”船夫老吴说：“下雨了。”老仆王忠道：“快收。”管家赵安道：“知道。”店小二王三应道：“来了。”";
        let traditional = "店裡的夥計阿福端著茶走過來，說：「喝茶。」掌櫃老周撥著算盤，說：「阿福，先收賬。」夥計阿福笑道：「就去。」阿福走了。\n\n丫頭小紅在洗菜。小紅說：「水沒了。」書生寧采推門進來，問道：「有房麼？」寧采坐下。掌櫃老周道：「有。」船夫老吳說：「下雨了。」老僕王忠道：「快收。」管家趙安道：「知道。」店小二王三應道：「來了。」";
        let names = ["阿福", "老周", "小红", "宁采", "老吴", "王忠", "赵安", "王三"];
        let written = ["阿福", "老周", "小紅", "寧采", "老吳", "王忠", "趙安", "王三"];
        for (text, names, alias) in [(text, names, "伙计阿福"), (traditional, written, "夥計阿福")] {
            let attribution = attribute(text, Language::Zh, false);
            let mut found: Vec<&str> = attribution.people.iter().map(|person| person.name.as_str()).collect();
            let mut expected = names.to_vec();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{:?}", attribution.people);
            let servant =
                attribution.people.iter().find(|person| person.name == "阿福").expect("this character speaks");
            assert!(servant.lines == 2 && servant.aliases.iter().any(|name| name == alias), "{servant:?}");
        }
    }
}
