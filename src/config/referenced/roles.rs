//! Reads the files named in `[instruct]`: character files of roles, scripts, general instructions. Collects their
//! problems.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::characters::CharactersOfFiles;
use crate::config::document::problems::SourceSpan;
use crate::config::document::{Document, Problem};
use crate::config::paths;
use crate::config::reader::Reader;
use crate::schema::Instruction;
use crate::stages::instruct::Roles;

impl Reader {
    /// Returns the characters of the files in `[instruct] roles`.
    pub(crate) fn roles(&mut self, document: &Document) -> CharactersOfFiles {
        let words = [Roles::POOL, Roles::CHARACTERS];
        self.characters_of(document, "/instruct/roles", &words)
    }

    /// Returns the scripts matched by `[instruct] scripts`.
    pub(crate) fn scripts(&mut self, document: &Document) -> Vec<PathBuf> {
        let files = self.files(document, &document.strings("/instruct/scripts"), paths::BOOKS);
        files.into_iter().map(|(_, path)| path).collect()
    }

    /// Returns the general instructions of the files in `[instruct] instructions`, in order.
    pub(crate) fn instructions(&mut self, document: &Document) -> Vec<Instruction> {
        let mut instructions: Vec<Instruction> = Vec::new();
        let mut ids = BTreeSet::new();
        let files = self.files(document, &document.strings("/instruct/instructions"), paths::LINES);
        for (pointer, path) in files {
            let Some((source, text)) = self.read(document, &pointer, &path) else { continue };
            let mut problems = Vec::new();
            let mut at = 0;
            for line in text.split_inclusive('\n') {
                let span = at..at + line.trim_end().len();
                at += line.len();
                if line.trim().is_empty() {
                    continue;
                }
                let problem = |message: String| Problem::new(SourceSpan { source, span: span.clone() }, message);
                match serde_json::from_str::<Instruction>(line) {
                    Err(error) => {
                        let expected = r#"an object such as `{"instruction": "…", "answer": "…"}`"#;
                        problems
                            .push(problem(format!("this line is not a valid instruction: {error}")).expected(expected));
                    }
                    Ok(read) if read.text().is_empty() || read.answer.trim().is_empty() => {
                        problems.push(problem("the instruction or its answer is empty".to_owned()));
                    }
                    Ok(read) if !read.id.trim().is_empty() && !ids.insert(read.id.trim().to_owned()) => {
                        let message = format!("the id `{}` is used by another instruction too", read.id);
                        problems.push(problem(message).expected("each id once"));
                    }
                    Ok(read) => instructions.push(read),
                }
            }
            self.problems.append(&mut problems);
        }
        instructions
    }
}
