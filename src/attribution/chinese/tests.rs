//! Attribution of short Chinese texts.

use crate::attribution::Attribution;
use crate::attribution::Gender;
use crate::attribution::attribute;
use crate::schema::Language;

/// Whether a character has a name or alias.
fn has_name(attribution: &Attribution, person: usize, name: &str) -> bool {
    let person = &attribution.people[person];
    person.name == name || person.aliases.iter().any(|alias| alias == name)
}

/// Checks the speaker of each quotation, which may be given by any of its names; `-` for an unknown speaker.
fn check(text: &str, speakers: &[&str]) {
    let attribution = attribute(text, Language::Zh, false);
    assert_eq!(attribution.quotations.len(), speakers.len(), "{text}");
    for (quotation, name) in attribution.quotations.iter().zip(speakers) {
        let right = quotation.speaker.map_or(*name == "-", |speaker| has_name(&attribution, speaker, name));
        let found = quotation.speaker.map(|speaker| &attribution.people[speaker]);
        assert!(right, "`{}`: expected {name}, found {found:?}, in {text}", quotation.text);
    }
}

#[test]
fn a_subject_persists_over_clauses_and_sentences() {
    check(
        "罗守田道：“起风了。”沈阿牛放下渔网，看了看天，便向罗守田道：“收罢。”罗守田听了，将缆绳往桩上一绕。又回头问道：“几时开船？”",
        &["罗守田", "沈阿牛", "罗守田"],
    );
    check(
        "罗守田道：“起风了。”沈阿牛道：“收罢。”罗守田急了，忽然看见沈阿牛往船上跑，便赶上去，喝道：“站住！”",
        &["罗守田", "沈阿牛", "罗守田"],
    );
}

#[test]
fn objects_are_not_taken_for_subjects() {
    check(
        "罗守田道：“起风了。”沈阿牛道：“收罢。”罗守田叫住沈阿牛，嘱咐沈阿牛道：“当心。”罗守田没站稳，被沈阿牛一把推在地上，骂道：“糊涂！”",
        &["罗守田", "沈阿牛", "罗守田", "沈阿牛"],
    );
    check("罗守田道：“起风了。”沈阿牛道：“收罢。”急得罗守田道：“慢着！”", &["罗守田", "沈阿牛", "罗守田"]);
}

#[test]
fn unnamed_speakers_are_named_by_their_role() {
    check(
        "罗守田道：“起风了。”内中一个客人道：“走罢。”又一个客人道：“不走。”那客人笑道：“怕什么？”门上小厮们回道：“没船了。”忽听外面有人说：“有船！”",
        &["罗守田", "内中一个客人", "又一个客人", "又一个客人", "小厮们", "有人"],
    );
    check(
        "“借过。”一个满脸麻子的人挤进来，提着半篮螃蟹。\n\n那人把篮子一放，嚷道：“谁要？”\n\n“多少钱？”坐在窗下的一个五十来岁的人问。\n",
        &["满脸麻子的人", "那人", "五十来岁的人"],
    );
    check(
        "罗守田道：“起风了。”正要走，早看见一个瘦小的管家，跑了进来：“老爷有请。”罗守田道：“知道了。”",
        &["罗守田", "瘦小的管家", "罗守田"],
    );
}

#[test]
fn a_description_is_merged_with_a_later_name() {
    check(
        "船舱里钻出一个撑篙的女子，笑道：“坐稳。”这女子叫沈阿莲，是沈家的老二。沈阿莲道：“开船了。”沈阿莲又道：“低头。”",
        &["沈阿莲", "沈阿莲", "沈阿莲"],
    );
}

#[test]
fn several_speakers_at_once_are_named_together() {
    check(
        "罗守田道：“起风了。”沈阿牛道：“收罢。”罗守田沈阿牛都说道：“走！”众人一齐道：“走！”沈阿牛等道：“快！”",
        &["罗守田", "沈阿牛", "罗守田沈阿牛", "众人", "沈阿牛等"],
    );
}

