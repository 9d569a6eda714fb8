//! People's own scenes: each that is added gets a file of its own below `custom/`, and none takes another's place unasked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::pieces::{PoolFile, SceneKind, pass};
use super::{Pool, index};
use crate::schema::slug;
use crate::store::{StoreError, atomic};

/// The most bytes of a scene's id that its file's name takes over; file systems have bounds of their own.
const LONGEST: usize = 120;

/// A scene of a person's own, as its file will hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnScene {
    /// The scene's id.
    pub id: String,
    /// The text.
    pub text: String,
    /// Whether it is TOML; else it is JSON.
    pub is_toml: bool,
}

/// Where a scene went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// Into a new file.
    New(PathBuf),
    /// Into this file, in place of another with its id.
    Replaced(PathBuf),
    /// This file holds it as it is.
    Same(PathBuf),
}

impl Pool {
    /// Adds scenes, all or none: where one cannot be added, nothing is written. Only with `replace` may a scene take the
    /// place of another custom one with its id, and never that of one whose file holds others too.
    pub fn add(&self, scenes: &[OwnScene], replace: bool) -> Result<Vec<Added>, StoreError> {
        let folder = self.path.join("custom");
        let files: Vec<PoolFile> = self.files()?.into_iter().filter(|file| file.kind == SceneKind::Custom).collect();
        let ids = pass(&files, |file, text| index::scene(file, text.ok()?).ok().map(|scene| scene.id));
        let (mut standing, mut counts): (BTreeMap<String, &Path>, BTreeMap<&Path, usize>) = Default::default();
        for placed in ids {
            let path = files[placed.place.file].path.as_path();
            *counts.entry(path).or_default() += 1;
            if let Some(id) = placed.value {
                standing.insert(id, path);
            }
        }
        let mut taken: BTreeSet<PathBuf> = BTreeSet::new();
        let mut plan = Vec::new();
        for scene in scenes {
            let Some(old) = standing.get(&scene.id) else {
                let path = free(&folder, scene, &taken);
                taken.insert(path.clone());
                plan.push((Added::New(path), None));
                continue;
            };
            let shared = counts[old] > 1;
            if !shared && fs::read(old).is_ok_and(|bytes| bytes == scene.text.as_bytes()) {
                plan.push((Added::Same((*old).to_owned()), None));
                continue;
            }
            let (id, path) = (scene.id.clone(), (*old).to_owned());
            if !replace {
                return Err(StoreError::Taken { id, path });
            }
            if shared {
                return Err(StoreError::Shared { id, path });
            }
            // The old file goes when the new one stands: for a moment two files have the id, never none.
            let (new, gone) = if old.extension().is_some_and(|extension| extension == ending(scene)) {
                (path, None)
            } else {
                (free(&folder, scene, &taken), Some(path))
            };
            taken.insert(new.clone());
            plan.push((Added::Replaced(new), gone));
        }
        for (scene, (added, gone)) in scenes.iter().zip(&plan) {
            if let Added::New(path) | Added::Replaced(path) = added {
                atomic::write(path, scene.text.as_bytes())?;
            }
            if let Some(gone) = gone {
                fs::remove_file(gone).map_err(StoreError::io("remove", gone))?;
            }
        }
        Ok(plan.into_iter().map(|(added, _)| added).collect())
    }
}

const fn ending(scene: &OwnScene) -> &'static str {
    if scene.is_toml { "toml" } else { "json" }
}

/// Returns the path that follows from a scene's id; with a number where another scene has it.
fn free(folder: &Path, scene: &OwnScene, taken: &BTreeSet<PathBuf>) -> PathBuf {
    let name = slug(&scene.id);
    let name = &name[..name.floor_char_boundary(LONGEST)];
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut paths =
        std::iter::once(name.to_owned()).chain(numbered).map(|name| folder.join(format!("{name}.{}", ending(scene))));
    paths.find(|path| !path.exists() && !taken.contains(path)).expect("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(id: &str, situation: &str, is_toml: bool) -> OwnScene {
        let text = if is_toml {
            format!("id = \"{id}\"\nbook = \"b\"\nlanguage = \"en\"\nsituation = \"{situation}\"\ncharacters = []\n")
        } else {
            format!(r#"{{"id":"{id}","book":"b","language":"en","situation":"{situation}","characters":[]}}"#)
        };
        OwnScene { id: id.to_owned(), text, is_toml }
    }

    #[test]
    fn no_scene_takes_another_s_place_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::open(folder.path()).unwrap();
        let path = |name: &str| folder.path().join("custom").join(name);
        let added = pool.add(&[own("渡口 夜话", "1", true), own("b@1", "1", false), own("b-1", "1", false)], false);
        let expected = [path("渡口-夜话.toml"), path("b-1.json"), path("b-1-2.json")].map(Added::New);
        assert_eq!(added.unwrap(), expected, "names that a file cannot tell apart are numbered");
        assert_eq!(pool.add(&[own("b@1", "1", false)], false).unwrap(), [Added::Same(path("b-1.json"))]);
        let error = pool.add(&[own("new", "1", false), own("b@1", "2", false)], false).expect_err("taken").to_string();
        assert!(error.starts_with("add the scene `b@1`") && !path("new.json").exists(), "all or none: {error}");
        assert_eq!(pool.add(&[own("b@1", "2", false)], true).unwrap(), [Added::Replaced(path("b-1.json"))]);
        assert!(fs::read_to_string(path("b-1.json")).unwrap().contains("\"2\""));
        // Another form is another file.
        assert_eq!(pool.add(&[own("b@1", "3", true)], true).unwrap(), [Added::Replaced(path("b-1.toml"))]);
        assert!(!path("b-1.json").exists());
        assert_eq!(pool.index(&[]).unwrap().len(), 3);
    }

    #[test]
    fn a_list_by_hand_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::open(folder.path()).unwrap();
        let text = format!("[{},\n {}]", own("a", "1", false).text, own("b", "1", false).text);
        atomic::write(&folder.path().join("custom/mine.json"), text.as_bytes()).unwrap();
        let error = pool.add(&[own("b", "2", false)], true).expect_err("shared").to_string();
        assert!(error.starts_with("replace the scene `b`") && error.ends_with("with others"), "{error}");
        assert_eq!(fs::read_to_string(folder.path().join("custom/mine.json")).unwrap(), text);
        let long = "字".repeat(200);
        let [Added::New(path)] = &pool.add(&[own(&long, "1", false)], false).unwrap()[..] else { panic!("new") };
        assert!(path.file_name().unwrap().len() < 200);
    }
}
