//! Checks that private attributes of scene characters do not appear where other models read them.

use std::collections::HashMap;

use memchr::memmem::{Finder, find};

use super::Group;
use super::findings::Remedy;
use super::findings::{Findings, Location};
use crate::cells::Cells;
use crate::config::Check;
use crate::schema::{CharacterId, SceneId, Visibility};

/// The private values of every scene's cast, and the mentions found.
#[derive(Debug, Default)]
pub(super) struct Privacy {
    scenes: HashMap<SceneId, Vec<Private>>,
    /// By test character: all values of its own profile.
    own: HashMap<CharacterId, Vec<String>>,
    /// The first mention of a private value by another speaker, if any.
    mentions: Vec<Location>,
    /// Number of such mentions.
    times: usize,
}

/// A private value.
#[derive(Debug)]
struct Private {
    names: Vec<String>,
    key: String,
    value: String,
    finder: Finder<'static>,
}

impl Private {
    fn is_in(&self, text: &str) -> bool {
        self.finder.find(text.as_bytes()).is_some()
    }

    fn is_of(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    fn message(&self) -> String {
        let name = self.names.first().map_or("unnamed", String::as_str);
        format!("the text contains the private attribute `{}` of the scene character `{name}`", self.key)
    }
}

impl Privacy {
    /// Adds the private values of scenes, and looks for them where other models read them.
    pub(super) fn check(&mut self, group: &Group<'_>, findings: &mut Findings) {
        match group.config {
            "scenes" => self.add(group, findings),
            "characters" => {
                for row in (0..group.height).filter(|_| group.cells("profile").is_some()) {
                    let own = texts(group, row, "profile", "value").into_iter().map(str::to_owned).collect();
                    self.own.insert(group.text("id", row).unwrap_or_default().into(), own);
                }
            }
            "conversations" => (0..group.height).for_each(|row| self.conversation(group, row)),
            "samples" => (0..group.height).for_each(|row| self.sample(group, row, findings)),
            _ => {}
        }
    }

    /// Notes the mentions in dialogue. A character may reveal its own secret, which others then repeat, and a model may
    /// produce a value by chance, so these are not findings.
    pub(super) fn add_notes(self, notes: &mut Vec<String>) {
        let Some(Location { file: Some(file), row: Some(row), column: Some(column), .. }) = self.mentions.first()
        else {
            return;
        };
        let times = if self.times == 1 { "once".to_owned() } else { format!("{} times", self.times) };
        notes.push(format!(
            "private values of scene characters are mentioned by other speakers {times}, first in {file}, row {row}, `{column}`; \
             values that the character has revealed before do not count"
        ));
    }

    fn add(&mut self, group: &Group<'_>, findings: &mut Findings) {
        let Some(cast) = group.cells("characters") else { return };
        let (Some(names), Some(aliases), Some(profiles)) =
            (cast.field("name"), cast.field("aliases"), cast.field("profile"))
        else {
            return;
        };
        let field = |name: &str| profiles.field(name);
        let (Some(keys), Some(values), Some(visible)) = (field("key"), field("value"), field("visibility")) else {
            return;
        };
        for row in 0..group.height {
            let public: Vec<&str> = cast
                .list(row)
                .flat_map(|member| profiles.list(member))
                .filter(|item| has_visibility(visible, *item, Visibility::Public))
                .filter_map(|item| values.text(item))
                .collect();
            let mut private = Vec::new();
            for member in cast.list(row) {
                let of_member = aliases.list(member).filter_map(|alias| aliases.items().text(alias));
                let names: Vec<String> = names.text(member).into_iter().chain(of_member).map(str::to_owned).collect();
                for item in profiles.list(member).filter(|item| has_visibility(visible, *item, Visibility::Private)) {
                    let value = without_final_marks(values.text(item).unwrap_or_default());
                    // A value that a public profile contains, or that is too short, reveals nothing.
                    if !is_recognizable(value) || public.iter().any(|other| other.contains(value)) {
                        continue;
                    }
                    private.push(Private {
                        names: names.clone(),
                        key: keys.text(item).unwrap_or_default().to_owned(),
                        value: value.to_owned(),
                        finder: Finder::new(value.as_bytes()).into_owned(),
                    });
                }
            }
            for column in ["worldview", "situation"] {
                let Some(text) = group.text(column, row) else { continue };
                for one in private.iter().filter(|one| one.is_in(text)) {
                    findings.add(
                        group.location(Check::Private, row, column),
                        &one.message(),
                        Remedy::CorrectPrivateScene,
                    );
                }
            }
            if !private.is_empty() {
                self.scenes.insert(group.text("id", row).unwrap_or_default().into(), private);
            }
        }
    }

