//! Which characters of a scene take part beside the test character, and by which names they are known.

use std::collections::BTreeSet;

use crate::schema::{Character, Scene, SceneCharacter, Utterance, slug};
use crate::stages::simulate::reply::label_kinds::identifies_speaker;
use crate::text::is_name;

/// Returns the names and aliases of each participant, test character first. Those of the test character come from its
/// file and, if it is itself a character of the scene, from the scene.
pub(super) fn participant_names<'a>(
    scene: &'a Scene,
    character: &'a Character,
    scene_members: &[&'a SceneCharacter],
) -> Vec<Vec<&'a str>> {
    let aliases = |aliases: &'a [String]| aliases.iter().map(String::as_str).filter(|alias| identifies_speaker(alias));
    let is_member = |name: &str| scene_members.iter().any(|member| member.name == name);
    let of_test_character = scene.characters.iter().filter(|member| !is_member(&member.name));
    let of_test_character = of_test_character.filter(|member| sameness(member, character) != Sameness::None);
    let of_scene =
        of_test_character.flat_map(|member| std::iter::once(member.name.as_str()).chain(aliases(&member.aliases)));
    let own = std::iter::once(character.name.as_str()).chain(aliases(&character.aliases)).chain(of_scene).collect();
    let others = scene_members
        .iter()
        .map(|member| std::iter::once(member.name.as_str()).chain(aliases(&member.aliases)).collect());
    std::iter::once(own).chain(others).collect()
}

/// Returns the names in a scene's cast and dialogue that belong to no participant.
pub(super) fn absent<'a>(scene: &'a Scene, participant_names: &[Vec<&str>]) -> Vec<&'a str> {
    let names = scene.characters.iter().map(|member| &member.name);
    let names: BTreeSet<&str> =
        names.chain(scene.dialogue.iter().map(|line| &line.speaker)).map(String::as_str).collect();
    let is_known =
        |name: &str| participant_names.iter().flatten().any(|known| is_same(name, known) || is_name(name, known));
    names
        .into_iter()
        .filter(|name| *name != Utterance::ENVIRONMENT && identifies_speaker(name) && !is_known(name))
        .collect()
}

/// Returns the `max_members` scene characters with the most utterances, in scene order, without the test character and
/// duplicate names.
pub(super) fn scene_members<'a>(
    scene: &'a Scene,
    character: &Character,
    max_members: usize,
) -> Vec<&'a SceneCharacter> {
    let same: Vec<Sameness> = scene.characters.iter().map(|member| sameness(member, character)).collect();
    let named = same.contains(&Sameness::Name);
    let mut scene_members: Vec<&SceneCharacter> = Vec::new();
    for (member, same) in scene.characters.iter().zip(same) {
        let test = same == Sameness::Name || (same == Sameness::Alias && !named);
        let known = scene_members.iter().any(|other| is_same(&other.name, &member.name));
        if !known && !test && member.name != Utterance::ENVIRONMENT && !member.name.trim().is_empty() {
            scene_members.push(member);
        }
    }
    let lines = |member: &SceneCharacter| scene.dialogue.iter().filter(|line| is_called(member, &line.speaker)).count();
    let mut ranked: Vec<(std::cmp::Reverse<usize>, usize)> =
        scene_members.iter().enumerate().map(|(index, member)| (std::cmp::Reverse(lines(member)), index)).collect();
    ranked.sort_unstable();
    ranked.truncate(max_members);
    let mut kept: Vec<usize> = ranked.into_iter().map(|(_, index)| index).collect();
    kept.sort_unstable();
    kept.into_iter().map(|index| scene_members[index]).collect()
}

/// How a scene character matches the test character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sameness {
    /// The name of one is a name or alias of the other.
    Name,
    /// They share an alias. It may be a form of address such as `Miss Bennet`, so it counts only if no scene character
    /// matches by name.
    Alias,
    /// No match.
    None,
}

fn sameness(member: &SceneCharacter, character: &Character) -> Sameness {
    let by_name = is_called(member, &character.name) || character.aliases.iter().any(|own| is_same(own, &member.name));
    if by_name {
        Sameness::Name
    } else if character.aliases.iter().any(|own| is_called(member, own)) {
        Sameness::Alias
    } else {
        Sameness::None
    }
}

/// Returns whether a scene character has this name or alias.
pub(super) fn is_called(member: &SceneCharacter, name: &str) -> bool {
    std::iter::once(&member.name).chain(&member.aliases).any(|own| is_same(own, name))
}

/// Compares names by their letters and digits. Names without letters or digits never match.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (slug(one), slug(other));
    one == other && one != "-"
}
