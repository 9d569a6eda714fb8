//! Reads the sources and checks the rules of `ARCHITECTURE.md`: imports, cycles, sizes, and where side effects may happen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// The modules of the crate and what each may import from it. A module may always import itself.
const MODULES: [(&str, &str); 16] = [
    ("schema", ""),
    ("cells", ""),
    ("seed", ""),
    ("text", "schema"),
    ("prompt", "schema"),
    ("event", "schema"),
    ("books", "schema text"),
    ("attribution", "schema text"),
    ("llm", "schema prompt seed"),
    ("stages", "schema text cells seed prompt books attribution llm"),
    ("offline", "schema text seed attribution llm stages"),
    ("store", "schema llm"),
    ("config", "schema text prompt books attribution llm stages store"),
    ("dataset", "schema text cells seed attribution llm stages store config"),
    ("pipeline", "schema text cells seed prompt event books attribution llm stages offline store config dataset"),
    ("cli", "schema text cells seed prompt event books attribution llm stages offline store config dataset pipeline"),
];

/// Maximum number of lines of a file without its tests.
const MAX_LINES: usize = 400;
/// Maximum number of files and folders in a folder; the top level is exempt.
const MAX_ENTRIES: usize = 16;

/// Groups of modules that still import each other. To be emptied.
const ALLOWED_CYCLES: &[&[&str]] = &[];

/// Files that are still longer than `MAX_LINES`. To be emptied.
const ALLOWED_LONG: &[&str] = &[];

/// Folders that may have more entries: `cli/commands` has a file for each subcommand.
const ALLOWED_FULL: &[&str] = &["cli/commands"];

/// A source file. Files of test modules are not included.
struct Source {
    /// The path below `src`.
    path: String,
    /// The module path, such as `["stages", "chunk"]` for `stages/chunk/mod.rs`.
    module: Vec<String>,
    /// The whole text.
    text: String,
    /// The text without comments and items for tests.
    code: String,
    /// The number of lines without items for tests, comments included.
    lines: usize,
}

static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(sources);
static IMPORTS: LazyLock<Imports> = LazyLock::new(|| Imports::new(&SOURCES));

fn sources() -> Vec<Source> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the folder is readable") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    let mut sources: Vec<Source> = files
        .iter()
        .map(|file| {
            let text = std::fs::read_to_string(file).expect("a source is UTF-8");
            let relative = file.strip_prefix(&root).expect("the file is below src").with_extension("");
            let mut module: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            module.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
            let path = relative.with_extension("rs").display().to_string();
            let without_tests = without_tests(&text);
            let lines = without_tests.lines().count();
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            let code = without_tests.lines().filter(is_code).map(|line| format!("{line}\n")).collect();
            Source { path, module, text, code, lines }
        })
        .collect();
    let mut of_tests: BTreeSet<Vec<String>> = BTreeSet::new();
    for source in &sources {
        of_tests.extend(test_files(&source.text).into_iter().map(|name| [&source.module[..], &[name]].concat()));
    }
    sources.retain(|source| (1..=source.module.len()).all(|length| !of_tests.contains(&source.module[..length])));
    sources
}

