//! Whether what only a scene character knows of itself stands where others read it.

use std::collections::HashMap;

use memchr::memmem::{Finder, find};

use super::Group;
use super::places::Findings;

const REMEDY: &str = "the value is its character's own: take the sample out, mend the scene (`scene_pool/edits/`) or make the \
                      attribute public, and build again";

/// The private values of every scene's cast, and where they are looked for.
#[derive(Debug, Default)]
pub(super) struct Privacy {
    scenes: HashMap<String, Vec<Private>>,
}

/// A private value.
#[derive(Debug)]
struct Private {
    names: Vec<String>,
    key: String,
    value: String,
    finder: Finder<'static>,
}

impl Privacy {
    /// Takes the private values of scenes, and looks for them in samples.
    pub(super) fn check(&mut self, group: &Group<'_>, findings: &mut Findings) {
        match group.config {
            "scenes" => self.add(group),
            "samples" => {
                for row in 0..group.height {
                    self.sample(group, row, findings);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, group: &Group<'_>) {
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
                .filter(|item| visible.text(*item) == Some("public"))
                .filter_map(|item| values.text(item))
                .collect();
            let mut private = Vec::new();
            for member in cast.list(row) {
                let of_member = aliases.list(member).filter_map(|alias| aliases.items().text(alias));
                let names: Vec<String> = names.text(member).into_iter().chain(of_member).map(str::to_owned).collect();
                for item in profiles.list(member).filter(|item| visible.text(*item) == Some("private")) {
                    let value = told(values.text(item).unwrap_or_default());
                    // What stands in somebody's public profile, or says next to nothing, gives nobody away.
                    if !tells(value) || public.iter().any(|other| other.contains(value)) {
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
            if !private.is_empty() {
                self.scenes.insert(group.text("id", row).unwrap_or_default().to_owned(), private);
            }
        }
    }

    fn sample(&self, group: &Group<'_>, row: usize, findings: &mut Findings) {
        if let Some(hidden) = hidden(group, row) {
            let spot = group.spot("private", row, "scene_characters[].profile[].visibility");
            findings.add(spot, &format!("the attribute `{hidden}` of a scene character is private"), REMEDY);
        }
        let Some(private) = group.text("scene_id", row).and_then(|scene| self.scenes.get(scene)) else { return };
        // Without these nothing tells whose the value is.
        if group.texts("test_character").is_none() || group.cells("profile").is_none() {
            return;
        }
        let test_character = group.text("test_character", row).unwrap_or_default();
        let own = texts(group, row, "profile", "value");
        for one in private.iter().filter(|one| !one.names.iter().any(|name| name == test_character)) {
            if own.iter().any(|own| own.contains(&one.value)) {
                continue;
            }
            let Some(column) = Self::place(group, row, one) else { continue };
            let (name, key) = (one.names.first().map_or("somebody", String::as_str), &one.key);
            let message = format!("it has the private attribute `{key}` of the scene character `{name}`");
            findings.add(group.spot("private", row, column), &message, REMEDY);
        }
    }

    /// Returns where a value stands that it should not: what a character says of itself aside.
    fn place(group: &Group<'_>, row: usize, one: &Private) -> Option<&'static str> {
        let has = |text: &&str| one.finder.find(text.as_bytes()).is_some();
        for column in ["worldview", "situation", "strategy"] {
            if group.text(column, row).as_ref().is_some_and(has) {
                return Some(column);
            }
        }
        let public = group.cells("scene_characters").and_then(|cast| Some((cast, cast.field("profile")?)));
        if let Some((cast, profiles)) = public {
            let values = profiles.field("value");
            let mut items = cast.list(row).flat_map(|member| profiles.list(member));
            if items.any(|item| values.and_then(|values| values.text(item)).as_ref().is_some_and(has)) {
                return Some("scene_characters[].profile[].value");
            }
        }
        let message = texts(group, row, "messages", "content").into_iter().find(has)?;
        let said = texts(group, row, "history", "content");
        let is_said = said.iter().any(|line| has(line) && find(message.as_bytes(), line.as_bytes()).is_some());
        (!is_said).then_some("messages[].content")
    }
}

/// Returns the key of a private attribute that a sample shows of somebody else.
fn hidden(group: &Group<'_>, row: usize) -> Option<String> {
    let cast = group.cells("scene_characters")?;
    let profiles = cast.field("profile")?;
    let (keys, visible) = (profiles.field("key")?, profiles.field("visibility")?);
    let mut items = cast.list(row).flat_map(|member| profiles.list(member));
    let item = items.find(|item| visible.text(*item) == Some("private"))?;
    Some(keys.text(item).unwrap_or_default().to_owned())
}

fn texts<'a>(group: &'a Group<'_>, row: usize, column: &str, field: &str) -> Vec<&'a str> {
    let Some(cells) = group.cells(column) else { return Vec::new() };
    let Some(texts) = cells.field(field) else { return Vec::new() };
    cells.list(row).filter_map(|item| texts.text(item)).collect()
}

/// Returns a value without the mark that ends it, which a sentence around it would take away.
pub(in crate::pipeline) fn told(value: &str) -> &str {
    value.trim().trim_end_matches(crate::text::is_mark)
}

/// Says whether a value says enough to be known again: `a widow` may stand anywhere.
pub(in crate::pipeline) fn tells(value: &str) -> bool {
    let wide = value.chars().filter(|c| !c.is_ascii() && c.is_alphanumeric()).count();
    let narrow = value.chars().filter(char::is_ascii_alphanumeric).count();
    wide * 2 + narrow >= 10
}
