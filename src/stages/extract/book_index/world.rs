//! What a book shows of its world: sentences of its opening on place, time and society, and what it mentions most
//! often. The same for every scene of a book; contains no plot.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use super::names::Names;
use super::narration::Sentence;
use crate::schema::Language;
use crate::stages::extract::lexicon::{Patterns, Script, english as english_pattern, list};
use crate::text::{is_han, is_title, lead_word};

/// The number of sentences at the start of a story that are considered.
const OPENING: usize = 240;

/// Returns at most three sentences that describe the world, in book order. `story` begins with the first sentence of
/// the story.
pub(crate) fn opening(story: &[Sentence], language: Language) -> Vec<String> {
    let words = Patterns::of(language);
    let most = if language == Language::Zh { 120 } else { 340 };
    let mut scored: Vec<(usize, usize)> = Vec::new();
    for (at, sentence) in story.iter().take(OPENING).enumerate() {
        let setting = words.setting(&sentence.text);
        let length = sentence.text.chars().count();
        // The first sentence of a story sets the scene, whoever narrates it and however long it is.
        let first = at == 0 && setting > 0 && length <= 2 * most;
        let world = sentence.is_standalone
            && !sentence.first_person
            && !words.is_remark(&sentence.text)
            && length <= most
            && setting >= 2
            && words.sets_world(&sentence.text)
            && (sentence.people.is_empty() || at < 12);
        if first || world {
            let early = usize::from(at < 40) + 2 * usize::from(at < 12);
            scored.push((setting * 2 + early + 9 * usize::from(first) - usize::from(!sentence.people.is_empty()), at));
        }
    }
    scored.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    let mut chosen: Vec<usize> = scored.into_iter().take(3).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|at| story[at].text.clone()).collect()
}

/// Ranks and trades: singular and plural.
const RANKS_EN: &[(&str, &str)] = &[
    ("king", "kings"),
    ("queen", "queens"),
    ("prince", "princes"),
    ("princess", "princesses"),
    ("knight", "knights"),
    ("lord", "lords"),
    ("ladyship", "ladies of rank"),
    ("squire", "squires"),
    ("colonel", "colonels"),
    ("captain", "captains"),
    ("officer", "officers"),
    ("soldier", "soldiers"),
    ("sailor", "sailors"),
    ("seaman", "seamen"),
    ("pirate", "pirates"),
    ("buccaneer", "buccaneers"),
    ("clergyman", "clergymen"),
    ("parson", "parsons"),
    ("minister", "ministers"),
    ("schoolmaster", "schoolmasters"),
    ("teacher", "teachers"),
    ("doctor", "doctors"),
    ("surgeon", "surgeons"),
    ("lawyer", "lawyers"),
    ("judge", "judges"),
    ("sheriff", "sheriffs"),
    ("policeman", "policemen"),
    ("constable", "constables"),
    ("sergeant", "sergeants"),
    ("mayor", "mayors"),
    ("magistrate", "magistrates"),
    ("commissioner", "commissioners"),
    ("clerk", "clerks"),
    ("merchant", "merchants"),
    ("farmer", "farmers"),
    ("butcher", "butchers"),
    ("miller", "millers"),
    ("blacksmith", "blacksmiths"),
    ("founder", "founders"),
    ("sexton", "sextons"),
    ("landlord", "landlords"),
    ("innkeeper", "innkeepers"),
    ("fisherman", "fishermen"),
    ("ferrywoman", "ferrywomen"),
    ("boatman", "boatmen"),
    ("housekeeper", "housekeepers"),
    ("butler", "butlers"),
    ("servant", "servants"),
    ("maid", "maids"),
    ("coachman", "coachmen"),
    ("gaoler", "gaolers"),
    ("slave", "slaves"),
    ("widow", "widows"),
    ("apprentice", "apprentices"),
    ("rabbit", "rabbits"),
    ("weasel", "weasels"),
    ("stoat", "stoats"),
    ("robot", "robots"),
    ("wizard", "wizards"),
    ("witch", "witches"),
];

