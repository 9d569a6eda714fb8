//! The columns of each config, in order, and the record fields they come from. Users' scripts read columns by name, so
//! columns are only ever added.

use polars::prelude::{Column, DataFrame, PolarsResult};

use super::ExportError;
use super::columns::{ColumnError, Lists, flag, number, score, share, text};
use super::groups::TableRow;
use super::tally::TableCounts;
use crate::schema::{
    Attribute, Candidate, CastMember, Character, Conversation, EndedBy, Grounded, Line, Message, Motivation, Quality,
    Reject, Sample, Scene, SceneCharacter, Turn, Utterance, Verdict, Visibility,
};

fn frame<T: TableRow>(
    rows: &[T],
    columns: impl FnOnce(&[&T]) -> Result<Vec<Column>, ColumnError>,
) -> Result<DataFrame, ExportError> {
    framed(T::CONFIG, &rows.iter().collect::<Vec<&T>>(), columns)
}

/// Builds a frame from the rows of a config.
pub(super) fn framed<T>(
    config: &'static str,
    rows: &[&T],
    columns: impl FnOnce(&[&T]) -> Result<Vec<Column>, ColumnError>,
) -> Result<DataFrame, ExportError> {
    let frame = columns(rows).and_then(|columns| Ok(DataFrame::new(rows.len(), columns)?));
    frame.map_err(|error| match error {
        ColumnError::Polars(source) => ExportError::Frame { config, source },
        ColumnError::Number(column, value) => ExportError::Number { config, column, value },
    })
}

impl TableRow for Sample {
    const CONFIG: &'static str = "samples";
    const SPLIT: &'static str = "test";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        frame(rows, samples)
    }

    fn count(&self, tally: &mut TableCounts) {
        tally.language(self.language);
        tally.sample(&self.dimension, self.language, self.character_type);
        tally.edited += usize::from(self.edit_reason.is_some());
    }
}

impl TableRow for Conversation {
    const CONFIG: &'static str = "conversations";
    const SPLIT: &'static str = "test";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        frame(rows, conversations)
    }

    fn count(&self, tally: &mut TableCounts) {
        tally.language(self.language);
        for score in self.turns.iter().filter_map(|turn| turn.score) {
            tally.score(score);
        }
    }
}

impl TableRow for Scene {
    const CONFIG: &'static str = "scenes";
    const SPLIT: &'static str = "train";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        frame(rows, scenes)
    }

    fn count(&self, tally: &mut TableCounts) {
        tally.language(self.language);
    }
}

impl TableRow for Character {
    const CONFIG: &'static str = "characters";
    const SPLIT: &'static str = "train";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        frame(rows, characters)
    }

    fn count(&self, tally: &mut TableCounts) {
        tally.language(self.language);
    }
}

impl TableRow for Reject {
    const CONFIG: &'static str = "rejected";
    const SPLIT: &'static str = "train";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        frame(rows, rejected)
    }

    fn count(&self, tally: &mut TableCounts) {
        tally.reject(self.stage.name(), self.reason.name());
    }
}

fn samples(rows: &[&Sample]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("id", rows, |row| row.id.as_str()),
        text("language", rows, |row| row.language.code()),
        text("dimension", rows, |row| row.dimension.as_str()),
        text("target", rows, |row| row.target.as_deref()),
        text("test_character", rows, |row| row.test_character.as_str()),
        text("character_id", rows, |row| row.character_id.as_str()),
        text("character_type", rows, |row| row.character_type.name()),
        profiles(rows.iter().map(|row| row.profile.as_slice()))?,
        text("book", rows, |row| row.book.as_str()),
        text("scene_id", rows, |row| row.scene_id.as_str()),
        text("worldview", rows, |row| row.worldview.as_str()),
        text("situation", rows, |row| row.situation.as_str()),
        casts("scene_characters", rows.iter().map(|row| row.scene_characters.as_slice()))?,
        histories(rows.iter().map(|row| row.history.as_slice()))?,
        messages(rows.iter().map(|row| row.messages.as_slice()))?,
        text("strategy", rows, |row| row.strategy.as_str()),
        text("criteria", rows, |row| row.criteria.as_str()),
        text("reference", rows, |row| row.reference.as_str()),
        text("baseline", rows, |row| row.baseline.as_str()),
        score("score", rows, |row| row.score),
        text("rationale", rows, |row| row.rationale.as_str()),
        text("source_model", rows, |row| row.source_model.as_str()),
        text("base_model", rows, |row| row.base_model.as_str()),
        text("judge_model", rows, |row| row.judge_model.as_str()),
        text("conversation_id", rows, |row| row.conversation_id.as_str()),
        number("turn", rows, |row| row.turn)?,
        verdicts(rows.iter().map(|row| row.verdicts.as_slice()))?,
        text("edit_reason", rows, |row| row.edit_reason.as_deref()),
    ])
}