    /// Returns the private values that a test character does not know: those of other characters that are not in its
    /// own profile either, whatever name it plays under.
    fn foreign<'a>(private: &'a [Private], name: &str, own: &[&str]) -> Vec<&'a Private> {
        let is_own = |one: &Private| one.is_of(name) || own.iter().any(|own| own.contains(&one.value));
        private.iter().filter(|one| !is_own(one)).collect()
    }

    fn conversation(&mut self, group: &Group<'_>, row: usize) {
        let Some(private) = group.text("scene_id", row).and_then(|scene| self.scenes.get(scene)) else { return };
        let Some(turns) = group.cells("turns") else { return };
        let Some((speakers, contents)) = turns.field("speaker").zip(turns.field("content")) else { return };
        let own = group.text("character_id", row).and_then(|id| self.own.get(id));
        let own: Vec<&str> = own.into_iter().flatten().map(String::as_str).collect();
        let foreign = Self::foreign(private, group.text("test_character", row).unwrap_or_default(), &own);
        let mut found = 0;
        for one in foreign {
            for turn in turns.list(row).filter(|turn| contents.text(*turn).is_some_and(|text| one.is_in(text))) {
                // From here on all participants know it.
                if speakers.text(turn).is_some_and(|speaker| one.is_of(speaker)) {
                    break;
                }
                found += 1;
            }
        }
        self.note(found, group, row, "turns[].content");
    }

    fn note(&mut self, found: usize, group: &Group<'_>, row: usize, column: &str) {
        self.times += found;
        if found > 0 && self.mentions.is_empty() {
            self.mentions.push(group.location(Check::Private, row, column));
        }
    }

    fn sample(&mut self, group: &Group<'_>, row: usize, findings: &mut Findings) {
        if let Some(hidden) = hidden(group, row) {
            let location = group.location(Check::Private, row, "scene_characters[].profile[].visibility");
            findings.add(
                location,
                &format!("the attribute `{hidden}` of a scene character is private"),
                Remedy::RemovePrivateSample,
            );
        }
        let Some(private) = group.text("scene_id", row).and_then(|scene| self.scenes.get(scene)) else { return };
        // Without these columns it is unknown who may know the value.
        if group.texts("test_character").is_none() || group.cells("profile").is_none() {
            return;
        }
        // A private value in the sample may be part of the test character's own profile.
        let known = group.text("character_id", row).and_then(|id| self.own.get(id));
        let own: Vec<&str> = known.map_or_else(
            || of_profile(group, row, Visibility::Private),
            |known| known.iter().map(String::as_str).collect(),
        );
        let (mut mentions, mut first) = (0, "reference");
        for one in Self::foreign(private, group.text("test_character", row).unwrap_or_default(), &own) {
            if let Some(column) = revealing_column(group, row, one) {
                findings.add(group.location(Check::Private, row, column), &one.message(), Remedy::RemovePrivateSample);
            }
            let history = texts(group, row, "history", "content");
            for column in ["reference", "baseline"] {
                let has = group.text(column, row).is_some_and(|text| one.is_in(text));
                if has && !history.iter().any(|line| one.is_in(line)) {
                    first = if mentions == 0 { column } else { first };
                    mentions += 1;
                }
            }
        }
        self.note(mentions, group, row, first);
    }
}

