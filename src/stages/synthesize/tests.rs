//! Tests of the whole stage: offline characters, rendered templates and refinement.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::BoxFuture;

use super::refinement::Step;
use crate::llm::{
    Answered, Ask, Budget, Journal, JournalError, Memory, Offline, OfflineAnswer, OfflineOptions, Record, Session,
};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Attribute, Draw, Message, Visibility, public};
use crate::stages::synthesize::*;

fn draw(language: Language, step: WorldStep) -> impl Fn(WorldCall) -> Draw {
    move |call| Draw::World { language, world: "0".to_owned(), step, call }
}

fn prompts() -> Prompts {
    Prompts::new(PROMPTS.iter().copied(), &BTreeMap::new()).unwrap()
}

fn models(seed: u64, journal: &Arc<Memory>, variants: &[&str]) -> Vec<Arc<Model>> {
    let session = Arc::new(Session::new(seed, prompts(), journal.clone(), Budget::default(), false));
    let model = |variant: &&str| {
        let options = OfflineOptions { variant: (*variant).to_owned(), ..OfflineOptions::default() };
        Arc::new(Model::offline(*variant, options, session.clone()))
    };
    variants.iter().map(model).collect()
}

fn worlds(seed: u64, language: Language, worlds: u32, requested: u32, avoid: &[String]) -> Vec<Character> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let models = models(seed, &Arc::default(), &["plain", "other"]);
    let mut characters = Vec::new();
    for world in 0..worlds {
        let params = Params::default();
        let made = runtime
            .block_on(synthesize(&models, &params, seed, language, WorldNumber::planned(world), requested, avoid))
            .unwrap();
        assert_eq!(made.rejects, []);
        assert_eq!(made.characters.len(), requested as usize);
        assert!(
            made.characters.iter().all(|character| character.model.as_deref() == Some(models[world as usize % 2].id()))
        );
        characters.extend(made.characters);
    }
    characters
}

#[test]
fn offline_characters_are_complete_and_different() {
    for language in Language::ALL {
        for seed in 0..6 {
            let characters = worlds(seed, language, 12, 2, &[]);
            let (mut names, mut lines) = (BTreeSet::new(), BTreeMap::new());
            for character in &characters {
                assert!(names.insert(character.id.clone()), "{} comes twice", character.name);
                assert!(character.lines.len() >= 24, "{}: {} lines", character.name, character.lines.len());
                for line in &character.lines {
                    let other = lines.insert(line.clone(), character.name.clone());
                    assert_eq!(other, None, "{} says it too: {line}", character.name);
                }
                let (world, further) =
                    character.profile[14..].split_last().expect("the last attribute is the worldview");
                assert_eq!(further.len(), 1);
                let key = if language == Language::En { "worldview" } else { "世界观" };
                assert_eq!((world.key.as_str(), world.visibility), (key, Visibility::Private));
                assert_eq!(Some(&world.value), character.worldview.as_ref());
                assert_eq!(public(&character.profile).len(), 6 + public(further).len());
                let texts = character.profile.iter().map(|attribute| &attribute.value).chain(&character.lines);
                for text in texts.chain(&character.worldview) {
                    assert!(!text.contains(['{', '}']), "{text}");
                    assert!(crate::text::check_language(text, language).is_ok(), "{text}");
                    assert!(!text.starts_with(char::is_lowercase) || text.ends_with("male"), "{text}");
                    for wrong in [" a a", " the the ", " a e", " a i", " a o", "..", "。。", "？。", "  "] {
                        assert!(!text.contains(wrong), "`{wrong}` in {text}");
                    }
                }
                assert_eq!(resembles(character, &characters), None);
                // A copy under another name with two thirds of its attributes.
                let mut copy = Character {
                    name: if language == Language::En { "Q" } else { "丙" }.to_owned(),
                    ..character.clone()
                };
                copy.profile = copy.profile.chunks(3).flat_map(|three| three.iter().take(2)).cloned().collect();
                let found = resembles(character, &[copy]).expect("the copy resembles the character");
                assert!(matches!(found.kind, ResemblanceKind::Profile(_)), "{found:?}");
            }
        }
    }
}

#[test]
fn many_people_of_one_world_differ() {
    for language in Language::ALL {
        let characters = worlds(3, language, 2, 6, &[]);
        let mut lines = BTreeMap::new();
        for character in &characters {
            for line in &character.lines {
                let other = lines.insert(line, &character.name);
                assert_eq!(other, None, "{} says it too: {line}", character.name);
            }
        }
        assert!(characters.iter().all(|character| character.lines.len() >= 24));
    }
}

