//! Tests of the whole stage: one role processed offline, the rendered templates, and the figures of the paper.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::role::tests::{act, character};
use crate::llm::{Budget, Memory, Model, OfflineOptions, Session};
use crate::prompt::Prompts;
use crate::schema::{
    Attribute, ByLanguage, Character, Confidence, Instruction, Language, PromptStyle, TripletKind, Visibility,
};
use crate::stages::instruct::*;
use crate::text::letters_and_digits;

fn model(journal: &Arc<Memory>) -> Arc<Model> {
    let prompts = Prompts::new(PROMPTS.iter().copied(), &BTreeMap::new()).unwrap();
    let session = Arc::new(Session::new(7, prompts, journal.clone(), Budget::default(), false));
    Arc::new(Model::offline("plain", OfflineOptions::default(), session))
}

/// A role with a dialogue, a profile and a catchphrase.
fn spoken(language: Language, params: &Params) -> Role {
    let (name, lines): (_, &[&str]) = match language {
        Language::En => (
            "Mara Tull",
            &[
                "-: Rain had come in under the mill door.",
                "Tobin: Who let the water out of the upper pond?",
                "Mara Tull: Mark my words, the upper pond lets itself out. I found the gate open at noon.",
                "Tobin: The miller says that you took the key.",
                "Mara Tull: The key hangs where it has always hung. Ask him who oils the lock.",
                "Tobin: There is a boat missing too, and two barrels.",
                "Mara Tull: Mark my words, the boat is at the weir with the barrels in it.",
                "Tobin: Would you swear to that before the magistrate?",
                "Mara Tull: I would swear it before the magistrate and his wife.",
                "Tobin: Then come along to the weir.",
                "Mara Tull: Mark my words, we shall both get wet.",
            ],
        ),
        Language::Zh => (
            "阿满",
            &[
                "-: 雨水从磨坊门下漫进来。",
                "老周: 上头那口塘的水是谁放的？",
                "阿满: 水不骗人，是塘自己放的。晌午我就见闸门开着。",
                "老周: 磨坊主说钥匙在你手里。",
                "阿满: 钥匙一直挂在老地方。你去问他，锁是谁上的油。",
                "老周: 还少了一条船，两只油桶。",
                "阿满: 水不骗人，船在堰口，油桶就在船上。",
                "老周: 这话你敢当着里正的面说么？",
                "阿满: 当着里正，当着里正娘子，我都敢说。",
                "老周: 那就跟我到堰口去。",
                "阿满: 水不骗人，去了咱俩都得湿一身。",
            ],
        ),
    };
    let (key, value) = match language {
        Language::En => ("persona", "Keeps the weir. She counts the boats and trusts nobody who whispers."),
        Language::Zh => ("性格", "看堰的人。她数着来往的船，不信压低嗓子说话的人。"),
    };
    let profile = vec![Attribute { key: key.to_owned(), value: value.to_owned(), visibility: Visibility::Public }];
    Role::new(params, &Character { profile, ..character(name, language) }, &[act(lines)], "a-book", false)
}

fn small() -> Params {
    Params {
        min_segment: ByLanguage { en: 40, zh: 60 },
        agnostic_calls: 2,
        candidates: 10,
        min_keyness: 4.0,
        ..Params::default()
    }
}

fn worked(params: &Params, language: Language, journal: &Arc<Memory>) -> RoleOutput {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let model = model(journal);
    let context = RoleContext { instructor: model.clone(), role_player: model, params: params.clone(), seed: 7 };
    let role = spoken(language, params);
    let instruction = match language {
        Language::En => ("Why does salt melt ice?", "It lowers the freezing point."),
        Language::Zh => ("盐为什么能化冰？", "盐降低了冰点。"),
    };
    let instructions = [Instruction {
        id: "1".to_owned(),
        instruction: instruction.0.to_owned(),
        input: None,
        answer: instruction.1.to_owned(),
        language: None,
    }];
    let (general, _) = select_instructions(params, &instructions, 7, std::num::NonZeroUsize::MIN);
    runtime.block_on(process_role(&context, &role, None, &general, &|| ())).unwrap().unwrap()
}

fn asked(journal: &Memory, ask: &str) -> usize {
    journal.0.lock().unwrap().values().filter(|record| record.ask == ask).count()
}

