//! A scene as readable text.

use std::io::{self, Write};

use crate::cli::output::control_chars::{visible, visible_lines};
use crate::schema::{Attribute, Scene, Utterance, Visibility};
use crate::stages::export::thousands;

/// Writes a scene as readable text.
pub(super) fn write_scene(out: &mut impl Write, scene: &Scene, origin: &str) -> io::Result<()> {
    let mut line = |label: &str, text: &str| match text.trim() {
        "" => Ok(()),
        text => writeln!(out, "{label:>12}  {}", visible_lines(text).replace('\n', "\n              ")),
    };
    line("scene", &scene.id)?;
    line("file", origin)?;
    line("book", &format!("{} ({})", scene.book, scene.language))?;
    line("chapter", &scene.chapter)?;
    if let (Some(start), Some(end)) = (scene.start, scene.end) {
        line("range", &format!("{} to {}", thousands(start.into()), thousands(end.into())))?;
    }
    line("salience", &scene.salience.map_or_else(String::new, |salience| format!("{salience} of 100")))?;
    line("grounding", &scene.grounding.map_or_else(String::new, |share| format!("{share:.3}")))?;
    line("model", scene.model.as_deref().unwrap_or_default())?;
    line("summary", &scene.summary)?;
    line("world", &scene.worldview)?;
    line("situation", &scene.situation)?;
    for character in &scene.characters {
        writeln!(out)?;
        let mut line = |label: &str, text: &str| {
            writeln!(out, "{label:>12}  {}", visible_lines(text.trim()).replace('\n', "\n              "))
        };
        let aliases = character.aliases.join(", ");
        let name = if aliases.is_empty() { character.name.clone() } else { format!("{} ({aliases})", character.name) };
        line("character", &name)?;
        for Attribute { key, value, visibility } in &character.profile {
            let private = if *visibility == Visibility::Private { " (private)" } else { "" };
            line("", &format!("{key}{private}: {value}"))?;
        }
        for motivation in scene.motivations.iter().filter(|motivation| motivation.character == character.name) {
            line("wants", &motivation.motivation)?;
        }
    }
    writeln!(out)?;
    for Utterance { speaker, thought, action, speech, .. } in &scene.dialogue {
        let mut parts = Vec::new();
        parts.extend(thought.as_ref().map(|thought| format!("[{thought}]")));
        parts.extend(action.as_ref().map(|action| format!("({action})")));
        parts.extend(speech.clone());
        writeln!(out, "{}: {}", visible(speaker), visible_lines(&parts.join(" ")).replace('\n', "\n  "))?;
    }
    Ok(())
}
