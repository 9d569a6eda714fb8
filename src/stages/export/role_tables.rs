//! The tables of roles, `roles`, `role_specific` and `role_general`, and their section of the card.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use polars::prelude::{Column, DataFrame, PolarsResult};

use super::ExportError;
use super::columns::{ColumnError, Lists, number, share, text};
use super::groups::TableRow;
use super::tables::framed;
use super::tally::TableCounts;
use crate::schema::{
    DialogueTurn, Distinctness, Language, Overlap, PromptStyle, RoleGeneral, RoleProfile, RoleSpecific, RoleTally,
    Split, TripletKind,
};

/// A row of the split `test`; the bare record is a row of `train`.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut<T>(pub T);

impl TableRow for RoleProfile {
    const CONFIG: &'static str = "roles";
    const SPLIT: &'static str = "train";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        framed(Self::CONFIG, &rows.iter().collect::<Vec<_>>(), roles)
    }

    fn count(&self, tally: &mut TableCounts) {
        tally.language(self.language);
    }
}

impl TableRow for RoleSpecific {
    const CONFIG: &'static str = "role_specific";
    const SPLIT: &'static str = "train";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        framed(Self::CONFIG, &rows.iter().collect::<Vec<_>>(), specific)
    }

    fn count(&self, tally: &mut TableCounts) {
        tally.language(self.language);
    }
}

impl TableRow for RoleGeneral {
    const CONFIG: &'static str = "role_general";
    const SPLIT: &'static str = "train";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        framed(Self::CONFIG, &rows.iter().collect::<Vec<_>>(), general)
    }

    fn count(&self, tally: &mut TableCounts) {
        tally.language(self.language);
    }
}

impl TableRow for HeldOut<RoleSpecific> {
    const CONFIG: &'static str = RoleSpecific::CONFIG;
    const SPLIT: &'static str = "test";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        framed(Self::CONFIG, &rows.iter().map(|row| &row.0).collect::<Vec<_>>(), specific)
    }

    fn count(&self, tally: &mut TableCounts) {
        self.0.count(tally);
    }
}

impl TableRow for HeldOut<RoleGeneral> {
    const CONFIG: &'static str = RoleGeneral::CONFIG;
    const SPLIT: &'static str = "test";

    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError> {
        framed(Self::CONFIG, &rows.iter().map(|row| &row.0).collect::<Vec<_>>(), general)
    }

    fn count(&self, tally: &mut TableCounts) {
        self.0.count(tally);
    }
}

fn roles(rows: &[&RoleProfile]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("role", rows, |row| row.role.as_str()),
        text("language", rows, |row| row.language.code()),
        text("source", rows, |row| row.source.as_str()),
        text("description", rows, |row| row.description.as_str()),
        Lists::new(rows.iter().map(|row| row.catchphrases.as_slice())).strings("catchphrases")?,
        number("rounds", rows, |row| row.rounds)?,
        number("turns", rows, |row| row.turns)?,
        text("role_id", rows, |row| row.role_id.as_str()),
        text("portrait", rows, |row| row.portrait.as_str()),
        text("distinctness", rows, |row| row.distinctness.map(Distinctness::name)),
        text("role_split", rows, |row| row.role_split.name()),
        dialogues(rows.iter().map(|row| row.dialogue.as_slice()))?,
        text("model", rows, |row| row.model.as_str()),
    ])
}

fn dialogues<'a>(lists: impl Iterator<Item = &'a [DialogueTurn]>) -> Result<Column, ColumnError> {
    let lists = Lists::new(lists);
    let fields = [
        number("act", &lists.items, |turn| turn.act)?,
        number("round", &lists.items, |turn| turn.round)?,
        text("role", &lists.items, |turn| turn.role.as_str()),
        text("content", &lists.items, |turn| turn.content.as_str()),
    ];
    let made: PolarsResult<Column> = lists.structs("dialogue", &fields);
    Ok(made?)
}