#[test]
fn the_figures_are_the_papers() {
    let Params {
        min_segment, min_segment_turns, max_turn_words, max_segments, max_segment_words, script_based, ..
    } = Params::default();
    assert_eq!((min_segment.en, min_segment.zh, min_segment_turns), (500, 1_000, 4));
    assert_eq!(
        (max_turn_words.en, max_turn_words.zh, max_segments, max_segment_words.en, script_based),
        (500, 500, 100, 2_000, 3)
    );
    let Params { script_agnostic, agnostic_calls, candidates, max_test, min_turns, max_instruction, .. } =
        Params::default();
    assert_eq!((script_agnostic, agnostic_calls, candidates, max_test), (10, 20, 400, 50));
    assert_eq!((min_turns, max_instruction.en), (25, 100));
    let Params { test_every_instruction, test_every_role, held_out_general, few_shot, replies, prompt_style, .. } =
        Params::default();
    assert_eq!((test_every_instruction, test_every_role, held_out_general), (5, 9, 500));
    assert_eq!((few_shot, replies, prompt_style), (5, 6, PromptStyle::FewShotDialogue));
    let Params { max_instructions, min_distinctness, dedup_keep_ratio, .. } = Params::default();
    assert_eq!((max_instructions.en, max_instructions.zh), (1_500, 1_479));
    assert_eq!(min_distinctness, crate::schema::Distinctness::Very, "the two best of four grades (Appendix D, 1)");
    assert!((dedup_keep_ratio - 0.34).abs() < 1e-9);
}

#[test]
fn offline_role_data_is_made_in_both_languages() {
    for language in Language::ALL {
        let made = worked(&small(), language, &Arc::default());
        assert_eq!(made.rejects, [], "{language}");
        let profile = &made.profile;
        assert!(
            !letters_and_digits(&profile.portrait).contains(&letters_and_digits(&profile.role)),
            "{}",
            profile.portrait
        );
        let (third, second) = if language == Language::En { ("The character", "You") } else { ("这个人物", "你") };
        let description = &profile.description;
        assert!(description.contains(second) && !description.contains(third), "{description}");
        let habit = if language == Language::En { "Mark my words" } else { "水不骗人" };
        assert_eq!(profile.catchphrases, [habit]);
        assert!(made.candidates.len() >= 6, "{:?}", made.candidates);
        let dialogue_text: String = profile.dialogue.iter().map(|turn| letters_and_digits(&turn.content)).collect();
        for row in &made.candidates {
            assert!(row.question.starts_with(&row.role), "the question addresses the role: {}", row.question);
            if row.kind == TripletKind::ScriptBased {
                assert!(
                    dialogue_text.contains(&letters_and_digits(&row.generated[0])),
                    "the answer is a real line: {}",
                    row.generated[0]
                );
            }
        }
        assert!(made.candidates.iter().any(|row| row.confidence == Confidence::High));
        let [row] = made.general.as_slice() else { panic!("one instruction: {:?}", made.general) };
        assert!(row.baseline.is_some() && row.generated.len() == 5);
        // Every reply contains the answer and a real sentence of the role, and replies differ.
        for reply in &row.generated {
            assert!(letters_and_digits(reply).contains(&letters_and_digits(&row.answer)), "{reply}");
            assert!(
                reply.split_inclusive(['.', '。']).any(|part| dialogue_text.contains(&letters_and_digits(part))),
                "{reply}"
            );
        }
        let different: std::collections::BTreeSet<&String> = row.generated.iter().collect();
        assert!(different.len() > 1, "{different:?}");
    }
}

#[test]
fn appendix_c_3_of_a_segment_and_10_of_a_call_until_there_are_enough() {
    let journal = Arc::default();
    let made = worked(&small(), Language::En, &journal);
    let of = |kind| made.candidates.iter().filter(|row| row.kind == kind).count();
    assert_eq!(asked(&journal, "instruct/script_based"), 2);
    assert!(of(TripletKind::ScriptBased) <= 6);
    let calls = asked(&journal, "instruct/script_agnostic");
    assert!(calls >= 2 && of(TripletKind::ScriptAgnostic) <= 10 * calls);
    // Missing triplets are asked for again, up to the maximum number of calls.
    let more = Params { candidates: 1_000, max_agnostic_calls: 7, ..small() };
    let journal = Arc::default();
    worked(&more, Language::En, &journal);
    assert_eq!(asked(&journal, "instruct/script_agnostic"), 7);
    let none = Params { candidates: 0, agnostic_calls: 0, ..small() };
    let journal = Arc::default();
    worked(&none, Language::En, &journal);
    assert_eq!(asked(&journal, "instruct/script_agnostic"), 0);
}