#[test]
fn a_smaller_count_is_a_prefix_of_a_larger_one() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let params = Params { characters_per_world: 3, ..Params::default() };
    for language in Language::ALL {
        let journal = Arc::default();
        let made = |requested| {
            let models = models(7, &journal, &["plain"]);
            let made = runtime
                .block_on(synthesize(&models, &params, 7, language, WorldNumber::planned(0), requested, &[]))
                .unwrap();
            (made.characters, models[0].session().usage_tracker.totals().made)
        };
        let ((one, asked), (all, further)) = (made(1), made(3));
        assert_eq!((one.len(), all.len()), (1, 3));
        assert_eq!(one[..], all[..1]);
        assert!(asked > 0 && further == 0, "the calls for the first character are reused");
    }
}

#[test]
fn a_run_is_a_function_of_its_seed_and_its_journal() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let journal = Arc::default();
    let run = |seed, journal: &Arc<Memory>, replay| {
        let session = Arc::new(Session::new(seed, prompts(), journal.clone(), Budget::default(), replay));
        let model = Arc::new(Model::offline("one", OfflineOptions::default(), session.clone()));
        let params = Params::default();
        let made = runtime
            .block_on(synthesize(&[model], &params, seed, Language::Zh, WorldNumber::planned(1), 2, &[]))
            .unwrap();
        (made, session.usage_tracker.totals())
    };
    let (first, totals) = run(7, &journal, false);
    assert_eq!((totals.made, totals.journal), (10, 0));
    let (again, totals) = run(7, &journal, true);
    assert_eq!((totals.made, totals.journal), (0, 10));
    assert_eq!(first, again);
    assert_ne!(run(8, &Arc::default(), false).0, first);
    let draws: BTreeSet<String> = journal.0.lock().unwrap().values().map(|record| record.draw.clone()).collect();
    let expected = ["zh/1/characters/0", "zh/1/characters/known", "zh/1/dialogue/0", "zh/1/scene/0", "zh/1/world/0"];
    assert_eq!(draws, expected.map(str::to_owned).into());
}

/// A journal with slow writes.
struct Slow(Memory);

impl Journal for Slow {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        self.0.find(key)
    }

    fn write(&self, record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move {
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            self.0.write(record).await
        })
    }
}

#[test]
fn a_started_call_is_kept_when_the_budget_stops_others() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for language in Language::ALL {
        for max in 1..8 {
            let budget = Budget { max_calls: Some(max), ..Budget::default() };
            let journal = Arc::new(Slow(Memory::default()));
            let session = Arc::new(Session::new(7, prompts(), journal.clone(), budget, false));
            let models = [Arc::new(Model::offline("plain", OfflineOptions::default(), session.clone()))];
            let params = Params { characters_per_world: 3, ..Params::default() };
            let made = runtime.block_on(synthesize(&models, &params, 7, language, WorldNumber::planned(0), 3, &[]));
            assert!(matches!(made, Err(AskError::Budget(_))), "{max}: {made:?}");
            let kept = journal.0.0.lock().unwrap().len();
            assert_eq!(
                (session.usage_tracker.totals().made, kept),
                (max, usize::try_from(max).unwrap()),
                "{language:?}"
            );
        }
    }
}

#[test]
fn names_to_avoid_are_avoided() {
    for language in Language::ALL {
        let used_names: Vec<String> =
            worlds(1, language, 1, 2, &[]).into_iter().map(|character| character.name).collect();
        let others = worlds(1, language, 1, 2, &used_names);
        assert!(others.iter().all(|character| used_names.iter().all(|name| !names::clash(name, &character.name))));
    }
}

