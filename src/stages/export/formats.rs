//! Role data in the forms that others train on: `RoleBench`'s, Alpaca's, `ShareGPT`'s, and plain chat messages. Made of the tables
//! of a data set, so that no run is needed; lines stand in the order of the rows.

use std::collections::{BTreeMap, BTreeSet};

use polars::prelude::DataFrame;
use serde_json::{Map, Value, json};

use crate::schema::slug;

/// A form of role data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `RoleBench`: roles' descriptions and dialogues, and both splits, a folder for each language.
    Rolebench,
    /// Alpaca: `instruction`, `input`, `output` and `system`.
    Alpaca,
    /// `ShareGPT`: `conversations` of `from` and `value`.
    Sharegpt,
    /// `messages` of `role` and `content`.
    Messages,
}

impl Format {
    /// Returns the form's name, which is that of its folder too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rolebench => "rolebench",
            Self::Alpaca => "alpaca",
            Self::Sharegpt => "sharegpt",
            Self::Messages => "messages",
        }
    }
}

/// The tables that forms are made of.
pub const CONFIGS: [&str; 3] = ["roles", "role_specific", "role_general"];

/// A table of a data set: its config, its split and its rows.
pub type Frame = (String, String, DataFrame);

/// Returns the files of a form by their paths: JSON Lines, but for the descriptions of `RoleBench`. A column that a table lacks,
/// as one of an older data set may, reads as null.
#[must_use]
pub fn format(format: Format, frames: &[Frame]) -> BTreeMap<String, String> {
    let roles = Roles::new(frames);
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |path: String, value: Value| {
        let file = files.entry(path).or_default();
        file.push_str(&value.to_string());
        file.push('\n');
    };
    if format == Format::Rolebench {
        for role in &roles.all {
            for turn in &role.dialogue {
                add(format!("profiles-{}/{}.jsonl", role.tongue(), slug(&role.name)), turn.clone());
            }
        }
    }
    for (config, split, frame) in frames.iter().filter(|(config, ..)| config != "roles") {
        let columns = Columns(frame);
        for place in 0..frame.height() {
            let id = columns.text("role_id", place).or_else(|| columns.text("role", place)).unwrap_or_default();
            let question = columns.text("question", place).unwrap_or_default();
            let generated = columns.texts("generated", place);
            let Some(role) = roles.get(&id) else { continue };
            if format == Format::Rolebench {
                let mut row = json!({"role": role.name, "question": question, "generated": generated});
                if config == "role_general" {
                    row["answer"] = json!(columns.text("answer", place));
                    row["baseline"] = json!(columns.text("baseline", place));
                }
                let kind = if config == "role_general" { "general" } else { "role_specific" };
                let by = |what: &str, split: &str| format!("rolebench-{}/{what}/{kind}/{split}.jsonl", role.tongue());
                add(by("instruction-generalization", split), row.clone());
                if let Some(split) = columns.text("role_split", place) {
                    add(by("role-generalization", &split), row);
                }
                continue;
            }
            for answer in generated {
                add(format!("{split}.jsonl"), line(format, &role.system, &question, &answer));
            }
        }
    }
    if format == Format::Rolebench {
        for tongue in ["eng", "zh"] {
            let own = roles.all.iter().filter(|role| role.tongue() == tongue);
            let told: Map<String, Value> =
                own.map(|role| (role.name.clone(), Value::String(role.description.clone()))).collect();
            if !told.is_empty() {
                let text = serde_json::to_string_pretty(&Value::Object(told)).expect("descriptions are JSON");
                files.insert(format!("profiles-{tongue}/desc.json"), text + "\n");
            }
        }
    }
    files
}

/// Writes one exchange.
fn line(format: Format, system: &str, question: &str, answer: &str) -> Value {
    match format {
        Format::Alpaca | Format::Rolebench => {
            json!({"instruction": question, "input": "", "output": answer, "system": system})
        }
        Format::Sharegpt => json!({"conversations": [
            {"from": "system", "value": system},
            {"from": "human", "value": question},
            {"from": "gpt", "value": answer},
        ]}),
        Format::Messages => json!({"messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer},
        ]}),
    }
}

/// A role as forms tell of it.
struct Role {
    id: String,
    /// Its name; its id where two roles have one name.
    name: String,
    is_chinese: bool,
    description: String,
    /// What a model is told that plays it.
    system: String,
    dialogue: Vec<Value>,
}

impl Role {
    /// Returns the language as `RoleBench` calls it.
    const fn tongue(&self) -> &'static str {
        if self.is_chinese { "zh" } else { "eng" }
    }
}

struct Roles {
    all: Vec<Role>,
}