/// Returns the names of the files that are modules for tests.
fn test_files(text: &str) -> Vec<String> {
    let declaration =
        Regex::new(r"#\[cfg\(test\)\]\n\s*(?:pub(?:\([^)]*\))? )?mod (\w+);").expect("the pattern is valid");
    declaration.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

/// Removes every item behind `#[cfg(test)]`. Relies on the layout of rustfmt: an item ends at a line `}` with the
/// indentation of its first line, or at its first line if that ends in `;` or `,`.
fn without_tests(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let item = lines.by_ref().find(|line| !line.trim_start().starts_with("#[")).unwrap_or_default();
            if !item.ends_with([';', ',']) && !item.trim_end().ends_with('}') {
                let indentation = &item[..item.len() - item.trim_start().len()];
                let end = format!("{indentation}}}");
                let _ = lines.by_ref().find(|line| line.starts_with(&end));
            }
        } else {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// Returns the paths of a `use` tree, such as `a::b` and `a::c::d` for `a::{b, c::{d as e}}`.
fn leaves(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, list)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let list = list.strip_suffix('}').expect("a use tree is balanced");
    let (mut depth, mut begin, mut items) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    items.push(&list[begin..]);
    let items = items.into_iter().filter(|item| !item.trim().is_empty());
    items.flat_map(leaves).map(|leaf| format!("{}{leaf}", prefix.trim())).collect()
}

/// The modules that each file uses, with re-exports resolved to the files that define the items.
struct Imports {
    modules: BTreeSet<Vec<String>>,
    reexports: BTreeMap<Vec<String>, Vec<String>>,
    uses: Regex,
    paths: Regex,
}

impl Imports {
    fn new(sources: &[Source]) -> Self {
        let mut imports = Self {
            modules: sources.iter().map(|source| source.module.clone()).collect(),
            reexports: BTreeMap::new(),
            uses: Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([\w:{},\s*]+);").expect("the pattern is valid"),
            paths: Regex::new(r"\b(?:crate|super|self)(?:::\w+)+").expect("the pattern is valid"),
        };
        for source in sources {
            for tree in imports.uses.captures_iter(&source.code).filter(|found| found.get(1).is_some()) {
                for leaf in leaves(&tree[2]) {
                    if let Some(path) = imports.absolute(&leaf, &source.module) {
                        let name = path.last().expect("a path has a name").clone();
                        imports.reexports.insert([&source.module[..], &[name]].concat(), path);
                    }
                }
            }
        }
        imports
    }

    /// Returns a path from the crate's root, or `None` if it is in another crate.
    fn absolute(&self, path: &str, module: &[String]) -> Option<Vec<String>> {
        let parts: Vec<&str> = path.split("::").collect();
        let owned = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        let ups = parts.iter().take_while(|part| **part == "super").count();
        let absolute = match parts[0] {
            "crate" => owned(&parts[1..]),
            "self" => [module, &owned(&parts[1..])[..]].concat(),
            "super" => [&module[..module.len().checked_sub(ups)?], &owned(&parts[ups..])[..]].concat(),
            child if self.modules.contains(&[module, &owned(&[child])[..]].concat()) => {
                [module, &owned(&parts)[..]].concat()
            }
            _ => return None,
        };
        (!absolute.is_empty()).then_some(absolute)
    }

    /// Returns the module that defines an item.
    fn defining(&self, mut path: Vec<String>) -> Option<Vec<String>> {
        for _ in 0..8 {
            let length = (1..=path.len()).find(|length| self.reexports.contains_key(&path[..*length]));
            let Some(length) = length else { break };
            let target = &self.reexports[&path[..length]];
            if target[..] == path[..length] {
                break;
            }
            path = [&target[..], &path[length..]].concat();
        }
        (1..=path.len()).rev().map(|length| path[..length].to_vec()).find(|path| self.modules.contains(path))
    }

    /// Returns the absolute paths that a file names.
    fn named(&self, source: &Source) -> BTreeSet<Vec<String>> {
        let of_uses = self.uses.captures_iter(&source.code).flat_map(|found| leaves(&found[2]));
        let of_paths = self.paths.find_iter(&source.code).map(|found| found.as_str().to_owned());
        of_uses.chain(of_paths).filter_map(|path| self.absolute(&path, &source.module)).collect()
    }

    /// Returns the modules that a file imports from. Re-exports by the file itself do not count.
    fn of(&self, source: &Source) -> BTreeSet<Vec<String>> {
        let uses = self.uses.captures_iter(&source.code).filter(|found| found.get(1).is_none());
        let of_paths = self.uses.replace_all(&source.code, "");
        let of_paths: Vec<String> = self.paths.find_iter(&of_paths).map(|found| found.as_str().to_owned()).collect();
        let named = uses.flat_map(|found| leaves(&found[2])).chain(of_paths);
        let absolute = named.filter_map(|path| self.absolute(&path, &source.module));
        absolute.filter_map(|path| self.defining(path)).filter(|module| *module != source.module).collect()
    }
}

/// Returns groups of modules that import each other, directly or through others. A module may import its children and the other
/// way round.
fn cycles(graph: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>) -> Vec<BTreeSet<String>> {
    fn reach<'a>(
        from: &'a Vec<String>,
        graph: &'a BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
        seen: &mut BTreeSet<&'a Vec<String>>,
    ) {
        for next in graph.get(from).into_iter().flatten() {
            if seen.insert(next) {
                reach(next, graph, seen);
            }
        }
    }
    let reachable: BTreeMap<_, _> = graph
        .keys()
        .map(|module| {
            let mut seen = BTreeSet::new();
            reach(module, graph, &mut seen);
            (module, seen)
        })
        .collect();
    let mut found = BTreeSet::new();
    for (module, seen) in reachable.iter().filter(|(module, seen)| seen.contains(*module)) {
        let group = seen.iter().filter(|other| reachable.get(**other).is_some_and(|back| back.contains(module)));
        found.insert(group.map(|module| module.join("::")).collect::<BTreeSet<_>>());
    }
    found.into_iter().collect()
}

fn is_parent(one: &[String], other: &[String]) -> bool {
    one.len() + 1 == other.len() && other.starts_with(one)
}

