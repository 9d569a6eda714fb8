//! Test records in both languages, with empty lists and nulls.

use polars::frame::DataFrame;

use super::card::{BookMetadata, CardMetadata, CastMetadata};
use super::groups::{TableRow, table};
use super::quote_limits::QuoteLimits;
use super::report::AskCost;
use super::tally::Table;
use super::{ExportError, Params};
use crate::schema::{
    Attribute, ByLanguage, Candidate, CastMember, Character, CharacterType, Conversation, Dimension, EndedBy,
    FormatFault, Grounded, Language, Line, Message, Motivation, Quality, Reject, RejectReason, Sample, Scene,
    SceneCharacter, Stage, Turn, TurnFault, TurnKind, Utterance, Verdict, Visibility,
};

fn attribute(key: &str, value: &str, visibility: Visibility) -> Attribute {
    Attribute { key: key.into(), value: value.into(), visibility }
}

pub(super) fn sample(id: &str, language: Language) -> Sample {
    let zh = language == Language::Zh;
    let pick = |en: &str, of_zh: &str| if zh { of_zh.to_owned() } else { en.to_owned() };
    let speaker = pick("Hale", "沈三娘");
    Sample {
        id: id.into(),
        language,
        dimension: pick("CR", "PA"),
        target: zh.then(|| "FR".to_owned()),
        test_character: pick("Ada Crane", "陆怀舟"),
        character_id: pick("ada-crane", "陆怀舟").into(),
        character_type: if zh { CharacterType::Synthesized } else { CharacterType::Established },
        profile: vec![
            attribute(&pick("persona", "性格"), &pick("Dry, quick.", "沉稳，话少。"), Visibility::Public),
            attribute(&pick("secret", "隐情"), &pick("Owes money.", "欠着一条人命。"), Visibility::Private),
        ],
        book: pick("harbour", "渡口"),
        scene_id: pick("harbour@120", "渡口@88").into(),
        worldview: pick("A port in winter.", "江南水乡，旧时渡口。"),
        situation: pick("The ferry is late.", "夜雨，船未到。"),
        // The cast of the English row has one member with an empty profile; that of the Chinese row is empty.
        scene_characters: if zh { vec![] } else { vec![CastMember { name: speaker.clone(), profile: vec![] }] },
        history: vec![
            Line {
                speaker: speaker.clone(), content: pick("You are late.", "（撑伞）你来迟了。"), is_test: false
            },
            Line { speaker: pick("Ada Crane", "陆怀舟"), content: pick("Am I?", "雨大。"), is_test: true },
        ],
        messages: vec![
            Message::system(pick("You are Ada Crane.", "你是陆怀舟。")),
            Message::user(pick("Hale: You are late.", "沈三娘：你来迟了。")),
        ],
        strategy: pick("Use the context.", "顾及对方的喜好。"),
        criteria: pick("Does it use the context?", "是否合乎对方心意？"),
        reference: pick("(shrugs) The tide was late.", "（收伞）路上遇见故人。"),
        baseline: pick("Sorry.", "抱歉。"),
        score: if zh { 2 } else { 1 },
        rationale: pick("It uses the tide.", "答得有来处。"),
        source_model: "writer".into(),
        base_model: "strong".into(),
        judge_model: "strong".into(),
        conversation_id: id.split('#').next().unwrap().into(),
        turn: if zh { 5 } else { 2 },
        verdicts: if zh { vec![verdict()] } else { vec![] },
        edit_reason: zh.then(|| "原句有错字".to_owned()),
    }
}

fn verdict() -> Verdict {
    Verdict {
        judge: "second".into(),
        dimension: "PA".into(),
        score: 3,
        rationale: "不分高下。".into(),
        score_source_first: Some(2),
        score_base_first: None,
    }
}

fn turn(index: u32, kind: TurnKind) -> Turn {
    let test = kind == TurnKind::Test;
    let of_test = |text: &str| test.then(|| text.to_owned());
    Turn {
        index,
        speaker: if test { "陆怀舟" } else { "沈三娘" }.into(),
        kind,
        content: if test { "（收伞）路上遇见故人。" } else { "你来迟了。" }.into(),
        target: None,
        dimension: of_test("PA"),
        score: test.then_some(2),
        rationale: of_test("答得有来处。"),
        source_reply: of_test("（收伞）路上遇见故人。"),
        base_reply: of_test("抱歉。"),
        kept_reply: test.then_some(Candidate::Source),
        faults: if test { vec![TurnFault::Repaired(FormatFault::OwnName)] } else { vec![] },
        score_source_first: test.then_some(2),
        score_base_first: None,
        verdicts: if test { vec![verdict()] } else { vec![] },
    }
}

