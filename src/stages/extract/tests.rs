//! Tests of the whole stage, with the offline engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::llm::{Budget, Memory, OfflineOptions, Record, Session};
use crate::prompt::Prompts;
use crate::schema::{Attribute, Grounded, SceneId};
use crate::stages::extract::fixtures::{
    EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, attribution, chunk, indexed_book, length,
};

fn model(memory: Arc<Memory>) -> Model {
    let prompts =
        Prompts::new(PROMPTS.iter().copied(), &BTreeMap::new()).expect("the templates are embedded and tested");
    Model::offline(
        "rules",
        OfflineOptions::default(),
        Arc::new(Session::new(7, prompts, memory, Budget::default(), false)),
    )
}

fn book(language: Language) -> (&'static str, BookIndex) {
    let (text, people) = if language == Language::En { (EN, EN_PEOPLE) } else { (ZH, ZH_PEOPLE) };
    (text, indexed_book(language, text, attribution(text, people, EN_SPEAKERS)))
}

/// Extracts the sample book in one chunk. Returns the records sorted by draw.
async fn extract_all(language: Language, params: &Params) -> (Extracted, Vec<Record>) {
    let (text, book) = book(language);
    let memory = Arc::new(Memory::default());
    let chunk = chunk(language, text, 0, 0, length(text));
    let extracted = extract(&model(memory.clone()), params, &book, &chunk, Carry::default()).await.expect("extracts");
    let mut records: Vec<Record> = memory.0.lock().expect("not poisoned").values().cloned().collect();
    records.sort_by(|one, other| one.draw.cmp(&other.draw));
    (extracted, records)
}

#[tokio::test]
async fn an_english_scene_uses_the_text_of_the_book() {
    let (extracted, records) = extract_all(Language::En, &Params::default()).await;
    assert!(extracted.rejects.is_empty(), "{:?}", extracted.rejects);
    let [scene] = &extracted.scenes[..] else { panic!("{:?}", extracted.scenes) };
    let lines: Vec<(&str, &str)> =
        scene.dialogue.iter().map(|line| (line.speaker.as_str(), line.speech.as_deref().unwrap_or(""))).collect();
    assert_eq!(lines.len(), 6);
    // The tag that interrupts a speech is removed, and the two parts are one utterance.
    assert_eq!(lines[0], ("Anna", "Is anybody there? I must see the miller before dark."));
    assert_eq!(lines[1], ("Boris", "There is nobody here but me."));
    assert_eq!(
        (scene.id.clone(), scene.model.as_deref()),
        (SceneId::at("a-book", scene.start.expect("a place in the book")), Some("offline:plain"))
    );
    assert!(scene.worldview.starts_with("On the first of March"), "{}", scene.worldview);
    assert!(scene.situation.contains("knocked at the mill") && scene.situation.ends_with("Present: Anna and Boris."));
    assert!(scene.summary.contains("Anna"), "{}", scene.summary);
    assert_eq!(
        scene.motivations[0].motivation,
        "Anna wanted the stones back more than she could say. In so many words: “I must see the miller before dark.”"
    );
    let profile: Vec<(&str, &str)> = scene.characters[0]
        .profile
        .iter()
        .map(|attribute| (attribute.key.as_str(), attribute.value.as_str()))
        .collect();
    assert_eq!(profile[0], ("gender", "female"));
    assert!(profile.iter().any(|(_, value)| value.contains("a tall woman in a grey coat")), "{profile:?}");
    assert_eq!(scene.grounding, Some(1.0));
    let draws: Vec<&str> = records.iter().map(|record| record.draw.as_str()).collect();
    assert_eq!(draws, ["a-book/0/scenes".to_owned(), format!("{}/describe", scene.id)]);
    assert!(records.iter().all(|record| !record.request.messages[1].content.contains("\n\n\n")));
}

#[tokio::test]
async fn a_chinese_scene_uses_the_text_of_the_book() {
    let (extracted, _) = extract_all(Language::Zh, &Params::default()).await;
    let [scene] = &extracted.scenes[..] else { panic!("{extracted:?}") };
    let speech = scene.dialogue[0].speech.as_deref();
    assert_eq!(speech, Some("里头有人么？天黑之前，我要见一见磨坊的主人。"));
    assert_eq!((scene.dialogue.len(), scene.dialogue[1].speaker.as_str()), (6, "周老七"));
    assert!(scene.worldview.starts_with("三月初一，渠县城外起了大雾"), "{}", scene.worldview);
    assert!(scene.situation.ends_with("在场的有陆平和周老七。"), "{}", scene.situation);
    assert!(scene.motivations[0].motivation.starts_with("陆平打算把磨盘要回来。自己说："), "{:?}", scene.motivations);
    let profile: Vec<(&str, &str)> = scene.characters[0]
        .profile
        .iter()
        .map(|attribute| (attribute.key.as_str(), attribute.value.as_str()))
        .collect();
    assert_eq!(&profile[..2], [("性别", "男"), ("年龄", "三十岁")]);
    // No gender is given when the text does not show it.
    assert!(scene.characters[1].profile.iter().all(|attribute| attribute.key != "性别"));
}