#[test]
fn modules_import_only_what_they_may() {
    let mut faults = Vec::new();
    for source in SOURCES.iter().filter(|source| !source.module.is_empty()) {
        let module = source.module[0].as_str();
        let (_, allowed) =
            MODULES.iter().find(|(name, _)| *name == module).unwrap_or_else(|| panic!("unknown module {module}"));
        for path in IMPORTS.named(source) {
            let import = path[0].as_str();
            let is_allowed = import == module || allowed.split(' ').any(|allowed| allowed == import);
            if !is_allowed {
                faults.push(format!("{} imports `{}`", source.path, path.join("::")));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_stage_imports_no_other_stage() {
    let stages: BTreeSet<String> = SOURCES
        .iter()
        .filter(|source| source.module.len() > 1 && source.module[0] == "stages")
        .map(|source| source.module[1].clone())
        .collect();
    let mut faults = Vec::new();
    for source in SOURCES.iter() {
        let ["stages", stage, ..] = &source.module.iter().map(String::as_str).collect::<Vec<_>>()[..] else { continue };
        for path in IMPORTS.named(source) {
            let other = path.get(1).filter(|other| path[0] == "stages" && stages.contains(*other));
            let Some(other) = other else { continue };
            if other != stage && !(*stage == "simulate" && other == "select") {
                faults.push(format!("{} imports `{}`", source.path, path.join("::")));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn no_modules_import_each_other() {
    let graph = SOURCES
        .iter()
        .map(|source| {
            let others = IMPORTS.of(source).into_iter();
            let others = others.filter(|other| !is_parent(other, &source.module) && !is_parent(&source.module, other));
            (source.module.clone(), others.collect())
        })
        .collect();
    let cycles = cycles(&graph);
    let unknown: Vec<_> = cycles
        .iter()
        .filter(|cycle| !ALLOWED_CYCLES.iter().any(|allowed| cycle.iter().all(|one| allowed.contains(&one.as_str()))))
        .map(|cycle| cycle.iter().map(String::as_str).collect::<Vec<_>>())
        .collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn files_and_folders_stay_small() {
    let mut faults = Vec::new();
    let mut folders: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for source in SOURCES.iter() {
        let lines = source.lines;
        if lines > MAX_LINES && !ALLOWED_LONG.contains(&source.path.as_str()) {
            faults.push(format!("{}: {lines} lines without tests", source.path));
        }
        let mut path = Path::new(&source.path);
        while let Some(folder) = path.parent() {
            let name = path.file_name().expect("a path has a name").to_string_lossy().into_owned();
            folders.entry(folder.to_owned()).or_default().insert(name);
            path = folder;
        }
    }
    for (folder, entries) in folders.iter().filter(|(folder, _)| !folder.as_os_str().is_empty()) {
        if entries.len() > MAX_ENTRIES && !ALLOWED_FULL.iter().any(|allowed| Path::new(allowed) == *folder) {
            faults.push(format!("{}: {} files and folders", folder.display(), entries.len()));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_file_starts_with_its_purpose() {
    let without: Vec<_> =
        SOURCES.iter().filter(|source| !source.text.starts_with("//!")).map(|source| &source.path).collect();
    assert!(without.is_empty(), "no `//!` at the top of {without:?}");
}

#[test]
fn side_effects_are_in_their_modules() {
    let owners = [
        ("reqwest", "llm"),
        ("TcpStream", "llm"),
        ("fs::write", "store"),
        ("File::create", "store"),
        ("OpenOptions", "store"),
        ("remove_dir_all", "store"),
        ("env::var", "cli"),
        ("println!", "cli"),
        ("SystemTime", "cli"),
    ];
    let mut faults = Vec::new();
    for source in SOURCES.iter() {
        let module = source.module.first().map_or("", String::as_str);
        for (word, owner) in owners {
            if module != owner && source.code.contains(word) {
                faults.push(format!("{}: `{word}` belongs in `{owner}`", source.path));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn code_after_a_test_module_is_checked_too() {
    let text = "use crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::b;\n    fn inner() {}\n}\nuse crate::c;\n\
                #[cfg(test)]\npub(crate) use d::D;\nimpl E {\n    #[cfg(test)]\n    fn only() {\n        f();\n    }\n    fn g() {}\n}\n";
    assert_eq!(without_tests(text), "use crate::a;\nuse crate::c;\nimpl E {\n    fn g() {}\n}\n");
    assert_eq!(test_files("#[cfg(test)]\npub(crate) mod fixture;\nmod other;\n"), ["fixture"]);
    assert_eq!(leaves("crate::{a, b::{c, d as e}}"), ["crate::a", "crate::b::c", "crate::b::d"]);
}

#[test]
fn cycles_are_found() {
    let path = |name: &str| vec![name.to_owned()];
    let edge = |from: &str, to: &[&str]| (path(from), to.iter().map(|to| path(to)).collect());
    let graph = BTreeMap::from([edge("a", &["b"]), edge("b", &["c"]), edge("c", &["a"]), edge("d", &["a"])]);
    assert_eq!(cycles(&graph), [BTreeSet::from(["a", "b", "c"].map(str::to_owned))]);
}