fn specific(rows: &[&RoleSpecific]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("id", rows, |row| row.id.as_str()),
        text("role", rows, |row| row.role.as_str()),
        text("language", rows, |row| row.language.code()),
        text("kind", rows, |row| TripletKind::name(row.kind)),
        text("question", rows, |row| row.question.as_str()),
        Lists::new(rows.iter().map(|row| row.generated.as_slice())).strings("generated")?,
        text("confidence", rows, |row| row.confidence.name()),
        text("rationale", rows, |row| row.rationale.as_str()),
        text("segment", rows, |row| row.segment.as_str()),
        share("similarity", rows, |row| row.similarity),
        text("model", rows, |row| row.model.as_str()),
        text("role_id", rows, |row| row.role_id.as_str()),
        text("role_split", rows, |row| row.role_split.map(Split::name)),
    ])
}

fn general(rows: &[&RoleGeneral]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("id", rows, |row| row.id.as_str()),
        text("role", rows, |row| row.role.as_str()),
        text("language", rows, |row| row.language.code()),
        text("question", rows, |row| row.question.as_str()),
        text("answer", rows, |row| row.answer.as_str()),
        Lists::new(rows.iter().map(|row| row.generated.as_slice())).strings("generated")?,
        text("baseline", rows, |row| row.baseline.as_deref()),
        text("form", rows, |row| PromptStyle::name(row.form)),
        text("model", rows, |row| row.model.as_str()),
        text("role_id", rows, |row| row.role_id.as_str()),
        text("instruction", rows, |row| row.instruction.as_str()),
        text("role_split", rows, |row| row.role_split.map(Split::name)),
    ])
}