#[test]
fn a_failed_world_is_a_reject_and_a_fatal_error_ends_the_run() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let budget = Budget { max_calls: Some(1), ..Budget::default() };
    let session = Arc::new(Session::new(1, prompts(), Arc::new(Memory::default()), budget, false));
    let models = [Arc::new(Model::offline("one", OfflineOptions::default(), session))];
    let run = |avoid: &[String]| {
        runtime.block_on(synthesize(&models, &Params::default(), 1, Language::En, WorldNumber::planned(0), 2, avoid))
    };
    assert!(matches!(run(&[]), Err(AskError::Budget(_))));

    // If every name is taken, the offline answer fails its own check.
    let tables = super::tables::Tables::of(Language::En);
    let all = |index| tables.given_names(index).into_iter().map(|(name, _)| name.to_lowercase());
    let avoid: Vec<String> = (0..tables.places.len())
        .flat_map(all)
        .flat_map(|name| name.split('-').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let plain = self::models(1, &Arc::default(), &["plain"]);
    let made = runtime
        .block_on(synthesize(&plain, &Params::default(), 1, Language::En, WorldNumber::planned(0), 2, &avoid))
        .unwrap();
    assert_eq!(made.characters, []);
    assert_eq!((made.rejects.len(), made.dropped), (1, 2));
    let reject = &made.rejects[0];
    assert_eq!((reject.stage.name(), reject.id.as_str(), reject.reason.name()), ("synthesize", "en/0", "bad_reply"));
}

fn sheets(language: Language) -> (MakeCharacters, Sheets) {
    let world = made(&MakeWorld { language, sparks: Sparks::draw(5, language, WorldNumber::planned(0)), draft: None });
    let avoid = vec!["Jim Hawkins".to_owned(), "贾宝玉".to_owned()];
    let ask = MakeCharacters { language, world, count: 2, voices: Vec::new(), avoid, draft: None };
    let sheets = made(&ask);
    (ask, sheets)
}

fn made<A: OfflineAnswer>(ask: &A) -> A::Answer {
    let options = OfflineOptions::default();
    let answer = ask.answer_offline(&mut Offline { options: &options, rng: crate::seed::seeded(5, &["test"]) });
    ask.check(&answer).unwrap();
    answer
}

#[test]
fn faults_of_answers_are_reported() {
    for (language, other, used_names) in
        [(Language::En, "一个人。", "jim hawkins"), (Language::Zh, "Somebody.", "宝玉")]
    {
        let (ask, sheets) = sheets(language);
        let check = |change: fn(&mut Sheet, &str), value: &str| {
            let mut changed = sheets.clone();
            change(&mut changed.characters[1], value);
            ask.check(&changed).unwrap_err()
        };
        assert!(check(|sheet, name| sheet.name = name.to_owned(), used_names).contains("must not be used"));
        let first = sheets.characters[0].name.clone();
        assert!(check(|sheet, name| sheet.name = name.to_owned(), &first).contains("give each its own"));
        assert!(check(|sheet, _| sheet.fear.clear(), "").contains("`fear`"));
        let foreign = check(
            |sheet, value| {
                for part in [&mut sheet.persona, &mut sheet.memory] {
                    *part = value.repeat(200);
                }
            },
            other,
        );
        assert!(foreign.contains("must be in"), "{foreign}");

        let ask = MakeScene { language, world: ask.world, characters: sheets.characters, draft: None };
        let scene = made(&ask);
        let short = Meeting { wants: vec![scene.wants[0].clone()], ..scene.clone() };
        assert!(ask.check(&short).unwrap_err().contains("in the order given"));

        let ask = MakeDialogue::new(language, ask.world, ask.characters, scene);
        let dialogue = made(&ask);
        let mut unknown_speaker = dialogue.clone();
        unknown_speaker.dialogue[3].speaker = "X".to_owned();
        assert!(ask.check(&unknown_speaker).unwrap_err().contains("none of the characters"));
        let mut silent = dialogue.clone();
        silent.dialogue.retain(|line| line.speaker == ask.characters[0].name);
        assert!(ask.check(&silent).unwrap_err().contains("0 different lines"));
    }
}

#[test]
fn schemas_are_narrowed_to_valid_values() {
    let (ask, sheets) = sheets(Language::En);
    let crate::llm::Shape::Json(schema) = ask.shape() else { panic!("JSON") };
    assert_eq!(schema["properties"]["characters"]["minItems"], 2);
    assert_eq!(schema["properties"]["characters"]["maxItems"], 2);
    let names: Vec<String> = sheets.characters.iter().map(|sheet| sheet.name.clone()).collect();
    let scene = MakeScene {
        language: Language::En,
        world: ask.world.clone(),
        characters: sheets.characters.clone(),
        draft: None,
    };
    let ask = MakeDialogue::new(Language::En, ask.world, sheets.characters, made(&scene));
    let crate::llm::Shape::Json(schema) = ask.shape() else { panic!("JSON") };
    assert_eq!(schema["properties"]["dialogue"]["items"]["properties"]["speaker"]["enum"], serde_json::json!(names));
    assert_eq!(schema["properties"]["dialogue"]["minItems"], 20);
}

