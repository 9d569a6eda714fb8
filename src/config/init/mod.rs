//! Files of a new project: a commented pipeline file and two short books that it runs on unchanged.

use std::path::{Path, PathBuf};

use crate::schema::slug;

const PIPELINE: &str = include_str!("pipeline.toml");
/// Keeps run outputs and keys out of version control.
const IGNORED: &str = "/outputs\n.env\n";
const BOOKS: [(&str, &str); 2] = [
    ("books/a_penny_either_way.txt", include_str!("../../../books/a_penny_either_way.txt")),
    ("books/lian_wen_ji.txt", include_str!("../../../books/lian_wen_ji.txt")),
];

/// Returns the files of a new project as paths and texts: first the pipeline file, whose `name` is the folder's name.
#[must_use]
pub fn init(folder: &Path) -> Vec<(PathBuf, String)> {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name = absolute.file_name().map(|name| slug(&name.to_string_lossy())).unwrap_or_default();
    let name = if name.is_empty() { "benchmark" } else { &name };
    let pipeline = PIPELINE.replace("@NAME@", name);
    let books = BOOKS.into_iter().map(|(path, text)| (folder.join(path), text.to_owned()));
    let mut files = vec![(folder.join("pipeline.toml"), pipeline), (folder.join(".gitignore"), IGNORED.to_owned())];
    files.extend(books);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(folder: &str) -> toml::Table {
        let files = init(Path::new(folder));
        assert!(files.iter().all(|(path, _)| path.starts_with(folder)));
        files[0].1.parse().expect("the template is valid TOML")
    }

    #[test]
    fn a_project_is_named_after_its_folder() {
        assert_eq!(pipeline("/tmp/My Novels")["name"].as_str(), Some("my-novels"));
        assert_eq!(pipeline("小说/红楼")["name"].as_str(), Some("红楼"));
        assert_eq!(pipeline("/")["name"].as_str(), Some("benchmark"));
    }
}