fn conversations(rows: &[&Conversation]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("id", rows, |row| row.id.as_str()),
        text("language", rows, |row| row.language.code()),
        text("test_character", rows, |row| row.test_character.as_str()),
        text("source_model", rows, |row| row.source_model.as_str()),
        text("base_model", rows, |row| row.base_model.as_str()),
        text("scene_id", rows, |row| row.scene_id.as_str()),
        number("batch", rows, |row| row.batch)?,
        text("ended_by", rows, |row| EndedBy::name(row.ended_by)),
        text("quality", rows, |row| row.quality.map(Quality::name)),
        text("quality_rationale", rows, |row| row.quality_rationale.as_deref()),
        flag("kept", rows, |row| row.kept),
        turns(rows.iter().map(|row| row.turns.as_slice()))?,
    ])
}

fn scenes(rows: &[&Scene]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("id", rows, |row| row.id.as_str()),
        text("book", rows, |row| row.book.as_str()),
        text("language", rows, |row| row.language.code()),
        text("chapter", rows, |row| row.chapter.as_str()),
        number("start", rows, |row| row.start)?,
        number("end", rows, |row| row.end)?,
        text("summary", rows, |row| row.summary.as_str()),
        text("worldview", rows, |row| row.worldview.as_str()),
        text("situation", rows, |row| row.situation.as_str()),
        motivations(rows.iter().map(|row| row.motivations.as_slice()))?,
        scene_characters(rows.iter().map(|row| row.characters.as_slice()))?,
        dialogues(rows.iter().map(|row| row.dialogue.as_slice()))?,
        share("grounding", rows, |row| row.grounding),
        text("model", rows, |row| row.model.as_deref()),
        number("salience", rows, |row| row.salience.map(u32::from))?,
    ])
}

fn characters(rows: &[&Character]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("id", rows, |row| row.id.as_str()),
        text("name", rows, |row| row.name.as_str()),
        text("language", rows, |row| row.language.code()),
        text("type", rows, |row| row.kind.name()),
        text("book", rows, |row| row.book.as_deref()),
        text("worldview", rows, |row| row.worldview.as_deref()),
        profiles(rows.iter().map(|row| row.profile.as_slice()))?,
        Lists::new(rows.iter().map(|row| row.lines.as_slice())).strings("lines")?,
        text("model", rows, |row| row.model.as_deref()),
        Lists::new(rows.iter().map(|row| row.aliases.as_slice())).strings("aliases")?,
    ])
}

#[expect(clippy::unnecessary_wraps, reason = "the functions of all configs have the same signature")]
fn rejected(rows: &[&Reject]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("stage", rows, |row| row.stage.name()),
        text("id", rows, |row| row.id.as_str()),
        text("reason", rows, |row| row.reason.name()),
        text("detail", rows, |row| row.detail.as_str()),
    ])
}

fn profiles<'a>(lists: impl Iterator<Item = &'a [Attribute]>) -> PolarsResult<Column> {
    let lists = Lists::new(lists);
    let fields = [
        text("key", &lists.items, |attribute| attribute.key.as_str()),
        text("value", &lists.items, |attribute| attribute.value.as_str()),
        text("visibility", &lists.items, |attribute| match attribute.visibility {
            Visibility::Public => "public",
            Visibility::Private => "private",
        }),
    ];
    lists.structs("profile", &fields)
}