#[test]
fn visibility_follows_the_paper() {
    let mut sheet = sheets(Language::Zh).1.characters[0].clone();
    sheet.further.clear();
    let profile = sheet.profile(Language::Zh);
    let keys = |visibility| -> Vec<String> {
        let visible = profile.iter().filter(|attribute| attribute.visibility == visibility);
        visible.map(|attribute| attribute.key.clone()).collect()
    };
    assert_eq!(keys(Visibility::Public), ["性别", "年龄", "外貌", "身份", "性格", "公开经历"]);
    let private = ["人际关系", "爱好", "说话方式", "隐秘经历", "成长经历", "难忘之事", "惧怕", "心愿"];
    assert_eq!(keys(Visibility::Private), private);
}

#[test]
fn a_sheet_has_custom_keys_with_visibility() {
    for (language, [debt, scar, fixed, foreign]) in
        [(Language::En, ["Debt ", "scar", "Memory", "性别"]), (Language::Zh, ["旧债 ", "疤", "难忘之事", "gender"])]
    {
        let (ask, sheets) = sheets(language);
        let attribute = |key: &str, visibility| Attribute {
            key: key.to_owned(),
            value: sheets.characters[0].memory.clone(),
            visibility,
        };
        let with = |further: &[Attribute]| {
            let mut changed = sheets.clone();
            changed.characters[0].further = further.to_vec();
            changed
        };
        let own = [attribute(debt, Visibility::Private), attribute(scar, Visibility::Public)];
        let good = with(&own);
        ask.check(&good).unwrap();
        let profile = good.characters[0].profile(language);
        let further: Vec<_> = profile[14..].iter().map(|own| (own.key.as_str(), own.visibility)).collect();
        assert_eq!(further, [(debt.trim(), Visibility::Private), (scar, Visibility::Public)]);
        assert!(public(&profile).iter().all(|visible| visible.key != debt.trim()));
        assert!(public(&profile).iter().any(|visible| visible.key == scar));
        assert!(good.characters[0].text(language).contains(debt.trim()), "the reviewer sees further attributes");
        // Duplicate keys are rejected; a key in the other language is allowed.
        let bad = [own[0].clone(), own[0].clone()];
        assert!(ask.check(&with(&bad)).unwrap_err().contains("stands twice"));
        assert!(ask.check(&with(&[attribute(fixed, Visibility::Public)])).unwrap_err().contains("stands twice"));
        let world = crate::schema::worldview_key(language);
        assert!(ask.check(&with(&[attribute(world, Visibility::Public)])).unwrap_err().contains("stands twice"));
        ask.check(&with(&[attribute(foreign, Visibility::Public)])).unwrap();
        assert!(ask.check(&with(&[attribute("—", Visibility::Public)])).unwrap_err().contains("no name"));
        let many: Vec<_> = (0..5).map(|n| attribute(&format!("{scar}{n}"), Visibility::Public)).collect();
        assert!(ask.check(&with(&many)).unwrap_err().contains("more than 4"));
    }
}

#[test]
fn additional_worlds_differ() {
    for language in Language::ALL {
        for world in 0..3 {
            let all: Vec<WorldNumber> =
                (0..=MAX_FURTHER_WORLDS).map(|further| WorldNumber { world, further }).collect();
            let places: BTreeSet<String> = all.iter().map(|nth| Sparks::draw(7, language, *nth).place).collect();
            assert_eq!(places.len(), all.len());
            let planned: BTreeSet<String> =
                (0..3).map(|world| Sparks::draw(7, language, WorldNumber::planned(world)).place).collect();
            let further = |nth: &&WorldNumber| nth.further > 0;
            assert!(all.iter().filter(further).all(|nth| !planned.contains(&Sparks::draw(7, language, *nth).place)));
        }
    }
    assert_eq!(
        (WorldNumber::planned(4).to_string(), WorldNumber { world: 4, further: 2 }.to_string()),
        ("4".into(), "4+2".into())
    );
}