#[test]
fn appendix_d_2_described_without_the_name_then_addressed() {
    for language in Language::ALL {
        let journal: Arc<Memory> = Arc::default();
        let made = worked(&small(), language, &journal);
        let records = journal.0.lock().unwrap();
        let prompt = |ask: &str| {
            let record = records.values().find(|record| record.ask == ask).expect("the call was journaled");
            record.request.messages.iter().map(|message| message.content.as_str()).collect::<String>()
        };
        let portrait = &made.profile.portrait;
        assert!(prompt("instruct/address").contains(portrait) && !portrait.contains(&made.profile.role), "{portrait}");
        assert!(prompt("instruct/general").contains(&made.profile.description), "{language}");
        assert!(prompt("instruct/script_based").contains(&made.profile.description), "{language}");
    }
}

#[test]
fn a_second_run_makes_no_calls_and_all_draws_differ() {
    let journal: Arc<Memory> = Arc::default();
    let made = worked(&small(), Language::Zh, &journal);
    let count = journal.0.lock().unwrap().len();
    let again = worked(&small(), Language::Zh, &journal);
    assert_eq!((made.candidates, made.general), (again.candidates, again.general));
    assert_eq!(journal.0.lock().unwrap().len(), count);
    assert_eq!(asked(&journal, "instruct/general"), 6, "six draws of one question are six calls");
}

#[test]
fn section_3_2_role_gpt_has_three_forms() {
    for (prompt_style, messages) in
        [(PromptStyle::ZeroShot, 2), (PromptStyle::FewShotPrompt, 2), (PromptStyle::FewShotDialogue, 12)]
    {
        let journal: Arc<Memory> = Arc::default();
        worked(&Params { prompt_style, ..small() }, Language::En, &journal);
        let records = journal.0.lock().unwrap();
        let record = records.values().find(|record| record.ask == "instruct/general").expect("the call was journaled");
        assert_eq!(record.request.messages.len(), messages, "{prompt_style:?}");
        let last = record.request.messages.last().expect("a request has messages");
        assert!(last.content.ends_with("Why does salt melt ice?"));
        assert_eq!(
            last.content.contains("Who let the water out"),
            prompt_style == PromptStyle::FewShotPrompt,
            "{}",
            last.content
        );
    }
}

#[test]
fn appendix_k_the_prompt_says_that_excerpts_may_not_be_continuous() {
    for (language, says) in
        [(Language::En, "may be hours or chapters apart"), (Language::Zh, "可能隔着几个时辰，甚至几章")]
    {
        let journal: Arc<Memory> = Arc::default();
        worked(&small(), language, &journal);
        let records = journal.0.lock().unwrap();
        let mut prompts = records
            .values()
            .filter(|record| record.ask == "instruct/script_based")
            .map(|record| record.request.messages.iter().map(|message| message.content.as_str()).collect::<String>())
            .peekable();
        assert!(prompts.peek().is_some(), "{language}: segments are asked about");
        assert!(prompts.all(|prompt| prompt.contains(says)), "{language}");
    }
}

/// Each template as sent to a model.
#[test]
fn templates_render() {
    for language in Language::ALL {
        let journal: Arc<Memory> = Arc::default();
        let params = Params {
            min_segment: ByLanguage { en: 90, zh: 130 },
            agnostic_calls: 1,
            candidates: 1,
            replies: 1,
            ..small()
        };
        worked(&params, language, &journal);
        let model = model(&journal);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(grade_speech(&model, &spoken(language, &params))).unwrap().unwrap();
        let records = journal.0.lock().unwrap();
        let mut rendered: Vec<String> = records
            .values()
            .map(|record| {
                let messages = record.request.messages.iter();
                let parts = messages.map(|message| format!("[{}]\n{}", message.role.name(), message.content));
                format!("# {}\n{}", record.ask, parts.collect::<Vec<_>>().join("\n"))
            })
            .collect();
        rendered.sort();
        insta::assert_snapshot!(format!("prompts_{language}"), rendered.join("\n\n"));
    }
}