impl Roles {
    fn new(frames: &[Frame]) -> Self {
        let mut all: Vec<Role> = Vec::new();
        for (_, _, frame) in frames.iter().filter(|(config, ..)| config == "roles") {
            let columns = Columns(frame);
            for place in 0..frame.height() {
                let text = |name| columns.text(name, place).unwrap_or_default();
                let (name, is_chinese) = (text("role"), text("language") == "zh");
                let mut description = text("description");
                let phrases = columns.texts("catchphrases", place);
                let phrases: Vec<String> = phrases.iter().map(|phrase| format!("“{phrase}”")).collect();
                match (phrases.is_empty(), is_chinese) {
                    (true, _) => {}
                    (false, true) => description.extend(["你常说：", &phrases.concat(), "。"]),
                    (false, false) => description.extend([" You often say ", &phrases.join(", "), "."]),
                }
                let system = if is_chinese {
                    format!("你是{name}。{description}")
                } else {
                    format!("You are {name}. {description}")
                };
                let dialogue = columns.dialogue(place);
                let id = columns.text("role_id", place).unwrap_or_else(|| name.clone());
                all.push(Role { id, name, is_chinese, description, system, dialogue });
            }
        }
        let mut seen = BTreeSet::new();
        let twice: BTreeSet<String> =
            all.iter().filter(|role| !seen.insert(slug(&role.name))).map(|role| slug(&role.name)).collect();
        for role in all.iter_mut().filter(|role| twice.contains(&slug(&role.name))) {
            role.name.clone_from(&role.id);
        }
        Self { all }
    }

    fn get(&self, id: &str) -> Option<&Role> {
        self.all.iter().find(|role| role.id == id)
    }
}

/// The columns of a table, read by name.
struct Columns<'a>(&'a DataFrame);

impl Columns<'_> {
    fn text(&self, name: &str, place: usize) -> Option<String> {
        self.0.column(name).ok()?.str().ok()?.get(place).map(str::to_owned)
    }

    fn texts(&self, name: &str, place: usize) -> Vec<String> {
        let list = || self.0.column(name).ok()?.list().ok()?.get_as_series(place);
        let Some(list) = list() else { return Vec::new() };
        list.str().map(|texts| texts.iter().flatten().map(str::to_owned).collect()).unwrap_or_default()
    }

    /// Returns a role's dialogue as `RoleBench` has it.
    fn dialogue(&self, place: usize) -> Vec<Value> {
        let turns = || -> Option<Vec<Value>> {
            let list = self.0.column("dialogue").ok()?.list().ok()?.get_as_series(place)?;
            let fields = list.struct_().ok()?;
            let field = |name: &str| fields.field_by_name(name).ok();
            let (act, round, role, content) = (field("act")?, field("round")?, field("role")?, field("content")?);
            let (act, round) = (act.i32().ok()?, round.i32().ok()?);
            let (role, content) = (role.str().ok()?, content.str().ok()?);
            let turn = |at: usize| {
                json!({
                    "act_id": act.get(at), "diag_id": round.get(at),
                    "role": role.get(at), "content": content.get(at),
                })
            };
            Some((0..list.len()).map(turn).collect())
        };
        turns().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::roles::tests::{RoleRows, frames, rows};
    use super::*;

    fn made(form: Format, rows: &RoleRows) -> BTreeMap<String, String> {
        format(form, &frames(rows))
    }

    fn first(files: &BTreeMap<String, String>, path: &str) -> Value {
        let text = files.get(path).unwrap_or_else(|| panic!("{path} of {:?}", files.keys()));
        serde_json::from_str(text.lines().next().expect("a line")).expect("JSON")
    }

    #[test]
    fn rolebench_has_both_splits_profiles_and_dialogues() {
        let files = made(Format::Rolebench, &rows());
        let row = first(&files, "rolebench-eng/instruction-generalization/role_specific/train.jsonl");
        assert_eq!(row, json!({"role": "Ann", "question": "Ann, is it late?", "generated": ["It is."]}));
        let row = first(&files, "rolebench-zh/instruction-generalization/general/test.jsonl");
        assert_eq!((row["answer"].as_str(), row["baseline"].as_str()), (Some("红。"), Some("红色。")));
        assert!(files.contains_key("rolebench-zh/role-generalization/general/test.jsonl"));
        let turn = first(&files, "profiles-eng/ann.jsonl");
        assert_eq!(turn, json!({"act_id": 0, "diag_id": 0, "role": "narrator", "content": "It rained."}));
        let told: Value = serde_json::from_str(&files["profiles-zh/desc.json"]).unwrap();
        assert_eq!(told["阿满"], "你撑船。你常说：“水不骗人”。");
    }

    #[test]
    fn a_line_for_each_answer_in_the_forms_of_others() {
        let files = made(Format::Messages, &rows());
        assert_eq!(files.keys().map(String::as_str).collect::<Vec<_>>(), ["test.jsonl", "train.jsonl"]);
        assert_eq!(files["test.jsonl"].lines().count(), 2, "both answers to one instruction");
        let line = first(&files, "train.jsonl");
        assert_eq!(line["messages"][0]["content"], "You are Ann. You keep bees.");
        assert_eq!(
            (line["messages"][1]["role"].as_str(), line["messages"][2]["content"].as_str()),
            (Some("user"), Some("It is."))
        );
        let line = first(&made(Format::Sharegpt, &rows()), "train.jsonl");
        assert_eq!(line["conversations"][2], json!({"from": "gpt", "value": "It is."}));
        let line = first(&made(Format::Alpaca, &rows()), "train.jsonl");
        assert_eq!((line["instruction"].as_str(), line["output"].as_str()), (Some("Ann, is it late?"), Some("It is.")));
    }
}
