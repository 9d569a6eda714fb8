//! Converts any table row by row: JSON Lines, flat CSV, chat messages for an evaluator, requests for a batch endpoint,
//! and scenes in the format of `CoSER`'s test set. For role data see [`role_formats`](super::role_formats).

use std::collections::BTreeMap;

use polars::prelude::{DataFrame, PolarsError, PolarsResult};
use serde_json::{Map, Value, json};

use crate::cells::{Cells, unrepresentable_field, write_fields};

/// A format of a table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// One JSON object per row, with all columns.
    Jsonl,
    /// One line per row; lists are JSON in their cell.
    Csv,
    /// The columns of a sample that an evaluator and its judge need, such as `id` and `messages`.
    Messages,
    /// Each sample as a request of `OpenAI`'s batch endpoint.
    Batch,
    /// Each scene as an element of `CoSER`'s test set, which is one JSON list.
    Coser,
}

impl TableFormat {
    /// Returns the name of the format and of its folder.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Messages => "messages",
            Self::Batch => "batch",
            Self::Coser => "coser",
        }
    }

    /// Returns the only config that the format applies to, or `None` if it applies to any.
    #[must_use]
    pub const fn config(self) -> Option<&'static str> {
        match self {
            Self::Jsonl | Self::Csv => None,
            Self::Messages | Self::Batch => Some("samples"),
            Self::Coser => Some("scenes"),
        }
    }

    /// Returns the extension of its files.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Coser => "json",
            _ => "jsonl",
        }
    }
}

/// The columns of a sample that an evaluator needs.
const EVALUATION_COLUMNS: [&str; 13] = [
    "id",
    "language",
    "dimension",
    "test_character",
    "character_id",
    "book",
    "scene_id",
    "messages",
    "criteria",
    "reference",
    "baseline",
    "conversation_id",
    "canary",
];

/// The rows of a frame in a format.
pub struct FormattedRows {
    format: TableFormat,
    height: usize,
    columns: Vec<(String, Cells)>,
    model: String,
    /// The number of rows of the table before this frame.
    first: usize,
}

impl FormattedRows {
    /// Prepares the rows of a frame. `first` is the number of rows of the table before it; `model` is the model name in
    /// batch requests.
    pub fn new(format: TableFormat, frame: &DataFrame, model: &str, first: usize) -> PolarsResult<Self> {
        let columns = frame
            .columns()
            .iter()
            .filter(|column| format != TableFormat::Messages || EVALUATION_COLUMNS.contains(&column.name().as_str()));
        let columns = columns.map(|column| {
            // The other formats select their own columns.
            if let Some((path, type_name)) = unrepresentable_field(column).filter(|_| format.config().is_none()) {
                let format = format.name();
                let fault = format!(
                    "`{path}` has values of the type {type_name}, which {format} cannot represent; remove the column from \
                     the Parquet file, or read the Parquet file directly"
                );
                return Err(PolarsError::InvalidOperation(fault.into()));
            }
            Ok((column.name().to_string(), Cells::new(column)?))
        });
        let columns = columns.collect::<PolarsResult<_>>()?;
        Ok(Self { format, height: frame.height(), columns, model: model.to_owned(), first })
    }

