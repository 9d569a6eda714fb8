//! Attribution of short plays and screenplays.

use super::*;
use crate::attribution::QuotationKind;

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

pub(in crate::attribution) fn speech(name: &str, text: &str, action: Option<&str>) -> (String, String, Option<String>) {
    (name.to_owned(), text.to_owned(), action.map(str::to_owned))
}

#[test]
fn fountain_speeches_are_read() {
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
fn an_unclosed_bracket_in_the_last_line_is_accepted() {
    let orla = speech("Orla", "Then stay.", None);
    assert_eq!(speeches("ORLA. Who is there?\n\nORLA. Then stay.\n\nDEA (to the dog, who is")[1], orla);
    for text in ["甲（指着\n门外", "DEA (to the dog", "甲：走罢。\n\n乙（指着"] {
        assert!(speeches(text).iter().all(|(name, ..)| name == "甲"), "{text}");
    }
}

/// Checks the speeches of a play, each as `name: words [action]`, with `-` for several speakers.
fn check_speeches(text: &str, expected: &[&str]) {
    let attribution = read(&text.chars().collect::<Vec<char>>());
    let lines: Vec<String> = attribution
        .quotations
        .iter()
        .map(|quotation| {
            assert_eq!(quotation.kind, quotation.speaker.map(|_| QuotationKind::Script));
            let name = quotation.speaker.map_or("-", |speaker| attribution.people[speaker].name.as_str());
            let action = quotation.action.as_ref().map_or(String::new(), |action| format!(" [{action}]"));
            format!("{name}: {}{action}", quotation.text)
        })
        .collect();
    assert_eq!(lines, expected, "{text}");
}

#[test]
fn names_before_speeches_are_read() {
    check_speeches(
        "ACT I.\n\nORLA. Who is there?\nIs it you?\n\nDEA. (wet) Only me.\n\nORLA (rising). Sit. (He sits.) So.\n\n(DEA sleeps.)\n\nORLA. Well!\n",
        &["Orla: Who is there? Is it you?", "Dea: Only me. [wet]", "Orla: Sit. So. [rising; He sits.]", "Orla: Well!"],
    );
    check_speeches(
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
    check_speeches(
        "和珅：请。\n刘墉（放下茶盏，\n　　走到窗前）：不必。\n和珅：坐。\n和珅和刘墉：请！\n刘墉与和珅：请！\n刘墉同和珅与和珅：请！\n",
        &["和珅: 请。", "刘墉: 不必。 [放下茶盏，走到窗前]", "和珅: 坐。", "-: 请！", "-: 请！", "-: 请！"],
    );
    check_speeches(
        "甲：谁？\n乙（低声）：是我。\n甲：坐。\n乙：好。\n",
        &["甲: 谁？", "乙: 是我。 [低声]", "甲: 坐。", "乙: 好。"],
    );
}

#[test]
fn names_in_mixed_case_are_read() {
    check_speeches(
        "Dramatis Personae\n\nMrs. Hale, a widow.\nTom: her son, a ferryman.\n\nACT I\n\nSCENE 1. The hard.\n\nMrs. Hale. Is the boat in?\n\n\
         Tom. No. It went at nine,\nand it went empty.\n\nMrs. Hale [_going up_]. Then who rang? Yes. You may well look.\n\nTom. Nobody.\n\nEnd of Act I.\n",
        &[
            "Mrs. Hale: Is the boat in?",
            "Tom: No. It went at nine, and it went empty.",
            "Mrs. Hale: Then who rang? Yes. You may well look. [going up]",
            "Tom: Nobody.",
        ],
    );
    check_speeches(
        "**Scene:** a kitchen\n\n**Orla:** Who’s there?\n\n*Time: night.*\n\n**Dea** *(off)*: Me.\n\n**Orla and Dea:** Ha!\n",
        &["Orla: Who’s there?", "Dea: Me. [off]", "-: Ha!"],
    );
    check_speeches(
        "_Orla._ Who is there?\n\n_Dea_ (_without_). Nobody.\n\n_Orla._ [_Rising._] Come in,\nnobody.\n",
        &["Orla: Who is there?", "Dea: Nobody. [without]", "Orla: Come in, nobody. [Rising.]"],
    );
}

#[test]
fn a_cast_list_resolves_partial_names() {
    check_speeches(
        "CHARACTERS\n\nORLA KEEL, a widow\nDEA, her son\nCAPTAIN ROOKE\n\nSCENE: The lamp-room. Night.\n\nORLA. Is it lit?\n\nDEA. It is.\n\n\
         ROOKE. Who keeps this light?\n\nORLA AND DEA. We do!\n\nCAPTAIN ROOKE. It was out.\n",
        &["Orla: Is it lit?", "Dea: It is.", "Rooke: Who keeps this light?", "-: We do!", "Rooke: It was out."],
    );
    let text = "MR. HALE. Sit.\n\nMRS. HALE. No.\n\nHALE. Sit!\n\nMR. HALE. Sit.\n\nMRS. HALE. No.\n\nHALE. Sit!\n";
    assert_eq!(read(&text.chars().collect::<Vec<char>>()).people.len(), 3, "`HALE` may be either of two characters");
    check_speeches(
        "人物：江守田，孟秋云\n\n江守田：灯点上了么？\n孟秋云：点上了。（笑）\n（丁一上。）\n丁一：谁管这盏灯？\n江守田和孟秋云：我们！\n丁一：灯灭过。\n",
        &["江守田: 灯点上了么？", "孟秋云: 点上了。 [笑]", "丁一: 谁管这盏灯？", "-: 我们！", "丁一: 灯灭过。"],
    );
}

#[test]
fn centred_names_are_read() {
    check_speeches(
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
    check_speeches(
        "Orla\nWho is there?\n\nDea\nNobody.\n\nHe comes in.\n\nOrla\nSit.\n\nDea\n(sitting)\nThanks.\n",
        &["Orla: Who is there?", "Dea: Nobody.", "Orla: Sit.", "Dea: Thanks. [sitting]"],
    );
    check_speeches(
        "第一场　码头\n\n　　　　江守田\n　　谁在那里？\n\n　　　　孟秋云（画外音）\n　　（低声）\n　　是我。\n\n　　　　江守田\n　　上船罢。\n\n　　　　孟秋云\n　　好。\n",
        &["江守田: 谁在那里？", "孟秋云: 是我。 [低声]", "江守田: 上船罢。", "孟秋云: 好。"],
    );
}

#[test]
fn chinese_plays_are_read() {
    check_speeches(
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
    check_speeches(
        "登場人物\n江守田　船家。\n孟秋雲　他的妻子。\n\n第一場\n\n江守田　（白）潮水退了。\n孟秋雲　（唱）一更鼓兒天，\n　　　　　月上柳梢邊。\n江守田　走罢。\n眾　　　走！\n孟秋雲　來了。\n",
        &["江守田: 潮水退了。", "孟秋雲: 一更鼓兒天，月上柳梢邊。 [唱]", "江守田: 走罢。", "-: 走！", "孟秋雲: 來了。"],
    );
}