#[test]
fn a_wife_named_after_her_husband_is_another_person() {
    let text = "六两坐着抽烟。六两嫂骂道：“懒骨头！”六两说：“歇一歇。”六两嫂放下饭篮，说：“吃罢。”六两道：“不饿。”六两嫂笑了。";
    check(text, &["六两嫂", "六两", "六两嫂", "六两"]);
    let attribution = attribute(text, Language::Zh, false);
    let wife = attribution.people.iter().find(|person| person.name == "六两嫂").expect("this character speaks");
    assert!(wife.gender == Gender::Female && wife.aliases.is_empty());
}

#[test]
fn a_title_alone_refers_to_its_bearer() {
    check(
        "耿提辖走进店来，道：“打酒！”罗守田道：“有。”提辖坐下道：“切肉！”罗守田道：“也有。”",
        &["耿提辖", "罗守田", "耿提辖", "罗守田"],
    );
}

#[test]
fn a_title_after_a_name_belongs_to_that_name() {
    check(
        "耿提辖走进店来，道：“打酒！”众人仰慕耿提辖罗守田父子，罗守田道：“有。”人都说耿提辖罗守田交好。提辖坐下道：“切肉！”罗守田道：“也有。”",
        &["耿提辖", "罗守田", "耿提辖", "罗守田"],
    );
}

#[test]
fn a_given_name_alone_is_recognized_in_classical_novels() {
    check(
        "却说罗霆引军到河边，罗霆下马。霆曰：“谁敢渡河？”沈固曰：“某愿往。”霆大笑曰：“真壮士也！”罗霆遂令开船，沈固领命。",
        &["罗霆", "沈固", "罗霆"],
    );
}

#[test]
fn modern_dialogue_is_attributed_with_and_without_tags() {
    check(
        "“潮退了么？”沈小满趴在窗口问。\n\n“退了。”老耿叼着烟走出来。\n\n“那我去捡螺。”\n\n老耿叹了口气：“早点回来。”\n\n沈小满说：“晓得。”老耿摆摆手，“去罢。”\n\n沈小满问他，“真的？”\n",
        &["沈小满", "老耿", "沈小满", "老耿", "沈小满", "老耿", "沈小满"],
    );
}

#[test]
fn the_narrator_and_relatives_are_attributed() {
    check(
        "“你去歇着。”母亲对我说。\n\n“是。”我说。\n\n我的母亲笑了，说：“听话。”\n\n“这就去。”我道。\n",
        &["母亲", "叙述者", "母亲", "叙述者"],
    );
}

#[test]
fn foreign_names_are_recognized_by_the_interpunct() {
    let text = "安娜·彼得罗芙娜放下杯子，问道：“路好走吗？”\n\n“不好走。”伊万·谢尔盖伊奇说。伊万站起来，伊万又坐下。\n\n安娜·彼得罗芙娜叹了口气：“总是这样。”\n\n伊万说：“总是这样。”\n";
    check(text, &["安娜·彼得罗芙娜", "伊万·谢尔盖伊奇", "安娜·彼得罗芙娜", "伊万"]);
    let attribution = attribute(text, Language::Zh, false);
    assert_eq!(attribution.people.len(), 2, "{:?}", attribution.people);
}

#[test]
fn third_person_pronouns_do_not_refer_to_the_narrator() {
    check(
        "我跟着老班长走了一夜。\n\n“歇一歇。”他说。\n\n“是。”我说。\n\n老班长没吭声，看了看天。“走罢。”他说。\n",
        &["老班长", "叙述者", "老班长"],
    );
}

#[test]
fn plural_pronouns_stay_unattributed() {
    check("罗守田道：“起风了。”沈阿牛道：“收罢。”他们说：“走！”罗守田道：“走。”", &["罗守田", "沈阿牛", "-", "罗守田"]);
}

#[test]
fn a_prince_and_his_wife_are_two_characters() {
    let text = "王妃放下茶盏，说：“坐。”\n\n王爷走进来，说：“不坐。”\n\n王妃道：“王爷请坐。”\n\n王爷冷声道：“不坐。”\n";
    check(text, &["王妃", "王爷", "王妃", "王爷"]);
}

