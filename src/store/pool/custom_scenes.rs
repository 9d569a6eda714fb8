//! Adding custom scenes: each gets a file of its own in `custom/`, and replaces an existing scene only on request.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::pool_scan::{PoolFile, SceneKind, scan};
use super::{Pool, index};
use crate::schema::{SceneId, slug};
use crate::store::atomic;
use crate::store::error::StoreError;

/// The maximum number of bytes of a scene's id in its file name, because file systems limit the length of names.
const LONGEST: usize = 120;

/// A custom scene as its file will contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomScene {
    /// The scene's id.
    pub id: SceneId,
    /// The text of the file.
    pub text: String,
    /// Whether the text is TOML; otherwise it is JSON.
    pub is_toml: bool,
}

/// The result of adding a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddedScene {
    /// It was written to a new file.
    New(PathBuf),
    /// It was written to this file and replaced the scene with the same id.
    Replaced(PathBuf),
    /// This file already has exactly this content.
    Same(PathBuf),
}

impl Pool {
    /// Adds all scenes or none: if one cannot be added, nothing is written.
    ///
    /// With `replace` a scene may replace the custom scene with the same id, unless that one's file contains other
    /// scenes too.
    pub fn add(&self, scenes: &[CustomScene], replace: bool) -> Result<Vec<AddedScene>, StoreError> {
        let folder = self.path.join("custom");
        let files: Vec<PoolFile> = self.files()?.into_iter().filter(|file| file.kind == SceneKind::Custom).collect();
        let ids = scan(&files, |file, text| index::scene(file, text.ok()?).ok().map(|scene| scene.id));
        let (mut existing_files, mut counts): (BTreeMap<SceneId, &Path>, BTreeMap<&Path, usize>) = Default::default();
        for located in ids {
            let path = files[located.position.file].path.as_path();
            *counts.entry(path).or_default() += 1;
            if let Some(id) = located.value {
                existing_files.insert(id, path);
            }
        }
        let mut used_paths: BTreeSet<PathBuf> = BTreeSet::new();
        let mut plan = Vec::new();
        for scene in scenes {
            let Some(old) = existing_files.get(&scene.id) else {
                let path = free_path(&folder, scene, &used_paths);
                used_paths.insert(path.clone());
                plan.push((AddedScene::New(path), None));
                continue;
            };
            let shared = counts[old] > 1;
            if !shared && fs::read(old).is_ok_and(|bytes| bytes == scene.text.as_bytes()) {
                plan.push((AddedScene::Same((*old).to_owned()), None));
                continue;
            }
            let (id, path) = (scene.id.clone(), (*old).to_owned());
            if !replace {
                return Err(StoreError::SceneExists { id, path });
            }
            if shared {
                return Err(StoreError::SharedFile { id, path });
            }
            // The old file is removed after the new one is written: for a moment two files have the id, but the scene
            // is never missing.
            let (new, old_path) = if old.extension().is_some_and(|extension| extension == extension_of(scene)) {
                (path, None)
            } else {
                (free_path(&folder, scene, &used_paths), Some(path))
            };
            used_paths.insert(new.clone());
            plan.push((AddedScene::Replaced(new), old_path));
        }
        for (scene, (added, old_path)) in scenes.iter().zip(&plan) {
            if let AddedScene::New(path) | AddedScene::Replaced(path) = added {
                atomic::write(path, scene.text.as_bytes())?;
            }
            if let Some(old_path) = old_path {
                fs::remove_file(old_path).map_err(StoreError::io("remove", old_path))?;
            }
        }
        Ok(plan.into_iter().map(|(added, _)| added).collect())
    }
}

const fn extension_of(scene: &CustomScene) -> &'static str {
    if scene.is_toml { "toml" } else { "json" }
}

/// Returns a free path derived from the scene's id, with a number if another scene has that path.
fn free_path(folder: &Path, scene: &CustomScene, used_paths: &BTreeSet<PathBuf>) -> PathBuf {
    let name = slug(&scene.id);
    let name = &name[..name.floor_char_boundary(LONGEST)];
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut paths = std::iter::once(name.to_owned())
        .chain(numbered)
        .map(|name| folder.join(format!("{name}.{}", extension_of(scene))));
    paths.find(|path| !path.exists() && !used_paths.contains(path)).expect("the candidates are unlimited")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(id: &str, situation: &str, is_toml: bool) -> CustomScene {
        let text = if is_toml {
            format!("id = \"{id}\"\nbook = \"b\"\nlanguage = \"en\"\nsituation = \"{situation}\"\ncharacters = []\n")
        } else {
            format!(r#"{{"id":"{id}","book":"b","language":"en","situation":"{situation}","characters":[]}}"#)
        };
        CustomScene { id: id.into(), text, is_toml }
    }

    #[test]
    fn a_scene_is_replaced_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::open(folder.path()).unwrap();
        let path = |name: &str| folder.path().join("custom").join(name);
        let added = pool.add(&[own("渡口 夜话", "1", true), own("b@1", "1", false), own("b-1", "1", false)], false);
        let expected = [path("渡口-夜话.toml"), path("b-1.json"), path("b-1-2.json")].map(AddedScene::New);
        assert_eq!(added.unwrap(), expected, "ids with the same slug are numbered");
        assert_eq!(pool.add(&[own("b@1", "1", false)], false).unwrap(), [AddedScene::Same(path("b-1.json"))]);
        let error = pool.add(&[own("new", "1", false), own("b@1", "2", false)], false).expect_err("taken").to_string();
        assert!(
            error.starts_with("failed to add the scene `b@1`") && !path("new.json").exists(),
            "all or none: {error}"
        );
        assert_eq!(pool.add(&[own("b@1", "2", false)], true).unwrap(), [AddedScene::Replaced(path("b-1.json"))]);
        assert!(fs::read_to_string(path("b-1.json")).unwrap().contains("\"2\""));
        // A scene in the other format is written to another file.
        assert_eq!(pool.add(&[own("b@1", "3", true)], true).unwrap(), [AddedScene::Replaced(path("b-1.toml"))]);
        assert!(!path("b-1.json").exists());
        assert_eq!(pool.index(&[]).unwrap().len(), 3);
    }

    #[test]
    fn a_handwritten_list_is_not_modified() {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::open(folder.path()).unwrap();
        let text = format!("[{},\n {}]", own("a", "1", false).text, own("b", "1", false).text);
        atomic::write(&folder.path().join("custom/mine.json"), text.as_bytes()).unwrap();
        let error = pool.add(&[own("b", "2", false)], true).expect_err("shared").to_string();
        assert!(error.starts_with("failed to replace the scene `b`") && error.ends_with("other scenes"), "{error}");
        assert_eq!(fs::read_to_string(folder.path().join("custom/mine.json")).unwrap(), text);
        let long = "字".repeat(200);
        let [AddedScene::New(path)] = &pool.add(&[own(&long, "1", false)], false).unwrap()[..] else { panic!("new") };
        assert!(path.file_name().unwrap().len() < 200);
    }
}