#[tokio::test]
async fn a_chunk_without_dialogue_leaves_a_reject() {
    let (extracted, records) = extract_all(Language::En, &Params { min_utterances: 9, ..Params::default() }).await;
    assert!(extracted.scenes.is_empty());
    assert_eq!((extracted.rejects[0].id.as_str(), extracted.rejects[0].reason.name()), ("a-book/0", "no_scene"));
    assert_eq!(records.len(), 1);
}

#[tokio::test]
async fn a_scene_cut_by_a_chunk_boundary_continues_in_the_next_chunk() {
    for language in Language::ALL {
        let (text, book) = book(language);
        let cut = book.attribution.paragraphs[5].start;
        let memory = Arc::new(Memory::default());
        let (model, params) = (model(memory.clone()), Params { min_utterances: 2, ..Params::default() });
        let first = chunk(language, text, 0, 0, cut);
        let second = chunk(language, text, 1, cut, length(text));
        let begun = extract(&model, &params, &book, &first, Carry::default()).await.expect("extracts");
        assert!(begun.scenes.is_empty() && begun.carry.holds_scene(), "{language}: {begun:?}");
        let finished = finish(&model, &params, &book, begun.carry.clone()).await.expect("finishes");
        assert_eq!((finished.scenes.len(), finished.scenes[0].dialogue.len()), (1, 2));
        let ended = extract(&model, &params, &book, &second, begun.carry).await.expect("extracts");
        assert_eq!(ended.scenes[0].dialogue.len(), 6, "{language}: {ended:?}");
        assert!(!ended.carry.holds_scene());
    }
}

fn line(speaker: &str, speech: &str) -> FoundLine {
    FoundLine { speaker: speaker.to_owned(), speech: Some(speech.to_owned()), ..FoundLine::default() }
}

fn drafts(language: Language, dialogue: Vec<FoundLine>) -> (BookIndex, Draft) {
    let (text, book) = book(language);
    let chunk = chunk(language, text, 0, 0, length(text));
    let passage_index = PassageIndex::new(&book, 0, chunk.end);
    let answer = FoundScenes { scenes: vec![FoundScene { dialogue, ..FoundScene::default() }] };
    let draft = scenes::drafts(answer, &Params::default(), &book, &chunk, &passage_index, None).remove(0);
    (book, draft)
}

#[test]
fn invented_lines_are_detected() {
    let true_en = ["Is anybody there?", "There is nobody here but me.", "Then you are the miller.", "Ask the mayor."];
    let true_zh = ["里头有人么？", "只有我一个。", "那你便是主人了。", "你去问知县。"];
    for (language, names, lines) in
        [(Language::En, ["Anna Reed", "boris"], true_en), (Language::Zh, ["陆巡检", "老七"], true_zh)]
    {
        let dialogue_of =
            |line_of: &dyn Fn(usize) -> String| (0..4).map(|at| line(names[at % 2], &line_of(at))).collect::<Vec<_>>();
        let (book, draft) = drafts(language, dialogue_of(&|at| lines[at].to_owned()));
        assert_eq!(draft.reject_reason(&Params::default(), &book), None);
        // Aliases are replaced by the book's main name for the character.
        assert_eq!(draft.characters, [book.person(0).name.clone(), book.person(1).name.clone()]);
        assert_eq!(draft.id(&book), SceneId::at("a-book", book.attribution.quotations[0].start));
        let invented = ["I have never been so happy in all my life.", "还请王爷高抬贵手饶过小人这一回。"];
        let (book, draft) = drafts(
            language,
            dialogue_of(&|at| {
                if at == 0 {
                    lines[0].to_owned()
                } else {
                    format!("{}{at}", invented[usize::from(language == Language::Zh)])
                }
            }),
        );
        let reject = draft.reject_reason(&Params::default(), &book).expect("ungrounded");
        assert_eq!(reject.reason, RejectReason::Ungrounded);
        assert!(reject.detail.starts_with("1 of 4"), "{}", reject.detail);
        assert_eq!(draft.dialogue[1].grounded, Some(Grounded::Absent));
    }
}

