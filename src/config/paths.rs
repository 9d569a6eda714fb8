//! Resolves the patterns of a pipeline file (files, folders and globs) to sorted files, relative to the working
//! directory.

use std::path::{Path, PathBuf};

use super::document::problems::nearest;

/// Extensions of book files in folders and globs.
pub(crate) const BOOKS: &[&str] =
    &["txt", "text", "md", "markdown", "fountain", "html", "htm", "xhtml", "epub", "jsonl", "ndjson"];

/// Extensions of character files.
pub(crate) const CHARACTERS: &[&str] = &["toml", "json", "png", "charx"];

/// Extensions of files with general instructions.
pub(crate) const LINES: &[&str] = &["jsonl", "ndjson"];

/// Why a pattern matches nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoMatch {
    /// The message.
    pub(crate) message: String,
    /// The most similar path.
    pub(crate) nearest: Option<String>,
}

/// Returns the files that a pattern matches, sorted. A file is taken regardless of its name. Folders (recursively) and
/// globs give the files with one of the extensions, except hidden files and files named `README` or `LICENSE`.
pub(crate) fn expand(pattern: &str, endings: &[&str]) -> Result<Vec<PathBuf>, NoMatch> {
    let path = Path::new(pattern);
    let nothing = |message: String| NoMatch { message, nearest: None };
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    if path.is_dir() {
        add_files(path, &mut found);
    } else if pattern.contains(['*', '?', '[']) {
        let matches =
            glob::glob(pattern).map_err(|error| nothing(format!("invalid pattern `{pattern}`: {}", error.msg)))?;
        for matched in matches.filter_map(Result::ok) {
            if matched.is_dir() { add_files(&matched, &mut found) } else { found.push(matched) }
        }
    } else {
        return Err(absent(path));
    }
    found.retain(|path| is_wanted(path, endings));
    found.sort();
    found.dedup();
    if found.is_empty() {
        let endings = endings.iter().map(|ending| format!("`.{ending}`")).collect::<Vec<_>>().join(", ");
        return Err(nothing(format!("`{pattern}` matches no file that ends in {endings}")));
    }
    Ok(found)
}

/// Reports that a path does not exist, with the most similar path.
pub(crate) fn absent(path: &Path) -> NoMatch {
    NoMatch { message: format!("no file `{}`", path.display()), nearest: nearest_path(path) }
}

/// Returns the entry of the path's folder with the most similar name. If the folder does not exist either, returns the
/// most similar folder.
pub(crate) fn nearest_path(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let name = path.file_name()?.to_string_lossy();
    let looked = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = std::fs::read_dir(looked) else { return nearest_path(folder) };
    let mut names: Vec<String> =
        entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect();
    names.sort();
    let nearest = nearest(&name, names.iter().map(String::as_str))?;
    Some(folder.join(nearest).display().to_string())
}

fn add_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if path.is_dir() { add_files(&path, found) } else { found.push(path) }
    }
}

fn is_wanted(path: &Path, endings: &[&str]) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_uppercase()).unwrap_or_default();
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !hidden && !matches!(stem.as_str(), "README" | "LICENSE" | "LICENCE") && endings.contains(&ending.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.txt", "红楼梦.txt", "README.md", "cover.png", "play.fountain", ".hidden.txt", "more/a.EPUB"]
        {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let names = |pattern: &str| {
            let pattern = folder.path().join(pattern).display().to_string();
            expand(&pattern, BOOKS).map(|paths| {
                let relative = |path: PathBuf| path.strip_prefix(folder.path()).unwrap().display().to_string();
                paths.into_iter().map(relative).collect::<Vec<_>>()
            })
        };
        assert_eq!(names("*").unwrap(), ["b.txt", "more/a.EPUB", "play.fountain", "红楼梦.txt"]);
        assert_eq!(names("").unwrap(), ["b.txt", "more/a.EPUB", "play.fountain", "红楼梦.txt"]);
        assert_eq!(names("*.txt").unwrap(), ["b.txt", "红楼梦.txt"]);
        assert_eq!(
            names("cover.png").unwrap(),
            ["cover.png"],
            "a file named directly is taken regardless of its extension"
        );
        assert!(names("*.png").unwrap_err().message.contains("matches no file"));
        let near = names("红楼夢.txt").unwrap_err().nearest.unwrap();
        assert!(near.ends_with("红楼梦.txt"), "{near}");
        let near = names("mroe/a.EPUB").unwrap_err().nearest.unwrap();
        assert!(near.ends_with("more"), "{near}");
    }
}
