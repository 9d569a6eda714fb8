//! The scene pool: a folder of scenes by book, files that say who is who in a book, people's own scenes, and people's edits.
//! What people write is never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;

use super::run::json_lines;
use super::{StoreError, atomic};
use crate::schema::Scene;

/// A folder of scenes.
#[derive(Debug, Clone)]
pub struct Pool {
    path: PathBuf,
    /// What would have been written, where nothing is.
    unwritten: Option<Arc<Mutex<BTreeMap<PathBuf, String>>>>,
}

/// What kind of file a scene stands in; later kinds win.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Book,
    Edit,
    Custom,
}

impl Pool {
    /// Opens a pool; the folder is made when it is missing.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(path).map_err(StoreError::io("make the folder", path))?;
        Ok(Self { path: path.to_owned(), unwritten: None })
    }

    /// Takes a pool as it stands, if it does, and keeps in memory what is written to it.
    #[must_use]
    pub fn rehearse(path: &Path) -> Self {
        Self { path: path.to_owned(), unwritten: Some(Arc::default()) }
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the scenes of a book. A file that says so already is left alone, with its time.
    pub fn write_book(&self, slug: &str, scenes: &[Scene]) -> Result<(), StoreError> {
        let path = self.book(slug);
        self.replace(&path, json_lines(&path, scenes)?)
    }

    /// Returns the path of the file that says who is who in a book.
    #[must_use]
    pub fn aliases_path(&self, slug: &str) -> PathBuf {
        self.path.join("aliases").join(format!("{slug}.toml"))
    }

    /// Returns the text of the file that says who is who in a book, where there is one.
    pub fn aliases(&self, slug: &str) -> Result<Option<String>, StoreError> {
        let path = self.aliases_path(slug);
        match self.text(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", &path)(error)),
        }
    }

    /// Replaces the file that says who is who in a book, whoever wrote it; one that says so already is left alone.
    pub fn write_aliases(&self, slug: &str, text: &str) -> Result<(), StoreError> {
        self.replace(&self.aliases_path(slug), text.as_bytes().to_vec())
    }

    /// Returns the scenes of the given books and people's own, sorted by id.
    ///
    /// By id an edit wins over what was extracted, and a custom scene over both. Edits of other books are passed over. Unknown
    /// fields are errors, and so is a book without its file.
    pub fn scenes(&self, slugs: &[String]) -> Result<Vec<Scene>, StoreError> {
        let mut scenes: BTreeMap<String, (Scene, Kind, PathBuf)> = BTreeMap::new();
        for (kind, path, text) in self.files(slugs)? {
            for scene in read(&path, &text)? {
                if kind == Kind::Edit && !slugs.contains(&scene.book) {
                    continue;
                }
                let id = scene.id.clone();
                match scenes.insert(id.clone(), (scene, kind, path.clone())) {
                    // Of two edits the later one wins; elsewhere the same id twice is a slip.
                    Some((_, other_kind, other)) if other_kind == kind && kind != Kind::Edit => {
                        return Err(StoreError::TwoScenes { id, path, other });
                    }
                    _ => {}
                }
            }
        }
        Ok(scenes.into_values().map(|(scene, _, _)| scene).collect())
    }

    /// Returns the blake3 hash over the names and bytes of what [`scenes`](Self::scenes) reads, and of the files that say who is
    /// who in the books, which determine what is extracted.
    pub fn hash(&self, slugs: &[String]) -> Result<String, StoreError> {
        let mut hasher = blake3::Hasher::new();
        let mut files: Vec<(PathBuf, String)> =
            self.files(slugs)?.into_iter().map(|(_, path, text)| (path, text)).collect();
        for slug in slugs.iter().collect::<BTreeSet<_>>() {
            files.extend(self.aliases(slug)?.map(|text| (self.aliases_path(slug), text)));
        }
        for (path, text) in files {
            let name = path.strip_prefix(&self.path).expect("every file of the pool is below it");
            for part in [name.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/"), text] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn book(&self, slug: &str) -> PathBuf {
        self.path.join(format!("{slug}.jsonl"))
    }

    /// Returns every file that counts, with its text: books, then edits, then custom scenes, each in order.
    fn files(&self, slugs: &[String]) -> Result<Vec<(Kind, PathBuf, String)>, StoreError> {
        let mut books: Vec<&String> = slugs.iter().collect();
        books.sort();
        books.dedup();
        let books = books.into_iter().map(|slug| (Kind::Book, self.book(slug)));
        let edits = listed(&self.path.join("edits"), &["jsonl"])?.into_iter().map(|path| (Kind::Edit, path));
        let custom = listed(&self.path.join("custom"), &["json", "toml"])?.into_iter().map(|path| (Kind::Custom, path));
        books
            .chain(edits)
            .chain(custom)
            .map(|(kind, path)| {
                let text = self.text(&path).map_err(StoreError::io("read", &path))?;
                Ok((kind, path, text))
            })
            .collect()
    }

    fn text(&self, path: &Path) -> io::Result<String> {
        if let Some(text) = self.unwritten.as_ref().and_then(|texts| lock(texts).get(path).cloned()) {
            return Ok(text);
        }
        fs::read_to_string(path)
    }

    /// Replaces a file, unless it has these bytes already: then it keeps its time.
    fn replace(&self, path: &Path, bytes: Vec<u8>) -> Result<(), StoreError> {
        if let Some(texts) = &self.unwritten {
            let text = String::from_utf8(bytes).expect("the pool's files are text");
            lock(texts).insert(path.to_owned(), text);
            return Ok(());
        }
        match fs::read(path) {
            Ok(old) if old == bytes => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io("read", path)(error)),
            _ => atomic::write(path, &bytes),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the files of a folder that have one of the extensions, sorted; none when the folder is missing.
fn listed(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(StoreError::io("read the folder", folder))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(StoreError::io("read the folder", folder))?.path();
        if path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known)) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads the scenes of a file: JSON Lines, one scene or a list of them in JSON, or one scene in TOML.
fn read(path: &Path, text: &str) -> Result<Vec<Scene>, StoreError> {
    let fault = |line, fault| StoreError::Scene { path: path.to_owned(), line, fault };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(n, line)| json(line).map_err(|error| fault(Some(n + 1), told(&error))))
            .collect(),
        Some("toml") => toml::from_str(text).map(|scene| vec![scene]).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            fault(line, error.message().to_owned())
        }),
        _ => {
            let scenes =
                if text.trim_start().starts_with('[') { json(text) } else { json(text).map(|scene| vec![scene]) };
            scenes.map_err(|error| fault(Some(error.line()).filter(|line| *line > 0), told(&error)))
        }
    }
}

