//! Converts role data to the formats of other projects: `RoleBench`, Alpaca, `ShareGPT` and plain chat messages. It
//! works from the tables of a data set, without its run. The output keeps the order of the rows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use polars::prelude::DataFrame;
use serde_json::{Map, Value, json};

use crate::schema::slug;

/// A format of role data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleFormat {
    /// `RoleBench`: role descriptions, dialogues and both splits, in one folder per language.
    Rolebench,
    /// Alpaca: `instruction`, `input`, `output` and `system`.
    Alpaca,
    /// `ShareGPT`: `conversations` of `from` and `value`.
    Sharegpt,
    /// Chat messages: `messages` of `role` and `content`.
    Messages,
}

impl RoleFormat {
    /// Returns the name of the format and of its folder.
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

/// The configs that are converted. `roles` must come first.
pub const ROLE_CONFIGS: [&str; 3] = ["roles", "role_specific", "role_general"];

/// A table of a data set: its config, its split and its rows.
pub type ConfigFrame = (String, String, DataFrame);

/// A conversion of a data set's role data: pass the tables of roles first, then the other tables one by one.
///
/// The output goes to `add` with the path of its file. All files are JSON Lines except the descriptions of `RoleBench`.
/// A missing column, as in older or foreign data sets, reads as null. A role that is not in the tables of roles has
/// only a name.
pub struct RoleConversion {
    format: RoleFormat,
    roles: Roles,
}

impl RoleConversion {
    /// Starts with the tables of roles, and writes the files that come from them.
    pub fn new<E>(
        format: RoleFormat,
        roles: &[DataFrame],
        mut add: impl FnMut(&str, &str) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut all = Roles::new(roles);
        if format == RoleFormat::Rolebench {
            for role in &mut all.all {
                let path = format!("profiles-{}/{}.jsonl", role.language_code(), slug(&role.name));
                for turn in std::mem::take(&mut role.dialogue) {
                    add(&path, &format!("{turn}\n"))?;
                }
            }
            for language_code in ["eng", "zh"] {
                let own = all.all.iter().filter(|role| role.language_code() == language_code);
                let descriptions: Map<String, Value> =
                    own.map(|role| (role.name.clone(), Value::String(role.description.clone()))).collect();
                if !descriptions.is_empty() {
                    let text =
                        serde_json::to_string_pretty(&Value::Object(descriptions)).expect("strings can be serialized");
                    add(&format!("profiles-{language_code}/desc.json"), &format!("{text}\n"))?;
                }
            }
        }
        Ok(Self { format, roles: all })
    }

    /// Writes the rows of a table of `role_specific` or `role_general`, in order.
    pub fn table<E>(
        &self,
        (config, split, frame): &ConfigFrame,
        mut add: impl FnMut(&str, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let columns = Columns(frame);
        for index in 0..frame.height() {
            let question = columns.text("question", index).unwrap_or_default();
            let generated = columns.texts("generated", index);
            let role = self.roles.get(&columns, index);
            let canary = columns.text("canary", index);
            if self.format != RoleFormat::Rolebench {
                for answer in generated {
                    let line = with_canary(line(self.format, &role.system, &question, &answer), canary.as_deref());
                    add(&format!("{split}.jsonl"), &format!("{line}\n"))?;
                }
                continue;
            }
            let mut row = json!({"role": role.name, "question": question, "generated": generated});
            if config == "role_general" {
                row["answer"] = json!(columns.text("answer", index));
                row["baseline"] = json!(columns.text("baseline", index));
            }
            let instruction_kind = if config == "role_general" { "general" } else { "role_specific" };
            let row = with_canary(row, canary.as_deref());
            let by = |section: &str, split: &str| {
                format!("rolebench-{}/{section}/{instruction_kind}/{split}.jsonl", role.language_code())
            };
            add(&by("instruction-generalization", split), &format!("{row}\n"))?;
            if let Some(split) = columns.text("role_split", index) {
                add(&by("role-generalization", &split), &format!("{row}\n"))?;
            }
        }
        Ok(())
    }
}

/// Adds the canary of the row, if any, to a line. Readers of these formats ignore unknown keys.
fn with_canary(mut line: Value, canary: Option<&str>) -> Value {
    if let (Some(canary), Some(line)) = (canary, line.as_object_mut()) {
        line.insert("canary".to_owned(), canary.into());
    }
    line
}

/// Returns one exchange in a format.
fn line(format: RoleFormat, system: &str, question: &str, answer: &str) -> Value {
    match format {
        RoleFormat::Alpaca | RoleFormat::Rolebench => {
            json!({"instruction": question, "input": "", "output": answer, "system": system})
        }
        RoleFormat::Sharegpt => json!({"conversations": [
            {"from": "system", "value": system},
            {"from": "human", "value": question},
            {"from": "gpt", "value": answer},
        ]}),
        RoleFormat::Messages => json!({"messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer},
        ]}),
    }
}

/// A role as the formats describe it.
#[derive(Clone)]
struct Role {
    id: String,
    /// The name, or the id if two roles have the same name.
    name: String,
    is_chinese: bool,
    description: String,
    /// The system prompt for a model that plays the role.
    system: String,
    dialogue: Vec<Value>,
}

impl Role {
    fn new(id: String, name: String, is_chinese: bool, description: String) -> Self {
        let system =
            if is_chinese { format!("你是{name}。{description}") } else { format!("You are {name}. {description}") };
        Self { id, name, is_chinese, description, system: system.trim_end().to_owned(), dialogue: Vec::new() }
    }