fn scene(id: &str, language: Language) -> Scene {
    let zh = language == Language::Zh;
    let pick = |en: &str, of_zh: &str| if zh { of_zh.to_owned() } else { en.to_owned() };
    let spoken = Utterance {
        speaker: pick("Hale", "沈三娘"),
        thought: None,
        action: Some(pick("folds the map", "撑伞")),
        speech: Some(pick("You are late.", "你来迟了。")),
        start: Some(130),
        end: Some(143),
        grounded: Some(Grounded::Near),
        similarity: Some(2.0 / 3.0),
    };
    let silent = Utterance {
        speaker: Utterance::ENVIRONMENT.into(),
        thought: None,
        action: Some(pick("A bell rings.", "远处钟响。")),
        speech: None,
        start: None,
        end: None,
        grounded: None,
        similarity: None,
    };
    Scene {
        id: id.into(),
        book: pick("harbour", "渡口"),
        language,
        chapter: if zh { "第一回　夜渡".into() } else { String::new() },
        start: Some(120),
        end: Some(480),
        summary: pick("They wait.", "二人候船。"),
        salience: (!zh).then_some(64),
        worldview: pick("A port in winter.", "江南水乡，旧时渡口。"),
        situation: pick("The ferry is late.", "夜雨，船未到。"),
        motivations: if zh {
            vec![]
        } else {
            vec![Motivation { character: "Hale".into(), motivation: "Wants to leave.".into() }]
        },
        characters: vec![
            SceneCharacter {
                name: pick("Hale", "沈三娘"),
                aliases: if zh { vec!["三娘".into()] } else { vec![] },
                profile: vec![attribute(&pick("trade", "营生"), &pick("Pilot.", "摆渡。"), Visibility::Public)],
            },
            SceneCharacter { name: pick("The clerk", "老仆"), aliases: vec![], profile: vec![] },
        ],
        dialogue: vec![spoken, silent],
        grounding: Some(1.0),
        model: Some("offline:plain".into()),
    }
}

/// All records of a run, in any order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Records {
    pub(crate) samples: Vec<Sample>,
    pub(super) conversations: Vec<Conversation>,
    pub(crate) scenes: Vec<Scene>,
    pub(crate) characters: Vec<Character>,
    pub(crate) rejects: Vec<Reject>,
}

/// A table with its rows.
#[derive(Debug, Clone)]
pub(crate) struct Built {
    pub(crate) table: Table,
    pub(crate) frame: DataFrame,
}

/// Builds the tables of records in the order of the card, with the rows sorted as the callers of `table` sort them.
pub(crate) fn built(records: &Records) -> Result<Vec<Built>, ExportError> {
    fn one<T: TableRow + Clone, K: Ord>(rows: &[T], key: impl Fn(&T) -> K) -> Result<Option<Built>, ExportError> {
        let mut rows = rows.to_vec();
        rows.sort_by_key(key);
        let mut frame: Option<DataFrame> = None;
        let write = |group: DataFrame| {
            match &mut frame {
                Some(frame) => drop(frame.vstack_mut(&group).expect("all groups have the same columns")),
                none => *none = Some(group),
            }
            Ok(())
        };
        let table = table(&QuoteLimits::new(&Params::default(), 0), rows.into_iter().map(Ok), write)?;
        Ok(table.map(|table| Built { table, frame: frame.expect("a table has rows") }))
    }
    let tables = [
        one(&records.samples, |sample| sample.id.clone())?,
        one(&records.conversations, |conversation| conversation.id.clone())?,
        one(&records.scenes, |scene| scene.id.clone())?,
        one(&records.characters, |character| character.id.clone())?,
        one(&records.rejects, Clone::clone)?,
    ];
    Ok(tables.into_iter().flatten().collect())
}

/// Builds the tables without their rows.
pub(crate) fn tables(records: &Records) -> Vec<Table> {
    built(records).expect("all numbers fit their columns").into_iter().map(|built| built.table).collect()
}