/// Things that characterize a way of life.
const THINGS_EN: &[(&str, &str)] = &[
    ("carriage", "carriages"),
    ("coach", "coaches"),
    ("horse", "horses"),
    ("ship", "ships"),
    ("schooner", "schooners"),
    ("boat", "boats"),
    ("ferry", "the ferry"),
    ("river", "the river"),
    ("tide", "the tide"),
    ("island", "islands"),
    ("treasure", "treasure"),
    ("chart", "charts"),
    ("rum", "rum"),
    ("sword", "swords"),
    ("cutlass", "cutlasses"),
    ("musket", "muskets"),
    ("pistol", "pistols"),
    ("gun", "guns"),
    ("ball", "balls"),
    ("dance", "dances"),
    ("marriage", "marriages"),
    ("estate", "estates"),
    ("fortune", "fortunes"),
    ("regiment", "regiments"),
    ("letter", "letters"),
    ("ledger", "ledgers"),
    ("parish", "parishes"),
    ("vestry", "the vestry"),
    ("church", "church"),
    ("school", "school"),
    ("bell", "bells"),
    ("scrap", "scrap"),
    ("foundry", "the foundry"),
    ("mill", "mills"),
    ("farm", "farms"),
    ("market", "markets"),
    ("train", "trains"),
    ("railway", "railways"),
    ("motor-car", "motor-cars"),
    ("motor", "motors"),
    ("telephone", "telephones"),
    ("police", "the police"),
    ("prison", "prison"),
    ("cave", "caves"),
    ("wood", "woods"),
    ("picnic", "picnics"),
    ("whitewash", "whitewash"),
    ("tavern", "taverns"),
    ("inn", "inns"),
    ("gold", "gold"),
    ("guinea", "guineas"),
    ("shilling", "shillings"),
    ("dollar", "dollars"),
];

/// Ranks and trades: variants of one word, the simplified one first.
const RANKS_ZH: &[&[&str]] = &[
    &["皇上"],
    &["王爷", "王爺"],
    &["太守"],
    &["知府"],
    &["知县", "知縣"],
    &["县令", "縣令"],
    &["巡检", "巡檢"],
    &["弓兵"],
    &["学道", "學道"],
    &["翰林"],
    &["进士", "進士"],
    &["举人", "舉人"],
    &["秀才"],
    &["童生"],
    &["监生", "監生"],
    &["贡生", "貢生"],
    &["先生"],
    &["老爷", "老爺"],
    &["太太"],
    &["奶奶"],
    &["姨娘"],
    &["公子"],
    &["小姐"],
    &["姑娘"],
    &["丫鬟"],
    &["丫头", "丫頭"],
    &["嬷嬷", "嬤嬤"],
    &["小厮", "小廝"],
    &["管家"],
    &["家人"],
    &["和尚"],
    &["道士"],
    &["尼姑"],
    &["差人"],
    &["衙役"],
    &["账房", "賬房"],
    &["掌柜", "掌櫃"],
    &["伙计", "夥計"],
    &["槽主"],
    &["匠人"],
    &["船娘"],
    &["船家"],
    &["屠户", "屠戶"],
    &["书商", "書商"],
    &["将军", "將軍"],
    &["大夫"],
    &["讼师", "訟師"],
    &["教习", "教習"],
    &["东家", "東家"],
    &["侠客", "俠客"],
];

/// Things that characterize a way of life.
const THINGS_ZH: &[&[&str]] = &[
    &["银子", "銀子"],
    &["文章"],
    &["八股"],
    &["考试", "考試"],
    &["科举", "科舉"],
    &["功名"],
    &["衙门", "衙門"],
    &["官司"],
    &["轿子", "轎子"],
    &["戏", "戲"],
    &["诗", "詩"],
    &["酒席"],
    &["喪事", "丧事"],
    &["药", "藥"],
    &["香火"],
    &["玉"],
    &["花园", "花園"],
    &["纸", "紙"],
    &["帘子", "簾子"],
    &["水车", "水車"],
    &["账", "賬"],
    &["契"],
    &["船"],
    &["渠"],
    &["闸", "閘"],
    &["田地"],
    &["书坊", "書坊"],
    &["茶"],
    &["剑", "劍"],
    &["江湖"],
    &["火车", "火車"],
    &["汽车", "汽車"],
    &["革命"],
];

static PLACE_EN: LazyLock<Regex> = LazyLock::new(|| {
    english_pattern(
        r"\b(?:[Ii]n|[Aa]t|[Nn]ear|reached|[Ff]rom|[Tt]o) (?:the )?((?:St\. )?\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?)",
    )
});