fn casts<'a>(name: &'static str, lists: impl Iterator<Item = &'a [CastMember]>) -> PolarsResult<Column> {
    let lists = Lists::new(lists);
    let fields = [
        text("name", &lists.items, |member| member.name.as_str()),
        profiles(lists.items.iter().map(|member| member.profile.as_slice()))?,
    ];
    lists.structs(name, &fields)
}

fn histories<'a>(lists: impl Iterator<Item = &'a [Line]>) -> PolarsResult<Column> {
    let lists = Lists::new(lists);
    let fields = [
        text("speaker", &lists.items, |line| line.speaker.as_str()),
        text("content", &lists.items, |line| line.content.as_str()),
        flag("is_test", &lists.items, |line| line.is_test),
    ];
    lists.structs("history", &fields)
}

fn messages<'a>(lists: impl Iterator<Item = &'a [Message]>) -> PolarsResult<Column> {
    let lists = Lists::new(lists);
    let fields = [
        text("role", &lists.items, |message| message.role.name()),
        text("content", &lists.items, |message| message.content.as_str()),
    ];
    lists.structs("messages", &fields)
}

fn turns<'a>(lists: impl Iterator<Item = &'a [Turn]>) -> Result<Column, ColumnError> {
    let lists = Lists::new(lists);
    let fields = [
        number("index", &lists.items, |turn| turn.index)?,
        text("speaker", &lists.items, |turn| turn.speaker.as_str()),
        text("kind", &lists.items, |turn| turn.kind.name()),
        text("content", &lists.items, |turn| turn.content.as_str()),
        text("target", &lists.items, |turn| turn.target.as_deref()),
        text("dimension", &lists.items, |turn| turn.dimension.as_deref()),
        score("score", &lists.items, |turn| turn.score),
        text("rationale", &lists.items, |turn| turn.rationale.as_deref()),
        text("source_reply", &lists.items, |turn| turn.source_reply.as_deref()),
        text("base_reply", &lists.items, |turn| turn.base_reply.as_deref()),
        text("kept_reply", &lists.items, |turn| turn.kept_reply.map(Candidate::name)),
        Lists::new(lists.items.iter().map(|turn| turn.faults.as_slice())).texts("faults", |fault| fault.name())?,
        score("score_source_first", &lists.items, |turn| turn.score_source_first),
        score("score_base_first", &lists.items, |turn| turn.score_base_first),
        verdicts(lists.items.iter().map(|turn| turn.verdicts.as_slice()))?,
    ];
    Ok(lists.structs("turns", &fields)?)
}

fn verdicts<'a>(lists: impl Iterator<Item = &'a [Verdict]>) -> PolarsResult<Column> {
    let lists = Lists::new(lists);
    let fields = [
        text("judge", &lists.items, |verdict| verdict.judge.as_str()),
        text("dimension", &lists.items, |verdict| verdict.dimension.as_str()),
        score("score", &lists.items, |verdict| verdict.score),
        text("rationale", &lists.items, |verdict| verdict.rationale.as_str()),
        score("score_source_first", &lists.items, |verdict| verdict.score_source_first),
        score("score_base_first", &lists.items, |verdict| verdict.score_base_first),
    ];
    lists.structs("verdicts", &fields)
}

fn motivations<'a>(lists: impl Iterator<Item = &'a [Motivation]>) -> PolarsResult<Column> {
    let lists = Lists::new(lists);
    let fields = [
        text("character", &lists.items, |motivation| motivation.character.as_str()),
        text("motivation", &lists.items, |motivation| motivation.motivation.as_str()),
    ];
    lists.structs("motivations", &fields)
}

fn scene_characters<'a>(lists: impl Iterator<Item = &'a [SceneCharacter]>) -> PolarsResult<Column> {
    let lists = Lists::new(lists);
    let fields = [
        text("name", &lists.items, |character| character.name.as_str()),
        Lists::new(lists.items.iter().map(|character| character.aliases.as_slice())).strings("aliases")?,
        profiles(lists.items.iter().map(|character| character.profile.as_slice()))?,
    ];
    lists.structs("characters", &fields)
}

