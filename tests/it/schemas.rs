//! The schemas under `schemas/` are what the types say.

use std::collections::BTreeSet;
use std::path::Path;

/// Run with `UPDATE_SCHEMAS=1` to write them anew.
#[test]
fn schemas_do_not_drift() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let schemas = dramaturg::config::schemas();
    if std::env::var_os("UPDATE_SCHEMAS").is_some_and(|value| value == "1") {
        for (name, text) in &schemas {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("make the folder");
            std::fs::write(path, text).expect("write the schema");
        }
    }
    for (name, text) in &schemas {
        let found = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(found == *text, "schemas/{name} is not what its type says; UPDATE_SCHEMAS=1 writes it anew");
    }
    let known: BTreeSet<&str> = schemas.iter().map(|(name, _)| name.as_str()).collect();
    for (below, folder) in [("", folder.clone()), ("asks/", folder.join("asks"))] {
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let name = format!("{below}{}", entry.expect("an entry").file_name().display());
            assert!(name == "asks" || known.contains(name.as_str()), "schemas/{name} belongs to no type");
        }
    }
}

#[test]
fn schemas_take_the_shipped_files() {
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
    assert!(!pipeline.is_valid(&serde_json::json!({"name": "x"})), "a schema that takes anything says nothing");
}