/// Renders the request of an ask as `role: content` parts.
fn rendered<A: Ask>(ask: &A) -> String {
    let message = |message: Message| format!("[{}]\n{}\n", message.role.name(), message.content);
    ask.messages(&prompts()).unwrap().into_iter().map(message).collect()
}

#[test]
fn a_world_is_requested_again_with_its_faults() {
    let draft = Some(Draft { text: "旧稿".to_owned(), faults: vec!["太短".to_owned()] });
    let ask =
        MakeWorld { language: Language::Zh, sparks: Sparks::draw(1, Language::Zh, WorldNumber::planned(0)), draft };
    insta::assert_snapshot!(rendered(&ask), @r"
[system]
你为角色扮演构想世界。好的世界里，人们会为要紧的事争执，而且没有一处是别处读到过的。

对世界的要求：
- 原创：不用历史上、现实中或任何书籍、影视、游戏里的地方、人物和事件。
- 具体：读者画得出那个地方，说得出那里吃什么、谁倒垃圾。
- 地方、社会、规矩、矛盾彼此相关，一样出自另一样，或牵动另一样。
- 只有一条规矩不同寻常，人人遵守，并且带来谁也没料到的后果。
- 矛盾正在眼前，两边都站得住脚，而且很快就得有个结果。
- 全部用中文，每一项两到四句，不列条目，不加标题。

按这个次序来：先提出三到六个主题，说明各自能给故事带来什么；再加以权衡，说明为什么选中其中一个；然后在它上面建起世界。
[user]
以下是抽签抽出的零碎。从一两样入手，改造它们，其余可以不用：
- 主题：修补到一块旧料不剩的东西
- 主题：记忆归谁所有
- 主题：用钱还不清的债
- 地方：一座开在温热火山口边上的琉璃镇
- 习俗，名叫“焚账夜”
- 争端：丢了的官印

你先前写的是：

旧稿

评阅指出下列毛病。逐条改正，好的地方保留：
- 太短

请把这个世界重新完整写出。
");
}

#[test]
fn every_prompt_contains_the_inputs_of_its_step() {
    let holds = |text: &str, parts: &[&str]| {
        for part in parts {
            assert!(text.contains(part), "`{part}` is not in {text}");
        }
        assert!(!text.contains("{{") && !text.contains("{%") && !text.contains("\n\n\n\n"), "{text}");
    };
    for language in Language::ALL {
        let (mut ask, sheets) = sheets(language);
        ask.voices = vec!["merry".to_owned()];
        let rules = prompts().render("synthesize/characters", language, "rules", &()).unwrap();
        let world = ask.world.clone();
        holds(&rendered(&ask), &[&rules, &world.place, &world.rule, "Jim Hawkins", "merry"]);
        let input = ask.input(&prompts()).unwrap();
        let review = Review { language, step: MakeCharacters::NAME, input, output: ask.text(&sheets) };
        holds(&rendered(&review), &[&rules, &world.tension, &sheets.characters[1].memory, "`refine`"]);
        assert!(
            !rendered(&review).contains("Jim Hawkins"),
            "the review contains only what the answer has to be consistent with"
        );
        let scene = MakeScene { language, world: world.clone(), characters: sheets.characters.clone(), draft: None };
        holds(&rendered(&scene), &[&world.tension, &sheets.characters[0].want, &sheets.characters[1].name]);
        let meeting = made(&scene);
        let draft = Some(Draft { text: "xyz".to_owned(), faults: vec!["uvw".to_owned()] });
        let dialogue = MakeDialogue { draft, ..MakeDialogue::new(language, world, sheets.characters, meeting.clone()) };
        holds(&rendered(&dialogue), &[&meeting.situation, &meeting.wants[1], "xyz", "- uvw", "10"]);
    }
}

#[test]
fn people_of_different_worlds_have_different_temperaments() {
    for language in Language::ALL {
        let voices: Vec<String> =
            (0..4).flat_map(|world| characters::voices(9, language, WorldNumber::planned(world), 2)).collect();
        assert_eq!(voices.iter().collect::<BTreeSet<_>>().len(), 8, "{voices:?}");
        let (mut ask, _) = sheets(language);
        ask.voices = voices[2..4].to_vec();
        for (sheet, voice) in made(&ask).characters.iter().zip(&ask.voices) {
            assert!(sheet.persona.starts_with(voice), "{voice}: {}", sheet.persona);
        }
    }
}

/// An ask for a world whose answers are bad until a draft has faults. Uses the template of [`MakeWorld`].
#[derive(Clone, serde::Serialize)]
struct Careless {
    complaints: usize,
    deaf: bool,
}

impl Ask for Careless {
    const NAME: &'static str = "synthesize/world";
    type Answer = String;

    fn messages(&self, _: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![Message::user(self.complaints.to_string())])
    }

    fn shape(&self) -> crate::llm::Shape {
        crate::llm::Shape::Text
    }
}

