//! Holds the documents to the program.

use std::path::Path;

use serde_json::Value;

fn read(relative: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(relative))
        .unwrap_or_else(|_| panic!("{relative}"))
}

/// Returns the properties of a schema, those of its alternatives included.
fn properties<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a str> {
    let schema = schema.get("$ref").map_or(schema, |reference| {
        let name = reference.as_str().unwrap().trim_start_matches("#/$defs/");
        &root["$defs"][name]
    });
    let own = schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let alternatives = schema["oneOf"].as_array().into_iter().flatten();
    own.chain(alternatives.flat_map(|alternative| properties(alternative, root))).collect()
}

#[test]
fn the_pipeline_page_names_every_key() {
    let (page, schema) = (read("docs/pipeline.md"), read("schemas/pipeline.schema.json"));
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut missing = Vec::new();
    for (table, property) in schema["properties"].as_object().unwrap() {
        let keys = properties(property, &schema);
        if keys.is_empty() && !page.contains(&format!("`{table}`")) && table != "models" {
            missing.push(table.clone());
        }
        for key in keys {
            let named = if table == "cast" { format!("`{key}`") } else { format!("`{table}.{key}`") };
            if !page.contains(&named) {
                missing.push(named);
            }
        }
    }
    for key in properties(&schema["$defs"]["ModelEntry"], &schema) {
        if !page.contains(&format!("`{key}`")) && key != "provider" {
            missing.push(format!("models.{key}"));
        }
    }
    assert!(missing.is_empty(), "docs/pipeline.md does not name {missing:?}");
}

#[test]
fn the_readme_is_short_and_names_its_commands() {
    let readme = read("README.md");
    assert!(readme.lines().count() < 150, "{} lines", readme.lines().count());
    for command in ["cargo run --release -- build pipelines/demo.toml", "cargo test"] {
        assert!(readme.contains(command), "{command}");
    }
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(link).exists(), "{link}");
    }
}