/// Returns rows for every config. Every optional field is null in some row, and every list is empty in some row.
pub(crate) fn records() -> Records {
    Records {
        samples: vec![
            sample("陆怀舟/writer/0#5", Language::Zh),
            sample("ada-crane/writer/1#2", Language::En),
            sample("ada-crane/writer/0#2", Language::En),
        ],
        conversations: vec![
            Conversation {
                id: "陆怀舟/writer/0".into(),
                language: Language::Zh,
                test_character: "陆怀舟".into(),
                character_id: "陆怀舟".into(),
                source_model: "writer".into(),
                base_model: "strong".into(),
                judge_model: "strong".into(),
                scene_id: "渡口@88".into(),
                batch: 0,
                ended_by: EndedBy::Director,
                quality: Some(Quality::High),
                quality_rationale: Some("一来一往，句句有着落。".into()),
                kept: true,
                turns: vec![turn(0, TurnKind::Scene), turn(1, TurnKind::Test)],
            },
            Conversation {
                id: "ada-crane/writer/0".into(),
                language: Language::En,
                test_character: "Ada Crane".into(),
                character_id: "ada-crane".into(),
                source_model: "writer".into(),
                base_model: "strong".into(),
                judge_model: "strong".into(),
                scene_id: "harbour@120".into(),
                batch: 1,
                ended_by: EndedBy::MaxTurns,
                quality: None,
                quality_rationale: None,
                kept: false,
                turns: vec![],
            },
        ],
        scenes: vec![scene("harbour@120", Language::En), scene("渡口@88", Language::Zh)],
        characters: vec![
            Character {
                id: "陆怀舟".into(),
                name: "陆怀舟".into(),
                aliases: vec![],
                language: Language::Zh,
                kind: CharacterType::Synthesized,
                book: None,
                worldview: Some("江南水乡，旧时渡口。".into()),
                profile: vec![attribute("性格", "沉稳，话少。", Visibility::Public)],
                lines: vec![],
                model: Some("offline:plain".into()),
            },
            Character {
                id: "ada-crane".into(),
                name: "Ada Crane".into(),
                aliases: vec!["Ada".into()],
                language: Language::En,
                kind: CharacterType::Established,
                book: Some("harbour".into()),
                worldview: None,
                profile: vec![attribute("persona", "Dry, quick.", Visibility::Public)],
                lines: vec!["Am I?".into(), "“The tide was late.”".into()],
                model: None,
            },
        ],
        rejects: vec![
            Reject::new(
                Stage::Simulate,
                "ada-crane/writer/0",
                RejectReason::Quality(Quality::Moderate),
                "the reviewer rated it `moderate`",
            ),
            Reject::new(Stage::Extract, "渡口/2", RejectReason::NoDialogue, "对白少于 4 句"),
            Reject::new(Stage::Extract, "harbour/1", RejectReason::NoDialogue, "1 utterance, 4 are asked for"),
        ],
    }
}

/// Returns a run with everything that a card can show.
pub(crate) fn metadata() -> CardMetadata {
    let both = |en: &str, zh: &str| ByLanguage { en: en.to_owned(), zh: zh.to_owned() };
    let dimension = |code: &str, en: &str, zh: &str| Dimension {
        code: code.into(),
        name: both(en, zh),
        definition: both("d", "定"),
        eliciting: both("i", "引"),
        strategy: both("s", "策"),
    };
    CardMetadata {
        name: "fixture".into(),
        version: "0.1.0".into(),
        seed: 7,
        pipeline: "name = \"fixture\"\n\n[models.writer]\nprovider = \"openai\"\nbase_url = \"http://10.0.0.7:8000/v1\" # ours\n"
            .into(),
        overrides: vec!["simulate.tau=2".into()],
        books: vec![
            BookMetadata {
                slug: "harbour".into(),
                title: "The Harbour | A Tale".into(),
                language: Language::En,
                license: Some("cc0-1.0".into()),
                source: Some("https://example.org/harbour".into()),
            },
            BookMetadata { slug: "渡口".into(), title: "渡口".into(), language: Language::Zh, license: None, source: None },
        ],
        parts: vec![
            CastMetadata { part: "extractor".into(), name: "plain".into(), model: "offline:plain".into() },
            CastMetadata { part: "judge".into(), name: "strong".into(), model: "vendor/strong-1".into() },
        ],
        dimensions: vec![
            dimension("CR", "Context reliance", "情境依托"),
            dimension("FR", "Factual recall", "事实记忆"),
            dimension("PA", "Preference alignment", "偏好契合"),
        ],
        tau: 2,
        target_probability: 0.7,
        batch_size: 4,
        keep_source: 3,
        sample_threshold: 2,
        prompts: std::collections::BTreeMap::from([("select/judge.en".to_owned(), "0123abcd".to_owned())]),
        charges: vec![
            AskCost {
                ask: "select/judge".into(),
                model: "strong".into(),
                calls: 1009,
                prompt: 4000,
                cacheable: 3000,
                completion: 500,
                estimated: 2645,
                usd: Some(0.5),
                ..AskCost::default()
            },
            AskCost {
                ask: "extract/scenes".into(),
                model: "plain".into(),
                calls: 2,
                prompt: 700,
                completion: 90,
                ..AskCost::default()
            },
        ],
        roles: std::collections::BTreeMap::new(),
    }
}