    /// Returns the language code of `RoleBench`.
    const fn language_code(&self) -> &'static str {
        if self.is_chinese { "zh" } else { "eng" }
    }
}

struct Roles {
    all: Vec<Role>,
    /// Indices by id.
    ids: BTreeMap<String, usize>,
    /// Indices by language and name.
    names: BTreeMap<(bool, String), usize>,
}

impl Roles {
    fn new(frames: &[DataFrame]) -> Self {
        let mut all: Vec<Role> = Vec::new();
        for frame in frames {
            let columns = Columns(frame);
            for index in 0..frame.height() {
                let text = |name| columns.text(name, index).unwrap_or_default();
                let (name, is_chinese) = (text("role"), text("language") == "zh");
                let mut description = text("description");
                let phrases = columns.texts("catchphrases", index);
                let phrases: Vec<String> = phrases.iter().map(|phrase| format!("“{phrase}”")).collect();
                match (phrases.is_empty(), is_chinese) {
                    (true, _) => {}
                    (false, true) => description.extend(["你常说：", &phrases.concat(), "。"]),
                    (false, false) => description.extend([" You often say ", &phrases.join(", "), "."]),
                }
                let canary = columns.text("canary", index);
                let dialogue =
                    columns.dialogue(index).into_iter().map(|turn| with_canary(turn, canary.as_deref())).collect();
                let id = columns.text("role_id", index).unwrap_or_else(|| name.clone());
                all.push(Role { dialogue, ..Role::new(id, name, is_chinese, description) });
            }
        }
        let mut seen = BTreeSet::new();
        let duplicate_slugs: BTreeSet<String> =
            all.iter().filter(|role| !seen.insert(slug(&role.name))).map(|role| slug(&role.name)).collect();
        for role in all.iter_mut().filter(|role| duplicate_slugs.contains(&slug(&role.name))) {
            role.name.clone_from(&role.id);
        }
        let ids = all.iter().enumerate().map(|(index, role)| (role.id.clone(), index)).collect();
        let names = all.iter().enumerate().map(|(index, role)| ((role.is_chinese, role.name.clone()), index)).collect();
        Self { all, ids, names }
    }

    /// Returns the role of a row: by its id, otherwise by language and name.
    fn get(&self, columns: &Columns<'_>, index: usize) -> Cow<'_, Role> {
        let name = columns.text("role", index).unwrap_or_default();
        let id = columns.text("role_id", index);
        let is_chinese = columns.text("language", index).as_deref() == Some("zh");
        let by_id = || id.as_ref().and_then(|id| self.ids.get(id)).map(|index| &self.all[*index]);
        let by_name = || self.names.get(&(is_chinese, name.clone())).map(|index| &self.all[*index]);
        match by_id().or_else(by_name) {
            Some(role) => Cow::Borrowed(role),
            None => Cow::Owned(Role::new(id.unwrap_or_else(|| name.clone()), name, is_chinese, String::new())),
        }
    }
}

/// Access to the columns of a table by name.
struct Columns<'a>(&'a DataFrame);

