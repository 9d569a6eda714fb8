//! The command `init`.

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::exit::Exit;
use crate::cli::output::diagnostics;
use crate::cli::{to_stderr, to_stdout};
use crate::config;
use crate::store;

/// Writes the files of a new project. If any of them exists, nothing is written.
pub(crate) fn init(folder: &Path) -> Exit {
    let mut files = config::init(folder);
    // An existing .gitignore is kept.
    files.retain(|(path, _)| !(path.ends_with(".gitignore") && path.exists()));
    let existing: Vec<String> =
        files.iter().filter(|(path, _)| path.exists()).map(|(path, _)| format!("`{}`", path.display())).collect();
    if !existing.is_empty() {
        to_stderr(&format!(
            "error: {} already exist{}\n",
            existing.join(", "),
            if existing.len() == 1 { "s" } else { "" }
        ));
        to_stderr("hint: choose another folder or move these files; nothing was written\n");
        return Exit::Usage;
    }
    for (path, text) in &files {
        if let Err(error) = store::write(path, text.as_bytes()) {
            to_stderr(&diagnostics::chain(&error, None, false));
            return Exit::Usage;
        }
    }
    let mut message = String::new();
    for (path, _) in &files {
        let _ = writeln!(message, "wrote {}", path.display());
    }
    message.push_str("\nNext steps:\n");
    if folder != Path::new(".") {
        let _ = writeln!(message, "  cd '{}'", folder.display());
    }
    message.push_str(
        "  dramaturg build pipeline.toml              run the two sample books offline, in seconds\n  \
         dramaturg check pipeline.toml              validate it after adding your own books and models\n",
    );
    to_stdout(&message);
    Exit::Done
}
