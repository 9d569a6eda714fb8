//! The command `init`.

use std::fmt::Write as _;
use std::path::Path;

use super::{Exit, diagnostics, to_stderr, to_stdout};
use crate::{pipeline, store};

/// Writes what a new project begins with. What is there stays: nothing is written where a file would be replaced.
pub(super) fn init(folder: &Path) -> Exit {
    let mut files = pipeline::init(folder);
    // One that is there already keeps its own mind about what to ignore.
    files.retain(|(path, _)| !(path.ends_with(".gitignore") && path.exists()));
    let there: Vec<String> =
        files.iter().filter(|(path, _)| path.exists()).map(|(path, _)| format!("`{}`", path.display())).collect();
    if !there.is_empty() {
        to_stderr(&format!("error: {} exist{} already\n", there.join(", "), if there.len() == 1 { "s" } else { "" }));
        to_stderr("hint: name another folder, or move them away; nothing was written\n");
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
    told.push_str("\nGo on with\n");
    if folder != Path::new(".") {
        let _ = writeln!(told, "  cd '{}'", folder.display());
    }
    told.push_str(
        "  dramaturg build pipeline.toml              the two books, offline, in seconds\n  \
         dramaturg check pipeline.toml              after you have named books and models of your own\n",
    );
    to_stdout(&told);
    Exit::Done
}
