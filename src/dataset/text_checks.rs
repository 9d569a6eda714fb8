//! Checks the texts of scenes and other records for keys and passwords, signs of a wrong encoding, and private
//! attributes in public texts.

use super::pool::scene_checks::SceneFault;
use super::validate::{is_recognizable, without_final_marks};
use crate::config::Check;
use crate::schema::{Scene, Visibility};
use crate::text::{find_mojibake, secrets};

/// Returns the problems of a text, each with its check.
pub(crate) fn of_text(text: &str) -> impl Iterator<Item = (Check, String)> {
    let secrets = secrets(text).into_iter();
    let secrets =
        secrets.map(|secret| (Check::Secret, format!("the text looks like {}: `{}`", secret.kind, secret.hint(text))));
    secrets.chain(find_mojibake(text).into_iter().map(|sign| {
        let times = if sign.count == 1 { "once".to_owned() } else { format!("{} times", sign.count) };
        let at = text[..sign.first].chars().count();
        (Check::Text, format!("the text has {} {times}, first at character {at}", sign.kind))
    }))
}

/// Returns the problems of a scene's texts, in the order of its fields.
pub(crate) fn text_faults(scene: &Scene) -> Vec<SceneFault> {
    let mut faults = Vec::new();
    each_text(scene, &mut |pointer, text| {
        faults.extend(of_text(text).map(|(check, message)| SceneFault::found(check, pointer.to_string(), message)));
    });
    private_values(scene, &mut faults);
    faults
}

/// Returns secrets in the source text of a scene outside its fields, such as in comments.
pub(crate) fn in_comments(text: &str, scene: &Scene) -> Vec<SceneFault> {
    let mut faults = Vec::new();
    for secret in secrets(text) {
        let (mut is_in_field, found) = (false, &text[secret.range.clone()]);
        each_text(scene, &mut |_, field| is_in_field |= field.contains(found));
        if !is_in_field {
            let line = text[..secret.range.start].matches('\n').count() + 1;
            let message = format!("line {line} looks like {}: `{}`", secret.kind, secret.hint(text));
            faults.push(SceneFault::found(Check::Secret, "", message));
        }
    }
    faults
}

/// Reports private attributes in the texts that all participants of a scene see.
fn private_values(scene: &Scene, faults: &mut Vec<SceneFault>) {
    let public = || scene.characters.iter().flat_map(|member| &member.profile);
    let public = || public().filter(|attribute| attribute.visibility == Visibility::Public);
    for member in &scene.characters {
        for attribute in member.profile.iter().filter(|attribute| attribute.visibility == Visibility::Private) {
            let value = without_final_marks(&attribute.value);
            // Values in a public profile are not private.
            if !is_recognizable(value) || public().any(|other| other.value.contains(value)) {
                continue;
            }
            for (pointer, text) in [("/worldview", &scene.worldview), ("/situation", &scene.situation)] {
                if text.contains(value) {
                    let message = format!(
                        "the text contains the private attribute `{}` of the character `{}`",
                        attribute.key, member.name
                    );
                    faults.push(SceneFault::found(Check::Private, pointer, message));
                }
            }
        }
    }
}