static PLACE_ZH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:[到往至进進回出在离離]|来到|來到|住在)((?:[\x{4e00}-\x{9fff}]){1,3}(?:府|县|縣|城|镇|鎮|村|庙|廟|寺|庵|庄|莊|园|園|埠|山|湖|州|京|闸|閘|馆|館|阁|閣|渡|司))").expect("the pattern is built in and tested")
});

/// Capitalized words that are not places.
const NO_PLACE: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Christmas",
    "Easter",
    "Michaelmas",
    "God",
    "Heaven",
    "Heavens",
    "Providence",
    "Nature",
    "Chapter",
    "English",
    "French",
    "Latin",
    "Mr",
    "Mrs",
    "Miss",
    "Sir",
    "Lady",
    "Captain",
    "Colonel",
    "Dr",
    "Doctor",
    "I",
];

/// Returns a sentence on what a book mentions most often, or `None` if nothing recurs.
pub(crate) fn counted(text: &str, script: Script, names: &Names) -> Option<String> {
    if script == Script::Latin { english(text, names) } else { chinese(text, script, names) }
}

fn english(text: &str, names: &Names) -> Option<String> {
    let known: HashMap<&str, (bool, &str)> = RANKS_EN
        .iter()
        .flat_map(|&(one, many)| [(one, (true, many)), (many, (true, many))])
        .chain(THINGS_EN.iter().flat_map(|&(one, many)| [(one, (false, many)), (many, (false, many))]))
        .collect();
    let mut counts: BTreeMap<(bool, &str), u32> = BTreeMap::new();
    let mut total = 0_u32;
    for word in text.split(|c: char| !(c.is_alphabetic() || c == '-')) {
        total += u32::from(!word.is_empty());
        // A capitalized title refers to a person.
        if word.starts_with(char::is_lowercase)
            && let Some(entry) = known.get(word)
        {
            *counts.entry(*entry).or_default() += 1;
        }
    }
    let least = (total / 8000).max(3);
    let top = |rank: bool| {
        let mut found: Vec<(u32, &str)> = counts
            .iter()
            .filter(|((is_rank, _), count)| *is_rank == rank && **count >= least)
            .map(|((_, word), count)| (*count, *word))
            .collect();
        found.sort_by_key(|(count, word)| (std::cmp::Reverse(*count), *word));
        found.into_iter().take(4).map(|(_, word)| word.to_owned()).collect::<Vec<_>>()
    };
    let mut places: BTreeMap<&str, u32> = BTreeMap::new();
    for found in PLACE_EN.captures_iter(text).filter_map(|found| found.get(1)) {
        let (start, mut place) = (found.start(), found.as_str());
        // A partial word is not a name.
        if text[found.end()..].starts_with(char::is_alphanumeric) {
            let Some((whole, _)) = place.rsplit_once(' ').filter(|(whole, _)| !whole.ends_with('.')) else { continue };
            place = whole;
        }
        let first = place.split(' ').next().unwrap_or(place);
        // `In Quern Anna` names a place and a person; `in the Golden Anna` is an inn sign.
        if first.len() < place.len() && !names.find(&place[first.len() + 1..]).is_empty() {
            if text[..start].ends_with("the ") {
                continue;
            }
            place = first;
        }
        if known.contains_key(first.to_lowercase().as_str()) && first.len() == place.len() {
            continue;
        }
        if names.find(place).is_empty() && !NO_PLACE.contains(&first) && !is_title(place) && !lead_word(place) {
            *places.entry(place).or_default() += 1;
        }
    }
    let places = most(places, (total / 12_000).max(3));
    let (ranks, things) = (top(true), top(false));
    let mut parts: Vec<String> = Vec::new();
    if !ranks.is_empty() {
        parts.push(format!("of {}", list(&ranks, Language::En)));
    }
    if !things.is_empty() {
        parts.push(format!("of {}", list(&things, Language::En)));
    }
    let world = format!("It is a world {}", parts.join(", "));
    match (parts.is_empty(), places.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("{world}.")),
        (true, false) => Some(format!("Places named most are {}.", list(&places, Language::En))),
        (false, false) => Some(format!("{world}; places named most are {}.", list(&places, Language::En))),
    }
}