impl OfflineAnswer for Careless {
    fn answer_offline(&self, _: &mut Offline<'_>) -> String {
        if self.complaints == 0 || self.deaf {
            format!("bad {}", self.complaints)
        } else {
            "A world with places, people, a rule and a quarrel that all of them share.".to_owned()
        }
    }
}

impl Step for Careless {
    fn language(&self) -> Language {
        Language::En
    }

    fn text(&self, answer: &String) -> String {
        answer.clone()
    }

    fn input(&self, _: &Prompts) -> Result<String, PromptError> {
        Ok(String::new())
    }

    fn again(&self, draft: Draft) -> Self {
        assert!(draft.faults[0].contains("too short"), "{draft:?}");
        Self { complaints: self.complaints + 1, deaf: self.deaf }
    }
}

#[test]
fn a_step_is_refined_until_it_is_good_or_the_limit_is_reached() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (deaf, max, begins, calls) in [(false, 2, "A world", 4), (true, 2, "bad 2", 5), (false, 0, "bad 0", 1)] {
        let journal = Arc::default();
        let model = &models(1, &journal, &["plain"])[0];
        let step = Careless { complaints: 0, deaf };
        let answer = runtime.block_on(refined(model, step, draw(Language::En, WorldStep::World), max)).unwrap().answer;
        assert!(answer.starts_with(begins), "{answer}");
        assert_eq!(journal.0.lock().unwrap().len(), calls);
    }
}

/// A step that borrows the name of a known figure until a draft has faults, or always.
#[derive(serde::Serialize)]
struct Borrower {
    stubborn: bool,
    draft: Option<Draft>,
}

impl Ask for Borrower {
    const NAME: &'static str = MakeCharacters::NAME;
    type Answer = Sheets;

    fn messages(&self, _: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![Message::user(self.draft.is_some().to_string())])
    }
}

impl OfflineAnswer for Borrower {
    fn answer_offline(&self, _: &mut Offline<'_>) -> Sheets {
        let (_, mut sheets) = sheets(Language::Zh);
        if self.stubborn || self.draft.is_none() {
            sheets.characters[0].name = "林黛玉".to_owned();
        }
        sheets
    }
}

impl Step for Borrower {
    fn language(&self) -> Language {
        Language::Zh
    }

    fn text(&self, answer: &Sheets) -> String {
        answer.characters.iter().map(|sheet| sheet.text(Language::Zh)).collect()
    }

    fn input(&self, _: &Prompts) -> Result<String, PromptError> {
        Ok(String::new())
    }

    fn people(answer: &Sheets) -> &[Sheet] {
        &answer.characters
    }

    fn again(&self, draft: Draft) -> Self {
        assert_eq!(draft.faults, ["林黛玉会被当成林黛玉：名字"]);
        Self { draft: Some(draft), ..*self }
    }
}

#[test]
fn a_character_that_resembles_a_known_figure_is_replaced() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (stubborn, expected) in [(false, false), (true, true)] {
        let journal = Arc::default();
        let model = &models(1, &journal, &["plain"])[0];
        let step = Borrower { stubborn, draft: None };
        let made = runtime.block_on(refined(model, step, draw(Language::Zh, WorldStep::Characters), 2)).unwrap();
        let Sheets { characters } = made.answer;
        assert_eq!((characters[0].name == "林黛玉", !made.is_good), (expected, expected));
        let asked = journal.0.lock().unwrap().values().filter(|record| record.ask == FindKnownFigures::NAME).count();
        let known_figure = draw(Language::Zh, WorldStep::Characters)(WorldCall::KnownFigure);
        let whose = runtime.block_on(known::borrowed(model, &characters[0], Language::Zh, known_figure)).unwrap();
        assert_eq!(whose.is_some(), expected, "a character that stays borrowed is dropped");
        assert_eq!(
            journal.0.lock().unwrap().values().filter(|record| record.ask == FindKnownFigures::NAME).count(),
            asked
        );
    }
}