/// Returns the section of the card about roles.
pub(super) fn section(tallies: &BTreeMap<Language, RoleTally>) -> String {
    if tallies.is_empty() {
        return String::new();
    }
    let mut text = "`roles`, `role_specific` and `role_general` are training data for role-play in the style of \
        RoleBench. A model wrote questions for each role from segments of its dialogue and from its description, with \
        answers and a verdict on each. Questions of high confidence with a clean answer were de-duplicated by BM25. \
        General instructions were answered in the role: `generated` has the replies that passed the cleaning, \
        `baseline` is one more reply, and `answer` is the plain answer without a role. `train` and `test` are split \
        by question, `role_split` by role. The similarity of test rows to training rows was measured on the final \
        rows, as BM25 in both directions divided by the score of a row with itself. The last three columns show how \
        many of the test rows reach the threshold `[instruct] leak_similarity`, and the highest similarity.\n\n\
        | language | roles | held out | triplets | filtered | removed as duplicates | similar: specific | similar: \
        general | similar: by role |\n|---|---:|---:|---:|---:|---:|---|---|---|\n"
        .to_owned();
    for (language, tally) in tallies {
        let RoleTally { roles, held_out, candidates, filtered, removed, .. } = tally;
        let overlap_text = |overlap: Overlap| format!("{} of {}, {:.2}", overlap.alike, overlap.test, overlap.highest);
        let [specific, general, by_role] = [tally.specific, tally.general, tally.by_role].map(overlap_text);
        let _ = writeln!(
            text,
            "| {language} | {roles} | {held_out} | {candidates} | {filtered} | {removed} | {specific} | {general} | {by_role} |"
        );
    }
    text.push('\n');
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::schema::Confidence;
    use crate::stages::export::features::notes;

    /// Test rows about roles.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct RoleRows {
        pub(crate) profiles: Vec<RoleProfile>,
        pub(crate) specific: Vec<RoleSpecific>,
        pub(crate) general: Vec<RoleGeneral>,
    }

    /// Returns a role in each language, a question to one of them and an instruction for the other.
    pub(crate) fn rows() -> RoleRows {
        let profile = |role: &str, language, description: &str, catchphrases: &[&str]| RoleProfile {
            role: role.to_owned(),
            language,
            source: "a-book".to_owned(),
            description: description.to_owned(),
            catchphrases: catchphrases.iter().map(|phrase| (*phrase).to_owned()).collect(),
            rounds: 1,
            turns: 2,
            role_id: crate::schema::slug(role).into(),
            portrait: String::new(),
            distinctness: (language == Language::Zh).then_some(Distinctness::Very),
            role_split: if language == Language::Zh { Split::Test } else { Split::Train },
            dialogue: vec![
                DialogueTurn { act: 0, round: 0, role: "narrator".to_owned(), content: "It rained.".to_owned() },
                DialogueTurn { act: 0, round: 0, role: role.to_owned(), content: "So.".to_owned() },
            ],
            model: "m".to_owned(),
        };
        let specific = RoleSpecific {
            id: "ann/0-0/0".to_owned(),
            role: "Ann".to_owned(),
            language: Language::En,
            kind: TripletKind::ScriptBased,
            question: "Ann, is it late?".to_owned(),
            generated: vec!["It is.".to_owned()],
            confidence: Confidence::High,
            rationale: "It is clear.".to_owned(),
            segment: "0-0".to_owned(),
            similarity: None,
            model: "m".to_owned(),
            role_id: "ann".into(),
            role_split: Some(Split::Train),
            split: Split::Train,
        };
        let general = RoleGeneral {
            id: "阿满/general/1".to_owned(),
            role: "阿满".to_owned(),
            language: Language::Zh,
            question: "天晚时云是什么颜色？".to_owned(),
            answer: "红。".to_owned(),
            generated: vec!["红，像灯。".to_owned(), "你抬头看。".to_owned()],
            baseline: Some("红色。".to_owned()),
            form: PromptStyle::FewShotDialogue,
            model: "m".to_owned(),
            role_id: "阿满".into(),
            instruction: "1".to_owned(),
            role_split: Some(Split::Test),
            split: Split::Test,
        };
        let profiles = vec![
            profile("阿满", Language::Zh, "你撑船。", &["水不骗人"]),
            profile("Ann", Language::En, "You keep bees.", &[]),
        ];
        RoleRows { profiles, specific: vec![specific], general: vec![general] }
    }

    /// Returns the config, split and frame of each table.
    pub(crate) fn frames(rows: &RoleRows) -> Vec<(String, String, DataFrame)> {
        fn of<T: TableRow>(rows: &[T]) -> Option<(String, String, DataFrame)> {
            let frame = (!rows.is_empty()).then(|| T::frame(rows).unwrap())?;
            Some((T::CONFIG.to_owned(), T::SPLIT.to_owned(), frame))
        }
        let (test_specific, specific): (Vec<_>, Vec<_>) =
            rows.specific.iter().cloned().partition(|row| row.split == Split::Test);
        let (test_general, general): (Vec<_>, Vec<_>) =
            rows.general.iter().cloned().partition(|row| row.split == Split::Test);
        let tables = [
            of(&rows.profiles),
            of(&specific),
            of(&test_specific.into_iter().map(HeldOut).collect::<Vec<_>>()),
            of(&general),
            of(&test_general.into_iter().map(HeldOut).collect::<Vec<_>>()),
        ];
        tables.into_iter().flatten().collect()
    }

    #[test]
    fn tables_of_roles_have_the_columns_of_the_contract_first() {
        let tables = frames(&rows());
        let configs: Vec<(&str, &str)> =
            tables.iter().map(|(config, split, _)| (config.as_str(), split.as_str())).collect();
        assert_eq!(configs, [("roles", "train"), ("role_specific", "train"), ("role_general", "test")]);
        let contract = [
            "role string, language string, source string, description string, catchphrases list<string>, rounds int32, turns \
             int32, ",
            "id string, role string, language string, kind string, question string, generated list<string>, confidence string, \
             rationale string, segment string, similarity float64, model string, ",
            "id string, role string, language string, question string, answer string, generated list<string>, baseline string, \
             form string, model string, ",
        ];
        for ((config, _, frame), contract) in tables.iter().zip(contract) {
            let notes = notes(config, frame);
            let columns: Vec<String> = notes.iter().map(|note| format!("{} {}", note.path, note.kind)).collect();
            assert!(columns.join(", ").starts_with(contract), "{columns:?}");
            assert!(notes.iter().all(|note| !note.description.is_empty()), "{notes:?}");
        }
    }

    #[test]
    fn the_card_reports_the_overlap_of_train_and_test() {
        let tally = RoleTally {
            roles: 9,
            held_out: 1,
            candidates: 400,
            filtered: 120,
            removed: 180,
            specific: Overlap { test: 40, alike: 0, highest: 0.512 },
            general: Overlap { test: 30, alike: 0, highest: 0.2 },
            by_role: Overlap { test: 20, alike: 3, highest: 1.0 },
        };
        assert!(
            section(&BTreeMap::from([(Language::En, tally)]))
                .ends_with("| en | 9 | 1 | 400 | 120 | 180 | 0 of 40, 0.51 | 0 of 30, 0.20 | 3 of 20, 1.00 |\n\n")
        );
        assert!(section(&BTreeMap::new()).is_empty());
    }
}
