//! Generated scenes of a given size, in both languages, in the form that extraction writes.

use std::fmt::Write as _;

use dramaturg::schema::Language;

const EN_NAMES: [&str; 13] = [
    "Old Zhou",
    "Aman",
    "Mrs. Hale",
    "The Watchman",
    "Dorcas Pell",
    "Captain Rook",
    "Ivo",
    "Miss Tarn",
    "The Clerk",
    "Berthe",
    "Young Ned",
    "Dr. Amsel",
    "The Widow",
];
const ZH_NAMES: [&str; 13] = [
    "老周",
    "阿满",
    "沈三娘",
    "更夫",
    "柳掌柜",
    "秦都头",
    "小伍",
    "谭姑娘",
    "书办",
    "白婆婆",
    "阿宁",
    "安大夫",
    "孟寡妇",
];

/// Returns a scene with four characters with profiles and enough lines to reach the size.
pub(super) fn scene(slug: &str, language: Language, number: usize, bytes: usize) -> String {
    let zh = language == Language::Zh;
    let pick = |en: &'static str, of_zh: &'static str| if zh { of_zh } else { en };
    // Most scenes have different characters, as in books.
    let known = if zh { ZH_NAMES } else { EN_NAMES };
    let names: [&str; 4] = std::array::from_fn(|place| known[(number / 5 + place * (number % 5 + 1)) % known.len()]);
    let start = number * 10_000;
    let mut line = format!(
        r#"{{"id":"{slug}@{start}","book":"{slug}","language":"{}","chapter":"{}","start":{start},"end":{},"summary":"{}","worldview":"{}","situation":"{}","#,
        language.code(),
        pick("Chapter Seven", "第七回　夜渡"),
        start + 9_999,
        pick("They wait for the ferry, quarrel over the fare and make it up.", "二人候船，为船钱争了几句，又和好了。"),
        pick("A port in winter, where the ferry is the only way over.", "江南水乡，冬日渡口，过江只有这一条船。"),
        pick(
            "Night at the landing. The ferry is late, and it has begun to rain.",
            "夜里，渡口。船迟迟不来，下起雨来了。"
        ),
    );
    line.push_str(r#""motivations":["#);
    for (place, name) in names.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let wants = pick("Wants to be over the river before light.", "想在天亮以前过江。");
        let _ = write!(line, r#"{comma}{{"character":"{name}","motivation":"{wants}"}}"#);
    }
    line.push_str(r#"],"characters":["#);
    for (place, name) in names.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let _ = write!(line, r#"{comma}{{"name":"{name}","aliases":[],"profile":["#);
        for (entry, key) in ["persona", "speech", "background", "relationships"].into_iter().enumerate() {
            let comma = if entry > 0 { "," } else { "" };
            let value =
                pick("Speaks little, and means what is said; has a long memory.", "话少，说一句是一句；记性极好。");
            let _ = write!(line, r#"{comma}{{"key":"{key}","value":"{value}","visibility":"public"}}"#);
        }
        line.push_str("]}");
    }
    line.push_str(r#"],"dialogue":["#);
    let mut count = 0;
    while count == 0 || line.len() < bytes {
        let (comma, at) = (if count > 0 { "," } else { "" }, start + 10 + count * 60);
        let speech = pick(
            "I have not seen it \\\"yet\\\". I only tell what I have seen.",
            "我还没瞧见。\\\"瞧见\\\"了的，我才说。",
        );
        let name = names[count % names.len()];
        let _ = write!(
            line,
            r#"{comma}{{"speaker":"{name}","thought":null,"action":null,"speech":"{speech}","start":{at},"end":{},"grounded":"exact","similarity":1.0}}"#,
            at + 50
        );
        count += 1;
    }
    line.push_str("],\"grounding\":1.0,\"model\":\"offline:plain\"}\n");
    line
}