fn chinese(text: &str, script: Script, names: &Names) -> Option<String> {
    let total = u32::try_from(text.len() / 3).unwrap_or(u32::MAX);
    let least = (total / 10_000).max(3);
    let mut forms: Vec<(&str, (bool, usize))> = Vec::new();
    for (rank, table) in [(true, RANKS_ZH), (false, THINGS_ZH)] {
        for (at, words) in table.iter().enumerate() {
            forms.extend(words.iter().map(|word| (*word, (rank, at))));
        }
    }
    let pattern = forms.iter().map(|(form, _)| *form).collect::<Vec<_>>().join("|");
    let pattern = Regex::new(&pattern).expect("the words contain no regex syntax");
    let owners: BTreeMap<&str, (bool, usize)> = forms.into_iter().collect();
    let mut counts: BTreeMap<(bool, usize), (u32, &str)> = BTreeMap::new();
    for found in pattern.find_iter(text) {
        if let Some(owner) = owners.get(found.as_str()) {
            let entry = counts.entry(*owner).or_insert((0, found.as_str()));
            entry.0 += 1;
        }
    }
    let top = |rank: bool| {
        let mut found: Vec<(u32, usize, &str)> = counts
            .iter()
            .filter(|((is_rank, _), (count, _))| *is_rank == rank && *count >= least)
            .map(|((_, at), (count, word))| (*count, *at, *word))
            .collect();
        found.sort_by_key(|(count, at, _)| (std::cmp::Reverse(*count), *at));
        found.into_iter().take(5).map(|(_, _, word)| word.to_owned()).collect::<Vec<_>>()
    };
    let mut places: BTreeMap<&str, u32> = BTreeMap::new();
    for found in PLACE_ZH.captures_iter(text).filter_map(|found| found.get(1)) {
        let place = found.as_str();
        let clean = place.chars().all(|c| is_han(c) && !"了这那這个個得着著过過大小一二三各本此我你他家".contains(c));
        if clean && names.find(place).is_empty() {
            *places.entry(place).or_default() += 1;
        }
    }
    let places = most(places, (total / 50_000).max(3));
    let (ranks, things) = (top(true), top(false));
    let mut parts: Vec<String> = Vec::new();
    if !places.is_empty() {
        parts.push(format!("{}{}{}", script.write("故事多在"), places.join("、"), script.write("一带")));
    }
    if !ranks.is_empty() {
        parts.push(format!("{}{}", script.write("来往的人里有"), ranks.join("、")));
    }
    if !things.is_empty() {
        parts.push(format!("{}{}", script.write("常说起的是"), things.join("、")));
    }
    (!parts.is_empty()).then(|| format!("{}。", parts.join("，")))
}

/// Returns the places mentioned most often, at most four.
fn most(places: BTreeMap<&str, u32>, least: u32) -> Vec<String> {
    let mut places: Vec<(u32, &str)> =
        places.into_iter().filter(|(_, count)| *count >= least).map(|(place, count)| (count, place)).collect();
    places.sort_by_key(|(count, place)| (std::cmp::Reverse(*count), *place));
    places.into_iter().take(4).map(|(_, place)| place.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::extract::fixtures::{EN, EN_PEOPLE, ZH, ZH_PEOPLE, attribution};

    fn names(people: &[(&str, &[&str], crate::attribution::Gender)], text: &str) -> Names {
        Names::new(&attribution(text, people, &[]).people)
    }

    #[test]
    fn a_world_is_what_a_book_names_again_and_again() {
        let text = "Anna lived in Quern. The miller came from Quern with a ledger. In Quern Anna asked the miller for a ledger. \
                    At Anna the miller laughed, and shut the ledger. In March, in March, in March it rained. ";
        assert_eq!(
            counted(text, Script::Latin, &names(EN_PEOPLE, EN)).as_deref(),
            Some("It is a world of millers, of ledgers; places named most are Quern.")
        );
        let text = "陆平到清水县，知县请他喝茶。陆平在清水县见了知县，喝了茶。周老七回清水县去，知县又叫人送茶。";
        assert_eq!(
            counted(text, Script::Simplified, &names(ZH_PEOPLE, ZH)).as_deref(),
            Some("故事多在清水县一带，来往的人里有知县，常说起的是茶。")
        );
        let text = "Anna lived in Orléans. Boris came from Orléans McRae. Near Orléans Anna stopped. \
                    At McRae’s, at McRae’s, at McRae’s, at McRae’s it rained.";
        assert_eq!(
            counted(text, Script::Latin, &names(EN_PEOPLE, EN)).as_deref(),
            Some("Places named most are Orléans.")
        );
        assert_eq!(counted("A cat.", Script::Latin, &names(EN_PEOPLE, EN)), None);
    }
}