/// Returns the column in which a private value appears but should not; utterances in which a character reveals it are
/// excepted.
fn revealing_column(group: &Group<'_>, row: usize, one: &Private) -> Option<&'static str> {
    let has = |text: &&str| one.is_in(text);
    for column in ["worldview", "situation", "strategy", "criteria"] {
        if group.text(column, row).as_ref().is_some_and(has) {
            return Some(column);
        }
    }
    if of_profile(group, row, Visibility::Public).iter().any(has) {
        return Some("profile[].value");
    }
    let public = group.cells("scene_characters").and_then(|cast| Some((cast, cast.field("profile")?)));
    if let Some((cast, profiles)) = public {
        let values = profiles.field("value");
        let mut items = cast.list(row).flat_map(|member| profiles.list(member));
        if items.any(|item| values.and_then(|values| values.text(item)).as_ref().is_some_and(has)) {
            return Some("scene_characters[].profile[].value");
        }
    }
    let history = texts(group, row, "history", "content");
    if group.text("rationale", row).as_ref().is_some_and(has) {
        // The judge may repeat what it has read.
        let replies = ["reference", "baseline"].into_iter().filter_map(|column| group.text(column, row));
        if !history.iter().copied().chain(replies).any(|line| one.is_in(line)) {
            return Some("rationale");
        }
    }
    let message = texts(group, row, "messages", "content").into_iter().find(has)?;
    let is_in_history = history.iter().any(|line| has(line) && find(message.as_bytes(), line.as_bytes()).is_some());
    (!is_in_history).then_some("messages[].content")
}

/// Returns the values of the test character's profile with a visibility.
fn of_profile<'a>(group: &'a Group<'_>, row: usize, visibility: Visibility) -> Vec<&'a str> {
    let Some(profile) = group.cells("profile") else { return Vec::new() };
    let Some((values, visible)) = profile.field("value").zip(profile.field("visibility")) else { return Vec::new() };
    let items = profile.list(row).filter(|item| has_visibility(visible, *item, visibility));
    items.filter_map(|item| values.text(item)).collect()
}

/// Returns the key of a private attribute of another character that a sample shows.
fn hidden(group: &Group<'_>, row: usize) -> Option<String> {
    let cast = group.cells("scene_characters")?;
    let profiles = cast.field("profile")?;
    let (keys, visible) = (profiles.field("key")?, profiles.field("visibility")?);
    let mut items = cast.list(row).flat_map(|member| profiles.list(member));
    let item = items.find(|item| has_visibility(visible, *item, Visibility::Private))?;
    Some(keys.text(item).unwrap_or_default().to_owned())
}

/// Returns whether an attribute has a visibility.
fn has_visibility(cells: &Cells, item: usize, visibility: Visibility) -> bool {
    cells.text(item) == Some(visibility.name())
}

fn texts<'a>(group: &'a Group<'_>, row: usize, column: &str, field: &str) -> Vec<&'a str> {
    let Some(cells) = group.cells(column) else { return Vec::new() };
    let Some(texts) = cells.field(field) else { return Vec::new() };
    cells.list(row).filter_map(|item| texts.text(item)).collect()
}

/// Returns a value without its final punctuation, which may differ in running text.
pub(crate) fn without_final_marks(value: &str) -> &str {
    value.trim().trim_end_matches(crate::text::is_mark)
}

/// Returns whether a value is long enough to be recognized: ten letters, or five Chinese characters. `a widow`, `渔夫` or
/// a two-word name may appear anywhere; from this length on chance matches are rare.
pub(crate) fn is_recognizable(value: &str) -> bool {
    let wide = value.chars().filter(|c| !c.is_ascii() && c.is_alphanumeric()).count();
    let narrow = value.chars().filter(char::is_ascii_alphanumeric).count();
    wide * 2 + narrow >= 10
}