fn json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
}

/// Returns what an error says without the place, which is told apart.
fn told(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rfind(" at line ").map_or(text.clone(), |end| text[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::schema::{Attribute, Grounded, Language, Motivation, SceneCharacter, Utterance, Visibility};

    fn scene(id: &str, book: &str, summary: &str) -> Scene {
        let value = "Speaks little.".to_owned();
        let attribute = Attribute { key: "性格".to_owned(), value, visibility: Visibility::Public };
        Scene {
            id: id.to_owned(),
            book: book.to_owned(),
            language: Language::Zh,
            chapter: "第一回".to_owned(),
            start: Some(3),
            end: Some(90),
            summary: summary.to_owned(),
            worldview: "w".to_owned(),
            situation: "s".to_owned(),
            motivations: vec![Motivation { character: "薛嵩".to_owned(), motivation: "m".to_owned() }],
            characters: vec![SceneCharacter { name: "薛嵩".to_owned(), aliases: vec![], profile: vec![attribute] }],
            dialogue: vec![Utterance {
                speaker: "薛嵩".to_owned(),
                thought: None,
                action: None,
                speech: Some("“好”\n\u{2028}".to_owned()),
                start: Some(4),
                end: Some(5),
                grounded: Some(Grounded::Exact),
                similarity: Some(1.0),
            }],
            grounding: Some(1.0),
            model: Some("offline:plain".to_owned()),
        }
    }

    fn pool() -> (TempDir, Pool) {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::open(&folder.path().join("scene_pool")).unwrap();
        (folder, pool)
    }

    fn own(pool: &Pool, name: &str, text: &str) {
        atomic::write(&pool.path().join(name), text.as_bytes()).unwrap();
    }

    fn slugs(slugs: &[&str]) -> Vec<String> {
        slugs.iter().map(|slug| (*slug).to_owned()).collect()
    }

    #[test]
    fn a_rehearsal_leaves_the_pool_as_it_is() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("pool");
        let pool = Pool::rehearse(&path);
        pool.write_book("a", &[scene("a@1", "a", "一")]).unwrap();
        pool.write_aliases("a", "# 名\n").unwrap();
        assert_eq!(pool.scenes(&["a".to_owned()]).unwrap().len(), 1);
        assert_eq!(pool.aliases("a").unwrap().as_deref(), Some("# 名\n"));
        assert!(!path.exists());
        // What stands in the pool is read: people's scenes, and files that say who is who.
        let real = Pool::open(&path).unwrap();
        real.write_aliases("b", "x").unwrap();
        assert_eq!(pool.aliases("b").unwrap().as_deref(), Some("x"));
        assert_eq!(real.aliases("a").unwrap(), None);
    }

    #[test]
    fn edits_and_custom_scenes_win() {
        let (_folder, pool) = pool();
        pool.write_book("b", &[scene("b@2", "b", "book"), scene("b@1", "b", "book")]).unwrap();
        pool.write_book("a", &[scene("a@1", "a", "book"), scene("a@2", "a", "book")]).unwrap();
        pool.write_book("empty", &[]).unwrap();
        let line = |scene: Scene| serde_json::to_string(&scene).unwrap() + "\n";
        own(&pool, "edits/1.jsonl", &(line(scene("a@1", "a", "edit")) + "\n" + &line(scene("z@1", "z", "edit"))));
        own(&pool, "edits/2.jsonl", &line(scene("a@1", "a", "later edit")));
        own(&pool, "custom/one.toml", &toml::to_string(&scene("b@1", "b", "custom")).unwrap());
        own(&pool, "custom/two.json", &serde_json::to_string_pretty(&[scene("独白", "我", "custom")]).unwrap());
        own(&pool, "custom/notes.txt", "not a scene");
        let summaries = |books: &[&str]| {
            let scenes = pool.scenes(&slugs(books)).unwrap();
            scenes.into_iter().map(|scene| format!("{} {}", scene.id, scene.summary)).collect::<Vec<_>>()
        };
        assert_eq!(
            summaries(&["b", "a", "empty", "a"]),
            ["a@1 later edit", "a@2 book", "b@1 custom", "b@2 book", "独白 custom"]
        );
        assert_eq!(summaries(&[]), ["b@1 custom", "独白 custom"]);
        assert_eq!(pool.scenes(&slugs(&["a"])).unwrap()[1], scene("a@2", "a", "book"), "read as written");
    }

    #[test]
    fn a_book_is_written_only_when_it_differs_and_the_hash_follows() {
        let (_folder, pool) = pool();
        let scenes = [scene("a@1", "a", "一")];
        pool.write_book("a", &scenes).unwrap();
        let hash = pool.hash(&slugs(&["a"])).unwrap();
        let path = pool.path().join("a.jsonl");
        let modified = fs::metadata(&path).unwrap().modified().unwrap() - std::time::Duration::from_secs(9);
        fs::File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
        pool.write_book("a", &scenes).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), modified);
        assert_eq!(pool.hash(&slugs(&["a", "a"])).unwrap(), hash);
        pool.write_book("b", &[]).unwrap();
        assert_eq!(pool.hash(&slugs(&["a"])).unwrap(), hash, "another book does not count");
        pool.write_book("a", &[scene("a@1", "a", "二")]).unwrap();
        assert_ne!(pool.hash(&slugs(&["a"])).unwrap(), hash);
        own(&pool, "custom/x.json", &serde_json::to_string(&scene("x", "x", "x")).unwrap());
        assert_ne!(pool.hash(&slugs(&["b"])).unwrap(), pool.hash(&[]).unwrap());
    }

    #[test]
    fn who_is_who_stands_beside_the_scenes() {
        let (_folder, pool) = pool();
        assert_eq!(pool.aliases("石头记").unwrap(), None);
        pool.write_book("石头记", &[]).unwrap();
        let without = pool.hash(&slugs(&["石头记"])).unwrap();
        pool.write_aliases("石头记", "people = []\n").unwrap();
        assert_eq!(pool.aliases("石头记").unwrap().unwrap(), "people = []\n");
        assert!(pool.path().join("aliases/石头记.toml").is_file());
        let with = pool.hash(&slugs(&["石头记"])).unwrap();
        assert_ne!(with, without);
        pool.write_aliases("b", "people = []\n").unwrap();
        assert_eq!(pool.hash(&slugs(&["石头记"])).unwrap(), with, "another book does not count");
        fs::create_dir(pool.aliases_path("c")).unwrap();
        let error = pool.aliases("c").expect_err("no file").to_string();
        assert!(error.starts_with("read `") && error.ends_with("c.toml`"), "{error}");
    }

    #[test]
    fn faults_name_file_and_line() {
        let good = serde_json::to_string(&scene("x", "a", "x")).unwrap();
        let toml = toml::to_string(&scene("x", "a", "x")).unwrap();
        for (name, text, told) in [
            (
                "a.jsonl",
                format!("{good}\n\n{}\n", good.replace("\"summary\"", "\"sumary\"")),
                "a.jsonl`, line 3: unknown field `sumary`",
            ),
            ("a.jsonl", format!("{good}\n{good}\n"), "has it too"),
            ("edits/e.jsonl", good.replace("\"speech\"", "\"says\""), "e.jsonl`, line 1: unknown field `says`"),
            ("custom/c.json", good.replace(",\"book\"", ",\n\"bok\""), "c.json`, line 2: unknown field `bok`"),
            ("custom/c.json", "{}".to_owned(), "missing field `id`"),
            ("custom/c.toml", toml.replace("\nsummary", "\nsumary"), "unknown field `sumary`"),
            ("custom/c.toml", "id =\n".to_owned(), "c.toml`, line 1: "),
        ] {
            let (_folder, pool) = pool();
            own(&pool, name, &text);
            if name != "a.jsonl" {
                pool.write_book("a", &[]).unwrap();
            }
            let error = pool.scenes(&slugs(&["a"])).expect_err(name).to_string();
            assert!(error.contains(told), "{told}: {error}");
        }
        let (_folder, pool) = pool();
        let error = pool.scenes(&slugs(&["none"])).expect_err("no such book").to_string();
        assert!(error.starts_with("read `") && error.ends_with("none.jsonl`"), "{error}");
    }
}
