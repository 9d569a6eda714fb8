//! The command `init`.

use crate::config;
use std::fmt::Write as _;
use std::path::Path;

use crate::cli::exit::Exit;
use crate::cli::output::diagnostics;
use crate::cli::{to_stderr, to_stdout};
use crate::store;

/// Writes the files of a new project. If any of them exists, nothing is written.
pub(crate) fn init(folder: &Path) -> Exit {
    let mut files = config::init(folder);
    // An existing .gitignore is kept.
    files.retain(|(path, _)| !(path.ends_with(".gitignore") && path.exists()));
    let there: Vec<String> =
        files.iter().filter(|(path, _)| path.exists()).map(|(path, _)| format!("`{}`", path.display())).collect();
    if !there.is_empty() {
        to_stderr(&format!("error: {} already exist{}\n", there.join(", "), if there.len() == 1 { "s" } else { "" }));
        to_stderr("hint: choose another folder or move these files; nothing was written\n");
        return Exit::Usage;
    }
    for (path, text) in &files {
        if let Err(error) = store::write(path, text.as_bytes()) {
            to_stderr(&diagnostics::chain(&error, None, false));
            return Exit::Usage;
        }
    }
    let mut told = String::new();
    for (path, _) in &files {
        let _ = writeln!(told, "wrote {}", path.display());
    }
    told.push_str("\nNext steps:\n");
    if folder != Path::new(".") {
        let _ = writeln!(told, "  cd '{}'", folder.display());
    }
    told.push_str(
        "  dramaturg build pipeline.toml              run the two sample books offline, in seconds\n  \
         dramaturg check pipeline.toml              validate it after adding your own books and models\n",
    );
    to_stdout(&told);
    Exit::Done
}
