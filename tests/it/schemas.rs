//! The files in `schemas/` and `docs/reference/` match the types that they are generated from.

use std::collections::BTreeSet;
use std::path::Path;

/// Compares generated files with a folder. `UPDATE_SCHEMAS=1` writes them.
fn assert_current(relative: &str, generated: &[(String, String)]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(relative);
    for (name, text) in generated {
        let path = folder.join(name);
        if std::env::var_os("UPDATE_SCHEMAS").is_some_and(|value| value == "1") {
            std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder is writable");
            std::fs::write(&path, text).expect("the file is writable");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == *text, "{relative}/{name} is out of date; run `UPDATE_SCHEMAS=1 cargo test schemas`");
    }
    let known: BTreeSet<&str> = generated.iter().map(|(name, _)| name.as_str()).collect();
    for below in ["", "asks/"] {
        for entry in std::fs::read_dir(folder.join(below)).into_iter().flatten() {
            let name = format!("{below}{}", entry.expect("the folder is readable").file_name().display());
            assert!(name == "asks" || known.contains(name.as_str()), "{relative}/{name} is generated from no type");
        }
    }
}

#[test]
fn schemas_are_current() {
    assert_current("schemas", &dramaturg::config::schemas());
}

#[test]
fn reference_pages_are_current() {
    assert_current("docs/reference", &dramaturg::config::reference_pages());
}

#[test]
fn schemas_accept_the_included_files() {
    let schemas = dramaturg::config::schemas();
    let schema = |name: &str| {
        let (_, text) = schemas.iter().find(|(path, _)| path == name).expect("the schema is there");
        jsonschema::validator_for(&serde_json::from_str(text).expect("a schema is JSON")).expect("a schema")
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).expect("the file is there");
        let value: toml::Value = toml::from_str(&text).expect("the file is TOML");
        serde_json::to_value(value).expect("the file has a JSON form")
    };
    let pipeline = schema("pipeline.schema.json");
    for name in ["demo", "served"] {
        let value = read(&root.join(format!("pipelines/{name}.toml")));
        let faults: Vec<String> = pipeline.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
    }
    let character = schema("character.schema.json");
    let mut characters = 0;
    for entry in std::fs::read_dir(root.join("pipelines/characters")).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        assert!(character.is_valid(&read(&path)), "{}", path.display());
        characters += 1;
    }
    assert_eq!(characters, 4);
    assert!(!pipeline.is_valid(&serde_json::json!({"name": "x"})), "a schema that accepts anything proves nothing");
}