fn dialogues<'a>(lists: impl Iterator<Item = &'a [Utterance]>) -> Result<Column, ColumnError> {
    let lists = Lists::new(lists);
    let fields = [
        text("speaker", &lists.items, |utterance| utterance.speaker.as_str()),
        text("thought", &lists.items, |utterance| utterance.thought.as_deref()),
        text("action", &lists.items, |utterance| utterance.action.as_deref()),
        text("speech", &lists.items, |utterance| utterance.speech.as_deref()),
        number("start", &lists.items, |utterance| utterance.start)?,
        number("end", &lists.items, |utterance| utterance.end)?,
        text("grounded", &lists.items, |utterance| utterance.grounded.map(Grounded::name)),
        share("similarity", &lists.items, |utterance| utterance.similarity),
    ];
    Ok(lists.structs("dialogue", &fields)?)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use polars::prelude::{AnyValue, DataFrame, ParquetReader, ParquetWriter, SerReader as _};

    use crate::schema::Language;
    use crate::stages::export::ExportError;
    use crate::stages::export::features::notes;
    use crate::stages::export::fixture::{Built, Records, built, records, sample};

    /// Returns every column and nested field with its type.
    fn schema(config: &str, frame: &DataFrame) -> Vec<String> {
        notes(config, frame).iter().map(|note| format!("{} {}", note.path, note.kind)).collect()
    }

    const PROFILE: [&str; 4] =
        ["profile list<struct>", "profile[].key string", "profile[].value string", "profile[].visibility string"];

    fn expected(config: &str) -> Vec<String> {
        let parts: &[&[&str]] = match config {
            "samples" => &[
                &[
                    "id string",
                    "language string",
                    "dimension string",
                    "target string",
                    "test_character string",
                    "character_id string",
                    "character_type string",
                ],
                &PROFILE,
                &[
                    "book string",
                    "scene_id string",
                    "worldview string",
                    "situation string",
                    "scene_characters list<struct>",
                    "scene_characters[].name string",
                    "scene_characters[].profile list<struct>",
                    "scene_characters[].profile[].key string",
                    "scene_characters[].profile[].value string",
                    "scene_characters[].profile[].visibility string",
                    "history list<struct>",
                    "history[].speaker string",
                    "history[].content string",
                    "history[].is_test bool",
                    "messages list<struct>",
                    "messages[].role string",
                    "messages[].content string",
                    "strategy string",
                    "criteria string",
                    "reference string",
                    "baseline string",
                    "score int8",
                    "rationale string",
                    "source_model string",
                    "base_model string",
                    "judge_model string",
                    "conversation_id string",
                    "turn int32",
                    "verdicts list<struct>",
                    "verdicts[].judge string",
                    "verdicts[].dimension string",
                    "verdicts[].score int8",
                    "verdicts[].rationale string",
                    "verdicts[].score_source_first int8",
                    "verdicts[].score_base_first int8",
                    "edit_reason string",
                ],
            ],
            "conversations" => &[&[
                "id string",
                "language string",
                "test_character string",
                "source_model string",
                "base_model string",
                "scene_id string",
                "batch int32",
                "ended_by string",
                "quality string",
                "quality_rationale string",
                "kept bool",
                "turns list<struct>",
                "turns[].index int32",
                "turns[].speaker string",
                "turns[].kind string",
                "turns[].content string",
                "turns[].target string",
                "turns[].dimension string",
                "turns[].score int8",
                "turns[].rationale string",
                "turns[].source_reply string",
                "turns[].base_reply string",
                "turns[].kept_reply string",
                "turns[].faults list<string>",
                "turns[].score_source_first int8",
                "turns[].score_base_first int8",
                "turns[].verdicts list<struct>",
                "turns[].verdicts[].judge string",
                "turns[].verdicts[].dimension string",
                "turns[].verdicts[].score int8",
                "turns[].verdicts[].rationale string",
                "turns[].verdicts[].score_source_first int8",
                "turns[].verdicts[].score_base_first int8",
            ]],
            "scenes" => &[&[
                "id string",
                "book string",
                "language string",
                "chapter string",
                "start int32",
                "end int32",
                "summary string",
                "worldview string",
                "situation string",
                "motivations list<struct>",
                "motivations[].character string",
                "motivations[].motivation string",
                "characters list<struct>",
                "characters[].name string",
                "characters[].aliases list<string>",
                "characters[].profile list<struct>",
                "characters[].profile[].key string",
                "characters[].profile[].value string",
                "characters[].profile[].visibility string",
                "dialogue list<struct>",
                "dialogue[].speaker string",
                "dialogue[].thought string",
                "dialogue[].action string",
                "dialogue[].speech string",
                "dialogue[].start int32",
                "dialogue[].end int32",
                "dialogue[].grounded string",
                "dialogue[].similarity float64",
                "grounding float64",
                "model string",
                "salience int32",
            ]],
            "characters" => &[
                &["id string", "name string", "language string", "type string", "book string", "worldview string"],
                &PROFILE,
                &["lines list<string>", "model string", "aliases list<string>"],
            ],
            "rejected" => &[&["stage string", "id string", "reason string", "detail string"]],
            other => panic!("unknown config: {other}"),
        };
        parts.concat().into_iter().map(str::to_owned).collect()
    }

    fn column(table: &Built, name: &str) -> Vec<String> {
        let column = table.frame.column(name).unwrap().str().unwrap();
        column.iter().map(|value| value.unwrap().to_owned()).collect()
    }

    /// Writes a frame to Parquet like `store` does, without the Arrow schema of polars, and reads it back.
    fn through_parquet(frame: &DataFrame) -> (Vec<u8>, DataFrame) {
        let mut bytes = Vec::new();
        let mut writer = ParquetWriter::new(&mut bytes).batched(frame.schema()).unwrap();
        writer.write_batch(frame).unwrap();
        writer.get_writer().lock().unwrap().end(Some(vec![])).unwrap();
        drop(writer);
        let frame = ParquetReader::new(Cursor::new(&bytes)).finish().unwrap();
        (bytes, frame)
    }

    #[test]
    fn every_table_has_the_documented_columns_and_types() {
        let tables = built(&records()).unwrap();
        let configs: Vec<(&str, &str)> = tables.iter().map(|built| (built.table.config, built.table.split)).collect();
        let of_contract = [
            ("samples", "test"),
            ("conversations", "test"),
            ("scenes", "train"),
            ("characters", "train"),
            ("rejected", "train"),
        ];
        assert_eq!(configs, of_contract);
        for Built { table, frame } in &tables {
            assert_eq!(schema(table.config, frame), expected(table.config), "{}", table.config);
            assert_eq!(schema(table.config, &table.columns), expected(table.config), "{}", table.config);
        }
    }

    #[test]
    fn a_schema_does_not_depend_on_the_rows() {
        let mut bare = records();
        for sample in &mut bare.samples {
            (sample.target, sample.profile, sample.history) = (None, vec![], vec![]);
            (sample.scene_characters, sample.messages) = (vec![], vec![]);
        }
        for conversation in &mut bare.conversations {
            (conversation.quality, conversation.turns) = (None, vec![]);
        }
        for scene in &mut bare.scenes {
            (scene.motivations, scene.characters, scene.dialogue) = (vec![], vec![], vec![]);
            scene.salience = None;
        }
        for character in &mut bare.characters {
            (character.book, character.worldview, character.model) = (None, None, None);
            (character.profile, character.lines, character.aliases) = (vec![], vec![], vec![]);
        }
        for Built { table, frame } in built(&bare).unwrap() {
            assert_eq!(schema(table.config, &frame), expected(table.config), "{}", table.config);
            let read = through_parquet(&frame).1;
            assert_eq!(schema(table.config, &read), expected(table.config), "{}", table.config);
        }
    }

    #[test]
    fn tables_round_trip_through_parquet() {
        for Built { table, frame } in built(&records()).unwrap() {
            let (bytes, read) = through_parquet(&frame);
            assert!(frame.equals_missing(&read), "{}: {frame} and {read}", table.config);
            assert_eq!(bytes, through_parquet(&frame).0, "the bytes of {} are reproducible", table.config);
        }
    }

    #[test]
    fn nested_chinese_text_round_trips() {
        let tables = built(&records()).unwrap();
        let conversations = through_parquet(&tables[1].frame).1;
        let turns = conversations.column("turns").unwrap().list().unwrap().get_as_series(1).unwrap();
        let turns = turns.struct_().unwrap();
        let content = turns.field_by_name("content").unwrap();
        assert_eq!(
            content.str().unwrap().iter().collect::<Vec<_>>(),
            [Some("你来迟了。"), Some("（收伞）路上遇见故人。")]
        );
        let faults = turns.field_by_name("faults").unwrap();
        assert_eq!(faults.list().unwrap().get_as_series(0).unwrap().len(), 0);
        assert_eq!(faults.get(1).unwrap().to_string(), "[\"own_name:mended\"]");
    }

    #[test]
    fn missing_values_are_null_and_empty_lists_are_empty() {
        let tables = built(&records()).unwrap();
        let value = |table: usize, name: &str, row: usize| tables[table].frame.column(name).unwrap().get(row).unwrap();
        assert!(value(0, "target", 0).is_null());
        assert_eq!(value(0, "target", 2), AnyValue::String("FR"));
        assert_eq!(value(0, "score", 0), AnyValue::Int8(1));
        assert!(value(1, "quality", 0).is_null());
        assert_eq!(value(2, "salience", 0), AnyValue::Int32(64));
        assert!(value(2, "salience", 1).is_null());
        assert!(value(3, "book", 1).is_null());
        for (table, name) in [(0, "scene_characters"), (1, "turns"), (2, "motivations"), (3, "lines"), (3, "aliases")] {
            let column = tables[table].frame.column(name).unwrap();
            assert_eq!(column.null_count(), 0, "{name}");
            let lists = column.list().unwrap();
            let rows = column.len();
            assert!((0..rows).any(|row| lists.get_as_series(row).unwrap().is_empty()), "{name}");
            assert!((0..rows).any(|row| !lists.get_as_series(row).unwrap().is_empty()), "{name}");
        }
    }

    #[test]
    fn rows_are_sorted_regardless_of_input_order() {
        let one = records();
        let mut other = one.clone();
        other.samples.reverse();
        other.conversations.reverse();
        other.characters.reverse();
        other.rejects.rotate_left(1);
        let (one, other) = (built(&one).unwrap(), built(&other).unwrap());
        for (one, other) in one.iter().zip(&other) {
            assert!(one.frame.equals_missing(&other.frame), "{}", one.table.config);
        }
        assert_eq!(column(&one[0], "id"), ["ada-crane/writer/0#2", "ada-crane/writer/1#2", "陆怀舟/writer/0#5"]);
        assert_eq!(column(&one[4], "id"), ["harbour/1", "渡口/2", "ada-crane/writer/0"]);
    }

    #[test]
    fn a_config_without_rows_is_absent() {
        assert!(built(&Records::default()).unwrap().is_empty());
        let records = Records { samples: vec![sample("a/b/0#1", Language::En)], ..Records::default() };
        let tables = built(&records).unwrap();
        assert_eq!(tables.iter().map(|built| built.table.config).collect::<Vec<_>>(), ["samples"]);
    }

    #[test]
    fn a_number_that_does_not_fit_names_its_table() {
        let mut records = records();
        records.scenes[0].dialogue[0].end = Some(u32::MAX);
        let error = built(&records).unwrap_err();
        assert!(matches!(error, ExportError::Number { config: "scenes", column: "end", value: u32::MAX }));
        assert_eq!(
            error.to_string(),
            "failed to write 4294967295 to the column `end` of the table `scenes`: the maximum is 2147483647"
        );
    }
}