/// Calls `visit` with every text of a scene and its JSON Pointer.
fn each_text(scene: &Scene, visit: &mut impl FnMut(std::fmt::Arguments<'_>, &str)) {
    for (name, text) in [
        ("id", scene.id.as_str()),
        ("book", &scene.book),
        ("chapter", &scene.chapter),
        ("summary", &scene.summary),
        ("worldview", &scene.worldview),
        ("situation", &scene.situation),
    ] {
        visit(format_args!("/{name}"), text);
    }
    for (at, wish) in scene.motivations.iter().enumerate() {
        visit(format_args!("/motivations/{at}/character"), &wish.character);
        visit(format_args!("/motivations/{at}/motivation"), &wish.motivation);
    }
    for (at, member) in scene.characters.iter().enumerate() {
        visit(format_args!("/characters/{at}/name"), &member.name);
        for (entry, alias) in member.aliases.iter().enumerate() {
            visit(format_args!("/characters/{at}/aliases/{entry}"), alias);
        }
        for (entry, attribute) in member.profile.iter().enumerate() {
            visit(format_args!("/characters/{at}/profile/{entry}/key"), &attribute.key);
            visit(format_args!("/characters/{at}/profile/{entry}/value"), &attribute.value);
        }
    }
    for (at, line) in scene.dialogue.iter().enumerate() {
        visit(format_args!("/dialogue/{at}/speaker"), &line.speaker);
        for (part, text) in [("thought", &line.thought), ("action", &line.action), ("speech", &line.speech)] {
            if let Some(text) = text {
                visit(format_args!("/dialogue/{at}/{part}"), text);
            }
        }
    }
    if let Some(model) = &scene.model {
        visit(format_args!("/model"), model);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Language;

    fn scene(language: Language) -> Scene {
        let (name, other, private, situation) = match language {
            Language::En => ("Old Zhou", "Aman", "Owes the ferryman eleven crowns.", "Night at the landing."),
            Language::Zh => ("老周", "阿满", "欠船家十一块大洋。", "夜里，渡口。"),
        };
        let text = serde_json::json!({
            "id": "s", "book": "b", "language": language.code(), "situation": situation, "worldview": situation,
            "motivations": [{"character": name, "motivation": situation}],
            "characters": [
                {"name": name, "aliases": [other], "profile": [
                    {"key": "k", "value": private, "visibility": "private"},
                    {"key": "p", "value": situation, "visibility": "public"},
                ]},
                {"name": other, "profile": [{"key": "k", "value": situation, "visibility": "public"}]},
            ],
            "dialogue": [{"speaker": name, "thought": situation, "action": situation, "speech": situation}],
            "model": "m", "chapter": "c", "summary": situation,
        });
        serde_json::from_value(text).expect("a scene")
    }

    fn found_in(scene: &Scene) -> Vec<(Check, String)> {
        text_faults(scene).into_iter().map(|fault| (fault.check, fault.pointer)).collect()
    }

    #[test]
    fn secrets_are_found_in_every_field() {
        let key = format!("sk-{}", "aB3dE5fG7hJ9kL1mN2pQ4rS6");
        for language in Language::ALL {
            assert_eq!(found_in(&scene(language)), []);
            let mut pointers = Vec::new();
            each_text(&scene(language), &mut |pointer, _| pointers.push(pointer.to_string()));
            for pointer in &pointers {
                for (planted, check) in [(key.as_str(), Check::Secret), ("\u{fffd}", Check::Text), ("\0", Check::Text)]
                {
                    let mut value = serde_json::to_value(scene(language)).expect("JSON");
                    let slot = value.pointer_mut(pointer).expect("the pointer is valid");
                    *slot = format!("{}，{planted}", slot.as_str().expect("a text")).into();
                    let changed: Scene = serde_json::from_value(value).expect("a scene");
                    let found_in = found_in(&changed);
                    assert_eq!(found_in, [(check, pointer.clone())], "{planted:?} in {pointer}");
                }
            }
            assert_eq!(pointers.len(), 22);
        }
    }

    #[test]
    fn private_attributes_in_shared_texts_are_found() {
        for language in Language::ALL {
            let sound = scene(language);
            let value = sound.characters[0].profile[0].value.trim_end_matches(['.', '。']).to_owned();
            for (index, field) in [(0, "/worldview"), (1, "/situation")] {
                let mut scene = sound.clone();
                let text = if index == 0 { &mut scene.worldview } else { &mut scene.situation };
                text.push_str(&value);
                assert_eq!(found_in(&scene), [(Check::Private, field.to_owned())]);
                // A value that is also public is not private.
                scene.characters[1].profile[0].value = format!("{value}!");
                assert_eq!(found_in(&scene), []);
            }
            let mut aloud = sound.clone();
            aloud.dialogue[0].speech = Some(value);
            assert_eq!(found_in(&aloud), [], "characters may reveal their own secrets");
        }
    }

    #[test]
    fn a_key_in_a_comment_is_found_and_one_in_a_field_is_reported_once() {
        let key = format!("hf_{}", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY");
        let mut scene = scene(Language::Zh);
        let text = format!("# {key}\nid = \"s\"\n");
        assert_eq!(in_comments(&text, &scene).len(), 1);
        scene.summary = format!("口令是{key}。");
        assert_eq!(in_comments(&text, &scene), []);
    }
}