#[test]
fn every_rejected_draft_has_its_reason() {
    let reason = |dialogue| {
        let (book, draft) = drafts(Language::En, dialogue);
        draft.reject_reason(&Params::default(), &book).map(|reject| reject.reason)
    };
    let (first, second) = (line("Anna", "Is anybody there?"), line("Boris", "There is nobody here but me."));
    assert_eq!(reason(Vec::new()), Some(RejectReason::NoDialogue));
    assert_eq!(reason(vec![first.clone(), second]), Some(RejectReason::TooShort));
    let four =
        ["Is anybody there?", "I must see the miller before dark.", "Then you are the miller.", "Who took them?"];
    assert_eq!(reason(four.map(|speech| line("Anna", speech)).to_vec()), Some(RejectReason::OneSpeaker));
    // An utterance can be used only as many times as the book has it.
    assert_eq!(reason(vec![first.clone(); 4]), Some(RejectReason::TooShort));
    let wind = FoundLine {
        speaker: "Narrator".to_owned(),
        action: Some("(the wind rises)".to_owned()),
        ..FoundLine::default()
    };
    let (_, draft) = drafts(Language::En, vec![wind, first]);
    assert_eq!(draft.dialogue[0].speaker, "Environment");
    assert_eq!(draft.dialogue[0].content(), "(the wind rises)");
    assert_eq!(draft.characters, ["Anna"]);
}

#[test]
fn a_description_may_shorten_names_and_mention_other_people() {
    let resolved = |language, cast: &[&str], names: &[&str]| {
        let (book, mut draft) = drafts(language, Vec::new());
        draft.characters = cast.iter().map(|&name| name.to_owned()).collect();
        let ask = describe_scene(&book, 0, &draft, &Carry::default());
        let motivation =
            |name: &&str| crate::schema::Motivation { character: (*name).to_owned(), motivation: "m".to_owned() };
        let answer =
            SceneDescription { motivations: names.iter().map(motivation).collect(), ..SceneDescription::default() };
        let unknown_characters = scenes::unknown_characters(&ask, &answer, &book).join(" ");
        let scene = scenes::scene(draft, &ask, &answer, &book, "m");
        let found: Vec<String> = scene.motivations.into_iter().map(|motivation| motivation.character).collect();
        (found.join(" "), unknown_characters)
    };
    let pair = |found: &str, unknown_characters: &str| (found.to_owned(), unknown_characters.to_owned());
    let cast = ["Anna", "Captain Grey", "Old Tom", "Tom Reed"];
    let names = ["Anna Reed", "Grey", "Tom", "Captain Grey (retired)", "Boris", "Gre"];
    assert_eq!(resolved(Language::En, &cast, &names), pair("Anna Captain Grey", "Tom Boris Gre"));
    let cast = ["陆平", "林黛玉"];
    let names = ["陆巡检", "黛玉（颦儿）", "玉", "周老七"];
    assert_eq!(resolved(Language::Zh, &cast, &names), pair("陆平 林黛玉", "玉 周老七"));
}

#[test]
fn known_facts_are_not_repeated_in_the_notes() {
    use crate::llm::Ask as _;
    let prompts = crate::prompt::Prompts::new(crate::stages::prompts(), &BTreeMap::new())
        .expect("the templates are embedded and tested");
    for (language, name) in [(Language::En, "Anna"), (Language::Zh, "陆平")] {
        let (book, mut draft) = drafts(language, Vec::new());
        draft.characters = vec![name.to_owned()];
        let count = |carry: &Carry| {
            let ask = describe_scene(&book, 0, &draft, carry);
            let prompt = ask.messages(&prompts).expect("renders").remove(1).content;
            let lines =
                prompt.lines().filter(|line| line.contains("noted by rule") || line.contains("规则摘记")).count();
            (ask.cast[0].notes.clone(), lines)
        };
        let (notes, all) = count(&Carry::default());
        assert!(all > 1 && all == notes.len(), "{notes:?}");
        let known = Attribute {
            key: notes[0].key.clone(),
            value: notes[0].text.clone(),
            visibility: crate::schema::Visibility::Public,
        };
        let carry = Carry { profiles: BTreeMap::from([(name.to_owned(), vec![known])]), ..Carry::default() };
        assert_eq!(count(&carry), (notes, all - 1));
    }
}

#[tokio::test]
async fn prompts_match_their_snapshots() {
    for language in Language::ALL {
        let (_, records) = extract_all(language, &Params::default()).await;
        let rendered: Vec<String> = records
            .iter()
            .flat_map(|record| &record.request.messages)
            .map(|message| format!("[{}]\n{}", message.role.name(), message.content))
            .collect();
        insta::assert_snapshot!(format!("prompts_{language}"), rendered.join("\n\n"));
    }
}