    /// Returns the first bytes of a file with these columns.
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        if self.format == TableFormat::Coser {
            head.extend(b"[\n");
        }
        if self.format == TableFormat::Csv {
            for (number, (name, _)) in self.columns.iter().enumerate() {
                if number > 0 {
                    head.push(b',');
                }
                cell(name.as_bytes(), &mut head);
            }
            head.extend(b"\n");
        }
        head
    }

    /// Calls `line` with each row, including its line break. In a JSON list, all rows but the first start with a comma;
    /// the caller writes the closing bracket.
    pub fn each<E>(&self, mut line: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut bytes = Vec::new();
        for row in 0..self.height {
            bytes.clear();
            if self.format == TableFormat::Coser && self.first + row > 0 {
                bytes.push(b',');
            }
            match self.format {
                TableFormat::Jsonl | TableFormat::Messages => self.json(row, &mut bytes),
                TableFormat::Csv => self.csv(row, &mut bytes),
                TableFormat::Batch => self.request(row, &mut bytes),
                TableFormat::Coser => bytes.extend(self.circumstance(row).to_string().bytes()),
            }
            bytes.push(b'\n');
            line(&bytes)?;
        }
        Ok(())
    }

    fn json(&self, row: usize, line: &mut Vec<u8>) {
        write_fields(self.columns.iter().map(|(name, cells)| (name.as_str(), cells)), row, line);
    }

    fn csv(&self, row: usize, line: &mut Vec<u8>) {
        let mut value = Vec::new();
        for (number, (_, cells)) in self.columns.iter().enumerate() {
            if number > 0 {
                line.push(b',');
            }
            match cells {
                Cells::Text(texts) => match texts.get(row) {
                    // Quotes distinguish an empty text from null.
                    Some("") => line.extend(b"\"\""),
                    Some(text) => cell(text.as_bytes(), line),
                    None => {}
                },
                cells => {
                    value.clear();
                    cells.write_json(row, &mut value);
                    if value != b"null" {
                        cell(&value, line);
                    }
                }
            }
        }
    }

    fn request(&self, row: usize, line: &mut Vec<u8>) {
        let text = |text: &str| Value::from(text).to_string();
        line.extend(format!("{{\"custom_id\":{},", text(self.text("id", row))).bytes());
        line.extend(b"\"method\":\"POST\",\"url\":\"/v1/chat/completions\",");
        line.extend(format!("\"body\":{{\"model\":{},\"messages\":", text(&self.model)).bytes());
        match self.cells("messages") {
            Some(messages) => messages.write_json(row, line),
            None => line.extend(b"[]"),
        }
        line.extend(b"}}");
    }

    fn cells(&self, name: &str) -> Option<&Cells> {
        self.columns.iter().find(|(column, _)| column == name).map(|(_, cells)| cells)
    }

    fn text(&self, name: &str, row: usize) -> &str {
        self.cells(name).and_then(|cells| cells.text(row)).unwrap_or_default()
    }

    /// Returns a scene in the format of `CoSER`: who is present, what each character wants, and the dialogue as
    /// `[thought] (action) speech`.
    fn circumstance(&self, row: usize) -> Value {
        let nothing = Cells::Other;
        let list = |name: &str| self.cells(name).unwrap_or(&nothing);
        let (cast, motivations, dialogue) = (list("characters"), list("motivations"), list("dialogue"));
        let field = |cells: &Cells, name: &str, item: usize| -> String {
            cells.field(name).and_then(|cells| cells.text(item)).unwrap_or_default().to_owned()
        };
        let wants: BTreeMap<String, String> = motivations
            .list(row)
            .map(|item| (field(motivations, "character", item), field(motivations, "motivation", item)))
            .collect();
        let mut profiles = Map::new();
        let mut people = Vec::new();
        let mut motivated = Vec::new();
        for member in cast.list(row) {
            let name = field(cast, "name", member);
            let profile = cast.field("profile").unwrap_or(&nothing);
            let description: Vec<String> = profile
                .list(member)
                .map(|item| format!("{}: {}", field(profile, "key", item), field(profile, "value", item)))
                .collect();
            let description = description.join("\n");
            people.push(json!({"name": name, "description": description}));
            motivated.push(json!({"name": name, "motivation": wants.get(&name).cloned().unwrap_or_default()}));
            profiles.insert(name, Value::String(description));
        }
        let mut lines = Vec::new();
        let mut counts: Vec<(String, usize)> = Vec::new();
        for item in dialogue.list(row) {
            let speaker = field(dialogue, "speaker", item);
            let part = |name: &str, marks: [&str; 2]| {
                let text = field(dialogue, name, item);
                (!text.is_empty()).then(|| format!("{}{text}{}", marks[0], marks[1]))
            };
            let parts = [part("thought", ["[", "]"]), part("action", ["(", ")"]), part("speech", ["", ""])];
            let message = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
            lines.push(json!({"character": speaker, "message": message}));
            match counts.iter_mut().find(|(name, _)| *name == speaker) {
                Some((_, count)) => *count += 1,
                None => counts.push((speaker, 1)),
            }
        }
        // Sorted by number of utterances, as in CoSER's test set.
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let speaking: Vec<String> = counts.into_iter().map(|(name, _)| name).collect();
        let major: Vec<&String> = speaking.iter().filter(|name| profiles.contains_key(*name)).collect();
        let major = json!(major);
        let mut circumstance = json!({
            "book": self.text("book", row),
            "id": self.text("id", row),
            "i_c": 0,
            "topic": self.text("chapter", row),
            "scenario": self.text("situation", row),
            "plot": {"i_p": self.first + row, "summary": self.text("summary", row), "key_characters": people},
            "key_characters": motivated,
            "character_profiles": profiles,
            "speaking_characters_w_env": speaking,
            "major_characters": major,
            "dialogues": lines,
        });
        if let Some(canary) = self.cells("canary").and_then(|cells| cells.text(row)) {
            circumstance["canary"] = canary.into();
        }
        circumstance
    }
}

/// Writes a CSV cell (RFC 4180), quoted if it contains a comma, a quotation mark or a line break.
fn cell(text: &[u8], line: &mut Vec<u8>) {
    if !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        line.extend(text);
        return;
    }
    line.push(b'"');
    for byte in text {
        if *byte == b'"' {
            line.push(b'"');
        }
        line.push(*byte);
    }
    line.push(b'"');
}

#[cfg(test)]
mod tests {
    use polars::prelude::Column;

    use super::*;
    use crate::schema::Sample;
    use crate::stages::export::fixture::{built, records};