impl Columns<'_> {
    fn text(&self, name: &str, index: usize) -> Option<String> {
        self.0.column(name).ok()?.str().ok()?.get(index).map(str::to_owned)
    }

    fn texts(&self, name: &str, index: usize) -> Vec<String> {
        let list = || self.0.column(name).ok()?.list().ok()?.get_as_series(index);
        let Some(list) = list() else { return Vec::new() };
        list.str().map(|texts| texts.iter().flatten().map(str::to_owned).collect()).unwrap_or_default()
    }

    /// Returns a role's dialogue in the format of `RoleBench`.
    fn dialogue(&self, index: usize) -> Vec<Value> {
        let turns = || -> Option<Vec<Value>> {
            let list = self.0.column("dialogue").ok()?.list().ok()?.get_as_series(index)?;
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
    use polars::prelude::Column;

    use super::*;
    use crate::stages::export::role_tables::tests::{RoleRows, frames, rows};

    fn converted(format: RoleFormat, rows: &RoleRows) -> BTreeMap<String, String> {
        of_frames(format, &frames(rows))
    }

    fn of_frames(format: RoleFormat, frames: &[ConfigFrame]) -> BTreeMap<String, String> {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        let mut add = |path: &str, text: &str| {
            files.entry(path.to_owned()).or_default().push_str(text);
            Ok::<(), std::convert::Infallible>(())
        };
        let (roles, others): (Vec<&ConfigFrame>, Vec<&ConfigFrame>) =
            frames.iter().partition(|frame| frame.0 == "roles");
        let roles: Vec<DataFrame> = roles.into_iter().map(|(_, _, frame)| frame.clone()).collect();
        let Ok(conversion) = RoleConversion::new(format, &roles, &mut add);
        for frame in others {
            let Ok(()) = conversion.table(frame, &mut add);
        }
        files
    }

    #[test]
    fn rows_of_an_external_data_set_are_converted_without_loss() {
        // No table of roles, no ids, no role splits: only the columns of RoleBench itself.
        let frames: Vec<ConfigFrame> = frames(&rows())
            .into_iter()
            .filter(|(config, ..)| config != "roles")
            .map(|(config, split, frame)| (config, split, frame.drop_many(["role_id", "role_split", "model"])))
            .collect();
        let line = first(&of_frames(RoleFormat::Messages, &frames), "train.jsonl");
        assert_eq!(line["messages"][0]["content"], "You are Ann.");
        assert_eq!(of_frames(RoleFormat::Alpaca, &frames)["test.jsonl"].lines().count(), 2);
        let files = of_frames(RoleFormat::Rolebench, &frames);
        let row = first(&files, "rolebench-zh/instruction-generalization/general/test.jsonl");
        assert_eq!(row["role"], "阿满");
        // With a table of roles that has no ids either, roles are found by name.
        let mut frames = frames;
        let (_, _, roles) = crate::stages::export::role_tables::tests::frames(&rows()).remove(0);
        frames.push(("roles".to_owned(), "train".to_owned(), roles.drop_many(["role_id"])));
        let line = first(&of_frames(RoleFormat::Messages, &frames), "train.jsonl");
        assert_eq!(line["messages"][0]["content"], "You are Ann. You keep bees.");
    }

    fn first(files: &BTreeMap<String, String>, path: &str) -> Value {
        let text = files.get(path).unwrap_or_else(|| panic!("no {path} among {:?}", files.keys()));
        serde_json::from_str(text.lines().next().expect("the file has a line")).expect("the line is JSON")
    }

    #[test]
    fn every_line_has_the_canary() {
        let frames: Vec<ConfigFrame> = frames(&rows())
            .into_iter()
            .map(|(config, split, mut frame)| {
                frame.with_column(Column::new("canary".into(), vec!["金丝雀 7f"; frame.height()])).unwrap();
                (config, split, frame)
            })
            .collect();
        for format in [RoleFormat::Rolebench, RoleFormat::Alpaca, RoleFormat::Sharegpt, RoleFormat::Messages] {
            let files = of_frames(format, &frames);
            for (path, text) in files.iter().filter(|(path, _)| path.rsplit('.').next() == Some("jsonl")) {
                for line in text.lines() {
                    let line: Value = serde_json::from_str(line).expect("each line is JSON");
                    assert_eq!(line["canary"], "金丝雀 7f", "{path}");
                }
            }
            assert!(files.len() > 1 && !converted(format, &rows()).values().any(|text| text.contains("canary")));
        }
    }

    #[test]
    fn rolebench_has_both_splits_profiles_and_dialogues() {
        let files = converted(RoleFormat::Rolebench, &rows());
        let row = first(&files, "rolebench-eng/instruction-generalization/role_specific/train.jsonl");
        assert_eq!(row, json!({"role": "Ann", "question": "Ann, is it late?", "generated": ["It is."]}));
        let row = first(&files, "rolebench-zh/instruction-generalization/general/test.jsonl");
        assert_eq!((row["answer"].as_str(), row["baseline"].as_str()), (Some("红。"), Some("红色。")));
        assert!(files.contains_key("rolebench-zh/role-generalization/general/test.jsonl"));
        let turn = first(&files, "profiles-eng/ann.jsonl");
        assert_eq!(turn, json!({"act_id": 0, "diag_id": 0, "role": "narrator", "content": "It rained."}));
        let descriptions: Value = serde_json::from_str(&files["profiles-zh/desc.json"]).unwrap();
        assert_eq!(descriptions["阿满"], "你撑船。你常说：“水不骗人”。");
    }

    #[test]
    fn other_formats_have_one_line_per_answer() {
        let files = converted(RoleFormat::Messages, &rows());
        assert_eq!(files.keys().map(String::as_str).collect::<Vec<_>>(), ["test.jsonl", "train.jsonl"]);
        assert_eq!(files["test.jsonl"].lines().count(), 2, "one line for each of the two answers");
        let line = first(&files, "train.jsonl");
        assert_eq!(line["messages"][0]["content"], "You are Ann. You keep bees.");
        assert_eq!(
            (line["messages"][1]["role"].as_str(), line["messages"][2]["content"].as_str()),
            (Some("user"), Some("It is."))
        );
        let line = first(&converted(RoleFormat::Sharegpt, &rows()), "train.jsonl");
        assert_eq!(line["conversations"][2], json!({"from": "gpt", "value": "It is."}));
        let line = first(&converted(RoleFormat::Alpaca, &rows()), "train.jsonl");
        assert_eq!((line["instruction"].as_str(), line["output"].as_str()), (Some("Ann, is it late?"), Some("It is.")));
    }
}
