//! The scene pool: a folder with one file of scenes per book, alias files, custom scenes and edits.
//!
//! Files written by users are never modified. [`Pool::index`] lists the scenes without holding their texts.

mod custom_scenes;
mod index;
mod pool_scan;
mod provenance;

pub use custom_scenes::{AddedScene, CustomScene};
pub use index::PoolIndex;
pub use pool_scan::{LocatedScene, PoolFile, SceneKind, ScenePosition, SceneReadError};
pub use provenance::BookWrite;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::atomic;
use super::error::StoreError;
use super::json::json_lines;
use crate::schema::Scene;

/// The contents of files in a dry run, by path.
type Unwritten = BTreeMap<PathBuf, Arc<[u8]>>;

/// A scene pool.
#[derive(Debug, Clone)]
pub struct Pool {
    path: PathBuf,
    /// The files written so far in a dry run; `None` if files are written to disk.
    unwritten: Option<Arc<Mutex<Unwritten>>>,
}

impl Pool {
    /// Opens a pool and creates its folder if it is missing.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(path).map_err(StoreError::io("create the folder", path))?;
        Ok(Self { path: path.to_owned(), unwritten: None })
    }

    /// Opens a pool for a dry run: writes are kept in memory. The folder need not exist.
    #[must_use]
    pub fn in_memory(path: &Path) -> Self {
        Self { path: path.to_owned(), unwritten: Some(Arc::default()) }
    }

    /// Opens a pool if its folder exists.
    #[must_use]
    pub fn find(path: &Path) -> Option<Self> {
        path.is_dir().then(|| Self { path: path.to_owned(), unwritten: None })
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the scenes of a book, unless the user created or changed the file. A file with the same content is not
    /// rewritten and keeps its modification time.
    pub fn write_book(&self, slug: &str, scenes: &[Scene]) -> Result<BookWrite, StoreError> {
        let path = self.book(slug);
        let bytes = json_lines(&path, scenes)?;
        if self.unwritten.is_none() {
            return provenance::replace(&path, &bytes);
        }
        if provenance::is_kept(&path, &bytes)? {
            return Ok(BookWrite::Kept);
        }
        if fs::read(&path).is_ok_and(|old| old == bytes) {
            return Ok(BookWrite::AsGiven);
        }
        self.keep(&path, &bytes);
        Ok(BookWrite::AsGiven)
    }

    /// Returns the path of a book's scene file.
    #[must_use]
    pub fn book(&self, slug: &str) -> PathBuf {
        self.path.join(format!("{slug}.jsonl"))
    }

    /// Returns the path of a book's alias file.
    #[must_use]
    pub fn aliases_path(&self, slug: &str) -> PathBuf {
        self.path.join("aliases").join(format!("{slug}.toml"))
    }

    /// Returns the text of a book's alias file, if it exists.
    pub fn aliases(&self, slug: &str) -> Result<Option<String>, StoreError> {
        let path = self.aliases_path(slug);
        if let Some(bytes) = self.unwritten(&path) {
            return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
        }
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", &path)(error)),
        }
    }

    /// Replaces a book's alias file, even one that the user changed. A file with the same content is not rewritten.
    pub fn write_aliases(&self, slug: &str, text: &str) -> Result<(), StoreError> {
        let path = self.aliases_path(slug);
        if self.unwritten.is_some() {
            self.keep(&path, text.as_bytes());
            return Ok(());
        }
        match fs::read(&path) {
            Ok(old) if old == text.as_bytes() => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io("read", &path)(error)),
            _ => atomic::write(&path, text.as_bytes()),
        }
    }

    /// Returns the index of the scenes of the given books and the custom scenes.
    ///
    /// For the same id an edit overrides an extracted scene, and a custom scene overrides both. Edits of other books
    /// are skipped. Fails on unknown fields, and if a book has no file.
    pub fn index(&self, slugs: &[String]) -> Result<PoolIndex, StoreError> {
        let books: BTreeSet<&String> = slugs.iter().collect();
        let (index, faults) =
            PoolIndex::read(self.files_of(&books)?, |kind, head| kind != SceneKind::Edit || books.contains(&head.book));
        faults.into_iter().next().map_or(Ok(index), Err)
    }

    /// Returns the scenes of the given books and the custom scenes, sorted by id. All are in memory, so use it only for
    /// few books.
    pub fn scenes(&self, slugs: &[String]) -> Result<Vec<Scene>, StoreError> {
        let index = self.index(slugs)?;
        (0..index.len()).map(|position| index.scene(position)).collect()
    }

    /// Returns the index of all readable scenes of the pool, and the errors of the rest.
    pub fn index_all(&self) -> Result<(PoolIndex, Vec<StoreError>), StoreError> {
        Ok(PoolIndex::read(self.files()?, |_, _| true))
    }

    /// Calls `read` with the text of every scene and returns the results in order of files and positions. Uses all
    /// cores; the texts are not kept.
    pub fn scan<T: Send>(
        files: &[PoolFile],
        read: impl Fn(&PoolFile, Result<&str, SceneReadError>) -> T + Sync,
    ) -> Vec<LocatedScene<T>> {
        pool_scan::scan(files, read)
    }

    /// Reads the text of one scene.
    pub fn text(file: &PoolFile, position: &ScenePosition) -> Result<String, SceneReadError> {
        pool_scan::text(file, position)
    }

    /// Returns all files with scenes: books, then edits, then custom scenes, each sorted by path.
    pub fn files(&self) -> Result<Vec<PoolFile>, StoreError> {
        self.with_own(listed(&self.path, &["jsonl"])?)
    }

    /// Returns all alias files, sorted.
    pub fn alias_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        listed(&self.path.join("aliases"), &["toml"])
    }

    /// Returns the BLAKE3 hash of the names and contents of the files that [`index`](Self::index) reads, and of the
    /// books' alias files, which affect the extraction.
    pub fn hash(&self, slugs: &[String]) -> Result<String, StoreError> {
        let books: BTreeSet<&String> = slugs.iter().collect();
        let mut hasher = blake3::Hasher::new();
        let scenes = self.files_of(&books)?.into_iter().map(|file| file.path);
        let people = books.into_iter().map(|slug| self.aliases_path(slug));
        let people = people.filter(|path| path.exists() || self.unwritten(path).is_some());
        for path in scenes.chain(people) {
            let name = path.strip_prefix(&self.path).expect("all files of the pool are in its folder");
            let name = name.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
            if let Some(bytes) = self.unwritten(&path) {
                hasher.update(&(bytes.len() as u64).to_le_bytes());
                hasher.update(&bytes);
                continue;
            }
            let file = File::open(&path).map_err(StoreError::io("read", &path))?;
            let length = file.metadata().map_err(StoreError::io("read", &path))?.len();
            hasher.update(&length.to_le_bytes());
            hasher.update_reader(file.take(length)).map_err(StoreError::io("read", &path))?;
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Returns the content of a file in a dry run.
    fn unwritten(&self, path: &Path) -> Option<Arc<[u8]>> {
        lock(self.unwritten.as_ref()?).get(path).cloned()
    }

    /// Stores the content of a file in a dry run.
    fn keep(&self, path: &Path, bytes: &[u8]) {
        if let Some(files) = &self.unwritten {
            lock(files).insert(path.to_owned(), bytes.into());
        }
    }

    fn files_of(&self, books: &BTreeSet<&String>) -> Result<Vec<PoolFile>, StoreError> {
        self.with_own(books.iter().map(|slug| self.book(slug)).collect())
    }

    fn with_own(&self, books: Vec<PathBuf>) -> Result<Vec<PoolFile>, StoreError> {
        let edits = listed(&self.path.join("edits"), &["jsonl"])?;
        let custom = listed(&self.path.join("custom"), &["json", "toml"])?;
        let of = |kind| move |path: PathBuf| PoolFile { unwritten: self.unwritten(&path), path, kind };
        let books = books.into_iter().map(of(SceneKind::Book));
        Ok(books
            .chain(edits.into_iter().map(of(SceneKind::Edit)))
            .chain(custom.into_iter().map(of(SceneKind::Custom)))
            .collect())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the files in a folder with one of the extensions, sorted. Returns none if the folder is missing.
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

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::schema::{Attribute, Grounded, Language, Motivation, SceneCharacter, Utterance, Visibility};

    fn scene(id: &str, book: &str, summary: &str) -> Scene {
        let value = "Speaks little.".to_owned();
        let attribute = Attribute { key: "性格".to_owned(), value, visibility: Visibility::Public };
        Scene {
            id: id.into(),
            book: book.to_owned(),
            language: Language::Zh,
            chapter: "第一回".to_owned(),
            start: Some(3),
            end: Some(90),
            summary: summary.to_owned(),
            salience: None,
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
    fn edits_and_custom_scenes_take_precedence() {
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
        assert_eq!(pool.scenes(&slugs(&["a"])).unwrap()[1], scene("a@2", "a", "book"), "unchanged");
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
        assert_eq!(pool.hash(&slugs(&["a"])).unwrap(), hash, "other books are not included");
        pool.write_book("a", &[scene("a@1", "a", "二")]).unwrap();
        assert_ne!(pool.hash(&slugs(&["a"])).unwrap(), hash);
        own(&pool, "custom/x.json", &serde_json::to_string(&scene("x", "x", "x")).unwrap());
        assert_ne!(pool.hash(&slugs(&["b"])).unwrap(), pool.hash(&[]).unwrap());
    }

    #[test]
    fn alias_files_are_stored_with_the_scenes() {
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
        assert_eq!(pool.hash(&slugs(&["石头记"])).unwrap(), with, "other books are not included");
        fs::create_dir(pool.aliases_path("c")).unwrap();
        let error = pool.aliases("c").expect_err("the path is a folder").to_string();
        assert!(error.starts_with("failed to read `") && error.ends_with("c.toml`"), "{error}");
    }

    #[test]
    fn errors_name_file_and_line() {
        let good = serde_json::to_string(&scene("x", "a", "x")).unwrap();
        let toml = toml::to_string(&scene("x", "a", "x")).unwrap();
        for (name, text, expected) in [
            (
                "a.jsonl",
                format!("{good}\n\n{}\n", good.replace("\"summary\"", "\"sumary\"")),
                "a.jsonl`, line 3: unknown field `sumary`",
            ),
            ("a.jsonl", format!("{good}\n{good}\n"), "duplicate scene id `x`"),
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
            assert!(error.contains(expected), "{expected}: {error}");
        }
        let (_folder, pool) = pool();
        let error = pool.scenes(&slugs(&["none"])).expect_err("the book has no file").to_string();
        assert!(error.starts_with("failed to read `") && error.ends_with("none.jsonl`"), "{error}");
    }
}