#[test]
fn a_title_is_merged_with_the_last_named_person_of_that_surname() {
    let text = "罗守田走进来。罗守田道：“起风了。”罗先生放下伞。罗守田坐下。罗先生道：“倒茶。”\n\n罗阿四在后院劈柴。罗阿四骂道：“累死了。”罗阿四又道：“不干了。”\n";
    let attribution = attribute(text, Language::Zh, false);
    let of = |name: &str| (0..attribution.people.len()).find(|&person| has_name(&attribution, person, name));
    assert_eq!(of("罗先生"), of("罗守田"));
    assert_ne!(of("罗阿四"), of("罗守田"));
    assert!(of("罗守田").is_some() && of("罗阿四").is_some());
}

#[test]
fn thoughts_are_attributed_to_the_last_subject() {
    check(
        "罗守心走进来，道：“起风了。”沈阿牛放下网，心下想道：“该走了。”沈阿牛看了看天，心中自思道：“怕是晚了。”罗守心道：“走罢。”",
        &["罗守心", "沈阿牛", "沈阿牛", "罗守心"],
    );
}

#[test]
fn a_rare_title_does_not_change_a_gender() {
    let dialogue = "罗阿莲道：“起风了。”罗阿莲又道：“收罢。”沈小满道：“收了。”".repeat(60);
    let text = dialogue.clone() + "罗阿莲走了。罗大哥道：“开船。”";
    let attribution = attribute(&text, Language::Zh, false);
    let lotus = attribution.people.iter().find(|person| person.name == "罗阿莲").expect("this character speaks");
    assert!(lotus.gender == Gender::Unknown && lotus.aliases.iter().all(|alias| alias != "罗大哥"), "{lotus:?}");
    // A character mentioned hardly more often than the title may well have it.
    let attribution =
        attribute("罗守田道：“起风了。”罗守田又道：“收罢。”罗大哥笑道：“走！”罗大哥道：“开船。”", Language::Zh, false);
    assert!(has_name(&attribution, 0, "罗大哥") && has_name(&attribution, 0, "罗守田"), "{:?}", attribution.people);
    assert_eq!(attribution.people[0].gender, Gender::Male);
}

#[test]
fn demonstratives_are_not_part_of_names() {
    let text = "店里三个客人：一个是青衣书生；还有一个老和尚。罗守田道：“打酒！”那书生笑道：“没了。”".to_owned()
        + &"罗守田喝了一口酒，看了看窗外的雪，又喝了一口。".repeat(60)
        + "\n\n那老和尚道：“阿弥陀佛。”那人道：“走罢。”";
    let attribution = attribute(&text, Language::Zh, false);
    let names: Vec<&str> = attribution.people.iter().map(|person| person.name.as_str()).collect();
    assert!(names.contains(&"书生") && names.contains(&"老和尚") && names.contains(&"某人"), "{names:?}");
    let aliases =
        |name: &str| attribution.people.iter().filter(|person| person.aliases.iter().any(|a| a == name)).count();
    assert_eq!((aliases("那老和尚"), aliases("人")), (1, 0), "{:?}", attribution.people);
}

#[test]
fn names_do_not_start_with_classifiers() {
    let attribution = attribute("罗守田道：“起风了。”舱里钻出个十三岁的孩子，笑道：“我不怕。”\n", Language::Zh, false);
    let child = attribution.quotations[1].speaker.map(|child| &attribution.people[child]).expect("the child speaks");
    assert_eq!((child.name.as_str(), child.aliases.len()), ("十三岁的孩子", 0), "{child:?}");
}

#[test]
fn traditional_characters_are_folded() {
    check(
        "羅守田道：「起風了。」內中一個客人道：「走罷。」那客人又問：「船呢？」沈阿蓮應道：「在後頭。」沈阿蓮又道：「開船了。」",
        &["羅守田", "內中一個客人", "那客人", "沈阿蓮", "沈阿蓮"],
    );
}