    fn lines(format: TableFormat, config: &str) -> Vec<String> {
        let built = built(&records()).unwrap();
        let table = built.iter().find(|built| built.table.config == config).unwrap();
        lines_of(format, &table.frame)
    }

    fn lines_of(format: TableFormat, frame: &DataFrame) -> Vec<String> {
        let rows = FormattedRows::new(format, frame, "gpt-x", 0).unwrap();
        let mut lines = vec![String::from_utf8(rows.head()).unwrap()];
        let written = rows.each(|line| {
            lines.push(String::from_utf8(line.to_vec()).unwrap());
            Ok::<_, ()>(())
        });
        written.unwrap();
        lines
    }

    /// Returns the sample of the first row.
    fn first() -> Sample {
        records().samples.into_iter().min_by(|a, b| a.id.cmp(&b.id)).unwrap()
    }

    fn json(line: &str) -> Value {
        serde_json::from_str(line).expect("each line is JSON")
    }

    #[test]
    fn json_lines_keep_every_column() {
        let lines = lines(TableFormat::Jsonl, "samples");
        assert_eq!(lines[0], "");
        let row = json(&lines[1]);
        let expected = serde_json::to_value(first()).unwrap();
        assert_eq!(row, expected);
        assert_eq!(row.as_object().unwrap().keys().next().unwrap(), "id", "the order of the columns is kept");
    }

    #[test]
    fn csv_is_flat_and_quoted_correctly() {
        let lines = lines(TableFormat::Csv, "samples");
        assert!(lines[0].starts_with("id,language,dimension,target,") && lines[0].ends_with(",verdicts,edit_reason\n"));
        let row = &lines[1];
        assert!(row.contains(",\"[{\"\"role\"\":\"\"system\"\","), "{row}");
        let mut cells = vec![String::new()];
        let mut quoted = false;
        for c in row.trim_end().chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        assert_eq!(cells.len(), lines[0].split(',').count());
        let mut line = Vec::new();
        cell("a \"b\",\n陆".as_bytes(), &mut line);
        assert_eq!(String::from_utf8(line).unwrap(), "\"a \"\"b\"\",\n陆\"");
    }

    #[test]
    fn a_request_names_the_sample_and_the_model() {
        let row = json(&lines(TableFormat::Batch, "samples")[1]);
        let sample = first();
        assert_eq!(
            (row["custom_id"].as_str(), row["url"].as_str()),
            (Some(sample.id.as_str()), Some("/v1/chat/completions"))
        );
        assert_eq!(row["body"]["model"], "gpt-x");
        assert_eq!(row["body"]["messages"], serde_json::to_value(&sample.messages).unwrap());
        let row = json(&lines(TableFormat::Messages, "samples")[1]);
        assert_eq!(row["messages"], serde_json::to_value(&sample.messages).unwrap());
        assert!(row.get("baseline").is_some() && row.get("history").is_none() && row.get("rationale").is_none());
    }

    #[test]
    fn rows_have_the_canary_and_model_requests_do_not() {
        for (format, config, pointer) in [
            (TableFormat::Jsonl, "scenes", Some("/canary")),
            (TableFormat::Messages, "samples", Some("/canary")),
            (TableFormat::Coser, "scenes", Some("/canary")),
            (TableFormat::Batch, "samples", None),
        ] {
            let built = built(&records()).unwrap();
            let mut frame = built.into_iter().find(|built| built.table.config == config).unwrap().frame;
            frame.with_column(Column::new("canary".into(), vec!["金丝雀 7f"; frame.height()])).unwrap();
            for line in &lines_of(format, &frame)[1..] {
                let row = json(line.trim_start_matches(','));
                let found = pointer.and_then(|pointer| row.pointer(pointer)).and_then(Value::as_str);
                assert_eq!(found, pointer.map(|_| "金丝雀 7f"), "{format:?}: {line}");
                assert_eq!(line.contains("金丝雀"), pointer.is_some());
            }
            assert!(!lines(format, config).concat().contains("canary"), "no canary, no field");
        }
    }

    #[test]
    fn a_scene_converts_to_a_coser_circumstance() {
        let lines = lines(TableFormat::Coser, "scenes");
        let (row, scene) = (json(&lines[1]), &records().scenes[0]);
        assert_eq!(row["scenario"], scene.situation.as_str());
        assert_eq!(row["plot"]["key_characters"].as_array().unwrap().len(), scene.characters.len());
        let line = row["dialogues"][0]["message"].as_str().unwrap();
        assert!(line.starts_with('(') && line.contains(") "), "{line}");
        let speaking = row["speaking_characters_w_env"].as_array().unwrap();
        assert!(speaking.iter().any(|name| name == "Environment"));
        assert!(!row["major_characters"].as_array().unwrap().iter().any(|name| name == "Environment"));
        assert_eq!(lines.len() - 1, records().scenes.len());
    }
}
